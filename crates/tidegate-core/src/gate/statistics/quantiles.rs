//! Mean and quantiles of many lengths of time in little memory and few instructions ([`super::bins`]).

use super::bins::{Bins, EqualBins, Precision};
use super::progression::Progression;
use crate::units::{Span, Time};

/// Lengths of time seen so far.
#[derive(Clone)]
#[repr(C)]
pub struct Quantiles {
    // What each length touches fills the first 64 bytes.
    sum: u128,
    /// Lengths that are not zero.
    count: u64,
    least: u64,
    greatest: u64,
    bins: Bins,
    /// Lengths of zero.
    zeros: u64,
}

/// What lengths of time change that are recorded one after the other, kept apart from the [`Quantiles`] until the last of them.
#[derive(Default)]
pub(in crate::gate) struct Lengths {
    sum: u128,
    count: u64,
    /// Bins of the last length, between the least and the greatest of all lengths.
    equal: EqualBins,
}

impl Lengths {
    /// Records a length that is not zero.
    #[inline(always)]
    pub(in crate::gate) fn record_some(&mut self, to: &mut Quantiles, span: Span) {
        let picos = span.picos();
        if !self.equal.hold(picos) {
            self.equal = to.equal_to(picos);
        }
        self.count += 1;
        self.sum += u128::from(picos);
        to.bins.add_in(&mut self.equal, picos);
    }

    /// The last of them has been recorded. Answers with the sum of all.
    #[inline(always)]
    pub(in crate::gate) fn end(self, to: &mut Quantiles) -> u128 {
        to.count += self.count;
        to.sum += self.sum;
        self.sum
    }
}

impl std::fmt::Debug for Quantiles {
    /// Which lengths were seen. Empty bins are left out: how many there are depends on the order of lengths.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Quantiles { zeros, count, sum, least, greatest, bins } = self;
        write!(to, "Quantiles {{ zeros: {zeros}, count: {count}, sum: {sum}, from {least} to {greatest}: ")?;
        to.debug_map().entries(bins.filled()).finish()?;
        to.write_str(" }")
    }
}

impl Quantiles {
    /// No lengths seen.
    #[must_use]
    pub fn new(precision: Precision) -> Quantiles {
        Quantiles { sum: 0, count: 0, least: u64::MAX, greatest: 0, bins: Bins::new(precision), zeros: 0 }
    }

    /// Forgets all lengths.
    pub fn clear(&mut self) {
        let Quantiles { sum, count, least, greatest, bins, zeros } = self;
        (*sum, *count, *zeros) = (0, 0, 0);
        (*least, *greatest) = (u64::MAX, 0);
        bins.clear();
    }

    /// Records a length.
    #[inline]
    pub fn record(&mut self, span: Span) {
        if span == Span::ZERO { self.zeros += 1 } else { self.record_some(span) }
    }

    /// Records a length that is not zero.
    #[inline]
    pub(in crate::gate) fn record_some(&mut self, span: Span) {
        let picos = span.picos();
        self.count += 1;
        self.sum += u128::from(picos);
        self.extend(picos);
        self.bins.add(picos);
    }

    /// The least and the greatest length, now that there is one of `picos`.
    #[inline]
    fn extend(&mut self, picos: u64) {
        // Hardly ever is one shorter or longer than all before, so that nothing need be written.
        if picos < self.least {
            self.least = picos;
        }
        if picos > self.greatest {
            self.greatest = picos;
        }
    }

    /// The bins as wide as that of a length, as far as they lie between the least and the greatest.
    #[inline(never)]
    fn equal_to(&mut self, picos: u64) -> EqualBins {
        self.extend(picos);
        self.bins.equal_to(picos, (self.least, self.greatest))
    }

    /// Records each term of a progression and returns their sum.
    #[inline]
    pub(in crate::gate) fn record_evenly(&mut self, lengths: &Progression) -> u128 {
        match lengths.fixed_point_terms() {
            Some(terms) => self.record_rising(terms),
            None => self.record_rising_slowly(lengths),
        }
    }

    #[cold]
    fn record_rising_slowly(&mut self, lengths: &Progression) -> u128 {
        self.record_rising(lengths.terms())
    }

    /// Records lengths in picoseconds and returns their sum. None is zero.
    #[inline]
    pub(in crate::gate) fn record_rising(&mut self, lengths: impl Iterator<Item = u64>) -> u128 {
        let mut recorded = Lengths::default();
        lengths.for_each(|picos| recorded.record_some(self, Span::from_picos(picos)));
        recorded.end(self)
    }

    /// Records one length, which is not zero, `count` times.
    pub(in crate::gate) fn record_alike(&mut self, span: Span, count: u64) {
        self.record_some(span);
        self.count += count - 1;
        self.sum += u128::from(span.picos()) * u128::from(count - 1);
        self.bins.add_again(span.picos(), count - 1);
    }

    /// Sets how many lengths of zero there were in all.
    pub(in crate::gate) fn set_zeros(&mut self, zeros: u64) {
        self.zeros = zeros;
    }

    /// Records every length that another has recorded, at the same precision.
    pub fn merge(&mut self, other: &Quantiles) {
        let Quantiles { sum, count, least, greatest, bins, zeros } = other;
        self.sum += sum;
        self.count += count;
        self.least = self.least.min(*least);
        self.greatest = self.greatest.max(*greatest);
        self.bins.add_all(bins);
        self.zeros += zeros;
    }

    /// How many lengths there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.zeros + self.count
    }

    /// Mean in seconds; `None` where there was no length.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64 / 1e12)
    }

    /// The greatest in seconds, exactly; `None` where there was no length.
    #[must_use]
    pub fn max_s(&self) -> Option<f64> {
        (self.count() > 0).then(|| Time::from_picos(self.greatest).as_secs_f64())
    }

    /// The smallest length that at least a share `q` of all lengths do not exceed, in seconds.
    #[must_use]
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        if self.count() == 0 {
            return None;
        }
        let rank = libm::ceil(q * self.count() as f64).max(1.0) as u64;
        let Some(rank) = rank.checked_sub(self.zeros).filter(|rank| *rank > 0) else { return Some(0.0) };
        let picos = self.bins.middle_of_rank(rank).unwrap_or(self.greatest);
        Some(Time::from_picos(picos.clamp(self.least, self.greatest)).as_secs_f64())
    }
}

#[cfg(test)]
mod tests;
