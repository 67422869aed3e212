//! A gate driven step by step: its queue holds units, its server one of them, and the end of each service is an event.
//! For gates whose departures are not known ahead; for any other, the exact twin of [`Gate::pass`], which proves it.
//!
//! Where the discipline decides when a unit would be served, [`judged`] asks it at the instant at which the rate law lets
//! a service begin.

mod circuit;
mod classed;
mod judged;
mod set_rate;

use std::collections::VecDeque;

use crate::gate::Gate;
use crate::gate::backlog::Backlog;
use crate::gate::drops::GateDrop;
use crate::gate::rate::Service;
use crate::gate::statistics::Served;
use crate::gate::waiting::{Waiter, Waiting};
use crate::plan::QueuePlan;
use crate::random::Stream;
use crate::unit::Unit;
use crate::units::Time;

/// The state of a gate driven step by step.
#[derive(Debug, Default)]
pub(super) struct Stepped {
    serving: Option<(Unit, Served)>,
    waiting: Waiting,
    /// The discipline decides when a unit would be served.
    is_judged: bool,
    /// Units wait, the server is idle, and the rate law lets a service begin then.
    begins: Option<Time>,
    /// Units that the discipline drops, for a moment.
    gone: Vec<Waiter>,
    departures: VecDeque<Departure>,
}

/// A unit that a gate driven step by step holds no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The unit.
    pub unit: Unit,
    /// When it arrives at whatever comes next, or how it was dropped.
    pub fate: Result<Time, GateDrop>,
}

impl Gate {
    /// Takes a unit that arrives at `at`: into service if the server is idle and not stopped, otherwise into the
    /// queue. Services that end at or before `at` must have been ended.
    ///
    /// # Errors
    /// How the unit was dropped.
    #[inline]
    pub fn handle_unit(&mut self, at: Time, mut unit: Unit) -> Result<(), GateDrop> {
        self.handle_ingress(at, &mut unit)?;
        self.handle_after_ingress(at, unit)
    }

    /// [`Gate::handle_unit`] for a unit that [`Gate::handle_ingress`] has let through.
    pub(crate) fn handle_after_ingress(&mut self, at: Time, mut unit: Unit) -> Result<(), GateDrop> {
        let begins = if self.is_classed() {
            self.take::<false, true>(at, &mut unit)?
        } else {
            self.take::<false, false>(at, &mut unit)?
        };
        if let Some(served) = begins {
            self.begin(unit, served);
        }
        Ok(())
    }

    /// The queue that a unit finds at `at`, and whether the server is idle. Where there are no classes, it counts as busy while any
    /// unit waits.
    #[inline(always)]
    pub(super) fn found_stepped<const CLASSED: bool>(&self, at: Time) -> (Backlog, bool) {
        let idle = if CLASSED { !self.is_serving() } else { self.is_empty() };
        (self.backlog_stepped(at), idle)
    }

    /// Whether the service of a unit that was admitted begins at once. Otherwise it waits, or the discipline or the scheduler have
    /// decided about it.
    ///
    /// # Errors
    /// They have dropped it.
    #[inline(always)]
    pub(super) fn may_serve<const CLASSED: bool>(
        &mut self,
        at: Time,
        unit: Unit,
        (found, idle): (Backlog, bool),
    ) -> Result<bool, GateDrop> {
        if CLASSED {
            return self.join_classed(at, unit, found).map(|()| false);
        }
        if self.is_judged() {
            return self.join_judged(at, unit, (found, idle)).map(|()| false);
        }
        if idle && !self.parts.law.is_stopped() {
            return Ok(true);
        }
        self.parts.stepped.get_or_insert_default().waiting.push(at, unit, &mut Vec::new());
        self.parts.stats.join(at, found.with(unit.bytes), unit.bytes);
        Ok(false)
    }

    /// When the present service ends, as its rate is now, or the next one begins; `None` where neither is known.
    #[must_use]
    pub fn next_wakeup(&self) -> Option<Time> {
        let stepped = self.parts.stepped.as_ref()?;
        stepped.serving.map_or(stepped.begins, |(_, served)| Some(served.service.end))
    }

    /// Handles the event at [`Gate::next_wakeup`]: the present service ends, and the next one begins if it may.
    /// [`Gate::poll_departure`] returns the fates of units. Does nothing where there is no such instant.
    #[inline]
    pub fn handle_wakeup(&mut self) {
        let Some(now) = self.next_wakeup() else { return };
        if let Some(departure) = self.end_present() {
            self.parts.stepped.get_or_insert_default().departures.push_back(departure);
        }
        self.begin_next(now);
    }

    /// [`Gate::handle_wakeup`] at `now`. Returns the unit whose service has ended; [`Gate::poll_departure`] has the
    /// others.
    #[inline]
    pub(crate) fn end_service(&mut self, now: Time) -> Option<Departure> {
        let departure = self.end_present();
        self.begin_next(now);
        departure
    }

    /// Ends the present service.
    #[inline(always)]
    fn end_present(&mut self) -> Option<Departure> {
        let (unit, served) = self.parts.stepped.as_mut()?.serving.take()?;
        Some(if self.is_classed() {
            self.end_of_class(unit, &served)
        } else {
            Departure { unit, fate: self.depart(&served) }
        })
    }

