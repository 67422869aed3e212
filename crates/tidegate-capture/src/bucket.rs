//! How full a bucket was that drains at a rate.
//!
//! Every packet that passes fills the bucket by its bytes. How full it is before a packet is the work that
//! came less what could drain, above the least that this has been (the reflection map of a queue).

use std::ops::Range;

use crate::decisions::{Fewest, Filled};

/// Rates are compared first on the packets up to these parts of the drops, where there are so many drops.
const SHARES: [usize; 2] = [8, 3];
const FEW: usize = 16;

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

/// A rate that changes once.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// When, in seconds.
    pub at_s: f64,
    /// The rate until then, in bit/s.
    pub before_bps: f64,
    /// The rate from then on, in bit/s.
    pub after_bps: f64,
}

impl Change {
    /// The bytes that drain until a time in seconds.
    fn drained(self, time_s: f64) -> f64 {
        let (early, late) = (time_s.min(self.at_s), (time_s - self.at_s).max(0.0));
        (early * self.before_bps + late * self.after_bps) / 8.0
    }

    /// The time in seconds until which so many bytes drain.
    fn time_of(self, drained: f64) -> f64 {
        let first = self.drained(self.at_s);
        if drained <= first {
            drained * 8.0 / self.before_bps
        } else {
            self.at_s + (drained - first) * 8.0 / self.after_bps
        }
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

    /// How many packets.
    #[must_use]
    pub fn count(&self) -> usize {
        self.fate.len()
    }

    /// Of some packets the time in seconds, the bytes that passed before, and the size.
    pub(crate) fn some(&self, places: Range<usize>) -> impl Iterator<Item = (f64, f64, f64)> {
        places.map(|place| (self.time_s[place], self.before[place], self.size[place]))
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

    /// How long the packets at these places, which rise, wait and are sent in a queue whose rate changes, in seconds.
    #[must_use]
    pub fn waits_at(&self, rate: Change, places: &[usize]) -> Vec<f64> {
        let mut levels = self.levels_of(move |time| rate.drained(time));
        let mut next = 0;
        let mut found = Vec::with_capacity(places.len());
        for place in places {
            found.extend(levels.nth(place - next).map(|level| {
                let time = self.time_s[*place];
                rate.time_of(rate.drained(time) + level + self.size[*place]) - time
            }));
            next = place + 1;
        }
        found
    }

    /// The bytes in the bucket with each packet whose fate is known.
    #[must_use]
    pub fn filled(&self, rate_bps: f64) -> Filled {
        let mut filled = Filled { passed: Vec::with_capacity(self.fate.len()), dropped: Vec::new() };
        self.fill(rate_bps, self.fate.len(), &mut filled);
        filled
    }

    /// The fewest decisions on the wrong side of a limit at each of these rates, for the best limit of each.
    ///
    /// The numbers are exact for the `best` rates with the fewest, and for those that have as many. Of the
    /// others they are lower bounds, above these: more packets make no limit wrong less often, so the first
    /// packets rule most rates out.
    #[must_use]
    pub fn fewest_wrong(&self, rates_bps: &[f64], best: usize) -> Vec<usize> {
        let mut filled = Filled::default();
        let mut wrong = vec![0; rates_bps.len()];
        let mut order: Vec<usize> = (0..rates_bps.len()).collect();
        for until in self.stages(rates_bps.len() > best) {
            order.sort_by_key(|each| wrong[*each]);
            let mut fewest = Fewest::of(best);
            order.retain(|each| {
                // What another stage looks at is not the whole: there, no rate is ruled out.
                let whole = until == self.fate.len();
                if whole && wrong[*each] > fewest.most() {
                    return false;
                }
                self.fill(rates_bps[*each], until, &mut filled);
                wrong[*each] = filled.fewest_wrong();
                fewest.take(wrong[*each]);
                true
            });
        }
        wrong
    }

    /// How many of the first packets are looked at, one time after the other; all at last.
    fn stages(&self, several: bool) -> Vec<usize> {
        let drops: Vec<usize> = (0..self.fate.len()).filter(|place| self.fate[*place].is_drop()).collect();
        let shares = if several && drops.len() >= FEW { &SHARES[..] } else { &[] };
        let parts = shares.iter().map(|share| drops[drops.len() / share] + 1);
        parts.chain([self.fate.len()]).collect()
    }

    fn fill(&self, rate_bps: f64, until: usize, filled: &mut Filled) {
        filled.passed.clear();
        filled.dropped.clear();
        for ((level, size), fate) in self.levels(rate_bps).zip(&self.size).zip(&self.fate).take(until) {
            if fate.is_pass() {
                filled.passed.push(level + size);
            } else if fate.is_drop() {
                filled.dropped.push(level + size);
            }
        }
    }

    fn levels(&self, rate_bps: f64) -> impl Iterator<Item = f64> {
        let bytes_each_second = rate_bps / 8.0;
        self.levels_of(move |time| time * bytes_each_second)
    }

    /// The bytes in a bucket just before each packet; `drained`: what it can drain until a time.
    fn levels_of(&self, drained: impl Fn(f64) -> f64) -> impl Iterator<Item = f64> {
        let mut least = f64::INFINITY;
        self.time_s.iter().zip(&self.before).map(move |(time, before)| {
            let work = before - drained(*time);
            if work < least {
                least = work;
            }
            work - least
        })
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
        assert_eq!(packets.fullness_at(8.0, &[1, 2, 4]), [9.0, 16.0, 9.0]);
        let filled = packets.filled(8.0);
        assert_eq!((filled.passed, filled.dropped), (vec![10.0, 19.0, 19.0], vec![26.0]));
    }

    #[test]
    fn a_queue_drains_at_another_rate_from_a_time_on() {
        let packets =
            Packets::new(vec![0.0, 1.0, 4.0, 9.0], vec![10.0; 4], vec![PASSED, PASSED, DROPPED, PASSED]);
        // A byte a second until the fifth, then two.
        let change = Change { at_s: 5.0, before_bps: 8.0, after_bps: 16.0 };
        // The second has 9 bytes before it: 4 drain until the change, 15 afterwards. The last has 20 - 13.
        assert_eq!(packets.waits_at(change, &[0, 1, 3]), [5.0 + 2.5, 4.0 + 7.5, 8.5]);
    }

    proptest! {
        #[test]
        fn one_rate_is_a_change_between_equal_rates(
            gaps_and_sizes in proptest::collection::vec((0..9_u8, 1..40_u8), 1..100),
            at in 0..60_u8,
        ) {
            let mut time = 0.0;
            let times: Vec<f64> = gaps_and_sizes.iter().map(|(gap, _)| { time += f64::from(*gap); time }).collect();
            let sizes: Vec<f64> = gaps_and_sizes.iter().map(|(_, size)| f64::from(*size)).collect();
            let packets = Packets::new(times, sizes.clone(), vec![PASSED; sizes.len()]);
            let places: Vec<usize> = (0..sizes.len()).collect();
            let change = Change { at_s: f64::from(at), before_bps: 32.0, after_bps: 32.0 };
            let waits = packets.waits_at(change, &places);
            for ((wait, level), size) in waits.into_iter().zip(packets.fullness(32.0)).zip(sizes) {
                prop_assert!((wait - (level + size) / 4.0).abs() < 1e-9, "{} {} {}", wait, level, size);
            }
        }

        #[test]
        fn the_best_rates_are_those_of_each_alone(
            packets in proptest::collection::vec((0..4_u8, 0..3_u8), 1..400),
            rates in proptest::collection::vec(1..60_u8, 1..20),
            best in 1..5_usize,
        ) {
            let mut time = 0.0;
            let times = packets.iter().map(|(gap, _)| { time += f64::from(*gap); time }).collect();
            let fate = packets.iter().map(|(_, fate)| [PASSED, DROPPED, UNKNOWN][usize::from(*fate)]).collect();
            let packets = Packets::new(times, vec![3.0; packets.len()], fate);
            let rates: Vec<f64> = rates.into_iter().map(f64::from).collect();
            let alone: Vec<usize> = rates.iter().map(|rate| packets.filled(*rate).fewest_wrong()).collect();
            let mut ordered = alone.clone();
            ordered.sort_unstable();
            let last = ordered[best.min(ordered.len()) - 1];
            for (found, right) in packets.fewest_wrong(&rates, best).into_iter().zip(alone) {
                let told = if right <= last { found == right } else { last < found && found <= right };
                prop_assert!(told, "{} is told as {}; the best have at most {}", right, found, last);
            }
        }
    }
}
