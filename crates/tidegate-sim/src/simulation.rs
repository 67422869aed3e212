//! The loop: the network says what happens next, endpoints and applications answer.

use tidegate_core::app::{Exchange, Server};
use tidegate_core::net::{Dropped, Network, Owner, Step};
use tidegate_core::plan::{CongestionPlan, Limits, Plan, RecordLevel};
use tidegate_core::tcp::{HeldBy, Segment};
use tidegate_core::unit::Unit;
use tidegate_core::units::Time;
use tidegate_result::{Mark, PacketRecord, RunResult, Side, slot_bps};

use crate::flow::Flow;
use crate::rows;
use crate::segments::Segments;

/// Steps, or deliveries told ahead, between two looks at the limits and at the caller's wish to go on.
const REVIEW: u64 = 1 << 17;

/// Deliveries to one flow, told ahead, before anything else is looked at.
const RUN_AHEAD: u32 = 1 << 12;

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The caller said stop.
    Interrupted,
    /// The plan asks for something that only the live engine has.
    OnlyLive(String),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Interrupted => f.write_str("the run was interrupted"),
            RunError::OnlyLive(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for RunError {}

/// Runs a plan to its end. `go_on` is asked now and then (every few milliseconds of work),
/// with the simulated time reached; when it says no the run ends without a result.
///
/// A run that reaches one of the plan's limits is run again up to that instant, because
/// run-ahead has counted further: its numbers are those of a run of that length.
///
/// # Errors
/// [`RunError::Interrupted`] when `go_on` says no, [`RunError::OnlyLive`] for a congestion
/// control of the kernel's.
pub fn run(plan: &Plan, go_on: &mut dyn FnMut(Time) -> bool) -> Result<RunResult, RunError> {
    only_known_controllers(plan)?;
    let (limit, at) = match drive(plan, go_on)? {
        Ended::Whole(result) => return Ok(*result),
        Ended::Stopped { limit, at } => (limit, at),
    };
    let shorter = Plan {
        duration: at,
        warmup: if plan.warmup < at { plan.warmup } else { Time::ZERO },
        limits: Limits::default(),
        ..plan.clone()
    };
    let Ended::Whole(mut result) = drive(&shorter, go_on)? else {
        unreachable!("a run without limits is not stopped");
    };
    result.summary.warnings.push(limit.words(plan, at));
    Ok(*result)
}

fn only_known_controllers(plan: &Plan) -> Result<(), RunError> {
    for flow in &plan.flows {
        if let CongestionPlan::Kernel(name) = flow.tcp.cc {
            return Err(RunError::OnlyLive(format!(
                "flow.{}.tcp.cc: read \"{name}\", which is the Linux kernel's; the engine \"sim\" has tahoe, reno, \
                 newreno, cubic and fixed; use one of them or the engine \"live\"",
                flow.name
            )));
        }
    }
    Ok(())
}

/// How a run ended.
enum Ended {
    Whole(Box<RunResult>),
    Stopped { limit: Limit, at: Time },
}

fn drive(plan: &Plan, go_on: &mut dyn FnMut(Time) -> bool) -> Result<Ended, RunError> {
    let mut simulation = Simulation::new(plan);
    simulation.start();
    Ok(match simulation.drive(go_on)? {
        Some(limit) => Ended::Stopped { limit, at: simulation.wire.network.now() },
        None => Ended::Whole(Box::new(simulation.finish())),
    })
}

struct Simulation<'a> {
    plan: &'a Plan,
    flows: Vec<Flow>,
    wire: Wire,
    drops: Vec<Dropped>,
}

/// What lies between the endpoints, and what is seen of it.
pub(crate) struct Wire {
    until: Time,
    pub(crate) network: Network,
    pub(crate) servers: Vec<Server>,
    /// How many flows there are.
    pub(crate) flows: usize,
    segments: Segments,
    packets: Option<Vec<PacketRecord>>,
    marks: Vec<Mark>,
    /// Deliveries that were no events of the network's, because they were told ahead.
    ahead: u64,
}

