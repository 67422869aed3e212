//! Which class is served next.

use super::drr::Drr;
use super::htb::Htb;
use super::spacer::Spacer;
use super::strict::Strict;
use super::tins::Tins;
use super::wfq::Wfq;
use crate::plan::SchedulerPlan;
use crate::units::Time;

/// A scheduler with its state.
#[derive(Clone, Debug)]
pub(super) enum Scheduler {
    /// [`SchedulerPlan::Strict`].
    Strict(Strict),
    /// [`SchedulerPlan::Drr`].
    Drr(Drr),
    /// [`SchedulerPlan::Wfq`].
    Wfq(Wfq),
    /// [`SchedulerPlan::Htb`].
    Htb(Htb),
    /// [`SchedulerPlan::Spacer`].
    Spacer(Spacer),
    /// [`SchedulerPlan::Cake`].
    Tins(Tins),
}

impl Scheduler {
    pub(super) fn new(plan: &SchedulerPlan, classes: usize) -> Scheduler {
        match plan {
            SchedulerPlan::Strict(plan) => Scheduler::Strict(Strict::new(plan)),
            SchedulerPlan::Drr(quanta) => Scheduler::Drr(Drr::new(quanta)),
            SchedulerPlan::Wfq(plan) => Scheduler::Wfq(Wfq::new(plan)),
            SchedulerPlan::Htb(plan) => Scheduler::Htb(Htb::new(plan, classes)),
            SchedulerPlan::Spacer(plan) => Scheduler::Spacer(Spacer::new(plan)),
            SchedulerPlan::Cake(plan) => Scheduler::Tins(Tins::new(plan)),
        }
    }

    /// Whether a unit of so many bytes on the wire could ever be served.
    pub(super) fn fits(&self, class: usize, wire: u32) -> bool {
        match self {
            Scheduler::Strict(strict) => strict.fits(class, wire),
            Scheduler::Spacer(spacer) => spacer.fits(class, wire),
            Scheduler::Drr(_) | Scheduler::Wfq(_) | Scheduler::Htb(_) | Scheduler::Tins(_) => true,
        }
    }

    /// A unit has joined a class.
    pub(super) fn arrive(&mut self, now: Time, class: usize, wire: u32) {
        match self {
            Scheduler::Drr(drr) => drr.arrive(class),
            Scheduler::Wfq(wfq) => wfq.arrive(now, class, u64::from(wire) * 8),
            Scheduler::Spacer(spacer) => spacer.arrive(now, class),
            Scheduler::Tins(tins) => tins.arrive(now, class),
            Scheduler::Strict(_) | Scheduler::Htb(_) => {}
        }
    }

    /// A unit of a class waits no more: it is served, or was dropped.
    pub(super) fn leave(&mut self, class: usize) {
        match self {
            Scheduler::Wfq(wfq) => wfq.leave(class),
            Scheduler::Spacer(spacer) => spacer.leave(class),
            Scheduler::Tins(tins) => tins.leave(class),
            Scheduler::Strict(_) | Scheduler::Drr(_) | Scheduler::Htb(_) => {}
        }
    }

    /// The class that is served at `now`, or when one may be. `head` says how many bytes on the wire the first unit of a
    /// class has.
    pub(super) fn choose(&mut self, now: Time, head: impl Fn(usize) -> Option<u32>) -> Result<usize, Time> {
        match self {
            Scheduler::Strict(strict) => strict.choose(now, head),
            Scheduler::Drr(drr) => drr.choose(head).ok_or(Time::NEVER),
            Scheduler::Wfq(wfq) => wfq.choose().ok_or(Time::NEVER),
            Scheduler::Htb(htb) => htb.choose(now, |class| head(class).is_some()),
            Scheduler::Spacer(spacer) => spacer.choose(now, head),
            Scheduler::Tins(tins) => tins.choose(now),
        }
    }

    /// When a class without units could send one of so many bytes, from `now` on, if no other class could.
    pub(super) fn may_send(&self, class: usize, now: Time, wire: u32) -> Time {
        match self {
            Scheduler::Strict(strict) => strict.may_send(class, now, wire),
            Scheduler::Htb(htb) => htb.may_send(class, now),
            Scheduler::Spacer(spacer) => spacer.may_send(class, now, wire),
            Scheduler::Tins(tins) => tins.may_send(now),
            Scheduler::Drr(_) | Scheduler::Wfq(_) => now,
        }
    }

    /// A unit of the class that was chosen at `now` is served until `end`.
    pub(super) fn charge(&mut self, class: usize, (now, end): (Time, Time), wire: u32) {
        match self {
            Scheduler::Strict(strict) => strict.charge(class, (now, end), wire),
            Scheduler::Drr(drr) => drr.charge(class, wire),
            Scheduler::Htb(htb) => htb.charge(now, class, wire),
            Scheduler::Spacer(spacer) => spacer.charge(now, class, wire),
            Scheduler::Tins(tins) => tins.charge(now, class, wire),
            Scheduler::Wfq(_) => {}
        }
    }

    /// Whether it has to know which classes have units.
    pub(super) fn needs_waiting(&self) -> bool {
        matches!(self, Scheduler::Strict(strict) if strict.has_credits())
    }

    /// Units of a class wait from `now` on, or none does.
    pub(super) fn note_waiting(&mut self, class: usize, now: Time, waits: bool) {
        if let Scheduler::Strict(strict) = self {
            strict.advance(class, now, waits);
        }
    }
}
