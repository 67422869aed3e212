//! A gate with classes: units join the queue of their class, and the scheduler is asked whenever the server is idle: when
//! a service ends, when a unit comes, and at the instant at which it says that a class may send.
//!
//! The limit of the gate's queue holds for all classes together. A unit whose service begins when it comes needs no place.

use std::sync::Arc;

use crate::gate::acks::AckView;
use crate::gate::backlog::Backlog;
use crate::gate::drops::{DropReason, GateDrop};
use crate::gate::rate::Service;
use crate::gate::statistics::{ClassCounters, ClassRow, ClassStatistics, Served};
use crate::gate::waiting::{ClassesQueue, Leaver, Waiter, Waiting};
use crate::gate::{Departure, Gate};
use crate::plan::GatePlan;
use crate::random::Seed;
use crate::unit::Unit;
use crate::units::Time;

use super::Stepped;

impl Stepped {
    /// The initial state of a gate with classes; `None`: it has none.
    pub(in crate::gate) fn classed(plan: &GatePlan, seed: Seed) -> Option<Box<Stepped>> {
        let classes = plan.classes.as_deref()?;
        let stream = |class: &str| seed.stream(&format!("gate.{}/aqm.{class}", plan.name));
        let queue = ClassesQueue::new(classes, plan.framing, stream);
        Some(Box::new(Stepped { waiting: Waiting::Classes(Box::new(queue)), ..Stepped::default() }))
    }

    fn classes(&mut self) -> Option<&mut ClassesQueue> {
        match &mut self.waiting {
            Waiting::Classes(classes) => Some(classes),
            _ => None,
        }
    }
}

impl Gate {
    /// Whether it has classes.
    #[inline]
    pub(crate) fn is_classed(&self) -> bool {
        self.parts.classes.is_some()
    }

    /// Says which class the units of each stretch are of. Does nothing at a gate without classes.
    pub(crate) fn set_members(&mut self, of_stretch: Arc<[u16]>) {
        if let Some(classes) = self.classes_queue() {
            classes.set_members(of_stretch);
        }
    }

    /// Says which hosts the units of each stretch come from and go to. Does nothing at a gate without classes.
    pub(crate) fn set_hosts(&mut self, of_stretch: &Arc<[[u32; 2]]>) {
        if let Some(classes) = self.classes_queue() {
            classes.set_hosts(of_stretch);
        }
    }

    /// Says of which route each stretch is. Does nothing at a gate without an ACK filter.
    pub(crate) fn set_routes(&mut self, route_of: Arc<[u32]>) {
        if let Some(classes) = self.classes_queue() {
            classes.set_routes(route_of);
        }
    }

    /// Says what an ACK filter reads of the packet of `route` that has this handle from now on.
    pub(crate) fn note_view(&mut self, route: u32, handle: u32, view: AckView) {
        if let Some(classes) = self.classes_queue() {
            classes.note_view(route, handle, view);
        }
    }

    /// The counters of each class, in their order; none at a gate without classes.
    #[must_use]
    pub fn class_counters(&self) -> &[ClassCounters] {
        self.parts.classes.as_ref().map_or(&[], |stats| stats.classes())
    }

    /// Ends the recording of its classes and returns its rows; `None` where it was not recorded or has no classes.
    pub fn take_class_history(&mut self) -> Option<Vec<ClassRow>> {
        self.parts.classes.as_mut().and_then(|stats| stats.take_history())
    }

    fn classes_queue(&mut self) -> Option<&mut ClassesQueue> {
        self.parts.stepped.as_mut().and_then(|stepped| stepped.classes())
    }

    /// The statistics of the classes, with the class of a unit.
    pub(in crate::gate) fn class_stats(&mut self, unit: &Unit) -> Option<(&mut ClassStatistics, usize)> {
        let class = self.parts.stepped.as_mut()?.classes()?.class_of(unit);
        Some((self.parts.classes.as_deref_mut()?, class))
    }

