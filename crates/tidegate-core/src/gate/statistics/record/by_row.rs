//! What is known to change at a gate whose rows are written at fixed times.
//!
//! Such a row shows sums, so nothing is kept of a unit: each change is added to those of the first row that shows it.
//! An arrival changes the gate at once, and the rows before it are written first.

mod writing;

use std::collections::VecDeque;

use super::together::{Reached, Together};
use crate::gate::rate::Service;
use crate::gate::statistics::count::less;
use crate::gate::statistics::{GateRow, Served};
use crate::units::{Span, Time};

/// The changes of each row that has something to show.
#[derive(Clone, Debug)]
pub(super) struct ByRow {
    /// When the next row is due.
    next: Time,
    /// From one row to the next.
    every: Span,
    /// No row is written then or later.
    until: Time,
    /// What the next row shows: all changes until then.
    due: Changes,
    /// What each of the rows after it is the first to show, in order.
    later: VecDeque<Changes>,
    /// The instant of the last row in `later`, or of the next row where there is none.
    last_known: Time,
    /// The unit whose service became known last, at a gate whose rate may be set during a service.
    last: Option<Served>,
    rate_is_set: bool,
}

/// What changes at a gate until a row, or from one row to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Changes {
    /// Units that leave the queue, and their IP bytes.
    left: (u64, u64),
    /// Services that end, from the row before at a gate with cells; and the bytes on the wire of all of them.
    ended: (u64, u64),
    /// Units that are lost at the end of their service.
    lost: u64,
    /// The last service that begins, and the wait before it.
    begun: Option<(Service, Span)>,
}

impl Changes {
    /// They are shown by a row that shows everything else.
    #[inline(always)]
    fn show(&self, row: &mut GateRow) {
        row.queue_packets = less(row.queue_packets, self.left.0);
        row.queue_bytes = less(row.queue_bytes, self.left.1);
        row.delivered_bytes += self.ended.1;
        row.dropped_packets += self.lost;
        if let Some((_, wait)) = self.begun {
            row.wait = wait;
        }
    }

    /// `later` follow.
    #[inline(always)]
    fn add(&mut self, later: &Changes) {
        let sum = |one: (u64, u64), other: (u64, u64)| (one.0 + other.0, one.1 + other.1);
        self.left = sum(self.left, later.left);
        self.ended = sum(self.ended, later.ended);
        self.lost += later.lost;
        self.begun = later.begun.or(self.begun);
    }
}

impl ByRow {
    /// Rows `every` so often until `until`.
    pub(super) fn new(every: Span, until: Time, rate_is_set: bool) -> ByRow {
        ByRow {
            next: Time::ZERO,
            every,
            until,
            due: Changes::default(),
            later: VecDeque::new(),
            last_known: Time::ZERO,
            last: None,
            rate_is_set,
        }
    }

    /// When the next row is due; [`Time::NEVER`] after the last.
    #[inline(always)]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// The next row is written: the one after it is due.
    #[inline(always)]
    fn step(&mut self) {
        if let Some(later) = self.later.front() {
            self.due.add(later);
            self.later.pop_front();
        }
        self.next = self.next.saturating_add(self.every);
        self.last_known = self.last_known.max(self.next);
        if self.next >= self.until {
            self.next = Time::NEVER;
        }
    }

    /// What is in service at `at`, the instant of the next row.
    pub(super) fn in_service(&self, at: Time) -> Option<Service> {
        self.due.begun.map(|(service, _)| service).filter(|service| service.end > at)
    }

    /// Where to add what the first row shows that shows what happens at `at`; `None`: no row shows it.
    #[inline(always)]
    fn of(&mut self, at: Time) -> Option<&mut Changes> {
        if at <= self.next { Some(&mut self.due) } else { self.of_later(at) }
    }

    #[inline(always)]
    fn of_later(&mut self, at: Time) -> Option<&mut Changes> {
        // Most often the last row with changes, or the one after it: what becomes known is seldom before what was known.
        if at > self.last_known {
            let after = self.last_known.saturating_add(self.every);
            if at > after || at >= self.until {
                return self.of_any(at);
            }
            self.last_known = after;
            self.later.push_back(Changes::default());
        } else if self.last_known.saturating_since(at) >= self.every {
            return self.of_any(at);
        }
        self.later.back_mut()
    }

