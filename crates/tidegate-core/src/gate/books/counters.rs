//! What a gate counts: always, in whole units and bytes, before and inside the measured time, so that at any
//! instant arrived = delivered + dropped + held.

use super::bins::Precision;
use super::count::{Count, Phases};
use super::progression::Progression;
use super::quantiles::{Quantiles, Recording};
use crate::gate::backlog::Backlog;
use crate::gate::rate::Service;
use crate::units::{Measured, Span, Time};

/// Counters and statistics of one gate.
///
/// Each unit that arrives is refused at once (`refused`), served at once, served after a wait (`waits`), or taken into
/// the queue and never served (`unserved`): it is dropped there (`culled`), or the run ends. So units that are served at once need no count of their own.
#[derive(Clone, Debug)]
pub struct Counters {
    measured: Measured,
    /// Units that arrived and were delivered inside the measured time: nearly all.
    inside: Count,
    /// The other arrivals.
    offered: Phases,
    /// The other units whose service ended and that were not lost.
    delivered: Phases,
    /// Units dropped at their arrival.
    refused: Phases,
    /// Units that had joined the queue and were dropped from it.
    culled: Phases,
    /// Units lost after service.
    lost: Phases,
    /// Units marked CE.
    marked: Phases,
    /// Waits of the units that waited.
    waits: Quantiles,
    /// Units that joined the queue inside the measured time and are never served.
    unserved: u64,
    /// Largest queue inside the measured time, as the gate's queue counts.
    pub queue_max: u64,
    /// Largest queue in IP bytes.
    pub queue_max_bytes: u64,
    /// Units in the queue times the picoseconds that they were there, inside the measured time.
    queue_area: u128,
}

/// What happens to units one at a time.
impl Counters {
    /// Nothing counted; `measured` is the time that summaries count.
    #[must_use]
    pub fn new(measured: Measured, precision: Precision) -> Counters {
        Counters {
            measured,
            inside: Count::default(),
            offered: Phases::default(),
            delivered: Phases::default(),
            refused: Phases::default(),
            culled: Phases::default(),
            lost: Phases::default(),
            marked: Phases::default(),
            waits: Quantiles::new(precision),
            unserved: 0,
            queue_max: 0,
            queue_max_bytes: 0,
            queue_area: 0,
        }
    }

    /// The time that summaries count.
    pub(in crate::gate) fn measured(&self) -> Measured {
        self.measured
    }

    /// Counts a unit that arrived at `at` and is delivered at `end`.
    #[inline]
    pub(crate) fn pass(&mut self, at: Time, end: Time, wire: u64) {
        if at < self.measured.from || end >= self.measured.until {
            return self.pass_outside(at, end, wire);
        }
        self.inside.add(wire);
    }

    /// Whether a queue is larger than any before, in units or in bytes.
    #[inline]
    pub(crate) fn is_larger(&self, queue: Backlog) -> bool {
        queue.units > self.queue_max || queue.bytes > self.queue_max_bytes
    }

    /// Counts a unit that arrived at `at`, waits for its service and is delivered at its end. `queue` is the queue at
    /// the arrival, this unit included.
    #[inline(always)]
    pub(crate) fn pass_waiting(&mut self, at: Time, service: Service, wire: u64, queue: Backlog) {
        if at < self.measured.from || service.end >= self.measured.until {
            return self.pass_waiting_outside(at, service, wire, queue);
        }
        let wait = service.start.saturating_since(at);
        self.inside.add(wire);
        self.waits.record_some(wait);
        self.queue_area += u128::from(wait.picos());
        self.queue_max = self.queue_max.max(queue.units);
        self.queue_max_bytes = self.queue_max_bytes.max(queue.bytes);
    }

    /// Counts a wait of so many units, which is not zero and lies inside the measured time, in a queue that counts waiting units alone.
    pub(in crate::gate) fn wait_inside(&mut self, wait: Span, units: u64) {
        self.waits.record_alike(wait, units);
        self.queue_area += u128::from(wait.picos()) * u128::from(units);
    }

    #[cold]
    fn pass_outside(&mut self, at: Time, end: Time, wire: u64) {
        self.offered.add(self.measured, at, wire);
        self.delivered.add(self.measured, end, wire);
    }

