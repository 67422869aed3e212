//! The generic cell rate algorithm GCRA(T, τ): policer, shaper, and two of them as one
//! contract. Plain objects without a clock; gates drive them.
//!
//! Source: ITU-T I.371, Annex A (both algorithms) and ATM Forum TM 4.0, "Generic Cell Rate
//! Algorithm". A cell at `at` does not conform if and only if `at < TAT − τ`; it then leaves the
//! state as it is. A conforming one sets TAT = max(at, TAT) + T. The first cell always conforms.
//!
//! Example, T = 10 and τ = 3: cells at 0, 7, 14 and 21. The first sets TAT = 10; the second
//! is just early enough (10 − 3) and sets TAT = 20; the third comes before 17 and does not
//! conform; the fourth does, after TAT, which becomes 31.
//!
//! Time is whole units of any size. T need not be whole ([`Interval`]): its remainder is
//! carried, and TAT is rounded **down** where it meets a time, as everywhere in this crate
//! (`docs/design/exact-arithmetic.md`), so that what a shaper lets out conforms.
//!
//! In bytes it is a token bucket: T is the time of one byte at the rate, and a packet of n
//! bytes is n units at once ([`Limit::tokens`]).

mod bucket;
mod dual;
mod interval;
mod shaper;

pub use bucket::LeakyBucket;
pub use dual::{Conformance, Dual, Verdict};
pub use interval::{Interval, IntervalError, LONGEST};
pub use shaper::{Release, Shaper};

use std::fmt;

use crate::units::PICOS_PER_SECOND;

/// The parameters of one GCRA: an interval for each unit, and how early a unit may come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// T, the time of one unit at the contracted rate.
    increment: Interval,
    /// τ, in the same parts as T.
    tolerance: Interval,
}

/// Parameters that cannot be; `Display` says what would be right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitError {
    /// T of no time: every unit would conform.
    NoIncrement,
    /// τ longer than [`LONGEST`].
    ToleranceTooLong {
        /// What was given.
        tolerance: u64,
    },
    /// A bucket without room for anything.
    NoBurst,
    /// A bucket that takes longer than [`LONGEST`] to fill.
    BurstTooLong {
        /// Units of the bucket.
        burst: u64,
    },
    /// The sustained rate is not below the peak rate.
    NotSlower,
    /// A burst of no cells.
    NoCells,
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitError::NoIncrement => {
                f.write_str("T: with no time between units every one conforms; more than 0")
            }
            LimitError::ToleranceTooLong { tolerance } => {
                write!(f, "tau: {tolerance} is too long; at most {LONGEST}")
            }
            LimitError::NoBurst => f.write_str("burst: an empty bucket lets nothing through; at least 1"),
            LimitError::BurstTooLong { burst } => {
                write!(f, "burst: {burst} takes longer than {LONGEST} at this rate; choose less")
            }
            LimitError::NotSlower => f.write_str(
                "T_scr: the sustained rate must be below the peak rate, or bursts have no end; more than T_pcr",
            ),
            LimitError::NoCells => f.write_str("mbs: a burst has at least 1 cell"),
        }
    }
}

impl std::error::Error for LimitError {}

impl Limit {
    /// GCRA(T, τ).
    ///
    /// # Errors
    /// T is no time, or τ cannot be counted.
    pub fn new(increment: Interval, tolerance: u64) -> Result<Limit, LimitError> {
        if increment.is_zero() {
            return Err(LimitError::NoIncrement);
        }
        if tolerance > LONGEST {
            return Err(LimitError::ToleranceTooLong { tolerance });
        }
        Ok(Limit { increment, tolerance: increment.in_parts(tolerance) })
    }

    /// A token bucket for `burst` units, each of which takes `increment` to come back: n
    /// units conform while at most `burst` are missing. For single units it is GCRA(T, τ)
    /// with τ = (burst − 1)·T.
    ///
    /// # Errors
    /// T is no time, the bucket is empty, or takes too long to fill.
    pub fn tokens(increment: Interval, burst: u64) -> Result<Limit, LimitError> {
        if increment.is_zero() {
            return Err(LimitError::NoIncrement);
        }
        let others = burst.checked_sub(1).ok_or(LimitError::NoBurst)?;
        let tolerance = increment.times(others).ok_or(LimitError::BurstTooLong { burst })?;
        Ok(Limit { increment, tolerance })
    }

