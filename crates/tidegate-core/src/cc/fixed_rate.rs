//! A constant pace: data leave at one rate, whatever is lost or delayed.

use super::control::Control;
use super::{Acked, CongestionControl, ControllerSnapshot, Lost, Recovered};
use crate::plan::LARGEST_WINDOW;
use crate::units::Rate;

/// A constant pace, and a constant window if there is one.
#[derive(Debug)]
pub struct FixedRate {
    rate: Rate,
    window: u64,
}

impl FixedRate {
    /// User bytes at `rate`, at most `window` of them in flight.
    #[must_use]
    pub fn new(rate: Rate, window: u64) -> FixedRate {
        FixedRate { rate, window: window.min(LARGEST_WINDOW) }
    }
}

impl CongestionControl for FixedRate {
    fn handle_acked(&mut self, _acked: &Acked) {}

    fn handle_lost(&mut self, _lost: &Lost) {}

    fn handle_recovered(&mut self, _recovered: &Recovered) {}

    fn handle_restart(&mut self, _window: u64) {}

    fn governs_repair(&self) -> bool {
        true
    }

    #[inline]
    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.rate)
    }

    fn snapshot(&self) -> ControllerSnapshot {
        ControllerSnapshot { window: self.window as f64, ssthresh: None, slow_start: false }
    }
}

impl Control for FixedRate {
    const HEARS_MEASURED: bool = false;
    const READS_WINDOW_LIMITED: bool = false;
}
