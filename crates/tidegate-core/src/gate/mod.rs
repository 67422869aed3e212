//! A gate: queue, rate law, framing, loss and delay. One server, first in, first out.
//!
//! The same gate can be driven in two ways. **Ahead**: [`Gate::pass`] states a unit's
//! departure at its arrival (Lindley's recursion; the laws here are all known ahead).
//! **Step by step**: [`Gate::arrive`] queues, [`Gate::complete`] ends a service and starts
//! the next (`exact_events`). Both must tell the same story to the picosecond.

mod allocate;
mod circuit;
mod content;
mod counters;
mod express;
mod jitter;
mod level;
mod loss;
mod police;
mod quantiles;
pub mod rate;
mod record;
mod steps;
mod tally;

use std::collections::VecDeque;

pub use counters::{Count, Counters, DropReason, Phases};
pub use loss::Loss;
pub use police::Policer;
pub use quantiles::{Precision, Quantiles};
pub use record::{CellRow, GateRow, Recorder};
pub use tally::Slot;

use crate::aal5::CELL_BYTES;
use crate::gate::express::{Express, IdlePassage};
use crate::gate::jitter::Jitter;
use crate::gate::rate::{Capacity, Law, Service};
use crate::gate::steps::Steps;
use crate::gate::tally::Tally;
use crate::gcra::Verdict;
use crate::plan::{Framing, GatePlan, JitterPlan, QueueCounts, QueueLimit, RatePlan, RecordLevel};
use crate::random::{Seed, Stream};
use crate::unit::{Blame, Passage, Unit};
use crate::units::{Measured, Span, Time};

/// Work of one packet at a gate that counts packets, in millionths of a packet.
const ONE_PACKET: u64 = 1_000_000;

/// A unit that a gate will not pass on: when it was dropped, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateDrop {
    /// The arrival that found no room, or the end of a service lost at random.
    pub at: Time,
    /// Why.
    pub reason: DropReason,
}

/// One server.
#[derive(Debug)]
pub struct Gate {
    /// Fast path of plain gates with a constant rate. Where it is open, it replaces `law` and `free`.
    express: Express,
    /// Departure times and IP bytes of queued units (driven ahead). Units that have left are removed late, so
    /// the first ones may be in the past.
    leaving: VecDeque<(Time, u32)>,
    leaving_bytes: u64,
    limit: QueueLimit,
    index: usize,
    counters: Counters,
    delay: Span,
    law: Law,
    /// Start and end of the last unit's service there.
    began: Time,
    free: Time,
    counts: QueueCounts,
    framing: Framing,
    by_packet: bool,
    last_drop: Option<GateDrop>,
    /// Where tagged units are dropped.
    tagged: Option<u64>,
    police: Option<Box<Policer>>,
    loss: Option<Box<Loss>>,
    jitter: Option<Box<Jitter>>,
    recorder: Option<Box<Recorder>>,
    steps: Option<Box<Steps>>,
    tallies: Vec<Tally>,
}

