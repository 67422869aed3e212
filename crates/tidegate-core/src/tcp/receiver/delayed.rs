//! ACKs that are put off (RFC 1122 §4.2.3.2, RFC 5681 §4.2; `tcp_send_delayed_ack` of Linux 6.18), and the end of that.

use super::Receiver;
use crate::tcp::config::Config;
use crate::units::{Span, Time};

impl Receiver {
    /// When an ACK that is put off now must leave.
    #[inline(always)]
    pub(super) fn ack_deadline(&self, now: Time, config: &Config) -> Time {
        config.ack_deadline(now, self.buffer.as_ref().map_or(Span::ZERO, |buffer| buffer.beyond_least()))
    }

    /// `tcp_send_delayed_ack`: an ACK is put off. One that was put off before leaves now if it must leave within a quarter of the time for
    /// which one is put off now.
    #[inline(never)]
    pub(super) fn put_off_or_hasten(&mut self, now: Time, config: &Config) {
        let until = self.ack_deadline(now, config);
        let soon = now.saturating_add(Span::from_picos(until.saturating_since(now).picos() / 4));
        let deadline = self.deadline_mut();
        if *deadline <= soon {
            self.ack_now = true;
        } else {
            *deadline = until.min(*deadline);
        }
    }

    /// An ACK must leave by then, if none had to.
    pub(super) fn put_off(&mut self, until: Time) {
        let deadline = self.deadline_mut();
        if *deadline == Time::NEVER {
            *deadline = until;
        }
    }

    /// When an ACK that was put off must leave.
    fn deadline_mut(&mut self) -> &mut Time {
        match self.buffer.as_mut().and_then(|buffer| buffer.reader.as_mut()) {
            Some(reader) => &mut reader.ack_at,
            None => &mut self.delayed_until,
        }
    }

    /// A segment came that brings no data: an ACK that was put off may leave now.
    pub(in crate::tcp) fn hasten_late_ack(&mut self, now: Time, config: &Config) {
        if *self.deadline_mut() != Time::NEVER {
            self.put_off_or_hasten(now, config);
        }
    }

    /// `tcp_delack_timer_handler`: no data have left in time.
    pub(super) fn handle_ack_expiry(&mut self) {
        // What was held back ahead of a gap has a timer of its own.
        if let Some(buffer) = &mut self.buffer
            && buffer.compression.held == 0
        {
            buffer.handle_ack_expiry(self.interactive);
        }
        (self.ack_now, self.interactive) = (true, false);
    }

    /// The next `segments` are acknowledged at once.
    pub(in crate::tcp) fn hasten(&mut self, segments: u32) {
        self.enter_quick_mode(segments);
        self.tells = true;
    }

    /// `tcp_enter_quickack_mode`.
    pub(super) fn enter_quick_mode(&mut self, segments: u32) {
        self.quick = self.quick.max(segments);
        self.interactive = false;
        if let Some(buffer) = &mut self.buffer {
            buffer.put_off_least();
        }
    }
}
