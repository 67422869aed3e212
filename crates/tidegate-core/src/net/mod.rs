//! The network: gates, routes, background traffic and the events between them. It lies
//! between the TCP endpoints in every engine; nothing of a scenario is interpreted outside.
//!
//! Call order: [`Network::step`] until it has nothing more before an instant, then
//! [`Network::enter`] units at that instant, and so on. Time never goes back. Waking late,
//! early or at odd instants changes no departure: a unit carries the time it is due.

mod abr;
mod calling;
mod calls;
mod cascade;
mod channels;
mod circuits;
mod events;
mod followers;
mod horizon;
mod routes;
mod sections;
mod serving;
mod signals;
mod traffic;
mod turns;

use std::collections::VecDeque;
use std::ops::Range;

pub use calls::{Admission, Answer, CallClass, CallCounts, Grant, PoolUse};
pub use events::{Half, Source};
pub use routes::Owner;
pub use traffic::{TrafficCounts, start_time};

use crate::cells::{CellCounts, Section};
use crate::gate::rate::Window;
use crate::gate::{Count, Drop, DropReason, Gate, GateContext, Precision};
use crate::net::abr::Abr;
use crate::net::cascade::Cascade;
use crate::net::channels::Channels;
use crate::net::circuits::Circuits;
use crate::net::events::EventQueue;
use crate::net::followers::Followers;
use crate::net::horizon::Horizon;
use crate::net::routes::{Chain, NONE, Routes};
use crate::net::sections::Sections;
use crate::net::signals::Signal;
use crate::net::traffic::Traffic;
use crate::plan::{Plan, RecordLevel};
use crate::random::Seed;
use crate::tcp::HeldBy;
use crate::unit::Unit;
use crate::units::{Span, Time};

/// More gates and flows than this, and quantiles are kept coarsely.
const MANY_ELEMENTS: usize = 256;

/// A line with room for more than this gives it back when it runs empty.
const LONG_LINE: usize = 64;

/// What the network tells its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A unit has come to the end of its route, or is certain to.
    Deliver {
        /// When it is due there; not before now, later where told ahead.
        at: Time,
        /// Whose route: twice the flow's number for data, one more for the way back.
        route: usize,
        /// The unit.
        unit: Unit,
    },
    /// A unit was dropped; run-ahead may tell of it before its time.
    Drop(Dropped),
    /// A data unit left a gate of its sending machine, and the flow's TCP wants to hear it. Of
    /// several flows that hear at one instant any may be told first.
    Departed {
        /// End of its service.
        at: Time,
        /// The flow.
        flow: usize,
    },
    /// A value that a gate published has arrived.
    Signal {
        /// When.
        at: Time,
        /// Index of the signal in the plan.
        signal: usize,
        /// The value.
        value: u64,
    },
    /// An alarm of the engine's.
    Alarm {
        /// The instant it was set for.
        at: Time,
        /// Its number.
        alarm: usize,
    },
}

/// Something that happens, see [`Network::next_event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    at: Time,
    source: Source,
}

/// Where a route begins, see [`Network::entry`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry(u32);

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
    chains: Vec<Chain>,
    chain_gates: Vec<u32>,
    first_chains: Vec<u32>,
    cascades: Vec<Cascade>,
    sections: Sections,
    /// Routes whose first gate hears from nobody else.
    private_entries: Vec<bool>,
    /// Gates inside sending machines.
    hosts: Vec<bool>,
    /// Routes from this number on are background traffic's.
    traffic_routes: u32,
    lines: Vec<Line>,
    departures: Vec<VecDeque<(Time, u32)>>,
    dropped: VecDeque<Dropped>,
    events: EventQueue,
    /// Gates whose rate is set by what was measured at their doors.
    channels: Channels,
    channel_sources: Source,
    /// Gates whose rate is fed back from others.
    followers: Followers,
    follower_sources: Source,
    /// Gates that are closed until their call is up.
    circuits: Option<Box<Circuits>>,
    /// What circuits and calls do at a time of their own.
    circuit_source: Source,
    /// Switches and the sources that they tell.
    abr: Abr,
    abr_sources: Source,
    signals: Vec<Signal>,
    /// Ends of slots, and as many more for values that arrive.
    slot_sources: Source,
    line_sources: Source,
    alarm_sources: Source,
    traffic_sources: Source,
    /// Transfers that begin or end, and calls without packets.
    news_source: Source,
    traffic: Vec<Traffic>,
    window: Window,
    handled: u64,
    now: Time,
    horizon: Horizon,
}

