//! The DTM bandwidth estimator: how many slots a channel gets for the rate measured at its
//! door. A plain object without clock or network; [`crate::net`] drives one per channel.
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

use std::fmt;

use crate::units::Rate;

/// Slots in billionths: 750 000 000 is 0.75 slots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Slots(u64);

/// Billionths in one slot.
pub const NANOS_PER_SLOT: u64 = 1_000_000_000;

impl Slots {
    /// So many whole slots; the most that can be counted where that is more.
    #[must_use]
    pub const fn whole(slots: u64) -> Slots {
        Slots(slots.saturating_mul(NANOS_PER_SLOT))
    }

    /// So many billionths of a slot.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Slots {
        Slots(nanos)
    }

    /// In billionths of a slot.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }
}

/// Exact text: "0.75 slots", "1 slot".
impl fmt::Display for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / NANOS_PER_SLOT, self.0 % NANOS_PER_SLOT);
        let noun = if self.0 == NANOS_PER_SLOT { "slot" } else { "slots" };
        if part == 0 {
            return write!(f, "{whole} {noun}");
        }
        let text = format!("{whole}.{part:09}");
        write!(f, "{} {noun}", text.trim_end_matches('0'))
    }
}

/// A bandwidth in halves of 10⁻⁹ bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Bandwidth(i128);

const PER_BPS: i128 = 2_000_000_000;

impl Bandwidth {
    /// A whole number of bits per second.
    #[must_use]
    pub fn of(rate: Rate) -> Bandwidth {
        Bandwidth(i128::from(rate.bps()) * PER_BPS)
    }

    /// So many slots of this size.
    #[must_use]
    fn of_slots(slots: Slots, slot: Rate) -> Bandwidth {
        Bandwidth(2 * i128::from(slots.nanos()) * i128::from(slot.bps()))
    }

    /// The rate that a link is set to: whole bits per second, **rounded down**, so that what
    /// several channels get from one pool never adds up to more than it has. Whole slots are
    /// whole rates; the rest of an `exact` allocation is less than a bit per second.
    #[must_use]
    pub fn rate(self) -> Rate {
        Rate::from_bps(u64::try_from(self.0 / PER_BPS).unwrap_or(0))
    }

    /// `self − other`, which may be negative.
    #[must_use]
    pub fn minus(self, other: Bandwidth) -> Bandwidth {
        Bandwidth(self.0 - other.0)
    }

    /// `self + other`.
    #[must_use]
    pub fn plus(self, other: Bandwidth) -> Bandwidth {
        Bandwidth(self.0 + other.0)
    }

    fn rounded_up(self, slot: Rate) -> Bandwidth {
        let slot = Bandwidth::of(slot).0;
        Bandwidth((self.0 + slot - 1).div_euclid(slot) * slot)
    }

    fn rounded_down(self, slot: Rate) -> Bandwidth {
        let slot = Bandwidth::of(slot).0;
        Bandwidth(self.0.div_euclid(slot) * slot)
    }
}

/// How an allocation becomes slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rounding {
    /// As Fig. 1 says it: not rounded.
    #[default]
    Exact,
    /// Up to whole slots.
    Up,
}

/// What a drop at the channel's queue does: readings of the paper's first remedy ("the
/// estimation algorithm should not decrease the estimation if packets are being dropped").
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnLoss {
    /// Nothing.
    #[default]
    Nothing,
    /// A measurement with a drop does not lower `current`.
    HoldTick,
    /// Nor do the later measurements until the next update.
    HoldSecond,
    /// `current` moves, but an update after a drop does not lower the allocation.
    HoldLink,
}

/// The constants of Fig. 1, and what was added to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Bit rate of one slot.
    pub slot: Rate,
    /// The estimate rises by the difference shifted right by this.
    pub shift_inc: u32,
    /// It falls by the difference shifted right by this.
    pub shift_dec: u32,
    /// Allocated above the estimate.
    pub margin: Slots,
    /// How far the estimate may move before the allocation changes.
    pub corridor: Slots,
    /// How an allocation becomes slots.
    pub rounding: Rounding,
    /// What a drop does.
    pub on_loss: OnLoss,
    /// The least allocation, in whole slots; at least one.
    pub min: u64,
    /// The largest, in whole slots; `None`: no limit.
    pub max: Option<u64>,
}

