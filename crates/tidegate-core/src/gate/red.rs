//! Random early detection (RED; Floyd and Jacobson 1993, "FJ"): a unit that arrives is marked or dropped with a probability
//! that follows the average length of the queue. `gentle` is Floyd's change of 2000, `adaptive` is of Floyd, Gummadi and
//! Shenker 2001 ("FGS").
//!
//! Units of different colours may have thresholds of their own: all look at one average, and each colour counts what it lets
//! through by itself (weighted RED: Cisco IOS, "Congestion Avoidance Overview"; Linux `sch_gred`).
//!
//! All of it is certain when a unit arrives, so a gate states its departure then. Averages are whole numbers of 10⁻¹²
//! packets or bytes and probabilities of 10⁻¹⁸; both are rounded towards zero.

use rand::RngExt;

use super::backlog::Backlog;
use super::drops::DropReason;
use super::waiting::control::ONE;
use crate::plan::{RedAdaptivePlan, RedCurve, RedPlan};
use crate::random::Stream;
use crate::unit::{Colour, Ecn, Unit};
use crate::units::Time;

/// A packet, or a byte, of an average.
const WHOLE: i128 = 1_000_000_000_000;
/// A weight of 1.
const WEIGHTS: i128 = 1_000_000_000;

/// The state of RED.
#[derive(Clone, Debug)]
pub(super) struct Red {
    plan: RedPlan,
    stream: Stream,
    /// The average length of the queue.
    average: i128,
    /// Units let through since the last that was struck; `None` below the lower threshold (FJ, `count` of -1). By colour,
    /// where colours have thresholds of their own.
    counts: [Option<u64>; 3],
    /// The greatest probability below the upper threshold (FJ, `max_p`).
    max_p: u64,
    /// The probability that the last unit was judged by, before drops are spread (FJ, `p_b`).
    probability: u64,
    next_update: Time,
    /// Since when the server is idle, if it is, and its time is not in the average yet.
    idle_since: Time,
}

/// The decision on a unit by the average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passes,
    Struck,
    /// The average is above all thresholds.
    Forced,
}

impl Red {
    pub(super) fn new(plan: RedPlan, stream: Stream) -> Red {
        Red {
            plan,
            stream,
            average: 0,
            counts: [None; 3],
            max_p: plan.max_p,
            probability: 0,
            next_update: plan.adaptive.map_or(Time::NEVER, |adaptive| Time::ZERO + adaptive.interval),
            idle_since: Time::ZERO,
        }
    }

    /// Whether a unit that arrives at `at` is marked. It finds `found` in the queue, and the server idle or not.
    ///
    /// # Errors
    /// It is dropped.
    pub(super) fn judge(
        &mut self,
        at: Time,
        (found, idle): (Backlog, bool),
        unit: &Unit,
    ) -> Result<bool, DropReason> {
        self.adapt_until(at, idle);
        self.average = if idle {
            self.after_idle(at)
        } else {
            let queue = if self.plan.in_bytes { found.bytes } else { found.units };
            self.average + (i128::from(queue) * WHOLE - self.average) * i128::from(self.plan.weight) / WEIGHTS
        };
        if idle {
            // Its time is in the average now, whatever becomes of the unit.
            self.idle_since = at;
        }
        let may_mark = unit.ecn() != Ecn::NotEct;
        match self.verdict(unit.bytes, unit.colour()) {
            Verdict::Passes => Ok(false),
            // Above all thresholds ECN-capable units are dropped too (RFC 3168 §7).
            Verdict::Forced if self.plan.hard_drop => Err(DropReason::Early),
            Verdict::Struck | Verdict::Forced if may_mark => Ok(true),
            Verdict::Struck | Verdict::Forced => Err(DropReason::Early),
        }
    }

    /// The last service ends at `end`.
    pub(super) fn note_end(&mut self, end: Time) {
        self.idle_since = end;
    }

    /// The probability that the last unit was judged by, in 10⁻¹⁸.
    pub(super) fn probability(&self) -> u64 {
        self.probability
    }

    /// The average at `at`, with the server idle until then: as if so many units had come as the server could have sent,
    /// and each had found the queue empty (FJ, `avg <- (1-w_q)^m avg`). Gaps shorter than a packet count too: a server that
    /// is never idle for as long as a packet takes would otherwise keep its average for ever.
    fn after_idle(&self, at: Time) -> i128 {
        let idle = at.saturating_since(self.idle_since).picos();
        let packet_time = self.plan.packet_time.picos().max(1);
        let (units, left) = (idle / packet_time, idle % packet_time);
        // FJ's m is a number of packets that need not be whole: of the last one only the part that fits counts.
        let part = u128::from(left) * u128::from(ONE) / u128::from(packet_time);
        let falls = part * u128::from(self.plan.weight) / WEIGHTS as u128;
        let keeps = power(WEIGHTS as u64 - u64::from(self.plan.weight), units);
        let keeps = (u128::from(keeps) * (u128::from(ONE) - falls) / u128::from(ONE)) as u64;
        // The average is below 2^64 × 10^12, so this is in two steps.
        let (whole, rest) = (self.average / i128::from(ONE), self.average % i128::from(ONE));
        whole * i128::from(keeps) + rest * i128::from(keeps) / i128::from(ONE)
    }

