//! The general order of a unit's way through a gate: admission ([`Gate::handle_ingress`]), queue, rate law ([`Gate::take`]), and exit
//! ([`Gate::depart`]). Every gate but a plain one is passed by these steps, in both ways of driving it.
//!
//! The two ways differ in when they take the steps. `AHEAD`: all of them at the arrival of the unit, since nothing that comes later
//! changes when its service begins and ends. Step by step: the service is asked for when it begins, and ended when it ends. What waits
//! until then, and who is served next, is the subject of [`super::stepped`]. `CLASSED`: the gate has classes, which are asked too;
//! they are never driven ahead. Where both are known, the compiler leaves out what does not concern the gate: 1.6% to 1.9% of
//! the instructions of a flow over a bottleneck with CoDel, FQ-CoDel or PIE.

use crate::gate::backlog::Backlog;
use crate::gate::drops::{DropReason, GateDrop};
use crate::gate::rate::Service;
use crate::gate::statistics::Served;
use crate::gate::{Gate, Parts};
use crate::unit::{Ecn, Unit};
use crate::units::Time;

impl Gate {
    /// Takes a unit that arrives at `at` into the gate. Returns its service if it begins now or, `AHEAD`, whenever it begins; `None`:
    /// the unit waits.
    ///
    /// # Errors
    /// How the unit was dropped.
    #[inline(always)]
    pub(super) fn take<const AHEAD: bool, const CLASSED: bool>(
        &mut self,
        at: Time,
        unit: &mut Unit,
    ) -> Result<Option<Served>, GateDrop> {
        let wire = self.wire_bytes(unit.bytes);
        let (found, idle) = if AHEAD { self.found_ahead(at) } else { self.found_stepped::<CLASSED>(at) };
        self.admit::<AHEAD, CLASSED>(at, unit, wire, (found, idle))?;
        if !AHEAD && !self.may_serve::<CLASSED>(at, *unit, (found, idle))? {
            return Ok(None);
        }
        let service = self.parts.law.transmit(at, self.work(wire));
        Ok(Some(self.serve((at, service), unit, wire, Some(found.with(unit.bytes)))))
    }

    /// Whether a unit may join the queue; it may be marked. `found` is the queue that the unit finds, and whether the server is idle.
    ///
    /// # Errors
    /// Rate law, queue, discipline or scheduler drop it.
    #[inline(always)]
    pub(super) fn admit<const AHEAD: bool, const CLASSED: bool>(
        &mut self,
        at: Time,
        unit: &mut Unit,
        wire: u32,
        (found, idle): (Backlog, bool),
    ) -> Result<(), GateDrop> {
        if !self.parts.law.admits(wire) {
            return Err(self.refuse(at, unit, DropReason::TooLarge));
        }
        let work = self.work(wire);
        let Parts { law, queue, stats, stepped, .. } = &mut *self.parts;
        let mut waiting = if AHEAD { None } else { stepped.as_mut().map(|stepped| stepped.waiting()) };
        let mut verdict = queue.admit(at, (found, idle), unit, || {
            idle && law.begins_at(at, work)
                && (!CLASSED || waiting.as_mut().is_none_or(|waiting| waiting.would_begin(at, unit)))
        });
        stats.probability(at, || queue.probability());
        if let (Ok(marked), Some(waiting)) = (verdict, waiting) {
            let is_idle = || idle && law.begins_at(at, work);
            let also = if CLASSED { waiting.admit_any(at, unit, is_idle) } else { waiting.admit(at, unit) };
            verdict = also.map(|also| marked | also);
            stats.probability(at, || waiting.probability());
        }
        match verdict {
            Ok(marked) => {
                if marked {
                    self.mark(at, unit, wire);
                }
                Ok(())
            }
            Err(reason) => Err(self.refuse(at, unit, reason)),
        }
    }

    /// Counts and records the service of a unit with its arrival. `joins` is the queue with this unit, if it has not joined the queue
    /// before.
    #[inline(always)]
    pub(super) fn serve(
        &mut self,
        (arrival, service): (Time, Service),
        unit: &mut Unit,
        wire: u32,
        joins: Option<Backlog>,
    ) -> Served {
        let leaves = self.parts.queue.leaves(service);
        if let Some(queue) = joins
            && leaves > arrival
        {
            self.parts.stats.join(arrival, queue, unit.bytes);
        }
        if service.start > arrival {
            unit.note_wait(service.start.saturating_since(arrival), self.index as usize);
        }
        let served = Served { arrival, service, leaves, bytes: unit.bytes, wire };
        self.parts.stats.serve(served, joins.is_none(), self.parts.law.tokens());
        served
    }

    /// The end of a service: the unit is lost, or goes on after the delay.
    #[inline(always)]
    pub(super) fn depart(&mut self, served: &Served) -> Result<Time, GateDrop> {
        let Served { arrival, service, wire, .. } = *served;
        self.parts.queue.note_end(service.end);
        if self.parts.exit.loses_next() {
            return Err(self.lose(arrival, service.end, wire));
        }
        self.parts.stats.counters.deliver(arrival, service.end, u64::from(wire));
        Ok(self.out_after(service.end))
    }

    /// Counts and records a unit that arrived at `arrival` and is lost at the end of its service.
    #[cold]
    pub(super) fn lose(&mut self, arrival: Time, end: Time, wire: u32) -> GateDrop {
        self.parts.stats.lose(arrival, end, wire);
        GateDrop { at: end, reason: self.parts.exit.lost_by() }
    }

    /// Marks a unit CE at `at`, and counts that, in its class too where it has one. One that another gate has marked stays as it is.
    #[cold]
    pub(super) fn mark(&mut self, at: Time, unit: &mut Unit, wire: u32) {
        if unit.ecn() == Ecn::Ce {
            return;
        }
        unit.set_ecn(Ecn::Ce);
        self.parts.stats.mark(at, wire);
        if let Some((stats, class)) = self.class_stats(unit) {
            stats.mark(class, at, wire);
        }
    }

    /// Drops a unit at its arrival, and counts that, in its class too where it has one.
    #[cold]
    pub(super) fn refuse(&mut self, at: Time, unit: &Unit, reason: DropReason) -> GateDrop {
        self.note_refused_of_class(at, unit, reason);
        self.note_refusal(at, self.wire_bytes(unit.bytes));
        GateDrop { at, reason }
    }

    /// Counts and records a unit that is dropped at its arrival.
    #[cold]
    pub(super) fn note_refusal(&mut self, at: Time, wire: u32) {
        self.parts.stats.refuse(at, wire);
        self.parts.ingress.note_refusal(at);
    }
}
