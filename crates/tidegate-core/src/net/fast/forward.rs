//! The way of a unit: from the beginning of a stretch through its gates to the line behind it, and
//! from the end of the line on. [`super`] lists the ways that a unit can take.

use std::collections::VecDeque;

use crate::gate::{Count, GateDrop};
use crate::net::Network;
use crate::net::drops::Dropped;
use crate::net::fast::Half;
use crate::net::fast::passing::{All, Passing};
use crate::net::map::{Chain, Entry, NONE, Owner};
use crate::net::sources::{EventSource, SourceKind};
use crate::net::traffic::TrafficCounts;
use crate::unit::{HeldBy, Unit};
use crate::units::{Span, Time};

/// A line with room for more than this gives it back when it runs empty.
const LONG_LINE: usize = 64;

/// Units on their way from a gate to where several inputs meet, in order of arrival.
#[derive(Debug)]
pub(in crate::net) struct DelayLine {
    pub(in crate::net) units: VecDeque<(Time, Unit)>,
    pub(in crate::net) delay: Span,
    /// The gate that takes its units at the end of a service; [`NONE`]: each is an event.
    pub(in crate::net) taken_by: u32,
}

impl Network {
    /// A unit goes on after a line. Answers with when it comes to the end of which route,
    /// where that is now or certain.
    #[inline(always)]
    pub fn handle_arrival(&mut self, at: Time, mut unit: Unit) -> Option<(Time, usize, Unit)> {
        let chain = self.map.chains[unit.chain as usize];
        if chain.line != NONE {
            let at = self.forward(at, &mut unit)?;
            return Some((at, chain.route as usize, unit));
        }
        if chain.route < self.map.traffic_from {
            return Some((at, chain.route as usize, unit));
        }
        self.end_transit(at, chain.route, unit);
        None
    }

    /// The unit that comes to the end of a line.
    #[inline]
    pub(in crate::net) fn leave_line(&mut self, source: EventSource, line: usize) -> Option<(Time, Unit)> {
        crate::work::step();
        let line = &mut self.lines[line];
        let first = line.units.pop_front()?;
        match line.units.front() {
            // The gate wakes it again if it serves nothing.
            Some(_) if line.taken_by != NONE => {}
            Some((next, _)) => self.schedule.queue.wake_asleep(source, *next),
            // Back to the first place, which the cache still knows; a burst's room is freed.
            None if line.units.capacity() > LONG_LINE => line.units = VecDeque::new(),
            None => line.units.clear(),
        }
        Some(first)
    }

    /// A packet of background traffic has come to its end.
    #[inline]
    pub(in crate::net) fn end_transit(&mut self, at: Time, route: u32, unit: Unit) {
        self.count_delivered(at, route, Count { packets: 1, bytes: u64::from(unit.bytes) });
        let traffic = &mut self.traffic[(route - self.map.traffic_from) as usize];
        if let Some(transit) = &mut traffic.transit {
            transit.arrive(at, unit.handle);
        }
    }

    /// Packets of background traffic have come to their end.
    #[inline]
    pub(in crate::net) fn count_delivered(&mut self, at: Time, route: u32, packets: Count) {
        let traffic = &mut self.traffic[(route - self.map.traffic_from) as usize];
        TrafficCounts::note(&mut traffic.counts.delivered, self.reports.measured, at, packets);
    }

    /// A background source sends its next packet.
    pub(in crate::net) fn emit(&mut self, source: usize) {
        let traffic = &mut self.traffic[source];
        let Some((at, bytes)) = traffic.arrivals.next() else { return };
        let count = Count { packets: 1, bytes: u64::from(bytes) };
        TrafficCounts::note(&mut traffic.counts.sent, self.reports.measured, at, count);
        let route = traffic.route;
        let begins = traffic.arrivals.begun();
        let number = traffic.transit.as_mut().map_or(0, |transit| transit.send(at, begins));
        self.schedule.wake(SourceKind::Traffic, source, traffic.arrivals.peek());
        let ahead = self.handle_unit(at, route, &mut Unit::new(bytes, number, HeldBy::Application));
        debug_assert!(ahead.is_none(), "background traffic has no receiver");
    }

    /// Takes a unit from the beginning of a stretch to the line at its end, or says when it
    /// comes there if that is reported ahead of its time.
    #[inline(always)]
    pub(in crate::net) fn forward(&mut self, at: Time, unit: &mut Unit) -> Option<Time> {
        let chain = &self.map.chains[unit.chain as usize];
        if chain.slow {
            // A copy, so that the unit may stay in registers.
            let mut copy = *unit;
            let out = self.forward_slowly(at, &mut copy);
            *unit = copy;
            return out;
        }
        let mut at = at;
        for gate in &self.map.gates[chain.first as usize..chain.end as usize] {
            match self.gates[*gate as usize].pass(at, unit, &self.reports.measured) {
                Some(out) => at = out,
                None => return self.drop_ahead(*gate, *unit),
            }
        }
        if chain.ahead {
            return Some(at.saturating_add(chain.delay));
        }
        if let Some(half) = chain.half {
            unit.chain += 1;
            self.schedule.queue.send(half, at.saturating_add(chain.delay), *unit);
        } else {
            let line = chain.line;
            self.send(at, *unit, line);
        }
        None
    }