    /// Takes a unit that arrives at `at` and was admitted into the queue of its class; into service if the scheduler chooses it now.
    /// `found`: the queue of the gate without it.
    ///
    /// # Errors
    /// How the unit was dropped.
    pub(super) fn join_classed(&mut self, at: Time, unit: Unit, found: Backlog) -> Result<(), GateDrop> {
        let Some(classes) = self.classes_queue() else { return Ok(()) };
        let class = classes.class_of(&unit);
        let was_empty = classes.backlog_of(class).units == 0;
        let Some(stepped) = self.parts.stepped.as_mut() else { return Ok(()) };
        let mut gone = std::mem::take(&mut stepped.gone);
        let stays = stepped.waiting.push(at, unit, &mut gone);
        let itself = if stays { None } else { gone.pop() };
        if !gone.is_empty() {
            self.cull_classed(at, DropReason::QueueFull, &mut gone);
        }
        gone.extend(self.classes_queue().and_then(|queue| queue.take_filtered()));
        if !gone.is_empty() {
            self.cull_classed(at, DropReason::AckFilter, &mut gone);
        }
        if itself.is_some() {
            self.keep_room(gone);
            return Err(self.refuse(at, &unit, DropReason::QueueFull));
        }
        let begins = self.decide(at);
        if was_empty && begins == Some((at, class)) {
            let leaver = self.classes_queue().and_then(|queue| queue.pop_of(class, at, &mut gone));
            self.keep_room(gone);
            if let Some(leaver) = leaver {
                self.serve_of_class(at, class, leaver, Some(found));
            }
            return Ok(());
        }
        self.keep_room(gone);
        let queue = self.backlog_stepped(at);
        self.parts.stats.join(at, queue, unit.bytes);
        let held = self.backlog_of_class(class, at);
        if let Some((stats, _)) = self.class_stats(&unit) {
            stats.join(class, at, held, unit.bytes);
        }
        self.wake_to_begin(begins.map(|(begins, _)| begins));
        Ok(())
    }

    /// Begins the next service at `now`, or says when it begins.
    #[inline(always)]
    pub(super) fn begin_classed(&mut self, now: Time) {
        let Some(stepped) = self.parts.stepped.as_mut().filter(|stepped| stepped.serving.is_none()) else {
            return;
        };
        stepped.begins = None;
        let mut gone = std::mem::take(&mut stepped.gone);
        while let Some((begins, class)) = self.decide(now) {
            if begins > now {
                self.wake_to_begin(Some(begins));
                break;
            }
            let leaver = self.classes_queue().and_then(|classes| classes.pop_of(class, now, &mut gone));
            if !gone.is_empty() {
                self.cull_classed(now, DropReason::Early, &mut gone);
            }
            if let Some(leaver) = leaver {
                self.serve_of_class(now, class, leaver, None);
                break;
            }
        }
        self.keep_room(gone);
    }

    /// The class whose unit is served at `now`, or the instant at which to ask again; `None` where the server is busy or
    /// nothing is known of one.
    #[inline(always)]
    fn decide(&mut self, now: Time) -> Option<(Time, usize)> {
        let stepped = self.parts.stepped.as_mut().filter(|stepped| stepped.serving.is_none())?;
        let classes = stepped.classes()?;
        let class = match classes.choose(now) {
            Ok(class) => class,
            Err(begins) => return Some((begins, 0)).filter(|_| begins < Time::NEVER),
        };
        let Waiter { arrival, unit } = *classes.first_of(class)?;
        let work = self.work(self.wire_bytes(unit.bytes));
        let begins = self.parts.law.next_start_chosen(now, arrival, work).max(now);
        Some((begins, class)).filter(|_| begins < Time::NEVER)
    }

    pub(super) fn wake_to_begin(&mut self, begins: Option<Time>) {
        if let Some(stepped) = self.parts.stepped.as_mut() {
            stepped.begins = begins;
        }
    }

    /// Begins the service of a unit that was chosen at `now`. `found` is the queue that it found, if it has just come.
    #[inline(always)]
    fn serve_of_class(&mut self, now: Time, class: usize, leaver: Leaver, found: Option<Backlog>) {
        let Waiter { arrival, unit } = leaver.waiter;
        self.serve_chosen(now, leaver, found.map(|found| found.with(unit.bytes)));
        let Some((_, served)) = self.parts.stepped.as_ref().and_then(|stepped| stepped.serving) else {
            return;
        };
        if let Some(classes) = self.classes_queue() {
            classes.charge(class, (now, served.service.end), unit.bytes);
        }
        if let Some(stats) = &mut self.parts.classes {
            if found.is_some() && served.leaves > arrival {
                stats.join(class, arrival, Backlog::default().with(unit.bytes), unit.bytes);
            }
            stats.serve(class, &served, found.is_none());
        }
    }

