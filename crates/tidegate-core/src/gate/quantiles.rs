//! Mean and quantiles of many lengths of time in little memory.

use hdrhistogram::Histogram;

use crate::units::{Span, Time};

/// How finely quantiles are kept. Means, minima and maxima are exact in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Within 0.1%, counted from 1 ns: for runs of few gates and flows.
    Fine,
    /// Within 1%, counted from 1 µs: for runs of thousands.
    Coarse,
}

impl Precision {
    /// log₂ of the smallest length told apart, in picoseconds.
    fn shift(self) -> u32 {
        match self {
            Precision::Fine => 10,
            Precision::Coarse => 20,
        }
    }

    fn digits(self) -> u8 {
        match self {
            Precision::Fine => 3,
            Precision::Coarse => 2,
        }
    }
}

/// Lengths of time seen so far.
#[derive(Clone, Debug)]
pub struct Quantiles {
    precision: Precision,
    count: u64,
    zeros: u64,
    sum: u128,
    least: u64,
    greatest: u64,
    histogram: Option<Box<Histogram<u32>>>,
}

impl Quantiles {
    /// Nothing seen.
    #[must_use]
    pub fn new(precision: Precision) -> Quantiles {
        Quantiles { precision, count: 0, zeros: 0, sum: 0, least: u64::MAX, greatest: 0, histogram: None }
    }

    /// Takes one more.
    #[inline]
    pub fn record(&mut self, span: Span) {
        let picos = span.picos();
        self.count += 1;
        self.sum += u128::from(picos);
        self.least = self.least.min(picos);
        if picos == 0 {
            self.zeros += 1;
            return;
        }
        self.greatest = self.greatest.max(picos);
        let digits = self.precision.digits();
        let histogram = self.histogram.get_or_insert_with(|| {
            Box::new(Histogram::new(digits).expect("at most five digits"))
        });
        // Cannot fail: the histogram grows with its values.
        let _ = histogram.record(picos >> self.precision.shift());
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all.
    #[must_use]
    pub fn sum_picos(&self) -> u128 {
        self.sum
    }

    /// Mean in seconds; `None` when there was none.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e12)
    }

    /// The smallest length that at least a share `q` of all do not pass, in seconds.
    #[must_use]
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let rank = libm::ceil(q * self.count as f64).max(1.0) as u64;
        if rank <= self.zeros {
            return Some(0.0);
        }
        let histogram = self.histogram.as_ref()?;
        let share = (rank - self.zeros) as f64 / histogram.len() as f64;
        let picos = histogram.value_at_quantile(share.min(1.0)) << self.precision.shift();
        Some(Time::from_picos(picos.clamp(self.least, self.greatest)).as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_their_precision() {
        let mut fine = Quantiles::new(Precision::Fine);
        for millis in 0..=1000 {
            fine.record(Span::from_millis(millis));
        }
        assert_eq!(fine.quantile_s(0.0), Some(0.0));
        assert!((fine.quantile_s(0.5).unwrap() - 0.5).abs() < 0.0006);
        assert!((fine.quantile_s(0.99).unwrap() - 0.99).abs() < 0.001);
        assert_eq!(fine.mean_s(), Some(0.5));
    }

    #[test]
    fn one_length_is_exact() {
        let mut coarse = Quantiles::new(Precision::Coarse);
        coarse.record(Span::from_picos(20_000_123));
        assert_eq!(coarse.quantile_s(0.5), Some(20_000_123e-12));
    }
}
