//! Mean and quantiles of many lengths of time in little memory and few instructions.
//!
//! Lengths are counted in bins whose width grows with them: 2^d bins to each doubling, so
//! that a bin is at most 2^-d of its values wide. (A general histogram library
//! cost three times as much for each sample, a tenth of what a whole packet may cost.)

use crate::units::{Span, Time};

/// How finely quantiles are kept. Means, minima and maxima are exact in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Within 0.1%, counted from 1.024 ns: for runs of few gates and flows.
    Fine,
    /// Within 0.8%, counted from 1.05 µs: for runs of thousands.
    Coarse,
}

impl Precision {
    /// log₂ of the smallest length told apart, in picoseconds.
    fn shift(self) -> u8 {
        match self {
            Precision::Fine => 10,
            Precision::Coarse => 20,
        }
    }

    /// log₂ of the bins in each doubling.
    fn digits(self) -> u8 {
        match self {
            Precision::Fine => 10,
            Precision::Coarse => 7,
        }
    }

    /// The greatest relative error of a quantile.
    #[must_use]
    pub fn relative(self) -> f64 {
        1.0 / f64::from(1_u32 << self.digits())
    }
}

/// So many bins get room at once.
const ROOM: usize = 32;

/// Lengths of time seen so far.
#[derive(Clone)]
#[repr(C)]
pub struct Quantiles {
    // What a length touches fills 64 bytes.
    sum: u128,
    /// Lengths that are not zero.
    count: u64,
    least: u64,
    greatest: u64,
    /// Number of the first bin kept.
    first: u32,
    shift: u8,
    digits: u8,
    bins: Box<[u32]>,
    /// Lengths of zero.
    zeros: u64,
}

impl std::fmt::Debug for Quantiles {
    /// What was seen: the room for more lengths depends on the order in which they came.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Quantiles { zeros, count, sum, least, greatest, .. } = self;
        let bins = (self.first..).zip(&self.bins).filter(|(_, times)| **times > 0);
        write!(to, "Quantiles {{ zeros: {zeros}, count: {count}, sum: {sum}, from {least} to {greatest}: ")?;
        to.debug_map().entries(bins).finish()?;
        to.write_str(" }")
    }
}

impl Quantiles {
    /// Nothing seen.
    #[must_use]
    pub fn new(precision: Precision) -> Quantiles {
        Quantiles {
            sum: 0,
            count: 0,
            least: u64::MAX,
            greatest: 0,
            first: 0,
            shift: precision.shift(),
            digits: precision.digits(),
            bins: Box::default(),
            zeros: 0,
        }
    }

    /// Takes one more.
    #[inline]
    pub fn record(&mut self, span: Span) {
        if span == Span::ZERO { self.zeros += 1 } else { self.record_some(span) }
    }

    /// Takes one more that is not zero.
    #[inline]
    pub(super) fn record_some(&mut self, span: Span) {
        let picos = span.picos();
        self.count += 1;
        self.sum += u128::from(picos);
        self.least = self.least.min(picos);
        self.greatest = self.greatest.max(picos);
        let bin = self.bin(picos);
        match self.bins.get_mut(bin.wrapping_sub(self.first as usize)) {
            Some(count) => *count += 1,
            None => self.grow(bin),
        }
    }

    /// Takes so many evenly spaced lengths that are not zero; says what they add up to. What they are
    /// rounded down by may matter: `gap` is whole picoseconds and a part of one, `first` the same of the first
    /// length, in the same parts.
    #[inline]
    pub(super) fn record_evenly(&mut self, first: (u64, u64), gap: (u64, u64, u64), count: u64) -> u128 {
        let (picos, part, whole) = gap;
        // In fixed point, a little too long: a length lies at least a part below the next picosecond, so
        // that it stays below it.
        let most = picos.saturating_add(1).saturating_mul(count).saturating_add(first.0);
        let spare = (most | 1).leading_zeros().min(31);
        let above = count + 2;
        if (above + 1).saturating_mul(whole) > 1 << spare {
            return self.record_each(first, gap, count);
        }
        let fraction = |parts: u64| (parts as f64 / whole as f64 * f64::from(1_u32 << spare)) as u32;
        let step = (picos << spare) + u64::from(fraction(part));
        let mut length = (first.0 << spare) + u64::from(fraction(first.1)) + above;
        let lengths = (0..count).map(|_| {
            let this = length >> spare;
            length = length.wrapping_add(step);
            this
        });
        self.record_rising(lengths)
    }

