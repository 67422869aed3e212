//! ABR: switches that measure links, sources whose rates they set, and RM cells between them.
//!
//! An RM cell leaves a source after a given number of other cells, passes the switch after the delays
//! before it, passes it again on its way back, and is home a round trip after it left. It takes
//! no capacity and waits in no queue. At one instant: the end of an interval, RM cells forward,
//! backward, home, timers.

use std::collections::{BTreeMap, VecDeque};

use crate::aal5::CELL_BITS;
use crate::abr::{AbrSource, Erica, Feedback, IntervalLoad};
use crate::gate::Gate;
use crate::net::control::{Control, Effect, NONE};
use crate::net::settings::seed;
use crate::net::signals::Signal;
use crate::plan::{AbrPlan, Plan, RatePlan, SignalKind, SignalPlan};
use crate::units::{Rate, Span, Time};

/// All switches with their sources.
#[derive(Debug, Default)]
pub(super) struct Abr {
    groups: Vec<Group>,
    /// Group and place in it of each gate; empty where no gate is a source.
    places: Vec<(u32, u32)>,
}

/// A switch and its sources.
#[derive(Debug)]
struct Group {
    switch: Erica,
    capacity: Signal,
    /// All bytes that arrive at the link.
    arrivals: Signal,
    every: Span,
    sources: Vec<SourceGate>,
    /// The gate of each source, and the link behind them.
    gates: Vec<usize>,
    /// Pending events, by time, then kind, then source, then number.
    due: BTreeMap<(Time, Due, u32, u64), Cell>,
    numbers: u64,
}

/// The kinds of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Forward,
    Backward,
    Home,
    Timer,
}

/// An RM cell, or nothing but a timer.
#[derive(Clone, Copy, Debug)]
struct Cell {
    left: Time,
    rate: f64,
    feedback: Feedback,
}

#[derive(Debug)]
struct SourceGate {
    gate: usize,
    plan: AbrPlan,
    rules: AbrSource,
    /// Bits gone since the last RM cell.
    gone: u64,
    last: Time,
    /// Bits on their way to the switch, with the time of their arrival.
    coming: VecDeque<(Time, u64)>,
}

impl Abr {
    pub(super) fn new(plan: &Plan, gates: &mut [Gate]) -> Abr {
        let mut places = Vec::new();
        let mut members: Vec<Vec<SourceGate>> = plan.switches.iter().map(|_| Vec::new()).collect();
        for (gate, row) in plan.gates.iter().enumerate() {
            let RatePlan::Abr(abr) = &row.rate else { continue };
            places.resize(plan.gates.len(), (NONE, NONE));
            places[gate] = (abr.switch as u32, members[abr.switch].len() as u32);
            members[abr.switch].push(SourceGate::new(gate, *abr));
        }
        let mut group = |(row, sources): (&crate::plan::SwitchPlan, Vec<SourceGate>)| {
            let mut signal = |kind| {
                let published = SignalPlan { gate: row.gate, kind, every: row.every, lag: Span::ZERO };
                Signal::new(&published, plan, seed(plan), gates)
            };
            Group {
                gates: sources.iter().map(|source| source.gate).chain([row.gate]).collect(),
                switch: Erica::new(sources.len(), row.utilisation, row.binary),
                capacity: signal(SignalKind::Capacity),
                arrivals: signal(SignalKind::Arrivals),
                every: row.every,
                due: timers(&sources),
                sources,
                numbers: 0,
            }
        };
        Abr { groups: plan.switches.iter().zip(members).map(&mut group).collect(), places }
    }
}

/// A switch with its sources is a group.
impl Control for Abr {
    fn groups(&self) -> usize {
        self.groups.len()
    }

    fn next_wakeup(&self, group: usize) -> Time {
        let group = &self.groups[group];
        let due = group.due.first_key_value().map_or(Time::NEVER, |((at, ..), _)| *at);
        due.min(group.capacity.slot_end())
    }

    fn handle_wakeup(&mut self, at: Time, group: usize, gates: &mut [Gate]) {
        while self.next_wakeup(group) <= at {
            let next = self.next_wakeup(group);
            let group = &mut self.groups[group];
            if group.capacity.slot_end() <= next {
                group.end_interval(next, gates);
            } else {
                group.take(gates);
            }
        }
    }

    fn needs(&self, group: usize) -> &[usize] {
        &self.groups[group].gates
    }

    fn sets(&self, group: usize) -> &[usize] {
        let Group { gates, sources, .. } = &self.groups[group];
        &gates[..sources.len()]
    }

    fn counts_departures(&self) -> bool {
        true
    }

