//! Sizes of messages drawn from a table.

use rand::RngExt as _;

use super::Stream;

/// The largest message, whatever a distribution says: 1 TB.
pub const LARGEST_MESSAGE: u64 = 1_000_000_000_000;

/// Sizes with their cumulative probabilities, joined by straight lines.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeTable {
    /// Sizes in bytes, each with the probability of a size of at most that; neither ever falls,
    /// and the last is 1. The first size has its probability for itself.
    points: Vec<(u64, f64)>,
    mean: f64,
}

impl SizeTable {
    /// From a cumulative distribution; `None` unless sizes (at most [`LARGEST_MESSAGE`]) and
    /// probabilities never fall, and the last probability is 1.
    #[must_use]
    pub fn cumulative(points: Vec<(u64, f64)>) -> Option<SizeTable> {
        let (first, last) = (points.first()?, points.last()?);
        let rises = points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1);
        let inside = last.0 <= LARGEST_MESSAGE && first.1 >= 0.0;
        if !rises || !inside || last.1 != 1.0 {
            return None;
        }
        let of_pair = |pair: &[(u64, f64)]| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) as f64 / 2.0;
        let mean = first.1 * first.0 as f64 + points.windows(2).map(of_pair).sum::<f64>();
        Some(SizeTable { points, mean })
    }

    /// Mean size in bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The smallest and the largest size in bytes.
    #[must_use]
    pub fn limits(&self) -> (u64, u64) {
        let ends = (self.points.first(), self.points.last());
        (ends.0.map_or(1, |point| point.0), ends.1.map_or(1, |point| point.0))
    }

    /// The next size in bytes, not yet whole.
    pub(crate) fn draw(&self, rng: &mut Stream) -> f64 {
        let place: f64 = rng.random();
        let above = self.points.partition_point(|point| point.1 <= place);
        match (above.checked_sub(1).and_then(|below| self.points.get(below)), self.points.get(above)) {
            (None, Some(first)) => first.0 as f64,
            (Some(low), Some(high)) => {
                let share = (place - low.1) / (high.1 - low.1);
                low.0 as f64 + share * (high.0 - low.0) as f64
            }
            (_, None) => self.limits().1 as f64,
        }
    }
}