    /// The backlog that a unit finds at `at`: that of its class, at a gate without classes that of the gate.
    pub(crate) fn backlog_found(&mut self, at: Time, unit: &Unit) -> Backlog {
        match self.classes_queue().map(|classes| classes.class_of(unit)) {
            Some(class) => self.backlog_of_class(class, at),
            None => self.backlog_stepped(at),
        }
    }

    /// The backlog of a class at `at`, as the gate's queue counts.
    fn backlog_of_class(&mut self, class: usize, at: Time) -> Backlog {
        let Some(stepped) = self.parts.stepped.as_mut() else { return Backlog::default() };
        let serving = stepped.serving;
        let Some(classes) = stepped.classes() else { return Backlog::default() };
        let held = classes.backlog_of(class);
        match serving {
            Some((unit, served))
                if classes.class_of(&unit) == class && self.parts.queue.leaves(served.service) > at =>
            {
                held.with(unit.bytes)
            }
            _ => held,
        }
    }

    /// Counts a unit that is dropped at its arrival in its class.
    #[cold]
    pub(crate) fn note_refused_of_class(&mut self, at: Time, unit: &Unit, reason: DropReason) {
        let wire = self.wire_bytes(unit.bytes);
        if let Some((stats, class)) = self.class_stats(unit) {
            stats.refuse(class, at, wire, reason);
        }
    }

    /// Drops units from the queues of classes at `at`.
    #[cold]
    fn cull_classed(&mut self, at: Time, reason: DropReason, gone: &mut Vec<Waiter>) {
        for Waiter { arrival, unit } in gone.iter() {
            let wire = self.wire_bytes(unit.bytes);
            if let Some((stats, class)) = self.class_stats(unit) {
                stats.cull(class, (*arrival, at), (unit.bytes, wire), reason);
            }
        }
        self.cull(at, reason, gone);
    }

    /// [`Gate::settle`] of a gate with classes: the scheduler serves what waits. What would never be served is counted as
    /// at every other gate, with a service that never ends.
    pub(super) fn settle_classed(&mut self) {
        if let Some(classes) = self.classes_queue() {
            classes.settle();
        }
        while self.next_wakeup().is_some_and(|at| at < Time::NEVER) {
            self.handle_wakeup();
            while self.poll_departure().is_some() {}
        }
        if let Some((unit, served)) = self.parts.stepped.as_mut().and_then(|stepped| stepped.serving.take()) {
            self.end_of_class(unit, &served);
        }
        let never = Service { start: Time::NEVER, end: Time::NEVER };
        while let Some(Waiter { arrival, mut unit }) =
            self.parts.stepped.as_mut().and_then(|stepped| stepped.waiting.take_first())
        {
            let wire = self.wire_bytes(unit.bytes);
            let served = self.serve((arrival, never), &mut unit, wire, None);
            if let Some((stats, class)) = self.class_stats(&unit) {
                stats.serve(class, &served, true);
            }
            self.end_of_class(unit, &served);
        }
    }

    /// Ends the service of a unit of a class.
    #[inline(always)]
    pub(super) fn end_of_class(&mut self, unit: Unit, served: &Served) -> Departure {
        let mut departure = Departure { unit, fate: self.depart(served) };
        self.note_departure_of_class(&mut departure, served);
        departure
    }

    /// The service of a unit of a class has ended.
    #[inline]
    fn note_departure_of_class(&mut self, departure: &mut Departure, served: &Served) {
        let lost = departure.fate.err().map(|drop| drop.reason);
        if let Some((stats, class)) = self.class_stats(&departure.unit) {
            stats.depart(class, served, lost);
        }
        if self.classes_queue().is_some_and(|queue| queue.washes()) {
            departure.unit.set_codepoint(0);
        }
    }
}