/// Why a run ended before its duration.
enum Limit {
    Events(u64),
    Memory(u64),
}

impl Limit {
    fn words(&self, plan: &Plan, at: Time) -> String {
        let reached = match self {
            Limit::Events(events) => format!("{events} events"),
            Limit::Memory(bytes) => format!("{bytes} bytes of memory"),
        };
        let counts = if plan.warmup < at {
            "the summary counts up to there"
        } else {
            "the warm-up had not ended, so the summary counts from the start up to there"
        };
        format!("stopped at {at} of {}: the limit of {reached} was reached; {counts}", plan.duration)
    }
}

impl<'a> Simulation<'a> {
    fn new(plan: &'a Plan) -> Simulation<'a> {
        Simulation {
            plan,
            flows: (0..plan.flows.len()).map(|index| Flow::new(plan, index)).collect(),
            wire: Wire {
                until: plan.duration,
                network: Network::new(plan, plan.flows.len() * 3 + plan.servers.len()),
                servers: plan.servers.iter().map(Server::new).collect(),
                flows: plan.flows.len(),
                segments: Segments::default(),
                packets: plan.record.packets.then(Vec::new),
                marks: Vec::new(),
                ahead: 0,
            },
            drops: Vec::new(),
        }
    }

    fn start(&mut self) {
        for index in 0..self.flows.len() {
            // Recordings show both ends at one instant, and a limit stops all at one instant.
            let limits = &self.plan.limits;
            // What a client or a shared server does next comes in order of time.
            let told_ahead = self.flows[index].dialogue.is_none();
            if told_ahead
                && self.flows[index].history.is_none()
                && self.wire.packets.is_none()
                && limits.events.is_none()
            {
                self.wire.network.deliver_ahead(index * 2);
                self.wire.network.deliver_ahead(index * 2 + 1);
            }
            self.wire.network.set_alarm(app_alarm(self.flows.len(), index), self.flows[index].start);
        }
    }

    fn drive(&mut self, go_on: &mut dyn FnMut(Time) -> bool) -> Result<Option<Limit>, RunError> {
        loop {
            let enough = self.wire.ahead + REVIEW;
            for _ in 0..self.steps_to_review() {
                let network = &mut self.wire.network;
                if let Some(dropped) = network.take_drop() {
                    self.drop(dropped);
                    continue;
                }
                let Some(event) = network.next_event(self.wire.until) else { return Ok(None) };
                if network.is_arrival(event) {
                    if let Some((at, route, unit)) = network.arrive(event) {
                        self.deliver(at, route, unit);
                    }
                } else if let Some(step) = network.happen(event) {
                    self.handle(step);
                }
                if self.wire.ahead >= enough {
                    break;
                }
            }
            if !go_on(self.wire.network.now()) {
                return Err(RunError::Interrupted);
            }
            if let Some(limit) = self.limit() {
                return Ok(Some(limit));
            }
        }
    }

    /// Every step is an event at least.
    fn steps_to_review(&self) -> u64 {
        let left = self.plan.limits.events.map(|events| events - self.wire.events_handled().min(events));
        left.map_or(REVIEW, |left| left.clamp(1, REVIEW))
    }

    fn handle(&mut self, step: Step) {
        match step {
            Step::Deliver { at, route, unit } => self.deliver(at, route, unit),
            Step::Alarm { at, alarm } => self.alarm(at, alarm),
            Step::Drop(dropped) => self.drop(dropped),
            // Endpoints do not listen to gates.
            Step::Signal { .. } => {}
            Step::Departed { at, flow: index } => {
                let flow = &mut self.flows[index];
                flow.before_sender(at);
                flow.sender.handle_departure(at);
                self.wire.pump_sender(at, index, flow);
            }
        }
    }

    fn limit(&self) -> Option<Limit> {
        let limits = self.plan.limits;
        if let Some(events) = limits.events
            && self.wire.events_handled() >= events
        {
            return Some(Limit::Events(events));
        }
        let memory = limits.memory_bytes?;
        (self.memory_bytes() >= memory).then_some(Limit::Memory(memory))
    }

    fn memory_bytes(&self) -> u64 {
        let histories = self.flows.iter().filter_map(|flow| flow.history.as_ref());
        let rows: u64 = histories.map(|history| history.memory_bytes()).sum();
        let drops = self.drops.capacity() * size_of::<Dropped>();
        let packets = self.wire.packets.as_ref().map_or(0, Vec::capacity) * size_of::<PacketRecord>();
        let segments = self.wire.segments.memory_bytes();
        let dialogues = self.flows.iter().filter_map(|flow| flow.dialogue.as_ref());
        let exchanges: u64 = dialogues.map(|dialogue| dialogue.memory_bytes()).sum();
        self.wire.network.memory_bytes() + segments + rows + exchanges + (drops + packets) as u64
    }

    #[inline]
    fn deliver(&mut self, at: Time, route: usize, unit: Unit) {
        let index = route / 2;
        let flow = &mut self.flows[index];
        if route.is_multiple_of(2) {
            self.wire.receive(at, index, flow, unit);
        } else {
            self.wire.acknowledge(at, index, flow, unit.handle);
        }
        self.wire.run_ahead(index, flow);
    }

    fn alarm(&mut self, at: Time, alarm: usize) {
        let flows = self.flows.len();
        if alarm >= flows * 3 {
            return self.wire.serve(at, alarm - flows * 3, &mut self.flows);
        }
        let index = if alarm < flows * 2 { alarm / 2 } else { alarm - flows * 2 };
        let flow = &mut self.flows[index];
        if alarm >= flows * 2 && flow.dialogue.is_some() {
            self.wire.wake_client(at, index, flow);
        } else if alarm >= flows * 2 {
            self.wire.wake_app(at, index, flow);
            self.wire.network.set_alarm(alarm, flow.app.next_wakeup());
        } else if alarm.is_multiple_of(2) {
            self.wire.wake_sender(at, index, flow);
        } else {
            self.wire.wake_receiver(at, index, flow);
        }
        self.wire.run_ahead(index, flow);
    }

    fn drop(&mut self, dropped: Dropped) {
        if !matches!(dropped.owner, Owner::Traffic(_)) {
            self.wire.segments.take(dropped.unit.handle);
        }
        if self.plan.record.level != RecordLevel::Summary {
            self.drops.push(dropped);
        }
    }

    /// Every exchange of the recorded flows, by flow.
    fn requests(&mut self) -> Vec<Vec<Exchange>> {
        let logs = self.flows.iter_mut().map(|flow| {
            let recorded = flow.history.is_some();
            flow.dialogue.as_mut().filter(|_| recorded).map(|dialogue| std::mem::take(&mut dialogue.log))
        });
        logs.map(Option::unwrap_or_default).collect()
    }

    fn finish(mut self) -> RunResult {
        self.wire.network.finish();
        while let Some(dropped) = self.wire.network.take_drop() {
            self.drop(dropped);
        }
        for flow in &mut self.flows {
            flow.finish(self.wire.until);
        }
        let events = self.wire.events_handled();
        let summary = rows::summarise(self.plan, &self.wire.network, &self.flows, events);
        let until = self.wire.until;
        // Run-ahead tells of drops before their time, and of some that the run never reaches.
        self.drops.retain(|dropped| dropped.at < until);
        self.drops.sort_by_key(|dropped| (dropped.at, dropped.gate));
        let requests = self.requests();
        let gates = self.wire.network.gates_mut().iter_mut();
        let histories = self.flows.iter_mut().map(|flow| flow.history.take());
        RunResult {
            summary,
            slot_bps: self.plan.gates.iter().map(slot_bps).collect(),
            gates: gates.map(|gate| gate.take_history().unwrap_or_default()).collect(),
            flows: histories.map(|history| history.map(|kept| kept.rows).unwrap_or_default()).collect(),
            drops: self.drops,
            marks: self.wire.marks,
            requests,
            packets: self.wire.packets.unwrap_or_default(),
        }
    }
}

/// Alarms: two timers for each flow (sender, receiver), then one for each application, then
/// one for each server.
pub(crate) fn app_alarm(flows: usize, flow: usize) -> usize {
    flows * 2 + flow
}

pub(crate) fn server_alarm(flows: usize, server: usize) -> usize {
    flows * 3 + server
}

impl Wire {
    fn events_handled(&self) -> u64 {
        self.network.events_handled() + self.ahead
    }

