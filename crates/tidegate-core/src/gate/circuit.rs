//! A gate that is a circuit: its queue fills while it is closed. Driven step by step, always.

use crate::gate::rate::{Circuit, Law};
use crate::gate::{DropReason, Gate};
use crate::units::Time;

impl Gate {
    fn circuit(&self) -> Option<&Circuit> {
        match &self.law {
            Law::Circuit(circuit) => Some(circuit),
            _ => None,
        }
    }

    /// Packets pass from `at` on; the one that has waited longest is in service. Does nothing
    /// at a gate of another law.
    pub fn open_circuit(&mut self, at: Time) {
        let Law::Circuit(circuit) = &mut self.law else { return };
        circuit.open(at);
        let rate = circuit.rate();
        if let Some(recorder) = &mut self.recorder {
            recorder.set_rate(at, rate.bps() as f64);
        }
        self.begin_next();
    }

    /// No packet passes from `at` on; none is there.
    pub fn close_circuit(&mut self, at: Time) {
        let Law::Circuit(circuit) = &mut self.law else { return };
        circuit.close(at);
        if let Some(recorder) = &mut self.recorder {
            recorder.set_rate(at, 0.0);
        }
    }

    /// Whether it is a circuit that is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.circuit().is_some_and(|circuit| !circuit.is_open())
    }

    /// Picoseconds that a circuit was open inside the measured time.
    #[must_use]
    pub fn open_inside(&self) -> Option<u64> {
        self.circuit().map(Circuit::open_inside)
    }

    /// Throws a packet of so many IP bytes away at the door: its call was refused.
    pub fn refuse_call(&mut self, at: Time, bytes: u32) {
        let wire = self.weigh(bytes);
        self.note_arrival(at, wire);
        self.refuse(at, wire, DropReason::Refused);
    }
}
