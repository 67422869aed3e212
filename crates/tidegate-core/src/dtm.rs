//! The DTM bandwidth estimator: how many slots a channel gets for the rate measured on
//! arrival. A plain object without clock or network; [`crate::net`] drives one per channel.
//!
//! Source: H. Abrahamsson, O. Hagsand and I. Marsh, "TCP over High Speed Variable Capacity
//! Links: A Simulation Study for Bandwidth Allocation", Fig. 1 and §3.1 (the remedies).
//! `docs/design/dtm.md` says how its gaps are filled.
//!
//! Example, the paper's settings (slots of 512 kbit/s, shift 3, margin 0.75, corridor 2):
//! ten measurements of 5 Mbit/s move `current` from 0 to 3 684 620 bit/s. The first update
//! always decides: 3 684 620 + (0.75 + 2/2)·512 000 = 4 580 620 bit/s. The estimate may now
//! move between 3 172 620 and 4 196 620 bit/s; after ten more it is 4 653 954, above the upper
//! bound, and the channel gets 5 549 954. From then on it stays inside.
//!
//! Everything is whole numbers: bandwidths are counted in halves of 10⁻⁹ bit/s, in which
//! half a corridor of billionths of a slot is whole.

mod settings;
mod slots;

pub use settings::{LARGEST_SHIFT, OnLoss, Rounding, Settings, SettingsError};
pub use slots::{Bandwidth, NANOS_PER_SLOT, Slots};

use crate::units::Rate;

/// Measured rates above this (1 Ebit/s) count as this.
const MOST_MEASURED_BPS: u64 = 1_000_000_000_000_000_000;

/// The first half of Fig. 1: an estimate that follows the measured rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimate {
    current: u64,
    /// A drop since the last update.
    lost: bool,
}

impl Estimate {
    /// An estimate that begins at `current` bit/s.
    #[must_use]
    pub fn new(current: u64) -> Estimate {
        Estimate { current, lost: false }
    }

    /// The estimate in bit/s.
    #[must_use]
    pub fn current(&self) -> u64 {
        self.current
    }

    /// Moves towards the rate `new` (bit/s) of one measurement, with or without a drop in it.
    pub fn measure(&mut self, new: u64, lost: bool, settings: &Settings) {
        let new = new.min(MOST_MEASURED_BPS);
        self.lost |= lost;
        let holds = match settings.on_loss {
            OnLoss::HoldTick => lost,
            OnLoss::HoldSecond => self.lost,
            OnLoss::Nothing | OnLoss::HoldLink => false,
        };
        // The shift acts on the absolute difference: it never rounds towards minus infinity.
        if new >= self.current {
            self.current += (new - self.current) >> settings.shift_inc;
        } else if !holds {
            self.current -= (self.current - new) >> settings.shift_dec;
        }
    }

    /// An update has come; says whether there was a drop since the last one.
    pub fn end_update(&mut self) -> bool {
        std::mem::take(&mut self.lost)
    }
}

/// The second half of Fig. 1: an allocation that changes when the estimate leaves its bounds.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    in_force: Bandwidth,
    /// No update has decided yet: the bounds are empty.
    undecided: bool,
}

impl Allocation {
    /// Before the first update.
    #[must_use]
    pub fn new(initial: Rate) -> Allocation {
        Allocation { in_force: Bandwidth::of(initial), undecided: true }
    }

    /// What is allocated.
    #[must_use]
    pub fn in_force(&self) -> Bandwidth {
        self.in_force
    }

    /// Whether the estimate is inside its bounds, dynBw − margin − corridor and
    /// dynBw − margin of the allocation in force; before the first decision nothing is.
    #[must_use]
    pub fn covers(&self, current: u64, settings: &Settings) -> bool {
        let estimate = Bandwidth::of(Rate::from_bps(current));
        let upper = self.in_force.minus(Bandwidth::of_slots(settings.margin, settings.slot));
        let lower = upper.minus(Bandwidth::of_slots(settings.corridor, settings.slot));
        !self.undecided && estimate <= upper && estimate >= lower
    }

    /// What an update asks for; `None` while the estimate is inside its bounds. `lost`: there
    /// was a drop since the last update.
    #[must_use]
    pub fn ask(&self, current: u64, lost: bool, settings: &Settings) -> Option<Bandwidth> {
        if self.covers(current, settings) {
            return None;
        }
        let wanted = settings.wanted(current);
        let held = lost && settings.on_loss == OnLoss::HoldLink;
        Some(if held { wanted.max(self.in_force) } else { wanted })
    }

    /// Puts an allocation in force: what was asked for, or more than now by at most `left`.
    pub fn grant(&mut self, asked: Bandwidth, left: Option<Bandwidth>, settings: &Settings) {
        self.undecided = false;
        self.in_force = match left {
            Some(left) if asked > self.in_force.plus(left) => {
                let most = self.in_force.plus(left);
                match settings.rounding {
                    Rounding::Exact => most,
                    // What was in force at the start need not be whole slots.
                    Rounding::Up => most.rounded_down(settings.slot),
                }
            }
            _ => asked,
        };
    }
}

/// Both halves: the whole estimator of one channel that shares nothing.
#[derive(Clone, Debug)]
pub struct BandwidthEstimator {
    settings: Settings,
    estimate: Estimate,
    allocation: Allocation,
    /// Measurements between two updates.
    update_every: u32,
    measured: u32,
}

impl BandwidthEstimator {
    /// An estimator at rest at `current` bit/s, for a link of `initial`. An update comes with
    /// every `update_every`-th measurement (10 in the paper: 100 ms and 1 s).
    ///
    /// # Errors
    /// A setting that cannot be.
    ///
    /// # Panics
    /// If `update_every` is 0.
    pub fn new(
        settings: Settings,
        current: u64,
        initial: Rate,
        update_every: u32,
    ) -> Result<BandwidthEstimator, SettingsError> {
        assert!(update_every > 0, "an update comes after some measurements");
        settings.check()?;
        Ok(BandwidthEstimator {
            settings,
            estimate: Estimate::new(current),
            allocation: Allocation::new(initial),
            update_every,
            measured: 0,
        })
    }

    /// Takes one measurement in bit/s; says whether it ended in a decision because a bound was
    /// passed, even if the allocation is what it was.
    pub fn measure(&mut self, new: u64, lost: bool) -> bool {
        self.estimate.measure(new, lost, &self.settings);
        self.measured += 1;
        if self.measured < self.update_every {
            return false;
        }
        self.measured = 0;
        let lost_since = self.estimate.end_update();
        let Some(asked) = self.allocation.ask(self.current(), lost_since, &self.settings) else {
            return false;
        };
        self.allocation.grant(asked, None, &self.settings);
        true
    }

    /// The estimate in bit/s.
    #[must_use]
    pub fn current(&self) -> u64 {
        self.estimate.current()
    }

    /// The rate in force.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.allocation.in_force().rate()
    }

    /// The allocation as decided, before a link rounds it down to whole bits per second.
    #[must_use]
    pub fn allocation(&self) -> &Allocation {
        &self.allocation
    }
}

#[cfg(test)]
pub(crate) mod tests;
