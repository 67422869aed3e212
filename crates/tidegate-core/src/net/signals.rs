//! Signals: what a gate publishes at the end of each slot, delivered after a lag. A slot's
//! value is complete when its end comes: units that reach the gate at that instant belong to
//! the next slot.

use std::collections::VecDeque;

use crate::gate::rate::{CapacityMeter, mean_speed};
use crate::gate::{Gate, rate_stream};
use crate::plan::{Plan, SignalKind, SignalPlan};
use crate::random::Seed;
use crate::units::{Span, Time};

/// One published signal on its way.
#[derive(Debug)]
pub(super) struct Signal {
    gate: usize,
    /// Index of the gate's tally that counts for this signal, where it is about arrivals or drops.
    tally: Option<usize>,
    kind: SignalKind,
    every: Span,
    lag: Span,
    slot_end: Time,
    capacity: Meter,
    /// Values on their way, with the instant each arrives.
    coming: VecDeque<(Time, u64)>,
}

/// The capacity of a rate law over the slots.
#[derive(Debug)]
enum Meter {
    Known(CapacityMeter),
    /// The network sets the rate, and the gate itself knows; this much was offered before the present slot.
    Set(u128),
}

impl Meter {
    /// Mean work per second over `[from, until)` of `gate`, rounded down.
    fn mean(&mut self, gate: &Gate, from: Time, until: Time) -> u64 {
        let offered = match self {
            Meter::Known(meter) => meter.offered(from, until),
            Meter::Set(before) => {
                let offered = gate.offered_until(until);
                offered - std::mem::replace(before, offered)
            }
        };
        mean_speed(offered, from, until)
    }
}

impl Signal {
    pub(super) fn new(row: &SignalPlan, plan: &Plan, seed: Seed, gates: &mut [Gate]) -> Signal {
        let publisher = &plan.gates[row.gate];
        let meter = CapacityMeter::new(&publisher.rate, rate_stream(publisher, seed));
        Signal {
            gate: row.gate,
            tally: (row.kind != SignalKind::Capacity).then(|| gates[row.gate].add_tally(row.every)),
            kind: row.kind,
            every: row.every,
            lag: row.lag,
            slot_end: Time::ZERO.saturating_add(row.every),
            capacity: meter.map_or(Meter::Set(0), Meter::Known),
            coming: VecDeque::new(),
        }
    }

    /// End of the present slot.
    pub(super) fn slot_end(&self) -> Time {
        self.slot_end
    }

    /// The slot is over: its value is under way, and the next slot begins.
    pub(super) fn publish(&mut self, gates: &mut [Gate]) {
        let slot = self.tally.map(|tally| gates[self.gate].take_slot(tally)).unwrap_or_default();
        let begin = Time::from_picos(self.slot_end.picos() - self.every.picos());
        let value = match self.kind {
            SignalKind::Capacity => self.capacity.mean(&gates[self.gate], begin, self.slot_end),
            SignalKind::Arrivals => slot.arrived_bytes,
            SignalKind::Drops => slot.dropped,
        };
        self.coming.push_back((self.slot_end.saturating_add(self.lag), value));
        self.slot_end = self.slot_end.saturating_add(self.every);
    }

    /// When the first value under way arrives.
    pub(super) fn next_value(&self) -> Time {
        self.coming.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The first value under way, with the time of its arrival.
    pub(super) fn poll_value(&mut self) -> Option<(Time, u64)> {
        self.coming.pop_front()
    }
}