    #[cold]
    fn pass_waiting_outside(&mut self, at: Time, service: Service, wire: u64, queue: Backlog) {
        self.pass_outside(at, service.end, wire);
        self.wait(at, service.start);
        self.queued(at, service.start);
        self.queue_is(at, queue);
    }

    /// Counts a unit that is dropped at its arrival.
    #[cold]
    pub(super) fn refuse(&mut self, at: Time, wire: u64) {
        self.offered.add(self.measured, at, wire);
        self.refused.add(self.measured, at, wire);
    }

    /// Counts a unit that arrived at `arrival` and is dropped from the queue at `at`.
    #[cold]
    pub(super) fn cull(&mut self, arrival: Time, at: Time, wire: u64) {
        self.offered.add(self.measured, arrival, wire);
        self.culled.add(self.measured, at, wire);
        self.wait(arrival, Time::NEVER);
        self.queued(arrival, at);
    }

    /// Counts a unit that is marked CE at `at`.
    pub(super) fn mark(&mut self, at: Time, wire: u64) {
        self.marked.add(self.measured, at, wire);
    }

    /// Counts a unit that arrived at `at` and is lost at the end of its service.
    #[cold]
    pub(super) fn lose(&mut self, at: Time, end: Time, wire: u64) {
        self.offered.add(self.measured, at, wire);
        self.lost.add(self.measured, end, wire);
    }

    /// Counts the wait of a unit that arrived at `at` and is served from `start` on, later than that. With
    /// [`Time::NEVER`] it is never served.
    #[inline]
    pub(super) fn wait(&mut self, at: Time, start: Time) {
        if !self.measures(at) {
            return;
        }
        if start == Time::NEVER {
            self.unserved += 1;
        } else {
            self.waits.record_some(start.saturating_since(at));
        }
    }

    /// Counts a unit's time in the queue, from `at` to `leaves`.
    #[inline]
    pub(super) fn queued(&mut self, at: Time, leaves: Time) {
        self.queue_area += u128::from(self.measured.overlap(at, leaves));
    }

    /// Corrects [`Counters::queued`]: the unit does not leave at `expected` but at `leaves`.
    pub(super) fn requeued(&mut self, at: Time, expected: Time, leaves: Time) {
        self.queue_area -= u128::from(self.measured.overlap(at, expected));
        self.queue_area += u128::from(self.measured.overlap(at, leaves));
    }

    /// Notes the size of the queue at `at`.
    #[inline]
    pub(super) fn queue_is(&mut self, at: Time, queue: Backlog) {
        if self.measures(at) {
            self.queue_max = self.queue_max.max(queue.units);
            self.queue_max_bytes = self.queue_max_bytes.max(queue.bytes);
        }
    }

    #[inline]
    fn measures(&self, at: Time) -> bool {
        at >= self.measured.from && at < self.measured.until
    }
}

/// Units of one size that wait one after the other, each of which arrives and is delivered inside the measured time.
pub(crate) struct Waiting<'a> {
    inside: &'a mut Count,
    waits: Recording<'a>,
    queue_area: &'a mut u128,
    wire: u64,
    /// Those that do not wait.
    at_once: u64,
    /// The largest queue so far.
    pub(crate) most: Backlog,
    queue_max: &'a mut u64,
    queue_max_bytes: &'a mut u64,
}

impl Waiting<'_> {
    /// Counts one that waits for so long, in a queue that is not larger than any before or was noted. As [`Counters::pass_waiting`].
    #[inline(always)]
    pub(crate) fn pass(&mut self, wait: Span) {
        self.waits.record_some(wait);
    }

    /// Counts `units` that do not wait. As [`Counters::pass`].
    #[inline(always)]
    pub(crate) fn pass_at_once(&mut self, units: u64) {
        self.at_once += units;
    }

    /// The last of them has passed.
    #[inline(always)]
    pub(crate) fn end(self) {
        let units = self.at_once + self.waits.count();
        self.inside.packets += units;
        self.inside.bytes += units * self.wire;
        *self.queue_area += self.waits.end();
        *self.queue_max = self.most.units;
        *self.queue_max_bytes = self.most.bytes;
    }
}

