//! How the network of a plan is made.

use std::collections::VecDeque;

use crate::gate::{Gate, GateContext};
use crate::net::abr::Abr;
use crate::net::cascade::Cascade;
use crate::net::channels::Channels;
use crate::net::circuits::Circuits;
use crate::net::drops::Drops;
use crate::net::events::{EventQueue, Source};
use crate::net::followers::Followers;
use crate::net::horizon::Horizon;
use crate::net::routes::Routes;
use crate::net::sections::Sections;
use crate::net::signals::Signal;
use crate::net::traffic::Traffic;
use crate::net::way::Line;
use crate::net::{Network, measured, precision, record_level, seed};
use crate::plan::Plan;
use crate::units::Time;

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
            measured: measured(plan),
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
            cascades: series.into_iter().map(|series| Cascade::new(series, measured(plan))).collect(),
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
            drops: Drops::default(),
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
            measured: measured(plan),
            handled: 0,
            reviewed: (0, Time::ZERO),
            now: Time::ZERO,
        }
    }
}
