//! Lengths of messages in whole cells.

use rand::RngExt as _;

use super::Stream;

/// Halvings of the interval that the ratio lies in: to the last bit.
const HALVINGS: u32 = 64;

/// Lengths 1 to `most` with probabilities in a constant ratio, which is chosen so that the mean
/// is what was asked for: a geometric law cut off at `most` and scaled to its mean.
///
/// Only additions, multiplications and divisions are used, so the lengths are the same on
/// every machine.
#[derive(Clone, Debug, PartialEq)]
pub struct TruncatedGeometric {
    mean: u32,
    /// Probability of a length of at most 1, 2, …
    cumulative: Vec<f64>,
}

impl TruncatedGeometric {
    /// Lengths from 1 to `most` with this mean; `None` where no falling probabilities have
    /// it: it lies between 1 and (`most` + 1) / 2.
    #[must_use]
    pub fn new(mean: u32, most: u32) -> Option<TruncatedGeometric> {
        if mean == 0 || u64::from(mean) * 2 > u64::from(most) + 1 {
            return None;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if mean_of(middle, most) < f64::from(mean) { low = middle } else { high = middle }
        }
        let (mut cumulative, mut weight, mut sum) = (Vec::with_capacity(most as usize), 1.0, 0.0);
        for _ in 0..most {
            sum += weight;
            cumulative.push(sum);
            weight *= high;
        }
        cumulative.iter_mut().for_each(|part| *part /= sum);
        Some(TruncatedGeometric { mean, cumulative })
    }

    /// The mean asked for.
    #[must_use]
    pub fn mean(&self) -> u32 {
        self.mean
    }

    /// The greatest length.
    #[must_use]
    pub fn most(&self) -> u32 {
        self.cumulative.len() as u32
    }

    /// Probability of this length, from 1 on.
    #[must_use]
    pub fn probability(&self, length: u32) -> f64 {
        let at_most = |cells: u32| match cells {
            0 => 0.0,
            _ => self.cumulative.get(cells as usize - 1).copied().unwrap_or(1.0),
        };
        at_most(length) - at_most(length.saturating_sub(1))
    }

    /// Draws a length.
    pub(crate) fn draw(&self, rng: &mut Stream) -> u32 {
        let place: f64 = rng.random();
        let below = self.cumulative.partition_point(|part| *part <= place) as u32;
        (below + 1).min(self.most())
    }
}

/// The mean of 1 to `most` with probabilities in this ratio.
fn mean_of(ratio: f64, most: u32) -> f64 {
    let (mut weight, mut sum, mut first) = (1.0, 0.0, 0.0);
    for length in 1..=most {
        sum += weight;
        first += weight * f64::from(length);
        weight *= ratio;
    }
    first / sum
}
