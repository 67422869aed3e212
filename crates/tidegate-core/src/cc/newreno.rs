//! NewReno: RFC 6582, whose fast recovery lasts until all that was outstanding is acknowledged.

use super::{Acked, Aimd, CongestionControl, ControllerSnapshot, LossKind, Lost, Recovered, Recovery};

/// RFC 6582.
#[derive(Debug)]
pub struct NewReno {
    aimd: Aimd,
}

impl NewReno {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(aimd: Aimd) -> NewReno {
        NewReno { aimd }
    }

    #[inline]
    pub(super) fn aimd_mut(&mut self) -> &mut Aimd {
        &mut self.aimd
    }
}

impl CongestionControl for NewReno {
    fn handle_acked(&mut self, acked: &Acked) {
        if acked.window_limited {
            self.aimd.grow(acked.bytes);
        }
    }

    fn handle_lost(&mut self, lost: &Lost) {
        self.aimd.shrink(lost, lost.kind != LossKind::DupAck);
    }

    fn handle_recovered(&mut self, recovered: &Recovered) {
        // RFC 6582 §3.2 step 3, full acknowledgments, choice (1): no burst after recovery.
        let mss = self.aimd.mss();
        self.aimd.recover(self.aimd.ssthresh().min(recovered.in_flight.max(mss) + mss));
    }

    fn handle_restart(&mut self, window: u64) {
        self.aimd.settle(window.min(self.aimd.window()));
    }

    #[inline]
    fn window(&self) -> u64 {
        self.aimd.window()
    }

    fn recovery(&self) -> Recovery {
        Recovery::UntilAllAcked
    }

    fn snapshot(&self) -> ControllerSnapshot {
        self.aimd.snapshot()
    }
}
