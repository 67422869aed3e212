//! The quantities that a network's summary is computed from.

use crate::cells::{CellCounts, Section};
use crate::gate::Gate;
use crate::net::Network;
use crate::net::control::{CallCounts, PoolUse};
use crate::net::drops::DropCounts;
use crate::net::map::Owner;
use crate::net::traffic::TrafficCounts;
use crate::net::transit::Transit;
use crate::plan::RatePlan;
use crate::unit::Unit;
use crate::units::{Rate, Time};

impl Network {
    /// The run is over: nothing more will enter. Services of waiting units are stated, so
    /// that counters are equal in both ways of driving; drops may come to light
    /// ([`Network::poll_drop`]).
    pub fn finish(&mut self) {
        for section in 0..self.sections.sections.len() {
            self.sections.sections[section].finish(self.reports.measured.until, &mut self.gates);
            // Background packets are flushed only here.
            self.collect(section);
        }
        for gate in 0..self.gates.len() {
            self.take_late(gate, self.reports.measured.until);
            self.collect_departures(gate, self.schedule.now);
        }
        for gate in &mut self.gates {
            gate.settle();
        }
    }

    /// The counters of a cell gate beside those of cells; `None`: it is no cell gate.
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

    /// One-way delays and losses of a background source's packets; `None`: the plan does not measure them.
    #[must_use]
    pub fn transit(&self, source: usize) -> Option<&Transit> {
        self.traffic[source].transit.as_ref()
    }

    /// What a gate dropped inside the measured time, in packets; at a cell gate, packets that lost
    /// their first cell there or could not be put together after it.
    #[must_use]
    pub fn drops_at(&self, gate: usize) -> DropCounts {
        self.reports.drops.at(gate)
    }

    /// Drops of an owner's packets inside the measured time.
    #[must_use]
    pub fn drops_of(&self, owner: Owner) -> DropCounts {
        self.reports.drops.of(self.map.route_of(owner))
    }

    /// Units of an owner that policers tagged inside the measured time: packets by the policers of packet
    /// gates, then cells by those of cell gates.
    #[must_use]
    pub fn tagged_of(&self, owner: Owner) -> [u64; 2] {
        let mut tagged = [0; 2];
        for stretch in self.map.stretches(self.map.route_of(owner)) {
            let gates = self.map.gates_of(&self.map.stretches[stretch]);
            crate::work::looks(gates.len());
            for (place, gate) in gates.iter().enumerate() {
                let Some(policer) = self.gates[*gate as usize].policer() else { continue };
                if !gates[..place].contains(gate) {
                    tagged[usize::from(policer.in_cells())] += policer.tagged_of(stretch);
                }
            }
        }
        tagged
    }

    /// How calls use a pool, and what came of them; `None` where there are no calls at all.
    #[must_use]
    pub fn pool_use(&self, pool: usize) -> Option<(PoolUse, &CallCounts)> {
        self.controls.circuits().map(|circuits| circuits.pool_use(pool))
    }

    /// The capacity of a pool that calls hold now.
    #[must_use]
    pub fn reserved(&self, pool: usize) -> Rate {
        self.controls.circuits().map_or(Rate::ZERO, |circuits| circuits.reserved(pool))
    }

    /// The calls for a gate's circuit; `None`: it is no circuit.
    #[must_use]
    pub fn circuit_calls(&self, rate: &RatePlan) -> Option<&CallCounts> {
        match (rate, self.controls.circuits()) {
            (RatePlan::Reserve(circuit), Some(circuits)) => Some(circuits.calls_for(circuit.reservation)),
            _ => None,
        }
    }

    /// The calls of each source of calls, as in the plan.
    pub fn source_calls(&self) -> impl Iterator<Item = &CallCounts> {
        self.controls.circuits().into_iter().flat_map(|circuits| circuits.calls_without_packets())
    }

    /// Events handled so far.
    #[must_use]
    pub fn events_handled(&self) -> u64 {
        self.schedule.handled
    }

    /// Bytes held in queues, lines and histories, about.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let lines: usize = self.lines.iter().map(|line| line.units.capacity()).sum();
        let gates: u64 = self.gates.iter().map(Gate::memory_bytes).sum();
        let cells: u64 = self.sections.sections.iter().map(Section::memory_bytes).sum();
        let circuits = self.controls.circuits().map_or(0, |circuits| circuits.memory_bytes());
        let queue = self.schedule.queue.memory_bytes();
        gates + cells + circuits + queue + (lines * size_of::<(Time, Unit)>()) as u64
    }
}
