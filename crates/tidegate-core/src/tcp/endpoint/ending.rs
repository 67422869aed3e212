//! What an end does with segments that end a connection or come after that: FIN, RST, and what is not acceptable any more
//! (RFC 9293 §3.10.7, RFC 5961 §3.2; `tcp_rcv_state_process`, `tcp_validate_incoming`, `tcp_timewait_state_process`).

use super::{Endpoint, State};
use crate::tcp::buffer::BETWEEN_CHALLENGES;
use crate::tcp::segment::{Segment, flags};
use crate::tcp::sender::Sender;
use crate::units::Time;

impl Endpoint {
    /// A segment that is not one of an established connection, or has SYN, FIN or RST. `true`: go on and read its acknowledgement and
    /// data.
    #[cold]
    pub(super) fn admits(&mut self, now: Time, segment: &Segment) -> bool {
        let reset = segment.flags & flags::RST != 0;
        match self.state {
            State::Closed if self.is_over() => self.answer_by_reset(segment),
            State::Closed | State::Listen | State::SynSent | State::SynReceived if reset => {
                self.take_early_reset(segment);
            }
            _ if self.ends_by_itself() => self.answer_while_waiting(now, segment),
            _ if reset => self.take_reset(now, segment),
            state if state.is_synchronized() && segment.flags & flags::SYN == 0 => return true,
            _ => return self.handle_handshake(now, segment),
        }
        false
    }

    /// A RST before the connection is established: it counts if it answers our SYN, or continues theirs.
    fn take_early_reset(&mut self, segment: &Segment) {
        let answers = segment.flags & flags::ACK != 0 && segment.ack == self.sender.numbering.wire(0);
        let next = segment.seq == self.acknowledgement_number();
        match self.state {
            State::SynSent if answers => self.end(),
            State::SynReceived if next => self.end(),
            _ => {}
        }
    }

    /// A RST: the connection is over if it has the number expected, or the last one's after a FIN, or that behind the highest SACK block;
    /// elsewhere in the window it is answered, lest a guess end the connection.
    fn take_reset(&mut self, now: Time, segment: &Segment) {
        let expected = self.acknowledgement_number();
        let behind_fin = matches!(self.state, State::CloseWait | State::LastAck | State::Closing);
        let highest = self.receiver.highest().filter(|_| self.sender.config.sack);
        if segment.seq == expected
            || (behind_fin && segment.seq == expected.wrapping_sub(1))
            || highest.is_some_and(|end| segment.seq == self.theirs.wire(end))
        {
            self.end();
        } else if self.is_in_window(segment) {
            self.challenge(now);
        }
    }

    /// Whether a segment begins in the window or ends there (`tcp_sequence`).
    fn is_in_window(&self, segment: &Segment) -> bool {
        let next = self.receiver.next();
        let window = self.receiver.offered().map_or(self.sender.config.window, u64::from);
        self.theirs.offset(segment.seq, next).is_some_and(|start| {
            start + u64::from(segment.numbers()) >= self.receiver.acknowledged_to()
                && start <= next.saturating_add(window)
        })
    }

    /// A segment that is not acceptable is answered by an ACK, unless one was a short time ago.
    fn challenge(&mut self, now: Time) {
        let closing = self.closing();
        if closing.challenged.is_none_or(|then| now.saturating_since(then) >= BETWEEN_CHALLENGES) {
            closing.challenged = Some(now);
            self.receiver.demand_ack();
            self.see_what_comes();
        }
    }

    /// There is no connection any more to which a segment belongs (RFC 9293 §3.10.7.1).
    fn answer_by_reset(&mut self, segment: &Segment) {
        if segment.flags & flags::RST != 0 {
            return;
        }
        let acknowledges = segment.flags & flags::ACK != 0;
        let behind = segment.seq.wrapping_add(segment.numbers());
        let closing = self.closing();
        closing.reset = if acknowledges { (segment.ack, None) } else { (0, Some(behind)) };
        (closing.reset_due, closing.answers) = (true, true);
        self.sender.ready = true;
    }

    /// The connection is over, and a segment is answered by RST.
    fn end_by_reset(&mut self, segment: &Segment) {
        self.end();
        self.answer_by_reset(segment);
    }

