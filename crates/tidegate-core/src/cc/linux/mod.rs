//! Congestion control as Linux counts it: whole segments, in integers.
//!
//! Written from what `tcp_cong.c`, `tcp_output.c` and the controllers' files of Linux 6.18 do. The endpoint says on
//! which ACKs a window may grow ([`super::Acked::window_limited`]) and holds the window of a loss recovery.

mod cubic;
mod dctcp;
mod hystart;
mod reno;
mod vegas;
mod westwood;

#[cfg(test)]
mod tests;

pub use cubic::LinuxCubic;
pub use dctcp::LinuxDctcp;
pub use reno::LinuxReno;
pub use vegas::Vegas;
pub use westwood::Westwood;

use super::{Acked, ControllerSnapshot, LossKind, Lost, Undone};
use crate::plan::TcpPlan;

/// No window is larger, so that products of windows fit.
const LARGEST: u64 = 1 << 30;

/// A window in whole segments with its threshold.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// `snd_cwnd`.
    segments: u64,
    /// `snd_ssthresh`; `u64::MAX`: none yet.
    threshold: u64,
    /// `snd_cwnd_cnt`: segments acknowledged towards the next one of the window.
    credit: u64,
    /// User bytes in a full segment.
    mss: u64,
}

impl Window {
    fn new(plan: &TcpPlan) -> Window {
        let mss = u64::from(plan.mss.max(1));
        Window {
            segments: (plan.initial_window / mss).clamp(1, LARGEST),
            threshold: plan.initial_ssthresh.map_or(u64::MAX, |bytes| (bytes / mss).max(1)),
            credit: 0,
            mss,
        }
    }

    /// `snd_cwnd` in bytes.
    #[inline]
    fn bytes(&self) -> u64 {
        self.segments * self.mss
    }

    /// `tcp_in_slow_start`.
    #[inline]
    fn in_slow_start(&self) -> bool {
        self.segments < self.threshold
    }

    /// `snd_cwnd` in segments: during a reduction, the window of `to` bytes that it has come to.
    #[inline(always)]
    fn reduced(&self, to: Option<u64>) -> u64 {
        to.map_or(self.segments, |bytes| bytes / self.mss)
    }

    /// `tcp_slow_start`: the window grows by all that was acknowledged, up to the threshold; how many segments are
    /// left for congestion avoidance.
    fn slow_start(&mut self, acked: u64) -> u64 {
        let grown = (self.segments + acked).min(self.threshold).min(LARGEST);
        let left = acked - (grown - self.segments);
        self.segments = grown;
        left
    }

    fn grow(&mut self, segments: u64) {
        self.segments = (self.segments + segments).min(LARGEST);
    }

    /// `tcp_cong_avoid_ai`: one segment for each `per` acknowledged.
    fn avoid(&mut self, per: u64, acked: u64) {
        if self.credit >= per {
            self.credit = 0;
            self.grow(1);
        }
        self.credit += acked;
        if self.credit >= per {
            let grown = self.credit / per;
            self.credit -= grown * per;
            self.grow(grown);
        }
    }

    /// `tcp_reno_cong_avoid`.
    fn reno(&mut self, acked: &Acked) {
        if !acked.window_limited {
            return;
        }
        let segments = u64::from(acked.segments);
        let left = if self.in_slow_start() { self.slow_start(segments) } else { segments };
        if left > 0 {
            self.avoid(self.segments, left);
        }
    }

    /// `tcp_reno_ssthresh`, and what a time-out leaves.
    fn halve(&mut self, lost: &Lost) {
        if lost.kind != (LossKind::Timeout { again: true }) {
            self.reduce(self.segments / 2);
        }
        if lost.kind.is_timeout() {
            self.collapse(lost.remaining);
        }
    }

    /// A loss was found: the threshold, two segments at least, and the window at it.
    fn reduce(&mut self, threshold: u64) {
        self.threshold = threshold.max(2);
        self.segments = self.threshold;
        self.credit = 0;
    }

    /// `tcp_enter_loss`: one segment more than what is taken to be in flight still.
    fn collapse(&mut self, in_flight: u64) {
        self.segments = in_flight.div_ceil(self.mss) + 1;
        self.credit = 0;
    }

    /// Idleness or a lost SYN takes the window down to `bytes`. `tcp_current_ssthresh`: slow start leads back to
    /// three quarters of what it was.
    fn restart(&mut self, bytes: u64) {
        self.remember();
        self.segments = self.segments.min((bytes / self.mss).max(1));
    }

    /// `tcp_undo_cwnd_reduction` with `tcp_reno_undo_cwnd`, and the threshold that `tcp_current_ssthresh` gave before.
    fn undo(&mut self, undone: &Undone) {
        let before = undone.window / self.mss;
        self.segments = self.segments.max(before).min(LARGEST);
        self.threshold = match undone.ssthresh {
            Some(bytes) => self.threshold.max(bytes / self.mss).max(before / 2 + before / 4),
            None => u64::MAX,
        };
    }

    /// A reduction ends early (`tcp_cwnd_reduction` has set `snd_cwnd`).
    fn stay_at(&mut self, window: u64) {
        self.segments = (window / self.mss).clamp(1, LARGEST);
    }

    /// `tcp_current_ssthresh`: the threshold is three quarters of the window at least.
    fn remember(&mut self) {
        if self.threshold != u64::MAX {
            self.threshold = self.threshold.max(self.segments / 2 + self.segments / 4);
        }
    }

    fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot {
            window: self.bytes() as f64,
            ssthresh: (self.threshold != u64::MAX).then(|| self.threshold * self.mss),
            slow_start: self.in_slow_start(),
        }
    }
}
