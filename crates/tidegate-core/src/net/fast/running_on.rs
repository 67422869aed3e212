//! Gates whose discipline or scheduler decides when a unit would be served, and gates whose rate is set at events of a control. The
//! end of a service that has begun is certain up to the next event, and nothing that comes during a service changes anything before
//! its end. So
//!
//! - a unit whose service has ended goes on at once: through the gates behind that only this gate sends to, or to a
//!   receiver that is informed ahead of its time,
//! - the gate goes on to the end of the next service, and so on, up to the next instant at which anything else may
//!   happen: an event, the arrival of what it has handed out, or the end of what the engine has asked for,
//! - what comes during a service from the one gate before waits on its line, and is taken, in order and at its own
//!   time, when the service ends, and before a control acts. Those arrivals are no events.
//!
//! None of it is done where somebody must be informed at the time itself: at a gate that polices or marks colours, that is a circuit,
//! or whose arrivals a signal or an ABR switch counts. Where TCP is informed of departures, what leaves takes the line. No unit waits on
//! the line where a flow passes that a policer may hold back, because its sender must know who dropped a segment when it acts on it.

use std::collections::BTreeSet;

use crate::net::Network;
use crate::net::fast::Walk;
use crate::net::map::NONE;
use crate::net::sources::SourceKind;
use crate::plan::{GatePlan, Plan};
use crate::unit::Unit;
use crate::units::{Span, Time};

/// The fast paths that apply to a gate.
#[derive(Clone, Copy, Debug)]
pub(in crate::net) struct RunningOn {
    /// It runs on ([`Network::run_on`]).
    pub(in crate::net) runs_on: bool,
    /// It runs on from arrivals too: all of them are events of lines.
    pub(in crate::net) from_arrivals: bool,
    /// The line whose units it takes late; [`NONE`]: every arrival is an event.
    line: u32,
}

impl RunningOn {
    /// No fast path applies.
    pub(in crate::net) const NOT: RunningOn = RunningOn { runs_on: false, from_arrivals: false, line: NONE };
}

/// The inputs of a gate.
#[derive(Clone, Debug, Default)]
struct Inputs {
    lines: BTreeSet<u32>,
    /// A route begins here.
    is_entry: bool,
    /// Cells are put together on a line before it.
    after_cells: bool,
}

impl Inputs {
    /// The line before the gate, if it is the only input.
    fn only_line(&self) -> Option<u32> {
        let line = *self.lines.first()?;
        (self.lines.len() == 1 && !self.is_entry).then_some(line)
    }
}

impl Network {
    /// Finds the gates and stretches to which the fast paths of this module apply.
    pub(in crate::net) fn spare_events(&mut self, plan: &Plan) {
        if plan.exact {
            return;
        }
        let may_run_on = |(index, gate): (usize, &GatePlan)| {
            let stepped = !gate.is_known_ahead() && !gate.is_cell_gate();
            let switched = plan.switches.iter().any(|switch| switch.gate == index);
            let at_events = self.controls.of_gate(index).is_none_or(|control| control.sets_rates);
            stepped && !switched && at_events && self.gates[index].admits_all()
        };
        let runs_on: Vec<bool> = plan.gates.iter().enumerate().map(may_run_on).collect();
        let inputs = self.inputs();
        let polices = |gate: &usize| plan.gates[*gate].police.is_some() || plan.gates[*gate].marker.is_some();
        let policed = plan.flows.iter().filter(|flow| flow.path.iter().any(polices));
        let of_policed: BTreeSet<usize> = policed.flat_map(|flow| flow.path.iter().copied()).collect();
        for (gate, ways) in inputs.iter().enumerate() {
            self.running_on[gate].runs_on = runs_on[gate];
            self.running_on[gate].from_arrivals = runs_on[gate] && !ways.is_entry;
            if let (true, false, Some(line)) = (runs_on[gate], ways.after_cells, ways.only_line())
                && !of_policed.contains(&gate)
            {
                self.running_on[gate].line = line;
                self.lines[line as usize].taken_by = gate as u32;
            }
        }
        let mut through = vec![true; self.lines.len()];
        for number in 0..self.map.stretches.len() {
            let stretch = &self.map.stretches[number];
            let line = stretch.line;
            if line == NONE {
                continue;
            }
            let gate = self.map.gates_of(stretch).first();
            let certain =
                stretch.steps && !stretch.notify && gate.is_some_and(|gate| runs_on[*gate as usize]);
            let next = &self.map.stretches[number + 1];
            let first = self.map.gates_of(next).first();
            let is_only = first.is_some_and(|first| inputs[*first as usize].only_line() == Some(line));
            // All that take one line keep their order.
            through[line as usize] &= certain && is_only && !next.slow_path && stretch.delay == Span::ZERO;
            self.map.stretches[number].certain = certain;
        }
        for stretch in &mut self.map.stretches {
            stretch.through = through.get(stretch.line as usize).is_some_and(|through| *through);
        }
    }