    #[inline(never)]
    fn of_any(&mut self, at: Time) -> Option<&mut Changes> {
        if at >= self.until {
            return None;
        }
        let place = usize::try_from(self.rows_before(at) - 1).ok()?;
        if place >= self.later.len() {
            self.later.resize(place + 1, Changes::default());
            self.last_known = self.next.saturating_add(self.every.saturating_mul(place as u64 + 1));
        }
        self.later.get_mut(place)
    }

    /// So many rows, the next one and others, are due before `at`.
    #[inline(always)]
    fn rows_before(&self, at: Time) -> u64 {
        at.saturating_since(self.next).picos().div_ceil(self.every.picos())
    }

    /// The first row that shows what happens at `at`; [`Time::ZERO`]: none does.
    #[inline(always)]
    fn row_of(&self, at: Time) -> Time {
        if at <= self.next {
            return self.next;
        }
        // Most often the last row with changes, or the one after it.
        let last = self.last_known;
        let row = if at > last { last.saturating_add(self.every) } else { last };
        let row = if at <= row && row.saturating_since(at) < self.every {
            row
        } else {
            self.next.saturating_add(self.every.saturating_mul(self.rows_before(at)))
        };
        if row < self.until { row } else { Time::ZERO }
    }

    /// The service of a unit is known.
    #[inline(always)]
    pub(super) fn serve(&mut self, served: &Served) {
        let bytes = u64::from(served.bytes);
        if let Some(changes) = self.of(served.service.start) {
            changes.begun = Some((served.service, served.wait()));
            if served.joins() && served.leaves_at_start() {
                changes.left = (changes.left.0 + 1, changes.left.1 + bytes);
            }
        }
        self.end(served, true);
        if self.rate_is_set {
            self.last = Some(*served);
        }
    }

    /// A unit leaves the queue if it is still there, and its service ends; `false`: it does not, after all.
    #[inline(always)]
    fn end(&mut self, served: &Served, does: bool) {
        let add = |sum: &mut (u64, u64), bytes: u32| {
            let (one, bytes) = (1, u64::from(bytes));
            let (one, bytes) =
                if does { (one, bytes) } else { (u64::wrapping_neg(one), bytes.wrapping_neg()) };
            *sum = (sum.0.wrapping_add(one), sum.1.wrapping_add(bytes));
        };
        if let Some(changes) = self.of(served.service.end) {
            add(&mut changes.ended, served.wire);
        }
        if served.joins()
            && !served.leaves_at_start()
            && let Some(changes) = self.of(served.leaves)
        {
            add(&mut changes.left, served.bytes);
        }
    }

    /// The last service ends at `end` instead. `in_queue`: the unit is in the queue until then.
    pub(super) fn reschedule(&mut self, end: Time, in_queue: bool) {
        let Some(mut last) = self.last else { return };
        self.end(&last, false);
        last.service.end = end;
        if in_queue {
            last.leaves = end;
        }
        self.end(&last, true);
        self.last = Some(last);
        let start = last.service.start;
        let to_be_shown =
            self.of(start).and_then(|changes| changes.begun.as_mut()).map(|(service, _)| service);
        if let Some(service) = to_be_shown.filter(|service| service.start == start) {
            service.end = end;
        }
    }

    /// A unit is lost at the end of its service.
    pub(super) fn lose(&mut self, end: Time) {
        if let Some(changes) = self.of(end) {
            changes.lost += 1;
        }
    }

    /// The services of units that come together are known.
    fn serve_together(&mut self, together: &Together) {
        let rows = self.rows_before(Time::from_picos(together.starts.first.whole));
        let mut row = self.next.saturating_add(self.every.saturating_mul(rows));
        let mut before = Reached::default();
        while before.ended < together.starts.terms && row < self.until {
            let by = together.reached(row);
            if let Some(changes) = self.of(row) {
                changes.left.0 += by.left - before.left;
                changes.left.1 += (by.left - before.left) * u64::from(together.bytes);
                changes.ended.0 += by.ended - before.ended;
                changes.ended.1 += (by.ended - before.ended) * u64::from(together.bytes);
                if by.begun > before.begun {
                    changes.begun = Some(together.service(by.begun - 1));
                }
            }
            (before, row) = (by, row.saturating_add(self.every));
        }
    }
}

#[cfg(test)]
mod tests;
