//! A gate whose discipline decides when a unit would be served. The discipline is asked at the instant at which the rate
//! law lets a service begin ([`crate::gate::rate::Law::next_start`]): under a trace, an outage or a token bucket that is
//! later than the end of the service before. It may drop several units then, and mark the one that is served.
//!
//! DEVIATION: where the discipline chooses a unit that needs more tokens than the one it was woken for, it is the next
//! all the same, waits for its tokens and is not judged again. Linux's `tbf` too holds the unit that it has looked at.

use super::Stepped;
use crate::gate::backlog::Backlog;
use crate::gate::drops::{DropReason, GateDrop};
use crate::gate::waiting::{Leaver, Waiter};
use crate::gate::{Departure, Gate};
use crate::unit::Unit;
use crate::units::Time;

impl Gate {
    /// Whether the discipline decides when a unit would be served.
    #[inline]
    pub(super) fn is_judged(&self) -> bool {
        self.parts.stepped.as_ref().is_some_and(|stepped| stepped.is_judged)
    }

    /// Takes a unit that arrives at `at` and was admitted into the queue, in which it found `found`; into service if it found the gate
    /// `empty` and its service may begin.
    ///
    /// # Errors
    /// How the unit was dropped.
    pub(super) fn join_judged(
        &mut self,
        at: Time,
        unit: Unit,
        (found, empty): (Backlog, bool),
    ) -> Result<(), GateDrop> {
        let begins = if empty {
            self.parts.law.next_start(at, self.work(self.wire_bytes(unit.bytes)))
        } else {
            Time::NEVER
        };
        let Some(stepped) = self.parts.stepped.as_deref_mut() else { return Ok(()) };
        let stays = stepped.waiting.push(at, unit, &mut stepped.gone);
        if begins == at {
            // It goes through at once, so it needs no place. It has not waited, so nothing is dropped.
            let itself = if stays { None } else { stepped.gone.pop() };
            let itself = itself.map(|waiter| Leaver { waiter, marked: false });
            if let Some(leaver) = itself.or_else(|| stepped.waiting.pop(at, &mut stepped.gone)) {
                self.serve_chosen(at, leaver, Some(found.with(unit.bytes)));
            }
            return Ok(());
        }
        if begins < Time::NEVER {
            stepped.begins = Some(begins);
        }
        if stays && stepped.gone.is_empty() {
            self.parts.stats.join(at, found.with(unit.bytes), unit.bytes);
            return Ok(());
        }
        self.make_room(at, unit, stays)
    }

    /// [`Gate::handle_unit`] during a service. At a gate that [`Gate::admits_all`], with a judged queue, it skips marker, policer and the checks whether
    /// the service of this unit may begin now: 9% of the instructions of a flow over a bottleneck with CoDel.
    ///
    /// # Errors
    /// How the unit was dropped.
    pub(crate) fn handle_unit_in_service(&mut self, at: Time, mut unit: Unit) -> Result<(), GateDrop> {
        let judged = |stepped: &&mut Box<Stepped>| stepped.is_judged;
        let (Some(stepped), true) =
            (self.parts.stepped.as_mut().filter(judged), self.parts.ingress.is_open())
        else {
            return self.handle_unit(at, unit);
        };
        let Some((in_service, served)) = &stepped.serving else { return self.handle_unit(at, unit) };
        let wire = self.parts.ingress.wire_bytes(unit.bytes);
        let mut found = stepped.waiting.backlog();
        if self.parts.queue.leaves(served.service) > at {
            found = found.with(in_service.bytes);
        }
        self.admit::<false, false>(at, &mut unit, wire, (found, false))?;
        let Some(held) = self.parts.stepped.as_mut() else { return Ok(()) };
        let stays = held.waiting.push(at, unit, &mut held.gone);
        if stays && held.gone.is_empty() {
            self.parts.stats.join(at, found.with(unit.bytes), unit.bytes);
            return Ok(());
        }
        self.make_room(at, unit, stays)
    }

