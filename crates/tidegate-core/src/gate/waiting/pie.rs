//! The proportional integral controller, enhanced (PIE, RFC 8033): a unit that arrives is dropped with a probability that a
//! controller sets every 15 ms, from how far the delay is from a target and how it changes.
//!
//! The delay is how long the first unit of the queue has waited (RFC 8033 §4.3, timestamps), so no rate is estimated
//! (§5.2) and a rate that changes is no exception. Probabilities are whole numbers of 10⁻¹⁸, rounded towards zero where the
//! auto-tuning divides a step.
//!
//! DEVIATION: it is always active; RFC 8033 §5.3 may turn it off while less than a third of the queue is full.
//!
//! DEVIATION: with no more than two of the largest units so far in the queue nothing is dropped. RFC 8033 §4.1 says two of
//! `MEAN_PKTSIZE`, a constant; Linux takes the link's MTU.

use rand::RngExt;

use super::control::{ONE, add, step};
use super::line::{Line, Waiter};
use crate::gate::drops::DropReason;
use crate::plan::PiePlan;
use crate::random::Stream;
use crate::unit::{Ecn, Unit};
use crate::units::{Span, Time};

/// A queue under PIE.
#[derive(Clone, Debug)]
pub(in crate::gate) struct PieQueue {
    plan: PiePlan,
    pub(super) line: Line,
    stream: Stream,
    /// The drop probability, in 10⁻¹⁸.
    probability: u64,
    /// The delay at the last update.
    before: Span,
    /// For so long nothing is dropped.
    burst: Span,
    /// Probabilities since the last drop (§5.4).
    gathered: u64,
    next_update: Time,
    /// IP bytes of the largest unit so far.
    largest: u64,
}

impl PieQueue {
    pub(super) fn new(plan: PiePlan, stream: Stream) -> PieQueue {
        PieQueue {
            plan,
            line: Line::default(),
            stream,
            probability: 0,
            before: Span::ZERO,
            burst: plan.max_burst,
            gathered: 0,
            next_update: Time::ZERO.saturating_add(plan.update),
            largest: 0,
        }
    }

    /// Whether a unit that arrives at `at` is to be marked (RFC 8033 §4.1, `drop_early`).
    ///
    /// # Errors
    /// It is dropped.
    #[inline]
    pub(super) fn admit(&mut self, at: Time, unit: &Unit) -> Result<bool, DropReason> {
        self.update_until(at);
        self.largest = self.largest.max(u64::from(unit.bytes));
        if self.burst > Span::ZERO || !self.strikes() {
            return Ok(false);
        }
        // Above the threshold ECN-capable units are dropped too (§5.1).
        let may_mark = unit.ecn() != Ecn::NotEct && self.probability <= self.plan.mark_below;
        if may_mark { Ok(true) } else { Err(DropReason::Early) }
    }

    #[inline]
    pub(super) fn push(&mut self, waiter: Waiter) {
        self.line.push(waiter);
    }

    /// The next unit, at `now`.
    #[inline]
    pub(super) fn pop(&mut self, now: Time) -> Option<Waiter> {
        self.update_until(now);
        self.line.pop()
    }

    pub(super) fn probability(&self) -> u64 {
        self.probability
    }

    /// Whether this unit is to be dropped or marked.
    fn strikes(&mut self) -> bool {
        let calm = self.before < half(self.plan.target) && self.probability < ONE / 5;
        if calm || self.line.backlog().bytes <= 2 * self.largest {
            return false;
        }
        if self.plan.derandomize {
            // Neither two in quick succession nor none for long (§5.4).
            if self.probability == 0 {
                self.gathered = 0;
            }
            self.gathered = self.gathered.saturating_add(self.probability);
            if self.gathered < ONE / 100 * 85 {
                return false;
            }
        }
        let forced = self.plan.derandomize && self.gathered >= ONE / 10 * 85;
        let strikes = forced || self.stream.random_range(0..ONE) < self.probability;
        if strikes {
            self.gathered = 0;
        }
        strikes
    }

    /// Updates the probability at every multiple of the interval until `now`. Between two events the queue stays as it is.
    #[inline]
    fn update_until(&mut self, now: Time) {
        if self.next_update <= now {
            self.update_all_until(now);
        }
    }

    #[cold]
    fn update_all_until(&mut self, now: Time) {
        while self.next_update <= now {
            let at = self.next_update;
            let delay = self.line.first().map_or(Span::ZERO, |first| first.sojourn(at));
            let idle = self.line.is_empty() && self.probability == 0 && self.before == Span::ZERO;
            self.update(delay);
            let interval = self.plan.update.picos().max(1);
            self.next_update = if idle && self.burst == self.plan.max_burst {
                // Nothing changes before the next unit comes: straight to the first update after `now`.
                Time::from_picos((now.picos() / interval).saturating_add(1).saturating_mul(interval))
            } else {
                at.saturating_add(self.plan.update)
            };
        }
    }

    /// Sets the probability anew (§4.2, §5.5) and the time in which bursts pass (§4.4).
    fn update(&mut self, delay: Span) {
        let PiePlan { target, alpha, beta, cap, update, max_burst, .. } = self.plan;
        let mut change = step((alpha, beta), target, self.before, delay) / divisor(self.probability);
        if cap && self.probability >= ONE / 10 {
            change = change.min(i128::from(ONE / 50));
        }
        self.probability = add(self.probability, change);
        if delay == Span::ZERO && self.before == Span::ZERO {
            self.probability = (u128::from(self.probability) * 98 / 100) as u64;
        }
        self.burst = Span::from_picos(self.burst.picos().saturating_sub(update.picos()));
        if self.probability == 0 && delay.max(self.before) < half(target) {
            self.burst = max_burst;
        }
        self.before = delay;
    }
}