    /// T.
    #[must_use]
    pub fn increment(&self) -> Interval {
        self.increment
    }

    /// τ in whole units of time, rounded down.
    #[must_use]
    pub fn tolerance(&self) -> u64 {
        self.tolerance.whole()
    }

    /// The most units that can conform at once, to a limit that was idle: 1 + ⌊τ/T⌋.
    #[must_use]
    pub fn burst(&self) -> u64 {
        let others = self.exact(self.tolerance) / self.exact(self.increment);
        u64::try_from(others).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Bits per second of units of so many bits, one each T; rounded down.
    #[must_use]
    pub fn bits_per_second(&self, unit_bits: u64) -> u64 {
        let bits = u128::from(unit_bits) * u128::from(PICOS_PER_SECOND) * u128::from(self.increment.parts());
        u64::try_from(bits / self.exact(self.increment)).unwrap_or(u64::MAX)
    }

    /// Bits per second of units of so many bits, one each T, with fractions of a bit.
    #[must_use]
    pub fn exact_bits_per_second(&self, unit_bits: u64) -> f64 {
        let increment = self.increment;
        let picos = increment.whole() as f64 + increment.part() as f64 / increment.parts() as f64;
        unit_bits as f64 * PICOS_PER_SECOND as f64 / picos
    }

    /// Units that come back in so many picoseconds.
    #[must_use]
    pub fn units_in(&self, picos: u64) -> f64 {
        let parts = u128::from(self.increment.parts());
        (u128::from(picos) * parts) as f64 / self.exact(self.increment) as f64
    }

    /// The limit as a bucket of 1 + τ/T units, one of which comes back each T: units in it at `at`, after
    /// the units that led to `tat`, of which none is later. (At rest, or after `tat`, it is full.)
    #[must_use]
    pub fn level(&self, tat: Interval, at: u64) -> f64 {
        let depth = self.exact(self.tolerance) + self.exact(self.increment);
        let missing = self.exact(tat).saturating_sub(u128::from(at) * u128::from(tat.parts()));
        depth.saturating_sub(missing) as f64 / self.exact(self.increment) as f64
    }

    /// Units in the full bucket: 1 + τ/T.
    #[must_use]
    pub fn depth(&self) -> f64 {
        self.level(self.at_rest(), 0)
    }

    /// TAT before the first unit.
    pub(crate) fn at_rest(&self) -> Interval {
        self.increment.in_parts(0)
    }

    /// In parts of T.
    fn exact(&self, length: Interval) -> u128 {
        u128::from(length.whole()) * u128::from(length.parts()) + u128::from(length.part())
    }

    /// (n − 1)·T: how much later than TAT the last of n units would come.
    fn lead(&self, units: u64) -> Option<Interval> {
        if units <= 1 { Some(self.increment.in_parts(0)) } else { self.increment.times(units - 1) }
    }
}

/// The burst tolerance for bursts of `mbs` cells at the peak rate: (MBS − 1)·(T_scr − T_pcr),
/// rounded **up** to whole units, so that the burst conforms whatever the rounding of its
/// times (I.371 §5.4.2; TM 4.0, "burst tolerance").
///
/// # Errors
/// No cells, a sustained rate that is not below the peak rate, or a time beyond [`LONGEST`].
pub fn burst_tolerance(mbs: u64, sustained: Interval, peak: Interval) -> Result<u64, LimitError> {
    let others = mbs.checked_sub(1).ok_or(LimitError::NoCells)?;
    slower(&sustained, &peak)?;
    match sustained.excess(&peak, others) {
        Some(all) if all <= u128::from(LONGEST) => Ok(all as u64),
        _ => Err(LimitError::BurstTooLong { burst: mbs }),
    }
}

/// The longest burst at the peak rate that conforms: ⌊1 + τ/(T_scr − T_pcr)⌋ cells.
///
/// # Errors
/// A sustained rate that is not below the peak rate.
pub fn max_burst_size(tolerance: u64, sustained: Interval, peak: Interval) -> Result<u64, LimitError> {
    slower(&sustained, &peak)?;
    let fits = |others: u64| sustained.excess(&peak, others).is_some_and(|all| all <= u128::from(tolerance));
    // The most others that fit, bit by bit.
    let others =
        (0..64).rev().fold(0, |some, bit| if fits(some | 1 << bit) { some | 1 << bit } else { some });
    Ok(others.saturating_add(1))
}

fn slower(sustained: &Interval, peak: &Interval) -> Result<(), LimitError> {
    // `excess` rounds up: a difference between −1 and 0 may give 0 too.
    let above = |a: &Interval, b: &Interval| a.excess(b, 1).is_some_and(|all| all > 0);
    if above(sustained, peak) { Ok(()) } else { Err(LimitError::NotSlower) }
}

/// GCRA as virtual scheduling: it remembers when the next cell should come (TAT).
///
/// Times may be given in any order: each is compared with TAT, which never falls.
#[derive(Clone, Debug)]
pub struct Gcra {
    limit: Limit,
    /// TAT, and what it has beyond whole units.
    tat: Interval,
}

impl Gcra {
    /// At rest: the first unit conforms.
    #[must_use]
    pub fn new(limit: Limit) -> Gcra {
        Gcra { limit, tat: limit.at_rest() }
    }

