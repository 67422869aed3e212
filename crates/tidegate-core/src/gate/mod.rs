//! A gate: queue, rate law, framing, loss and delay. One server, first in, first out.
//!
//! The same gate can be driven in two ways. **Ahead**: [`Gate::pass`] states a unit's
//! departure at its arrival (Lindley's recursion; the laws here are all known ahead).
//! **Step by step**: [`Gate::arrive`] queues, [`Gate::complete`] ends a service and starts
//! the next (`exact_events`). Both must tell the same story to the picosecond.

mod counters;
mod loss;
mod quantiles;
pub mod rate;
mod record;
pub mod serve;
mod steps;

use std::collections::VecDeque;

pub use counters::{Count, Counters, DropReason, Phases};
pub use loss::Loss;
pub use quantiles::{Precision, Quantiles};
pub use record::{GateRow, Recorder};

use crate::gate::steps::Steps;
use crate::gate::rate::{Capacity, Law, Service, Window, counts_packets};
use crate::plan::{Framing, GatePlan, QueueCounts, QueueLimit, RecordLevel};
use crate::random::{Seed, Stream};
use crate::unit::Unit;
use crate::units::{Span, Time};

/// Work of one packet at a gate that counts packets, in millionths of a packet.
const ONE_PACKET: u64 = 1_000_000;

/// What a gate does with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It leaves the gate, delay included, at `out`; its service ends at `end`.
    Out {
        /// End of service.
        end: Time,
        /// Arrival at whatever comes next.
        out: Time,
    },
    /// It is dropped at this instant.
    Drop(Time, DropReason),
}

/// One server.
#[derive(Debug)]
pub struct Gate {
    law: Law,
    /// End of the last unit's service.
    free: Time,
    delay: Span,
    counts: QueueCounts,
    limit: QueueLimit,
    framing: Framing,
    by_packet: bool,
    /// Driven ahead, it may take the short way.
    plain: bool,
    index: usize,
    /// When the units that count leave the queue, with their IP bytes (driven ahead).
    leaving: VecDeque<(Time, u32)>,
    leaving_bytes: u64,
    loss: Option<Box<Loss>>,
    recorder: Option<Box<Recorder>>,
    steps: Option<Box<Steps>>,
    counters: Counters,
}

/// What a gate is told when it is made.
#[derive(Clone, Copy, Debug)]
pub struct GateContext {
    /// Its number.
    pub index: usize,
    /// Its random streams derive from this and its name.
    pub seed: Seed,
    /// What summaries count.
    pub window: Window,
    /// How finely it keeps quantiles.
    pub precision: Precision,
    /// What it records.
    pub record: RecordLevel,
}

impl Gate {
    /// An idle gate.
    #[must_use]
    pub fn new(plan: &GatePlan, context: GateContext) -> Gate {
        let GateContext { index, seed, window, precision, record } = context;
        let stream = rate_stream(plan, seed);
        let recorder = (record != RecordLevel::Summary)
            .then(|| Box::new(Recorder::new(&plan.rate, record, window.until, stream.clone())));
        let law = Law::new(&plan.rate, plan.on_change, window, stream);
        let loss = Loss::new(plan.loss, seed.stream(&format!("gate.{}/loss", plan.name)));
        Gate {
            plain: recorder.is_none()
                && loss.is_none()
                && law.admits(u32::MAX)
                && plan.framing == Framing::Ip
                && plan.queue.counts == QueueCounts::Waiting
                && !counts_packets(&plan.rate),
            law,
            free: Time::ZERO,
            delay: plan.delay,
            counts: plan.queue.counts,
            limit: plan.queue.limit,
            framing: plan.framing,
            by_packet: counts_packets(&plan.rate),
            index,
            leaving: VecDeque::new(),
            leaving_bytes: 0,
            loss,
            recorder,
            steps: None,
            counters: Counters::new(window, precision),
        }
    }

    /// Bytes of a packet on this gate's wire.
    #[inline]
    fn wire_bytes(&self, bytes: u32) -> u32 {
        match self.framing {
            Framing::Ip => bytes,
            Framing::Overhead { overhead, minimum } => (bytes + overhead).max(minimum),
        }
    }

    #[inline]
    fn work(&self, wire: u32) -> u64 {
        if self.by_packet { ONE_PACKET } else { u64::from(wire) * 8 }
    }

    /// Takes a unit at `at` and states when it leaves. Arrivals never decrease.
    #[inline]
    pub fn pass(&mut self, at: Time, unit: &mut Unit) -> Passage {
        if !self.plain {
            return self.pass_special(at, unit);
        }
        // The commonest case by far: an idle server of constant speed.
        if let Law::Constant(law) = &mut self.law
            && let Some(end) = law.transmit_idle(at, unit.bytes)
        {
            self.free = end;
            if !self.leaving.is_empty() {
                self.forget_all();
            }
            self.counters.pass(at, end, u64::from(unit.bytes));
            return Passage::Out { end, out: end.saturating_add(self.delay) };
        }
        self.pass_as::<true>(at, unit)
    }

