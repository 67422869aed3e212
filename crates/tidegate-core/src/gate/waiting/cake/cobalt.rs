//! COBALT (CoDel and BLUE alternate; Høiland-Jørgensen, Täht and Morton 2018; Linux `sch_cake`). CoDel drops ever more often
//! while a queue's delay is above a target. BLUE drops by chance, for flows that do not react to CoDel: its probability grows
//! whenever the queue overflows and shrinks whenever it is found empty.
//!
//! CoDel has one state here: `count` rises with each signal while the delay is above the target, and falls by itself at the
//! times of the same schedule while it is below.
//!
//! Times are whole picoseconds; interval/√n is rounded down to one, exactly. Linux approximates the root from n = 16 on.
//!
//! DEVIATION: in Linux the first interval of a queue that was never above its target lasts no time, because the root that it
//! multiplies with is zero before the first signal. Here it is an interval, which is what the text of `sch_cake` says.

use rand::RngExt;

use crate::gate::waiting::codel::{capable, control_law};
use crate::gate::waiting::control::ONE;
use crate::gate::waiting::line::Waiter;
use crate::plan::CobaltPlan;
use crate::random::Stream;
use crate::units::Time;

/// COBALT's decision on a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// It is dropped, unless it is the last of its queue.
    pub(super) dropped: bool,
    /// It is marked, if it goes on.
    pub(super) marked: bool,
}

/// The state of one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Cobalt {
    /// Signals of CoDel, less those that have been forgotten.
    count: u64,
    /// When the next signal is due; without signals, until when the queue counts as busy.
    drop_next: Time,
    /// The delay was above the target.
    dropping: bool,
    /// BLUE's probability in 10⁻¹⁸.
    probability: u64,
    /// When it changed last.
    changed: Option<Time>,
}

