//! How long some packets wait in a queue of a rate, beside their round trips.
//!
//! A packet waits for what is in the queue before it, less what a shaper lets pass at once:
//!
//! ```text
//! round trip = base + max(0, wait - allowance) + noise
//! ```

use crate::bucket::Packets;

/// Allowances that are tried first, as shares of the longest wait, and the step from which they are refined.
const SHARES: [f64; 12] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95];
const STEP: f64 = 0.05;

/// Some packets of a replay, with their round trips.
#[derive(Clone, Debug)]
pub struct Waits {
    /// Time in seconds, and bytes that passed before: of the packets at which the queue can be least full, and of
    /// the others none. Those up to each packet that is looked at are behind one another.
    least: Vec<(f64, f64)>,
    /// Of each packet that is looked at: where its part of `least` ends, its time, what passed before, its size.
    packets: Vec<(usize, f64, f64, f64)>,
    trip_s: Vec<f64>,
}

/// How far waits in a queue explain round trips.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Residual {
    /// Mean absolute residual in seconds, the least of all allowances.
    pub left_s: f64,
    /// What passes before any packet waits, in seconds of the queue's rate.
    pub allowance_s: f64,
    /// The round trip of a packet that does not wait, in seconds.
    pub base_s: f64,
}

impl Waits {
    /// The packets at these places, which rise, with the round trip of each in seconds.
    ///
    /// Between two of them the queue is least full, at whatever rate, at a corner of the lower hull of what passed
    /// over time, so the other packets need not be looked at again.
    #[must_use]
    pub fn new(packets: &Packets, places: &[usize], trip_s: Vec<f64>) -> Waits {
        let (mut least, mut some) = (Vec::new(), Vec::with_capacity(places.len()));
        let mut begin = 0;
        for place in places {
            let first = least.len();
            for (time, before, _) in packets.some(begin..place + 1) {
                while least.len() >= first + 2 && !turns(&least[least.len() - 2..], (time, before)) {
                    least.pop();
                }
                least.push((time, before));
            }
            begin = place + 1;
            some.extend(
                packets.some(*place..begin).map(|(time, before, size)| (least.len(), time, before, size)),
            );
        }
        Waits { least, packets: some, trip_s }
    }

    /// How long each packet waits, and is sent, in a queue of this rate, in seconds.
    #[must_use]
    pub fn at(&self, rate_bps: f64) -> Vec<f64> {
        let bytes_each_second = -rate_bps / 8.0;
        let work = |time: f64, before: f64| time * bytes_each_second + before;
        let (mut least, mut begin) = (f64::INFINITY, 0);
        let wait = |(end, time, before, size): &(usize, f64, f64, f64)| {
            least = self.least[begin..*end].iter().fold(least, |least, each| least.min(work(each.0, each.1)));
            begin = *end;
            (work(*time, *before) - least + size) * (8.0 / rate_bps)
        };
        self.packets.iter().map(wait).collect()
    }

    /// How far a queue of this rate explains the round trips; allowances are searched down to `finest`, as a share
    /// of the longest wait. `None` without packets.
    #[must_use]
    pub fn residual(&self, rate_bps: f64, finest: f64) -> Option<Residual> {
        let waits = self.at(rate_bps);
        let top = waits.iter().copied().reduce(f64::max)?;
        let mut left = vec![0.0; waits.len()];
        let mut keys = vec![0; waits.len()];
        let mut residual = |allowance_s: f64| {
            for (((rest, key), wait), trip) in left.iter_mut().zip(&mut keys).zip(&waits).zip(&self.trip_s) {
                *rest = trip - (wait - allowance_s).max(0.0);
                *key = key_of(*rest);
            }
            let base_s = of_key(*keys.select_nth_unstable(left.len() / 2).1);
            let sum: f64 = left.iter().map(|each| (each - base_s).abs()).sum();
            Residual { left_s: sum / left.len() as f64, allowance_s, base_s }
        };
        let better = |one: Residual, other: Residual| if other < one { other } else { one };
        let mut best = SHARES.iter().map(|share| residual(share * top)).reduce(better)?;
        let mut step = STEP * top;
        while step > finest * top {
            for allowance in [best.allowance_s - step, best.allowance_s + step] {
                if allowance >= 0.0 {
                    best = better(best, residual(allowance));
                }
            }
            step /= 2.0;
        }
        Some(best)
    }
}

/// A whole number in the order of `f64::total_cmp`: to order them takes half the time.
fn key_of(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// What [`key_of`] was given.
fn of_key(key: i64) -> f64 {
    f64::from_bits((key ^ ((key >> 63).cast_unsigned() >> 1).cast_signed()).cast_unsigned())
}

/// Whether the way over the last two points to the next one turns upwards, as a lower hull does.
fn turns(last: &[(f64, f64)], next: (f64, f64)) -> bool {
    let [(time, before), (later, more)] = [last[0], last[1]];
    (later - time) * (next.1 - before) > (next.0 - time) * (more - before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bucket::Fate;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn waits_are_those_of_the_replay(
            packets in proptest::collection::vec((0..100_u8, 1..20_u8, any::<bool>(), any::<bool>()), 1..100),
            rate in 1..400_u16,
        ) {
            let mut time = 0.0;
            let times: Vec<f64> = packets.iter().map(|each| { time += f64::from(each.0); time }).collect();
            let sizes: Vec<f64> = packets.iter().map(|each| f64::from(each.1)).collect();
            let fate = packets.iter().map(|each| Fate { passed: each.2, judged: true }).collect();
            let places: Vec<usize> = (0..packets.len()).filter(|place| packets[*place].3).collect();
            let rate = f64::from(rate);
            let whole = Packets::new(times, sizes.clone(), fate);
            let waits = Waits::new(&whole, &places, vec![0.0; places.len()]).at(rate);
            for ((place, level), wait) in places.iter().zip(whole.fullness_at(rate, &places)).zip(waits) {
                let right = (level + sizes[*place]) * 8.0 / rate;
                prop_assert!((wait - right).abs() < 1e-9, "{} is told as {}", right, wait);
            }
        }
    }

    proptest! {
        #[test]
        fn keys_have_the_order_of_their_numbers(one: f64, other: f64) {
            prop_assert_eq!(of_key(key_of(one)).to_bits(), one.to_bits());
            prop_assert_eq!(key_of(one).cmp(&key_of(other)), one.total_cmp(&other));
        }
    }

    #[test]
    fn a_shaper_lets_its_burst_pass_at_once() {
        // A byte a second; 20 packets of 10 bytes at once, of which the first three pass without a wait.
        let fate = vec![Fate { passed: true, judged: true }; 20];
        let packets = Packets::new(vec![0.0; 20], vec![10.0; 20], fate);
        let trips = (1..=20).map(|count| 5.0 + f64::from(10 * count - 30).max(0.0)).collect();
        let places: Vec<usize> = (0..20).collect();
        let found = Waits::new(&packets, &places, trips).residual(8.0, 1e-6).expect("there are packets");
        assert!(found.left_s < 1e-3, "{found:?}");
        assert!((found.allowance_s - 30.0).abs() < 1e-2 && (found.base_s - 5.0).abs() < 1e-2, "{found:?}");
    }
}
