//! Two coupled queues (DualPI2, RFC 9332 Appendix A): L4S units (ECT(1) and CE) have a queue of their own, which is marked
//! from a delay of about a millisecond on and goes first; a proportional integral controller holds the other, classic
//! queue at a target and couples its signals to the first.
//!
//! With p' the controller's output, a classic unit is marked or dropped with probability p_C = p'², an L4S unit is marked
//! with p_CL = k p', so p_C = (p_CL/k)². What a probability p decides is decided without chance: every 1/p-th unit
//! (`recur`, RFC 9332 Appendix A.1).
//!
//! DEVIATION: the appendix leaves the scheduler open. Here both queues take turns by bytes where both wait, with a share
//! for the classic one (Linux 6.17 `sch_dualpi2`, `c_protection`). Its ramp from 800 µs over 400 µs is a step at 1 ms unless
//! `range` says otherwise, as there. The controller marks and drops nothing while fewer than two of the largest units wait, the one
//! that leaves among them; Linux leaves that one out. The step marks nothing while at most one L4S unit waits behind the one that
//! leaves (Appendix A.1, `Th_len`); Linux counts those that wait when a unit comes (`min_qlen_step`, 0 by default).
//!
//! The appendix computes the gains from the longest round trip, R = 100 ms: T = min(target, R/3), α = 0.1 T/R², β = 0.3/R.
//! The defaults are Linux's, for T = 16 ms: α = 0.16 Hz, β = 3.2 Hz.

use super::control::{ONE, add, product, step};
use super::line::{Leaver, Line, Waiter};
use crate::gate::backlog::Backlog;
use crate::plan::DualPi2Plan;
use crate::unit::Ecn;
use crate::units::{Span, Time};

/// A queue and the likelihood that its units have gathered since the last signal (`recur`).
#[derive(Clone, Debug, Default)]
struct Class {
    line: Line,
    count: u64,
}

/// Both queues.
#[derive(Clone, Debug)]
pub(in crate::gate) struct DualPi2Queue {
    plan: DualPi2Plan,
    l4s: Class,
    classic: Class,
    /// p' in 10⁻¹⁸.
    base: u64,
    /// The delay at the last update.
    before: Span,
    next_update: Time,
    /// Above zero, the classic queue has the turn: bytes times shares in millionths that the other has had.
    credit: i64,
    /// IP bytes of the largest unit so far.
    largest: u64,
}

/// The controller's decision on a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passes,
    Marked,
    Dropped,
}

impl DualPi2Queue {
    pub(super) fn new(plan: DualPi2Plan) -> DualPi2Queue {
        DualPi2Queue {
            plan,
            l4s: Class::default(),
            classic: Class::default(),
            base: 0,
            before: Span::ZERO,
            next_update: Time::ZERO.saturating_add(plan.update),
            credit: 0,
            largest: 0,
        }
    }

    /// A unit joins the queue that its codepoint says (RFC 9332 Appendix A.1, `dualpi2_enqueue`).
    pub(super) fn push(&mut self, waiter: Waiter) {
        self.update_until(waiter.arrival);
        self.largest = self.largest.max(u64::from(waiter.unit.bytes));
        match waiter.unit.ecn() {
            Ecn::Ect1 | Ecn::Ce => self.l4s.line.push(waiter),
            Ecn::Ect0 | Ecn::NotEct => self.classic.line.push(waiter),
        }
    }

    /// The unit that is served next (Appendix A.1 and A.2, `dualpi2_dequeue`).
    pub(super) fn pop(&mut self, now: Time, gone: &mut Vec<Waiter>) -> Option<Leaver> {
        self.update_until(now);
        loop {
            let backlog = self.backlog().bytes;
            let is_l4s = self.l4s_goes();
            let class = if is_l4s { &mut self.l4s } else { &mut self.classic };
            let waiter = class.line.pop()?;
            // Fewer than two of the largest units are no queue to the controller (`must_drop`); the step has a bound of its own.
            let is_queue = backlog >= 2 * self.largest;
            let fate = match (is_l4s, is_queue) {
                (true, _) => self.judge_l4s(now, &waiter, is_queue),
                (false, true) => self.judge_classic(&waiter),
                (false, false) => Fate::Passes,
            };
            if fate == Fate::Dropped {
                gone.push(waiter);
                continue;
            }
            self.take_turn(is_l4s, &waiter);
            return Some(Leaver { waiter, marked: fate == Fate::Marked });
        }
    }

    /// Of classic units: p_C = p'² (Appendix A.1).
    pub(super) fn probability(&self) -> u64 {
        product(self.base, self.base)
    }

