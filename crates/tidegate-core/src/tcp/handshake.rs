//! The three-way handshake (RFC 9293 §3.5). No simultaneous open: one end is active, the other
//! passive.

use super::endpoint::{Endpoint, Role, State};
use super::outgoing::Outgoing;
use super::segment::{Segment, flags};
use super::seq::Numbering;
use super::timestamp;
use crate::cc::{LossKind, Lost};
use crate::units::Time;

impl Endpoint {
    /// A segment before ESTABLISHED, or a SYN at any time (RFC 9293 §3.10.7). `true`: go on and read
    /// its acknowledgement and data.
    #[cold]
    pub(super) fn handle_handshake(&mut self, now: Time, segment: &Segment) -> bool {
        let syn = segment.flags & flags::SYN != 0;
        let acks_our_syn = segment.flags & flags::ACK != 0 && segment.ack == self.sender.numbering.wire(0);
        match self.state {
            State::Listen if syn => {
                self.theirs = Numbering::after_syn(segment.seq);
                self.echo = segment.ts_val;
                self.state = State::SynReceived;
                self.hear_syn(segment);
                self.ask_for_syn();
                false
            }
            State::SynSent if syn && acks_our_syn => {
                self.theirs = Numbering::after_syn(segment.seq);
                self.echo = segment.ts_val;
                self.hear_syn_ack(segment);
                self.establish(now, segment);
                self.receiver.demand_ack();
                // `tcp_rcv_synsent_state_process`: the application hears of the connection after this ACK has left.
                self.syn_due = self.sender.config.linux_acks;
                self.see_what_comes();
                true
            }
            // Their SYN again: our SYN-ACK was lost.
            State::SynReceived if syn => {
                self.ask_for_syn();
                false
            }
            State::SynReceived => {
                let data_acks = segment.flags & flags::ACK != 0
                    && segment.seq.wrapping_sub(self.theirs.wire(0)).cast_signed() >= 0;
                if acks_our_syn && data_acks {
                    self.establish(now, segment);
                }
                self.state != State::SynReceived
            }
            State::Closed | State::Listen | State::SynSent => false,
            // Their SYN-ACK again: our ACK was lost.
            _ => {
                self.receiver.demand_ack();
                false
            }
        }
    }

    /// `segment` of the other end has acknowledged our SYN, or one of them.
    fn establish(&mut self, now: Time, segment: &Segment) {
        self.state = if self.sender.finished { State::FinWait1 } else { State::Established };
        // Whatever was thought of it before.
        self.sender.read_window(segment.window);
        self.syn_due = false;
        self.see_what_comes();
        self.sender.ready = true;
        self.sender.timers.move_to(Time::NEVER);
        let rtt = (self.syns == 1).then(|| now.saturating_since(self.trying_since));
        let is_client = self.role() == Role::Active;
        if let Some(rtt) = rtt {
            self.receiver.handle_handshake(now, rtt);
            self.sender.estimator.sample(self.trying_since, now);
            if let Some(accounts) = &mut self.sender.accounts {
                // `tcp_ack_update_rtt`: the handshake is a round trip as any other. A client's SYN is a segment that has arrived as
                // well (`tcp_clean_rtx_queue`); of a server's nothing is kept.
                accounts.rack.handle_rtt(rtt);
                if is_client {
                    accounts.rack.handle_delivered(now, self.trying_since, 0, false);
                }
            }
        } else if self.sender.config.lost_syn_counts {
            self.sender.estimator.after_lost_syn();
            // RFC 5681 §3.1 eq. (4) excepts no segment: nothing was in flight, so the
            // threshold is two segments.
            let window = u64::from(self.sender.config.mss);
            let kind = LossKind::Timeout { again: false };
            let max = self.sender.max;
            self.sender.controller.handle_lost(&Lost {
                at: now,
                in_flight: 0,
                window,
                kind,
                remaining: 0,
                total_lost: 0,
                max,
            });
            // RFC 5681 §3.1: after a lost SYN or SYN-ACK the window begins with one segment.
            self.sender.controller.handle_restart(window);
        } else {
            self.establish_as_linux(now, segment.ts_ecr);
        }
        self.sender.controller.handle_established(now, rtt);
    }

    /// After SYNs that were sent again, as Linux 6.18: with timestamps the round trip is known (`tcp_ack_update_rtt`), and
    /// whether the first of them came after all (`tcp_try_undo_spurious_syn`). If not, the window begins with one segment
    /// after the second that was sent again (`tcp_init_transfer`), if a time-out was among the reasons.
    fn establish_as_linux(&mut self, now: Time, echo: u32) {
        let echo = if self.sender.config.timestamps { echo } else { 0 };
        if echo == 0 {
            self.sender.estimator.after_lost_syn();
        } else {
            self.sender.estimator.sample(timestamp::sent_at(echo, now), now);
        }
        let late = echo != 0 && echo == timestamp::at(self.trying_since);
        if self.syns > 2 && self.sender.counters.timeouts > 0 && !late {
            self.sender.controller.handle_restart(u64::from(self.sender.config.mss));
        }
    }

    /// A SYN is to be sent.
    pub(super) fn ask_for_syn(&mut self) {
        self.syn_due = true;
        self.see_what_comes();
        self.sender.ready = true;
    }

    /// A segment of the handshake, if one is due.
    #[cold]
    pub(super) fn poll_syn(&mut self, now: Time) -> Outgoing {
        if self.state.is_synchronized() {
            self.syn_due = false;
            self.see_what_comes();
            self.sender.counters.acks_sent += 1;
            return self.leave(Outgoing::new(self.sender.max, 0));
        }
        self.sender.ready = false;
        if !self.syn_due {
            return Outgoing::NOTHING;
        }
        self.syn_due = false;
        self.syns = self.syns.saturating_add(1);
        if self.syns == 1 {
            self.trying_since = now;
        }
        if self.sender.timers.is_off() {
            self.sender.timers.move_to(self.sender.estimator.expiry(now));
        }
        let syn = Outgoing::new(0, 0).syn();
        self.leave(if self.syns > 1 { syn.again() } else { syn })
    }

    /// A segment before the connection or after it, or the ACK that ends the handshake; `None`: what leaves is as usual.
    #[cold]
    pub(super) fn poll_unusual(&mut self, now: Time) -> Option<Outgoing> {
        match self.state {
            _ if self.ends_by_itself() || self.state == State::Closed => Some(self.poll_reset()),
            state if state.is_synchronized() && !self.syn_due => None,
            _ => Some(self.poll_syn(now)),
        }
    }

    /// Makes a SYN or a SYN-ACK of a segment.
    #[cold]
    pub(super) fn write_syn(&self, segment: &mut Segment) {
        segment.seq = self.sender.numbering.syn();
        if self.state == State::SynReceived {
            segment.flags = flags::SYN | flags::ACK;
        } else {
            segment.flags = flags::SYN;
            segment.ack = 0;
        }
        self.write_syn_marks(segment);
    }
}
