//! What the network does for circuits: it brings them packets, tasks and news, and serves the
//! gates that they open.

use crate::net::Network;
use crate::net::calls::{CallCounts, PoolUse};
use crate::plan::RatePlan;
use crate::unit::Unit;
use crate::units::{Rate, Time};

impl Network {
    /// The application of a flow begins a transfer at `at`: from then on its circuits, once
    /// open, stay open until [`Network::transfer_ends`]. It opens nothing by itself: the
    /// transfer's first packet asks. `at` is the application's own time, never before the
    /// last step, and may be ahead of it where endpoints run ahead; it takes effect after
    /// everything else at its instant. Both endpoints of a flow count as one: transfers of a
    /// flow do not nest, a second beginning changes nothing. Does nothing where the flow
    /// passes no circuit.
    pub fn transfer_begins(&mut self, at: Time, flow: usize) {
        self.tell_circuits(at, flow, true);
    }

    /// The transfer of a flow is over at `at`, nothing of it is still to be sent by either
    /// side: its circuits are held on for `hold` from the instant that they are idle (no
    /// transfer of any flow, no packet in them), and then given back. A packet that comes
    /// later opens them again, or asks for them anew. Ends without a beginning change
    /// nothing. While its circuits are still asked for, an end changes something only if no
    /// packet waits for them: then they are not asked for any more.
    pub fn transfer_ends(&mut self, at: Time, flow: usize) {
        self.tell_circuits(at, flow, false);
    }

    /// Whether a flow passes a circuit, so that it matters when its transfers begin and end.
    #[must_use]
    pub fn uses_circuit(&self, flow: usize) -> bool {
        self.circuits.as_ref().is_some_and(|circuits| circuits.is_used_by(flow))
    }

    fn tell_circuits(&mut self, at: Time, flow: usize, begins: bool) {
        if let Some(circuits) = &mut self.circuits {
            circuits.tell(at, flow, begins);
            self.events.wake(self.news_source, circuits.next_news());
        }
    }

    pub(super) fn is_circuit(&self, gate: usize) -> bool {
        self.circuits.as_ref().is_some_and(|circuits| circuits.is_circuit(gate))
    }

    /// Step by step: a unit comes to a circuit.
    pub(super) fn enter_circuit(&mut self, at: Time, mut unit: Unit, gate: u32) {
        self.work_circuits(at);
        let index = gate as usize;
        let Some(circuits) = &mut self.circuits else { return };
        // What the policer drops asks for no circuit.
        let taken = self.gates[index].handle_at_door(at, &mut unit).and_then(|_| {
            if circuits.knock(at, index, &mut self.gates) {
                self.gates[index].handle_behind_door(at, unit)
            } else {
                Err(self.gates[index].refuse_call(at, unit.bytes))
            }
        });
        if let Err(drop) = taken {
            self.drop(gate, drop, unit);
        }
        self.look_at_circuit(at, index);
        self.wake_gate(index);
    }

    /// Services ended at a circuit, or something came to its door.
    pub(super) fn look_at_circuit(&mut self, at: Time, gate: usize) {
        if let Some(circuits) = &mut self.circuits {
            circuits.look(at, gate, &mut self.gates);
            self.after_circuits();
        }
    }

    /// Tasks that are due by `at`.
    pub(super) fn work_circuits(&mut self, at: Time) {
        if let Some(circuits) = &mut self.circuits {
            circuits.work_until(at, &mut self.gates);
            self.after_circuits();
        }
    }

    /// News of `at`: it comes after everything else at that instant.
    pub(super) fn hear_circuits(&mut self, at: Time) {
        if let Some(circuits) = &mut self.circuits {
            circuits.hear_until(at, &mut self.gates);
            self.after_circuits();
        }
    }

    fn after_circuits(&mut self) {
        let Some(circuits) = &mut self.circuits else { return };
        while let Some(gate) = circuits.take_opened() {
            if let Some(end) = self.gates[gate].next_wakeup() {
                self.events.wake(gate as u32, end);
            }
        }
        self.events.wake(self.circuit_source, circuits.next_task());
        self.events.wake(self.news_source, circuits.next_news());
    }

    /// How calls use a pool, and what came of them; `None` where there are no calls at all.
    #[must_use]
    pub fn pool_use(&self, pool: usize) -> Option<(PoolUse, &CallCounts)> {
        self.circuits.as_ref().map(|circuits| circuits.pool_use(pool))
    }

    /// What calls have of a pool now.
    #[must_use]
    pub fn reserved(&self, pool: usize) -> Rate {
        self.circuits.as_ref().map_or(Rate::ZERO, |circuits| circuits.reserved(pool))
    }

    /// The calls for a gate's circuit; `None`: it is no circuit.
    #[must_use]
    pub fn circuit_calls(&self, rate: &RatePlan) -> Option<&CallCounts> {
        match (rate, &self.circuits) {
            (RatePlan::Reserve(circuit), Some(circuits)) => Some(circuits.line_counts(circuit.reservation)),
            _ => None,
        }
    }

    /// The calls of each source of calls, as in the plan.
    pub fn source_calls(&self) -> impl Iterator<Item = &CallCounts> {
        self.circuits.iter().flat_map(|circuits| circuits.of_sources())
    }
}