impl Network {
    /// The network of `plan`, with `alarms` sources for the engine's own timers, ranked
    /// after every arrival at the same instant and among themselves by number; background
    /// traffic comes last.
    #[must_use]
    pub fn new(plan: &Plan, alarms: usize) -> Network {
        let mut routes = Routes::new(plan, plan.exact_events);
        // Gates that state departures at arrivals never wake, and need no source.
        let waking = routes.chains.iter().any(|chain| chain.slow);
        let channels = Channels::new(plan);
        let context = |index: usize| GateContext {
            index,
            seed: seed(plan),
            window: window(plan),
            precision: precision(plan),
            record: record_level(plan, index),
        };
        let channel_sources = if waking { plan.gates.len() as Source } else { 0 };
        let mut gates: Vec<Gate> =
            plan.gates.iter().enumerate().map(|(n, gate)| Gate::new(gate, context(n))).collect();
        let followers = Followers::new(plan, &mut gates);
        let follower_sources = channel_sources + channels.groups() as Source;
        let abr = Abr::new(plan, &mut gates);
        let abr_sources = follower_sources + followers.count() as Source;
        let circuits = Circuits::new(plan);
        let of_circuits = Source::from(circuits.is_some());
        let circuit_source = abr_sources + abr.groups() as Source;
        let slot_sources = circuit_source + of_circuits;
        let line_sources = slot_sources + 2 * plan.signals.len() as Source;
        let alarm_sources = line_sources + routes.line_delays.len() as Source;
        let traffic = Traffic::all(plan, seed(plan));
        let traffic_sources = alarm_sources + alarms as Source;
        let news_source = traffic_sources + traffic.len() as Source;
        let mut events = EventQueue::new((news_source + of_circuits) as usize);
        for (source, row) in (traffic_sources..).zip(&traffic) {
            events.wake(source, row.arrivals.peek());
        }
        if let Some(circuits) = &circuits {
            events.wake(news_source, circuits.next_news());
        }
        for (source, group) in (channel_sources..).zip(0..channels.groups()) {
            events.wake(source, channels.next(group));
        }
        for (source, follower) in (follower_sources..).zip(0..followers.count()) {
            events.wake(source, followers.next(follower));
        }
        for (source, group) in (abr_sources..).zip(0..abr.groups()) {
            events.wake(source, abr.next(group));
        }
        let signals: Vec<Signal> =
            plan.signals.iter().map(|row| Signal::new(row, plan, seed(plan), &mut gates)).collect();
        for (source, signal) in (slot_sources..).zip(&signals) {
            events.wake(source, signal.slot_end());
        }
        let horizon = Horizon::new(plan, &routes);
        let speed = |gate: &Gate| if plan.exact_events { 0 } else { gate.express_speed() };
        let series = routes.take_series(&gates.iter().map(speed).collect::<Vec<u64>>());
        Network {
            sections: Sections::new(plan, &routes.circuits, &routes.order),
            cascades: series.into_iter().map(|series| Cascade::new(series, window(plan))).collect(),
            gates,
            chains: routes.chains,
            chain_gates: routes.gates,
            first_chains: routes.first,
            private_entries: routes.private_entries,
            hosts: plan.gates.iter().map(|gate| gate.host).collect(),
            traffic_routes: plan.flows.len() as u32 * 2,
            lines: routes
                .line_delays
                .iter()
                .map(|delay| Line { units: VecDeque::new(), delay: *delay })
                .collect(),
            departures: vec![VecDeque::new(); plan.gates.len()],
            dropped: VecDeque::new(),
            events,
            horizon,
            channels,
            channel_sources,
            followers,
            follower_sources,
            circuits,
            circuit_source,
            abr,
            abr_sources,
            signals,
            slot_sources,
            line_sources,
            alarm_sources,
            traffic_sources,
            news_source,
            traffic,
            window: window(plan),
            handled: 0,
            now: Time::ZERO,
        }
    }

