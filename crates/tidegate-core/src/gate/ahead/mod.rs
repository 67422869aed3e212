//! A gate driven ahead: [`Gate::pass`] states the departure of a unit at its arrival (Lindley's recursion), because
//! nothing that happens later can change it.

mod plain;
mod server;

use std::collections::VecDeque;

pub(super) use server::{PlainServer, Waited};

use crate::gate::Gate;
use crate::gate::backlog::Backlog;
use crate::gate::drops::GateDrop;
use crate::gate::rate::Service;
use crate::gate::statistics::Served;
use crate::unit::Unit;
use crate::units::{Measured, Time};

/// More units than this are removed from a queue together.
const MANY: usize = 8;

/// The state of a gate driven ahead: its queue, and the fate of the last unit.
#[derive(Debug)]
pub(super) struct Ahead {
    /// When the units in the queue leave it, each with the IP bytes of all that have joined until then, itself
    /// included. Units that have left are removed late, so the first ones may be in the past.
    leaving: VecDeque<(Time, u64)>,
    /// The IP bytes of all that have joined, and of all that have been removed.
    joined: u64,
    removed: u64,
    /// The service of the last unit. Not kept at a plain gate.
    last: Service,
    /// The drop of the last unit that was dropped.
    last_drop: Option<GateDrop>,
    /// Of the units that a recorder does not know of yet. Kept at a plain gate.
    waited: Waited,
}

impl Gate {
    /// Takes a unit that arrives at `at` and states when it arrives at whatever comes next. `None`: it is dropped,
    /// see [`Gate::last_drop`]. Arrivals never decrease. `measured` is the one that the gate was made with.
    #[inline]
    pub fn pass(&mut self, at: Time, unit: &mut Unit, measured: &Measured) -> Option<Time> {
        // The commonest case by far: an idle server.
        if let Some(out) = self.pass_idle(at, unit, measured) {
            return Some(out);
        }
        self.pass_otherwise(at, unit, measured)
    }

    /// [`Gate::pass`] without a call of [`Gate::pass_idle`] first, which mostly has been tried.
    #[inline(never)]
    pub(crate) fn pass_otherwise(&mut self, at: Time, unit: &mut Unit, measured: &Measured) -> Option<Time> {
        crate::work::step();
        if !self.plain.is_plain() {
            self.pass_any(at, unit)
        } else if self.parts.stats.is_recorded() {
            self.pass_plain::<true, false>(at, unit, measured)
        } else if self.parts.exit.is_lossy() {
            self.pass_plain::<false, true>(at, unit, measured)
        } else {
            self.pass_plain::<false, false>(at, unit, measured)
        }
    }

    /// Any other gate.
    fn pass_any(&mut self, at: Time, unit: &mut Unit) -> Option<Time> {
        if at == Time::NEVER {
            // Another gate never lets it go. A rate law that repeats or a discipline that adapts would be followed for ever.
            self.parts.ahead.last = Service { start: Time::NEVER, end: Time::NEVER };
            return Some(Time::NEVER);
        }
        let fate = self.pass_parts(at, unit);
        self.keep_drop(fate)
    }

    /// What became of a unit, which [`Gate::last_drop`] tells of if it was dropped.
    #[inline(always)]
    fn keep_drop(&mut self, fate: Result<Time, GateDrop>) -> Option<Time> {
        self.parts.ahead.last_drop = fate.err().or(self.parts.ahead.last_drop);
        fate.ok()
    }

    /// A unit passes the parts of the gate in the general order, all of them now.
    fn pass_parts(&mut self, at: Time, unit: &mut Unit) -> Result<Time, GateDrop> {
        self.handle_ingress(at, unit)?;
        let Some(served) = self.take::<true, false>(at, unit)? else { return Ok(Time::NEVER) };
        self.parts.ahead.keep(at, &served);
        self.depart(&served)
    }

    /// The queue that a unit finds at `at`, and whether the server is idle.
    #[inline(always)]
    pub(super) fn found_ahead(&mut self, at: Time) -> (Backlog, bool) {
        (self.parts.ahead.backlog_at(at), at >= self.parts.ahead.last.end)
    }

    /// The backlog of a gate driven ahead at `at`, as the gate's queue counts.
    pub(crate) fn backlog_ahead(&mut self, at: Time) -> Backlog {
        self.parts.ahead.backlog_at(at)
    }

    /// The service of the unit that [`Gate::pass`] took last, at a gate that is not plain.
    pub(crate) fn last_service(&self) -> Service {
        self.parts.ahead.last
    }

    /// When and why [`Gate::pass`] dropped the last unit that it dropped. Its units have one fate each, stated before
    /// the next is taken, so one drop is enough; step by step there is [`Gate::poll_departure`].
    #[must_use]
    pub fn last_drop(&self) -> Option<GateDrop> {
        self.parts.ahead.last_drop
    }
}

impl Ahead {
    pub(super) fn new() -> Ahead {
        let last = Service { start: Time::ZERO, end: Time::ZERO };
        let waited = Waited::default();
        Ahead { leaving: VecDeque::new(), joined: 0, removed: 0, last, last_drop: None, waited }
    }

    /// Units in the queue, with some that may have left.
    #[inline]
    fn backlog(&self) -> Backlog {
        Backlog { units: self.leaving.len() as u64, bytes: self.joined - self.removed }
    }

    /// Units in the queue at `at`; those that have left are forgotten.
    #[inline]
    fn backlog_at(&mut self, at: Time) -> Backlog {
        crate::work::step();
        // Most often all have left; then back to the first place, which is still in the cache.
        if self.leaving.back().is_none_or(|(leaves, _)| *leaves <= at) {
            self.leaving.clear();
            self.removed = self.joined;
            return self.backlog();
        }
        if self.leaving.get(MANY).is_some_and(|(leaves, _)| *leaves <= at) {
            self.remove_many(at);
        }
        while let Some((leaves, joined)) = self.leaving.front() {
            if *leaves > at {
                break;
            }
            self.removed = *joined;
            self.leaving.pop_front();
        }
        self.backlog()
    }

    /// Forgets those that have left by `at`, more than [`MANY`], without looking at each.
    #[inline(never)]
    fn remove_many(&mut self, at: Time) {
        let count = self.leaving.partition_point(|(leaves, _)| *leaves <= at);
        self.removed = self.leaving[count - 1].1;
        self.leaving.drain(..count);
    }

    /// A unit joins the queue, which holds `found`, until `leaves`. Returns the queue with it.
    #[inline(always)]
    fn join(&mut self, found: Backlog, leaves: Time, bytes: u32) -> Backlog {
        let queue = found.with(bytes);
        self.joined += u64::from(bytes);
        self.leaving.push_back((leaves, self.joined));
        queue
    }

    /// A unit that arrived at `at` has this service, and is in the queue until it leaves it.
    #[inline(always)]
    fn keep(&mut self, at: Time, served: &Served) {
        if served.leaves > at {
            self.join(self.backlog(), served.leaves, served.bytes);
        }
        self.last = served.service;
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        (self.leaving.capacity() * size_of::<(Time, u64)>()) as u64
    }
}