fn half(target: Span) -> Span {
    Span::from_picos(target.picos() / 2)
}

/// By how much a step is reduced while the probability is small (§4.2).
fn divisor(probability: u64) -> i128 {
    let below = |one_in: u64| probability < ONE / one_in;
    match () {
        () if below(1_000_000) => 2048,
        () if below(100_000) => 512,
        () if below(10_000) => 128,
        () if below(1_000) => 32,
        () if below(100) => 8,
        () if below(10) => 2,
        () => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;
    use crate::unit::HeldBy;

    fn queue(plan: PiePlan) -> PieQueue {
        PieQueue::new(plan, Seed { seed: 1, replication: 0 }.stream("gate.link/aqm"))
    }

    fn unit(ecn: Ecn) -> Unit {
        let mut unit = Unit::new(1000, 0, HeldBy::Application);
        unit.set_ecn(ecn);
        unit
    }

    fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    /// By hand: 0.125 (q − 15 ms) + 1.25 (q − q before), divided by 2048, 512, … while p is small.
    #[test]
    fn the_probability_step_by_step() {
        let mut pie = queue(PiePlan::DEFAULT);
        let mut seen = vec![];
        for delay in [30, 30, 60, 60, 100, 400, 2000, 2000] {
            pie.update(ms(delay));
            seen.push(pie.probability);
        }
        let micro = 1_000_000_000_000;
        // 0.125 × 15 ms + 1.25 × 30 ms = 0.039375, over 2048.
        let first = 39_375_000_000_000_000 / 2048;
        // p is 19.2 millionths: 0.001875 over 128; then 0.005625 + 0.0375 over 128.
        let second = first + 1_875_000_000_000_000 / 128;
        let third = second + 43_125_000_000_000_000 / 128;
        // 0.37 thousandths: 0.005625 over 32; then 0.010625 + 0.05 over 32.
        let fourth = third + 5_625_000_000_000_000 / 32;
        let fifth = fourth + 60_625_000_000_000_000 / 32;
        // 2.4 thousandths: 0.048125 + 0.375 over 8.
        let sixth = fifth + 423_125_000_000_000_000 / 8;
        // 0.055: 0.248125 + 2.0 over 2 is held at 1; then steps of 0.02 at most, which 1 holds.
        assert_eq!(seen, [first, second, third, fourth, fifth, sixth, ONE, ONE]);
        assert!(first / micro == 19 && fifth / micro == 2441, "{seen:?}");
        // Without delay: 1 − 0.125 × 0.015 − 1.25 × 2; then it decays.
        pie.update(Span::ZERO);
        assert_eq!(pie.probability, 0);
    }

    /// No step above 0.02 where p is 0.1 or more; without the cap it is 0.060625.
    #[test]
    fn steps_are_capped() {
        for (cap, expected) in [(true, 220), (false, 260)] {
            let mut pie = queue(PiePlan { cap, ..PiePlan::DEFAULT });
            pie.probability = ONE / 5;
            pie.before = ms(60);
            // 0.125 × 85 ms + 1.25 × 40 ms = 0.060625.
            pie.update(ms(100));
            assert_eq!(pie.probability / (ONE / 1000), expected);
        }
    }

    #[test]
    fn it_decays_by_a_fiftieth_without_delay() {
        let mut pie = queue(PiePlan { alpha: 0, beta: 0, ..PiePlan::DEFAULT });
        pie.probability = ONE / 2;
        pie.update(Span::ZERO);
        assert_eq!(pie.probability, ONE / 100 * 49);
    }

    /// The first 150 ms nothing is dropped. After that, every unit at probability 1; with ECN it is marked only while p is
    /// at most 0.1.
    #[test]
    fn bursts_pass_and_marks_stop_at_a_tenth() {
        let mut pie = queue(PiePlan { alpha: 0, beta: 0, derandomize: false, ..PiePlan::DEFAULT });
        (0..10).for_each(|_| pie.push(Waiter { arrival: Time::ZERO, unit: unit(Ecn::NotEct) }));
        pie.probability = ONE;
        let at = |millis: u64| Time::ZERO + ms(millis);
        assert_eq!(pie.admit(at(149), &unit(Ecn::NotEct)), Ok(false));
        assert_eq!(pie.admit(at(150), &unit(Ecn::NotEct)), Err(DropReason::Early));
        assert_eq!(pie.admit(at(150), &unit(Ecn::Ect0)), Err(DropReason::Early));
        pie.plan.mark_below = ONE;
        assert_eq!(pie.admit(at(150), &unit(Ecn::Ect0)), Ok(true));
    }

    /// With p = 0.1 a drop comes after the ninth unit at the earliest, and about every tenth: the chances begin there.
    #[test]
    fn drops_are_apart() {
        let mut pie = queue(PiePlan { alpha: 0, beta: 0, max_burst: Span::ZERO, ..PiePlan::DEFAULT });
        (0..10).for_each(|_| pie.push(Waiter { arrival: Time::ZERO, unit: unit(Ecn::NotEct) }));
        pie.probability = ONE / 10;
        pie.before = ms(20);
        let mut gaps = vec![0u32];
        for _ in 0..10_000 {
            *gaps.last_mut().expect("one") += 1;
            if pie.admit(Time::ZERO, &unit(Ecn::NotEct)).is_err() {
                gaps.push(0);
            }
        }
        gaps.pop();
        assert!(gaps.iter().all(|gap| (9..=85).contains(gap)), "{gaps:?}");
        // 8 that are safe, and 10 more on average.
        assert!((500..620).contains(&gaps.len()), "{}", gaps.len());
    }
}
