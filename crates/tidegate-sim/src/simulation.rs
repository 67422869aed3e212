//! The loop: the network says what happens next, endpoints and applications answer.

use tidegate_core::net::{Dropped, Network, Owner, Step};
use tidegate_core::plan::{Plan, RecordLevel};
use tidegate_core::tcp::{HeldBy, Segment};
use tidegate_core::unit::Unit;
use tidegate_core::units::Time;

use crate::flow::Flow;
use crate::result::{Mark, PacketRecord, RunResult, Side};
use crate::segments::Segments;
use crate::summary;

/// Steps between two looks at the limits and at the caller's wish to go on.
const REVIEW: u32 = 1 << 17;

/// Why a run has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The caller said stop.
    Interrupted,
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Interrupted => f.write_str("the run was interrupted"),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs a plan to its end. `go_on` is asked now and then (every few milliseconds of work),
/// with the simulated time reached; when it says no the run ends without a result.
///
/// # Errors
/// [`RunError::Interrupted`] when `go_on` says no.
pub fn run(plan: &Plan, go_on: &mut dyn FnMut(Time) -> bool) -> Result<RunResult, RunError> {
    let mut simulation = Simulation::new(plan);
    simulation.start();
    let stopped = simulation.drive(go_on)?;
    Ok(simulation.finish(stopped))
}

struct Simulation<'a> {
    plan: &'a Plan,
    network: Network,
    flows: Vec<Flow>,
    segments: Segments,
    drops: Vec<Dropped>,
    marks: Vec<Mark>,
    packets: Vec<PacketRecord>,
    keep_packets: bool,
    until: Time,
    now: Time,
}

/// Why a run ended before its duration.
pub(crate) enum Limit {
    Events(u64),
    Memory(u64),
}