    /// Brings a flow the ACKs that are certain to come to it, and those that follow from
    /// them: where a flow shares nothing with others, that may be all of its life.
    #[inline]
    fn run_ahead(&mut self, index: usize, flow: &mut Flow) {
        if !flow.coming.is_empty() {
            self.run_coming(index, flow);
        }
    }

    fn run_coming(&mut self, index: usize, flow: &mut Flow) {
        for _ in 0..RUN_AHEAD {
            let Some((at, place)) = flow.coming.pop_front() else { return };
            self.ahead += 1;
            self.acknowledge(at, index, flow, place);
        }
        // Others have waited long enough; so have the limits and the caller.
        if let Some((at, _)) = flow.coming.front() {
            self.network.set_alarm(index * 2, *at);
        }
    }

    /// The ACK in `place` comes to the sender at `at`, which may be ahead of all else.
    fn acknowledge(&mut self, at: Time, index: usize, flow: &mut Flow, place: u32) {
        if at >= self.until {
            return self.segments.release(place);
        }
        // Told ahead of time, a unit comes before alarms that ring earlier.
        while flow.sender.next_wakeup().min(flow.app.next_wakeup()) < at {
            self.wake_earlier(index, flow);
        }
        flow.before_sender(at);
        let segment = self.segments.take(place);
        if segment.connection != flow.connection {
            return;
        }
        if let Some(packets) = &mut self.packets {
            packets.push(record(at, index, Side::Sender, Side::Receiver, segment, flow.ip_bytes(segment)));
        }
        flow.sender.handle_segment(at, segment);
        if let Some(rtt) = flow.sender.take_rtt_sample() {
            flow.meter.sample_rtt(at, rtt);
        }
        if flow.dialogue.is_some() {
            self.take_requests(at, index, flow);
        }
        self.tell_circuits(at, index, flow);
        self.pump_sender(at, index, flow);
    }

