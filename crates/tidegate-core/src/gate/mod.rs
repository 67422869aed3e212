//! A gate: queue, rate law, framing, loss and delay. One server, first in, first out.
//!
//! A unit passes the parts of a gate in this order:
//!
//! - `ingress`: bytes on the wire, tallies of arrivals, adviser, marker, policer,
//! - `queue`: the discipline, which says what may join,
//! - [`rate`]: the law, which says when the service starts and ends,
//! - `exit`: random loss, delay, jitter.
//!
//! `statistics` count and record what happens. The same gate can be driven in two ways, which give the same results to
//! the picosecond. **Ahead** (`ahead`): [`Gate::pass`] states a unit's departure at its arrival. **Step by step**
//! (`stepped`): [`Gate::handle_unit`] queues a unit, [`Gate::handle_wakeup`] ends a service and starts the next,
//! at [`Gate::next_wakeup`]. It is for gates whose departures are not known ahead, and for `exact`. Where the
//! discipline decides when a unit would be served, `stepped` asks it at that instant.

mod acks;
mod ahead;
mod backlog;
mod cells;
mod drops;
mod exit;
mod general;
mod ingress;
mod queue;
pub mod rate;
mod red;
mod statistics;
mod step;
mod stepped;
mod waiting;

pub use acks::AckView;
pub use backlog::Backlog;
pub use drops::{DropReason, GateDrop};
pub use ingress::{Marker, Policer, Slot};
pub use statistics::{
    CellRow, ClassCounters, ClassRow, Count, Counters, GateRow, Phases, Precision, Quantiles, StillWaiting,
};
pub(crate) use statistics::{ExactPicos, Progression, Together};
pub use stepped::Departure;

use crate::gate::ahead::{Ahead, PlainServer, Waited};
use crate::gate::exit::Exit;
use crate::gate::ingress::Ingress;
use crate::gate::queue::Queue;
use crate::gate::rate::{Capacity, Law};
use crate::gate::statistics::{ClassStatistics, Statistics};
use crate::gate::stepped::Stepped;
use crate::plan::{ClassesPlan, GatePlan, RatePlan, RecordLevel};
use crate::random::{Seed, Stream};
use crate::unit::Unit;
use crate::units::{Measured, Span, Time};

/// Work of one packet at a gate that counts packets, in millionths of a packet.
const ONE_PACKET: u64 = 1_000_000;

/// One server, with everything in front of it and behind it. The fields that nearly every unit touches at a plain gate are here, in
/// two cache lines; the rest is in `Parts`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Gate {
    /// The server of a plain gate, in place of `law`.
    plain: PlainServer,
    /// Its number.
    index: u32,
    parts: Box<Parts>,
}

/// The rest of a gate.
#[derive(Debug)]
struct Parts {
    ingress: Ingress,
    queue: Queue,
    law: Law,
    /// A unit's work is one packet, whatever its size.
    by_packet: bool,
    exit: Exit,
    stats: Statistics,
    ahead: Ahead,
    stepped: Option<Box<Stepped>>,
    /// The statistics of its classes, where it has any.
    classes: Option<Box<ClassStatistics>>,
}

/// What a gate needs from its network when it is made.
#[derive(Clone, Copy, Debug)]
pub struct GateContext {
    /// Its number.
    pub index: usize,
    /// Its random streams derive from this and its name.
    pub seed: Seed,
    /// The time that summaries count.
    pub measured: Measured,
    /// How finely it keeps quantiles.
    pub precision: Precision,
    /// What it records.
    pub record: RecordLevel,
}

impl Gate {
    /// An idle gate.
    #[must_use]
    pub fn new(plan: &GatePlan, context: GateContext) -> Gate {
        let GateContext { index, seed, measured, .. } = context;
        let stats = Statistics::new(plan, &context);
        let exit = Exit::new(plan, seed);
        let speed = match &plan.rate {
            RatePlan::Constant(speed) if plan.is_simple() && !(exit.is_lossy() && stats.is_recorded()) => {
                speed.work_per_second()
            }
            _ => 0,
        };
        // Where units may be lost, none passes without a draw.
        let until = if exit.is_lossy() { Time::ZERO } else { stats.unnoted_until().min(measured.until) };
        let discipline_stream = || seed.stream(&format!("gate.{}/aqm", plan.name));
        let plain = PlainServer::new(speed, plan.delay, until);
        let parts = Parts {
            ingress: Ingress::new(plan, measured, rate_stream(plan, seed)),
            queue: if plan.classes.as_deref().is_some_and(ClassesPlan::makes_room) {
                Queue::new(&plan.queue, discipline_stream).making_room()
            } else {
                Queue::new(&plan.queue, discipline_stream)
            },
            law: Law::new(&plan.rate, plan.on_change, measured, rate_stream(plan, seed)),
            by_packet: plan.rate.counts_packets(),
            exit,
            stats,
            ahead: Ahead::new(),
            stepped: Stepped::classed(plan, seed).or_else(|| Stepped::judged(&plan.queue, discipline_stream)),
            classes: plan.classes.as_deref().map(|classes| Box::new(ClassStatistics::new(classes, &context))),
        };
        Gate { plain, index: index as u32, parts: Box::new(parts) }
    }

