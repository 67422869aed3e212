//! Reno: RFC 5681, whose fast recovery ends at the first new ACK.

use super::{Acked, Aimd, CongestionControl, ControllerSnapshot, LossKind, Lost, Recovered, Recovery};

/// RFC 5681.
#[derive(Debug)]
pub struct Reno {
    aimd: Aimd,
}

impl Reno {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(aimd: Aimd) -> Reno {
        Reno { aimd }
    }

    #[inline]
    pub(super) fn aimd_mut(&mut self) -> &mut Aimd {
        &mut self.aimd
    }
}

impl CongestionControl for Reno {
    fn handle_acked(&mut self, acked: &Acked) {
        if acked.window_limited {
            self.aimd.grow(acked.bytes);
        }
    }

    fn handle_lost(&mut self, lost: &Lost) {
        // RFC 5681 §3.1: the loss window of one segment after a time-out; §3.2 step 2 otherwise.
        self.aimd.shrink(lost, lost.kind != LossKind::DupAck);
    }

    fn handle_recovered(&mut self, _recovered: &Recovered) {
        // RFC 5681 §3.2 step 6: cwnd = ssthresh, where it has been since the loss.
    }

    fn handle_restart(&mut self, window: u64) {
        self.aimd.settle(window.min(self.aimd.window()));
    }

    #[inline]
    fn window(&self) -> u64 {
        self.aimd.window()
    }

    fn recovery(&self) -> Recovery {
        Recovery::UntilNewAck
    }

    fn snapshot(&self) -> ControllerSnapshot {
        self.aimd.snapshot()
    }
}
