//! ABR: switches that measure links, sources whose rates they set, and RM cells between them.
//!
//! An RM cell leaves a source when so many cells have gone, passes the switch after the delays
//! before it, passes it again on its way back, and is home a round trip after it left. It takes
//! no capacity and waits in no queue. At one instant: the end of an interval, RM cells forward,
//! backward, home, timers.

use std::collections::{BTreeMap, VecDeque};

use crate::aal5::CELL_BITS;
use crate::abr::{Erica, Feedback, Interval, Source};
use crate::gate::Gate;
use crate::net::seed;
use crate::net::signals::Signal;
use crate::plan::{AbrPlan, Plan, RatePlan, SignalKind, SignalPlan};
use crate::units::{Rate, Span, Time};

/// Marks a gate that is no source.
const NONE: u32 = u32::MAX;

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
    link: usize,
    switch: Erica,
    capacity: Signal,
    /// All bytes at the link's door.
    arrivals: Signal,
    every: Span,
    circuits: Vec<Circuit>,
    /// What comes next, by time, then kind, then circuit, then number.
    due: BTreeMap<(Time, Due, u32, u64), Cell>,
    numbers: u64,
}

/// What is due.
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
    told: Feedback,
}

#[derive(Debug)]
struct Circuit {
    gate: usize,
    plan: AbrPlan,
    source: Source,
    /// Bits gone since the last RM cell.
    gone: u64,
    last: Time,
    /// What is on its way to the switch, in bits.
    coming: VecDeque<(Time, u64)>,
}

impl Abr {
    pub(super) fn new(plan: &Plan, gates: &mut [Gate]) -> Abr {
        let mut places = Vec::new();
        let mut members: Vec<Vec<Circuit>> = plan.switches.iter().map(|_| Vec::new()).collect();
        for (gate, row) in plan.gates.iter().enumerate() {
            let RatePlan::Abr(abr) = &row.rate else { continue };
            places.resize(plan.gates.len(), (NONE, NONE));
            places[gate] = (abr.switch as u32, members[abr.switch].len() as u32);
            members[abr.switch].push(Circuit::new(gate, *abr));
        }
        let mut group = |(row, circuits): (&crate::plan::SwitchPlan, Vec<Circuit>)| {
            let mut signal = |kind| {
                let published = SignalPlan { gate: row.gate, kind, every: row.every, lag: Span::ZERO };
                Signal::new(&published, plan, seed(plan), gates)
            };
            Group {
                link: row.gate,
                switch: Erica::new(circuits.len(), row.utilisation, row.binary),
                capacity: signal(SignalKind::Capacity),
                arrivals: signal(SignalKind::Arrivals),
                every: row.every,
                due: timers(&circuits),
                circuits,
                numbers: 0,
            }
        };
        Abr { groups: plan.switches.iter().zip(members).map(&mut group).collect(), places }
    }

    /// How many groups there are; each wakes for itself.
    pub(super) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The group of a gate; `None`: the gate is no source.
    #[inline]
    pub(super) fn group_of(&self, gate: usize) -> Option<usize> {
        let (group, _) = *self.places.get(gate)?;
        (group != NONE).then_some(group as usize)
    }

    /// How many sources a group has.
    pub(super) fn sources(&self, group: usize) -> usize {
        self.groups[group].circuits.len()
    }

    /// The gate that a source of a group is; the link comes after the last source.
    pub(super) fn gate(&self, group: usize, place: usize) -> usize {
        let group = &self.groups[group];
        group.circuits.get(place).map_or(group.link, |circuit| circuit.gate)
    }

    /// When something is due in a group.
    pub(super) fn next(&self, group: usize) -> Time {
        let group = &self.groups[group];
        let due = group.due.first_key_value().map_or(Time::NEVER, |((at, ..), _)| *at);
        due.min(group.capacity.slot_end())
    }

