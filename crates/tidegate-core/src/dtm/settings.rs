//! The constants of the estimator, what was added to them, and which of them cannot be.

use std::fmt;

use super::slots::{Bandwidth, Slots};
use crate::units::{FASTEST, Rate};

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
    pub(super) fn wanted(&self, current: u64) -> Bandwidth {
        let half_corridor = Bandwidth::of_half(self.corridor, self.slot);
        let margin = Bandwidth::of_slots(self.margin, self.slot);
        let exact = Bandwidth::of(Rate::from_bps(current)).plus(margin).plus(half_corridor);
        let wanted = match self.rounding {
            Rounding::Exact => exact,
            Rounding::Up => exact.rounded_up(self.slot),
        };
        // DEVIATION: Fig. 1 has no limits. Without a slot a channel would measure nothing more and
        // never get one again; a largest allocation and a pool are part of a real network.
        let most = self.max.map_or(wanted, |max| Bandwidth::of_slots(Slots::whole(max), self.slot));
        wanted.min(most).max(Bandwidth::of_slots(Slots::whole(self.min), self.slot))
    }
}
