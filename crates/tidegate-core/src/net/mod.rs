//! The network: gates, routes, background traffic and the events between them. It lies
//! between the TCP endpoints in every engine; nothing of a scenario is interpreted outside.
//!
//! Call order: [`Network::step`] until it has nothing more before an instant, then
//! [`Network::enter`] units at that instant, and so on. [`Network::now`] goes back only while halves take turns
//! ([`Network::take_turns`]). Waking late,
//! early or at odd instants changes no departure: a unit carries the time it is due.

mod abr;
mod build;
mod calling;
mod calls;
mod cascade;
mod channels;
mod circuits;
mod drops;
mod events;
mod followers;
mod horizon;
mod routes;
mod sections;
mod serving;
mod signals;
mod traffic;
mod turns;
mod way;

use std::collections::VecDeque;
use std::ops::Range;

pub use calls::{Admission, Answer, CallClass, CallCounts, Grant, PoolUse};
pub use drops::DropCounts;
pub use events::{Half, Source};
pub use routes::Owner;
pub use traffic::{TrafficCounts, start_time};

use crate::cells::{CellCounts, Section};
use crate::gate::{DropReason, Gate, Precision};
use crate::net::abr::Abr;
use crate::net::cascade::Cascade;
use crate::net::channels::Channels;
use crate::net::circuits::Circuits;
use crate::net::drops::Drops;
use crate::net::events::{EventQueue, Next};
use crate::net::followers::Followers;
use crate::net::horizon::Horizon;
use crate::net::routes::{Chain, NONE};
use crate::net::sections::Sections;
use crate::net::signals::Signal;
use crate::net::traffic::Traffic;
use crate::net::way::Line;
use crate::plan::{Plan, RecordLevel};
use crate::random::Seed;
use crate::unit::Unit;
use crate::units::{Measured, Span, Time};

/// More gates and flows than this, and quantiles are kept coarsely.
const MANY_ELEMENTS: usize = 256;

/// What the network tells its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A unit was delivered at the end of its route, or is certain to be.
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
pub enum Event {
    /// A unit comes to where several inputs meet, or to the end of its route: for [`Network::arrive`].
    Arrival {
        /// When.
        at: Time,
        /// The unit.
        unit: Unit,
    },
    /// Anything else: for [`Network::happen`].
    Wakeup {
        /// When.
        at: Time,
        /// Who asked for it.
        source: Source,
    },
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

impl Dropped {
    /// Sort key in a recording: drops are reported out of order, and those with equal keys look alike.
    #[must_use]
    pub fn place(&self) -> (Time, usize, Owner, u32, DropReason) {
        (self.at, self.gate, self.owner, self.unit.bytes, self.reason)
    }
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
    drops: Drops,
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
    measured: Measured,
    handled: u64,
    /// Events handled, and when, as turns were looked at last.
    reviewed: (u64, Time),
    now: Time,
    horizon: Horizon,
}

impl Network {
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
            let step = match self.next_event(until)? {
                Event::Arrival { at, unit } => {
                    self.arrive(at, unit).map(|(at, route, unit)| Step::Deliver { at, route, unit })
                }
                Event::Wakeup { at, source } => self.happen(at, source),
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
    #[inline(always)]
    pub fn next_event(&mut self, until: Time) -> Option<Event> {
        let next = self.events.pop_before(until)?;
        let (Next::Arrival(at, _) | Next::Source(at, _)) = next;
        self.now = at;
        self.handled += 1;
        match next {
            Next::Arrival(_, unit) => Some(Event::Arrival { at, unit }),
            Next::Source(_, source) => {
                let arrived = if self.is_line(source) { self.leave_line(source) } else { None };
                Some(arrived.map_or(Event::Wakeup { at, source }, |(_, unit)| Event::Arrival { at, unit }))
            }
        }
    }

    #[inline]
    fn is_line(&self, source: Source) -> bool {
        source >= self.line_sources && source < self.alarm_sources
    }

    /// An event that is no arrival.
    pub fn happen(&mut self, at: Time, source: Source) -> Option<Step> {
        crate::work::step();
        if source >= self.traffic_sources {
            self.emit(source);
            None
        } else if source >= self.alarm_sources {
            Some(Step::Alarm { at, alarm: (source - self.alarm_sources) as usize })
        } else if source >= self.line_sources {
            // Nothing was on that line.
            None
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
            self.sections.sections[section].finish(self.measured.until, &mut self.gates);
            // Background packets are flushed only here.
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

    /// What a gate dropped inside the measured time, in packets; at a cell gate, packets that lost
    /// their first cell there or could not be put together after it.
    #[must_use]
    pub fn drops_at(&self, gate: usize) -> DropCounts {
        self.drops.at(gate)
    }

    /// What was dropped of an owner's packets inside the measured time.
    #[must_use]
    pub fn drops_of(&self, owner: Owner) -> DropCounts {
        self.drops.of(self.route_of(owner) as usize)
    }

    /// Units of an owner that the policers of packet gates, and those of cell gates, tagged inside the
    /// measured measured time: packets, then cells.
    #[must_use]
    pub fn tagged_of(&self, owner: Owner) -> [u64; 2] {
        let chains = self.stretches(self.route_of(owner) as usize);
        let mut tagged = [0; 2];
        for gate in &self.gates {
            let Some(policer) = gate.policer() else { continue };
            let of_owner = chains.clone().map(|chain| policer.tagged_of(chain)).sum::<u64>();
            tagged[usize::from(policer.in_cells())] += of_owner;
        }
        tagged
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
        gates + cells + circuits + self.events.memory_bytes() + (lines * size_of::<(Time, Unit)>()) as u64
    }
}

/// The seed that a plan's streams derive from.
#[must_use]
pub fn seed(plan: &Plan) -> Seed {
    Seed { seed: plan.seed, replication: plan.replication }
}

/// What a plan's summaries count.
#[must_use]
pub fn measured(plan: &Plan) -> Measured {
    Measured { from: plan.warmup, until: plan.duration }
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