    /// The inputs of each gate that a stretch begins with.
    fn inputs(&self) -> Vec<Inputs> {
        let mut inputs = vec![Inputs::default(); self.gates.len()];
        for route in 0..self.map.first.len() {
            let stretches = self.map.stretches(route);
            for number in stretches.clone() {
                let Some(gate) = self.map.gates_of(&self.map.stretches[number]).first() else { continue };
                let gate = *gate as usize;
                if number == stretches.start {
                    inputs[gate].is_entry = true;
                } else {
                    let before = &self.map.stretches[number - 1];
                    inputs[gate].lines.insert(before.line);
                    inputs[gate].after_cells |= before.crossing != NONE;
                }
            }
        }
        inputs
    }

    /// A gate that runs on handles its services from `now` to the next instant at which any other event may happen.
    pub(in crate::net) fn run_on(&mut self, now: Time, gate: usize) {
        let mut earliest = Time::NEVER;
        loop {
            let bound = self.schedule.until.min(self.schedule.queue.next()).min(earliest);
            let wakes = self.gates[gate].next_wakeup().unwrap_or(Time::NEVER);
            if !self.gates[gate].is_serving() {
                // What comes is taken as it comes, but behind a service that begins at the same instant.
                let comes = self.next_late(gate);
                if comes < wakes && comes < bound {
                    crate::work::step();
                    // One: its service may be over at the same instant.
                    if let Some((at, unit)) =
                        self.lines[self.running_on[gate].line as usize].units.pop_front()
                    {
                        self.take(gate, at, unit);
                    }
                    self.collect_departures(gate, comes);
                    continue;
                }
                if comes < wakes || wakes == Time::NEVER {
                    break;
                }
            }
            if wakes >= bound && wakes > now {
                break;
            }
            self.take_late(gate, wakes);
            if let Some(departure) = self.gates[gate].end_service(wakes) {
                self.let_go(gate, wakes, departure);
            }
            self.collect_departures(gate, wakes);
            if let Some((at, ..)) = self.reports.deliveries.back() {
                earliest = earliest.min(*at);
            }
        }
        self.wake_gate(gate);
    }

    /// The arrival time of the next unit that a gate takes late.
    #[inline]
    fn next_late(&self, gate: usize) -> Time {
        match self.running_on[gate].line {
            NONE => Time::NEVER,
            line => self.lines[line as usize].units.front().map_or(Time::NEVER, |(at, _)| *at),
        }
    }

    /// A gate takes the units that arrived before `until` during a service.
    #[inline]
    pub(in crate::net) fn take_late(&mut self, gate: usize, until: Time) {
        while self.next_late(gate) < until {
            crate::work::step();
            let Some((at, unit)) = self.lines[self.running_on[gate].line as usize].units.pop_front() else {
                return;
            };
            self.take(gate, at, unit);
        }
    }

    /// A unit comes to a gate that is driven step by step, whose services before `at` are over.
    #[inline]
    pub(in crate::net) fn take(&mut self, gate: usize, at: Time, unit: Unit) {
        if let Some(controlled) = self.controls.of_gate(gate).filter(|control| control.hears_arrivals) {
            self.enter_controlled(at, unit, gate, controlled);
        } else if let Err(drop) = self.gates[gate].handle_unit_in_service(at, unit) {
            self.drop(gate as u32, drop, unit);
        }
    }

    /// The line before a gate that serves nothing is an event again.
    #[inline]
    pub(in crate::net) fn wake_late(&mut self, gate: usize) {
        let at = self.next_late(gate);
        if at < Time::NEVER && !self.gates[gate].is_serving() {
            self.schedule.wake(SourceKind::Line, self.running_on[gate].line as usize, at);
        }
    }
}
