//! Evenly spaced instants whose rounding does not add up.

use crate::units::{PICOS_PER_SECOND, Rate, Span};

/// Evenly spaced instants: the n-th lies ⌊n · bits · 10¹² / rate⌋ ps after the origin,
/// because the remainder is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instants {
    whole: u64,
    part: u64,
    carry: u64,
    rate: u64,
}

impl Instants {
    pub(super) fn new(rate: Rate, bytes: u32) -> Instants {
        Instants::of(u128::from(bytes) * 8 * u128::from(PICOS_PER_SECOND), rate.bps())
    }

    /// Instants `work` / `rate` picoseconds apart, `work` below 2¹²⁷; a rate of zero has no second one.
    pub(super) fn of(work: u128, rate: u64) -> Instants {
        if rate == 0 {
            return Instants { whole: u64::MAX, part: 0, carry: 0, rate: 1 };
        }
        let whole = u64::try_from(work / u128::from(rate)).unwrap_or(u64::MAX);
        Instants { whole, part: (work % u128::from(rate)) as u64, carry: 0, rate }
    }

    /// The gap to the next instant.
    #[inline]
    pub(super) fn step(&mut self) -> Span {
        self.carry += self.part;
        let extra = u64::from(self.carry >= self.rate);
        self.carry -= extra * self.rate;
        Span::from_picos(self.whole.saturating_add(extra))
    }
}
