//! Slots and bandwidths in whole numbers.

use std::fmt;

use crate::units::{Rate, write_exactly};

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
        let noun = if self.0 == NANOS_PER_SLOT { "slot" } else { "slots" };
        write_exactly(f, self.0, &[(NANOS_PER_SLOT, noun)])
    }
}

/// A bandwidth in halves of 10⁻⁹ bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Bandwidth(i128);

const PER_BPS: i128 = 2_000_000_000;

impl Bandwidth {
    /// Half of so many slots of this size, exactly.
    pub(super) fn of_half(slots: Slots, slot: Rate) -> Bandwidth {
        Bandwidth(i128::from(slots.nanos()) * i128::from(slot.bps()))
    }

    /// A whole number of bits per second.
    #[must_use]
    pub fn of(rate: Rate) -> Bandwidth {
        Bandwidth(i128::from(rate.bps()) * PER_BPS)
    }

    /// So many slots of this size.
    #[must_use]
    pub(super) fn of_slots(slots: Slots, slot: Rate) -> Bandwidth {
        Bandwidth(2 * i128::from(slots.nanos()) * i128::from(slot.bps()))
    }

    /// The rate that a link is set to: whole bits per second, **rounded down**, so that what
    /// several channels get from one pool never adds up to more than it has. Whole slots are
    /// whole rates; the rest of an `exact` allocation is less than a bit per second, and its
    /// bounds are not rounded. With the paper's values every allocation is a whole rate.
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

    pub(super) fn rounded_up(self, slot: Rate) -> Bandwidth {
        let slot = Bandwidth::of(slot).0;
        Bandwidth((self.0 + slot - 1).div_euclid(slot) * slot)
    }

    pub(super) fn rounded_down(self, slot: Rate) -> Bandwidth {
        let slot = Bandwidth::of(slot).0;
        Bandwidth(self.0.div_euclid(slot) * slot)
    }
}
