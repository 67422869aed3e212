//! What the whole network adds to the walk of units ([`super::walk`]): the delay lines between stretches, and the ends of the routes of
//! background traffic. [`super`] lists the ways that a unit can take.

use std::collections::VecDeque;

use crate::gate::{Count, Gate};
use crate::net::Network;
use crate::net::drops::Dropped;
use crate::net::fast::directions::Direction;
use crate::net::fast::stretch::FastStretch;
use crate::net::fast::walk::Walk;
use crate::net::map::{Entry, NONE, Owner, RouteMap, Stretch};
use crate::net::sources::{EventSource, SourceKind};
use crate::net::traffic::TrafficCounts;
use crate::unit::{HeldBy, Unit};
use crate::units::{Measured, Span, Time};

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
        match self.go_on_after_line(at, &mut unit) {
            Some((at, route)) => Some((at, route, unit)),
            None => self.poll_delivery(),
        }
    }

    /// [`Network::handle_arrival`] for the first unit of a line, if the line has one.
    #[inline(always)]
    pub fn handle_line(&mut self, at: Time, source: EventSource, line: usize) -> Option<(Time, usize, Unit)> {
        crate::work::step();
        let mut unit = self.lines[line].units.front()?.1;
        self.shorten_line(source, line);
        match self.go_on_after_line(at, &mut unit) {
            Some((at, route)) => Some((at, route, unit)),
            None => self.poll_delivery(),
        }
    }

    #[inline(always)]
    fn go_on_after_line(&mut self, at: Time, unit: &mut Unit) -> Option<(Time, usize)> {
        let &Stretch { line, route, .. } = &self.map.stretches[unit.stretch as usize];
        if line != NONE {
            let at = self.enter_stretch(at, unit)?;
            return Some((at, route as usize));
        }
        if route < self.map.traffic_from {
            return Some((at, route as usize));
        }
        self.end_transit(at, route, *unit);
        None
    }

    /// The first unit of a line leaves it.
    #[inline(always)]
    fn shorten_line(&mut self, source: EventSource, line: usize) {
        let line = &mut self.lines[line];
        line.units.pop_front();
        match line.units.front() {
            // The gate wakes it again if it serves nothing.
            Some(_) if line.taken_by != NONE => {}
            Some((next, _)) => self.schedule.queue.wake_asleep(source, *next),
            // Back to the first place, which the cache still knows; a burst's room is freed.
            None if line.units.capacity() > LONG_LINE => line.units = VecDeque::new(),
            None => line.units.clear(),
        }
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

    /// Whether every unit that enters a route there reaches its end without an event and is delivered at once.
    #[must_use]
    pub fn carries_at_once(&self, entry: Entry) -> bool {
        let stretch = &self.map.stretches[entry.0 as usize];
        stretch.ahead && !stretch.slow_path
    }

    /// The TCP of a flow is to be informed that a unit left a gate at `end`.
    pub(in crate::net) fn inform_of_departure(&mut self, gate: usize, end: Time, flow: u32) {
        let first = self.reports.departures.push(gate, end, flow);
        self.schedule.wake(SourceKind::Gate, gate, first);
    }
}

impl Walk for Network {
    type Gates = [Gate];

    #[inline(always)]
    fn map(&self) -> &RouteMap {
        &self.map
    }

    #[inline(always)]
    fn stretches(&self) -> &[FastStretch] {
        &self.fast.stretches
    }

    #[inline(always)]
    fn stretches_and_gates(&mut self) -> (&[FastStretch], &mut [Gate]) {
        (&self.fast.stretches, &mut self.gates)
    }

    #[inline(always)]
    fn measured(&self) -> Measured {
        self.reports.measured
    }

    #[cold]
    fn note_drop(&mut self, dropped: Dropped, route: u32) {
        if let Owner::Traffic(source) = dropped.owner
            && let Some(transit) = &mut self.traffic[source].transit
        {
            transit.lose(dropped.at, dropped.unit.handle);
        }
        self.reports.note_drop(dropped, route);
    }

    #[inline(always)]
    fn send_in_direction(&mut self, direction: Direction, at: Time, unit: Unit) {
        self.schedule.queue.send(direction, at, unit.on_next_stretch());
    }

    #[inline]
    fn send_to_line(&mut self, at: Time, unit: Unit, line_number: u32) {
        crate::work::step();
        let line = &mut self.lines[line_number as usize];
        let at = at.saturating_add(line.delay);
        let late = line.taken_by != NONE && self.gates[line.taken_by as usize].is_serving();
        if line.units.is_empty() && !late {
            self.schedule.wake(SourceKind::Line, line_number as usize, at);
        }
        line.units.push_back((at, unit.on_next_stretch()));
    }

    #[inline(never)]
    fn leave_to_events(&mut self, at: Time, unit: &Unit) -> bool {
        crate::work::step();
        let &Stretch { crossing, steps, .. } = &self.map.stretches[unit.stretch as usize];
        if crossing != NONE {
            self.enter_section(at, *unit, crossing);
        } else if steps {
            self.enter_gate(at, unit);
        }
        crossing != NONE || steps
    }

    #[cold]
    fn note_departure(&mut self, gate: u32, route: u32, out: Time) {
        let gate = gate as usize;
        if self.reports.departures.is_host(gate) {
            let end = self.gates[gate].end_before(out);
            self.inform_of_departure(gate, end, route / 2);
        }
    }
}
