//! Linux's Reno (`tcp_reno_cong_avoid`, `tcp_reno_ssthresh`).

use super::Window;
use crate::cc::{Acked, CongestionControl, ControllerSnapshot, LossKind, Lost, Recovered, Undone};
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
        if !acked.window_limited {
            return;
        }
        let window = &mut self.window;
        let segments = u64::from(acked.segments);
        let left = if window.in_slow_start() { window.slow_start(segments) } else { segments };
        if left > 0 {
            window.avoid(window.segments, left);
        }
    }

    fn handle_lost(&mut self, lost: &Lost) {
        if lost.kind != (LossKind::Timeout { again: true }) {
            let window = self.window.segments;
            // RFC 8511 §3: 0.8 after a mark.
            let abe = self.abe && lost.kind == LossKind::Ecn;
            self.window.reduce(if abe { window * 4 / 5 } else { window / 2 });
        }
        if lost.kind.is_timeout() {
            self.window.collapse(lost.remaining);
        }
    }

    fn handle_recovered(&mut self, _recovered: &Recovered) {}

    fn handle_undone(&mut self, undone: &Undone) {
        self.window.undo(undone);
    }

    fn handle_restart(&mut self, window: u64) {
        self.window.restart(window);
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window.bytes()
    }

    fn snapshot(&self) -> ControllerSnapshot {
        self.window.snapshot()
    }
}
