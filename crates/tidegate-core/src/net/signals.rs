//! Signals: what a gate publishes at the end of each slot, delivered after a lag. A slot's
//! value is complete when its end comes: units that reach the gate at that instant belong to
//! the next slot.

use std::collections::VecDeque;

use crate::gate::rate::{Cursor, Profile};
use crate::gate::{Gate, rate_stream};
use crate::plan::{Course, Plan, RatePlan, SignalKind, SignalPlan};
use crate::random::{Seed, Stream};
use crate::units::{Measured, Span, Time};

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

/// Walks the capacity of a rate law, apart from the server, which may be ahead.
#[derive(Debug)]
enum Meter {
    Constant(u64),
    Profile(Box<Profile>),
    Opportunities(Cursor),
    /// The gate itself knows; this much was offered before the present slot.
    SetSpeed(u128),
}

impl Meter {
    fn new(plan: &RatePlan, stream: Stream) -> Meter {
        match plan.course() {
            Course::Unlimited => Meter::Constant(u64::MAX),
            Course::Constant(speed) => Meter::Constant(speed),
            Course::Pieces => Meter::Profile(Box::new(Profile::new(plan, stream))),
            Course::Set(_) => Meter::SetSpeed(0),
            Course::Opportunities(trace, at_end) => Meter::Opportunities(Cursor::new(trace.clone(), at_end)),
        }
    }

    /// Mean work per second over `[from, until)` of `gate`, rounded down.
    fn mean(&mut self, gate: &Gate, from: Time, until: Time) -> u64 {
        let slot = Measured { from, until };
        let span = u128::from(slot.overlap(Time::ZERO, Time::NEVER));
        let work: u128 = match self {
            Meter::Constant(speed) => return *speed,
            Meter::Profile(profile) => {
                let mut work = 0;
                loop {
                    let stretch = profile.now();
                    work += u128::from(slot.overlap(stretch.from, stretch.until)) * u128::from(stretch.speed);
                    if stretch.until >= until {
                        break work;
                    }
                    profile.advance();
                }
            }
            Meter::Opportunities(cursor) => {
                let mut bytes = 0u128;
                while cursor.at() < until {
                    bytes += u128::from(cursor.bytes());
                    cursor.step();
                }
                bytes * 8 * u128::from(crate::units::PICOS_PER_SECOND)
            }
            Meter::SetSpeed(before) => {
                let offered = gate.offered_until(until);
                offered - std::mem::replace(before, offered)
            }
        };
        u64::try_from(work / span).unwrap_or(u64::MAX)
    }
}

impl Signal {
    pub(super) fn new(row: &SignalPlan, plan: &Plan, seed: Seed, gates: &mut [Gate]) -> Signal {
        let publisher = &plan.gates[row.gate];
        Signal {
            gate: row.gate,
            tally: (row.kind != SignalKind::Capacity).then(|| gates[row.gate].add_tally(row.every)),
            kind: row.kind,
            every: row.every,
            lag: row.lag,
            slot_end: Time::ZERO.saturating_add(row.every),
            capacity: Meter::new(&publisher.rate, rate_stream(publisher, seed)),
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
