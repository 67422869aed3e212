//! The network: gates, routes, background traffic and the events between them. It lies
//! between the TCP endpoints in every engine; nothing of a scenario is interpreted outside.
//!
//! Call order: [`Network::step`] until it has nothing more before an instant, then
//! [`Network::enter`] units at that instant, and so on. Time never goes back. Waking late,
//! early or at odd instants changes no departure: a unit carries the time it is due.

mod events;
mod routes;
mod traffic;

use std::collections::VecDeque;

pub use events::Source;
pub use routes::Owner;
pub use traffic::{TrafficCounts, start_time};

use crate::gate::rate::Window;
use crate::gate::{Drop, DropReason, Gate, GateContext, Precision};
use crate::net::events::EventQueue;
use crate::net::routes::{Hop, NONE, Routes};
use crate::net::traffic::Traffic;
use crate::plan::{Plan, RecordLevel};
use crate::random::Seed;
use crate::tcp::HeldBy;
use crate::unit::Unit;
use crate::units::{Span, Time};

/// More gates and flows than this, and quantiles are kept coarsely.
const MANY_ELEMENTS: usize = 256;

/// What the network tells its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A unit has come to the end of its route.
    Deliver {
        /// When it is due there.
        at: Time,
        /// Whose route.
        owner: Owner,
        /// The unit.
        unit: Unit,
    },
    /// A unit was dropped; run-ahead may tell of it before its time.
    Drop(Dropped),
    /// A data unit left a gate of its sending machine, and the flow's TCP wants to hear it.
    Departed {
        /// End of its service.
        at: Time,
        /// The flow.
        flow: usize,
    },
    /// An alarm of the engine's.
    Alarm {
        /// The instant it was set for.
        at: Time,
        /// Its number.
        alarm: usize,
    },
}

/// A unit that will not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// When.
    pub at: Time,
    /// Where: index of the gate.
    pub gate: usize,
    /// Whose.
    pub owner: Owner,
    /// Why.
    pub reason: DropReason,
    /// The unit.
    pub unit: Unit,
}

/// Units on their way from a gate to where several inputs meet, in order of arrival.
#[derive(Debug)]
struct Line {
    units: VecDeque<(Time, Unit)>,
    delay: Span,
}

/// The network of a plan.
#[derive(Debug)]
pub struct Network {
    gates: Vec<Gate>,
    hops: Vec<Hop>,
    owners: Vec<Owner>,
    first_hops: Vec<u32>,
    lines: Vec<Line>,
    departures: Vec<VecDeque<(Time, u32)>>,
    dropped: VecDeque<Dropped>,
    events: EventQueue,
    exact: bool,
    line_sources: Source,
    alarm_sources: Source,
    traffic_sources: Source,
    traffic: Vec<Traffic>,
    window: Window,
    handled: u64,
    now: Time,
}

impl Network {
    /// The network of `plan`, with `alarms` sources for the engine's own timers, ranked
    /// after every arrival at the same instant and among themselves by number; background
    /// traffic comes last.
    #[must_use]
    pub fn new(plan: &Plan, alarms: usize) -> Network {
        let routes = Routes::new(plan, plan.exact_events);
        // Gates that state departures at arrivals never wake, and need no source.
        let waking = plan.exact_events || routes.hops.iter().any(|hop| hop.notify);
        let line_sources = if waking { plan.gates.len() as Source } else { 0 };
        let alarm_sources = line_sources + routes.line_delays.len() as Source;
        let context = |index: usize| GateContext {
            index,
            seed: seed(plan),
            window: window(plan),
            precision: precision(plan),
            record: record_level(plan, index),
        };
        let traffic = Traffic::all(plan, seed(plan));
        let traffic_sources = alarm_sources + alarms as Source;
        let mut events = EventQueue::new(traffic_sources as usize + traffic.len());
        for (source, row) in (traffic_sources..).zip(&traffic) {
            events.wake(source, row.arrivals.peek());
        }
        Network {
            gates: plan.gates.iter().enumerate().map(|(n, gate)| Gate::new(gate, context(n))).collect(),
            hops: routes.hops,
            owners: routes.owners,
            first_hops: routes.first,
            lines: routes
                .line_delays
                .iter()
                .map(|delay| Line { units: VecDeque::new(), delay: *delay })
                .collect(),
            departures: vec![VecDeque::new(); plan.gates.len()],
            dropped: VecDeque::new(),
            events,
            exact: plan.exact_events,
            line_sources,
            alarm_sources,
            traffic_sources,
            traffic,
            window: window(plan),
            handled: 0,
            now: Time::ZERO,
        }
    }