    #[inline(never)]
    fn pass_special(&mut self, at: Time, unit: &mut Unit) -> Passage {
        self.pass_as::<false>(at, unit)
    }

    #[inline(never)]
    fn forget_all(&mut self) {
        self.leaving.clear();
        self.leaving_bytes = 0;
    }

    /// `PLAIN`: nothing is recorded or lost at random, every size passes, packets weigh their
    /// IP bytes, and the queue counts those that wait.
    #[inline]
    fn pass_as<const PLAIN: bool>(&mut self, at: Time, unit: &mut Unit) -> Passage {
        let wire = if PLAIN { unit.bytes } else { self.wire_bytes(unit.bytes) };
        if at >= self.free && PLAIN {
            if !self.leaving.is_empty() {
                self.forget_all();
            }
        } else {
            self.forget_left(at);
            if at < self.free && self.is_full(self.leaving.len() as u64, self.leaving_bytes, unit.bytes) {
                return self.refuse(at, wire, DropReason::QueueFull);
            }
        }
        if !PLAIN && !self.law.admits(wire) {
            return self.refuse(at, wire, DropReason::TooLarge);
        }
        let work = if PLAIN { u64::from(wire) * 8 } else { self.work(wire) };
        let service = self.law.transmit(at, work);
        self.free = service.end;
        let leaves = if PLAIN { service.start } else { self.leaves(service) };
        if leaves > at {
            self.leaving.push_back((leaves, unit.bytes));
            self.leaving_bytes += u64::from(unit.bytes);
            self.note_queue::<PLAIN>(at, self.leaving.len() as u64, self.leaving_bytes, unit.bytes);
        }
        self.book::<PLAIN>(at, unit, service, wire);
        self.depart::<PLAIN>(at, service.end, wire)
    }

    /// A unit has joined the queue, which is now so large.
    #[inline]
    fn note_queue<const PLAIN: bool>(&mut self, at: Time, packets: u64, queued_bytes: u64, bytes: u32) {
        self.counters.queue_is(at, packets, queued_bytes);
        if !PLAIN && let Some(recorder) = &mut self.recorder {
            recorder.arrive(at, u64::from(bytes));
        }
    }

    #[inline]
    fn forget_left(&mut self, at: Time) {
        while let Some((leaves, bytes)) = self.leaving.front() {
            if *leaves > at {
                break;
            }
            self.leaving_bytes -= u64::from(*bytes);
            self.leaving.pop_front();
        }
    }

    #[inline]
    fn is_full(&self, packets: u64, queued_bytes: u64, bytes: u32) -> bool {
        match self.limit {
            QueueLimit::Unlimited => false,
            QueueLimit::Packets(limit) => packets >= limit,
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
    fn refuse(&mut self, at: Time, wire: u32, reason: DropReason) -> Passage {
        self.counters.offer(at, u64::from(wire));
        self.counters.drop(at, u64::from(wire), reason);
        if let Some(recorder) = &mut self.recorder {
            recorder.refuse(at);
        }
        Passage::Drop(at, reason)
    }

    /// Books a service that has been stated.
    #[inline]
    fn book<const PLAIN: bool>(&mut self, at: Time, unit: &mut Unit, service: Service, wire: u32) {
        if service.start > at {
            let wait = service.start.saturating_since(at);
            self.counters.wait(at, wait);
            unit.note_wait(wait, self.index);
        }
        let leaves = if PLAIN { service.start } else { self.leaves(service) };
        if leaves > at {
            self.counters.queued(at, leaves);
        }
        if !PLAIN && let Some(recorder) = &mut self.recorder {
            if leaves > at {
                recorder.serve(service, leaves, u64::from(unit.bytes), u64::from(wire));
            } else {
                recorder.serve_at_once(at, service, u64::from(wire));
            }
        }
    }

    /// The end of a service: the unit that came at `at` is lost, or goes on after the delay.
    #[inline]
    fn depart<const PLAIN: bool>(&mut self, at: Time, end: Time, wire: u32) -> Passage {
        if !PLAIN && self.loss.is_some() && self.loses(at, end, wire) {
            return Passage::Drop(end, DropReason::Loss);
        }
        self.counters.pass(at, end, u64::from(wire));
        Passage::Out { end, out: end.saturating_add(self.delay) }
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

    /// The law's capacity inside the window; `plan` and `seed` as the gate was made with.
    #[must_use]
    pub fn capacity(&self, plan: &GatePlan, seed: Seed, window: Window) -> Option<Capacity> {
        self.law.capacity(&plan.rate, window, rate_stream(plan, seed))
    }

    /// What it counted.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
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
fn rate_stream(plan: &GatePlan, seed: Seed) -> Stream {
    seed.stream(&format!("gate.{}/rate", plan.name))
}

#[cfg(test)]
mod tests;