impl Cobalt {
    /// The queue overflowed, and its first unit was dropped (`cobalt_queue_full`).
    pub(super) fn note_overflow(&mut self, plan: &CobaltPlan, now: Time) {
        if self.may_change(plan, now) {
            self.probability = self.probability.saturating_add(plan.increment).min(ONE);
            self.changed = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue was to be served and was empty (`cobalt_queue_empty`).
    pub(super) fn note_empty(&mut self, plan: &CobaltPlan, now: Time) {
        if self.probability > 0 && self.may_change(plan, now) {
            self.probability = self.probability.saturating_sub(plan.decrement);
            self.changed = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.forget(plan);
        }
    }

    /// Whether the queue, when empty, still has something to forget.
    pub(super) fn is_busy(&self, now: Time) -> bool {
        self.probability > 0 || self.count > 0 || now < self.drop_next
    }

    /// The decision on a unit that would be served at `now` (`cobalt_should_drop`). `stream` is drawn from only while BLUE's
    /// probability is above zero.
    pub(super) fn judge(
        &mut self,
        plan: &CobaltPlan,
        now: Time,
        waiter: &Waiter,
        stream: &mut Stream,
    ) -> Verdict {
        let sojourn = waiter.sojourn(now);
        let is_due = self.count > 0 && now >= self.drop_next;
        let mut late = now > self.drop_next;
        // The time of four packets is not yet a queue.
        if sojourn > plan.target && sojourn > plan.packet_time.saturating_mul(4) {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = control_law(plan.interval, now, self.count);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let (mut dropped, mut marked) = (false, false);
        if is_due && self.dropping {
            marked = capable(waiter);
            dropped = !marked;
            self.count += 1;
            self.drop_next = control_law(plan.interval, self.drop_next, self.count);
            late = now > self.drop_next;
        } else if is_due {
            while self.count > 0 && now >= self.drop_next {
                self.forget(plan);
            }
            late = now > self.drop_next;
        }
        // An ECN-capable unit is dropped too: BLUE is for flows that do not react.
        if self.probability > 0 {
            dropped |= stream.random_range(0..ONE) < self.probability;
        }
        if self.count == 0 {
            self.drop_next = now.saturating_add(plan.interval);
        } else if late && !dropped {
            self.drop_next = now;
        }
        Verdict { dropped, marked }
    }

    /// BLUE's probability in 10⁻¹⁸.
    #[cfg(test)]
    pub(super) fn probability(&self) -> u64 {
        self.probability
    }

    /// One signal less.
    fn forget(&mut self, plan: &CobaltPlan) {
        self.count -= 1;
        self.drop_next = control_law(plan.interval, self.drop_next, self.count);
    }

    /// BLUE's probability changes once in a target at most.
    fn may_change(&self, plan: &CobaltPlan, now: Time) -> bool {
        self.changed.is_none_or(|changed| now.saturating_since(changed) > plan.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{CakePlan, Framing};
    use crate::random::Seed;
    use crate::unit::{Ecn, HeldBy, Unit};
    use crate::units::{Rate, Span};

    fn micros(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    fn plan() -> CobaltPlan {
        CakePlan::default_for(Framing::Ip).tin(None).cobalt
    }

    fn stream() -> Stream {
        Seed { seed: 1, replication: 0 }.stream("gate.link/aqm.bulk")
    }

    fn waiter(arrival: Time, ecn: Ecn) -> Waiter {
        let mut unit = Unit::new(1000, 0, HeldBy::Application);
        unit.set_ecn(ecn);
        Waiter { arrival, unit }
    }

    const PASSES: Verdict = Verdict { dropped: false, marked: false };
    const DROPPED: Verdict = Verdict { dropped: true, marked: false };
    const MARKED: Verdict = Verdict { dropped: false, marked: true };

    /// A queue whose delay is 1 ms until 10 ms, and 6 ms from then on; a unit each 100 µs. The delay is above the target for
    /// the first time at 10 ms, so the first signal is due at 110 ms. Then the count is 2, and the next is 100/√2 ms later,
    /// at 180.71 ms: the unit at 180.8 ms. Then 100/√3, 100/√4 and 100/√5 ms: due at 238.45, 288.45 and 333.17 ms.
    #[test]
    fn signals_come_closer_with_the_square_root_of_their_number() {
        for (ecn, signal) in [(Ecn::NotEct, DROPPED), (Ecn::Ect0, MARKED), (Ecn::Ect1, MARKED)] {
            let (mut cobalt, mut stream) = (Cobalt::default(), stream());
            let mut signals = vec![];
            for tick in 20..3400 {
                let now = micros(100 * tick);
                let delay = Span::from_micros(if tick < 100 { 1000 } else { 6000 });
                let arrival = Time::from_picos(now.picos().saturating_sub(delay.picos()));
                let verdict = cobalt.judge(&plan(), now, &waiter(arrival, ecn), &mut stream);
                if verdict != PASSES {
                    assert_eq!(verdict, signal);
                    signals.push(100 * tick);
                }
            }
            assert_eq!(signals, [110_000, 180_800, 238_500, 288_500, 333_200]);
            assert_eq!(cobalt.count, 6);
        }
    }

    /// After two signals, at 110 and 180.8 ms, the delay is below the target again. The count of 3 falls at the next due
    /// time, 238.45 ms, to 2; 70.71 ms later, at 309.16 ms, to 1; an interval later, at 409.16 ms, to none.
    #[test]
    fn signals_are_forgotten_at_the_times_of_the_schedule() {
        let (mut cobalt, mut stream) = (Cobalt::default(), stream());
        let mut falls = vec![];
        for tick in 20..5000 {
            let now = micros(100 * tick);
            let delay = Span::from_micros(if (100..2000).contains(&tick) { 6000 } else { 1000 });
            let arrival = Time::from_picos(now.picos() - delay.picos());
            let before = cobalt.count;
            cobalt.judge(&plan(), now, &waiter(arrival, Ecn::NotEct), &mut stream);
            if cobalt.count < before {
                falls.push((100 * tick, cobalt.count));
            }
        }
        assert_eq!(falls, [(238_500, 2), (309_200, 1), (409_200, 0)]);
        assert!(!cobalt.is_busy(micros(600_000)) && cobalt.is_busy(micros(599_000)));
    }

    /// The time of four packets is no queue: at 1 Mbit/s a packet of 1514 bytes takes 12.112 ms.
    #[test]
    fn four_packets_may_wait() {
        let cake =
            CakePlan { bandwidth: Some(Rate::from_bps(1_000_000)), ..CakePlan::default_for(Framing::Ip) };
        let plan = cake.tin(cake.bandwidth).cobalt;
        for (delay, above) in [(4 * 12_112, false), (4 * 12_112 + 1, true)] {
            let (mut cobalt, mut stream) = (Cobalt::default(), stream());
            cobalt.judge(&plan, micros(delay), &waiter(Time::ZERO, Ecn::NotEct), &mut stream);
            assert_eq!(cobalt.dropping, above);
        }
    }

    /// BLUE rises by 1/256 at each overflow that is more than a target after the last, and falls by 1/4096 at each visit to
    /// the empty queue that is. Step by step, in 10⁻¹⁸.
    #[test]
    fn blue_step_by_step() {
        let mut cobalt = Cobalt::default();
        let up = 3_906_250_000_000_000;
        for (at, steps) in [(0, 1), (5_000, 1), (5_001, 2), (9_000, 2), (10_001, 2), (10_002, 3)] {
            cobalt.note_overflow(&plan(), micros(at));
            assert_eq!(cobalt.probability(), steps * up, "{at}");
            assert_eq!((cobalt.count, cobalt.dropping, cobalt.drop_next), (1, true, micros(at)));
        }
        let down = 244_140_625_000_000;
        let mut now = 10_002;
        for visit in 1..=48 {
            cobalt.note_empty(&plan(), micros(now + 5_000));
            assert_eq!(cobalt.probability(), 3 * up - (visit - 1) * down);
            now += 5_001;
            cobalt.note_empty(&plan(), micros(now));
            assert_eq!(cobalt.probability(), 3 * up - visit * down);
        }
        assert_eq!(cobalt.probability(), 0);
        // It never leaves 0 to 1.
        for n in 0..300 {
            cobalt.note_overflow(&plan(), micros(1_000_000 + 5_001 * n));
        }
        assert_eq!(cobalt.probability(), ONE);
    }

    /// A unit is dropped where the number that is drawn is below BLUE's probability, ECN-capable or not, whatever its delay.
    #[test]
    fn blue_drops_what_the_generator_says() {
        let mut cobalt = Cobalt::default();
        for n in 0..64 {
            cobalt.note_overflow(&plan(), micros(5_001 * n));
        }
        assert_eq!(cobalt.probability(), ONE / 4);
        let (mut drawn, mut used) = (stream(), stream());
        let (mut drops, now) = (0, micros(400_000));
        for ecn in [Ecn::NotEct, Ecn::Ect0].into_iter().cycle().take(2000) {
            let expected = drawn.random_range(0..ONE) < ONE / 4;
            let verdict = cobalt.judge(&plan(), now, &waiter(now, ecn), &mut used);
            assert_eq!(verdict, Verdict { dropped: expected, marked: false });
            drops += u64::from(expected);
        }
        assert!((450..550).contains(&drops), "{drops}");
    }
}
