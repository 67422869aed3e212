//! What an endpoint does with segments that arrive, with time that passes, and with its own packets that leave a gate.

use super::{Endpoint, State};
use crate::tcp::segment::{Segment, flags};
use crate::tcp::sender::Sender;
use crate::units::Time;

/// How often Linux sends a SYN again without waiting longer (`tcp_syn_linear_timeouts`).
const LINEAR_SYNS: u16 = 4;

/// What begins or ends a connection or a stream.
const CONTROL: u16 = flags::SYN | flags::FIN | flags::RST;

impl Endpoint {
    /// A segment arrived.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        // Nearly all segments are data in order for an end that has nothing outstanding, or
        // ACKs without data. The rest takes the long way, which would do for these too.
        if self.numbers_suffice && segment.flags & (CONTROL | flags::ACK) == flags::ACK {
            let expected = segment.seq == self.acknowledgement_number();
            if segment.len == 0 && expected {
                return self.handle_pure_ack(now, segment.ack, segment.window, Some(segment));
            }
            if segment.len > 0 && expected && self.sender.has_no_use_for(segment) {
                return self.handle_next(now, segment.len);
            }
        }
        self.handle_any(now, segment);
    }

    /// The next data of the stream; what they acknowledge is old.
    #[inline(always)]
    pub(super) fn handle_next(&mut self, now: Time, len: u32) {
        self.sender.undisturbed.forget();
        let Sender { config, counters, .. } = &mut self.sender;
        self.receiver.handle_next(now, len, config, counters);
    }

    /// The header of a segment that tells this end nothing new: no data, no options, numbers and
    /// window as they stand here.
    #[must_use]
    pub fn nothing_new(&self) -> Segment {
        Segment {
            seq: self.acknowledgement_number(),
            ack: self.sender.numbering.wire(self.sender.una),
            window: self.sender.raw_window,
            flags: flags::ACK,
            ..Segment::default()
        }
    }

    #[inline]
    pub(in crate::tcp) fn handle_pure_ack(
        &mut self,
        now: Time,
        number: u32,
        window: u32,
        segment: Option<&Segment>,
    ) {
        if self.sender.accounts.is_some() {
            self.handle_ack_by(Sender::handle_ack_by_accounts, now, number, window, segment);
        } else {
            self.handle_ack_by(Sender::handle_ack, now, number, window, segment);
        }
    }

    #[inline(never)]
    fn handle_ack_by(
        &mut self,
        handle: impl FnOnce(&mut Sender, Time, u32, u32, Option<&Segment>) -> bool,
        now: Time,
        number: u32,
        window: u32,
        segment: Option<&Segment>,
    ) {
        if !handle(&mut self.sender, now, number, window, segment) {
            // RFC 9293 §3.10.7.4: an ACK of something not yet sent is answered with an ACK.
            self.receiver.demand_ack();
        }
    }

    #[inline(never)]
    pub(super) fn handle_any(&mut self, now: Time, segment: &Segment) {
        crate::work::step();
        self.sender.undisturbed.forget();
        let unusual = self.state != State::Established || segment.flags & CONTROL != 0;
        if unusual && !self.admits(now, segment) {
            return;
        }
        if segment.len == 0 && self.lies_before(segment) {
            return self.receiver.handle_unacceptable(now);
        }
        if self.sender.config.timestamps {
            self.read_timestamp(segment.seq, segment.ts_val);
            if segment.len > 0 {
                self.receiver.handle_echo(now, segment.ts_ecr);
            }
        }
        // Header prediction (`tcp_rcv_established`): such an ACK alone is read, and nothing else is looked at.
        let predicted = !unusual && segment.sack_count == 0 && segment.window == self.sender.raw_window;
        if segment.flags & flags::ACK != 0 {
            if self.sender.marks.is_some() {
                self.handle_ack_with_marks(now, segment);
            } else {
                self.handle_pure_ack(now, segment.ack, segment.window, Some(segment));
            }
        }
        if segment.numbers() == 0 && !predicted && self.sender.config.linux_acks {
            self.receiver.hasten_late_ack(now, &self.sender.config);
        }
        if unusual && !self.goes_on_behind_ack(now, segment) {
            return;
        }
        if segment.len > 0 || segment.flags & flags::FIN != 0 {
            self.handle_data(now, segment);
        }
    }

    fn handle_data(&mut self, now: Time, segment: &Segment) {
        if let Some(start) = self.theirs.offset(segment.seq, self.receiver.next()) {
            if self.sender.marks.is_some() {
                self.note_mark(start, segment);
            }
            if segment.flags & flags::FIN != 0 || self.closing.is_some() {
                return self.handle_last_data(now, start, segment);
            }
            let Sender { config, counters, .. } = &mut self.sender;
            self.receiver.handle_data(now, start, segment, config, counters);
        } else {
            self.receiver.demand_ack();
        }
    }

    /// Whether a segment without data lies before what this end has acknowledged, as a probe of its window does (`tcp_sequence`).
    #[inline]
    fn lies_before(&self, segment: &Segment) -> bool {
        let ahead = segment.seq.wrapping_sub(self.theirs.wire(self.receiver.acknowledged_to()));
        ahead.cast_signed() < 0 && segment.flags & CONTROL == 0
    }

    /// RFC 7323 §4.3: a timestamp is worth echoing if its segment reaches back to the last ACK
    /// that was sent; here: to the next byte expected.
    #[inline]
    pub(super) fn read_timestamp(&mut self, seq: u32, ts_val: u32) {
        let newer = ts_val.wrapping_sub(self.echo).cast_signed() >= 0;
        let ahead = seq.wrapping_sub(self.theirs.wire(self.receiver.acknowledged_to())).cast_signed();
        if newer && ahead <= 0 {
            self.echo = ts_val;
        }
    }

    /// A data segment of ours left a gate of the sending machine.
    #[inline]
    pub fn handle_departure(&mut self, now: Time) {
        if self.sender.config.restart_at_departure {
            self.sender.handle_departure(now);
        }
    }

    /// Time has come to `now`: timers that are due run.
    pub fn handle_wakeup(&mut self, now: Time) {
        self.sender.undisturbed.forget();
        self.receiver.handle_wakeup(now, &self.sender.config);
        if self.sender.timers.take_paced(now) {
            self.sender.handle_paced();
        }
        if now < self.sender.timers.expires() {
            return;
        }
        if self.gives_up(now) {
            self.end();
        } else if self.state == State::Established || (self.state.is_synchronized() && !self.ends_by_itself())
        {
            self.sender.handle_timer(now);
        } else if !matches!(self.state, State::SynSent | State::SynReceived) {
            self.end();
        } else {
            // RFC 9293 §3.8.1, RFC 6298 §5.5: the SYN again, later each time; in Linux 6.18 a client's from the fifth on
            // (`tcp_retransmit_timer`, `tcp_syn_linear_timeouts`).
            self.sender.counters.timeouts += 1;
            let client = self.state == State::SynSent && !self.sender.config.lost_syn_counts;
            if !client || self.syns > LINEAR_SYNS {
                self.sender.estimator.back_off();
            }
            self.sender.timers.move_to(Time::NEVER);
            self.ask_for_syn();
        }
    }
}
