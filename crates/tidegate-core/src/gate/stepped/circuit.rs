//! A gate that is a circuit: no packet passes while it is closed. It is always driven step by step.

use crate::gate::Gate;
use crate::gate::drops::{DropReason, GateDrop};
use crate::gate::rate::{Circuit, Law};
use crate::unit::Unit;
use crate::units::Time;

impl Gate {
    fn circuit(&self) -> Option<&Circuit> {
        match &self.parts.law {
            Law::Circuit(circuit) => Some(circuit),
            _ => None,
        }
    }

    /// Opens the circuit at `at`; the service of the packet that has waited longest begins. Does nothing at a gate of
    /// another law.
    pub fn open_circuit(&mut self, at: Time) {
        let Law::Circuit(circuit) = &mut self.parts.law else { return };
        circuit.open(at);
        let rate = circuit.rate();
        self.parts.stats.set_rate(at, rate.bps() as f64);
        self.begin_next(at);
    }

    /// Closes the circuit at `at`, when no packet is in it.
    pub fn close_circuit(&mut self, at: Time) {
        let Law::Circuit(circuit) = &mut self.parts.law else { return };
        circuit.close(at);
        self.parts.stats.set_rate(at, 0.0);
    }

    /// Whether it is a circuit that is closed.
    #[cfg(test)]
    pub(crate) fn is_closed(&self) -> bool {
        self.circuit().is_some_and(|circuit| !circuit.is_open())
    }

    /// Picoseconds that a circuit was open inside the measured time.
    #[must_use]
    pub fn open_inside(&self) -> Option<u64> {
        self.circuit().map(Circuit::open_inside)
    }

    /// Drops a packet that [`Gate::handle_ingress`] has let through: its call was refused.
    pub(crate) fn refuse_call(&mut self, at: Time, unit: &Unit) -> GateDrop {
        self.refuse(at, unit, DropReason::Refused)
    }
}