impl Counters {
    /// Begins to count units of `wire` bytes that wait one after the other.
    #[inline(always)]
    pub(crate) fn waiting(&mut self, wire: u64) -> Waiting<'_> {
        let Counters { inside, waits, queue_area, queue_max, queue_max_bytes, .. } = self;
        let most = Backlog { units: *queue_max, bytes: *queue_max_bytes };
        Waiting {
            inside,
            waits: waits.recording(),
            queue_area,
            wire,
            at_once: 0,
            most,
            queue_max,
            queue_max_bytes,
        }
    }
}

/// What happens to many units of one size together, each of which arrives and is delivered inside the measured time.
impl Counters {
    /// Counts `units`, and no wait of theirs.
    #[inline]
    pub(crate) fn pass_many(&mut self, units: u64, wire: u64) {
        self.inside.packets += units;
        self.inside.bytes += units * wire;
    }

    /// Counts `units` that arrive at one instant. `waits` has the wait of each that waits in picoseconds, none shorter
    /// than the one before; `queue` is the number of units in the queue after the last of them.
    pub(crate) fn pass_rising(
        &mut self,
        units: u64,
        waits: impl ExactSizeIterator<Item = u64>,
        wire: u64,
        queue: u64,
    ) {
        self.pass_many(units, wire);
        if waits.len() > 0 {
            self.queue_area += self.waits.record_rising(waits);
            self.queue_max = self.queue_max.max(queue);
            self.queue_max_bytes = self.queue_max_bytes.max(queue * wire);
        }
    }

    /// Counts units that arrive at one instant, one for each term of `waits`, which is its wait. `queue` is the queue
    /// after the last of them.
    pub(crate) fn pass_waiting_evenly(&mut self, waits: &Progression, wire: u64, queue: Backlog) {
        self.pass_many(waits.terms, wire);
        self.queue_area += self.waits.record_evenly(waits);
        self.queue_max = self.queue_max.max(queue.units);
        self.queue_max_bytes = self.queue_max_bytes.max(queue.bytes);
    }

    /// Counts `units` that arrive at different instants. Each waits for `wait` in a queue of `queue` units.
    pub(crate) fn pass_alike(&mut self, units: u64, wire: u64, wait: Span, queue: u64) {
        self.pass_many(units, wire);
        if units > 0 && wait > Span::ZERO {
            self.wait_inside(wait, units);
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

/// What was counted.
impl Counters {
    /// Units that arrived.
    #[must_use]
    pub fn offered(&self) -> Phases {
        self.offered.with(self.inside)
    }

    /// Units whose service ended and that were not lost.
    #[must_use]
    pub fn delivered(&self) -> Phases {
        self.delivered.with(self.inside)
    }

    /// Units dropped at their arrival.
    #[must_use]
    pub fn refused(&self) -> Phases {
        self.refused
    }

    /// Units dropped from the queue.
    #[must_use]
    pub fn culled(&self) -> Phases {
        self.culled
    }

    /// Units lost after service.
    #[must_use]
    pub fn lost(&self) -> Phases {
        self.lost
    }

    /// Units marked CE.
    #[must_use]
    pub fn marked(&self) -> Phases {
        self.marked
    }

    /// Waiting times of the units that arrived inside the measured time and were served.
    #[must_use]
    pub fn waits(&self) -> Quantiles {
        let mut waits = self.waits.clone();
        let joined = self.offered().measured().packets - self.refused.measured().packets;
        waits.set_zeros(joined - self.unserved - self.waits.count());
        waits
    }

    /// Mean queue inside the measured time.
    #[must_use]
    pub fn queue_mean(&self) -> f64 {
        let span = self.measured.overlap(Time::ZERO, Time::NEVER);
        if span == 0 { 0.0 } else { self.queue_area as f64 / span as f64 }
    }

    /// Units that arrived and had not left when the run ended.
    #[must_use]
    pub fn held(&self) -> Count {
        let arrived = self.offered().total();
        let gone = [self.delivered(), self.refused, self.culled, self.lost].map(|phases| phases.total());
        Count {
            packets: arrived.packets - gone.map(|count| count.packets).iter().sum::<u64>(),
            bytes: arrived.bytes - gone.map(|count| count.bytes).iter().sum::<u64>(),
        }
    }
}

#[cfg(test)]
mod tests;
