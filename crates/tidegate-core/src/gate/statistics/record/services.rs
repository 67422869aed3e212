//! Services that are known and not over, each noted once with all that it changes.

use std::collections::VecDeque;

use crate::gate::rate::Service;
use crate::gate::statistics::count::less;
use crate::gate::statistics::{GateRow, Served};
use crate::units::{Span, Time};

/// Those of one server, oldest first: the times at which they leave the queue, begin and end never decrease from one to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Services {
    known: VecDeque<Served>,
    /// So many of them, the first ones, have left the queue.
    left: usize,
    /// So many have begun.
    begun: usize,
}

impl Served {
    /// Whether the unit is in the queue for any time.
    #[inline]
    pub(super) fn joins(&self) -> bool {
        self.leaves > self.arrival
    }

    /// Whether it leaves the queue when its service begins, if it was there.
    #[inline]
    pub(super) fn leaves_at_start(&self) -> bool {
        self.leaves == self.service.start
    }

    #[inline]
    pub(super) fn wait(&self) -> Span {
        self.service.start.saturating_since(self.arrival)
    }

    /// The unit leaves the queue, if it was there.
    #[inline]
    fn leave(&self, now: &mut GateRow) {
        if self.joins() {
            now.queue_packets = less(now.queue_packets, 1);
            now.queue_bytes = less(now.queue_bytes, u64::from(self.bytes));
        }
    }
}

impl Services {
    #[inline]
    pub(super) fn push(&mut self, served: &Served) {
        self.known.push_back(*served);
    }

    /// The first that is not over, as far as changes are applied.
    pub(super) fn first(&self) -> Option<Service> {
        self.known.front().map(|first| first.service)
    }

    /// Applies every change until `at`, and at that instant; returns how many services end.
    pub(super) fn apply(&mut self, at: Time, now: &mut GateRow) -> u64 {
        let mut ended = 0;
        while let Some(first) = self.known.front()
            && first.service.end <= at
        {
            match self.left {
                0 => first.leave(now),
                _ => self.left -= 1,
            }
            match self.begun {
                0 => now.wait = first.wait(),
                _ => self.begun -= 1,
            }
            now.delivered_bytes += u64::from(first.wire);
            ended += 1;
            self.known.pop_front();
        }
        while let Some(next) = self.known.get(self.left).filter(|served| served.leaves <= at) {
            next.leave(now);
            self.left += 1;
        }
        self.begin(at, now);
        ended
    }

    /// The beginning of a service changes what is in service, and the wait that the next row shows.
    pub(super) fn begin(&mut self, at: Time, now: &mut GateRow) {
        while let Some(next) = self.known.get(self.begun).filter(|served| served.service.start <= at) {
            now.wait = next.wait();
            self.begun += 1;
        }
    }

    /// When a unit leaves the queue next or a service ends.
    pub(super) fn next_change(&self) -> Time {
        let leaves = self.known.range(self.left..).find(|served| served.joins()).map(|served| served.leaves);
        let ends = self.first().map(|service| service.end);
        leaves.unwrap_or(Time::NEVER).min(ends.unwrap_or(Time::NEVER))
    }

    /// When the first service begins, if it has not begun.
    pub(super) fn next_start(&self) -> Time {
        self.first().filter(|_| self.begun == 0).map_or(Time::NEVER, |service| service.start)
    }

    /// The last service ends at `end` instead. `in_queue`: the unit is in the queue until then.
    pub(super) fn reschedule(&mut self, end: Time, in_queue: bool) {
        if let Some(last) = self.known.back_mut() {
            last.service.end = end;
            if in_queue {
                last.leaves = end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// Two units of 100 bytes come together and are served for 10 us each, from 5 us on; a third is never in the queue.
    fn three() -> Services {
        let mut services = Services::default();
        for (arrival, start, end) in [(0, 5, 15), (0, 15, 25), (30, 30, 40)] {
            let service = Service { start: at(start), end: at(end) };
            services.push(&Served {
                arrival: at(arrival),
                service,
                leaves: at(start),
                bytes: 100,
                wire: 110,
            });
        }
        services
    }

    #[test]
    fn all_changes_of_a_unit_come_at_their_times() {
        let mut changes = Vec::new();
        let mut services = three();
        while services.next_change().min(services.next_start()) != Time::NEVER {
            let next = services.next_change().min(services.next_start());
            services.apply(next, &mut GateRow { queue_packets: 2, queue_bytes: 200, ..GateRow::EMPTY });
            changes.push(next);
        }
        assert_eq!(changes, [5, 15, 25, 30, 40].map(at));
    }

    /// At a gate whose rate is set during a service, the unit leaves when that ends, and not when it would have ended.
    #[test]
    fn a_service_that_ends_at_another_time() {
        let mut services = three();
        services.reschedule(at(37), false);
        let mut now = GateRow { queue_packets: 2, queue_bytes: 200, ..GateRow::EMPTY };
        assert_eq!([36, 37].map(|micros| services.apply(at(micros), &mut now)), [2, 1]);
        services.push(&Served { arrival: at(50), leaves: at(60), ..three().known[0] });
        services.reschedule(at(70), true);
        assert_eq!(services.next_change(), at(70));
    }

    /// However often changes are applied on the way, the gate is the same afterwards.
    #[test]
    fn applied_together_or_one_by_one() {
        for last in 0..50 {
            let [mut steps, mut whole] = [GateRow {
                queue_packets: 2,
                queue_bytes: 200,
                wait: Span::ZERO,
                tokens: 0.0,
                ..GateRow::EMPTY
            }; 2];
            let (mut some, mut all) = (three(), three());
            let ended: u64 = (0..=last).map(|micros| some.apply(at(micros), &mut steps)).sum();
            assert_eq!(all.apply(at(last), &mut whole), ended);
            let seen = |row: &GateRow| (row.queue_packets, row.queue_bytes, row.delivered_bytes, row.wait);
            assert_eq!((seen(&steps), some.first()), (seen(&whole), all.first()), "at {last} us");
        }
    }
}
