//! Construction of a network from its plan.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::gate::{Gate, GateContext};
use crate::net::Network;
use crate::net::control::Controls;
use crate::net::fast::{DelayLine, FastPaths, RunningOn};
use crate::net::horizon::Horizon;
use crate::net::map::NONE;
use crate::net::reports::Reports;
use crate::net::routes::Routes;
use crate::net::schedule::Schedule;
use crate::net::sections::Sections;
use crate::net::settings::{measured, precision, record_level, seed};
use crate::net::signals::Signal;
use crate::net::sources::{SourceKind, SourceTable};
use crate::net::traffic::Traffic;
use crate::plan::{NAMED, Plan, SchedulerPlan};

impl Network {
    /// The network of `plan`, with `alarms` sources for the engine's own timers, ranked
    /// after every arrival at the same instant and among themselves by number; background
    /// traffic comes last.
    #[must_use]
    pub fn new(plan: &Plan, alarms: usize) -> Network {
        let routes = Routes::new(plan, plan.exact);
        let context = |index: usize| GateContext {
            index,
            seed: seed(plan),
            measured: measured(plan),
            precision: precision(plan),
            record: record_level(plan, index),
        };
        let mut gates: Vec<Gate> =
            plan.gates.iter().enumerate().map(|(n, gate)| Gate::new(gate, context(n))).collect();
        set_members(plan, &routes, &mut gates);
        let filters = filters(plan, &routes, &mut gates);
        let controls = Controls::new(plan, &mut gates);
        let signals: Vec<Signal> =
            plan.signals.iter().map(|row| Signal::new(row, plan, seed(plan), &mut gates)).collect();
        let traffic = Traffic::all(plan, seed(plan));
        // Gates that state departures at arrivals never wake, and need no source.
        let waking = routes.map.stretches.iter().any(|stretch| stretch.slow_path);
        let sources = SourceTable::new(|kind| match kind {
            SourceKind::Gate => usize::from(waking) * plan.gates.len(),
            SourceKind::SlotEnd | SourceKind::SignalValue => signals.len(),
            SourceKind::Line => routes.line_delays.len(),
            SourceKind::Alarm => alarms,
            SourceKind::Traffic => traffic.len(),
            control => controls.sources(control),
        });
        let horizon = Horizon::new(plan, &routes);
        let line = |delay: &_| DelayLine { units: VecDeque::new(), delay: *delay, taken_by: NONE };
        let mut network = Network {
            running_on: vec![RunningOn::NOT; gates.len()],
            sections: Sections::new(plan, &routes.crossings, &routes.order),
            fast: FastPaths::default(),
            filters,
            schedule: first_events(Schedule::new(sources), &controls, &signals, &traffic),
            lines: routes.line_delays.iter().map(line).collect(),
            map: routes.map,
            reports: Reports::new(plan, measured(plan)),
            gates,
            controls,
            signals,
            traffic,
            horizon,
        };
        network.spare_events(plan);
        network
    }
}

/// Gives gates with classes the class of each stretch; copies of one gate share the list.
fn set_members(plan: &Plan, routes: &Routes, gates: &mut [Gate]) {
    let (mut known, mut members): (Option<&Arc<[u16]>>, Arc<[u16]>) = (None, Arc::new([]));
    for (row, gate) in plan.gates.iter().zip(gates) {
        let Some(classes) = &row.classes else { continue };
        let of_route = &classes.of_route;
        if known.is_none_or(|known| !Arc::ptr_eq(known, of_route)) {
            let is_named = |route: usize| {
                classes.by_codepoint.as_ref().is_some_and(|by| by.named.get(route).copied().unwrap_or(false))
            };
            let class = |route: u32| {
                let named = if is_named(route as usize) { NAMED } else { 0 };
                of_route.get(route as usize).copied().unwrap_or(0) | named
            };
            members = routes.map.stretches.iter().map(|stretch| class(stretch.route)).collect();
            known = Some(of_route);
        }
        gate.set_members(Arc::clone(&members));
        if let SchedulerPlan::Cake(tins) = &classes.scheduler {
            // A route that is not in the list has hosts of its own, apart from those that are numbered.
            let hosts = |route: u32| tins.hosts.get(route as usize).copied().unwrap_or([u32::MAX - route; 2]);
            gate.set_hosts(&routes.map.stretches.iter().map(|stretch| hosts(stretch.route)).collect());
        }
    }
}

/// The gates with an ACK filter of each route; these hear of which route each stretch is.
fn filters(plan: &Plan, routes: &Routes, gates: &mut [Gate]) -> Vec<Vec<u32>> {
    let filtering: Vec<bool> = plan.gates.iter().map(|gate| gate.ack_filter().is_some()).collect();
    if !filtering.contains(&true) {
        return Vec::new();
    }
    let mut filters = vec![Vec::new(); routes.map.first.len()];
    for stretch in &routes.map.stretches {
        let passed = routes.map.gates_of(stretch).iter().filter(|gate| filtering[**gate as usize]);
        filters[stretch.route as usize].extend(passed);
    }
    let route_of: Arc<[u32]> = routes.map.stretches.iter().map(|stretch| stretch.route).collect();
    for (gate, _) in gates.iter_mut().zip(&filtering).filter(|(_, is_one)| **is_one) {
        gate.set_routes(Arc::clone(&route_of));
    }
    filters
}

/// Schedules the first event of every source that needs no arrival.
fn first_events(
    mut schedule: Schedule,
    controls: &Controls,
    signals: &[Signal],
    traffic: &[Traffic],
) -> Schedule {
    for (kind, group, at) in controls.first_wakeups() {
        schedule.wake(kind, group, at);
    }
    for (number, signal) in signals.iter().enumerate() {
        schedule.wake(SourceKind::SlotEnd, number, signal.slot_end());
    }
    for (number, row) in traffic.iter().enumerate() {
        schedule.wake(SourceKind::Traffic, number, row.arrivals.peek());
    }
    schedule
}