    /// The unit that would be served next if nothing were dropped.
    pub(super) fn first(&self) -> Option<&Waiter> {
        if self.l4s_goes() { self.l4s.line.first() } else { self.classic.line.first() }
    }

    /// Takes that unit.
    pub(super) fn take_first(&mut self) -> Option<Waiter> {
        if self.l4s_goes() { self.l4s.line.pop() } else { self.classic.line.pop() }
    }

    pub(super) fn backlog(&self) -> Backlog {
        let [one, other] = [&self.l4s, &self.classic].map(|class| class.line.backlog());
        Backlog { units: one.units + other.units, bytes: one.bytes + other.bytes }
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.l4s.line.memory_bytes() + self.classic.line.memory_bytes()
    }

    /// p_CL = k p', 1 at most.
    fn coupled(&self, base: u64) -> u64 {
        let coupled = u128::from(base) * u128::from(self.plan.coupling) / 1_000_000;
        u64::try_from(coupled).unwrap_or(ONE).min(ONE)
    }

    /// Where k p' has reached 1, marks can say no more, and L4S units are dropped like classic ones (Appendix A.2).
    fn judge_l4s(&mut self, now: Time, waiter: &Waiter, is_queue: bool) -> Fate {
        let base = if is_queue { self.base } else { 0 };
        let (coupled, classic) = (self.coupled(base), product(base, base));
        if coupled >= ONE {
            if recur(&mut self.l4s.count, classic) {
                return Fate::Dropped;
            }
            let marked = recur(&mut self.l4s.count, coupled);
            return if marked { Fate::Marked } else { Fate::Passes };
        }
        let native = native(&self.plan, self.l4s.line.backlog().units, waiter.sojourn(now));
        if recur(&mut self.l4s.count, native.max(coupled)) { Fate::Marked } else { Fate::Passes }
    }

    /// In overload ECN-capable units are dropped too (Appendix A.2).
    fn judge_classic(&mut self, waiter: &Waiter) -> Fate {
        let classic = product(self.base, self.base);
        if !recur(&mut self.classic.count, classic) {
            return Fate::Passes;
        }
        // p_C has reached p_Cmax = min(1/k², 1).
        let overload = self.coupled(self.base) >= ONE || self.base == ONE;
        if waiter.unit.ecn() == Ecn::NotEct || overload { Fate::Dropped } else { Fate::Marked }
    }

    /// Whether the L4S queue has the turn.
    fn l4s_goes(&self) -> bool {
        let [l4s, classic] = [&self.l4s, &self.classic].map(|class| !class.line.is_empty());
        l4s && (!classic || self.credit <= 0)
    }

    /// A unit has been chosen. Turns count while both queues wait; after that the L4S queue begins again.
    fn take_turn(&mut self, is_l4s: bool, waiter: &Waiter) {
        let other = if is_l4s { &self.classic } else { &self.l4s };
        if other.line.is_empty() {
            self.credit = 0;
            return;
        }
        let bytes = i64::from(waiter.unit.bytes);
        let share = i64::from(self.plan.classic_share);
        self.credit += if is_l4s { bytes * share } else { bytes * (share - 1_000_000) };
    }

    /// Updates p' at every multiple of the interval until `now` (Appendix A.1, `dualpi2_update`). Between two events the
    /// queues stay as they are.
    pub(super) fn update_until(&mut self, now: Time) {
        while self.next_update <= now {
            let at = self.next_update;
            let delay = |class: &Class| class.line.first().map_or(Span::ZERO, |first| first.sojourn(at));
            let delay = delay(&self.l4s).max(delay(&self.classic));
            let DualPi2Plan { alpha, beta, target, update, .. } = self.plan;
            self.base = add(self.base, step((alpha, beta), target, self.before, delay));
            self.before = delay;
            self.next_update = if self.base == 0 && self.backlog().units == 0 && delay == Span::ZERO {
                // Nothing changes before the next unit comes: straight to the first update after `now`.
                let interval = update.picos().max(1);
                Time::from_picos((now.picos() / interval).saturating_add(1).saturating_mul(interval))
            } else {
                at.saturating_add(update)
            };
        }
    }
}

/// The native probability of a unit that leaves `behind` units in the L4S queue after a wait of `delay`: nothing while at most one waits
/// (Appendix A.1, `Th_len`).
fn native(plan: &DualPi2Plan, behind: u64, delay: Span) -> u64 {
    match plan.step_units {
        _ if behind <= plan.step_spares => 0,
        Some(most) => {
            if behind > most {
                ONE
            } else {
                0
            }
        }
        None => ramp(plan, delay),
    }
}