    /// A segment comes where nothing is left to do but wait.
    fn answer_while_waiting(&mut self, now: Time, segment: &Segment) {
        let expected = self.acknowledgement_number();
        let [reset, syn, fin, acknowledges] =
            [flags::RST, flags::SYN, flags::FIN, flags::ACK].map(|flag| segment.flags & flag != 0);
        let numbers = segment.numbers();
        let ahead = segment.seq.wrapping_sub(expected).cast_signed();
        let again = now.saturating_add(self.sender.config.time_wait);
        if self.state == State::TimeWait {
            if ahead == 0 && (numbers == 0 || reset) {
                // TIME-WAIT assassination (RFC 1337) is as it was in the standard.
                if reset { self.end() } else { self.sender.timers.move_to(again) }
            } else if !reset {
                if acknowledges {
                    self.sender.timers.move_to(again);
                }
                self.answer_old(now, numbers);
            }
        } else if ahead < 0 && ahead.wrapping_add_unsigned(numbers) < 0 || !self.is_in_window(segment) {
            self.answer_old(now, numbers);
        } else if reset {
            self.end();
        } else if syn && ahead >= 0 {
            self.end_by_reset(segment);
        } else if acknowledges && numbers > 0 && ahead.wrapping_add_unsigned(numbers) > 0 {
            if !fin || ahead.wrapping_add_unsigned(numbers) != 1 {
                return self.end_by_reset(segment);
            }
            self.receiver.end_at(self.receiver.next());
            self.wait(State::TimeWait, now);
            self.receiver.demand_ack();
        }
    }

    /// What does not lie in the window is answered by an ACK: data each time, others once in a time (`tcp_oow_rate_limited`).
    fn answer_old(&mut self, now: Time, numbers: u32) {
        if numbers > 0 { self.receiver.demand_ack() } else { self.challenge(now) }
    }

    /// The acknowledgement of a segment has been read: our FIN may be acknowledged. `true`: go on and read its data.
    #[cold]
    pub(super) fn goes_on_behind_ack(&mut self, now: Time, segment: &Segment) -> bool {
        let fin = segment.flags & flags::FIN != 0;
        let ahead = segment.seq.wrapping_sub(self.acknowledgement_number()).cast_signed();
        let new_data = segment.numbers() > 0 && ahead.wrapping_add_unsigned(segment.len) > 0;
        let orphaned = self.closing.as_ref().is_some_and(|closing| closing.orphaned);
        if self.sender.fin_is_acknowledged()
            && matches!(self.state, State::FinWait1 | State::Closing | State::LastAck)
        {
            // FIN is no user byte.
            self.sender.counters.acked_bytes -= 1;
            match self.state {
                State::FinWait1 => {
                    self.state = State::FinWait2;
                    if orphaned && !new_data && !fin {
                        self.wait(State::FinWait2, now);
                        return false;
                    }
                }
                State::Closing => {
                    self.wait(State::TimeWait, now);
                    return false;
                }
                _ => {
                    self.end();
                    return false;
                }
            }
        }
        match self.state {
            // RFC 1122 §4.2.2.13: nobody will read them.
            State::FinWait1 | State::FinWait2 if orphaned && new_data => {
                self.end_by_reset(segment);
                false
            }
            // Nothing comes behind their FIN.
            State::CloseWait | State::Closing | State::LastAck => ahead < 0,
            _ => true,
        }
    }

    /// Data from offset `start` on, and a FIN behind them or known of already.
    #[cold]
    pub(super) fn handle_last_data(&mut self, now: Time, start: u64, segment: &Segment) {
        let Sender { config, counters, .. } = &mut self.sender;
        let closing = self.closing.get_or_insert_default();
        let len = u64::from(segment.len);
        if segment.flags & flags::FIN == 0 || closing.fin_taken {
            let with_fin = Segment { len: segment.numbers(), ..*segment };
            self.receiver.handle_data(now, start, &with_fin, config, counters);
        } else if start == self.receiver.next() && !self.receiver.has_gaps() && len <= config.window {
            closing.their_fin = Some(start + len);
            self.receiver.handle_last(now, segment.len, config, counters);
        } else {
            let before = counters.outside_window;
            let bytes = counters.delivered_bytes;
            self.receiver.handle_disorder(now, start, segment.len + 1, config, counters);
            let new = counters.outside_window == before && counters.delivered_bytes > bytes;
            if new && closing.their_fin.is_none() {
                closing.their_fin = Some(start + len);
                // FIN is no user byte.
                counters.delivered_bytes -= 1;
                counters.delivered_segments -= u64::from(counters.delivered_bytes == bytes);
            }
        }
        if let Some(fin) = closing.their_fin
            && !closing.fin_taken
            && self.receiver.next() >= fin
        {
            closing.fin_taken = true;
            self.take_fin(now, fin);
        }
        self.see_what_comes();
    }

    /// The other end's FIN, at offset `fin`, has come, and all before it (`tcp_fin`).
    fn take_fin(&mut self, now: Time, fin: u64) {
        self.receiver.end_at(fin);
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => {
                self.state = State::Closing;
                self.receiver.demand_ack();
            }
            State::FinWait2 => {
                self.wait(State::TimeWait, now);
                self.receiver.demand_ack();
            }
            _ => {}
        }
    }
}