/// The paper's values.
impl Default for Settings {
    fn default() -> Settings {
        Settings {
            slot: Rate::from_bps(512_000),
            shift_inc: 3,
            shift_dec: 3,
            margin: Slots::from_nanos(750_000_000),
            corridor: Slots::whole(2),
            rounding: Rounding::Exact,
            on_loss: OnLoss::Nothing,
            min: 1,
            max: None,
        }
    }
}

/// The largest shift: one more and nothing is left of 64 bits.
pub const LARGEST_SHIFT: u32 = 63;

/// The fastest rate in a setting, 1 Pbit/s: sums and products then fit the arithmetic.
pub const FASTEST: Rate = Rate::from_bps(1_000_000_000_000_000);

/// Measured rates above this (1 Ebit/s) count as this.
const MOST_MEASURED_BPS: u64 = 1_000_000_000_000_000_000;

/// A setting that cannot be; `Display` says what would be right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettingsError {
    /// A shift above [`LARGEST_SHIFT`].
    Shift {
        /// `shift_inc` or `shift_dec`.
        name: &'static str,
        /// What was given.
        shift: u32,
    },
    /// A slot of no rate.
    NoSlot,
    /// A slot or a number of slots above [`FASTEST`].
    TooFast {
        /// Which setting.
        name: &'static str,
    },
    /// `min` of no slot.
    NoMin,
    /// `min` above `max`.
    MinAboveMax {
        /// Least slots.
        min: u64,
        /// Most slots.
        max: u64,
    },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::Shift { name, shift } => {
                write!(f, "{name}: {shift} is too large; at most {LARGEST_SHIFT}")
            }
            SettingsError::NoSlot => f.write_str("slot: a slot of 0 bit/s carries nothing; give it a rate"),
            SettingsError::TooFast { name } => {
                write!(f, "{name}: more than {FASTEST} in all; choose less, or a smaller slot")
            }
            SettingsError::NoMin => f.write_str("min: a channel keeps at least one slot; at least 1"),
            SettingsError::MinAboveMax { min, max } => {
                write!(f, "min: {} is more than max, {}", Slots::whole(*min), Slots::whole(*max))
            }
        }
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// Whether an estimator can work with these.
    ///
    /// # Errors
    /// The first setting that cannot be.
    pub fn check(&self) -> Result<(), SettingsError> {
        for (name, shift) in [("shift_inc", self.shift_inc), ("shift_dec", self.shift_dec)] {
            if shift > LARGEST_SHIFT {
                return Err(SettingsError::Shift { name, shift });
            }
        }
        if self.slot == Rate::ZERO {
            return Err(SettingsError::NoSlot);
        }
        if self.slot > FASTEST {
            return Err(SettingsError::TooFast { name: "slot" });
        }
        let counts = [("margin", self.margin), ("corridor", self.corridor), ("min", Slots::whole(self.min))];
        for (name, slots) in counts.into_iter().chain(self.max.map(|max| ("max", Slots::whole(max)))) {
            if Bandwidth::of_slots(slots, self.slot) > Bandwidth::of(FASTEST) {
                return Err(SettingsError::TooFast { name });
            }
        }
        match self.max {
            _ if self.min == 0 => Err(SettingsError::NoMin),
            Some(max) if self.min > max => Err(SettingsError::MinAboveMax { min: self.min, max }),
            _ => Ok(()),
        }
    }

    /// dynBw of Fig. 1: the estimate, the margin and half of the corridor, within the limits.
    fn wanted(&self, current: u64) -> Bandwidth {
        let half_corridor = Bandwidth(i128::from(self.corridor.nanos()) * i128::from(self.slot.bps()));
        let margin = Bandwidth::of_slots(self.margin, self.slot);
        let exact = Bandwidth::of(Rate::from_bps(current)).plus(margin).plus(half_corridor);
        let wanted = match self.rounding {
            Rounding::Exact => exact,
            Rounding::Up => exact.rounded_up(self.slot),
        };
        let most = self.max.map_or(wanted, |max| Bandwidth::of_slots(Slots::whole(max), self.slot));
        wanted.min(most).max(Bandwidth::of_slots(Slots::whole(self.min), self.slot))
    }
}

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
pub struct Estimator {
    settings: Settings,
    estimate: Estimate,
    allocation: Allocation,
    /// Measurements between two updates.
    update_every: u32,
    measured: u32,
}

impl Estimator {
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
    ) -> Result<Estimator, SettingsError> {
        assert!(update_every > 0, "an update comes after some measurements");
        settings.check()?;
        Ok(Estimator {
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
        let lost = self.estimate.end_update();
        let Some(asked) = self.allocation.ask(self.current(), lost, &self.settings) else { return false };
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