    /// The places of a route's stretches.
    fn stretches(&self, route: usize) -> Range<usize> {
        let after = self.first_chains.get(route + 1).map_or(self.chains.len(), |first| *first as usize);
        self.first_chains[route] as usize..after
    }

    /// Asks that deliveries at the end of a flow's route be told as soon as they are certain,
    /// ahead of their time, by [`Network::enter`] and [`Network::step`]; what the endpoint
    /// there answers enters the flow's other route ahead of its time as well. Says whether it
    /// will be so: not where an answer could come to a gate before something earlier, where
    /// TCP hears departures, nor where the last gate of the one route or the first of the
    /// other is driven step by step.
    pub fn deliver_ahead(&mut self, route: usize) -> bool {
        let (there, answers) = (self.stretches(route), self.stretches(route ^ 1));
        if !self.private_entries[route ^ 1] || self.chains[answers.start].notify {
            return false;
        }
        match &mut self.chains[there] {
            [.., last, _end] if last.steps || last.circuit != NONE => return false,
            [.., last, _end] => last.ahead = true,
            _ => {}
        }
        true
    }

    /// A unit enters a route at `at`, which is never before the last step nor before what
    /// entered there last. A flow's data route has twice its number, its way back one more.
    /// Answers with when it comes to its end if that is certain and told ahead ([`Network::deliver_ahead`]).
    #[inline(always)]
    pub fn enter(&mut self, at: Time, route: usize, unit: &mut Unit) -> Option<Time> {
        self.enter_at(at, self.entry(route), unit)
    }

    /// The same where the engine knows the route's entry.
    #[inline(always)]
    pub fn enter_at(&mut self, at: Time, entry: Entry, unit: &mut Unit) -> Option<Time> {
        debug_assert!(at >= self.now, "{at} is before {}", self.now);
        unit.chain = entry.0;
        self.forward(at, unit)
    }

    /// Where a route begins.
    #[inline]
    #[must_use]
    pub fn entry(&self, route: usize) -> Entry {
        Entry(self.first_chains[route])
    }

    /// Sets an alarm unless it rings earlier anyway; ringing early must do no harm.
    #[inline]
    pub fn set_alarm(&mut self, alarm: usize, at: Time) {
        self.events.wake(self.alarm_sources + alarm as Source, at);
    }

