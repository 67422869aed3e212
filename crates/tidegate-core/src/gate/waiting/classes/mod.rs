//! Classes of units at one gate: each has a queue of its own with a limit and a discipline, and a scheduler chooses the
//! class that is served next. Strict priority, hierarchical token buckets and spacers may leave the server idle while units wait.
//!
//! Schedulers count bytes on the wire; CAKE's may count those of another.

mod credit;
mod drr;
mod filter;
mod htb;
mod openings;
mod scheduler;
mod spacer;
mod strict;
mod tins;
mod wfq;

use std::sync::Arc;

use super::Waiting;
use super::line::{Leaver, Waiter};
use crate::gate::backlog::Backlog;
use crate::gate::drops::DropReason;
use crate::gate::queue::Queue;
use crate::plan::{
    ByCodepoint, ClassPlan, ClassesPlan, Framing, NAMED, SchedulerPlan, ShapedBytes, TinsPlan,
};
use crate::random::Stream;
use crate::unit::Unit;
use crate::units::Time;

use filter::Filter;
use scheduler::Scheduler;

/// The queues of a gate's classes, and the scheduler that chooses among them.
#[derive(Debug)]
pub(in crate::gate) struct ClassesQueue {
    /// The class of each stretch that units may be on; those beyond are of the first class.
    of_stretch: Arc<[u16]>,
    /// Of packets that carry a codepoint of their own; with [`NAMED`] in `of_stretch` it does not matter.
    by_codepoint: Option<Arc<ByCodepoint>>,
    /// Units leave with the codepoint 0.
    washes: bool,
    filter: Option<Filter>,
    classes: Vec<ClassQueue>,
    scheduler: Scheduler,
    /// Beyond so many units, or so many IP bytes, the longest queue is dropped from.
    room: Option<(u64, u64)>,
    held: Backlog,
    /// Disciplines are not asked any more: the run is over.
    is_settling: bool,
}

/// The queue of a class.
#[derive(Debug)]
struct ClassQueue {
    waiting: Waiting,
    rules: Queue,
    bytes: ShapedBytes,
    /// When the service of its last unit ends.
    busy_until: Time,
}

impl ClassQueue {
    fn new(plan: &ClassPlan, bytes: ShapedBytes, stream: impl Fn() -> Stream) -> ClassQueue {
        let waiting = Waiting::judged(&plan.queue, &stream).unwrap_or_default();
        ClassQueue { waiting, rules: Queue::new(&plan.queue, stream), bytes, busy_until: Time::ZERO }
    }

    /// What the scheduler counts of the unit that would be served first.
    fn head(&self) -> Option<u32> {
        self.waiting.first().map(|waiter| self.bytes.of(waiter.unit.bytes))
    }
}

impl ClassesQueue {
    /// `stream` says the random numbers of a class by its name.
    pub(in crate::gate) fn new(
        plan: &ClassesPlan,
        framing: Framing,
        stream: impl Fn(&str) -> Stream,
    ) -> ClassesQueue {
        let (bytes, room) = match &plan.scheduler {
            SchedulerPlan::Cake(plan) => (plan.bytes, Some((plan.limit, plan.memory))),
            _ => (ShapedBytes::Wire(framing), None),
        };
        let class = |class: &ClassPlan| ClassQueue::new(class, bytes, || stream(&class.name));
        ClassesQueue {
            of_stretch: Arc::new([]),
            by_codepoint: plan.by_codepoint.clone(),
            washes: matches!(&plan.scheduler, SchedulerPlan::Cake(TinsPlan { wash: true, .. })),
            filter: Filter::new(&plan.scheduler),
            classes: plan.classes.iter().map(class).collect(),
            scheduler: Scheduler::new(&plan.scheduler, plan.classes.len()),
            room,
            held: Backlog::default(),
            is_settling: false,
        }
    }

    /// Says which class the units of each stretch are of.
    pub(in crate::gate) fn set_members(&mut self, of_stretch: Arc<[u16]>) {
        self.of_stretch = of_stretch;
    }