/// What a gate is told when it is made.
#[derive(Clone, Copy, Debug)]
pub struct GateContext {
    /// Its number.
    pub index: usize,
    /// Its random streams derive from this and its name.
    pub seed: Seed,
    /// What summaries count.
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
        let GateContext { index, seed, measured, precision, record } = context;
        let stream = rate_stream(plan, seed);
        let recorder = (record != RecordLevel::Summary)
            .then(|| Box::new(Recorder::new(plan, record, measured.until, stream.clone())));
        let law = Law::new(&plan.rate, plan.on_change, measured, stream);
        let loss = Loss::new(plan.loss, seed.stream(&format!("gate.{}/loss", plan.name)));
        let jitter = Jitter::new(plan.jitter, || seed.stream(&format!("gate.{}/jitter", plan.name)));
        let plain = recorder.is_none()
            && loss.is_none()
            && plan.jitter == JitterPlan::None
            && plan.police.is_none()
            && plan.queue.tagged.is_none()
            && plan.framing == Framing::Ip
            && plan.queue.counts == QueueCounts::Waiting
            && !plan.rate.counts_packets();
        let express_speed = match &plan.rate {
            RatePlan::Constant(speed) if plain => speed.work_per_second(),
            _ => 0,
        };
        Gate {
            express: Express::new(express_speed, plan.delay),
            last_drop: None,
            law,
            began: Time::ZERO,
            free: Time::ZERO,
            delay: plan.delay,
            counts: plan.queue.counts,
            limit: plan.queue.limit,
            tagged: plan.queue.tagged,
            police: plan
                .police
                .as_ref()
                .map(|police| Box::new(Policer::new(police, plan.policed_unit(), measured))),
            framing: plan.framing,
            by_packet: plan.rate.counts_packets(),
            index,
            leaving: VecDeque::new(),
            leaving_bytes: 0,
            loss,
            jitter,
            recorder,
            steps: None,
            tallies: Vec::new(),
            counters: Counters::new(measured, precision),
        }
    }

    /// Counts what comes to the door in slots from now on; says which tally it is. Before any
    /// unit came.
    pub fn add_tally(&mut self, every: Span) -> usize {
        self.express = Express::new(0, self.delay);
        self.tallies.push(Tally::new(every));
        self.tallies.len() - 1
    }

    /// The oldest slot of a tally, which is over; each is handed out once.
    pub fn take_slot(&mut self, tally: usize) -> Slot {
        self.tallies[tally].take()
    }

    fn note_arrival(&mut self, at: Time, wire: u32) {
        self.tallies.iter_mut().for_each(|tally| tally.arrive(at, wire));
    }

    #[inline]
    fn work(&self, wire: u32) -> u64 {
        if self.by_packet { ONE_PACKET } else { u64::from(wire) * 8 }
    }

    /// Takes a unit at `at` and states when it arrives at whatever comes next; `None`: it is
    /// dropped, see [`Gate::last_drop`]. Arrivals never decrease. `measured` is the one that
    /// the gate was made with.
    #[inline]
    pub fn pass(&mut self, at: Time, unit: &mut Unit, measured: &Measured) -> Option<Time> {
        // The commonest case by far: an idle server.
        if let Some(out) = self.pass_idle(at, unit.bytes, measured) {
            return Some(out);
        }
        if self.express.is_open() {
            let (out, blame) = self.pass_busy(at, unit.bytes, unit.blame).get()?;
            unit.blame = blame;
            return Some(out);
        }
        // A copy, so that a unit elsewhere may stay in registers.
        let mut copy = *unit;
        let out = self.pass_any(at, &mut copy);
        *unit = copy;
        out
    }

    /// Bits per second where [`Gate::pass_idle`] ever answers, else 0.
    pub(crate) fn express_speed(&self) -> u64 {
        self.express.speed()
    }

    /// The short way through an idle server, where there is one.
    #[inline]
    pub(crate) fn pass_idle(&mut self, at: Time, bytes: u32, measured: &Measured) -> Option<Time> {
        self.express.pass_idle(at, bytes, measured)
    }

    /// What [`Gate::pass_idle`] does with a unit of the last size.
    pub(crate) fn idle_passage(&self) -> IdlePassage {
        self.express.idle_passage()
    }

    /// As if [`Gate::pass_idle`] had taken so many units of the last size, the last at `at`.
    pub(crate) fn passed_idle(&mut self, at: Time, units: u64) -> Time {
        self.express.passed_idle(at, units)
    }

    /// Any state of a gate on the short way.
    #[inline(never)]
    pub(crate) fn pass_busy(&mut self, at: Time, bytes: u32, blame: Blame) -> Passage {
        crate::work::step();
        self.pass_busy_here(at, bytes, blame)
    }

    /// The same without a call.
    #[inline(always)]
    pub(crate) fn pass_busy_here(&mut self, at: Time, bytes: u32, blame: Blame) -> Passage {
        let size = u64::from(bytes);
        let (mut waiting, mut waiting_bytes) = (self.leaving.len() as u64, self.leaving_bytes);
        // Those that have left are forgotten where it matters, many at a time.
        if self.counters.is_larger((waiting + 1, waiting_bytes + size))
            || self.is_full(waiting, waiting_bytes, bytes)
        {
            self.forget_left(at);
            (waiting, waiting_bytes) = (self.leaving.len() as u64, self.leaving_bytes);
            if at < self.express.free() && self.is_full(waiting, waiting_bytes, bytes) {
                self.refuse(at, bytes, DropReason::QueueFull);
                return Passage::DROPPED;
            }
        }
        let service = self.express.serve(at, bytes);
        let out = service.end.saturating_add(self.delay);
        if service.start > at {
            self.leaving.push_back((service.start, bytes));
            self.leaving_bytes = waiting_bytes + size;
            self.counters.pass_waiting(at, service, size, (waiting + 1, waiting_bytes + size));
            return Passage::new(out, blame.or_wait(service.start.saturating_since(at), self.index));
        }
        self.counters.pass(at, service.end, size);
        Passage::new(out, blame)
    }

    /// What it counts, for servers that pass cells in its name.
    pub(crate) fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    /// Units that count in the queue at `at`.
    pub(crate) fn queue_now(&mut self, at: Time) -> u64 {
        self.forget_left(at);
        self.leaving.len() as u64
    }

    /// Counts a cell that is thrown away at the door.
    #[cold]
    pub(crate) fn refuse_cell(&mut self, at: Time) {
        self.note_arrival(at, CELL_BYTES);
        self.refuse(at, CELL_BYTES, DropReason::QueueFull);
    }

    /// Whether a cell of a packet on stretch `chain`, which comes at `at`, passes the policer tagged; `None`: it
    /// is thrown away, which counts at `end`. To be asked before anything else of the gate, and before
    /// [`Gate::pass`] or [`Gate::arrive`], which do not ask at a cell gate.
    pub(crate) fn police_cell(&mut self, at: Time, end: Time, tagged: bool, chain: u32) -> Option<bool> {
        match self.judge(at, CELL_BYTES, tagged, chain) {
            Verdict::Pass => Some(tagged),
            Verdict::Tag => Some(true),
            Verdict::Discard => {
                self.note_arrival(end, CELL_BYTES);
                self.refuse(end, CELL_BYTES, DropReason::Policed);
                None
            }
        }
    }

    /// The next cell comes from a gate that takes so long for it.
    pub(crate) fn spread_next(&mut self, spread: Span) {
        if let Some(recorder) = &mut self.recorder {
            recorder.spread(spread);
        }
    }

    /// Counts and records a cell that another server passes in this gate's name; so many wait
    /// now, this one included.
    pub(crate) fn book_cell(&mut self, at: Time, service: Service, waiting: u64) {
        self.note_arrival(at, CELL_BYTES);
        if service.start > at {
            self.note_queue(at, waiting, waiting * u64::from(CELL_BYTES), CELL_BYTES);
            self.counters.wait(at, service.start);
            self.counters.queued(at, service.start);
        }
        if let Some(recorder) = &mut self.recorder {
            if service.start > at {
                recorder.serve(service, service.start, u64::from(CELL_BYTES), u64::from(CELL_BYTES));
            } else {
                recorder.serve_at_once(at, service, u64::from(CELL_BYTES));
            }
        }
        self.counters.pass(at, service.end, u64::from(CELL_BYTES));
    }

    /// Whether the policer lets a packet through; it may tag it. Cells were asked for before
    /// ([`Gate::police_cell`]).
    #[inline]
    fn conforms(&mut self, at: Time, unit: &mut Unit, wire: u32) -> bool {
        if self.police.as_ref().is_none_or(|police| police.in_cells()) {
            return true;
        }
        match self.judge(at, wire, unit.tagged(), unit.chain) {
            Verdict::Pass => true,
            Verdict::Tag => {
                unit.set_tagged(true);
                true
            }
            Verdict::Discard => false,
        }
    }

    /// What the policer says of a unit on stretch `chain` that comes at `at`.
    fn judge(&mut self, at: Time, wire: u32, tagged: bool, chain: u32) -> Verdict {
        let Some(police) = &mut self.police else { return Verdict::Pass };
        let verdict = police.judge(at, wire, tagged, chain);
        if let Some(recorder) = &mut self.recorder
            && verdict != Verdict::Discard
        {
            recorder.policed(at, police.state());
        }
        verdict
    }

    /// Whether a unit is tagged and finds too many waiting.
    #[inline]
    fn is_late(&self, waiting: u64, unit: &Unit) -> bool {
        unit.tagged() && self.tagged.is_some_and(|threshold| waiting >= threshold)
    }

    /// Whether a unit that comes at `at` finds no place in the queue, which holds so many units and bytes, and needs
    /// one: only what begins the moment it comes to an idle server needs none.
    #[inline]
    fn finds_no_place(&mut self, at: Time, idle: bool, queue: (u64, u64), unit: &Unit, wire: u32) -> bool {
        self.is_full(queue.0, queue.1, unit.bytes) && !(idle && self.law.begins_at(at, self.work(wire)))
    }

    /// The service of the unit that [`Gate::pass`] took last, at a gate without a short way.
    pub(crate) fn last_service(&self) -> Service {
        Service { start: self.began, end: self.free }
    }

    /// When and why the last dropped unit was dropped.
    #[must_use]
    pub fn last_drop(&self) -> Option<GateDrop> {
        self.last_drop
    }

    /// The constant delay behind it; nothing takes less.
    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    /// End of the service of the last unit that was told when it arrives next: at `out`.
    #[must_use]
    pub fn end_before(&self, out: Time) -> Time {
        match &self.jitter {
            Some(jitter) => jitter.ended(),
            None => Time::from_picos(out.picos().saturating_sub(self.delay.picos())),
        }
    }

    /// When the next unit arrives at whatever comes next whose service ends at `end`.
    #[inline]
    pub(crate) fn out_after(&mut self, end: Time) -> Time {
        match &mut self.jitter {
            Some(jitter) => jitter.delay(end, self.delay),
            None => end.saturating_add(self.delay),
        }
    }

    /// Any gate without an express way.
    #[inline(never)]
    fn pass_any(&mut self, at: Time, unit: &mut Unit) -> Option<Time> {
        crate::work::step();
        let wire = self.framing.unit_bytes(unit.bytes);
        self.note_arrival(at, wire);
        if !self.conforms(at, unit, wire) {
            return self.refuse(at, wire, DropReason::Policed);
        }
        self.forget_left(at);
        let waiting = self.leaving.len() as u64;
        if !self.law.admits(wire) {
            return self.refuse(at, wire, DropReason::TooLarge);
        }
        let (idle, queue) = (at >= self.free, (waiting, self.leaving_bytes));
        if self.is_late(waiting, unit) || self.finds_no_place(at, idle, queue, unit, wire) {
            return self.refuse(at, wire, DropReason::QueueFull);
        }
        let service = self.law.transmit(at, self.work(wire));
        (self.began, self.free) = (service.start, service.end);
        let leaves = self.leaves(service);
        if leaves > at {
            self.leaving.push_back((leaves, unit.bytes));
            self.leaving_bytes += u64::from(unit.bytes);
            self.note_queue(at, self.leaving.len() as u64, self.leaving_bytes, unit.bytes);
        }
        self.book(at, unit, service, wire);
        self.depart(at, service.end, wire)
    }

    /// A unit has joined the queue, which is now so large.
    fn note_queue(&mut self, at: Time, packets: u64, queued_bytes: u64, bytes: u32) {
        self.counters.queue_is(at, packets, queued_bytes);
        if let Some(recorder) = &mut self.recorder {
            recorder.arrive(at, u64::from(bytes));
        }
    }

    #[inline]
    fn forget_left(&mut self, at: Time) {
        crate::work::step();
        while let Some((leaves, bytes)) = self.leaving.front() {
            if *leaves > at {
                break;
            }
            self.leaving_bytes -= u64::from(*bytes);
            self.leaving.pop_front();
        }
        if self.leaving.is_empty() {
            // Back to the first place, which the cache still knows.
            self.leaving.clear();
        }
    }

    #[inline]
    fn is_full(&self, packets: u64, queued_bytes: u64, bytes: u32) -> bool {
        match self.limit {
            QueueLimit::Unlimited => false,
            QueueLimit::Packets(limit) | QueueLimit::Cells(limit) => packets >= limit,
            QueueLimit::Bytes(limit) => queued_bytes + u64::from(bytes) > limit,
        }
    }

    #[inline]
    fn leaves(&self, service: Service) -> Time {
        match self.counts {
            QueueCounts::Waiting => service.start,
            QueueCounts::All => service.end,
        }
    }

    #[cold]
    fn refuse(&mut self, at: Time, wire: u32, reason: DropReason) -> Option<Time> {
        self.counters.offer(at, u64::from(wire));
        self.counters.drop(at, u64::from(wire), reason);
        if let Some(recorder) = &mut self.recorder {
            recorder.refuse(at);
        }
        self.tallies.iter_mut().for_each(|tally| tally.refuse(at));
        self.last_drop = Some(GateDrop { at, reason });
        None
    }

    /// Books a service that has been stated.
    fn book(&mut self, at: Time, unit: &mut Unit, service: Service, wire: u32) {
        if service.start > at {
            self.counters.wait(at, service.start);
            unit.note_wait(service.start.saturating_since(at), self.index);
        }
        let leaves = self.leaves(service);
        if leaves > at {
            self.counters.queued(at, leaves);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.took(service.start, self.law.tokens());
            if leaves > at {
                recorder.serve(service, leaves, u64::from(unit.bytes), u64::from(wire));
            } else {
                recorder.serve_at_once(at, service, u64::from(wire));
            }
        }
    }

    /// The end of a service: the unit that came at `at` is lost, or goes on after the delay.
    fn depart(&mut self, at: Time, end: Time, wire: u32) -> Option<Time> {
        if self.loss.is_some() && self.loses(at, end, wire) {
            self.last_drop = Some(GateDrop { at: end, reason: DropReason::Loss });
            return None;
        }
        self.counters.pass(at, end, u64::from(wire));
        Some(self.out_after(end))
    }

    fn loses(&mut self, at: Time, end: Time, wire: u32) -> bool {
        let lost = self.loss.as_mut().is_some_and(|loss| loss.takes());
        if lost {
            self.counters.offer(at, u64::from(wire));
            self.counters.drop(end, u64::from(wire), DropReason::Loss);
            if let Some(recorder) = &mut self.recorder {
                recorder.lose(end);
            }
        }
        lost
    }

    /// The law's capacity inside the measured time; `plan` and `seed` as the gate was made with.
    #[must_use]
    pub fn capacity(&self, plan: &GatePlan, seed: Seed, measured: Measured) -> Option<Capacity> {
        self.law.capacity(&plan.rate, measured, rate_stream(plan, seed))
    }

    /// What it counted.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters.with_inside(self.express.inside())
    }

    /// Its policer, where it has one.
    #[must_use]
    pub fn policer(&self) -> Option<&Policer> {
        self.police.as_deref()
    }

    /// Its history, where it was recorded.
    #[must_use]
    pub fn take_history(&mut self) -> Option<Vec<GateRow>> {
        self.recorder.take().map(|recorder| recorder.finish())
    }

    /// Bytes held in its queue and history, about.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let queued = self.leaving.capacity() * size_of::<(Time, u32)>();
        let steps = self.steps.as_ref().map_or(0, |steps| steps.memory_bytes());
        queued as u64 + steps + self.recorder.as_ref().map_or(0, |recorder| recorder.memory_bytes())
    }
}

/// The stream of a gate's rate law: a recorder and the final accounts walk copies of it.
pub(crate) fn rate_stream(plan: &GatePlan, seed: Seed) -> Stream {
    seed.stream(&format!("gate.{}/rate", plan.name))
}

#[cfg(test)]
pub(crate) mod tests;
