//! A gate driven ahead: [`Gate::pass`] states the departure of a unit at its arrival (Lindley's recursion), because
//! nothing that happens later can change it.

mod alone;
mod busy;
mod express;

use std::collections::VecDeque;

pub(super) use alone::Alone;
pub(super) use express::{Express, Pace};

use crate::gate::backlog::Backlog;
use crate::gate::drops::{DropReason, GateDrop};
use crate::gate::rate::Service;
use crate::gate::{Gate, Parts};
use crate::unit::{Blame, Passage, Unit};
use crate::units::{Measured, Span, Time};

/// More units than this are removed from a queue together.
const MANY: usize = 8;

/// What a gate driven ahead remembers of earlier units.
#[derive(Debug)]
pub(super) struct Ahead {
    /// When the units in the queue leave it, each with the IP bytes of all that have joined until then, itself
    /// included. Units that have left are removed late, so the first ones may be in the past.
    leaving: VecDeque<(Time, u64)>,
    /// The IP bytes of all that have joined, and of all that have been removed.
    joined: u64,
    removed: u64,
    /// The service of the last unit. Not kept where the express way is open.
    last: Service,
    /// The drop of the last unit that was dropped.
    last_drop: Option<GateDrop>,
}

impl Gate {
    /// Takes a unit that arrives at `at` and states when it arrives at whatever comes next. `None`: it is dropped,
    /// see [`Gate::last_drop`]. Arrivals never decrease. `measured` is the one that the gate was made with.
    #[inline]
    pub fn pass(&mut self, at: Time, unit: &mut Unit, measured: &Measured) -> Option<Time> {
        // The commonest case by far: an idle server.
        if let Some(out) = self.pass_idle_unrecorded(at, unit.bytes, measured) {
            return Some(out);
        }
        self.pass_not_idle(at, unit, measured, Gate::pass_busy)
    }

    /// [`Gate::pass`] of a unit that does not find the server of a plain gate idle.
    #[inline]
    pub(crate) fn pass_otherwise(&mut self, at: Time, unit: &mut Unit, measured: &Measured) -> Option<Time> {
        self.pass_not_idle(at, unit, measured, Gate::pass_busy_here)
    }

    #[inline(always)]
    fn pass_not_idle(
        &mut self,
        at: Time,
        unit: &mut Unit,
        measured: &Measured,
        pass_busy: impl FnOnce(&mut Gate, Time, u32, Blame, &Measured) -> Passage,
    ) -> Option<Time> {
        if self.express.is_open() {
            let (out, blame) = pass_busy(self, at, unit.bytes, unit.blame, measured).get()?;
            unit.blame = blame;
            return Some(out);
        }
        // A copy, so that a unit elsewhere may stay in registers.
        let mut copy = *unit;
        let out = self.pass_any(at, &mut copy);
        *unit = copy;
        out
    }

    /// The express way through the idle server of a gate that is not recorded; `None` where it cannot be taken.
    #[inline]
    pub(crate) fn pass_idle_unrecorded(&mut self, at: Time, bytes: u32, measured: &Measured) -> Option<Time> {
        self.express.pass_idle(at, bytes, measured)
    }

    /// The express way through the idle server of a plain gate that is recorded, as long as its service ends by the next row.
    #[inline]
    fn pass_idle_recorded(&mut self, at: Time, bytes: u32) -> Option<Time> {
        let Parts { books, recorded, ahead, .. } = &mut *self.parts;
        let measured = books.counters.measured();
        let unwritten =
            Measured { until: measured.until.min(just_after(books.next_row_from(at)?)), ..measured };
        let server = recorded.as_mut()?;
        let out = server.pass_idle(at, bytes, &unwritten)?;
        ahead.last = Service { start: at, end: server.free() };
        books.record_idle(u64::from(bytes));
        Some(out)
    }

    /// A gate whose express way is open, where [`Gate::pass_idle_unrecorded`] has not passed the unit.
    #[inline(never)]
    fn pass_busy(&mut self, at: Time, bytes: u32, blame: Blame, measured: &Measured) -> Passage {
        self.pass_busy_here(at, bytes, blame, measured)
    }

    /// The same without a call where the unit waits for no other than the one in service.
    #[inline(always)]
    fn pass_busy_here(&mut self, at: Time, bytes: u32, blame: Blame, measured: &Measured) -> Passage {
        crate::work::step();
        self.pass_alone(at, bytes, blame, measured).unwrap_or_else(|| self.pass_open(at, bytes, blame))
    }

    #[inline(never)]
    fn pass_open(&mut self, at: Time, bytes: u32, blame: Blame) -> Passage {
        self.pass_plain::<false>(at, bytes, blame)
    }

