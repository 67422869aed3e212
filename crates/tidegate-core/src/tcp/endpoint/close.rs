//! How the application ends a connection, and what an end remembers of it (RFC 9293 §3.6, §3.10.4, §3.10.5).

use super::{Endpoint, State};
use crate::tcp::outgoing::Outgoing;
use crate::tcp::segment::{Segment, flags};
use crate::units::Time;

/// What is remembered once an end of the connection has begun.
#[derive(Debug, Default)]
pub(super) struct Closing {
    /// The application has closed both directions: nobody reads any more.
    pub(super) orphaned: bool,
    /// The connection is over.
    pub(super) over: bool,
    /// The offset of the other end's FIN.
    pub(super) their_fin: Option<u64>,
    /// It has come, and all before it.
    pub(super) fin_taken: bool,
    /// A segment with RST is to leave.
    pub(super) reset_due: bool,
    /// The numbers of the last one: its own, and what it acknowledges, if anything.
    pub(super) reset: (u32, Option<u32>),
    /// It answers a segment, and says no more than its numbers.
    pub(super) answers: bool,
    /// When a segment that is not acceptable was answered last.
    pub(super) challenged: Option<Time>,
}

impl Endpoint {
    /// Whether the application may write: it has not ended its stream, and the connection is not over.
    #[must_use]
    pub fn may_write(&self) -> bool {
        !self.sender.finished && !self.is_over()
    }

    /// Whether there was a connection that is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.closing.as_ref().is_some_and(|closing| closing.over)
    }

    /// The application ends its stream and still reads (`shutdown(SHUT_WR)`): FIN goes with the last data, or alone where they have left
    /// (`tcp_send_fin`). Before the connection is established FIN waits for that.
    pub fn shutdown(&mut self, _now: Time) {
        if !self.may_write() || matches!(self.state, State::Closed | State::Listen) {
            return;
        }
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            early => early,
        };
        self.closing();
        self.sender.finish();
        self.see_what_comes();
    }

    /// The application closes: it ends its stream and reads no more. What has not been opened is over at once. Where data have come in
    /// order that it has not read, the other end hears by RST that they are lost (RFC 1122 §4.2.2.13, RFC 2525 §2.17).
    pub fn close(&mut self, now: Time) {
        if matches!(self.state, State::Closed | State::Listen | State::SynSent) {
            return self.end();
        }
        if self.receiver.unread() > 0 && !self.ends_by_itself() {
            return self.end_with_reset();
        }
        self.closing().orphaned = true;
        self.shutdown(now);
        if self.state == State::FinWait2 {
            self.wait(State::FinWait2, now);
        }
    }

    /// The application ends the connection at once: RST, if the other end knows of it (`tcp_disconnect`).
    pub fn abort(&mut self, _now: Time) {
        let tells = match self.state {
            State::Closed | State::Listen | State::SynSent | State::TimeWait => false,
            // DEVIATION: RFC 9293 §3.10.5 sends none in these; Linux does where data or FIN have not left.
            State::Closing | State::LastAck => self.sender.max < self.sender.written,
            _ => !self.ends_by_itself(),
        };
        if tells {
            return self.end_with_reset();
        }
        self.closing().reset_due = false;
        self.end();
    }

    /// The connection is over, and RST with the next number tells the other end (`tcp_send_active_reset`).
    fn end_with_reset(&mut self) {
        let seq = self.sender.numbering.wire(self.sender.max);
        let ack = self.acknowledgement_number();
        let closing = self.closing();
        (closing.reset, closing.reset_due) = ((seq, Some(ack)), true);
        self.end();
    }

    /// What is remembered of the end of the connection.
    pub(super) fn closing(&mut self) -> &mut Closing {
        self.closing.get_or_insert_default()
    }

    /// Whether nothing is left to do but wait.
    pub(in crate::tcp) fn ends_by_itself(&self) -> bool {
        let orphaned = self.closing.as_ref().is_some_and(|closing| closing.orphaned);
        self.state == State::TimeWait || (self.state == State::FinWait2 && orphaned)
    }

    /// The connection is over; a RST that is due leaves all the same.
    pub(super) fn end(&mut self) {
        self.state = State::Closed;
        self.closing().over = true;
        self.sender.ready = self.closing().reset_due;
        self.sender.forget_outstanding();
        self.still();
    }

    /// In `state` nothing is left to do but wait: for the other end's FIN, or until what is still in the network has died out.
    pub(super) fn wait(&mut self, state: State, now: Time) {
        self.state = state;
        self.still();
        self.sender.timers.move_to(now.saturating_add(self.sender.config.time_wait));
    }

    /// No timer runs, and nothing is owed.
    fn still(&mut self) {
        self.sender.undisturbed.forget();
        self.sender.timers.stop();
        self.receiver.settled();
        self.see_what_comes();
    }

    /// A RST, if one is due.
    pub(in crate::tcp) fn poll_reset(&mut self) -> Outgoing {
        self.sender.ready = false;
        match &mut self.closing {
            Some(closing) if closing.reset_due => {
                closing.reset_due = false;
                // What the last ACK told is told.
                self.receiver.acknowledged();
                Outgoing::new(self.sender.max, 0).reset()
            }
            _ => Outgoing::NOTHING,
        }
    }

    /// Makes a RST of a segment.
    pub(super) fn write_reset(&self, segment: &mut Segment) {
        let Some(closing) = &self.closing else { return };
        let (seq, ack) = closing.reset;
        (segment.seq, segment.ack) = (seq, ack.unwrap_or(0));
        segment.flags = if ack.is_some() { flags::RST | flags::ACK } else { flags::RST };
        if closing.answers {
            (segment.sack_count, segment.window, segment.ts_val, segment.ts_ecr) = (0, 0, 0, 0);
        }
    }

    /// A segment of this end's stream leaves whose last byte stands for the FIN.
    #[cold]
    pub(super) fn end_stream(&mut self, sent: Outgoing) -> Outgoing {
        self.sender.counters.bytes_sent -= 1;
        self.sender.fin_rides = sent.len() > 1;
        sent.push_if(sent.len() > 1).ending()
    }
}