    /// Drops the units that the queue expelled when this one joined; this one is among them unless it `stays`.
    #[cold]
    fn make_room(&mut self, at: Time, unit: Unit, stays: bool) -> Result<(), GateDrop> {
        let Some(stepped) = self.parts.stepped.as_mut() else { return Ok(()) };
        if !stays {
            // It is the last: with it gone there is no more than before.
            stepped.gone.pop();
        }
        self.cull_gone(at, DropReason::QueueFull);
        if !stays {
            return Err(self.refuse(at, &unit, DropReason::QueueFull));
        }
        let queue = self.backlog_stepped(at);
        self.parts.stats.join(at, queue, unit.bytes);
        Ok(())
    }

    /// Begins the next service at `now`, or says when it begins.
    #[inline(always)]
    pub(super) fn begin_judged(&mut self, now: Time) {
        let Some(stepped) = self.parts.stepped.as_deref_mut().filter(|stepped| stepped.serving.is_none())
        else {
            return;
        };
        stepped.begins = None;
        if stepped.waiting.is_empty() {
            return;
        }
        if !self.parts.law.is_ready(now)
            && let Some(first) = stepped.waiting.first().copied()
        {
            let work = self.work(self.wire_bytes(first.unit.bytes));
            let begins = self.parts.law.next_start(first.arrival, work);
            if begins > now {
                self.wake_to_begin(Some(begins).filter(|begins| *begins < Time::NEVER));
                return;
            }
        }
        let Some(ready) = self.parts.stepped.as_deref_mut() else { return };
        let leaver = ready.waiting.pop(now, &mut ready.gone);
        let none_gone = ready.gone.is_empty();
        self.parts.stats.probability(now, || ready.waiting.probability());
        if !none_gone {
            self.cull_gone(now, DropReason::Early);
        }
        if let Some(leaver) = leaver {
            self.serve_chosen(now, leaver, None);
        }
    }

    /// The room of an empty list is used again.
    pub(super) fn keep_room(&mut self, gone: Vec<Waiter>) {
        if let Some(stepped) = self.parts.stepped.as_mut() {
            stepped.gone = gone;
        }
    }

    /// Begins the service of a unit that the discipline or the scheduler has chosen at `now`. `joins` is the queue with it, if it has
    /// not joined the queue before.
    #[inline(always)]
    pub(super) fn serve_chosen(&mut self, now: Time, leaver: Leaver, joins: Option<Backlog>) {
        let Leaver { waiter: Waiter { arrival, mut unit }, marked } = leaver;
        let wire = self.wire_bytes(unit.bytes);
        if marked {
            self.mark(now, &mut unit, wire);
        }
        let service = self.parts.law.transmit_chosen(now, arrival, self.work(wire));
        let served = self.serve((arrival, service), &mut unit, wire, joins);
        if let Some(stepped) = self.parts.stepped.as_mut() {
            stepped.begins = None;
            stepped.serving = Some((unit, served));
        }
    }

    /// Drops the units that have just been taken from the queue.
    #[cold]
    fn cull_gone(&mut self, at: Time, reason: DropReason) {
        let Some(stepped) = self.parts.stepped.as_mut() else { return };
        let mut gone = std::mem::take(&mut stepped.gone);
        self.cull(at, reason, &mut gone);
        self.keep_room(gone);
    }

    /// Drops units from the queue at `at`.
    #[cold]
    pub(super) fn cull(&mut self, at: Time, reason: DropReason, gone: &mut Vec<Waiter>) {
        for Waiter { arrival, unit } in gone.drain(..) {
            let wire = self.wire_bytes(unit.bytes);
            self.parts.stats.cull((arrival, at), (unit.bytes, wire), reason);
            if reason.is_loss() {
                self.parts.ingress.note_refusal(at);
            }
            if let Some(stepped) = self.parts.stepped.as_mut() {
                let fate = Err(GateDrop { at, reason });
                stepped.departures.push_back(Departure { unit, fate });
            }
        }
    }
}
