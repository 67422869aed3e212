//! What a gate counts: always, in whole units and bytes, before and inside the measured
//! measured time, so that in = delivered + dropped + held at any end.

use crate::gate::quantiles::{Precision, Quantiles};
use crate::gate::rate::Service;
use crate::units::{Measured, Span, Time};

/// Why a unit was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was full.
    QueueFull = 0,
    /// Random loss.
    Loss = 1,
    /// No bucket could ever hold its tokens.
    TooLarge = 2,
    /// Packet discard threw a cell away.
    Discarded = 3,
    /// Its cells came, but AAL5 could not tell it from the packet before.
    Reassembly = 4,
    /// It did not conform to a policer's limits.
    Policed = 5,
    /// The call for its circuit was refused.
    Refused = 6,
}

impl DropReason {
    /// How many there are.
    pub const COUNT: usize = 7;

    /// All of them, in the order of their codes.
    pub const ALL: [DropReason; DropReason::COUNT] = [
        DropReason::QueueFull,
        DropReason::Loss,
        DropReason::TooLarge,
        DropReason::Discarded,
        DropReason::Reassembly,
        DropReason::Policed,
        DropReason::Refused,
    ];

    /// What people call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::QueueFull => "queue full",
            DropReason::Loss => "random loss",
            DropReason::TooLarge => "too large",
            DropReason::Discarded => "packet discard",
            DropReason::Reassembly => "reassembly",
            DropReason::Policed => "policed",
            DropReason::Refused => "refused",
        }
    }
}

/// Units and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Units.
    pub packets: u64,
    /// Bytes on the gate's wire.
    pub bytes: u64,
}

impl Count {
    #[inline]
    fn add(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }
}

/// Counts before and inside the measured time; what comes after the end of the run does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases([Count; 2]);

impl Phases {
    fn add(&mut self, measured: Measured, at: Time, bytes: u64) {
        if at < measured.until {
            self.0[usize::from(at >= measured.from)].add(bytes);
        }
    }

    fn with(self, inside: Count) -> Phases {
        let [before, measured] = self.0;
        let packets = measured.packets + inside.packets;
        Phases([before, Count { packets, bytes: measured.bytes + inside.bytes }])
    }

    /// Inside the measured time.
    #[must_use]
    pub fn measured(&self) -> Count {
        self.0[1]
    }

    /// From the start to the end of the run.
    #[must_use]
    pub fn total(&self) -> Count {
        let [before, inside] = self.0;
        Count { packets: before.packets + inside.packets, bytes: before.bytes + inside.bytes }
    }
}

/// Counters and statistics of one gate.
#[derive(Clone, Debug)]
pub struct Counters {
    measured: Measured,
    /// Units that came and were delivered inside the measured time: nearly all.
    inside: Count,
    /// The others that came to the door.
    offered: Phases,
    /// The others whose service ended and that were not lost.
    delivered: Phases,
    /// Units dropped at the door.
    refused: Phases,
    /// Units lost after service.
    lost: Phases,
    waits: Quantiles,
    /// Units that entered inside the measured time and wait for ever.
    stuck: u64,
    /// Largest queue inside the measured time, as the gate's queue counts.
    pub queue_max: u64,
    /// Largest queue in IP bytes.
    pub queue_max_bytes: u64,
    queue_area: u128,
}

impl Counters {
    /// Nothing counted; `measured` is what summaries measure.
    #[must_use]
    pub fn new(measured: Measured, precision: Precision) -> Counters {
        Counters {
            measured,
            inside: Count::default(),
            offered: Phases::default(),
            delivered: Phases::default(),
            refused: Phases::default(),
            lost: Phases::default(),
            waits: Quantiles::new(precision),
            stuck: 0,
            queue_max: 0,
            queue_max_bytes: 0,
            queue_area: 0,
        }
    }

    /// A unit that came at `at` is delivered at `end`.
    #[inline]
    pub(crate) fn pass(&mut self, at: Time, end: Time, wire: u64) {
        if at < self.measured.from || end >= self.measured.until {
            return self.pass_outside(at, end, wire);
        }
        self.inside.add(wire);
    }

    /// Whether a queue of so many units and bytes is larger than any before.
    #[inline]
    pub(crate) fn is_larger(&self, queue: (u64, u64)) -> bool {
        queue.0 > self.queue_max || queue.1 > self.queue_max_bytes
    }

    /// The same of a unit that waits until `start` in a queue that is now so large.
    #[inline(always)]
    pub(crate) fn pass_waiting(&mut self, at: Time, service: Service, wire: u64, queue: (u64, u64)) {
        if at < self.measured.from || service.end >= self.measured.until {
            return self.pass_waiting_outside(at, service, wire, queue);
        }
        let wait = service.start.saturating_since(at);
        self.inside.add(wire);
        self.waits.record_some(wait);
        self.queue_area += u128::from(wait.picos());
        self.queue_max = self.queue_max.max(queue.0);
        self.queue_max_bytes = self.queue_max_bytes.max(queue.1);
    }

    /// So many units of one size came together and are delivered inside the measured time. Some wait, the later the
    /// longer; in the end the queue is so large.
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

    /// So many units of one size came and were delivered inside the measured time without waiting.
    #[inline]
    pub(crate) fn pass_many(&mut self, units: u64, wire: u64) {
        self.inside.packets += units;
        self.inside.bytes += units * wire;
    }

