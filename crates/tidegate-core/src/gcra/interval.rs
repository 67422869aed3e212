//! Intervals that are not a whole number of time units, and instants that are sums of them, exactly.

use std::fmt;

use crate::serial::span_of;
use crate::units::Rate;

/// The longest interval and tolerance, 2⁶² units (53 days of picoseconds): sums of a time
/// and a few of them then fit 64 bits.
pub const LONGEST: u64 = 1 << 62;

/// The finest parts of a unit.
const FINEST: u64 = 1 << 63;

/// `whole + part/parts` units of time, exactly; also a point on such a scale. Points that
/// cannot be counted stay at the last one that can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    whole: u64,
    part: u64,
    parts: u64,
}

/// A length that cannot be; `Display` says what would be right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntervalError {
    /// A fraction with nothing below the line.
    NoDenominator,
    /// A unit in more parts than can be counted.
    TooFine {
        /// The denominator given.
        denominator: u64,
    },
    /// Longer than [`LONGEST`].
    TooLong,
    /// A rate of 0.
    NoRate,
}

impl fmt::Display for IntervalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntervalError::NoDenominator => f.write_str("a fraction needs a denominator of at least 1"),
            IntervalError::TooFine { denominator } => {
                write!(f, "a denominator of {denominator} is too fine; at most {FINEST}")
            }
            IntervalError::TooLong => write!(f, "too long; at most {LONGEST}"),
            IntervalError::NoRate => f.write_str("at a rate of 0 nothing ever comes; more than 0"),
        }
    }
}

impl std::error::Error for IntervalError {}

impl Interval {
    /// So many whole units.
    ///
    /// # Errors
    /// More than [`LONGEST`].
    pub fn of(units: u64) -> Result<Interval, IntervalError> {
        Interval::ratio(units, 1)
    }

    /// The fraction `numerator/denominator`.
    ///
    /// # Errors
    /// A denominator of 0 or too fine, or more than [`LONGEST`].
    pub fn ratio(numerator: u64, denominator: u64) -> Result<Interval, IntervalError> {
        if denominator == 0 {
            return Err(IntervalError::NoDenominator);
        }
        if denominator > FINEST {
            return Err(IntervalError::TooFine { denominator });
        }
        let whole = numerator / denominator;
        if whole >= LONGEST {
            return Err(IntervalError::TooLong);
        }
        Ok(Interval { whole, part: numerator % denominator, parts: denominator })
    }

    /// The picoseconds that `bits` take at `rate`.
    ///
    /// # Errors
    /// No rate, one that is too fine, or more than [`LONGEST`].
    pub fn at_rate(bits: u64, rate: Rate) -> Result<Interval, IntervalError> {
        let bps = rate.bps();
        if bps == 0 {
            return Err(IntervalError::NoRate);
        }
        if bps > FINEST {
            return Err(IntervalError::TooFine { denominator: bps });
        }
        let (whole, part) = span_of(bits, bps);
        if whole >= LONGEST { Err(IntervalError::TooLong) } else { Ok(Interval { whole, part, parts: bps }) }
    }

    /// Rounded down.
    #[must_use]
    #[inline]
    pub fn whole(&self) -> u64 {
        self.whole
    }

    /// What is left after rounding down, in `parts`.
    #[must_use]
    pub fn part(&self) -> u64 {
        self.part
    }

    /// Parts of one unit.
    #[must_use]
    pub fn parts(&self) -> u64 {
        self.parts
    }

    pub(super) fn is_zero(&self) -> bool {
        self.whole == 0 && self.part == 0
    }

    /// Whole units in the parts of this.
    pub(super) fn in_parts(&self, whole: u64) -> Interval {
        Interval { whole, part: 0, parts: self.parts }
    }

    /// n of these; `None` if longer than [`LONGEST`].
    pub(super) fn times(&self, n: u64) -> Option<Interval> {
        let (whole, part) = self.wide_times(n);
        (whole < u128::from(LONGEST)).then_some(Interval { whole: whole as u64, part, parts: self.parts })
    }

    fn wide_times(&self, n: u64) -> (u128, u64) {
        let (n, parts) = (u128::from(n), u128::from(self.parts));
        let part = u128::from(self.part) * n;
        (u128::from(self.whole) * n + part / parts, (part % parts) as u64)
    }

    /// n·(self − other) rounded up; `None`, or 0 if it is above −1, where it is negative.
    pub(super) fn excess(&self, other: &Interval, n: u64) -> Option<u128> {
        let ((more, a), (less, b)) = (self.wide_times(n), other.wide_times(n));
        let (a, b) = (u128::from(a) * u128::from(other.parts), u128::from(b) * u128::from(self.parts));
        if a > b { (more + 1).checked_sub(less) } else { more.checked_sub(less).filter(|&e| e > 0 || a == b) }
    }

    /// Whether this is longer than one in the same parts.
    #[inline]
    pub(super) fn exceeds(&self, other: &Interval) -> bool {
        (self.whole, self.part) > (other.whole, other.part)
    }

    /// Moves a point on; `step` is in the same parts.
    #[inline]
    pub(super) fn add(&mut self, step: &Interval) {
        let (part, carry) = match self.part + step.part {
            sum if sum >= self.parts => (sum - self.parts, 1),
            sum => (sum, 0),
        };
        self.part = part;
        self.whole = self.whole.saturating_add(step.whole).saturating_add(carry);
    }

    /// Moves a point to `at`, unless it is there or later already.
    #[inline]
    pub(super) fn raise(&mut self, at: u64) {
        if at > self.whole {
            self.whole = at;
            self.part = 0;
        }
    }

    /// Takes whole units away, down to nothing.
    #[inline]
    pub(super) fn lower(&mut self, by: u64) {
        if by > self.whole {
            self.whole = 0;
            self.part = 0;
        } else {
            self.whole -= by;
        }
    }

    /// `self − less` rounded down, 0 if that is negative.
    #[inline]
    pub(super) fn whole_minus(&self, less: &Interval) -> u64 {
        let borrow = u64::from(self.part < less.part);
        self.whole.saturating_sub(less.whole.saturating_add(borrow))
    }
}
