//! Tahoe: slow start after every loss, however it was noticed (RFC 5681 without §3.2's fast
//! recovery). Whether duplicate ACKs start a retransmission at all is the endpoint's choice.

use super::{Acked, Aimd, CongestionControl, ControllerSnapshot, Lost, Recovered, Recovery};

/// Slow start after every loss.
#[derive(Debug)]
pub struct Tahoe {
    aimd: Aimd,
}

impl Tahoe {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(aimd: Aimd) -> Tahoe {
        Tahoe { aimd }
    }

    #[inline]
    pub(super) fn aimd_mut(&mut self) -> &mut Aimd {
        &mut self.aimd
    }
}

impl CongestionControl for Tahoe {
    fn handle_acked(&mut self, acked: &Acked) {
        if acked.window_limited {
            self.aimd.grow(acked.bytes);
        }
    }

    fn handle_lost(&mut self, lost: &Lost) {
        self.aimd.shrink(lost, true);
    }

    fn handle_recovered(&mut self, _recovered: &Recovered) {}

    fn handle_restart(&mut self, window: u64) {
        self.aimd.settle(window.min(self.aimd.window()));
    }

    #[inline]
    fn window(&self) -> u64 {
        self.aimd.window()
    }

    fn recovery(&self) -> Recovery {
        Recovery::SlowStart
    }

    fn snapshot(&self) -> ControllerSnapshot {
        self.aimd.snapshot()
    }
}