    /// Judges a unit by the average as it is now, and counts.
    fn verdict(&mut self, bytes: u32, colour: Colour) -> Verdict {
        let RedPlan { min, max, gentle, colours, .. } = self.plan;
        let own = colours[colour as usize];
        let RedCurve { min, max, max_p } = own.unwrap_or(RedCurve { min, max, max_p: self.max_p });
        // Those without thresholds of their own count together.
        let counts = if own.is_some() {
            colour as usize
        } else {
            colours.iter().position(Option::is_none).unwrap_or(0)
        };
        let (low, high) = (i128::from(min) * WHOLE, i128::from(max) * WHOLE);
        let over = |threshold: i128| (self.average - threshold) as u128;
        let share = |part: u128, of: u64, whole: i128| scaled(part, of, whole as u128);
        let base = match self.average {
            average if average < low => None,
            average if average < high => Some(share(over(low), max_p, high - low)),
            average if gentle && average < 2 * high => Some(max_p + share(over(high), ONE - max_p, high)),
            _ => {
                self.probability = ONE;
                self.counts[counts] = Some(0);
                return Verdict::Forced;
            }
        };
        let Some(base) = base else {
            self.probability = 0;
            self.counts[counts] = None;
            return Verdict::Passes;
        };
        self.probability = base;
        let base = match self.plan.by_size {
            // A large packet is struck more often than a small one (FJ, byte mode).
            Some(mean) => {
                (u128::from(base) * u128::from(bytes) / u128::from(mean.max(1))).min(u128::from(ONE)) as u64
            }
            None => base,
        };
        let count = self.counts[counts].map_or(0, |count| count + 1);
        let strikes = self.strikes(base, count);
        self.counts[counts] = Some(if strikes { 0 } else { count });
        if strikes { Verdict::Struck } else { Verdict::Passes }
    }

    /// Whether a unit is struck that comes as the `count`-th since the last (FJ: with `p_b / (1 - count p_b)`, so that the
    /// units between two that are struck are as many as any other number).
    fn strikes(&mut self, base: u64, count: u64) -> bool {
        let drawn = u128::from(self.stream.random_range(0..ONE));
        let (base, one) = (u128::from(base), u128::from(ONE));
        let gathered = base * u128::from(count);
        if !self.plan.wait {
            return gathered >= one || drawn * (one - gathered) < base * one;
        }
        // From 1/p to 2/p units apart, as in ns-2.
        gathered >= one && (gathered >= 2 * one || drawn * (2 * one - gathered) < base * one)
    }

    /// Adapts `max_p` at every multiple of the interval until `at` (FGS §4, figure 2).
    fn adapt_until(&mut self, at: Time, idle: bool) {
        let Some(plan) = self.plan.adaptive else { return };
        while self.next_update <= at {
            let now = self.next_update;
            let average = if idle && now > self.idle_since { self.after_idle(now) } else { self.average };
            let before = self.max_p;
            self.adapt(plan, average);
            // Long after the last unit nothing changes any more.
            let settled = average == 0 && before == self.max_p;
            let every = plan.interval.picos().max(1);
            self.next_update = if settled {
                Time::from_picos((at.picos() / every).saturating_add(1).saturating_mul(every))
            } else {
                now.saturating_add(plan.interval)
            };
        }
    }

    fn adapt(&mut self, plan: RedAdaptivePlan, average: i128) {
        let (low, high) = (i128::from(self.plan.min) * WHOLE, i128::from(self.plan.max) * WHOLE);
        let target = |part: u32| low + (high - low) * i128::from(part) / 1_000_000;
        if average > target(plan.target_high) && self.max_p <= plan.most {
            self.max_p = (self.max_p + plan.increase.min(self.max_p / 4)).min(ONE);
        } else if average < target(plan.target_low) && self.max_p >= plan.least {
            self.max_p = (u128::from(self.max_p) * u128::from(plan.decrease) / u128::from(ONE)) as u64;
        }
    }
}

/// `of` × `part` / `whole`, where `part` is not more than `whole`.
fn scaled(part: u128, of: u64, whole: u128) -> u64 {
    // Up to 2^64 × 10^12 each: what is too long is cut off at the end, at both alike.
    let cut = (128 - whole.leading_zeros()).saturating_sub(66);
    ((part >> cut) * u128::from(of) / (whole >> cut).max(1)) as u64
}

/// A share of 10⁻⁹ to the power of `times`, in 10⁻¹⁸.
fn power(share: u64, mut times: u64) -> u64 {
    let product = |one: u64, other: u64| (u128::from(one) * u128::from(other) / u128::from(ONE)) as u64;
    let (mut base, mut result) = (share * (ONE / WEIGHTS as u64), ONE);
    while times > 0 && result > 0 {
        if times & 1 == 1 {
            result = product(result, base);
        }
        base = product(base, base);
        times >>= 1;
    }
    result
}

#[cfg(test)]
mod tests;
