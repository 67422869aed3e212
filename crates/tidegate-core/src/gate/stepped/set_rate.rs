//! A gate whose rate the network sets during the run. It is always driven step by step.

use crate::gate::Gate;
use crate::gate::rate::{Allocated, Law, SetSpeed};
use crate::units::{Rate, Time};

impl Gate {
    fn set_speed(&self) -> Option<&SetSpeed> {
        match &self.parts.law {
            Law::SetSpeed(server) => Some(server),
            _ => None,
        }
    }

    /// Sets the rate from `at` on; services that end before `at` must have been ended. Does nothing at a gate of
    /// another law.
    pub fn set_rate(&mut self, at: Time, rate: Rate) {
        let Law::SetSpeed(server) = &mut self.parts.law else { return };
        if rate == server.rate() {
            return;
        }
        let end = server.set(at, rate);
        self.parts.ingress.note_rate(rate);
        self.parts.stats.set_rate(at, rate.bps() as f64);
        if let Some(end) = end {
            self.reschedule(end);
        }
        self.begin_next(at);
    }

    /// The rate in force, where the network sets it.
    #[must_use]
    pub fn rate_set(&self) -> Option<Rate> {
        self.set_speed().map(SetSpeed::rate)
    }

    /// Statistics of the rates that the network set, inside the measured time.
    #[must_use]
    pub fn allocated(&self) -> Option<Allocated> {
        self.set_speed().map(SetSpeed::inside)
    }

    /// The capacity from the start to `at`, in 10⁻¹² bit, where the network sets the rate or opens circuits; else 0.
    #[must_use]
    pub fn offered_until(&self, at: Time) -> u128 {
        match &self.parts.law {
            Law::SetSpeed(server) => server.offered_until(at),
            Law::Circuit(circuit) => circuit.offered_until(at),
            _ => 0,
        }
    }
}