    /// A source's unit of so many bytes on the wire has left at `at`.
    pub(super) fn note(&mut self, gate: usize, at: Time, wire: u32) {
        let (group, place) = self.places[gate];
        let group = &mut self.groups[group as usize];
        let circuit = &mut group.circuits[place as usize];
        let bits = u64::from(wire) * 8;
        circuit.coming.push_back((at.saturating_add(circuit.plan.there), bits));
        circuit.gone += bits;
        let spacing = u64::from(circuit.plan.cells_per_rm) * CELL_BITS;
        if circuit.gone >= spacing {
            circuit.gone %= spacing;
            group.launch(at, place);
        }
    }

    /// Everything of a group that is due by `at`, which is now: nothing else happens before.
    pub(super) fn advance(&mut self, group: usize, at: Time, gates: &mut [Gate]) {
        while self.next(group) <= at {
            let next = self.next(group);
            let group = &mut self.groups[group];
            if group.capacity.slot_end() <= next {
                group.end_interval(next, gates);
            } else {
                group.take(gates);
            }
        }
    }
}

fn timers(circuits: &[Circuit]) -> BTreeMap<(Time, Due, u32, u64), Cell> {
    let timer = |(number, circuit): (u32, &Circuit)| {
        ((Time::ZERO.saturating_add(circuit.plan.rm_within), Due::Timer, number, 0), Cell::NONE)
    };
    (0..).zip(circuits).map(timer).collect()
}

impl Cell {
    const NONE: Cell =
        Cell { left: Time::ZERO, rate: 0.0, told: Feedback { congested: false, explicit: f64::INFINITY } };
}

impl Circuit {
    fn new(gate: usize, plan: AbrPlan) -> Circuit {
        Circuit {
            gate,
            plan,
            source: Source::new(plan.rates),
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
    fn push(&mut self, at: Time, due: Due, circuit: u32, cell: Cell) {
        self.numbers += 1;
        self.due.insert((at, due, circuit, self.numbers), cell);
    }

    /// An RM cell leaves its source.
    fn launch(&mut self, at: Time, place: u32) {
        let circuit = &mut self.circuits[place as usize];
        circuit.last = at;
        let (rate, there) = (circuit.source.allowed(), circuit.plan.there);
        self.push(at.saturating_add(there), Due::Forward, place, Cell { left: at, rate, ..Cell::NONE });
    }

    fn end_interval(&mut self, end: Time, gates: &mut [Gate]) {
        self.capacity.publish(gates);
        self.arrivals.publish(gates);
        let value = |signal: &mut Signal| signal.arrive().map_or(0.0, |(_, value, _)| value as f64);
        let capacity = value(&mut self.capacity);
        let seconds = self.every.as_secs_f64();
        let all = value(&mut self.arrivals) * 8.0 / seconds;
        let came: Vec<u64> = self.circuits.iter_mut().map(|circuit| circuit.came(end)).collect();
        let input = came.iter().sum::<u64>() as f64 / seconds;
        let active = came.iter().filter(|bits| **bits > 0).count() as u32;
        self.switch.end_interval(Interval { capacity, other: (all - input).max(0.0), input, active });
    }

    /// The next thing that is due.
    fn take(&mut self, gates: &mut [Gate]) {
        let Some(((at, due, place, _), cell)) = self.due.pop_first() else { return };
        let circuit = &mut self.circuits[place as usize];
        let AbrPlan { there, lag, rm_within, .. } = circuit.plan;
        let after = |span: Span| cell.left.saturating_add(span);
        match due {
            Due::Forward => {
                self.switch.forward(place as usize, cell.rate);
                // As far from home as it is from the source, but not before now.
                let back = after(lag.saturating_sub(there).max(there));
                self.push(back, Due::Backward, place, cell);
            }
            Due::Backward => {
                let told = self.switch.backward(place as usize);
                self.push(after(lag.max(there)), Due::Home, place, Cell { told, ..cell });
            }
            Due::Home => {
                let allowed = circuit.source.hear(cell.told);
                gates[circuit.gate].set_rate(at, Rate::from_bps(allowed as u64));
            }
            Due::Timer => {
                let due_at = circuit.last.saturating_add(rm_within);
                if due_at > at {
                    return self.push(due_at, Due::Timer, place, Cell::NONE);
                }
                self.launch(at, place);
                self.push(at.saturating_add(rm_within), Due::Timer, place, Cell::NONE);
            }
        }
    }
}
