//! Units that have joined a queue and whose service has not begun when the run ends: how long they have waited by then.

use crate::units::{Span, Time};

/// Number, sum of waits and longest wait of the units whose service has not begun when the run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StillWaiting {
    units: u64,
    picos: u128,
    longest: Span,
}

impl StillWaiting {
    /// Counts one that has waited for so long.
    pub(super) fn add(&mut self, waited: Span) {
        self.units += 1;
        self.picos += u128::from(waited.picos());
        self.longest = self.longest.max(waited);
    }

    /// How many there are.
    #[must_use]
    pub fn units(&self) -> u64 {
        self.units
    }

    /// How long they have waited so far on average, in seconds; `None` where there are none.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.units > 0).then(|| self.picos as f64 / self.units as f64 / 1e12)
    }

    /// How long the one has waited so far that has waited longest, in seconds; `None` where there are none.
    #[must_use]
    pub fn max_s(&self) -> Option<f64> {
        (self.units > 0).then(|| (Time::ZERO + self.longest).as_secs_f64())
    }
}
