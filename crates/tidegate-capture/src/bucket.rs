//! How full a bucket was that drains at a rate, and how many decisions a limit of it gets wrong.
//!
//! Every packet that passes fills the bucket by its bytes. How full it is before a packet is the work that
//! came less what could drain, above the least that this has been (the reflection map of a queue).

/// What is known of a packet's fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// It passed, or is taken to have passed.
    pub passed: bool,
    /// Its fate is known, and it carries data.
    pub judged: bool,
}

impl Fate {
    fn is_pass(self) -> bool {
        self.judged && self.passed
    }

    fn is_drop(self) -> bool {
        self.judged && !self.passed
    }
}

/// The packets that crossed a limit, in the order of their times.
#[derive(Clone, Debug)]
pub struct Packets {
    time_s: Vec<f64>,
    size: Vec<f64>,
    /// Bytes that passed before each.
    before: Vec<f64>,
    fate: Vec<Fate>,
}

impl Packets {
    /// Packets with times in seconds and sizes in bytes; all columns have the same length.
    #[must_use]
    pub fn new(time_s: Vec<f64>, size: Vec<f64>, fate: Vec<Fate>) -> Packets {
        let mut before = Vec::with_capacity(size.len());
        let mut sum = 0.0;
        for (bytes, its) in size.iter().zip(&fate) {
            before.push(sum);
            sum += if its.passed { *bytes } else { 0.0 };
        }
        Packets { time_s, size, before, fate }
    }

    /// The bytes in a bucket that drains at `rate_bps` bit/s just before each packet.
    #[must_use]
    pub fn fullness(&self, rate_bps: f64) -> Vec<f64> {
        self.levels(rate_bps).collect()
    }

    /// The bytes in the bucket just before the packets at these places, which rise.
    #[must_use]
    pub fn fullness_at(&self, rate_bps: f64, places: &[usize]) -> Vec<f64> {
        let mut levels = self.levels(rate_bps);
        let mut next = 0;
        let mut found = Vec::with_capacity(places.len());
        for place in places {
            found.extend(levels.nth(place - next));
            next = place + 1;
        }
        found
    }

    /// The bytes in the bucket with each packet whose fate is known: of those that passed, and of those that
    /// were dropped.
    #[must_use]
    pub fn filled(&self, rate_bps: f64) -> (Vec<f64>, Vec<f64>) {
        let known = self.with_each(rate_bps).filter(|(_, fate)| fate.judged);
        let (mut passed, mut dropped) = (Vec::with_capacity(self.fate.len()), Vec::new());
        for (value, fate) in known {
            if fate.passed { &mut passed } else { &mut dropped }.push(value);
        }
        (passed, dropped)
    }

    /// The limit with the fewest decisions on its wrong side at this rate, and their number. A limit drops what
    /// would fill the bucket above it. `None` where nothing was dropped.
    #[must_use]
    pub fn best_limit(&self, rate_bps: f64) -> Option<(usize, f64)> {
        best_limit(self.with_each(rate_bps))
    }

    /// As [`Self::best_limit`], without the limit. Without drops nothing is wrong.
    #[must_use]
    pub fn fewest_wrong(&self, rate_bps: f64) -> usize {
        Drops::of(self.with_each(rate_bps)).map_or(0, |drops| drops.fewest_wrong(self.with_each(rate_bps)).1)
    }

    /// The bytes in the bucket with each packet, and the packet's fate.
    fn with_each(&self, rate_bps: f64) -> impl Iterator<Item = (f64, Fate)> + Clone {
        let with = self.levels(rate_bps).zip(&self.size).map(|(level, size)| level + size);
        with.zip(self.fate.iter().copied())
    }

    fn levels(&self, rate_bps: f64) -> impl Iterator<Item = f64> + Clone {
        let bytes_each_second = -rate_bps / 8.0;
        let mut least = f64::INFINITY;
        self.time_s.iter().zip(&self.before).map(move |(time, before)| {
            let work = time * bytes_each_second + before;
            if work < least {
                least = work;
            }
            work - least
        })
    }
}

/// As [`Packets::best_limit`], from the bytes in the bucket with each packet.
fn best_limit(packets: impl Iterator<Item = (f64, Fate)> + Clone) -> Option<(usize, f64)> {
    let drops = Drops::of(packets.clone())?;
    let (place, wrong) = drops.fewest_wrong(packets.clone());
    let passed = packets.filter(|(_, fate)| fate.is_pass()).map(|(value, _)| value);
    let high = match drops.bytes.get(place) {
        Some(drop) => *drop,
        None => passed.clone().fold(drops.most(), f64::max),
    };
    // The limit lies in the middle between the packets that it parts.
    let drop_below = place.checked_sub(1).map(|below| drops.bytes[below]);
    let below = passed.filter(|value| *value < high).chain(drop_below).reduce(f64::max);
    Some((wrong, f64::midpoint(high, below.unwrap_or(high))))
}

/// The bytes in the bucket with each packet that was dropped, in order.
struct Drops {
    bytes: Vec<f64>,
    /// Cells of equal width from the least drop to the most: how many drops lie before each cell, and before
    /// the end.
    before: Vec<usize>,
    cells_each_byte: f64,
}

