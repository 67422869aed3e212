//! Flow queues with controlled delay (FQ-CoDel, RFC 8290): each flow has a queue of its own under CoDel; queues take turns
//! by bytes, and a queue that has just begun goes before those that have been busy.
//!
//! DEVIATION: RFC 8290 §4.1.1 tells flows apart by a hash of addresses and ports, so two may share a queue by chance. Here
//! flows get queues in the order in which they first come, and share them only where there are more flows than queues. A
//! flow is what takes one route: the packets of one flow of the scenario in one direction, whatever their connections.
//!
//! DEVIATION: beyond the limit, RFC 8290 §4.1 drops half the number of packets of the longest queue. Here it is half of its
//! bytes, as in Linux (`fq_codel_drop`); where packets have one size, both are the same.

use super::codel::CoDel;
use super::flow_queues::{FlowQueue, FlowQueues};
use super::line::{Leaver, Waiter};
use crate::gate::backlog::Backlog;
use crate::plan::FqCoDelPlan;
use crate::units::Time;

/// The most units that are dropped at once when the limit is exceeded (RFC 8290 §4.1).
const BATCH: u64 = 64;

/// Which list a queue is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum On {
    #[default]
    Neither,
    New,
    Old,
}

/// What CoDel keeps of a flow, and the list that the flow is on.
#[derive(Clone, Debug, Default)]
struct CoDelFlow {
    codel: CoDel,
    on: On,
}

/// All of them.
#[derive(Clone, Debug)]
pub(in crate::gate) struct FqCoDelQueue {
    plan: FqCoDelPlan,
    each: FlowQueues<CoDelFlow>,
    /// Flows that have a queue.
    flows: u32,
    /// IP bytes of the largest unit so far.
    largest: u64,
}

impl FqCoDelQueue {
    pub(super) fn new(plan: FqCoDelPlan) -> FqCoDelQueue {
        FqCoDelQueue { plan, each: FlowQueues::new(), flows: 0, largest: 0 }
    }

    /// A unit joins (RFC 8290 §4.1). If that is too much, `gone` takes units from the head of the longest queue. Says
    /// whether the unit itself is still there.
    pub(super) fn push(&mut self, waiter: Waiter, gone: &mut Vec<Waiter>) -> bool {
        let number = self.queue_of(waiter.unit.stretch);
        let queue = &mut self.each.queues[number as usize];
        self.largest = self.largest.max(u64::from(waiter.unit.bytes));
        self.each.held = self.each.held.with(waiter.unit.bytes);
        queue.line.push(waiter);
        if queue.state.on == On::Neither {
            queue.state.on = On::New;
            queue.credits = i64::from(self.plan.quantum);
            self.each.new.push_back(number);
        }
        while self.each.held.units > self.plan.limit || self.each.held.bytes > self.plan.memory {
            self.drop_from_longest(gone);
        }
        !self.each.queues[number as usize].line.is_empty()
    }

    /// The unit that is served next (RFC 8290 §4.2).
    pub(super) fn pop(&mut self, now: Time, gone: &mut Vec<Waiter>) -> Option<Leaver> {
        loop {
            let (is_new, number) = match (self.each.new.front(), self.each.old.front()) {
                (Some(number), _) => (true, *number),
                (None, Some(number)) => (false, *number),
                (None, None) => return None,
            };
            let queue = &mut self.each.queues[number as usize];
            if queue.credits <= 0 {
                queue.credits += i64::from(self.plan.quantum);
                self.make_old(is_new, number);
                continue;
            }
            let dropped = gone.len();
            let leaver = queue.state.codel.pop(&self.plan.codel, self.largest, now, &mut queue.line, gone);
            let units = gone[dropped..].iter().chain(leaver.iter().map(|leaver| &leaver.waiter));
            units.for_each(|waiter| self.each.held = self.each.held.without(waiter.unit.bytes));
            let Some(leaver) = leaver else {
                if is_new {
                    // It may come back soon, and must not overtake the others for ever.
                    self.make_old(true, number);
                } else {
                    self.each.old.pop_front();
                    queue.state.on = On::Neither;
                }
                continue;
            };
            queue.credits -= i64::from(leaver.waiter.unit.bytes);
            return Some(leaver);
        }
    }

