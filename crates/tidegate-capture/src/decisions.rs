//! How many decisions a bucket's limit gets wrong, from how full the bucket was with each packet.

use std::ops::Range;

/// The bytes in a bucket with each packet whose fate is known.
#[derive(Clone, Debug, Default)]
pub struct Filled {
    /// Of those that passed.
    pub passed: Vec<f64>,
    /// Of those that were dropped.
    pub dropped: Vec<f64>,
}

impl Filled {
    /// The limit with the fewest decisions on its wrong side, and their number. A limit drops what would fill
    /// the bucket above it. `None` where nothing was dropped.
    #[must_use]
    pub fn best_limit(&self) -> Option<(usize, f64)> {
        let drops = Drops::of(&self.dropped)?;
        let (place, wrong) = drops.fewest_wrong(&self.passed);
        let passed = self.passed.iter().copied();
        let high = match drops.bytes.get(place) {
            Some(drop) => *drop,
            None => passed.clone().fold(drops.most(), f64::max),
        };
        // The limit lies in the middle between the packets that it parts.
        let drop_below = place.checked_sub(1).map(|below| drops.bytes[below]);
        let below = passed.filter(|value| *value < high).chain(drop_below).reduce(f64::max);
        Some((wrong, f64::midpoint(high, below.unwrap_or(high))))
    }

    /// What lies between two bounds, and how many decisions of any limit between these are right, and how many wrong,
    /// of the others.
    #[must_use]
    pub fn near(&self, low: f64, high: f64) -> (Filled, usize, usize) {
        let between = |some: &[f64]| {
            let near: Vec<f64> = some.iter().copied().filter(|value| *value > low && *value < high).collect();
            let below = some.iter().filter(|value| **value <= low).count();
            let above = some.len() - near.len() - below;
            (near, below, above)
        };
        let (passed, right_passes, wrong_passes) = between(&self.passed);
        let (dropped, wrong_drops, right_drops) = between(&self.dropped);
        (Filled { passed, dropped }, right_passes + right_drops, wrong_passes + wrong_drops)
    }

    /// As [`Self::best_limit`], without the limit. Without drops nothing is wrong.
    #[must_use]
    pub fn fewest_wrong(&self) -> usize {
        Drops::of(&self.dropped).map_or(0, |drops| drops.fewest_wrong(&self.passed).1)
    }
}

/// The fewest of some numbers, as they come.
pub(crate) struct Fewest {
    numbers: Vec<usize>,
    count: usize,
}

impl Fewest {
    pub(crate) fn of(count: usize) -> Fewest {
        Fewest { numbers: Vec::with_capacity(count + 1), count }
    }

    pub(crate) fn take(&mut self, number: usize) {
        let place = self.numbers.partition_point(|each| *each <= number);
        self.numbers.insert(place, number);
        self.numbers.truncate(self.count);
    }

    /// The greatest of them; of fewer than were asked for, no number is too great.
    pub(crate) fn most(&self) -> usize {
        if self.numbers.len() < self.count { usize::MAX } else { *self.numbers.last().unwrap_or(&0) }
    }
}

/// Drops are looked at in so many parts, and these again, where the best limit may lie in one.
const PARTS: usize = 8;

/// The bytes in the bucket with each packet that was dropped, in order.
struct Drops {
    bytes: Vec<f64>,
}

/// Some drops that lie behind one another, and the passes that lie among them.
struct Part<'a> {
    places: Range<usize>,
    passed: &'a [f64],
    /// How many passes lie at or above the end of the part.
    above: usize,
}

impl Drops {
    fn of(dropped: &[f64]) -> Option<Drops> {
        let mut bytes = dropped.to_vec();
        bytes.sort_unstable_by(f64::total_cmp);
        if bytes.is_empty() { None } else { Some(Drops { bytes }) }
    }

    fn most(&self) -> f64 {
        self.bytes[self.bytes.len() - 1]
    }

    /// The place of the drop that the best limit lies just below, where the place behind the last stands for a
    /// limit above all, and how many decisions it gets wrong. Of several the lowest.
    fn fewest_wrong(&self, passed: &[f64]) -> (usize, usize) {
        let count = self.bytes.len();
        let mut best = (count, count);
        // Most often nothing is better, and the passes above all drops are enough to tell.
        if at_least(passed, self.most()) <= count {
            // Below the least drop a pass is right whatever the limit.
            let passed: Vec<f64> = passed.iter().copied().filter(|value| *value >= self.bytes[0]).collect();
            self.search(&Part { places: 0..count, passed: &passed, above: 0 }, &mut best);
        }
        best
    }