    /// When the last step happened.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// No step happens before this.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        if self.dropped.is_empty() { self.events.next() } else { self.now }
    }

    /// No unit comes to the end of a flow's route before this, unless more enters or a fed-back
    /// rate changes; asked again after the next step it may be later, never earlier than that step.
    #[must_use]
    pub fn next_delivery(&self) -> Time {
        let due = |(source, lead): (Source, &Span)| self.events.due(source).saturating_add(*lead);
        let gates = (0..self.channel_sources).zip(&self.horizon.gates).map(due);
        let lines = (self.line_sources..).zip(&self.horizon.lines).map(due);
        gates.chain(lines).min().unwrap_or(Time::NEVER)
    }

    /// The next thing that happens before `until`, if anything does.
    pub fn step(&mut self, until: Time) -> Option<Step> {
        loop {
            if let Some(dropped) = self.take_drop() {
                return Some(Step::Drop(dropped));
            }
            let event = self.next_event(until)?;
            let step = if self.is_arrival(event) {
                self.arrive(event).map(|(at, route, unit)| Step::Deliver { at, route, unit })
            } else {
                self.happen(event)
            };
            if step.is_some() {
                return step;
            }
        }
    }

    /// A unit that was dropped and not told of yet. An engine that wants to be fast asks, in place
    /// of [`Network::step`], for this until there is none, then for [`Network::next_event`], and hands that to
    /// [`Network::arrive`] or [`Network::happen`].
    #[inline]
    pub fn take_drop(&mut self) -> Option<Dropped> {
        self.dropped.pop_front()
    }

    /// The next event before `until`.
    #[inline]
    pub fn next_event(&mut self, until: Time) -> Option<Event> {
        let (at, source) = self.events.pop_before(until)?;
        self.now = at;
        self.handled += 1;
        Some(Event { at, source })
    }

    /// Whether an event is for [`Network::arrive`]; nearly all are.
    #[inline]
    #[must_use]
    pub fn is_arrival(&self, event: Event) -> bool {
        event.source >= self.line_sources && event.source < self.alarm_sources
    }

    /// Any other event.
    pub fn happen(&mut self, event: Event) -> Option<Step> {
        let Event { at, source } = event;
        if source >= self.traffic_sources {
            self.emit(source);
            None
        } else if source >= self.alarm_sources {
            Some(Step::Alarm { at, alarm: (source - self.alarm_sources) as usize })
        } else if source >= self.slot_sources {
            self.serve_signal((source - self.slot_sources) as usize)
        } else if source >= self.circuit_source {
            self.work_circuits(at);
            None
        } else if source >= self.abr_sources {
            self.allow_until(at, (source - self.abr_sources) as usize);
            None
        } else if source >= self.follower_sources {
            self.follow_until(at, (source - self.follower_sources) as usize);
            None
        } else if source >= self.channel_sources {
            self.measure_until(at, (source - self.channel_sources) as usize);
            None
        } else {
            self.serve_gate(at, source)
        }
    }

    /// A unit comes to the end of a line. Answers with when it comes to the end of which route,
    /// where that is now or certain.
    #[inline(always)]
    pub fn arrive(&mut self, event: Event) -> Option<(Time, usize, Unit)> {
        let source = event.source;
        let line = &mut self.lines[(source - self.line_sources) as usize];
        let (at, mut unit) = line.units.pop_front()?;
        match line.units.front() {
            Some((next, _)) => self.events.wake_asleep(source, *next),
            // Back to the first place, which the cache still knows; a burst's room is freed.
            None if line.units.capacity() > LONG_LINE => line.units = VecDeque::new(),
            None => line.units.clear(),
        }
        let chain = self.chains[unit.chain as usize];
        if chain.line != NONE {
            let at = self.forward(at, &mut unit)?;
            return Some((at, chain.route as usize, unit));
        }
        if chain.route < self.traffic_routes {
            return Some((at, chain.route as usize, unit));
        }
        self.count_delivered(at, chain.route, Count { packets: 1, bytes: u64::from(unit.bytes) });
        None
    }

    /// Packets of background traffic have come to their end.
    #[inline]
    fn count_delivered(&mut self, at: Time, route: u32, packets: Count) {
        let traffic = &mut self.traffic[(route - self.traffic_routes) as usize];
        TrafficCounts::note(&mut traffic.counts.delivered, self.window, at, packets);
    }

    /// A background source sends its next packet.
    fn emit(&mut self, source: Source) {
        let Some(traffic) = self.traffic.get_mut((source - self.traffic_sources) as usize) else {
            return self.hear_circuits(self.now);
        };
        let Some((at, bytes)) = traffic.arrivals.next() else { return };
        let count = Count { packets: 1, bytes: u64::from(bytes) };
        TrafficCounts::note(&mut traffic.counts.sent, self.window, at, count);
        let route = traffic.route;
        self.events.wake(source, traffic.arrivals.peek());
        let told = self.enter(at, route, &mut Unit::new(bytes, 0, HeldBy::Application));
        debug_assert!(told.is_none(), "background traffic has no receiver");
    }

    /// Takes a unit from the beginning of a stretch to the line at its end, or says when it
    /// comes there if that is told ahead.
    #[inline(always)]
    fn forward(&mut self, at: Time, unit: &mut Unit) -> Option<Time> {
        let chain = &self.chains[unit.chain as usize];
        if chain.slow {
            // A copy, so that the unit may stay in registers.
            let mut copy = *unit;
            let out = self.forward_slowly(at, &mut copy);
            *unit = copy;
            return out;
        }
        let mut at = at;
        if chain.first != chain.end {
            for gate in &self.chain_gates[chain.first as usize..chain.end as usize] {
                match self.gates[*gate as usize].pass(at, unit, &self.window) {
                    Some(out) => at = out,
                    None => return self.drop(*gate, *unit),
                }
            }
        }
        if chain.series != NONE {
            match self.cascades[chain.series as usize].pass(at, unit, &mut self.gates) {
                Ok(out) => at = out,
                Err(gate) => return self.drop(gate, *unit),
            }
        }
        if chain.ahead {
            return Some(at.saturating_add(chain.delay));
        }
        let line = chain.line;
        self.send(at, *unit, line);
        None
    }

    /// The same step by step, or where TCP hears departures.
    #[inline(never)]
    fn forward_slowly(&mut self, mut at: Time, unit: &mut Unit) -> Option<Time> {
        let chain = self.chains[unit.chain as usize];
        if chain.circuit != NONE {
            self.enter_section(at, *unit, chain.circuit);
            return None;
        }
        if chain.steps {
            self.enter_gate(at, *unit, chain);
            return None;
        }
        for place in chain.first..chain.end {
            let gate = self.chain_gates[place as usize];
            let Some(out) = self.gates[gate as usize].pass(at, unit, &self.window) else {
                return self.drop(gate, *unit);
            };
            self.note_departure(gate, chain, out);
            at = out;
        }
        if chain.ahead {
            return Some(at.saturating_add(chain.delay));
        }
        self.send(at, *unit, chain.line);
        None
    }

    /// Puts a unit on the line before its next stretch.
    #[inline]
    fn send(&mut self, at: Time, mut unit: Unit, line_number: u32) {
        unit.chain += 1;
        let line = &mut self.lines[line_number as usize];
        let at = at.saturating_add(line.delay);
        if line.units.is_empty() {
            self.events.wake(self.line_sources + line_number, at);
        }
        line.units.push_back((at, unit));
    }

    #[cold]
    fn drop(&mut self, gate: u32, unit: Unit) -> Option<Time> {
        let chain = self.chains[unit.chain as usize];
        if let Some(Drop { at, reason }) = self.gates[gate as usize].last_drop() {
            let owner = self.owner(chain.route);
            self.dropped.push_back(Dropped { at, gate: gate as usize, owner, reason, unit });
        }
        None
    }

    fn owner(&self, route: u32) -> Owner {
        match route.checked_sub(self.traffic_routes) {
            Some(traffic) => Owner::Traffic(traffic as usize),
            None if route.is_multiple_of(2) => Owner::Data(route as usize / 2),
            None => Owner::Back(route as usize / 2),
        }
    }

    /// A flow's data unit leaves a gate of its own machine; it arrives at what comes next at `out`.
    #[cold]
    fn note_departure(&mut self, gate: u32, chain: Chain, out: Time) {
        if self.hosts[gate as usize] {
            let end = self.gates[gate as usize].end_before(out);
            let departures = &mut self.departures[gate as usize];
            departures.push_back((end, chain.route / 2));
            self.events.wake(gate, departures[0].0);
        }
    }

    /// A slot of a signal ends, or a value arrives.
    #[cold]
    fn serve_signal(&mut self, event: usize) -> Option<Step> {
        let count = self.signals.len();
        if let Some(ended) = self.signals.get_mut(event) {
            let arrives = ended.publish(&mut self.gates);
            let slot_end = ended.slot_end();
            self.events.wake(self.slot_sources + event as Source, slot_end);
            self.events.wake(self.slot_sources + (count + event) as Source, arrives);
            return None;
        }
        let signal = event - count;
        let (at, value, next) = self.signals[signal].arrive()?;
        if let Some(next) = next {
            self.events.wake(self.slot_sources + event as Source, next);
        }
        Some(Step::Signal { at, signal, value })
    }

    /// The run is over: nothing more will enter. Services of waiting units are stated, so
    /// that counters tell the same in both ways of driving; drops may come to light
    /// ([`Network::take_drop`]).
    pub fn finish(&mut self) {
        for cascade in &mut self.cascades {
            cascade.settle(&mut self.gates);
        }
        for section in 0..self.sections.sections.len() {
            self.sections.sections[section].finish(self.window.until, &mut self.gates);
            // Nobody waited for some packets.
            self.collect(section);
        }
        for gate in &mut self.gates {
            gate.settle();
        }
    }

    /// What a cell gate counted beside cells; `None`: it is no cell gate.
    #[must_use]
    pub fn cell_counts(&self, gate: usize) -> Option<CellCounts> {
        self.sections.of_gate(gate)?.counts(gate)
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
        let cells: u64 = self.sections.sections.iter().map(Section::memory_bytes).sum();
        let circuits = self.circuits.as_ref().map_or(0, |circuits| circuits.memory_bytes());
        gates + cells + circuits + (lines * size_of::<(Time, Unit)>()) as u64
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

#[cfg(test)]
mod tests;