    /// Takes lengths that are not zero and never shorter than the one before, in picoseconds;
    /// says what they add up to.
    #[inline]
    pub(super) fn record_rising(&mut self, lengths: impl Iterator<Item = u64>) -> u128 {
        let (mut count, mut sum, mut last) = (0, 0_u128, 0);
        // Up to the next doubling bins are equally wide.
        let (mut ceiling, mut base, mut shift) = (0, 0, 0);
        for picos in lengths {
            if picos >= ceiling {
                if count == 0 {
                    self.least = self.least.min(picos);
                }
                let doubling = self.doubling(picos);
                shift = u32::from(self.shift) + doubling;
                base = ((doubling << self.digits) as usize).wrapping_sub(self.first as usize);
                let top = 2_u64.checked_shl(u32::from(self.digits) + shift);
                ceiling = top.filter(|top| *top > picos).unwrap_or(u64::MAX);
            }
            count += 1;
            sum += u128::from(picos);
            last = picos;
            match self.bins.get_mut(base.wrapping_add((picos >> shift) as usize)) {
                Some(bin) => *bin += 1,
                None => {
                    self.grow(self.bin(picos));
                    ceiling = 0;
                }
            }
        }
        self.greatest = self.greatest.max(last);
        self.count += count;
        self.sum += sum;
        sum
    }

    /// The same one by one.
    #[cold]
    fn record_each(&mut self, first: (u64, u64), gap: (u64, u64, u64), count: u64) -> u128 {
        let ((mut length, mut carry), (picos, part, whole)) = (first, gap);
        let mut sum = 0;
        for _ in 0..count {
            self.record_some(Span::from_picos(length));
            sum += u128::from(length);
            carry += part;
            let over = carry >= whole;
            carry -= if over { whole } else { 0 };
            length = length.saturating_add(picos).saturating_add(u64::from(over));
        }
        sum
    }

    /// Takes so many of one length that is not zero.
    pub(super) fn record_alike(&mut self, span: Span, count: u64) {
        self.record_some(span);
        let bin = self.bin(span.picos()) - self.first as usize;
        self.count += count - 1;
        self.sum += u128::from(span.picos()) * u128::from(count - 1);
        self.bins[bin] += u32::try_from(count - 1).unwrap_or(u32::MAX);
    }

    /// Says how many lengths of zero there were in all.
    pub(super) fn set_zeros(&mut self, zeros: u64) {
        self.zeros = zeros;
    }

    /// Counts one in a bin outside those kept.
    #[cold]
    fn grow(&mut self, bin: usize) {
        self.make_room(bin);
        self.bins[bin - self.first as usize] += 1;
    }

    /// Makes room for a bin.
    #[inline]
    fn make_room(&mut self, bin: usize) {
        if bin.wrapping_sub(self.first as usize) >= self.bins.len() {
            self.widen(bin);
        }
    }

    /// What is kept depends on the least and the greatest bin alone.
    #[cold]
    fn widen(&mut self, bin: usize) {
        let (from, to) = (bin / ROOM * ROOM, bin / ROOM * ROOM + ROOM);
        let mut bins = std::mem::take(&mut self.bins).into_vec();
        if bins.is_empty() {
            self.first = from as u32;
        }
        let first = self.first as usize;
        bins.splice(0..0, std::iter::repeat_n(0, first.saturating_sub(from)));
        self.first = first.min(from) as u32;
        bins.resize(bins.len().max(to - self.first as usize), 0);
        self.bins = bins.into_boxed_slice();
    }

    /// Values below 2^(d+1) have a bin each; above, 2^d bins share each doubling.
    #[inline]
    fn bin(&self, picos: u64) -> usize {
        let value = picos >> self.shift;
        let doubling = self.doubling(picos);
        ((u64::from(doubling) << self.digits) + (value >> doubling)) as usize
    }

    /// How often the width of the first bins is doubled in those of such a length.
    #[inline]
    fn doubling(&self, picos: u64) -> u32 {
        (63 - (picos >> self.shift | 1).leading_zeros()).saturating_sub(u32::from(self.digits))
    }