    /// So many units of one size came together and are delivered inside the measured time after evenly spaced
    /// waits that are not zero ([`Quantiles::record_evenly`]); in the end the queue is so large.
    pub(crate) fn pass_waiting_evenly(
        &mut self,
        units: u64,
        first: (u64, u64),
        gap: (u64, u64, u64),
        wire: u64,
        queue: (u64, u64),
    ) {
        self.pass_many(units, wire);
        self.queue_area += self.waits.record_evenly(first, gap, units);
        self.queue_max = self.queue_max.max(queue.0);
        self.queue_max_bytes = self.queue_max_bytes.max(queue.1);
    }

    /// So many units of one size came and were delivered inside the measured time, each after the
    /// same wait in a queue that was then so large.
    pub(crate) fn pass_alike(&mut self, units: u64, wire: u64, wait: Span, queue: u64) {
        self.pass_many(units, wire);
        if units > 0 && wait > Span::ZERO {
            self.waits.record_alike(wait, units);
            self.queue_area += u128::from(wait.picos()) * u128::from(units);
            self.queue_max = self.queue_max.max(queue);
            self.queue_max_bytes = self.queue_max_bytes.max(queue * wire);
        }
    }

    #[cold]
    fn pass_outside(&mut self, at: Time, end: Time, wire: u64) {
        self.offer(at, wire);
        self.deliver(end, wire);
    }

    #[cold]
    fn pass_waiting_outside(&mut self, at: Time, service: Service, wire: u64, queue: (u64, u64)) {
        self.pass_outside(at, service.end, wire);
        self.wait(at, service.start);
        self.queued(at, service.start);
        self.queue_is(at, queue.0, queue.1);
    }

    /// Counts an arrival. Its fate is reported separately.
    pub(super) fn offer(&mut self, at: Time, wire: u64) {
        self.offered.add(self.measured, at, wire);
    }

    /// A unit told by [`Counters::offer`] is delivered.
    pub(super) fn deliver(&mut self, end: Time, wire: u64) {
        self.delivered.add(self.measured, end, wire);
    }

    /// A unit told by [`Counters::offer`] is dropped.
    #[cold]
    pub(super) fn drop(&mut self, at: Time, wire: u64, reason: DropReason) {
        match reason {
            DropReason::Loss => self.lost.add(self.measured, at, wire),
            DropReason::QueueFull
            | DropReason::TooLarge
            | DropReason::Discarded
            | DropReason::Reassembly
            | DropReason::Policed
            | DropReason::Refused => self.refused.add(self.measured, at, wire),
        }
    }

    /// A unit that came at `at` waits for service until `start`, later than that.
    #[inline]
    pub(super) fn wait(&mut self, at: Time, start: Time) {
        if at < self.measured.from || at >= self.measured.until {
            return;
        }
        if start == Time::NEVER {
            self.stuck += 1;
        } else {
            self.waits.record_some(start.saturating_since(at));
        }
    }

    /// A unit counts in the queue from `at` to `leaves`.
    #[inline]
    pub(super) fn queued(&mut self, at: Time, leaves: Time) {
        self.queue_area += u128::from(self.measured.overlap(at, leaves));
    }

    /// A unit that counts in the queue since `at`, told to leave at `told`, leaves at `leaves`.
    pub(super) fn requeued(&mut self, at: Time, told: Time, leaves: Time) {
        self.queue_area -= u128::from(self.measured.overlap(at, told));
        self.queue_area += u128::from(self.measured.overlap(at, leaves));
    }

    /// The queue, this unit included, is so large at `at`.
    #[inline]
    pub(super) fn queue_is(&mut self, at: Time, packets: u64, bytes: u64) {
        if at >= self.measured.from && at < self.measured.until {
            self.queue_max = self.queue_max.max(packets);
            self.queue_max_bytes = self.queue_max_bytes.max(bytes);
        }
    }

    /// These counters, and more units that came and were delivered inside the measured time.
    pub(super) fn with_inside(&self, more: Count) -> Counters {
        let mut counters = self.clone();
        counters.inside.packets += more.packets;
        counters.inside.bytes += more.bytes;
        counters
    }

    /// Units that came to the door.
    #[must_use]
    pub fn offered(&self) -> Phases {
        self.offered.with(self.inside)
    }

    /// Units whose service ended and that were not lost.
    #[must_use]
    pub fn delivered(&self) -> Phases {
        self.delivered.with(self.inside)
    }

    /// Units dropped at the door.
    #[must_use]
    pub fn refused(&self) -> Phases {
        self.refused
    }

    /// Units lost after service.
    #[must_use]
    pub fn lost(&self) -> Phases {
        self.lost
    }

    /// Waiting times of the units that entered inside the measured time and are ever served.
    #[must_use]
    pub fn waits(&self) -> Quantiles {
        let mut waits = self.waits.clone();
        let entered = self.offered().measured().packets - self.refused.measured().packets;
        waits.set_zeros(entered - self.stuck - self.waits.count());
        waits
    }

    /// Mean queue inside the measured time.
    #[must_use]
    pub fn queue_mean(&self) -> f64 {
        let span = self.measured.overlap(Time::ZERO, Time::NEVER);
        if span == 0 { 0.0 } else { self.queue_area as f64 / span as f64 }
    }

    /// Units that came in and had not left when the run ended.
    #[must_use]
    pub fn held(&self) -> Count {
        let [came, left, refused, lost] =
            [self.offered(), self.delivered(), self.refused, self.lost].map(|phases| phases.total());
        Count {
            packets: came.packets - left.packets - refused.packets - lost.packets,
            bytes: came.bytes - left.bytes - refused.bytes - lost.bytes,
        }
    }
}

#[cfg(test)]
mod tests;
