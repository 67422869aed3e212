//! EFFCAP: the capacity to feed back, from samples of a link's capacity.
//!
//! Source: S. Shakkottai, A. Kumar, A. Karnik and A. Anvekar, "TCP Performance over End-to-End Rate
//! Control and Stochastic Available Capacity", Section VI. One sample for each measuring
//! interval of s; after each one the estimate is the least of N means, each over M samples:
//! block j holds the samples n−j−M+1 … n−j, for j = 0 … N−1. While history is short: the least
//! over the full blocks that there are; before M samples the mean of what there is.
//!
//! M = N = 1 feeds back the last sample: INSTCAP.
//!
//! Example: M = 2, N = 3 and samples 100, 100, 50, 100, 100, 100, 100: the blocks that end at each
//! are (100), 100, 75, 75, 100, 100, 100, and the estimates 100, 100, 75, 75, 75, 75, 100.

mod rule;

use std::collections::VecDeque;
use std::ops::Add;

pub use rule::{rule, rule_m, rule_n};

/// M samples in a block and N blocks, both at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// M: samples in a block.
    pub samples: u32,
    /// N: blocks, each one sample later than the one before.
    pub blocks: u32,
}

impl Blocks {
    /// The last sample as it is.
    pub const INSTCAP: Blocks = Blocks { samples: 1, blocks: 1 };
}

/// A sum of so many samples; the estimate is their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean<T> {
    /// Of the samples.
    pub sum: T,
    /// How many, at least one.
    pub count: u32,
}

/// The estimator: O(1) for a sample, amortised. Exact where `T` is.
///
/// Sums slide without subtraction (two stacks), so that with floats nothing is left behind by
/// samples that have gone.
#[derive(Clone, Debug)]
pub struct CapacityEstimator<T> {
    blocks: Blocks,
    /// Samples seen, as far as it matters.
    seen: u32,
    /// The older samples of the last block, each with the sum from it on to the newest of them;
    /// the oldest is last.
    older: Vec<T>,
    /// The newer ones as they came.
    newer: Vec<T>,
    newer_sum: T,
    /// Number of the last block.
    block: u64,
    /// Blocks that may yet be the least, with their numbers: sums rise from front to back.
    least: VecDeque<(u64, T)>,
}

impl<T: Copy + Default + PartialOrd + Add<Output = T>> CapacityEstimator<T> {
    /// An estimator without history. Panics unless M and N are at least one.
    #[must_use]
    pub fn new(blocks: Blocks) -> CapacityEstimator<T> {
        assert!(blocks.samples > 0 && blocks.blocks > 0, "blocks of at least one sample, and one of them");
        CapacityEstimator {
            blocks,
            seen: 0,
            older: Vec::new(),
            newer: Vec::new(),
            newer_sum: T::default(),
            block: 0,
            least: VecDeque::new(),
        }
    }

    /// The estimate after one more sample.
    pub fn push(&mut self, sample: T) -> Mean<T> {
        if self.seen == self.blocks.samples {
            self.forget_oldest();
        } else {
            self.seen += 1;
        }
        self.newer.push(sample);
        self.newer_sum = self.newer_sum + sample;
        let sum = self.older.last().map_or(self.newer_sum, |older| *older + self.newer_sum);
        if self.seen < self.blocks.samples {
            return Mean { sum, count: self.seen };
        }
        while self.least.back().is_some_and(|(_, last)| *last >= sum) {
            self.least.pop_back();
        }
        self.least.push_back((self.block, sum));
        self.block += 1;
        if self.least.front().is_some_and(|(block, _)| block + u64::from(self.blocks.blocks) < self.block) {
            self.least.pop_front();
        }
        let sum = self.least.front().map_or(sum, |(_, least)| *least);
        Mean { sum, count: self.seen }
    }

    fn forget_oldest(&mut self) {
        if self.older.is_empty() {
            let mut sum: Option<T> = None;
            for sample in self.newer.drain(..).rev() {
                let with = sum.map_or(sample, |sum| sample + sum);
                self.older.push(with);
                sum = Some(with);
            }
            self.newer_sum = T::default();
        }
        self.older.pop();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(samples: u32, blocks: u32, capacity: &[u64]) -> Vec<(u64, u32)> {
        let mut estimator = CapacityEstimator::new(Blocks { samples, blocks });
        capacity.iter().map(|each| estimator.push(*each)).map(|Mean { sum, count }| (sum, count)).collect()
    }

    #[test]
    fn the_example_of_the_module() {
        let peaks = run(2, 3, &[100, 100, 50, 100, 100, 100, 100]);
        assert_eq!(peaks, [(100, 1), (200, 2), (150, 2), (150, 2), (150, 2), (150, 2), (200, 2)]);
    }

    #[test]
    fn one_sample_and_one_block_are_instcap() {
        assert_eq!(run(1, 1, &[3, 9, 4]), [(3, 1), (9, 1), (4, 1)]);
    }

    proptest! {
        /// Block by block, as it is written.
        #[test]
        fn as_written(
            samples in 1u32..9,
            blocks in 1u32..9,
            capacity in prop::collection::vec(0u64..50, 1..120),
        ) {
            let (m, n) = (samples as usize, blocks as usize);
            for (last, found) in run(samples, blocks, &capacity).into_iter().enumerate() {
                let sums = (0..n).filter(|j| last + 1 >= m + j).map(|j| {
                    capacity[last + 1 - j - m..=last - j].iter().sum::<u64>()
                });
                let expected = match sums.min() {
                    Some(least) => (least, samples),
                    None => (capacity[..=last].iter().sum(), last as u32 + 1),
                };
                prop_assert_eq!(found, expected);
            }
        }
    }
}
