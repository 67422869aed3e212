//! Linux's Reno (`tcp_reno_cong_avoid`, `tcp_reno_ssthresh`).

use super::Window;
use crate::cc::control::{ControllerNeeds, by_window};
use crate::cc::{Acked, CongestionControl, LossKind, Lost};
use crate::plan::TcpPlan;

/// Reno in whole segments.
#[derive(Debug)]
pub struct LinuxReno {
    window: Window,
    /// RFC 8511, which the kernel does not have.
    abe: bool,
}

impl LinuxReno {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(plan: &TcpPlan) -> LinuxReno {
        LinuxReno { window: Window::new(plan), abe: plan.abe }
    }
}

impl CongestionControl for LinuxReno {
    fn handle_acked(&mut self, acked: &Acked) {
        self.window.reno(acked);
    }

    fn handle_lost(&mut self, lost: &Lost) {
        if self.abe && lost.kind == LossKind::Ecn {
            // RFC 8511 §3: 0.8 after a mark.
            self.window.reduce(self.window.segments * 4 / 5);
        } else {
            self.window.halve(lost);
        }
    }

    by_window!(window);
}

impl ControllerNeeds for LinuxReno {
    const HEARS_MEASURED: bool = false;
    const READS_WINDOW_LIMITED: bool = false;
    const MAY_PACE: bool = false;

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }
}
