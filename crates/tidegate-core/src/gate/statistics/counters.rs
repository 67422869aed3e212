//! The counters of a gate: always kept, in whole units and bytes, before and inside the measured time. At any instant
//! arrived = delivered + dropped + filtered + held. No number here can fall below zero: a difference that would is an
//! error of the program and ends it, in release builds too ([`less`]).

use std::fmt;

use super::bins::Precision;
use super::count::{BELOW_ZERO, Count, Phases, less};
use super::progression::Progression;
use super::quantiles::{Lengths, Quantiles};
use super::still_waiting::StillWaiting;
use crate::gate::backlog::Backlog;
use crate::gate::drops::DropReason;
use crate::gate::rate::Service;
use crate::units::{Measured, Span, Time};

/// Counters and statistics of one gate.
///
/// Each unit that arrives is refused at once (`refused`), served at once, served after a wait (`waits`), or taken into
/// the queue and not served (`unserved`): it is dropped there (`culled`, `filtered`), or still waits when the run ends (`waiting`). So units that are
/// served at once need no count of their own.
#[derive(Clone, Debug)]
pub struct Counters {
    measured: Measured,
    /// Units that arrived and were delivered inside the measured time: nearly all.
    inside: Count,
    /// The other arrivals.
    arrived: Phases,
    /// The other units whose service ended and that were not lost.
    delivered: Phases,
    /// Units dropped at their arrival.
    refused: Phases,
    /// Units that had joined the queue and were dropped from it.
    culled: Phases,
    /// ACKs that had joined the queue and were dropped from it as needless: no losses.
    filtered: Filtered,
    /// Units lost after service.
    lost: Phases,
    /// Units marked CE.
    marked: Phases,
    /// Waits of the units that waited.
    pub(in crate::gate) waits: Quantiles,
    /// Units that joined the queue inside the measured time and whose service does not begin in it.
    unserved: u64,
    /// Units whose service has not begun when the run ends.
    waiting: StillWaiting,
    /// The queue when the measured time begins, as the gate's queue counts.
    standing: Backlog,
    /// Largest queue that a unit joined inside the measured time.
    queue_max: u64,
    /// Largest queue in IP bytes that a unit joined inside the measured time.
    queue_max_bytes: u64,
    /// Units in the queue times the picoseconds that they were there, inside the measured time.
    queue_area: u128,
}

/// What an ACK filter dropped; written out only where it did: golden tables hold digests of what is written of counters.
#[derive(Clone, Copy, Default)]
struct Filtered(Phases);

impl fmt::Debug for Filtered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.total().packets == 0 { f.write_str("none") } else { self.0.fmt(f) }
    }
}

/// Counting units one at a time.
impl Counters {
    /// Nothing counted; `measured` is the time that summaries count.
    #[must_use]
    pub fn new(measured: Measured, precision: Precision) -> Counters {
        Counters {
            measured,
            inside: Count::default(),
            arrived: Phases::default(),
            delivered: Phases::default(),
            refused: Phases::default(),
            culled: Phases::default(),
            filtered: Filtered::default(),
            lost: Phases::default(),
            marked: Phases::default(),
            waits: Quantiles::new(precision),
            unserved: 0,
            waiting: StillWaiting::default(),
            standing: Backlog::default(),
            queue_max: 0,
            queue_max_bytes: 0,
            queue_area: 0,
        }
    }

    /// Counts a unit that arrived at `at` and is delivered at the end of its service. `queue` is the queue with this unit, if it waits.
    #[inline]
    pub(crate) fn pass(&mut self, at: Time, service: Service, wire: u64, queue: Backlog) {
        self.deliver(at, service.end, wire);
        self.serve(at, service.start, (service.start, wire));
        if service.start > at {
            self.queue_is(at, queue);
        }
    }

    /// Counts the wait of a unit that arrived at `at` and is served from `start` on, and the time in the queue of its IP bytes.
    #[inline(always)]
    pub(in crate::gate) fn serve(&mut self, at: Time, start: Time, (leaves, bytes): (Time, u64)) {
        if start > at {
            self.wait(at, start);
        }
        if leaves > at {
            self.queued(at, leaves, bytes);
        }
    }

    /// Counts a unit that arrived at `at` and is delivered at `end`. Its wait is not counted here.
    #[inline]
    pub(in crate::gate) fn deliver(&mut self, at: Time, end: Time, wire: u64) {
        if at < self.measured.from || end >= self.measured.until {
            self.arrived.add(self.measured, at, wire);
            self.delivered.add(self.measured, end, wire);
        } else {
            self.inside.add(wire);
        }
    }

    /// The largest queue so far that a unit joined inside the measured time.
    #[inline]
    pub(in crate::gate) fn largest(&self) -> Backlog {
        Backlog { units: self.queue_max, bytes: self.queue_max_bytes }
    }

    /// Whether a queue is larger than any before, in units or in bytes.
    #[inline]
    pub(in crate::gate) fn is_larger(&self, queue: Backlog) -> bool {
        queue.units > self.queue_max || queue.bytes > self.queue_max_bytes
    }

    /// Counts a wait inside the measured time, in a queue that counts only waiting units.
    #[inline(always)]
    pub(in crate::gate) fn add_wait(&mut self, wait: Span) {
        self.waits.record_some(wait);
        self.queue_area += u128::from(wait.picos());
    }