    /// Says which hosts the units of each stretch come from and go to. Asked of the tins of CAKE.
    pub(in crate::gate) fn set_hosts(&mut self, of_stretch: &Arc<[[u32; 2]]>) {
        for class in &mut self.classes {
            if let Waiting::Cake(queue) = &mut class.waiting {
                queue.set_hosts(Arc::clone(of_stretch));
            }
        }
    }

    /// The class of a unit.
    pub(in crate::gate) fn class_of(&self, unit: &Unit) -> usize {
        let of_route = self.of_stretch.get(unit.stretch as usize).copied().unwrap_or(0);
        if let (Some(by), Some(codepoint)) = (&self.by_codepoint, unit.codepoint())
            && of_route & NAMED == 0
            && let Some(class) = by.classes[usize::from(codepoint)]
        {
            return usize::from(class);
        }
        usize::from(of_route & !NAMED)
    }

    /// Whether what has been sent carries the codepoint 0.
    pub(in crate::gate) fn washes(&self) -> bool {
        self.washes
    }

    /// Whether a unit that arrives at `at` would be served at once, if the server is idle and the rate law begins then.
    pub(in crate::gate) fn would_begin(&mut self, at: Time, unit: &Unit) -> bool {
        let class = self.class_of(unit);
        let wire = self.classes[class].bytes.of(unit.bytes);
        self.classes[class].waiting.is_empty()
            && self.choose(at).is_err()
            && self.scheduler.may_send(class, at, wire) <= at
    }

    /// Whether a unit that arrives at `at` may join its class, and whether it is marked. `is_idle`: no unit is in service
    /// and the rate law would begin with this one.
    ///
    /// # Errors
    /// Why it is dropped.
    pub(in crate::gate) fn admit(
        &mut self,
        at: Time,
        unit: &Unit,
        is_idle: impl FnOnce() -> bool,
    ) -> Result<bool, DropReason> {
        let class = self.class_of(unit);
        let wire = self.classes[class].bytes.of(unit.bytes);
        if !self.scheduler.fits(class, wire) {
            return Err(DropReason::TooLarge);
        }
        let found = self.classes[class].waiting.backlog();
        let is_full = self.classes[class].rules.is_full(found, unit.bytes);
        let at_once = is_full && is_idle() && self.would_begin(at, unit);
        let class = &mut self.classes[class];
        let is_empty = found.units == 0 && at >= class.busy_until;
        let marked = class.rules.admit(at, (found, is_empty), unit, || at_once)?;
        Ok(class.waiting.admit(at, unit)? || marked)
    }

    /// A unit joins. `gone` takes units that have to make room for it. Says whether the unit itself is still there.
    pub(super) fn push(&mut self, waiter: Waiter, gone: &mut Vec<Waiter>) -> bool {
        let Waiter { arrival, unit } = waiter;
        let number = self.class_of(&unit);
        self.note_waiting(arrival);
        let class = &mut self.classes[number];
        let before = gone.len();
        self.held = self.held.with(unit.bytes);
        let stays = class.waiting.push(arrival, unit, gone);
        self.scheduler.arrive(arrival, number, class.bytes.of(unit.bytes));
        self.forget(number, &gone[before..]);
        self.filter_acks(number, &waiter);
        let stays = stays && self.make_room(arrival, number, unit.stretch, gone);
        self.note_waiting(arrival);
        stays
    }

    /// Drops from the longest queue of all classes while too much waits. Says whether the last unit of the stretch, which
    /// is of this class, is still there.
    fn make_room(&mut self, now: Time, class: usize, stretch: u32, gone: &mut Vec<Waiter>) -> bool {
        let Some((units, bytes)) = self.room else { return true };
        if self.held.units <= units && self.held.bytes <= bytes {
            return true;
        }
        let longest_of = |tin: &ClassQueue| match &tin.waiting {
            Waiting::Cake(queue) => queue.longest(),
            _ => 0,
        };
        while self.held.units > units || self.held.bytes > bytes {
            // Of several, the first.
            let lengths = self.classes.iter().map(longest_of).enumerate().rev();
            let Some((longest, _)) = lengths.max_by_key(|(_, length)| *length) else { break };
            let Waiting::Cake(queue) = &mut self.classes[longest].waiting else { break };
            let Some(waiter) = queue.drop_from_longest(now) else { break };
            self.forget(longest, std::slice::from_ref(&waiter));
            gone.push(waiter);
        }
        match &self.classes[class].waiting {
            Waiting::Cake(queue) => queue.holds(stretch),
            _ => true,
        }
    }