    /// The next of the units that have left the gate, or were dropped after they had joined the queue.
    pub fn poll_departure(&mut self) -> Option<Departure> {
        self.parts.stepped.as_mut()?.departures.pop_front()
    }

    /// Arrival and service of the unit in service, as its rate is now; `None` when idle.
    pub(crate) fn serving(&self) -> Option<(Time, Service)> {
        let (_, served) = self.parts.stepped.as_ref()?.serving?;
        Some((served.arrival, served.service))
    }

    /// Whether a unit is in service.
    #[inline]
    pub(crate) fn is_serving(&self) -> bool {
        self.parts.stepped.as_ref().is_some_and(|stepped| stepped.serving.is_some())
    }

    /// No service ends before this behind `others` that have not begun, by the rate law alone.
    pub(crate) fn earliest_end_behind(&self, others: u64) -> Time {
        self.parts.law.earliest_end_behind(others)
    }

    /// Whether no unit waits or is in service.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts
            .stepped
            .as_ref()
            .is_none_or(|stepped| stepped.serving.is_none() && stepped.waiting.is_empty())
    }

    /// Ends the run: states the services of all units that still wait, as run-ahead did at their arrivals. A discipline
    /// that would have judged them then is not asked any more.
    pub fn settle(&mut self) {
        if self.is_classed() {
            return self.settle_classed();
        }
        let begins = self.parts.stepped.as_mut().and_then(|stepped| {
            stepped.is_judged = false;
            stepped.begins.take()
        });
        // Not before the instant at which the law would have let a service begin, whichever unit is the first now. Behind a closed
        // circuit, or at a rate of zero, the service never ends.
        self.begin_first_from(begins.unwrap_or(Time::ZERO));
        while self.next_wakeup().is_some() {
            self.handle_wakeup();
            self.begin_first();
            while self.poll_departure().is_some() {}
        }
    }

    /// Begins the service of the next unit at `now`, if the server is idle and not stopped.
    #[inline(always)]
    fn begin_next(&mut self, now: Time) {
        if self.is_judged() {
            self.begin_judged(now);
        } else if self.is_classed() {
            self.begin_classed(now);
        } else if !self.parts.law.is_stopped() {
            self.begin_first();
        }
    }

    /// Begins the service of the first unit that waits, whatever a discipline or a closed circuit would say, if the
    /// server is idle and nothing is known of when it begins.
    fn begin_first(&mut self) {
        self.begin_first_from(Time::ZERO);
    }

    /// [`Gate::begin_first`], not before `from`.
    #[inline(always)]
    fn begin_first_from(&mut self, from: Time) {
        let idle = |stepped: &&mut Box<Stepped>| stepped.serving.is_none() && stepped.begins.is_none();
        let Some(stepped) = self.parts.stepped.as_mut().filter(idle) else { return };
        let Some(Waiter { arrival, mut unit }) = stepped.waiting.take_first() else { return };
        let wire = self.wire_bytes(unit.bytes);
        let service = self.parts.law.transmit(arrival.max(from), self.work(wire));
        let served = self.serve((arrival, service), &mut unit, wire, None);
        self.begin(unit, served);
    }

    /// The service of a unit begins.
    fn begin(&mut self, unit: Unit, served: Served) {
        self.parts.stepped.get_or_insert_default().serving = Some((unit, served));
    }

    /// The present service ends at `end` instead.
    fn reschedule(&mut self, end: Time) {
        let serving = self.parts.stepped.as_mut().and_then(|stepped| stepped.serving.as_mut());
        let Some((unit, served)) = serving else { return };
        let unit = *unit;
        let expected = std::mem::replace(&mut served.service.end, end);
        served.leaves = self.parts.queue.leaves(served.service);
        let (arrival, in_queue) = (served.arrival, self.parts.queue.counts_service());
        self.parts.stats.reschedule(arrival, (expected, end), unit.bytes, in_queue);
        if let Some((stats, class)) = self.class_stats(&unit) {
            stats.reschedule(class, arrival, (expected, end), unit.bytes, in_queue);
        }
    }

    /// The backlog of a gate driven step by step at `at`, as the gate's queue counts.
    pub(crate) fn backlog_stepped(&self, at: Time) -> Backlog {
        let Some(stepped) = &self.parts.stepped else { return Backlog::default() };
        match &stepped.serving {
            Some((unit, served)) if self.parts.queue.leaves(served.service) > at => {
                stepped.waiting.backlog().with(unit.bytes)
            }
            _ => stepped.waiting.backlog(),
        }
    }
}

impl Stepped {
    /// The initial state of a gate whose discipline decides when a unit would be served; `None`: another gate.
    pub(super) fn judged(queue: &QueuePlan, stream: impl FnOnce() -> Stream) -> Option<Box<Stepped>> {
        let waiting = Waiting::judged(queue, stream)?;
        Some(Box::new(Stepped { waiting, is_judged: true, ..Stepped::default() }))
    }

    /// The units that wait.
    pub(super) fn waiting(&mut self) -> &mut Waiting {
        &mut self.waiting
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.waiting.memory_bytes()
    }
}
