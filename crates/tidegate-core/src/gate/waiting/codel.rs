//! Controlled delay (CoDel, RFC 8289): a queue whose delay has been above a target for a whole interval drops, at times
//! that come closer with the square root of their number.
//!
//! Times are whole picoseconds; interval/√n is rounded down to one, exactly.

use super::line::{Leaver, Line, Waiter};
use crate::plan::CoDelPlan;
use crate::unit::Ecn;
use crate::units::{Span, Time};

/// The state of one queue (RFC 8289 §5.2).
#[derive(Clone, Debug, Default)]
pub(super) struct CoDel {
    /// When the delay will have been above the target for an interval.
    first_above: Option<Time>,
    /// When the next unit is dropped, in the dropping state.
    drop_next: Time,
    /// Drops since the dropping state was entered.
    count: u64,
    /// The value of `count` when the dropping state was last entered.
    last_count: u64,
    /// In the dropping state.
    dropping: bool,
}

/// A queue under CoDel.
#[derive(Clone, Debug)]
pub(in crate::gate) struct CoDelQueue {
    plan: CoDelPlan,
    pub(super) line: Line,
    codel: CoDel,
    /// IP bytes of the largest unit so far.
    largest: u64,
}

impl CoDelQueue {
    pub(super) fn new(plan: CoDelPlan) -> CoDelQueue {
        CoDelQueue { plan, line: Line::default(), codel: CoDel::default(), largest: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, waiter: Waiter) {
        self.largest = self.largest.max(u64::from(waiter.unit.bytes));
        self.line.push(waiter);
    }

    #[inline]
    pub(super) fn pop(&mut self, now: Time, gone: &mut Vec<Waiter>) -> Option<Leaver> {
        if self.plan.ce_threshold.is_none()
            && self.line.first().is_some_and(|first| first.sojourn(now) < self.plan.target)
        {
            self.codel.is_calm();
            return self.line.pop().map(|waiter| Leaver { waiter, marked: false });
        }
        self.codel.pop(&self.plan, self.largest, now, &mut self.line, gone)
    }
}

impl CoDel {
    /// What [`CoDel::pop`] remembers of a unit that waited less than the target.
    #[inline]
    fn is_calm(&mut self) {
        self.first_above = None;
        self.dropping = false;
    }

    /// The unit that leaves the `line` at `now` (RFC 8289 §5.5). `largest`: the largest unit so far, in IP bytes.
    ///
    /// An ECN-capable unit is marked where another would be dropped, and goes on: it is the one that is served.
    pub(super) fn pop(
        &mut self,
        plan: &CoDelPlan,
        largest: u64,
        now: Time,
        line: &mut Line,
        gone: &mut Vec<Waiter>,
    ) -> Option<Leaver> {
        let (mut first, mut may_drop) = self.take(plan, largest, now, line);
        let mut marked = false;
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if let Some(dropped) = first {
                    marked = capable(&dropped);
                    if marked {
                        self.drop_next = control_law(plan.interval, self.drop_next, self.count);
                        break;
                    }
                    gone.push(dropped);
                }
                (first, may_drop) = self.take(plan, largest, now, line);
                if may_drop {
                    self.drop_next = control_law(plan.interval, self.drop_next, self.count);
                }
                self.dropping = may_drop;
            }
        } else if may_drop && let Some(dropped) = first {
            marked = capable(&dropped);
            if !marked {
                gone.push(dropped);
                first = self.take(plan, largest, now, line).0;
            }
            self.dropping = true;
            // If it left the state lately, it goes on at the rate that it had.
            let lately = now.saturating_since(self.drop_next) < plan.interval.saturating_mul(16);
            let drops = self.count - self.last_count;
            self.count = if drops > 1 && lately { drops } else { 1 };
            self.drop_next = control_law(plan.interval, now, self.count);
            self.last_count = self.count;
        }
        let waiter = first?;
        if let Some(threshold) = plan.ce_threshold {
            marked |= capable(&waiter) && waiter.sojourn(now) > threshold;
        }
        Some(Leaver { waiter, marked })
    }

    /// Takes the first unit, and says whether it may be dropped: the delay has been above the target for an interval
    /// (RFC 8289 §5.6, `dodequeue`).
    fn take(&mut self, plan: &CoDelPlan, largest: u64, now: Time, line: &mut Line) -> (Option<Waiter>, bool) {
        let Some(waiter) = line.pop() else {
            self.first_above = None;
            return (None, false);
        };
        if waiter.sojourn(now) < plan.target || line.backlog().bytes <= largest {
            self.first_above = None;
            return (Some(waiter), false);
        }
        let above = *self.first_above.get_or_insert(now.saturating_add(plan.interval));
        (Some(waiter), now >= above)
    }
}

/// Whether a unit may be marked.
pub(super) fn capable(waiter: &Waiter) -> bool {
    waiter.unit.ecn() != Ecn::NotEct
}

