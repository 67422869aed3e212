//! The way of a unit: from the beginning of a stretch through its gates to the line behind it, and
//! from the end of the line on.

use std::collections::VecDeque;

use crate::gate::{Count, GateDrop};
use crate::net::events::Source;
use crate::net::routes::{Chain, NONE};
use crate::net::{Dropped, Network, Owner, TrafficCounts};
use crate::unit::{HeldBy, Unit};
use crate::units::{Span, Time};

/// A line with room for more than this gives it back when it runs empty.
const LONG_LINE: usize = 64;

/// Units on their way from a gate to where several inputs meet, in order of arrival.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) units: VecDeque<(Time, Unit)>,
    pub(super) delay: Span,
}

impl Network {
    /// A unit goes on after a line. Answers with when it comes to the end of which route,
    /// where that is now or certain.
    #[inline(always)]
    pub fn arrive(&mut self, at: Time, mut unit: Unit) -> Option<(Time, usize, Unit)> {
        let chain = self.chains[unit.chain as usize];
        if chain.line != NONE {
            let at = self.forward(at, &mut unit)?;
            return Some((at, chain.route as usize, unit));
        }
        if chain.route < self.traffic_routes {
            return Some((at, chain.route as usize, unit));
        }
        self.count_delivered(at, chain.route, Count { packets: 1, bytes: u64::from(unit.bytes) });
        None
    }

    /// The unit that comes to the end of a line.
    #[inline]
    pub(super) fn leave_line(&mut self, source: Source) -> Option<(Time, Unit)> {
        crate::work::step();
        let line = &mut self.lines[(source - self.line_sources) as usize];
        let first = line.units.pop_front()?;
        match line.units.front() {
            Some((next, _)) => self.events.wake_asleep(source, *next),
            // Back to the first place, which the cache still knows; a burst's room is freed.
            None if line.units.capacity() > LONG_LINE => line.units = VecDeque::new(),
            None => line.units.clear(),
        }
        Some(first)
    }

    /// Packets of background traffic have come to their end.
    #[inline]
    pub(super) fn count_delivered(&mut self, at: Time, route: u32, packets: Count) {
        let traffic = &mut self.traffic[(route - self.traffic_routes) as usize];
        TrafficCounts::note(&mut traffic.counts.delivered, self.measured, at, packets);
    }

    /// A background source sends its next packet.
    pub(super) fn emit(&mut self, source: Source) {
        let Some(traffic) = self.traffic.get_mut((source - self.traffic_sources) as usize) else {
            return self.hear_circuits(self.now);
        };
        let Some((at, bytes)) = traffic.arrivals.next() else { return };
        let count = Count { packets: 1, bytes: u64::from(bytes) };
        TrafficCounts::note(&mut traffic.counts.sent, self.measured, at, count);
        let route = traffic.route;
        self.events.wake(source, traffic.arrivals.peek());
        let told = self.enter(at, route, &mut Unit::new(bytes, 0, HeldBy::Application));
        debug_assert!(told.is_none(), "background traffic has no receiver");
    }

    /// Takes a unit from the beginning of a stretch to the line at its end, or says when it
    /// comes there if that is told ahead.
    #[inline(always)]
    pub(super) fn forward(&mut self, at: Time, unit: &mut Unit) -> Option<Time> {
        let chain = &self.chains[unit.chain as usize];
        if chain.slow {
            // A copy, so that the unit may stay in registers.
            let mut copy = *unit;
            let out = self.forward_slowly(at, &mut copy);
            *unit = copy;
            return out;
        }
        let mut at = at;
        if chain.first != chain.end {
            for gate in &self.chain_gates[chain.first as usize..chain.end as usize] {
                match self.gates[*gate as usize].pass(at, unit, &self.measured) {
                    Some(out) => at = out,
                    None => return self.drop_ahead(*gate, *unit),
                }
            }
        }
        if chain.series != NONE {
            match self.cascades[chain.series as usize].pass(at, unit, &mut self.gates) {
                Ok(out) => at = out,
                Err(gate) => return self.drop_ahead(gate, *unit),
            }
        }
        if chain.ahead {
            return Some(at.saturating_add(chain.delay));
        }
        if let Some(half) = chain.half {
            unit.chain += 1;
            self.events.send(half, at.saturating_add(chain.delay), *unit);
        } else {
            let line = chain.line;
            self.send(at, *unit, line);
        }
        None
    }

    /// The same step by step, or where TCP hears departures.
    #[inline(never)]
    pub(super) fn forward_slowly(&mut self, mut at: Time, unit: &mut Unit) -> Option<Time> {
        crate::work::step();
        let chain = self.chains[unit.chain as usize];
        if chain.circuit != NONE {
            self.enter_section(at, *unit, chain.circuit);
            return None;
        }
        if chain.steps {
            self.enter_gate(at, *unit, chain);
            return None;
        }
        for place in chain.first..chain.end {
            let gate = self.chain_gates[place as usize];
            let Some(out) = self.gates[gate as usize].pass(at, unit, &self.measured) else {
                return self.drop_ahead(gate, *unit);
            };
            self.note_departure(gate, chain, out);
            at = out;
        }
        if chain.ahead {
            return Some(at.saturating_add(chain.delay));
        }
        self.send(at, *unit, chain.line);
        None
    }

    /// Puts a unit on the line before its next stretch.
    #[inline]
    pub(super) fn send(&mut self, at: Time, mut unit: Unit, line_number: u32) {
        crate::work::step();
        unit.chain += 1;
        let line = &mut self.lines[line_number as usize];
        let at = at.saturating_add(line.delay);
        if line.units.is_empty() {
            self.events.wake(self.line_sources + line_number, at);
        }
        line.units.push_back((at, unit));
    }

    /// A gate driven ahead has dropped a unit.
    #[cold]
    fn drop_ahead(&mut self, gate: u32, unit: Unit) -> Option<Time> {
        if let Some(drop) = self.gates[gate as usize].last_drop() {
            self.drop(gate, drop, unit);
        }
        None
    }

    #[cold]
    pub(super) fn drop(&mut self, gate: u32, GateDrop { at, reason }: GateDrop, unit: Unit) {
        let route = self.chains[unit.chain as usize].route;
        let owner = self.owner(route);
        self.note_drop(Dropped { at, gate: gate as usize, owner, reason, unit }, route);
    }

    pub(super) fn owner(&self, route: u32) -> Owner {
        match route.checked_sub(self.traffic_routes) {
            Some(traffic) => Owner::Traffic(traffic as usize),
            None if route.is_multiple_of(2) => Owner::Data(route as usize / 2),
            None => Owner::Back(route as usize / 2),
        }
    }

    /// A flow's data unit leaves a gate of its own machine; it arrives at what comes next at `out`.
    #[cold]
    pub(super) fn note_departure(&mut self, gate: u32, chain: Chain, out: Time) {
        if self.hosts[gate as usize] {
            let end = self.gates[gate as usize].end_before(out);
            let departures = &mut self.departures[gate as usize];
            departures.push_back((end, chain.route / 2));
            self.events.wake(gate, departures[0].0);
        }
    }
}
