//! A window in real numbers of segments with its threshold, for the controllers whose papers and standards compute so.

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
    /// Segments at which slow start ends; infinite: none yet.
    pub(super) ssthresh: f64,
}

impl RealWindow {
    /// The initial window of the plan.
    pub(super) fn new(plan: &TcpPlan) -> RealWindow {
        let mss = f64::from(plan.mss.max(1));
        let ssthresh = plan.initial_ssthresh.map_or(f64::INFINITY, |bytes| bytes as f64 / mss);
        let mut window = RealWindow { bytes: 0, mss, segments: 0.0, ssthresh };
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

    /// Whether it is below the threshold.
    #[inline]
    pub(super) fn in_slow_start(&self) -> bool {
        self.segments < self.ssthresh
    }

    /// A loss or a mark: the threshold, and the window at it.
    pub(super) fn reduce(&mut self, segments: f64) {
        self.ssthresh = segments;
        self.set(segments);
    }

    pub(super) fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot {
            window: self.segments * self.mss,
            ssthresh: self.ssthresh.is_finite().then_some((self.ssthresh * self.mss) as u64),
            slow_start: self.in_slow_start(),
        }
    }
}
