//! A constant window: no reaction to ACKs, losses or idle times.

use super::control::Control;
use super::{Acked, CongestionControl, ControllerSnapshot, Lost, Recovered};

/// A constant window.
#[derive(Debug)]
pub struct Fixed {
    window: u64,
}

impl Fixed {
    /// A window of `window` bytes.
    #[must_use]
    pub fn new(window: u64) -> Fixed {
        Fixed { window }
    }
}

impl CongestionControl for Fixed {
    fn handle_acked(&mut self, _acked: &Acked) {}

    fn handle_lost(&mut self, _lost: &Lost) {}

    fn handle_recovered(&mut self, _recovered: &Recovered) {}

    fn handle_restart(&mut self, _window: u64) {}

    #[inline]
    fn window(&self) -> u64 {
        self.window
    }

    fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot { window: self.window as f64, ssthresh: None, slow_start: false }
    }
}

impl Control for Fixed {
    const HEARS_MEASURED: bool = false;
    const READS_WINDOW_LIMITED: bool = false;
    const MAY_PACE: bool = false;
}