impl<'a> Simulation<'a> {
    fn new(plan: &'a Plan) -> Simulation<'a> {
        Simulation {
            plan,
            network: Network::new(plan, plan.flows.len() * 3),
            flows: (0..plan.flows.len()).map(|index| Flow::new(plan, index)).collect(),
            segments: Segments::default(),
            drops: Vec::new(),
            marks: Vec::new(),
            packets: Vec::new(),
            keep_packets: plan.record.packets,
            until: plan.duration,
            now: Time::ZERO,
        }
    }

    /// Alarms: two timers for each flow (sender, receiver), then one for each application.
    fn app_alarm(&self, flow: usize) -> usize {
        self.flows.len() * 2 + flow
    }

    fn start(&mut self) {
        for index in 0..self.flows.len() {
            self.network.set_alarm(self.app_alarm(index), self.flows[index].start);
        }
    }

    fn drive(&mut self, go_on: &mut dyn FnMut(Time) -> bool) -> Result<Option<Limit>, RunError> {
        let mut review = REVIEW;
        while let Some(step) = self.network.step(self.until) {
            match step {
                Step::Deliver { at, route, unit } => self.deliver(at, route, unit),
                Step::Alarm { at, alarm } => self.alarm(at, alarm),
                Step::Drop(dropped) => self.drop(dropped),
                Step::Departed { at, flow } => {
                    self.now = at;
                    self.flows[flow].before(at);
                    self.flows[flow].sender.handle_departure(at);
                    self.pump_sender(at, flow);
                }
            }
            review -= 1;
            if review == 0 {
                review = REVIEW;
                if !go_on(self.now) {
                    return Err(RunError::Interrupted);
                }
                if let Some(limit) = self.limit() {
                    self.until = self.now;
                    return Ok(Some(limit));
                }
            }
        }
        Ok(None)
    }

    fn limit(&self) -> Option<Limit> {
        let limits = self.plan.limits;
        if let Some(events) = limits.events
            && self.network.events_handled() >= events
        {
            return Some(Limit::Events(events));
        }
        let memory = limits.memory_bytes?;
        (self.memory_bytes() >= memory).then_some(Limit::Memory(memory))
    }

    fn memory_bytes(&self) -> u64 {
        let histories: u64 = self
            .flows
            .iter()
            .filter_map(|flow| flow.history.as_ref())
            .map(|history| history.memory_bytes())
            .sum();
        let records = self.drops.capacity() * size_of::<Dropped>()
            + self.packets.capacity() * size_of::<PacketRecord>();
        self.network.memory_bytes() + self.segments.memory_bytes() + histories + records as u64
    }

    #[inline]
    fn deliver(&mut self, at: Time, route: usize, unit: Unit) {
        self.now = at;
        let index = route / 2;
        let flow = &mut self.flows[index];
        flow.before(at);
        let segment = self.segments.take(unit.handle);
        if route.is_multiple_of(2) {
            if self.keep_packets {
                self.packets.push(record(at, index, Side::Receiver, Side::Sender, segment, unit.bytes));
            }
            if segment.len > 0 {
                flow.meter.received(at, unit.bytes, unit.cause);
            }
            flow.receiver.handle_segment(at, segment);
            self.pump_receiver(at, index);
        } else {
            if self.keep_packets {
                self.packets.push(record(at, index, Side::Sender, Side::Receiver, segment, unit.bytes));
            }
            flow.sender.handle_segment(at, segment);
            if let Some(rtt) = flow.sender.take_rtt_sample() {
                flow.meter.sample_rtt(at, rtt);
            }
            self.pump_sender(at, index);
        }
    }

    fn alarm(&mut self, at: Time, alarm: usize) {
        self.now = at;
        let timers = self.flows.len() * 2;
        if alarm >= timers {
            return self.wake_app(at, alarm - timers);
        }
        let index = alarm / 2;
        let flow = &mut self.flows[index];
        flow.before(at);
        if alarm.is_multiple_of(2) {
            flow.sender.handle_wakeup(at);
            self.pump_sender(at, index);
        } else {
            flow.receiver.handle_wakeup(at);
            self.pump_receiver(at, index);
        }
    }

    fn wake_app(&mut self, at: Time, index: usize) {
        let flow = &mut self.flows[index];
        flow.before(at);
        if !flow.started {
            flow.started = true;
            flow.receiver.open(at);
            flow.sender.open(at);
        }
        let bytes = flow.app.handle_wakeup(at);
        if bytes > 0 {
            flow.sender.write(at, bytes);
        }
        let next = flow.app.next_wakeup();
        self.network.set_alarm(self.app_alarm(index), next);
        self.pump_sender(at, index);
    }

    #[inline]
    fn pump_sender(&mut self, at: Time, index: usize) {
        let flow = &mut self.flows[index];
        while flow.sender.may_transmit() {
            let (place, segment) = self.segments.reserve();
            let Some(held_by) = flow.sender.poll_into(at, segment) else {
                self.segments.release(place);
                break;
            };
            let bytes = flow.ip_bytes(segment);
            if self.keep_packets {
                self.packets.push(record(at, index, Side::Sender, Side::Sender, segment, bytes));
            }
            self.network.enter(at, index * 2, Unit::new(bytes, place, held_by));
        }
        flow.after_sender(at, index, &mut self.marks);
        self.network.set_alarm(index * 2, flow.sender.next_wakeup());
    }

    #[inline]
    fn pump_receiver(&mut self, at: Time, index: usize) {
        let flow = &mut self.flows[index];
        while flow.receiver.may_transmit() {
            let (place, segment) = self.segments.reserve();
            if flow.receiver.poll_into(at, segment).is_none() {
                self.segments.release(place);
                break;
            }
            let bytes = flow.ip_bytes(segment);
            if self.keep_packets {
                self.packets.push(record(at, index, Side::Receiver, Side::Receiver, segment, bytes));
            }
            self.network.enter(at, index * 2 + 1, Unit::new(bytes, place, HeldBy::Application));
        }
        if let Some(bytes) = flow.transfer
            && flow.meter.completed.is_none()
            && flow.receiver.counters().delivered_bytes >= bytes
        {
            flow.meter.completed = Some(at);
        }
        self.network.set_alarm(index * 2 + 1, flow.receiver.next_wakeup());
    }

    fn drop(&mut self, dropped: Dropped) {
        if !matches!(dropped.owner, Owner::Traffic(_)) {
            self.segments.take(dropped.unit.handle);
        }
        if self.plan.record.level != RecordLevel::Summary {
            self.drops.push(dropped);
        }
    }

    fn finish(mut self, stopped: Option<Limit>) -> RunResult {
        self.network.finish();
        for flow in &mut self.flows {
            flow.finish(self.until);
        }
        let summary = summary::summarise(self.plan, &self.network, &self.flows, self.until, stopped);
        let until = self.until;
        // Run-ahead tells of drops before their time, and of some that the run never reaches.
        self.drops.retain(|dropped| dropped.at < until);
        self.drops.sort_by_key(|dropped| (dropped.at, dropped.gate));
        RunResult {
            summary,
            gates: self
                .network
                .gates_mut()
                .iter_mut()
                .map(|gate| gate.take_history().unwrap_or_default())
                .collect(),
            flows: self
                .flows
                .iter_mut()
                .map(|flow| flow.history.take().map(|history| history.rows).unwrap_or_default())
                .collect(),
            drops: self.drops,
            marks: self.marks,
            packets: self.packets,
        }
    }
}

fn record(at: Time, flow: usize, seen: Side, from: Side, segment: &Segment, bytes: u32) -> PacketRecord {
    PacketRecord { at, flow: flow as u32, seen, from, segment: *segment, bytes }
}