    /// Its parameters.
    #[must_use]
    pub fn limit(&self) -> &Limit {
        &self.limit
    }

    /// TAT exactly.
    pub(crate) fn next_arrival(&self) -> Interval {
        self.tat
    }

    /// TAT, rounded down; 0 before the first unit.
    #[must_use]
    pub fn theoretical_arrival(&self) -> u64 {
        self.tat.whole()
    }

    /// Whether a unit at `at` conforms.
    #[must_use]
    #[inline]
    pub fn conforms(&self, at: u64) -> bool {
        at >= self.tat.whole_minus(&self.limit.tolerance)
    }

    /// Counts a unit that goes through at `at`, whether it conforms or not.
    #[inline]
    pub fn count(&mut self, at: u64) {
        self.tat.raise(at);
        self.tat.add(&self.limit.increment);
    }

    /// Whether a unit at `at` conforms; if it does, it is counted.
    #[inline]
    pub fn police(&mut self, at: u64) -> bool {
        let conforms = self.conforms(at);
        if conforms {
            self.count(at);
        }
        conforms
    }

    /// The first instant, not before `at`, at which `units` together conform; `None` if
    /// they are more than the limit's burst.
    #[must_use]
    pub fn earliest(&self, at: u64, units: u64) -> Option<u64> {
        let lead = self.limit.lead(units)?;
        // Exactly, or a burst in fine parts of a unit would be one too long.
        if lead.exceeds(&self.limit.tolerance) {
            return None;
        }
        Some(at.max(self.conforming_behind(&lead)))
    }

    /// When the last of n units conforms, each of which comes as soon as it conforms; `lead`: (n − 1)·T.
    fn conforming_behind(&self, lead: &Interval) -> u64 {
        let mut end = self.tat;
        end.add(lead);
        end.whole_minus(&self.limit.tolerance)
    }

    /// Whether `units` at once (a packet's bytes) conform at `at`; if they do, they are counted.
    #[inline]
    pub fn police_units(&mut self, at: u64, units: u64) -> bool {
        let conforms = self.earliest(at, units) == Some(at);
        if conforms {
            self.count_units(at, units);
        }
        conforms
    }

    /// Counts `units` that go through at `at`.
    pub fn count_units(&mut self, at: u64, units: u64) {
        self.tat.raise(at);
        let all = self.limit.increment.times(units).unwrap_or(self.limit.increment.in_parts(LONGEST));
        self.tat.add(&all);
    }
}

#[cfg(test)]
mod tests;