/// t + interval/√n, rounded down to a picosecond (RFC 8289 §5.6, `control_law`).
pub(super) fn control_law(interval: Span, from: Time, count: u64) -> Time {
    let interval = u128::from(interval.picos());
    let gap = (interval * interval / u128::from(count.max(1))).isqrt();
    from.saturating_add(Span::from_picos(gap as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{HeldBy, Unit};

    const MS: u64 = 1_000_000_000;

    fn at(picos: u64) -> Time {
        Time::from_picos(picos)
    }

    fn waiter(arrival: Time, ecn: Ecn) -> Waiter {
        let mut unit = Unit::new(1000, 0, HeldBy::Application);
        unit.set_ecn(ecn);
        Waiter { arrival, unit }
    }

    /// A queue in which there always are units that came at 0.
    fn standing(plan: CoDelPlan, ecn: Ecn) -> CoDelQueue {
        let mut queue = CoDelQueue::new(plan);
        (0..10_000).for_each(|_| queue.push(waiter(Time::ZERO, ecn)));
        queue
    }

    /// How many units are dropped, and whether one is marked, when one leaves at `now`.
    fn leaves(queue: &mut CoDelQueue, now: u64) -> (usize, bool) {
        let mut gone = vec![];
        let leaver = queue.pop(at(now), &mut gone).expect("a unit");
        (gone.len(), leaver.marked)
    }

    /// interval/√n in whole picoseconds, worked out by hand to a picosecond.
    const GAPS: [u64; 5] = [100_000_000_000, 70_710_678_118, 57_735_026_918, 50_000_000_000, 44_721_359_549];

    /// Drops at t0 + Σ interval/√n and not a picosecond before: the delay is above the target at 5 ms for the first
    /// time, so the first drop is at 105 ms.
    #[test]
    fn drops_come_closer_with_the_square_root_of_their_number() {
        for (ecn, each) in [(Ecn::NotEct, (1, false)), (Ecn::Ect0, (0, true)), (Ecn::Ect1, (0, true))] {
            let mut queue = standing(CoDelPlan::DEFAULT, ecn);
            assert_eq!(leaves(&mut queue, 5 * MS - 1), (0, false));
            assert_eq!(leaves(&mut queue, 5 * MS), (0, false));
            let mut next = 105 * MS;
            for gap in GAPS {
                assert_eq!(leaves(&mut queue, next - 1), (0, false), "{next}");
                assert_eq!(leaves(&mut queue, next), each, "{next}");
                assert_eq!(leaves(&mut queue, next), (0, false), "{next}");
                next += gap;
            }
        }
    }

    /// A server that was stopped finds that several drops are due: at 105, 205, 275.7 and 333.4 ms. Of units that may be
    /// marked, one is marked for each that leaves.
    #[test]
    fn several_are_dropped_at_once_after_a_stop() {
        let mut queue = standing(CoDelPlan::DEFAULT, Ecn::NotEct);
        assert_eq!(leaves(&mut queue, 5 * MS), (0, false));
        assert_eq!(leaves(&mut queue, 105 * MS), (1, false));
        assert_eq!(leaves(&mut queue, 335 * MS), (3, false));
        let mut capable = standing(CoDelPlan::DEFAULT, Ecn::Ect0);
        assert_eq!(leaves(&mut capable, 5 * MS), (0, false));
        assert_eq!(leaves(&mut capable, 105 * MS), (0, true));
        for marked in [true, true, true, false] {
            assert_eq!(leaves(&mut capable, 335 * MS), (0, marked));
        }
    }

    /// The state is left when a unit waited less than the target. Entered again within 16 intervals, it goes on with as
    /// many drops as the last time, less those before.
    #[test]
    fn it_goes_on_where_it_was() {
        let mut queue = standing(CoDelPlan::DEFAULT, Ecn::NotEct);
        leaves(&mut queue, 5 * MS);
        let mut next = 105 * MS;
        for gap in GAPS {
            assert_eq!(leaves(&mut queue, next).0, 1);
            next += gap;
        }
        // Five drops. Now what leaves has just come.
        let again = 600 * MS;
        queue.line = Line::default();
        (0..100).for_each(|_| queue.push(waiter(at(again), Ecn::NotEct)));
        assert_eq!(leaves(&mut queue, again), (0, false));
        // Four more than when the state was entered.
        assert_eq!(leaves(&mut queue, again + 10 * MS), (0, false));
        let begins = again + 110 * MS;
        assert_eq!(leaves(&mut queue, begins), (1, false));
        assert_eq!(leaves(&mut queue, begins + 50_000_000_000 - 1), (0, false));
        assert_eq!(leaves(&mut queue, begins + 50_000_000_000), (1, false));
    }

    /// With no more than one largest unit behind it, nothing is dropped.
    #[test]
    fn the_last_unit_is_kept() {
        let mut queue = CoDelQueue::new(CoDelPlan::DEFAULT);
        for now in [100, 300, 500, 700] {
            (0..2).for_each(|_| queue.push(waiter(Time::ZERO, Ecn::NotEct)));
            assert_eq!(leaves(&mut queue, now * MS), (0, false));
            assert_eq!(leaves(&mut queue, now * MS), (0, false));
        }
        assert_eq!(queue.pop(at(800 * MS), &mut vec![]), None);
    }

    #[test]
    fn a_threshold_marks_every_capable_unit_above_it() {
        let plan = CoDelPlan { ce_threshold: Some(Span::from_millis(1)), ..CoDelPlan::DEFAULT };
        for (ecn, marked) in [(Ecn::NotEct, false), (Ecn::Ect0, true), (Ecn::Ect1, true)] {
            let mut queue = standing(plan, ecn);
            assert_eq!(leaves(&mut queue, MS), (0, false));
            assert_eq!(leaves(&mut queue, MS + 1), (0, marked));
            assert_eq!(leaves(&mut queue, 2 * MS), (0, marked));
        }
    }
}