    /// The middle of a bin, in picoseconds.
    fn middle(&self, bin: usize) -> u64 {
        let doubling = (bin as u64 >> self.digits).saturating_sub(1);
        let low = (bin as u64 - (doubling << self.digits)) << doubling;
        (low << self.shift) + (1 << (doubling + u64::from(self.shift)) >> 1)
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.zeros + self.count
    }

    /// Mean in seconds; `None` when there was none.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64 / 1e12)
    }

    /// The smallest length that at least a share `q` of all do not pass, in seconds.
    #[must_use]
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        if self.count() == 0 {
            return None;
        }
        let rank = libm::ceil(q * self.count() as f64).max(1.0) as u64;
        let mut seen = self.zeros;
        if rank <= seen {
            return Some(0.0);
        }
        let bin = self.bins.iter().position(|count| {
            seen += u64::from(*count);
            rank <= seen
        });
        let picos = bin.map_or(self.greatest, |bin| self.middle(self.first as usize + bin));
        Some(Time::from_picos(picos.clamp(self.least, self.greatest)).as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn errors_are_below_a_tenth_of_a_percent_or_below_one() {
        assert_eq!(Precision::Fine.relative(), 1.0 / 1024.0);
        assert_eq!(Precision::Coarse.relative(), 1.0 / 128.0);
    }

    #[test]
    fn quantiles_are_within_their_precision() {
        let mut fine = Quantiles::new(Precision::Fine);
        for millis in 0..=1000 {
            fine.record(Span::from_millis(millis));
        }
        assert_eq!(fine.quantile_s(0.0), Some(0.0));
        assert!((fine.quantile_s(0.5).unwrap() - 0.5).abs() < 0.0005);
        assert!((fine.quantile_s(0.99).unwrap() - 0.99).abs() < 0.001);
        assert_eq!(fine.mean_s(), Some(0.5));
    }

    #[test]
    fn one_length_is_exact() {
        let mut coarse = Quantiles::new(Precision::Coarse);
        coarse.record(Span::from_picos(20_000_123));
        assert_eq!(coarse.quantile_s(0.5), Some(20_000_123e-12));
    }

    proptest! {
        /// Evenly spaced lengths together are the same lengths one by one.
        #[test]
        fn even_lengths_are_lengths(
            before in prop::collection::vec(1u64..1 << 50, 0..5),
            start in (1u64..1 << 50, 0u32..50, any::<u64>()),
            gap in (0u64..1 << 45, 0u32..46, any::<u64>()),
            whole in prop_oneof![1u64..10, 1u64..100_000_000, 1u64..1 << 40],
            count in 1u64..500,
            fine in any::<bool>(),
        ) {
            let mut single = Quantiles::new(if fine { Precision::Fine } else { Precision::Coarse });
            before.iter().for_each(|picos| single.record(Span::from_picos(*picos)));
            let mut together = single.clone();
            let first = ((start.0 >> start.1).max(1), start.2 % whole);
            let gap = (gap.0 >> gap.1, gap.2 % whole, whole);
            let mut sum = 0;
            for n in 0..u128::from(count) {
                let parts = u128::from(first.1) + n * u128::from(gap.1);
                let length = u128::from(first.0) + n * u128::from(gap.0) + parts / u128::from(whole);
                single.record(Span::from_picos(length as u64));
                sum += length;
            }
            prop_assert_eq!(together.record_evenly(first, gap, count), sum);
            prop_assert_eq!(format!("{single:?}"), format!("{together:?}"));
        }

        /// Against a sorted list.
        #[test]
        fn any_quantile_of_any_list(
            list in prop::collection::vec((0u64..1 << 50, 0u32..50), 1..300),
            q in 0.0f64..1.0,
            fine in any::<bool>(),
        ) {
            let precision = if fine { Precision::Fine } else { Precision::Coarse };
            let mut spans: Vec<u64> = list.iter().map(|(value, shift)| value >> shift).collect();
            let mut quantiles = Quantiles::new(precision);
            spans.iter().for_each(|picos| quantiles.record(Span::from_picos(*picos)));
            spans.sort_unstable();
            let rank = ((q * spans.len() as f64).ceil() as usize).max(1);
            let exact = spans[rank - 1] as f64 / 1e12;
            let found = quantiles.quantile_s(q).unwrap();
            let unit = f64::from(1u32 << precision.shift()) / 1e12;
            prop_assert!((found - exact).abs() <= exact * precision.relative() + unit, "{found} is not {exact}");
        }
    }
}