    /// See [`FlowQueues::first`].
    pub(super) fn first(&self) -> Option<&Waiter> {
        self.each.first()
    }

    /// See [`FlowQueues::take_first`].
    pub(super) fn take_first(&mut self) -> Option<Waiter> {
        self.each.take_first()
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.each.held
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.each.memory_bytes()
    }

    /// The queue of the flow whose units are on this stretch.
    fn queue_of(&mut self, stretch: u32) -> u32 {
        if let Some(number) = self.each.number_of(stretch) {
            return number;
        }
        let number = self.flows % self.plan.queues;
        self.flows = self.flows.wrapping_add(1);
        self.each.assign(stretch, number);
        if self.each.queues.len() <= number as usize {
            self.each.queues.resize_with(number as usize + 1, FlowQueue::default);
        }
        number
    }

    /// The first queue of a list goes to the end of the old ones.
    fn make_old(&mut self, is_new: bool, number: u32) {
        if is_new {
            self.each.new.pop_front()
        } else {
            self.each.old.pop_front()
        };
        self.each.queues[number as usize].state.on = On::Old;
        self.each.old.push_back(number);
    }

    /// Drops half of what the longest queue holds in bytes, [`BATCH`] units at most, from its head.
    fn drop_from_longest(&mut self, gone: &mut Vec<Waiter>) {
        let bytes = |queue: &FlowQueue<CoDelFlow>| queue.line.backlog().bytes;
        let held = |queue: &&mut FlowQueue<CoDelFlow>| (bytes(queue), queue.line.backlog().units);
        // Of several, the first.
        let longest = self.each.queues.iter_mut().rev().max_by_key(held);
        let Some(queue) = longest else { return };
        let half = bytes(queue) / 2;
        let mut dropped = 0;
        for _ in 0..BATCH {
            let Some(waiter) = queue.line.pop() else { return };
            dropped += u64::from(waiter.unit.bytes);
            self.each.held = self.each.held.without(waiter.unit.bytes);
            gone.push(waiter);
            if dropped >= half {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::CoDelPlan;
    use crate::unit::{HeldBy, Unit};
    use crate::units::Span;

    fn unit(stretch: u32, bytes: u32, handle: u32) -> Unit {
        let mut unit = Unit::new(bytes, handle, HeldBy::Application);
        unit.stretch = stretch;
        unit
    }

    fn queue(plan: FqCoDelPlan) -> FqCoDelQueue {
        FqCoDelQueue::new(plan)
    }

    fn push(queue: &mut FqCoDelQueue, at: Time, unit: Unit) -> (bool, usize) {
        let mut gone = vec![];
        let kept = queue.push(Waiter { arrival: at, unit }, &mut gone);
        (kept, gone.len())
    }

    fn pop(queue: &mut FqCoDelQueue, at: Time) -> Option<(u32, u32)> {
        queue.pop(at, &mut vec![]).map(|leaver| (leaver.waiter.unit.stretch, leaver.waiter.unit.bytes))
    }

    /// Turns are by bytes: a quantum of 1514, flow 1 with units of 1500, flow 2 with units of 500. A new flow goes first,
    /// and once it has had its turn it waits for the others.
    #[test]
    fn turns_are_by_bytes_and_new_flows_go_first() {
        let mut queue = queue(FqCoDelPlan::DEFAULT);
        (0..4).for_each(|n| assert_eq!(push(&mut queue, Time::ZERO, unit(1, 1500, n)), (true, 0)));
        (0..8).for_each(|n| assert_eq!(push(&mut queue, Time::ZERO, unit(2, 500, n)), (true, 0)));
        let mut left = |n: usize| -> Vec<u32> {
            (0..n).filter_map(|_| pop(&mut queue, Time::ZERO)).map(|(stretch, _)| stretch).collect()
        };
        // 14 bytes are left after the first; a second unit may go, and 1486 have to be saved.
        assert_eq!(left(2), [1, 1]);
        assert_eq!(left(4), [2, 2, 2, 2]);
        assert_eq!(push(&mut queue, Time::ZERO, unit(7, 40, 0)), (true, 0));
        let mut then = |n: usize| -> Vec<u32> {
            (0..n).filter_map(|_| pop(&mut queue, Time::ZERO)).map(|(stretch, _)| stretch).collect()
        };
        assert_eq!(then(1), [7]);
        // Flow 1 has 28 bytes now, flow 2 1028.
        assert_eq!(then(4), [1, 2, 2, 2]);
        assert_eq!(then(9), [1, 2]);
        assert_eq!(queue.backlog(), Backlog::default());
    }

    /// Over the limit, half of the longest queue goes, from its head, and never more than 64 units.
    #[test]
    fn the_longest_queue_pays_for_too_much() {
        let mut queue = queue(FqCoDelPlan { limit: 200, ..FqCoDelPlan::DEFAULT });
        (0..10).for_each(|n| assert_eq!(push(&mut queue, Time::ZERO, unit(1, 1500, n)), (true, 0)));
        (0..190).for_each(|n| assert_eq!(push(&mut queue, Time::ZERO, unit(2, 1000, n)), (true, 0)));
        assert_eq!(push(&mut queue, Time::ZERO, unit(1, 1500, 10)), (true, 64));
        assert_eq!(queue.backlog(), Backlog { units: 137, bytes: 11 * 1500 + 126 * 1000 });
        let mut small = self::queue(FqCoDelPlan { memory: 5000, ..FqCoDelPlan::DEFAULT });
        (0..5).for_each(|n| assert_eq!(push(&mut small, Time::ZERO, unit(1, 1000, n)), (true, 0)));
        // Half of 6000 bytes.
        assert_eq!(push(&mut small, Time::ZERO, unit(1, 1000, 5)), (true, 3));
        let mut none = self::queue(FqCoDelPlan { limit: 0, ..FqCoDelPlan::DEFAULT });
        assert_eq!(push(&mut none, Time::ZERO, unit(1, 1000, 0)), (false, 1));
    }

    /// More flows than queues share them.
    #[test]
    fn flows_share_queues_where_there_are_too_few() {
        let mut queue = queue(FqCoDelPlan { queues: 2, ..FqCoDelPlan::DEFAULT });
        (0..3)
            .for_each(|stretch| assert_eq!(push(&mut queue, Time::ZERO, unit(stretch, 1514, 0)), (true, 0)));
        assert_eq!(queue.each.queues.len(), 2);
        let left: Vec<_> =
            (0..3).filter_map(|_| pop(&mut queue, Time::ZERO)).map(|(stretch, _)| stretch).collect();
        assert_eq!(left, [0, 1, 2]);
    }

    /// CoDel judges each flow alone: one that keeps a queue is dropped from, one that does not is not.
    #[test]
    fn only_the_flow_with_a_queue_is_dropped_from() {
        let codel = CoDelPlan { target: Span::from_millis(5), ..CoDelPlan::DEFAULT };
        let mut queue = queue(FqCoDelPlan { codel, ..FqCoDelPlan::DEFAULT });
        let mut gone = vec![];
        for n in 0..1000 {
            let now = Time::ZERO + Span::from_millis(u64::from(n));
            // Two come for each that leaves.
            (0..2).for_each(|_| assert_eq!(push(&mut queue, now, unit(1, 1500, n)), (true, 0)));
            assert_eq!(push(&mut queue, now, unit(2, 100, n)), (true, 0));
            let leavers: Vec<_> = (0..2).filter_map(|_| queue.pop(now, &mut gone)).collect();
            let mut others =
                leavers.iter().map(|leaver| leaver.waiter).filter(|waiter| waiter.unit.stretch == 2);
            assert!(others.all(|waiter| waiter.sojourn(now) <= Span::from_millis(2)), "{n}");
        }
        assert!(gone.len() > 20);
        assert!(gone.iter().all(|waiter| waiter.unit.stretch == 1));
    }
}
