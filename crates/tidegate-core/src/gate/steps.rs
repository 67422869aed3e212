//! A gate driven step by step: its queue holds units, its server one of them, and an event
//! ends each service. The slow twin of [`Gate::pass`], there to prove it.

use std::collections::VecDeque;

use crate::gate::rate::Service;
use crate::gate::{DropReason, Gate};
use crate::plan::QueueCounts;
use crate::unit::Unit;
use crate::units::Time;

/// What a gate driven step by step holds.
#[derive(Debug, Default)]
pub(super) struct Steps {
    serving: Option<Serving>,
    waiting: VecDeque<(Time, Unit)>,
    waiting_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Serving {
    unit: Unit,
    arrival: Time,
    service: Service,
    wire: u32,
}

impl Steps {
    pub(super) fn memory_bytes(&self) -> u64 {
        (self.waiting.capacity() * size_of::<(Time, Unit)>()) as u64
    }
}

impl Gate {
    /// Takes a unit into the queue, or into service when the server is idle and not stopped. Services that
    /// end at or before `at` must have been completed.
    ///
    /// # Errors
    /// Why the unit was dropped.
    pub fn arrive(&mut self, at: Time, mut unit: Unit) -> Result<(), DropReason> {
        self.police_packet(at, &mut unit)?;
        self.arrive_policed(at, unit)
    }

    /// Asks the policer alone, which may tag a packet.
    ///
    /// # Errors
    /// The packet was dropped.
    pub(crate) fn police_packet(&mut self, at: Time, unit: &mut Unit) -> Result<(), DropReason> {
        let wire = self.framing.unit_bytes(unit.bytes);
        if self.conforms(at, unit, wire) {
            return Ok(());
        }
        self.note_arrival(at, wire);
        self.refuse(at, wire, DropReason::Policed);
        Err(DropReason::Policed)
    }

    /// [`Gate::arrive`] for what the policer let through.
    pub(crate) fn arrive_policed(&mut self, at: Time, unit: Unit) -> Result<(), DropReason> {
        let wire = self.framing.unit_bytes(unit.bytes);
        self.note_arrival(at, wire);
        if !self.law.admits(wire) {
            self.refuse(at, wire, DropReason::TooLarge);
            return Err(DropReason::TooLarge);
        }
        let (packets, bytes) = self.queue_at(at);
        let idle = self.is_empty();
        if self.is_late(packets, &unit) || self.finds_no_place(at, idle, (packets, bytes), &unit, wire) {
            self.refuse(at, wire, DropReason::QueueFull);
            return Err(DropReason::QueueFull);
        }
        let bytes = bytes + u64::from(unit.bytes);
        if idle && !self.law.is_stopped() {
            self.begin(at, unit, Some((packets + 1, bytes)));
        } else {
            let steps = self.steps.get_or_insert_default();
            steps.waiting.push_back((at, unit));
            steps.waiting_bytes += u64::from(unit.bytes);
            self.note_queue(at, packets + 1, bytes, unit.bytes);
        }
        Ok(())
    }

    /// When the unit in service ends; `None` when idle.
    #[must_use]
    pub fn completes_at(&self) -> Option<Time> {
        self.steps.as_ref()?.serving.map(|serving| serving.service.end)
    }

    /// Arrival and service of the unit in service, as it stands; `None` when idle.
    pub(crate) fn serving(&self) -> Option<(Time, Service)> {
        self.steps.as_ref()?.serving.map(|serving| (serving.arrival, serving.service))
    }

    /// Whether nothing waits or is in service.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.as_ref().is_none_or(|steps| steps.serving.is_none() && steps.waiting.is_empty())
    }

    /// Ends the present service and begins the next; tells when the unit arrives at whatever
    /// comes next, `None` when it is lost. Panics when idle.
    pub fn complete(&mut self) -> (Unit, Option<Time>) {
        let steps = self.steps.as_mut().expect("a gate that serves");
        let Serving { unit, arrival: came, service, wire } = steps.serving.take().expect("a unit in service");
        self.begin_next();
        (unit, self.depart(came, service.end, wire))
    }

    /// Begins the service of the first that waits, if the server is idle and not stopped.
    pub(super) fn begin_next(&mut self) {
        if !self.law.is_stopped() {
            self.begin_first();
        }
    }

    fn begin_first(&mut self) {
        let Some(steps) = self.steps.as_mut().filter(|steps| steps.serving.is_none()) else { return };
        let Some((arrival, next)) = steps.waiting.pop_front() else { return };
        steps.waiting_bytes -= u64::from(next.bytes);
        self.begin(arrival, next, None);
    }

    /// The unit in service ends at `end` instead.
    pub(super) fn reschedule(&mut self, end: Time) {
        let in_queue = self.counts == QueueCounts::All;
        let Some(serving) = self.steps.as_mut().and_then(|steps| steps.serving.as_mut()) else { return };
        let told = std::mem::replace(&mut serving.service.end, end);
        if in_queue {
            self.counters.requeued(serving.arrival, told, end);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.reschedule(end, in_queue);
        }
    }

    /// States the services of all that still wait, as run-ahead did at their arrivals.
    pub fn settle(&mut self) {
        // Behind a closed circuit, or at a rate of zero: never.
        self.begin_first();
        while self.completes_at().is_some() {
            self.complete();
            self.begin_first();
        }
    }

    /// Asks the law. `joins`: the queue with this unit, when it comes to an idle server and
    /// was not told of yet.
    fn begin(&mut self, arrival: Time, mut unit: Unit, joins: Option<(u64, u64)>) {
        let wire = self.framing.unit_bytes(unit.bytes);
        let service = self.law.transmit(arrival, self.work(wire));
        if let Some((packets, bytes)) = joins
            && self.leaves(service) > arrival
        {
            self.note_queue(arrival, packets, bytes, unit.bytes);
        }
        self.book(arrival, &mut unit, service, wire);
        let steps = self.steps.get_or_insert_default();
        steps.serving = Some(Serving { unit, arrival, service, wire });
    }

    /// Units and IP bytes that count in the queue at `at`.
    pub(crate) fn queue_at(&self, at: Time) -> (u64, u64) {
        let Some(steps) = &self.steps else { return (0, 0) };
        let (mut packets, mut bytes) = (steps.waiting.len() as u64, steps.waiting_bytes);
        if let Some(serving) = &steps.serving
            && self.leaves(serving.service) > at
        {
            packets += 1;
            bytes += u64::from(serving.unit.bytes);
        }
        (packets, bytes)
    }
}
