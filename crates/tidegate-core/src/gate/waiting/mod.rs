//! The units that wait at a gate that is driven step by step, without the one in service: which is served next, and which
//! the discipline drops or marks when it would be. PIE judges a unit when it arrives ([`Waiting::admit`]), by what it has
//! seen leave.

mod cake;
mod classes;
mod codel;
pub(super) mod control;
mod dualpi2;
mod flow_queues;
mod fq_codel;
mod line;
mod pie;

use crate::gate::backlog::Backlog;
use crate::gate::drops::DropReason;
use crate::plan::{Discipline, FqCoDelPlan, QueueLimit, QueuePlan};
use crate::random::Stream;
use crate::unit::Unit;
use crate::units::Time;

use cake::TinQueue;
pub(super) use classes::ClassesQueue;
use codel::CoDelQueue;
use dualpi2::DualPi2Queue;
use fq_codel::FqCoDelQueue;
use line::Line;
pub(super) use line::{Leaver, Waiter};
use pie::PieQueue;

/// The units that wait at a gate driven step by step, by the discipline of its queue.
#[derive(Debug)]
pub(super) enum Waiting {
    /// First in, first out.
    Line(Line),
    /// [`Discipline::CoDel`].
    CoDel(Box<CoDelQueue>),
    /// [`Discipline::Pie`].
    Pie(Box<PieQueue>),
    /// [`Discipline::FqCoDel`].
    FqCoDel(Box<FqCoDelQueue>),
    /// [`Discipline::DualPi2`].
    DualPi2(Box<DualPi2Queue>),
    /// [`Discipline::Cake`].
    Cake(Box<TinQueue>),
    /// Classes, each with a queue of its own.
    Classes(Box<ClassesQueue>),
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting::Line(Line::default())
    }
}

impl Waiting {
    /// The queue of a discipline that decides when a unit would be served; `None` for any other.
    pub(super) fn judged(queue: &QueuePlan, stream: impl FnOnce() -> Stream) -> Option<Waiting> {
        match queue.discipline {
            Discipline::DropTail | Discipline::Step(_) | Discipline::Red(_) => None,
            Discipline::CoDel(plan) => Some(Waiting::CoDel(Box::new(CoDelQueue::new(plan)))),
            Discipline::Pie(plan) => Some(Waiting::Pie(Box::new(PieQueue::new(plan, stream())))),
            Discipline::FqCoDel(plan) => {
                // It keeps to the limit of the queue too, in its own way.
                let limits = match queue.limit {
                    QueueLimit::Packets(limit) | QueueLimit::Cells(limit) => (limit, u64::MAX),
                    QueueLimit::Bytes(limit) => (u64::MAX, limit),
                    QueueLimit::Unlimited => (u64::MAX, u64::MAX),
                };
                let (limit, memory) = (plan.limit.min(limits.0), plan.memory.min(limits.1));
                let plan = FqCoDelPlan { limit, memory, ..plan };
                Some(Waiting::FqCoDel(Box::new(FqCoDelQueue::new(plan))))
            }
            Discipline::DualPi2(plan) => Some(Waiting::DualPi2(Box::new(DualPi2Queue::new(plan)))),
            Discipline::Cake(plan) => Some(Waiting::Cake(Box::new(TinQueue::new(plan, stream())))),
        }
    }

    /// Whether a unit that arrives at `at` is marked. Asked before it joins.
    ///
    /// # Errors
    /// Why it is dropped.
    #[inline(always)]
    pub(super) fn admit(&mut self, at: Time, unit: &Unit) -> Result<bool, DropReason> {
        match self {
            Waiting::Pie(queue) => queue.admit(at, unit),
            Waiting::DualPi2(queue) => {
                queue.update_until(at);
                Ok(false)
            }
            Waiting::Line(_)
            | Waiting::CoDel(_)
            | Waiting::FqCoDel(_)
            | Waiting::Cake(_)
            | Waiting::Classes(_) => Ok(false),
        }
    }

    /// [`Waiting::admit`], or that of the unit's class. `is_idle`: no unit is in service and the rate law would begin with this one.
    #[inline(always)]
    pub(super) fn admit_any(
        &mut self,
        at: Time,
        unit: &Unit,
        is_idle: impl FnOnce() -> bool,
    ) -> Result<bool, DropReason> {
        match self {
            Waiting::Classes(queue) => queue.admit(at, unit, is_idle),
            _ => self.admit(at, unit),
        }
    }

