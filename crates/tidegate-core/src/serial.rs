//! Exact serialisation: when does a piece of work started at t end?
//!
//! Ends are whole picoseconds, **rounded down, the remainder carried**: n units of a busy
//! period end at origin + ⌊n·work·10¹²/speed⌋ however they are grouped, so that cells and
//! packets agree and gates of equal rate in series never queue on rounding.
//!
//! Example: 1500 bytes at 7 bit/s need 12000·10¹²/7 ps = 1714285714285714 2/7 ps. The first
//! unit ends at …714, the second at 2·1714285714285714 + ⌊4/7⌋, the fourth one picosecond
//! later than four times the first.

use crate::units::{PICOS_PER_SECOND, Span};

/// The most work whose product with 10¹² fits 64 bits together with any carry that does.
const SMALL_WORK: u64 = 9_000_000;
/// Speeds up to here leave room for their carry beside [`SMALL_WORK`].
const SMALL_SPEED: u64 = 9_000_000_000_000_000_000;

/// A server of one constant speed that remembers the part of a picosecond it still owes.
#[derive(Clone, Debug)]
pub struct Serializer {
    speed: u64,
    /// Work left over, in 10⁻¹² units of work; less than `speed`.
    carry: u64,
    /// The last division: most units of a gate have one size.
    memo_work: u64,
    memo_quotient: u64,
    memo_remainder: u64,
}

impl Serializer {
    /// A server that does `speed` units of work per second; `speed` > 0.
    #[must_use]
    pub fn new(speed: u64) -> Serializer {
        assert!(speed > 0, "a server without speed never ends anything");
        Serializer { speed, carry: 0, memo_work: 0, memo_quotient: 0, memo_remainder: 0 }
    }

    /// Units of work per second.
    #[must_use]
    pub fn speed(&self) -> u64 {
        self.speed
    }

    /// Forgets the carry: a new busy period begins.
    #[inline]
    pub fn reset(&mut self) {
        self.carry = 0;
    }

    /// Work left over from the last unit, in 10⁻¹² units of work.
    pub(crate) fn carry(&self) -> u64 {
        self.carry
    }

    /// Begins with work left over; less than the speed.
    pub(crate) fn set_carry(&mut self, carry: u64) {
        debug_assert!(carry < self.speed);
        self.carry = carry;
    }

    /// How long `work` takes after the work before it.
    #[inline]
    pub fn take(&mut self, work: u64) -> Span {
        if work != self.memo_work {
            self.divide(work);
        }
        let mut picos = self.memo_quotient;
        self.carry += self.memo_remainder;
        if self.carry >= self.speed {
            self.carry -= self.speed;
            picos += 1;
        }
        Span::from_picos(picos)
    }

    #[cold]
    fn divide(&mut self, work: u64) {
        self.memo_work = work;
        (self.memo_quotient, self.memo_remainder) = span_of(work, self.speed);
    }
}

/// Picoseconds that `work` takes at `speed`, and the remainder in 10⁻¹² units of work.
/// Longer than can be counted: the largest span.
#[must_use]
pub fn span_of(work: u64, speed: u64) -> (u64, u64) {
    if work <= SMALL_WORK && speed <= SMALL_SPEED {
        let total = work * PICOS_PER_SECOND;
        return (total / speed, total % speed);
    }
    let total = u128::from(work) * u128::from(PICOS_PER_SECOND);
    let quotient = total / u128::from(speed);
    (u64::try_from(quotient).unwrap_or(u64::MAX / 2), (total % u128::from(speed)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_million_packets_last_exactly() {
        let mut server = Serializer::new(200_000_000);
        let total: u64 = (0..1_000_000).map(|_| server.take(1514 * 8).picos()).sum();
        assert_eq!(total, 60_560_000_000_000);
    }

    #[test]
    fn the_fourth_unit_at_seven_bits_per_second() {
        let mut server = Serializer::new(7);
        let ends: Vec<u64> = (0..4)
            .scan(0, |end, _| {
                *end += server.take(12_000).picos();
                Some(*end)
            })
            .collect();
        assert_eq!(ends[0], 1_714_285_714_285_714);
        assert_eq!(ends[1], 2 * ends[0]);
        assert_eq!(ends[3], 4 * ends[0] + 1);
    }

    proptest! {
        #[test]
        fn n_units_end_where_one_of_their_size_does(
            sizes in prop::collection::vec(1u64..1_000_000, 1..50),
            speed in 1u64..1_000_000_000_000,
        ) {
            let mut apart = Serializer::new(speed);
            let total: u64 = sizes.iter().map(|&size| apart.take(size).picos()).sum();
            let mut whole = Serializer::new(speed);
            prop_assert_eq!(total, whole.take(sizes.iter().sum()).picos());
        }
    }
}