    /// What a source sends is on its way to the switch; an RM cell may follow it.
    fn handle_departure(&mut self, at: Time, gate: usize, wire: u32, _gates: &mut [Gate]) -> Effect {
        let (group, place) = self.places[gate];
        let group = &mut self.groups[group as usize];
        let source = &mut group.sources[place as usize];
        let bits = u64::from(wire) * 8;
        source.coming.push_back((at.saturating_add(source.plan.there), bits));
        source.gone += bits;
        let spacing = u64::from(source.plan.cells_per_rm) * CELL_BITS;
        if source.gone < spacing {
            return Effect::Nothing;
        }
        source.gone %= spacing;
        group.launch(at, place);
        Effect::Wakeup
    }
}

fn timers(sources: &[SourceGate]) -> BTreeMap<(Time, Due, u32, u64), Cell> {
    let timer = |(number, source): (u32, &SourceGate)| {
        ((Time::ZERO.saturating_add(source.plan.rm_within), Due::Timer, number, 0), Cell::NONE)
    };
    (0..).zip(sources).map(timer).collect()
}

impl Cell {
    const NONE: Cell = Cell {
        left: Time::ZERO,
        rate: 0.0,
        feedback: Feedback { congested: false, explicit: f64::INFINITY },
    };
}

impl SourceGate {
    fn new(gate: usize, plan: AbrPlan) -> SourceGate {
        SourceGate {
            gate,
            plan,
            rules: AbrSource::new(plan.rates),
            // The first cell of all is an RM cell.
            gone: u64::from(plan.cells_per_rm) * CELL_BITS - 1,
            last: Time::ZERO,
            coming: VecDeque::new(),
        }
    }

    /// Bits that came to the switch before `end`.
    fn came(&mut self, end: Time) -> u64 {
        let mut bits = 0;
        while let Some((at, more)) = self.coming.front()
            && *at < end
        {
            bits += more;
            self.coming.pop_front();
        }
        bits
    }
}

impl Group {
    fn push(&mut self, at: Time, due: Due, source: u32, cell: Cell) {
        self.numbers += 1;
        self.due.insert((at, due, source, self.numbers), cell);
    }

    /// An RM cell leaves its source.
    fn launch(&mut self, at: Time, place: u32) {
        let source = &mut self.sources[place as usize];
        source.last = at;
        let (rate, there) = (source.rules.allowed(), source.plan.there);
        self.push(at.saturating_add(there), Due::Forward, place, Cell { left: at, rate, ..Cell::NONE });
    }

    fn end_interval(&mut self, end: Time, gates: &mut [Gate]) {
        self.capacity.publish(gates);
        self.arrivals.publish(gates);
        let value = |signal: &mut Signal| signal.poll_value().map_or(0.0, |(_, value)| value as f64);
        let capacity = value(&mut self.capacity);
        let seconds = self.every.as_secs_f64();
        let all = value(&mut self.arrivals) * 8.0 / seconds;
        let came: Vec<u64> = self.sources.iter_mut().map(|source| source.came(end)).collect();
        let input = came.iter().sum::<u64>() as f64 / seconds;
        let active = came.iter().filter(|bits| **bits > 0).count() as u32;
        self.switch.end_interval(IntervalLoad { capacity, other: (all - input).max(0.0), input, active });
    }

    /// The next thing that is due.
    fn take(&mut self, gates: &mut [Gate]) {
        let Some(((at, due, place, _), cell)) = self.due.pop_first() else { return };
        let source = &mut self.sources[place as usize];
        let AbrPlan { there, lag, rm_within, .. } = source.plan;
        let after = |span: Span| cell.left.saturating_add(span);
        match due {
            Due::Forward => {
                self.switch.forward(place as usize, cell.rate);
                // As far from home as it is from the source, but not before now.
                let back = after(lag.saturating_sub(there).max(there));
                self.push(back, Due::Backward, place, cell);
            }
            Due::Backward => {
                let feedback = self.switch.backward(place as usize);
                self.push(after(lag.max(there)), Due::Home, place, Cell { feedback, ..cell });
            }
            Due::Home => {
                let allowed = source.rules.hear(cell.feedback);
                gates[source.gate].set_rate(at, Rate::from_bps(allowed as u64));
            }
            Due::Timer => {
                let due_at = source.last.saturating_add(rm_within);
                if due_at > at {
                    return self.push(due_at, Due::Timer, place, Cell::NONE);
                }
                self.launch(at, place);
                self.push(at.saturating_add(rm_within), Due::Timer, place, Cell::NONE);
            }
        }
    }
}