    /// Index of a flow's data route; its other direction is the next one.
    #[must_use]
    pub fn data_route(&self, flow: usize) -> usize {
        flow * 2
    }

    /// A unit enters a route at `at`, which is never before the last step.
    #[inline]
    pub fn enter(&mut self, at: Time, route: usize, mut unit: Unit) {
        debug_assert!(at >= self.now, "{at} is before {}", self.now);
        unit.hop = self.first_hops[route];
        self.forward(at, unit);
    }

    /// Sets an alarm unless it rings earlier anyway; ringing early must do no harm.
    #[inline]
    pub fn set_alarm(&mut self, alarm: usize, at: Time) {
        self.events.wake(self.alarm_sources + alarm as Source, at);
    }

    /// No step happens before this.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        if self.dropped.is_empty() { self.events.next() } else { self.now }
    }

    /// The next thing that happens before `until`, if anything does.
    #[inline]
    pub fn step(&mut self, until: Time) -> Option<Step> {
        loop {
            if let Some(dropped) = self.dropped.pop_front() {
                return Some(Step::Drop(dropped));
            }
            let (at, source) = self.events.pop_before(until)?;
            self.now = self.now.max(at);
            self.handled += 1;
            if source >= self.alarm_sources {
                if source < self.traffic_sources {
                    return Some(Step::Alarm { at, alarm: (source - self.alarm_sources) as usize });
                }
                self.emit(source);
                continue;
            }
            let step = if source >= self.line_sources {
                self.take_from_line(source)
            } else {
                self.serve_gate(at, source)
            };
            if step.is_some() {
                return step;
            }
        }
    }

    #[inline]
    fn take_from_line(&mut self, source: Source) -> Option<Step> {
        let line = &mut self.lines[(source - self.line_sources) as usize];
        let (at, unit) = line.units.pop_front()?;
        if let Some((next, _)) = line.units.front() {
            self.events.wake(source, *next);
        }
        let hop = self.hops[unit.hop as usize];
        if hop.gate != NONE {
            self.forward(at, unit);
            return None;
        }
        let owner = self.owners[hop.route as usize];
        if let Owner::Traffic(index) = owner {
            let delivered = &mut self.traffic[index].counts.delivered;
            TrafficCounts::note(delivered, self.window, at, unit.bytes);
            return None;
        }
        Some(Step::Deliver { at, owner, unit })
    }

    /// A background source sends its next packet.
    fn emit(&mut self, source: Source) {
        let traffic = &mut self.traffic[(source - self.traffic_sources) as usize];
        let Some((at, bytes)) = traffic.arrivals.next() else { return };
        TrafficCounts::note(&mut traffic.counts.sent, self.window, at, bytes);
        let route = traffic.route;
        self.events.wake(source, traffic.arrivals.peek());
        self.enter(at, route, Unit::new(bytes, 0, HeldBy::Application));
    }

    /// Takes a unit from the entry of its hop as far as nothing can change its way.
    #[inline]
    fn forward(&mut self, mut at: Time, mut unit: Unit) {
        let mut hop = self.hops[unit.hop as usize];
        if hop.gate == NONE {
            // A route without gates: only its delay.
            return self.send(at, hop, unit);
        }
        if self.exact {
            return self.enter_gate(at, hop, unit);
        }
        let mut place = unit.hop as usize;
        loop {
            let gate = &mut self.gates[hop.gate as usize];
            let Some(out) = gate.pass(at, &mut unit, &self.window) else { return self.drop(hop, unit) };
            at = out;
            if hop.notify {
                self.note_departure(hop, out);
            }
            place += 1;
            hop = self.hops[place];
            if hop.line != NONE {
                unit.hop = place as u32;
                return self.send(at, hop, unit);
            }
        }
    }

    #[inline]
    fn send(&mut self, at: Time, hop: Hop, unit: Unit) {
        let line = &mut self.lines[hop.line as usize];
        let at = at.saturating_add(line.delay);
        if line.units.is_empty() {
            self.events.wake(self.line_sources + hop.line, at);
        }
        line.units.push_back((at, unit));
    }

    #[cold]
    fn drop(&mut self, hop: Hop, unit: Unit) {
        let gate = hop.gate as usize;
        let owner = self.owners[hop.route as usize];
        if let Some(Drop { at, reason }) = self.gates[gate].last_drop() {
            self.dropped.push_back(Dropped { at, gate, owner, reason, unit });
        }
    }

    #[cold]
    fn note_departure(&mut self, hop: Hop, out: Time) {
        let end = self.gates[hop.gate as usize].end_before(out);
        if let Owner::Data(flow) = self.owners[hop.route as usize] {
            let departures = &mut self.departures[hop.gate as usize];
            departures.push_back((end, flow as u32));
            self.events.wake(hop.gate, departures[0].0);
        }
    }

    /// The event of a gate: a service ends (step by step), or a departure is to be told.
    fn serve_gate(&mut self, at: Time, source: Source) -> Option<Step> {
        self.complete_until(at, source as usize);
        let departures = &mut self.departures[source as usize];
        let (first, flow) = *departures.front()?;
        if first > at {
            self.events.wake(source, first);
            return None;
        }
        departures.pop_front();
        if let Some((next, _)) = departures.front() {
            self.events.wake(source, *next);
        }
        Some(Step::Departed { at: first, flow: flow as usize })
    }

    /// Step by step: a unit comes to a gate.
    fn enter_gate(&mut self, at: Time, hop: Hop, unit: Unit) {
        let index = hop.gate as usize;
        self.complete_until(at, index);
        if self.gates[index].arrive(at, unit).is_err() {
            self.drop(hop, unit);
        }
        self.wake_gate(index);
    }

    /// Ends every service that is over by `at`.
    fn complete_until(&mut self, at: Time, index: usize) {
        while self.gates[index].completes_at().is_some_and(|end| end <= at) {
            let (mut unit, out) = self.gates[index].complete();
            let hop = self.hops[unit.hop as usize];
            let Some(out) = out else {
                self.drop(hop, unit);
                continue;
            };
            if hop.notify {
                self.note_departure(hop, out);
            }
            unit.hop += 1;
            self.send(out, self.hops[unit.hop as usize], unit);
        }
        self.wake_gate(index);
    }

    fn wake_gate(&mut self, index: usize) {
        if let Some(end) = self.gates[index].completes_at() {
            self.events.wake(index as Source, end);
        }
    }

    /// The run is over: nothing more will enter. Services of waiting units are stated, so
    /// that counters tell the same in both ways of driving.
    pub fn finish(&mut self) {
        for gate in &mut self.gates {
            gate.settle();
        }
    }

    /// The gates, as in the plan.
    #[must_use]
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The gates, for taking their histories.
    pub fn gates_mut(&mut self) -> &mut [Gate] {
        &mut self.gates
    }

    /// What each background source sent and brought to its end, as in the plan.
    pub fn traffic_counts(&self) -> impl Iterator<Item = TrafficCounts> {
        self.traffic.iter().map(|traffic| traffic.counts)
    }

    /// Events handled so far.
    #[must_use]
    pub fn events_handled(&self) -> u64 {
        self.handled
    }

    /// Bytes held in queues, lines and histories, about.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let lines: usize = self.lines.iter().map(|line| line.units.capacity()).sum();
        let gates: u64 = self.gates.iter().map(Gate::memory_bytes).sum();
        gates + (lines * size_of::<(Time, Unit)>()) as u64
    }
}

/// The seed that a plan's streams derive from.
#[must_use]
pub fn seed(plan: &Plan) -> Seed {
    Seed { seed: plan.seed, replication: plan.replication }
}

/// What a plan's summaries count.
#[must_use]
pub fn window(plan: &Plan) -> Window {
    Window { from: plan.warmup, until: plan.duration }
}

/// How finely a plan's quantiles are kept.
#[must_use]
pub fn precision(plan: &Plan) -> Precision {
    let elements = plan.gates.len() + plan.flows.len();
    if elements > MANY_ELEMENTS { Precision::Coarse } else { Precision::Fine }
}

fn record_level(plan: &Plan, gate: usize) -> RecordLevel {
    match &plan.record.gates {
        Some(chosen) if !chosen.contains(&gate) => RecordLevel::Summary,
        _ => plan.record.level,
    }
}

/// A delay that every unit of a list of gates has at least.
#[must_use]
pub fn pure_delay(plan: &Plan, gates: &[usize]) -> Span {
    gates.iter().fold(Span::ZERO, |sum, gate| sum + plan.gates[*gate].delay)
}

#[cfg(test)]
mod tests;
