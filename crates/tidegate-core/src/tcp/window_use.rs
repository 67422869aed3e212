//! Whether the congestion window is what limits a sender, as Linux keeps it (`tcp_cwnd_validate`,
//! `tcp_is_cwnd_limited`, `tcp_cwnd_application_limited`): only then does it grow.

use crate::units::{Span, Time};

/// The largest flight of the current window of data; everything in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowUse {
    /// The window stopped the sender (`is_cwnd_limited`).
    limited: bool,
    /// The largest flight (`max_packets_out`).
    most: u64,
    /// Holds until this offset is acknowledged (`cwnd_usage_seq`).
    until: u64,
    /// The largest flight since `since` (`snd_cwnd_used`).
    used: u64,
    /// When the window was the limit, was set, or might have grown last (`snd_cwnd_stamp`).
    since: Time,
}

/// What a burst left behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    /// When.
    pub(super) at: Time,
    /// The window stopped it.
    pub(super) limited: bool,
    /// Outstanding, in segments.
    pub(super) out: u64,
    /// SND.UNA.
    pub(super) una: u64,
    /// SND.NXT.
    pub(super) max: u64,
    /// Time-out in force.
    pub(super) rto: Span,
}

impl WindowUse {
    /// A burst has left. `allows(n)`: the sender is in slow start with a window below n segments.
    /// Returns `true` if the window has not been used for a time-out: it falls ([`WindowUse::handle_unused`]).
    #[inline(always)]
    pub(super) fn handle_burst(&mut self, burst: Burst, allows: impl FnOnce(u64) -> bool) -> bool {
        if burst.una >= self.until || burst.limited || (!self.limited && burst.out > self.most) {
            self.limited = burst.limited;
            self.most = burst.out;
            self.until = burst.max;
        }
        if self.is_limited(allows) {
            self.used = 0;
            self.since = burst.at;
            return false;
        }
        self.used = self.used.max(burst.out);
        burst.at.saturating_since(self.since) >= burst.rto
    }

    /// The window, of so many segments, has not been used for a time-out: the segments to which it falls, halfway to
    /// what was used (`tcp_cwnd_application_limited`); `least`: the initial window.
    pub(super) fn handle_unused(&mut self, at: Time, window: u64, least: u64) -> Option<u64> {
        let used = std::mem::take(&mut self.used).max(least);
        self.since = at;
        (used < window).then_some(used.midpoint(window))
    }

    /// Whether an ACK may widen the window; `allows`: see [`WindowUse::handle_burst`].
    #[inline]
    pub(super) fn is_limited(&self, allows: impl FnOnce(u64) -> bool) -> bool {
        self.limited || allows(2 * self.most)
    }

    /// The window was set anew after an idle time.
    pub(super) fn handle_restart(&mut self, now: Time) {
        self.used = 0;
        self.since = now;
    }

    /// The window was set for another reason, or an ACK of new data came, whether the window has grown for it or not
    /// (`tcp_cong_avoid`).
    #[inline(always)]
    pub(super) fn handle_window_set(&mut self, now: Time) {
        self.since = now;
    }
}