    /// Whether it has no policer, no marker and no adviser, and nobody counts what comes.
    pub(crate) fn admits_all(&self) -> bool {
        self.parts.ingress.is_open()
    }

    /// Counts a unit that arrives at `at`, and asks adviser, marker and policer about it, which may lower its rate signal, colour or tag it.
    /// Returns its bytes on the wire.
    ///
    /// # Errors
    /// The policer has dropped it.
    #[inline(always)]
    pub(crate) fn handle_ingress(&mut self, at: Time, unit: &mut Unit) -> Result<u32, GateDrop> {
        let wire = self.wire_bytes(unit.bytes);
        self.parts.ingress.note_arrival(at, wire);
        if self.parts.ingress.admits(at, unit, wire, &mut self.parts.stats) {
            return Ok(wire);
        }
        Err(self.refuse(at, unit, DropReason::Policed))
    }

    #[inline]
    fn work(&self, wire: u32) -> u64 {
        if self.parts.by_packet { ONE_PACKET } else { u64::from(wire) * 8 }
    }

    /// Bytes of a unit on this gate's wire.
    #[inline]
    pub(crate) fn wire_bytes(&self, bytes: u32) -> u32 {
        self.parts.ingress.wire_bytes(bytes)
    }

    /// Counts arrivals in slots of length `every` from now on, and returns the number of that tally. To be called before
    /// any unit arrives.
    pub fn add_tally(&mut self, every: Span) -> usize {
        self.plain = PlainServer::new(0, self.parts.exit.delay(), Time::ZERO);
        self.parts.ingress.add_tally(every)
    }

    /// The oldest slot of a tally, which is over. Each is returned once.
    pub fn take_slot(&mut self, tally: usize) -> Slot {
        self.parts.ingress.take_slot(tally)
    }

    /// The gate's own constant delay. The whole delay is never shorter.
    pub(crate) fn delay(&self) -> Span {
        self.parts.exit.delay()
    }

    /// The end of service of the last unit, which arrives at whatever comes next at `out`.
    #[must_use]
    pub fn end_before(&self, out: Time) -> Time {
        self.parts.exit.end_before(out)
    }

    /// When the next unit arrives at whatever comes next, if its service ends at `end`.
    #[inline(always)]
    pub(crate) fn out_after(&mut self, end: Time) -> Time {
        let Parts { exit, law, .. } = &mut *self.parts;
        exit.out_after(end, law.behind())
    }

    /// The rate law's capacity inside the measured time; `plan` and `seed` as the gate was made with.
    #[must_use]
    pub fn capacity(&self, plan: &GatePlan, seed: Seed, measured: Measured) -> Option<Capacity> {
        self.parts.law.capacity(&plan.rate, measured, rate_stream(plan, seed))
    }

    /// The gate's counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.parts.stats.counters.with_inside(self.plain.inside())
    }

    /// Its policer, where it has one.
    #[must_use]
    pub fn policer(&self) -> Option<&Policer> {
        self.parts.ingress.policer()
    }

    /// Its three-colour marker, where it has one.
    #[must_use]
    pub fn marker(&self) -> Option<&Marker> {
        self.parts.ingress.marker()
    }

    /// Ends the recording and returns its rows; `None` where the gate was not recorded.
    #[must_use]
    pub fn take_history(&mut self) -> Option<Vec<GateRow>> {
        self.note_passed();
        self.parts.stats.take_history()
    }

    /// The rows that it wrote so far; none where it is not recorded.
    #[must_use]
    pub fn history_so_far(&self) -> &[GateRow] {
        self.parts.stats.history_so_far()
    }

    /// Bytes held in its queue and history, about.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let stepped = self.parts.stepped.as_ref().map_or(0, |stepped| stepped.memory_bytes());
        self.parts.ahead.memory_bytes() + stepped + self.parts.stats.memory_bytes()
    }
}

/// The random numbers of a gate's rate law. A recorder and the final accounts walk copies of them.
pub(crate) fn rate_stream(plan: &GatePlan, seed: Seed) -> Stream {
    seed.stream(&format!("gate.{}/rate", plan.name))
}

#[cfg(test)]
pub(crate) mod tests;