impl Drops {
    fn of(packets: impl Iterator<Item = (f64, Fate)>) -> Option<Drops> {
        let mut bytes: Vec<f64> =
            packets.filter(|(_, fate)| fate.is_drop()).map(|(value, _)| value).collect();
        bytes.sort_unstable_by(f64::total_cmp);
        let (least, most) = (*bytes.first()?, *bytes.last()?);
        let cells = 2 * bytes.len();
        let cells_each_byte = if most > least { cells as f64 / (most - least) } else { 0.0 };
        let mut drops = Drops { bytes, before: vec![0; cells + 1], cells_each_byte };
        for place in 0..drops.bytes.len() {
            let cell = drops.cell(drops.bytes[place]);
            drops.before[cell + 1] = place + 1;
        }
        for cell in 0..cells {
            drops.before[cell + 1] = drops.before[cell + 1].max(drops.before[cell]);
        }
        Some(drops)
    }

    fn least(&self) -> f64 {
        self.bytes[0]
    }

    fn most(&self) -> f64 {
        self.bytes[self.bytes.len() - 1]
    }

    /// The cell of a value that is not below the least; it grows with the value.
    fn cell(&self, value: f64) -> usize {
        (((value - self.least()) * self.cells_each_byte) as usize).min(self.before.len() - 2)
    }

    /// How many drops lie at or below a value that is not below the least.
    fn at_most(&self, value: f64) -> usize {
        let cell = self.cell(value);
        let (begin, end) = (self.before[cell], self.before[cell + 1]);
        begin + self.bytes[begin..end].partition_point(|drop| *drop <= value)
    }

    /// The place of the drop that the best limit lies just below, where the place behind the last stands for a
    /// limit above all, and how many decisions it gets wrong.
    fn fewest_wrong(&self, packets: impl Iterator<Item = (f64, Fate)>) -> (usize, usize) {
        // Passes by how many drops lie at or below them; below the least drop a pass is right whatever the limit.
        let mut passes = vec![0; self.bytes.len() + 1];
        let least = self.least();
        for (value, _) in packets.filter(|(value, fate)| *value >= least && fate.is_pass()) {
            passes[self.at_most(value)] += 1;
        }
        // A limit just below the drop at a place gets the drops before it and the passes at or above it wrong.
        let mut above = 0;
        let mut best = (self.bytes.len(), self.bytes.len());
        for place in (0..self.bytes.len()).rev() {
            above += passes[place + 1];
            if place + above <= best.1 {
                best = (place, place + above);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PASSED: Fate = Fate { passed: true, judged: true };
    const DROPPED: Fate = Fate { passed: false, judged: true };
    const UNKNOWN: Fate = Fate { passed: true, judged: false };

    #[test]
    fn a_bucket_drains_until_it_is_empty() {
        let fate = vec![PASSED, PASSED, DROPPED, UNKNOWN, PASSED];
        let packets = Packets::new(vec![0.0, 1.0, 4.0, 100.0, 101.0], vec![10.0; 5], fate);
        // 8 bit/s are a byte a second; what was dropped does not fill the bucket.
        assert_eq!(packets.fullness(8.0), [0.0, 9.0, 16.0, 0.0, 9.0]);
    }

    #[test]
    fn the_best_limit_by_hand() {
        // Any limit from 3 to 5 is right about all that is judged.
        let clean = [(1.0, PASSED), (3.0, PASSED), (5.0, DROPPED), (9.0, UNKNOWN), (7.0, DROPPED)];
        assert_eq!(best_limit(clean.into_iter()), Some((0, 4.0)));
        let mixed = [(1.0, PASSED), (2.0, DROPPED), (3.0, PASSED), (5.0, DROPPED), (6.0, PASSED)];
        assert_eq!(best_limit(mixed.into_iter()), Some((2, 1.5)));
        assert_eq!(best_limit([(1.0, PASSED)].into_iter()), None);
    }

    fn any_fate() -> impl Strategy<Value = Fate> {
        (any::<bool>(), any::<bool>()).prop_map(|(passed, judged)| Fate { passed, judged })
    }

    proptest! {
        #[test]
        fn no_limit_is_better(packets in proptest::collection::vec((0..20_u8, any_fate()), 0..40)) {
            let packets: Vec<(f64, Fate)> = packets.iter().map(|(value, fate)| (f64::from(*value), *fate)).collect();
            let wrong = |limit: f64| {
                let is_wrong = |(value, fate): &&(f64, Fate)| fate.judged && fate.passed == (*value > limit);
                packets.iter().filter(is_wrong).count()
            };
            let tried = (-1..=20).map(|limit| wrong(f64::from(limit) + 0.5)).min();
            let found = best_limit(packets.iter().copied());
            let drops = packets.iter().filter(|(_, fate)| fate.is_drop()).count();
            prop_assert_eq!(found.map(|(fewest, _)| fewest), tried.filter(|_| drops > 0));
            // A limit above all, and one with nothing below it, stand at a packet.
            let apart = |limit: f64| packets.iter().all(|(value, _)| *value != limit);
            if let Some((fewest, limit)) = found && fewest < drops && apart(limit) {
                prop_assert_eq!(wrong(limit), fewest);
            }
        }
    }
}
