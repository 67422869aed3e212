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

    /// The fewest decisions on the wrong side of a limit, for the best limit at this rate. A limit drops what
    /// would fill the bucket above it.
    #[must_use]
    pub fn fewest_wrong(&self, rate_bps: f64) -> usize {
        let with = self.levels(rate_bps).zip(&self.size).map(|(level, size)| level + size);
        fewest_wrong(with.zip(self.fate.iter().copied()))
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

/// As [`Packets::fewest_wrong`], from the bytes in the bucket with each packet. Without drops nothing is wrong.
fn fewest_wrong(packets: impl Iterator<Item = (f64, Fate)> + Clone) -> usize {
    let mut drops: Vec<f64> =
        packets.clone().filter(|(_, fate)| fate.is_drop()).map(|(value, _)| value).collect();
    drops.sort_unstable_by(f64::total_cmp);
    let Some(least) = drops.first().copied() else { return 0 };
    // Passes by how many drops lie at or below them; below the least drop a pass is right whatever the limit.
    let mut passes = vec![0; drops.len() + 1];
    for (value, _) in packets.filter(|(value, fate)| *value >= least && fate.is_pass()) {
        passes[drops.partition_point(|drop| *drop <= value)] += 1;
    }
    // A limit just below the drop at a place gets the drops before it and the passes at or above it wrong.
    let mut above = 0;
    let mut fewest = drops.len();
    for place in (0..drops.len()).rev() {
        above += passes[place + 1];
        fewest = fewest.min(place + above);
    }
    fewest
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
        assert_eq!(fewest_wrong(clean.into_iter()), 0);
        let mixed = [(1.0, PASSED), (2.0, DROPPED), (3.0, PASSED), (5.0, DROPPED), (6.0, PASSED)];
        assert_eq!(fewest_wrong(mixed.into_iter()), 2);
        assert_eq!(fewest_wrong([(1.0, PASSED)].into_iter()), 0);
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
            prop_assert_eq!(Some(fewest_wrong(packets.iter().copied())), tried);
        }
    }
}
