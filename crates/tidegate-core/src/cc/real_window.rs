//! A window in real numbers of segments, for the controllers whose papers and standards compute so.

use super::ControllerSnapshot;
use crate::plan::TcpPlan;

/// No window grows beyond this many bytes.
const LARGEST: f64 = (1_u64 << 40) as f64;

/// A window of segments that need not be whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct RealWindow {
    /// Whole bytes of it.
    bytes: u64,
    mss: f64,
    segments: f64,
}

impl RealWindow {
    /// The initial window of the plan.
    pub(super) fn new(plan: &TcpPlan) -> RealWindow {
        let mut window = RealWindow { bytes: 0, mss: f64::from(plan.mss.max(1)), segments: 0.0 };
        window.set(window.in_segments(plan.initial_window));
        window
    }

    /// Sets it to so many segments, one at least.
    #[inline]
    pub(super) fn set(&mut self, segments: f64) {
        self.segments = segments.clamp(1.0, LARGEST / self.mss);
        self.bytes = (self.segments * self.mss) as u64;
    }

    /// It falls to so many bytes if it is larger.
    pub(super) fn limit(&mut self, bytes: u64) {
        self.set(self.segments.min(self.in_segments(bytes)));
    }

    #[inline]
    pub(super) fn segments(&self) -> f64 {
        self.segments
    }

    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// User bytes in a full segment.
    #[inline]
    pub(super) fn mss(&self) -> f64 {
        self.mss
    }

    #[inline]
    pub(super) fn in_segments(&self, bytes: u64) -> f64 {
        bytes as f64 / self.mss
    }

    /// The slow-start threshold of the plan in segments; infinite: none.
    pub(super) fn first_threshold(&self, plan: &TcpPlan) -> f64 {
        plan.initial_ssthresh.map_or(f64::INFINITY, |bytes| self.in_segments(bytes))
    }

    /// What plots show of it and of a threshold in segments; infinite: none.
    pub(super) fn snapshot(&self, ssthresh: f64, slow_start: bool) -> ControllerSnapshot {
        ControllerSnapshot {
            window: self.segments * self.mss,
            ssthresh: ssthresh.is_finite().then_some((ssthresh * self.mss) as u64),
            slow_start,
        }
    }
}
