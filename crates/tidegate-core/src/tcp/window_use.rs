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
    /// When the window last was the limit (`snd_cwnd_stamp`).
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
    /// SND.UNA and SND.NXT.
    pub(super) una: u64,
    /// See `una`.
    pub(super) max: u64,
    /// The congestion window, in segments.
    pub(super) window: u64,
    /// Whether slow start goes on.
    pub(super) slow_start: bool,
    /// Time-out in force.
    pub(super) rto: Span,
}

impl WindowUse {
    /// A burst has left. `Some`: the window has not been used for a time-out, and falls to this many segments or halfway
    /// there (`tcp_cwnd_application_limited`); `least`: the initial window.
    pub(super) fn handle_burst(&mut self, burst: Burst, least: u64) -> Option<u64> {
        if burst.una >= self.until || burst.limited || (!self.limited && burst.out > self.most) {
            self.limited = burst.limited;
            self.most = burst.out;
            self.until = burst.max;
        }
        if self.is_limited(burst.window, burst.slow_start) {
            self.used = 0;
            self.since = burst.at;
            return None;
        }
        self.used = self.used.max(burst.out);
        if burst.at.saturating_since(self.since) < burst.rto {
            return None;
        }
        let used = std::mem::take(&mut self.used).max(least);
        self.since = burst.at;
        (used < burst.window).then_some(used.midpoint(burst.window))
    }

    /// Whether an ACK may widen a window of so many segments.
    pub(super) fn is_limited(&self, window: u64, slow_start: bool) -> bool {
        self.limited || (slow_start && window < 2 * self.most)
    }

    /// The window was set anew after an idle time.
    pub(super) fn handle_restart(&mut self, now: Time) {
        self.used = 0;
        self.since = now;
    }
}