    /// A plain gate that is recorded.
    #[inline(never)]
    fn pass_recorded(&mut self, at: Time, bytes: u32, blame: Blame) -> Passage {
        self.pass_plain::<true>(at, bytes, blame)
    }

    /// A plain gate, recorded or not.
    #[inline(always)]
    fn pass_plain<const RECORDED: bool>(&mut self, at: Time, bytes: u32, blame: Blame) -> Passage {
        if !RECORDED {
            self.end_alone();
        }
        let parts = &mut *self.parts;
        let server = match &mut parts.recorded {
            Some(server) if RECORDED => server,
            _ => &mut self.express,
        };
        let mut found = parts.ahead.backlog();
        // Units that have left are forgotten where they make a difference, many at a time.
        if parts.books.counters.is_larger(found.with(bytes)) || parts.queue.is_full(found, bytes) {
            found = parts.ahead.backlog_at(at);
            if at < server.free() && parts.queue.is_full(found, bytes) {
                let drop = self.refuse(at, bytes, DropReason::QueueFull);
                self.parts.ahead.last_drop = Some(drop);
                return Passage::DROPPED;
            }
        }
        let service = server.serve(at, bytes);
        if RECORDED {
            parts.ahead.last = service;
            parts.books.record_plain(at, service, bytes);
        }
        let out = service.end.saturating_add(parts.exit.delay());
        if service.start <= at {
            parts.books.counters.pass(at, service.end, u64::from(bytes));
            return Passage::new(out, blame);
        }
        let queue = parts.ahead.join(found, service.start, bytes);
        parts.books.counters.pass_waiting(at, service, u64::from(bytes), queue);
        let blame = blame.or_wait(service.start.saturating_since(at), self.alone.gate());
        if !RECORDED {
            self.note_fit(bytes);
        }
        Passage::new(out, blame)
    }

    /// Any gate without an express way of its own.
    #[inline(never)]
    fn pass_any(&mut self, at: Time, unit: &mut Unit) -> Option<Time> {
        crate::work::step();
        if at == Time::NEVER {
            // Another gate never lets it go. A rate law that repeats or a discipline that adapts would be followed for ever.
            self.parts.ahead.last = Service { start: Time::NEVER, end: Time::NEVER };
            return Some(Time::NEVER);
        }
        if self.parts.recorded.is_some() {
            if let Some(out) = self.pass_idle_recorded(at, unit.bytes) {
                return Some(out);
            }
            let (out, blame) = self.pass_recorded(at, unit.bytes, unit.blame).get()?;
            unit.blame = blame;
            return Some(out);
        }
        let fate = self.pass_parts(at, unit);
        self.parts.ahead.last_drop = fate.err().or(self.parts.ahead.last_drop);
        fate.ok()
    }

    /// A unit's way through the parts of the gate: door, queue, rate law, exit.
    fn pass_parts(&mut self, at: Time, unit: &mut Unit) -> Result<Time, GateDrop> {
        let wire = self.handle_at_door(at, unit)?;
        let found = self.parts.ahead.backlog_at(at);
        let idle = at >= self.parts.ahead.last.end;
        self.admit(at, unit, wire, (found, idle))?;
        let served = self.serve(at, unit, wire, Some(found.with(unit.bytes)));
        if served.leaves > at {
            self.parts.ahead.join(found, served.leaves, unit.bytes);
        }
        self.parts.ahead.last = served.service;
        self.depart(&served)
    }

    /// What is in the queue of a gate driven ahead at `at`, as the gate's queue counts.
    pub(crate) fn backlog_ahead(&mut self, at: Time) -> Backlog {
        self.end_alone();
        self.parts.ahead.backlog_at(at)
    }

    /// The service of the unit that [`Gate::pass`] took last, at a gate without an express way.
    pub(crate) fn last_service(&self) -> Service {
        self.parts.ahead.last
    }

    /// When and why [`Gate::pass`] dropped the last unit that it dropped. Its units have one fate each, stated before
    /// the next is taken, so one drop is enough; step by step there is [`Gate::poll_departure`].
    #[must_use]
    pub fn last_drop(&self) -> Option<GateDrop> {
        self.parts.ahead.last_drop
    }

    /// Whether it is a plain gate that writes rows.
    #[inline]
    pub(crate) fn is_plain_and_recorded(&self) -> bool {
        self.parts.recorded.is_some()
    }
}

/// The first instant after `at`.
fn just_after(at: Time) -> Time {
    at.saturating_add(Span::from_picos(1))
}

impl Ahead {
    pub(super) fn new() -> Ahead {
        let last = Service { start: Time::ZERO, end: Time::ZERO };
        Ahead { leaving: VecDeque::new(), joined: 0, removed: 0, last, last_drop: None }
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

    pub(super) fn memory_bytes(&self) -> u64 {
        (self.leaving.capacity() * size_of::<(Time, u64)>()) as u64
    }
}
