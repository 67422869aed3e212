//! DCTCP as `tcp_dctcp.c` of Linux 6.18: RFC 8257 in integers of 1/1024.

use super::Window;
use crate::cc::control::{ControllerNeeds, by_window};
use crate::cc::{Ack, Acked, CongestionControl, EcnNeed, LossKind, Lost};
use crate::plan::TcpPlan;

/// `DCTCP_MAX_ALPHA`: all is marked.
const ALL: u64 = 1024;
/// `dctcp_shift_g`: g = 1/16.
const SHIFT: u32 = 4;

/// DCTCP in whole segments.
#[derive(Debug)]
pub struct LinuxDctcp {
    window: Window,
    /// `dctcp_alpha`.
    alpha: u64,
    /// `next_seq`: the window of data is over when this is acknowledged.
    end: u64,
    /// Of this window of data, in segments.
    delivered: u64,
    marked: u64,
}

impl LinuxDctcp {
    /// A connection's controller at its start.
    #[must_use]
    pub fn new(plan: &TcpPlan) -> LinuxDctcp {
        LinuxDctcp { window: Window::new(plan), alpha: ALL, end: 0, delivered: 0, marked: 0 }
    }
}

impl CongestionControl for LinuxDctcp {
    /// `dctcp_update_alpha`.
    fn handle_ack(&mut self, ack: &Ack) {
        self.delivered += u64::from(ack.segments);
        self.marked += u64::from(ack.ecn_marked);
        if ack.una < self.end {
            return;
        }
        // At least one is taken off, so that it comes to zero.
        self.alpha -= (self.alpha >> SHIFT).max(1).min(self.alpha);
        let marked = (self.marked << (10 - SHIFT)) / self.delivered.max(1);
        self.alpha = (self.alpha + marked).min(ALL);
        self.end = ack.max;
        self.delivered = 0;
        self.marked = 0;
    }

    fn hears_acks(&self) -> bool {
        true
    }

    /// `tcp_reno_cong_avoid`.
    fn handle_acked(&mut self, acked: &Acked) {
        self.window.reno(acked);
    }

    /// `dctcp_ssthresh` after a mark, `dctcp_react_to_loss` after a loss.
    fn handle_lost(&mut self, lost: &Lost) {
        if lost.kind == LossKind::Ecn {
            let segments = self.window.segments;
            self.window.reduce(segments - ((segments * self.alpha) >> 11));
        } else {
            self.window.halve(lost);
        }
    }

    fn ecn(&self) -> EcnNeed {
        EcnNeed::Extent
    }

    by_window!(window);

    fn detail(&self) -> Option<(&'static str, f64)> {
        Some(("alpha", self.alpha as f64 / ALL as f64))
    }
}

impl ControllerNeeds for LinuxDctcp {
    const HEARS_MEASURED: bool = false;
    const READS_WINDOW_LIMITED: bool = false;
    const MAY_PACE: bool = false;
}
