//! A constant window, or a constant pace with or without a window: no reaction to ACKs, losses or idle times.

use super::control::ControllerNeeds;
use super::{CongestionControl, ControllerSnapshot, Lost};
use crate::plan::LARGEST_WINDOW;
use crate::units::Rate;

/// A constant window, and a constant pace if there is one.
#[derive(Debug)]
pub struct Fixed {
    window: u64,
    rate: Option<Rate>,
}

impl Fixed {
    /// A window of `window` bytes.
    #[must_use]
    pub fn new(window: u64) -> Fixed {
        Fixed { window, rate: None }
    }

    /// User bytes at `rate`, at most `window` of them in flight.
    #[must_use]
    pub fn paced(rate: Rate, window: u64) -> Fixed {
        Fixed { window: window.min(LARGEST_WINDOW), rate: Some(rate) }
    }
}

impl CongestionControl for Fixed {
    fn handle_lost(&mut self, _lost: &Lost) {}

    fn handle_restart(&mut self, _window: u64) {}

    fn governs_repair(&self) -> bool {
        self.rate.is_some()
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate
    }

    fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot { window: self.window as f64, ssthresh: None, slow_start: false }
    }
}

impl ControllerNeeds for Fixed {
    const HEARS_MEASURED: bool = false;
    const READS_WINDOW_LIMITED: bool = false;

    fn may_pace(&self) -> bool {
        self.rate.is_some()
    }
}
