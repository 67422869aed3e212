//! DCTCP (RFC 8257): Reno that answers marks by a reduction in proportion to the share of its data that was marked: of
//! half the window if all were.

use super::control::{ControllerNeeds, by_window};
use super::{Ack, Acked, Aimd, CongestionControl, EcnNeed, LossKind, Lost, Recovered};

/// RFC 8257 §4.2: DCTCP.g.
const GAIN: f64 = 1.0 / 16.0;

/// The estimate of how much is marked (RFC 8257 §3.3), shared with [`super::Prague`].
#[derive(Debug)]
pub(super) struct Extent {
    /// DCTCP.Alpha; §3.3: 1 at the start, so that the first mark halves the window.
    pub(super) alpha: f64,
    /// DCTCP.WindowEnd.
    end: u64,
    /// Of this window of data, in bytes. Where the feedback counts packets, each counts as a full segment.
    acked: u64,
    marked: u64,
    mss: u64,
}

impl Extent {
    pub(super) fn new(mss: u64) -> Extent {
        Extent { alpha: 1.0, end: 0, acked: 0, marked: 0, mss }
    }

    /// §3.3 steps 1 and 2.
    pub(super) fn count(&mut self, ack: &Ack) {
        if let Some(marked) = ack.ecn_marked_bytes {
            self.acked += ack.delivered;
            self.marked += marked;
        } else {
            self.acked += u64::from(ack.segments) * self.mss;
            self.marked += u64::from(ack.ecn_marked) * self.mss;
        }
    }

    /// §3.3 step 3: whether a window of data is over.
    pub(super) fn is_over(&self, ack: &Ack) -> bool {
        ack.una > self.end
    }

    /// §3.3 steps 4 to 8.
    pub(super) fn update(&mut self, max: u64) {
        if self.acked > 0 {
            let marked = (self.marked as f64 / self.acked as f64).min(1.0);
            self.alpha = self.alpha * (1.0 - GAIN) + GAIN * marked;
        }
        self.skip(max);
    }

    /// Begins a new window of data; what was counted of the last one changes nothing.
    pub(super) fn skip(&mut self, max: u64) {
        self.end = max;
        self.acked = 0;
        self.marked = 0;
    }
}

/// DCTCP.
#[derive(Debug)]
pub struct Dctcp {
    aimd: Aimd,
    extent: Extent,
}

impl Dctcp {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(aimd: Aimd) -> Dctcp {
        Dctcp { extent: Extent::new(aimd.mss()), aimd }
    }
}

impl CongestionControl for Dctcp {
    fn handle_ack(&mut self, ack: &Ack) {
        self.extent.count(ack);
        if self.extent.is_over(ack) {
            self.extent.update(ack.max);
        }
    }

    fn hears_acks(&self) -> bool {
        true
    }

    /// RFC 8257 §3.3: slow start and additive increase are those of RFC 5681.
    fn handle_acked(&mut self, acked: &Acked) {
        if acked.window_limited {
            self.aimd.grow(acked.bytes);
        }
    }

    fn handle_lost(&mut self, lost: &Lost) {
        if lost.kind == LossKind::Ecn {
            // §3.3 step 9: cwnd · (1 - alpha / 2).
            let left = self.aimd.bytes() as f64 * (1.0 - self.extent.alpha / 2.0);
            self.aimd.reduce_to(left as u64);
        } else {
            // §3.5: a loss as RFC 5681 has it.
            self.aimd.shrink(lost, lost.kind.is_timeout());
        }
    }

    fn handle_recovered(&mut self, recovered: &Recovered) {
        self.aimd.recover(recovered);
    }

    fn ecn(&self) -> EcnNeed {
        EcnNeed::Extent
    }

    by_window!(aimd);

    fn detail(&self) -> Option<(&'static str, f64)> {
        Some(("alpha", self.extent.alpha))
    }
}

impl ControllerNeeds for Dctcp {
    const HEARS_MEASURED: bool = false;
    const READS_WINDOW_LIMITED: bool = false;
    const MAY_PACE: bool = false;
}