    /// Takes a unit through a first stretch of one gate to the other half, while halves take turns. What [`Network::forward`] does then.
    #[inline(always)]
    pub(in crate::net) fn send_to_half(
        &mut self,
        at: Time,
        unit: &mut Unit,
        (gate, delay): (u32, Span),
        half: Half,
    ) -> Option<Time> {
        let server = &mut self.gates[gate as usize];
        let Some(out) = server.pass_idle(at, unit, &self.reports.measured) else {
            return self.send_slowly(at, *unit, (gate, delay), half);
        };
        unit.chain += 1;
        self.schedule.queue.send(half, out + delay, *unit);
        None
    }

    /// [`Network::send_to_half`] where [`Gate::pass_idle`](crate::gate::Gate::pass_idle) does not apply, as at a gate that is busy or not
    /// plain.
    #[inline(never)]
    fn send_slowly(
        &mut self,
        at: Time,
        mut unit: Unit,
        (gate, delay): (u32, Span),
        half: Half,
    ) -> Option<Time> {
        match self.gates[gate as usize].pass_otherwise(at, &mut unit, &self.reports.measured) {
            Some(out) => {
                unit.chain += 1;
                self.schedule.queue.send(half, out.saturating_add(delay), unit);
                None
            }
            None => {
                self.reports.refused = unit;
                self.drop_refused(gate)
            }
        }
    }

    /// A gate driven ahead has dropped the unit that [`Reports::refused`] has.
    ///
    /// [`Reports::refused`]: crate::net::reports::Reports::refused
    #[cold]
    fn drop_refused(&mut self, gate: u32) -> Option<Time> {
        self.drop_ahead(gate, self.reports.refused)
    }

    /// Whether every unit that enters a route there reaches its end without an event and is delivered at once.
    #[must_use]
    pub fn carries_at_once(&self, entry: Entry) -> bool {
        let chain = &self.map.chains[entry.0 as usize];
        chain.ahead && !chain.slow
    }

    /// Many units enter a route at their times, as by [`Network::handle_unit_at`], where each is carried at once
    /// ([`Network::carries_at_once`]). Those that are not dropped stay, with the times at which they come to its end.
    pub fn handle_units_at(&mut self, entry: Entry, units: &mut Vec<(Time, Unit)>) {
        let chain = self.map.chains[entry.0 as usize];
        units.iter_mut().for_each(|(_, unit)| unit.chain = entry.0);
        let Network { gates, map, reports, .. } = self;
        let measured = reports.measured;
        let mut passing = Passing { map, gates: All { gates, reports }, measured };
        for place in chain.first..chain.end {
            if passing.pass_gate(map.gates[place as usize], units) {
                units.retain(|(_, unit)| unit.chain != NONE);
            }
        }
        units.iter_mut().for_each(|(at, _)| *at = at.saturating_add(chain.delay));
    }

    /// [`Network::forward`] on a slow stretch: cell gates, a gate driven step by step, or departures that TCP is informed of.
    #[inline(never)]
    pub(in crate::net) fn forward_slowly(&mut self, mut at: Time, unit: &mut Unit) -> Option<Time> {
        crate::work::step();
        let chain = self.map.chains[unit.chain as usize];
        if chain.crossing != NONE {
            self.enter_section(at, *unit, chain.crossing);
            return None;
        }
        if chain.steps {
            self.enter_gate(at, *unit, chain);
            return None;
        }
        for place in chain.first..chain.end {
            let gate = self.map.gates[place as usize];
            let Some(out) = self.gates[gate as usize].pass(at, unit, &self.reports.measured) else {
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
    pub(in crate::net) fn send(&mut self, at: Time, mut unit: Unit, line_number: u32) {
        crate::work::step();
        unit.chain += 1;
        let line = &mut self.lines[line_number as usize];
        let at = at.saturating_add(line.delay);
        let late = line.taken_by != NONE && self.gates[line.taken_by as usize].is_serving();
        if line.units.is_empty() && !late {
            self.schedule.wake(SourceKind::Line, line_number as usize, at);
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

    /// A gate has dropped a unit.
    #[cold]
    pub(in crate::net) fn drop(&mut self, gate: u32, GateDrop { at, reason }: GateDrop, unit: Unit) {
        let route = self.map.chains[unit.chain as usize].route;
        let owner = self.map.owner(route);
        self.note_drop(Dropped { at, gate: gate as usize, owner, reason, unit }, route);
    }

    /// A unit of this route was dropped.
    #[cold]
    pub(in crate::net) fn note_drop(&mut self, dropped: Dropped, route: u32) {
        if let Owner::Traffic(source) = dropped.owner
            && let Some(transit) = &mut self.traffic[source].transit
        {
            transit.lose(dropped.at, dropped.unit.handle);
        }
        self.reports.note_drop(dropped, route);
    }

    /// A flow's data unit leaves a gate of its own machine; it arrives at what comes next at `out`.
    #[cold]
    pub(in crate::net) fn note_departure(&mut self, gate: u32, chain: Chain, out: Time) {
        let gate = gate as usize;
        if self.reports.departures.is_host(gate) {
            let end = self.gates[gate].end_before(out);
            self.inform_of_departure(gate, end, chain.route / 2);
        }
    }

    /// The TCP of a flow is to be informed that a unit left a gate at `end`.
    pub(in crate::net) fn inform_of_departure(&mut self, gate: usize, end: Time, flow: u32) {
        let first = self.reports.departures.push(gate, end, flow);
        self.schedule.wake(SourceKind::Gate, gate, first);
    }
}