    /// Whether a unit that comes to an idle server at `at` would be served at once: always, but where there are classes.
    pub(super) fn would_begin(&mut self, at: Time, unit: &Unit) -> bool {
        match self {
            Waiting::Classes(queue) => queue.would_begin(at, unit),
            _ => true,
        }
    }

    /// The probability in 10⁻¹⁸ with which it drops or marks, as of the last unit that came or went; `None` where it has
    /// none.
    pub(super) fn probability(&self) -> Option<u64> {
        match self {
            Waiting::Pie(queue) => Some(queue.probability()),
            Waiting::DualPi2(queue) => Some(queue.probability()),
            Waiting::Line(_)
            | Waiting::CoDel(_)
            | Waiting::FqCoDel(_)
            | Waiting::Cake(_)
            | Waiting::Classes(_) => None,
        }
    }

    /// A unit joins. `gone` takes units that have to make room for it. Says whether the unit itself is still there.
    #[inline(always)]
    pub(super) fn push(&mut self, arrival: Time, unit: Unit, gone: &mut Vec<Waiter>) -> bool {
        let waiter = Waiter { arrival, unit };
        match self {
            Waiting::Line(line) => line.push(waiter),
            Waiting::CoDel(queue) => queue.push(waiter),
            Waiting::Pie(queue) => queue.push(waiter),
            Waiting::FqCoDel(queue) => return queue.push(waiter, gone),
            Waiting::DualPi2(queue) => queue.push(waiter),
            Waiting::Cake(queue) => queue.push(waiter),
            Waiting::Classes(queue) => return queue.push(waiter, gone),
        }
        true
    }

    /// The unit that is served next at `now`, when a service begins. `gone` takes the units that are dropped.
    #[inline(always)]
    pub(super) fn pop(&mut self, now: Time, gone: &mut Vec<Waiter>) -> Option<Leaver> {
        match self {
            Waiting::Line(line) => line.pop().map(|waiter| Leaver { waiter, marked: false }),
            Waiting::CoDel(queue) => queue.pop(now, gone),
            Waiting::Pie(queue) => queue.pop(now).map(|waiter| Leaver { waiter, marked: false }),
            Waiting::FqCoDel(queue) => queue.pop(now, gone),
            Waiting::DualPi2(queue) => queue.pop(now, gone),
            Waiting::Cake(queue) => queue.pop(now, gone),
            Waiting::Classes(queue) => {
                queue.choose(now).ok().and_then(|class| queue.pop_of(class, now, gone))
            }
        }
    }

    /// The unit that would be served next if nothing were dropped.
    #[inline]
    pub(super) fn first(&self) -> Option<&Waiter> {
        match self {
            Waiting::Line(line) => line.first(),
            Waiting::CoDel(queue) => queue.line.first(),
            Waiting::Pie(queue) => queue.line.first(),
            Waiting::FqCoDel(queue) => queue.first(),
            Waiting::DualPi2(queue) => queue.first(),
            Waiting::Cake(queue) => queue.first(),
            Waiting::Classes(queue) => queue.first(),
        }
    }

    /// Takes the unit that would be served next if nothing were dropped.
    #[inline(always)]
    pub(super) fn take_first(&mut self) -> Option<Waiter> {
        match self {
            Waiting::Line(line) => line.pop(),
            Waiting::CoDel(queue) => queue.line.pop(),
            Waiting::Pie(queue) => queue.line.pop(),
            Waiting::FqCoDel(queue) => queue.take_first(),
            Waiting::DualPi2(queue) => queue.take_first(),
            Waiting::Cake(queue) => queue.take_first(),
            Waiting::Classes(queue) => queue.take_first(),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.backlog().units == 0
    }

    #[inline]
    pub(super) fn backlog(&self) -> Backlog {
        match self {
            Waiting::Line(line) => line.backlog(),
            Waiting::CoDel(queue) => queue.line.backlog(),
            Waiting::Pie(queue) => queue.line.backlog(),
            Waiting::FqCoDel(queue) => queue.backlog(),
            Waiting::DualPi2(queue) => queue.backlog(),
            Waiting::Cake(queue) => queue.backlog(),
            Waiting::Classes(queue) => queue.backlog(),
        }
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        match self {
            Waiting::Line(line) => line.memory_bytes(),
            Waiting::CoDel(queue) => queue.line.memory_bytes(),
            Waiting::Pie(queue) => queue.line.memory_bytes(),
            Waiting::FqCoDel(queue) => queue.memory_bytes(),
            Waiting::DualPi2(queue) => queue.memory_bytes(),
            Waiting::Cake(queue) => queue.memory_bytes(),
            Waiting::Classes(queue) => queue.memory_bytes(),
        }
    }
}