    /// Circuits hear when a transfer begins and ends.
    #[inline]
    fn tell_circuits(&mut self, at: Time, index: usize, flow: &mut Flow) {
        match flow.transfer_changes() {
            Some(true) => self.network.transfer_begins(at, index),
            Some(false) => self.network.transfer_ends(at, index),
            None => {}
        }
    }

    /// The sender's timer or the application, whichever is due first.
    #[cold]
    fn wake_earlier(&mut self, index: usize, flow: &mut Flow) {
        let (timer, app) = (flow.sender.next_wakeup(), flow.app.next_wakeup());
        if timer <= app { self.wake_sender(timer, index, flow) } else { self.wake_app(app, index, flow) }
    }

    fn wake_sender(&mut self, at: Time, index: usize, flow: &mut Flow) {
        // An alarm may ring for what has been done ahead of it.
        if at >= flow.sender.next_wakeup() {
            flow.before_sender(at);
            flow.sender.handle_wakeup(at);
            self.pump_sender(at, index, flow);
        } else {
            self.network.set_alarm(index * 2, flow.sender.next_wakeup());
        }
    }

    fn wake_app(&mut self, at: Time, index: usize, flow: &mut Flow) {
        if flow.started && at < flow.app.next_wakeup() {
            return;
        }
        flow.before_sender(at);
        if !flow.started {
            flow.started = true;
            flow.before_receiver(at);
            flow.receiver.open(at);
            flow.sender.open(at);
        }
        let bytes = flow.app.handle_wakeup(at);
        if bytes > 0 {
            flow.sender.write(at, bytes);
            self.tell_circuits(at, index, flow);
        }
        self.pump_sender(at, index, flow);
    }

