//! A circuit: it has no rate until it is opened, then a constant one until it is closed.
//!
//! Example: 1000 bytes arrive at 0 s at a circuit of 1 Mbit/s that opens at 2 ms. Their service ends at 10 ms.

use crate::gate::rate::{Capacity, Constant, Service};
use crate::units::{Measured, Rate, Time};

/// A server that works while it is open. It is closed only when it has nothing to do.
#[derive(Clone, Debug)]
pub struct Circuit {
    server: Constant,
    /// When it was opened last.
    opened: Option<Time>,
    /// Picoseconds that it was open before that.
    before: u128,
    /// Picoseconds that it was open inside the measured time, before that.
    inside: u64,
    measured: Measured,
}

impl Circuit {
    /// A closed circuit of `rate`, above zero.
    #[must_use]
    pub fn new(rate: Rate, measured: Measured) -> Circuit {
        Circuit { server: Constant::new(rate.bps()), opened: None, before: 0, inside: 0, measured }
    }

    /// When a unit would begin.
    pub(super) fn next_start(&self, arrival: Time) -> Time {
        self.opened.map_or(Time::NEVER, |opened| arrival.max(opened).max(self.server.free))
    }

    /// Services stated while it is closed never happen.
    pub(super) fn transmit(&mut self, arrival: Time, bits: u64) -> Service {
        let Some(opened) = self.opened else { return Service { start: Time::NEVER, end: Time::NEVER } };
        self.server.transmit(arrival.max(opened), bits)
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    /// The rate while it is open.
    #[must_use]
    pub fn rate(&self) -> Rate {
        Rate::from_bps(self.server.server.speed())
    }

    /// Opens it at `at`.
    pub fn open(&mut self, at: Time) {
        self.opened.get_or_insert(at);
    }

    /// Closes it at `at`, when no packet is in it.
    pub fn close(&mut self, at: Time) {
        if let Some(opened) = self.opened.take() {
            self.before += u128::from(at.saturating_since(opened).picos());
            self.inside += self.measured.overlap(opened, at);
        }
    }

    /// Picoseconds that it was open inside the measured time, if it stays as it is to the end.
    #[must_use]
    pub fn open_inside(&self) -> u64 {
        self.inside + self.opened.map_or(0, |opened| self.measured.overlap(opened, Time::NEVER))
    }

    /// The capacity from the start of the run to `at`, in 10⁻¹² bit.
    #[must_use]
    pub fn offered_until(&self, at: Time) -> u128 {
        let present = self.opened.map_or(0, |opened| at.saturating_since(opened).picos());
        (self.before + u128::from(present)) * u128::from(self.server.server.speed())
    }

    pub(super) fn capacity(&self) -> Capacity {
        let offered = u128::from(self.open_inside()) * u128::from(self.server.server.speed());
        Capacity { offered, unused: None, in_transit: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBPS: u64 = 1_000_000;

    fn millis(at: u64) -> Time {
        Time::from_picos(at * 1_000_000_000)
    }

    #[test]
    fn it_works_while_it_is_open() {
        let measured = Measured { from: millis(5), until: millis(100) };
        let mut circuit = Circuit::new(Rate::from_bps(MBPS), measured);
        assert_eq!(circuit.transmit(Time::ZERO, 8), Service { start: Time::NEVER, end: Time::NEVER });
        circuit.open(millis(2));
        assert_eq!(circuit.transmit(Time::ZERO, 8000), Service { start: millis(2), end: millis(10) });
        assert_eq!(circuit.transmit(millis(3), 8000), Service { start: millis(10), end: millis(18) });
        circuit.close(millis(20));
        assert!(!circuit.is_open());
        assert_eq!(circuit.open_inside(), 15_000_000_000);
        assert_eq!(circuit.offered_until(millis(50)), 18_000_000_000 * u128::from(MBPS));
        circuit.open(millis(90));
        assert_eq!(circuit.open_inside(), 25_000_000_000);
        assert_eq!(circuit.transmit(millis(90), 1000), Service { start: millis(90), end: millis(91) });
    }
}