    /// The class that is served at `now`, or when one may be; [`Time::NEVER`] where no unit waits.
    #[inline(always)]
    pub(in crate::gate) fn choose(&mut self, now: Time) -> Result<usize, Time> {
        if self.held.units == 0 {
            return Err(Time::NEVER);
        }
        self.note_waiting(now);
        let classes = &self.classes;
        self.scheduler.choose(now, |class| classes[class].head())
    }

    /// The unit that a class would serve first.
    pub(in crate::gate) fn first_of(&self, class: usize) -> Option<&Waiter> {
        self.classes[class].waiting.first()
    }

    /// Takes the unit of a class that was chosen at `now`. `gone` takes the units that its discipline drops.
    pub(in crate::gate) fn pop_of(
        &mut self,
        class: usize,
        now: Time,
        gone: &mut Vec<Waiter>,
    ) -> Option<Leaver> {
        let waiting = &mut self.classes[class].waiting;
        let before = gone.len();
        let leaver = if self.is_settling {
            waiting.take_first().map(|waiter| Leaver { waiter, marked: false })
        } else {
            waiting.pop(now, gone)
        };
        self.forget(class, &gone[before..]);
        if let Some(leaver) = &leaver {
            self.forget(class, std::slice::from_ref(&leaver.waiter));
        }
        self.note_waiting(now);
        leaver
    }

    /// The unit of a class that was taken at `now` is served until `end`; of so many IP bytes.
    pub(in crate::gate) fn charge(&mut self, class: usize, (now, end): (Time, Time), bytes: u32) {
        let counted = self.classes[class].bytes.of(bytes);
        self.scheduler.charge(class, (now, end), counted);
        let class = &mut self.classes[class];
        class.rules.note_end(end);
        class.busy_until = end;
    }

    /// The backlog of a class.
    pub(in crate::gate) fn backlog_of(&self, class: usize) -> Backlog {
        self.classes[class].waiting.backlog()
    }

    /// The run is over: whatever waits is served, and no discipline is asked.
    pub(in crate::gate) fn settle(&mut self) {
        self.is_settling = true;
    }

    /// The unit that is first in the first class that has any.
    pub(super) fn first(&self) -> Option<&Waiter> {
        self.classes.iter().find_map(|class| class.waiting.first())
    }

    /// Takes that unit.
    pub(super) fn take_first(&mut self) -> Option<Waiter> {
        let class = self.classes.iter().position(|class| class.waiting.first().is_some())?;
        let waiter = self.classes[class].waiting.take_first()?;
        self.forget(class, std::slice::from_ref(&waiter));
        Some(waiter)
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.held
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.classes.iter().map(|class| class.waiting.memory_bytes()).sum()
    }

    /// Units of a class wait no more.
    #[inline(always)]
    fn forget(&mut self, class: usize, units: &[Waiter]) {
        for waiter in units {
            self.held = self.held.without(waiter.unit.bytes);
            self.scheduler.leave(class);
        }
    }

    /// Tells the scheduler which classes have units from `now` on.
    #[inline(always)]
    fn note_waiting(&mut self, now: Time) {
        if self.scheduler.needs_waiting() {
            self.note_each_waiting(now);
        }
    }

    fn note_each_waiting(&mut self, now: Time) {
        for (number, class) in self.classes.iter().enumerate() {
            self.scheduler.note_waiting(number, now, class.waiting.first().is_some());
        }
    }
}

#[cfg(test)]
mod tests;