    /// Counts waits that were recorded one after the other, inside the measured time, in a queue that counts only waiting units.
    #[inline(always)]
    pub(in crate::gate) fn add_waits(&mut self, waits: Lengths) {
        self.queue_area += waits.end(&mut self.waits);
    }

    /// Counts a unit that is dropped at its arrival.
    #[cold]
    pub(super) fn refuse(&mut self, at: Time, wire: u64) {
        self.arrived.add(self.measured, at, wire);
        self.refused.add(self.measured, at, wire);
    }

    /// Counts a unit that arrived at `arrival` and is dropped from the queue at `at`, with its IP bytes and those on the wire.
    #[cold]
    pub(super) fn cull(
        &mut self,
        (arrival, at): (Time, Time),
        (bytes, wire): (u32, u32),
        reason: DropReason,
    ) {
        self.arrived.add(self.measured, arrival, u64::from(wire));
        let counted = if reason.is_loss() { &mut self.culled } else { &mut self.filtered.0 };
        counted.add(self.measured, at, u64::from(wire));
        if at >= self.measured.until {
            self.still_waits(arrival);
        } else if self.measured.holds(arrival) {
            self.unserved += 1;
        }
        self.queued(arrival, at, u64::from(bytes));
    }

    /// Counts a unit that is marked CE at `at`.
    pub(super) fn mark(&mut self, at: Time, wire: u64) {
        self.marked.add(self.measured, at, wire);
    }

    /// Counts a unit that arrived at `at` and is lost at the end of its service.
    #[cold]
    pub(super) fn lose(&mut self, at: Time, end: Time, wire: u64) {
        self.arrived.add(self.measured, at, wire);
        self.lost.add(self.measured, end, wire);
    }

    /// Counts the wait of a unit that arrived at `at` and is served from `start` on, later than that. One whose service
    /// does not begin before the run ends has not waited for it: it still waits.
    #[inline]
    pub(super) fn wait(&mut self, at: Time, start: Time) {
        if start >= self.measured.until {
            self.still_waits(at);
        } else if at >= self.measured.from {
            self.waits.record_some(start.saturating_since(at));
        }
    }

    /// Counts a unit that arrived at `at` and is in the queue when the run ends.
    #[cold]
    fn still_waits(&mut self, at: Time) {
        if at < self.measured.until {
            self.waiting.add(self.measured.until.saturating_since(at));
            self.unserved += u64::from(at >= self.measured.from);
        }
    }

    /// Counts the time in the queue of a unit of so many IP bytes, from `at` to `leaves`.
    #[inline]
    pub(super) fn queued(&mut self, at: Time, leaves: Time, bytes: u64) {
        self.queue_area += u128::from(self.measured.overlap(at, leaves));
        if self.stands(at, leaves) {
            self.standing = self.standing.and(Backlog { units: 1, bytes });
        }
    }

    /// Corrects [`Counters::queued`]: the unit does not leave at `expected` but at `leaves`.
    pub(super) fn requeued(&mut self, at: Time, (expected, leaves): (Time, Time), bytes: u64) {
        let counted = u128::from(self.measured.overlap(at, expected));
        self.queue_area = self.queue_area.checked_sub(counted).expect(BELOW_ZERO);
        if self.stands(at, expected) {
            let Backlog { units, bytes: held } = self.standing;
            self.standing = Backlog { units: less(units, 1), bytes: less(held, bytes) };
        }
        self.queued(at, leaves, bytes);
    }

    /// Whether a unit that is in the queue from `at` to `leaves` is there when the measured time begins.
    #[inline]
    fn stands(&self, at: Time, leaves: Time) -> bool {
        at < self.measured.from && leaves > self.measured.from
    }

    /// Notes the size of the queue at `at`.
    #[inline]
    pub(in crate::gate) fn queue_is(&mut self, at: Time, queue: Backlog) {
        if self.measured.holds(at) {
            self.queue_max = self.queue_max.max(queue.units);
            self.queue_max_bytes = self.queue_max_bytes.max(queue.bytes);
        }
    }
}

/// Counting many units of one size together, each of which arrives and is delivered inside the measured time.
impl Counters {
    /// Counts units that arrive at one instant, one for each term of `waits`, which is its wait. `queue` is the queue
    /// after the last of them.
    pub(crate) fn pass_waiting_evenly(&mut self, waits: &Progression, wire: u64, queue: Backlog) {
        self.pass_alike(waits.terms, wire, Span::ZERO, 0);
        self.queue_area += self.waits.record_evenly(waits);
        self.queue_max = self.queue_max.max(queue.units);
        self.queue_max_bytes = self.queue_max_bytes.max(queue.bytes);
    }

    /// Counts `units` that arrive at different instants. Each waits for `wait` in a queue of `queue` units.
    pub(crate) fn pass_alike(&mut self, units: u64, wire: u64, wait: Span, queue: u64) {
        self.inside.packets += units;
        self.inside.bytes += units * wire;
        if units > 0 && wait > Span::ZERO {
            self.waits.record_alike(wait, units);
            self.queue_area += u128::from(wait.picos()) * u128::from(units);
            self.queue_max = self.queue_max.max(queue);
            self.queue_max_bytes = self.queue_max_bytes.max(queue * wire);
        }
    }

    /// These counters and `more` units, without any wait of theirs.
    pub(in crate::gate) fn with_inside(&self, more: Count) -> Counters {
        let mut counters = self.clone();
        counters.inside.packets += more.packets;
        counters.inside.bytes += more.bytes;
        counters
    }
}

mod totals;

#[cfg(test)]
mod tests;