    /// Sends what the sender has to send.
    #[inline]
    pub(crate) fn pump_sender(&mut self, at: Time, index: usize, flow: &mut Flow) {
        while flow.sender.may_transmit() {
            let (place, segment) = self.segments.reserve();
            let Some(held_by) = flow.sender.poll_into(at, segment) else {
                self.segments.release(place);
                break;
            };
            segment.connection = flow.connection;
            let bytes = flow.ip_bytes(segment);
            if let Some(packets) = &mut self.packets {
                packets.push(record(at, index, Side::Sender, Side::Sender, segment, bytes));
            }
            let mut unit = Unit::new(bytes, place, held_by);
            if let Some(due) = self.network.enter(at, index * 2, &mut unit) {
                self.receive(due, index, flow, unit);
            }
        }
        flow.after_sender(at, index, &mut self.marks);
        self.network.set_alarm(index * 2, flow.sender.next_wakeup());
    }

    /// A unit comes to the receiver at `at`, which may be ahead of all else.
    fn receive(&mut self, at: Time, index: usize, flow: &mut Flow, unit: Unit) {
        if at >= self.until {
            return self.segments.release(unit.handle);
        }
        // Told ahead of time, a unit comes before alarms that ring earlier.
        while flow.receiver.next_wakeup() < at {
            self.wake_receiver(flow.receiver.next_wakeup(), index, flow);
        }
        flow.before_receiver(at);
        let segment = self.segments.get(unit.handle);
        if segment.connection != flow.connection {
            return self.segments.release(unit.handle);
        }
        if let Some(packets) = &mut self.packets {
            packets.push(record(at, index, Side::Receiver, Side::Sender, segment, unit.bytes));
        }
        if segment.len > 0 {
            flow.meter.received(at, unit.bytes, unit.cause());
        }
        flow.receiver.handle_segment(at, segment);
        if flow.dialogue.is_some() {
            self.take_responses(at, index, flow);
        }
        self.answer(at, index, flow, unit.handle);
        if flow.dialogue.is_some() {
            self.end_transfer(at, index, flow);
        }
    }

    pub(crate) fn wake_receiver(&mut self, at: Time, index: usize, flow: &mut Flow) {
        flow.before_receiver(at);
        flow.receiver.handle_wakeup(at);
        let (place, _) = self.segments.reserve();
        self.answer(at, index, flow, place);
    }

    /// Sends what the receiver has to send, the first of it in `place`.
    #[inline]
    fn answer(&mut self, at: Time, index: usize, flow: &mut Flow, mut place: u32) {
        while flow.receiver.may_transmit() {
            let segment = self.segments.get_mut(place);
            if flow.receiver.poll_into(at, segment).is_none() {
                break;
            }
            segment.connection = flow.connection;
            let bytes = flow.ip_bytes(segment);
            if let Some(packets) = &mut self.packets {
                packets.push(record(at, index, Side::Receiver, Side::Receiver, segment, bytes));
            }
            let mut unit = Unit::new(bytes, place, HeldBy::Application);
            if let Some(due) = self.network.enter(at, index * 2 + 1, &mut unit) {
                flow.coming.push_back((due, place));
            }
            if !flow.receiver.may_transmit() {
                return self.after_receiver(at, index, flow);
            }
            (place, _) = self.segments.reserve();
        }
        self.segments.release(place);
        self.after_receiver(at, index, flow);
    }

    #[inline]
    fn after_receiver(&mut self, at: Time, index: usize, flow: &mut Flow) {
        flow.note_completion(at);
        self.network.set_alarm(index * 2 + 1, flow.receiver.next_wakeup());
    }
}

fn record(at: Time, flow: usize, seen: Side, from: Side, segment: &Segment, bytes: u32) -> PacketRecord {
    PacketRecord { at, flow: flow as u32, seen, from, segment: *segment, bytes }
}
