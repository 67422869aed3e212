//! What of the sender may leave now.
//!
//! There is no Nagle algorithm (RFC 9293 §3.7.4 lets applications switch it off: here it always is),
//! and a segment shorter than the MSS is sent only when it holds all there is to send
//! (RFC 9293 §3.8.6.2.1).

use super::outgoing::Outgoing;
use super::sender::{Mode, Sender};
use crate::unit::HeldBy;
use crate::units::Time;

impl Sender {
    /// Sent and not acknowledged: FlightSize (RFC 5681 §2).
    #[inline]
    pub(super) fn outstanding(&self) -> u64 {
        self.max - self.una
    }

    /// What is taken to be in the network: RFC 6675's pipe. Equal to [`Sender::outstanding`] as long
    /// as nothing is SACKed or lost.
    #[inline]
    pub(super) fn pipe(&self) -> u64 {
        (self.outstanding().cast_signed() - self.board.holes()).max(0).unsigned_abs()
    }

    /// Where the congestion window ends: new data may fill the stream up to here.
    #[inline]
    fn window_end(&self, window: u64) -> i64 {
        (self.una + window).cast_signed() + self.inflation + self.board.holes()
    }

    /// Whether the congestion window lets `len` more bytes go.
    #[inline]
    pub(super) fn window_allows(&self, len: u32, window: u64) -> bool {
        self.max.cast_signed() + i64::from(len) <= self.window_end(window)
    }

    /// What leaves now; `None`: nothing until the next ACK, write or time-out.
    #[inline(always)]
    pub(super) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        let sent = if self.mode == Mode::Open {
            self.poll_new(now, self.controller.window())
        } else {
            self.poll_mending(now)
        };
        let Some(sent) = sent else {
            self.ready = false;
            return None;
        };
        self.note_sent(now, sent);
        if self.timers.is_off() {
            // RFC 6298 §5.1.
            self.timers.move_to(self.estimator.expiry(now));
        }
        Some(sent)
    }

    /// A segment leaves.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, now: Time, sent: Outgoing) {
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(sent.len());
        self.last_sent = now;
    }

    /// New data, if both windows allow.
    #[inline(always)]
    pub(super) fn poll_new(&mut self, now: Time, window: u64) -> Option<Outgoing> {
        if self.config.idle_restart && self.outstanding() == 0 && !self.config.account {
            self.restart_after_idle(now);
        }
        let window_end = self.window_end(window);
        let Some(len) = self.allowed(window_end) else {
            self.ready = false;
            return None;
        };
        let sent = self.push_new(now, len);
        // Whether this was the last for now is known already.
        self.ready = self.mode != Mode::Open || self.allowed(window_end).is_some();
        Some(sent)
    }

    /// Whether more new data may leave; notes what stops it if not.
    #[inline(always)]
    pub(super) fn allows_more(&mut self, window: u64) -> bool {
        let window_end = self.window_end(window);
        self.allowed(window_end).is_some()
    }

    /// The next `len` bytes leave.
    #[inline(always)]
    pub(super) fn push_new(&mut self, now: Time, len: u32) -> Outgoing {
        let start = self.max;
        self.max += u64::from(len);
        self.board.push(self.max, len, now);
        if self.config.time_one && self.timed_end == 0 {
            self.timed_end = self.max;
            self.timed_at = now;
        }
        Outgoing::new(start, len)
    }

    /// The next new segment's length if it may go; notes what stops it if it may not.
    #[inline(always)]
    fn allowed(&mut self, window_end: i64) -> Option<u32> {
        let unsent = self.written - self.max;
        let len = unsent.min(u64::from(self.config.mss));
        let end = self.max + len;
        if unsent == 0 {
            self.held = HeldBy::Application;
        } else if end.cast_signed() > window_end {
            self.stopped_by_window();
        } else if end - self.una > self.peer_window {
            self.held = HeldBy::ReceiverWindow;
        } else {
            return Some(len as u32);
        }
        None
    }

    /// The congestion window stops the sender.
    #[inline]
    pub(super) fn stopped_by_window(&mut self) {
        self.held = HeldBy::CongestionWindow;
        self.limited_end = self.max;
    }

    /// RFC 5681 §4.1: nothing was sent for more than a time-out, so the window falls to
    /// min(IW, cwnd).
    #[cold]
    fn restart_after_idle(&mut self, now: Time) {
        if self.max > 0 && now.saturating_since(self.last_sent) > self.estimator.rto() {
            self.controller.handle_restart(self.config.initial_window);
        }
    }

    /// A segment left the machine: the model of the ABR paper starts its timer again.
    #[inline]
    pub(super) fn handle_departure(&mut self, now: Time) {
        // Until then the segment waited, and the sender was not idle (RFC 5681 §4.1).
        self.last_sent = now;
        if self.outstanding() > 0 {
            self.timers.move_to(self.estimator.expiry(now));
        }
    }
}
