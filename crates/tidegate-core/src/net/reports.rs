//! Reports of the network to its engine beside deliveries: drops and departures.

use std::collections::VecDeque;

use crate::net::drops::{Dropped, Drops};
use crate::plan::Plan;
use crate::unit::Unit;
use crate::units::{Measured, Time};

/// Drops, departures and early deliveries that the engine is to be informed of.
#[derive(Debug)]
pub(super) struct Reports {
    /// Drops that the engine has not asked for yet.
    pub(super) dropped: VecDeque<Dropped>,
    /// Drops inside the measured time.
    pub(super) drops: Drops,
    pub(super) departures: Departures,
    /// Deliveries that are certain, behind a gate that is driven step by step: when, which route, which unit.
    pub(super) deliveries: VecDeque<(Time, usize, Unit)>,
    /// The time in which summaries count.
    pub(super) measured: Measured,
}

impl Reports {
    pub(super) fn new(plan: &Plan, measured: Measured) -> Reports {
        Reports {
            dropped: VecDeque::new(),
            drops: Drops::default(),
            departures: Departures::new(plan),
            deliveries: VecDeque::new(),
            measured,
        }
    }

    /// A unit of this route was dropped.
    #[cold]
    pub(super) fn note_drop(&mut self, dropped: Dropped, route: u32) {
        self.drops.note(self.measured, &dropped, route);
        self.dropped.push_back(dropped);
    }
}

/// Departures of which a flow's TCP is to be informed at their time.
#[derive(Debug)]
pub(super) struct Departures {
    /// Gates inside sending machines.
    hosts: Vec<bool>,
    /// End of the service and the flow, for each gate, in order of time.
    waiting: Vec<VecDeque<(Time, u32)>>,
}

impl Departures {
    fn new(plan: &Plan) -> Departures {
        Departures {
            hosts: plan.gates.iter().map(|gate| gate.host).collect(),
            waiting: vec![VecDeque::new(); plan.gates.len()],
        }
    }

    /// Whether a gate is inside a sending machine.
    pub(super) fn is_host(&self, gate: usize) -> bool {
        self.hosts[gate]
    }

    /// A unit of a flow leaves a gate at `at`. Answers with when the gate's first departure is due.
    pub(super) fn push(&mut self, gate: usize, at: Time, flow: u32) -> Time {
        let departures = &mut self.waiting[gate];
        departures.push_back((at, flow));
        departures[0].0
    }

    /// When a gate's first departure is due, and whose it is.
    pub(super) fn first(&self, gate: usize) -> Option<(Time, u32)> {
        self.waiting[gate].front().copied()
    }

    /// The first departure has been reported. Answers with when the next one is due.
    pub(super) fn pop(&mut self, gate: usize) -> Option<Time> {
        let departures = &mut self.waiting[gate];
        departures.pop_front();
        departures.front().map(|(at, _)| *at)
    }
}