    /// Looks for a better limit in a part. One just below the drop at a place gets the drops before it and the
    /// passes at or above it wrong.
    fn search(&self, part: &Part<'_>, best: &mut (usize, usize)) {
        let (begin, count) = (part.places.start, part.places.len());
        let mut above = part.above;
        let mut next = part.places.end;
        for cut in (0..PARTS.min(count)).rev() {
            let place = begin + cut * count / PARTS.min(count);
            let wrong_above = part.above + at_least(part.passed, self.bytes[place]);
            let wrong = place + wrong_above;
            if wrong < best.1 || (wrong == best.1 && place < best.0) {
                *best = (place, wrong);
            }
            // Between this drop and the next part no limit gets fewer wrong than this.
            if place + 1 < next && place + 1 + above <= best.1 {
                let (low, high) =
                    (self.bytes[place + 1], self.bytes.get(next).copied().unwrap_or(f64::INFINITY));
                let passed: Vec<f64> =
                    part.passed.iter().copied().filter(|value| *value >= low && *value < high).collect();
                self.search(&Part { places: place + 1..next, passed: &passed, above }, best);
            }
            (above, next) = (wrong_above, place);
        }
    }
}

/// How many values lie at or above a bound.
fn at_least(values: &[f64], bound: f64) -> usize {
    values.iter().filter(|value| **value >= bound).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(passed: &[f64], dropped: &[f64]) -> Filled {
        Filled { passed: passed.to_vec(), dropped: dropped.to_vec() }
    }

    #[test]
    fn the_best_limit_by_hand() {
        // Any limit from 3 to 5 is right about all.
        assert_eq!(filled(&[1.0, 3.0], &[5.0, 7.0]).best_limit(), Some((0, 4.0)));
        assert_eq!(filled(&[1.0, 3.0, 6.0], &[2.0, 5.0]).best_limit(), Some((2, 1.5)));
        assert_eq!(filled(&[1.0], &[]).best_limit(), None);
    }

    #[test]
    fn what_is_near_some_limits() {
        let all = filled(&[1.0, 2.0, 3.0, 4.0], &[1.5, 2.5, 5.0]);
        let (near, right, wrong) = all.near(1.0, 3.0);
        assert_eq!((near.passed, near.dropped), (vec![2.0], vec![1.5, 2.5]));
        // The pass of 1 and the drop of 5 are right; the passes of 3 and 4 are not.
        assert_eq!((right, wrong), (2, 2));
    }

    proptest! {
        #[test]
        fn no_limit_is_better(packets in proptest::collection::vec((0..20_u8, any::<bool>()), 0..40)) {
            let of = |passed| {
                let some = packets.iter().filter(move |each| each.1 == passed);
                some.map(|(value, _)| f64::from(*value)).collect::<Vec<f64>>()
            };
            let filled = filled(&of(true), &of(false));
            let wrong = |limit: f64| {
                filled.passed.iter().filter(|value| **value > limit).count()
                    + filled.dropped.iter().filter(|value| **value <= limit).count()
            };
            let tried = (-1..=20).map(|limit| wrong(f64::from(limit) + 0.5)).min();
            let found = filled.best_limit();
            let drops = filled.dropped.len();
            prop_assert_eq!(found.map(|(fewest, _)| fewest), tried.filter(|_| drops > 0));
            prop_assert_eq!(found.map_or(0, |(fewest, _)| fewest), filled.fewest_wrong());
            // A limit above all, and one with nothing below it, stand at a packet.
            let apart = |limit: f64| packets.iter().all(|(value, _)| f64::from(*value) != limit);
            if let Some((fewest, limit)) = found && fewest < drops && apart(limit) {
                prop_assert_eq!(wrong(limit), fewest);
            }
        }

        #[test]
        fn the_fewest_of_some(numbers in proptest::collection::vec(0..20_usize, 0..20), count in 1..6_usize) {
            let mut fewest = Fewest::of(count);
            numbers.iter().for_each(|each| fewest.take(*each));
            let mut ordered = numbers.clone();
            ordered.sort_unstable();
            prop_assert_eq!(fewest.most(), ordered.get(count - 1).copied().unwrap_or(usize::MAX));
        }
    }
}