/// The native probability after a wait of `delay` (Appendix A.1, `laqm`).
fn ramp(plan: &DualPi2Plan, delay: Span) -> u64 {
    let Some(above) = delay.picos().checked_sub(plan.step.picos()).filter(|above| *above > 0) else {
        return 0;
    };
    let range = plan.range.picos();
    if above >= range { ONE } else { (u128::from(above) * u128::from(ONE) / u128::from(range)) as u64 }
}

/// Whether this unit is the one: the sum of likelihoods has passed 1 (Appendix A.1, `recur`).
fn recur(count: &mut u64, likelihood: u64) -> bool {
    *count += likelihood;
    let passed = *count > ONE;
    *count -= if passed { ONE } else { 0 };
    passed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{HeldBy, Unit};

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn waiter(arrival: Time, ecn: Ecn) -> Waiter {
        let mut unit = Unit::new(1000, 0, HeldBy::Application);
        unit.set_ecn(ecn);
        Waiter { arrival, unit }
    }

    /// A queue whose p' is a number of millionths, and does not change.
    fn held_at(base: u64) -> DualPi2Queue {
        let mut queue = DualPi2Queue::new(DualPi2Plan { alpha: 0, beta: 0, ..DualPi2Plan::DEFAULT });
        queue.base = base * (ONE / 1_000_000);
        queue
    }

    /// p' = p' + 0.16 (q − 15 ms) + 3.2 (q − q before) at each 16 ms, by hand: the head came at 0.
    #[test]
    fn the_controller_by_hand() {
        let mut queue = DualPi2Queue::new(DualPi2Plan::DEFAULT);
        queue.push(waiter(Time::ZERO, Ecn::NotEct));
        let mut seen = vec![];
        for n in 1..=4 {
            queue.update_until(ms(16 * n));
            seen.push((queue.base / 1_000_000_000, queue.coupled(queue.base) / 1_000_000_000));
        }
        // In 10⁻⁹: 0.16 × 1 ms + 3.2 × 16 ms = 0.05136; then 0.16 × 17 ms + 0.0512 more, 33 ms, 49 ms.
        let base = [51_360_000, 105_280_000, 161_760_000, 220_800_000];
        assert_eq!(seen, base.map(|base| (base, 2 * base)));
        // p_C = (p_CL/k)² at each update.
        for p in base {
            assert_eq!(product(p * 1_000_000_000, p * 1_000_000_000), p * p);
        }
        // The queue is empty: down by 0.16 × 15 ms and once by 3.2 × 64 ms; then nothing changes.
        assert!(queue.take_first().is_some());
        queue.update_until(ms(80));
        assert_eq!(queue.base / 1_000_000_000, 220_800_000 - 204_800_000 - 2_400_000);
        queue.update_until(ms(1000));
        assert_eq!((queue.base, queue.next_update), (0, ms(1008)));
    }

    /// Every 1/p-th unit: p' = 0.5 gives p_C = 1/4; p' = 0.2 gives p_CL = 0.4, two units of five.
    #[test]
    fn signals_come_evenly() {
        for (base, ecn, fate) in [
            (400_000, Ecn::NotEct, Fate::Dropped),
            (400_000, Ecn::Ect0, Fate::Marked),
            (80_000, Ecn::Ect1, Fate::Marked),
            (80_000, Ecn::Ce, Fate::Marked),
        ] {
            let mut queue = held_at(base);
            (0..1200).for_each(|_| queue.push(waiter(Time::ZERO, ecn)));
            let (mut gone, mut marked) = (vec![], 0);
            for _ in 0..1000 {
                marked += usize::from(queue.pop(Time::ZERO, &mut gone).expect("a unit").marked);
            }
            // 0.16 of those that came out one way or the other.
            let expected = if fate == Fate::Marked { (159..=160, 0..=0) } else { (0..=0, 189..=191) };
            assert!(
                expected.0.contains(&marked) && expected.1.contains(&gone.len()),
                "{marked} {}",
                gone.len()
            );
        }
    }

    /// Above a millisecond every L4S unit is marked that leaves two behind, whatever waits in the classic queue.
    #[test]
    fn the_step_spares_the_last_two() {
        let mut queue = held_at(0);
        (0..9).for_each(|_| queue.push(waiter(Time::ZERO, Ecn::Ect1)));
        (0..9).for_each(|_| queue.push(waiter(Time::ZERO, Ecn::NotEct)));
        let leavers = (0..11).map(|_| queue.pop(ms(5), &mut vec![]).expect("a unit"));
        let l4s = leavers.filter(|leaver| leaver.waiter.unit.ecn() == Ecn::Ect1);
        let marked: Vec<bool> = l4s.map(|leaver| leaver.marked).take(9).collect();
        // The sum of likelihoods has to pass 1.
        assert_eq!(marked, [false, true, true, true, true, true, true, false, false]);
    }

    /// In packets: above four behind the one that leaves.
    #[test]
    fn the_step_may_count_packets() {
        let plan = DualPi2Plan { step_units: Some(4), step_spares: 0, ..DualPi2Plan::DEFAULT };
        let natives = [0, 4, 5].map(|behind| native(&plan, behind, Span::ZERO));
        assert_eq!(natives, [0, 0, ONE]);
        let spares = DualPi2Plan { step_spares: 9, ..plan };
        assert_eq!(native(&spares, 9, Span::ZERO), 0);
    }

    /// Above a millisecond every L4S unit is marked.
    #[test]
    fn the_step_marks_above_a_millisecond() {
        let mut queue = DualPi2Queue::new(DualPi2Plan { step_spares: 0, ..DualPi2Plan::DEFAULT });
        (0..4).for_each(|_| queue.push(waiter(Time::ZERO, Ecn::Ect1)));
        let at = Time::ZERO + Span::from_millis(1);
        let mut marked = |now| queue.pop(now, &mut vec![]).expect("a unit").marked;
        assert!(!marked(at), "not above");
        let above = at + Span::from_picos(1);
        // The sum of likelihoods has to pass 1.
        assert_eq!([marked(above), marked(above), marked(above)], [false, true, false]);
    }

    #[test]
    fn a_ramp_rises_to_one() {
        let plan = DualPi2Plan {
            step: Span::from_micros(800),
            range: Span::from_micros(400),
            ..DualPi2Plan::DEFAULT
        };
        let at = [800, 900, 1000, 1199, 1200, 5000].map(|micros| ramp(&plan, Span::from_micros(micros)));
        assert_eq!(at.map(|native| native / (ONE / 10_000)), [0, 2500, 5000, 9975, 10_000, 10_000]);
    }

    /// With k p' ≥ 1 both are dropped with p'², and the L4S units that are left are marked.
    #[test]
    fn overload_drops_both() {
        for ecn in [Ecn::Ect1, Ecn::Ect0] {
            let mut queue = held_at(600_000);
            (0..2000).for_each(|_| queue.push(waiter(Time::ZERO, ecn)));
            let (mut gone, mut marked) = (vec![], 0);
            for _ in 0..1000 {
                marked += usize::from(queue.pop(Time::ZERO, &mut gone).expect("a unit").marked);
            }
            // 0.36 of all: 0.5625 for each that is left.
            assert!((560..=565).contains(&gone.len()), "{}", gone.len());
            assert_eq!(marked, if ecn == Ecn::Ect1 { 1000 } else { 0 });
        }
    }

    /// p_Cmax is min(1/k², 1): with k = 0.5, classic units are marked up to p' = 1, and dropped there.
    #[test]
    fn overload_of_a_weak_coupling_begins_at_one() {
        for (base, drops) in [(999_999, false), (1_000_000, true)] {
            let mut queue = held_at(base);
            queue.plan.coupling = 500_000;
            (0..200).for_each(|_| queue.push(waiter(Time::ZERO, Ecn::Ect0)));
            let mut gone = vec![];
            let leavers: Vec<_> = std::iter::from_fn(|| queue.pop(Time::ZERO, &mut gone)).collect();
            assert_eq!(!gone.is_empty(), drops, "{base}");
            assert_eq!(leavers.iter().any(|leaver| leaver.marked), !drops, "{base}");
        }
    }

    /// Both wait: nine bytes of ten are the L4S queue's.
    #[test]
    fn the_classic_queue_has_its_share() {
        let mut queue = held_at(0);
        queue.plan.step = Span::from_secs(1);
        (0..1000).for_each(|_| queue.push(waiter(Time::ZERO, Ecn::Ect1)));
        (0..1000).for_each(|_| queue.push(waiter(Time::ZERO, Ecn::NotEct)));
        let classic = |both: &mut DualPi2Queue| {
            let leaver = both.pop(Time::ZERO, &mut vec![]).expect("a unit");
            leaver.waiter.unit.ecn() == Ecn::NotEct
        };
        let first: Vec<bool> = (0..11).map(|_| classic(&mut queue)).collect();
        assert_eq!(first.iter().filter(|goes| **goes).count(), 1);
        assert!(!first[0]);
        let share = (0..1000).filter(|_| classic(&mut queue)).count();
        assert!((99..=101).contains(&share), "{share}");
    }
}
