//! The network: gates, routes, background traffic and the events between them. It lies
//! between the TCP endpoints in every engine; nothing of a scenario is interpreted outside.
//!
//! What comes in is handed to a method `handle_…`, what comes out is asked for by `poll_…`, and
//! [`Network::next_wakeup`] says when to ask again. Call order: [`Network::poll_step`] until it has
//! nothing more before an instant, then [`Network::handle_unit`] for units at that instant, and so on.
//! Waking late, early or at odd instants changes no departure: a unit carries the time it is due.
//!
//! Time. Events are handled in the order of time, and at one instant in the order of their sources
//! (`sources`). [`Network::now`] is when the event happened that was handled last, and nothing that comes in
//! may be earlier. `now` goes back in two cases only. While directions alternate ([`Network::alternate`]) this order
//! holds for the events of each direction: when the direction changes, or directions stop alternating, `now` goes back to the first
//! event of the other direction, by less than both leads together. Meanwhile an end that is handed deliveries ahead of
//! their time may send earlier than `now`, by less than that as well: what it sends is still to come in its direction. And
//! a section of cell gates wakes a picosecond after an instant, when every cell of that instant is known: what it puts
//! out may arrive at the instant itself.

mod build;
mod carrier;
mod control;
mod drops;
mod events;
mod fast;
mod horizon;
mod interarrival;
mod map;
mod media_frames;
mod reports;
mod routes;
mod schedule;
mod sections;
mod serving;
mod settings;
mod signals;
mod sources;
mod step;
mod summary;
mod traffic;
mod transit;

pub use carrier::Carrier;
pub use control::{Admission, Answer, CallClass, CallCounts, Grant, PoolUse};
pub use drops::{DropCounts, Dropped};
pub use fast::{Cohort, Direction, Run};
pub use interarrival::InterarrivalJitter;
pub use map::{Entry, Owner};
pub use media_frames::MediaFrames;
pub use settings::{measured, precision, seed, traffic_precision};
pub use sources::EventSource;
pub use step::{Event, Step};
pub use traffic::{TrafficCounts, start_time};
pub use transit::Transit;

use crate::gate::{AckView, Gate};
use crate::net::control::Controls;
use crate::net::events::Next;
use crate::net::fast::{DelayLine, FastPaths, RunningOn, Walk};
use crate::net::horizon::Horizon;
use crate::net::map::{NONE, RouteMap};
use crate::net::reports::Reports;
use crate::net::schedule::Schedule;
use crate::net::sections::Sections;
use crate::net::signals::Signal;
use crate::net::sources::SourceKind;
use crate::net::traffic::Traffic;
use crate::unit::Unit;
use crate::units::{Span, Time};

/// The network of a plan.
#[derive(Debug)]
pub struct Network {
    gates: Vec<Gate>,
    map: RouteMap,
    fast: FastPaths,
    lines: Vec<DelayLine>,
    /// The gates of each route that have an ACK filter; empty where none has.
    filters: Vec<Vec<u32>>,
    /// By gate.
    running_on: Vec<RunningOn>,
    sections: Sections,
    controls: Controls,
    signals: Vec<Signal>,
    traffic: Vec<Traffic>,
    schedule: Schedule,
    reports: Reports,
    horizon: Horizon,
}

impl Network {
    /// Asks that deliveries at the end of a flow's route be reported as soon as they are certain,
    /// ahead of their time, by [`Network::handle_unit`] and [`Network::poll_step`]. The answers of the endpoint
    /// there enter the flow's other route ahead of their time as well.
    ///
    /// Returns whether it will be so: with `exact` it is not. Nor is it where an answer could come to a gate before
    /// something earlier, where the departures of answers are reported to TCP, or where the first gate of the other
    /// route is driven step by step or counts cells. The last gate of this route may be driven step by step only if
    /// its departures are certain, and may not be a cell gate.
    pub fn deliver_ahead(&mut self, route: usize) -> bool {
        let (there, answers) = (self.map.stretches(route), self.map.stretches(route ^ 1));
        if !self.map.private_entries[route ^ 1] || self.map.stretches[answers.start].notify {
            return false;
        }
        match &mut self.map.stretches[there] {
            [.., last, _end] if (last.steps && !last.certain) || last.crossing != NONE => return false,
            [.., last, _end] => last.ahead = true,
            _ => {}
        }
        true
    }

    /// Whether what becomes of a unit of a route is certain when it enters, once the end of the route is reported ahead.
    #[must_use]
    pub fn is_certain_at_once(&self, route: usize) -> bool {
        matches!(&self.map.stretches[self.map.stretches(route)], [only, _end] if !only.slow_path)
    }

    /// A unit enters a route at `at`, which is never before what entered there last, nor before the last event unless
    /// directions alternate. The data of flow n take route 2·n, what comes back takes route 2·n + 1.
    /// Returns when the unit comes to the route's end if that is certain and reported ahead
    /// ([`Network::deliver_ahead`]).
    #[inline(always)]
    pub fn handle_unit(&mut self, at: Time, route: usize, unit: &mut Unit) -> Option<Time> {
        self.handle_unit_at(at, self.entry(route), unit)
    }

    /// [`Network::handle_unit`] for an engine that knows the route's entry ([`Network::entry`]).
    #[inline(always)]
    pub fn handle_unit_at(&mut self, at: Time, entry: Entry, unit: &mut Unit) -> Option<Time> {
        debug_assert!(self.schedule.may_happen(at), "{at} is before {}", self.schedule.now);
        unit.stretch = entry.0;
        self.enter(at, unit)
    }

    /// Notes what the ACK filters of a route read of the TCP packet that enters it next with this handle. No two units
    /// of such routes are in the network with one handle.
    pub fn note_view(&mut self, route: usize, handle: u32, view: AckView) {
        for gate in self.filters.get(route).into_iter().flatten() {
            self.gates[*gate as usize].note_view(route as u32, handle, view);
        }
    }

    /// Where a route begins.
    #[inline]
    #[must_use]
    pub fn entry(&self, route: usize) -> Entry {
        Entry(self.map.first[route])
    }

    /// Sets an alarm unless it rings earlier anyway; ringing early must do no harm.
    #[inline]
    pub fn set_alarm(&mut self, alarm: usize, at: Time) {
        self.schedule.wake(SourceKind::Alarm, alarm, at);
    }

    /// When the last event happened.
    #[must_use]
    pub fn now(&self) -> Time {
        self.schedule.now
    }

    /// No event happens before this.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        if self.reports.dropped.is_empty() { self.schedule.queue.next() } else { self.schedule.now }
    }

    /// No unit comes to the end of a flow's route before this, unless more enters or a fed-back
    /// rate changes; asked again after the next event it may be later, never earlier than that event.
    #[must_use]
    pub fn next_delivery(&self) -> Time {
        let due = |kind: SourceKind, leads: &[Span]| {
            let count = self.schedule.sources.numbers(kind).len();
            let due = |(index, lead): (usize, &Span)| self.schedule.due(kind, index).saturating_add(*lead);
            leads.iter().take(count).enumerate().map(due).min()
        };
        let gates = due(SourceKind::Gate, &self.horizon.gates);
        let lines = due(SourceKind::Line, &self.horizon.lines);
        gates.into_iter().chain(lines).min().unwrap_or(Time::NEVER)
    }

    /// The next thing that happens before `until`, if anything does.
    pub fn poll_step(&mut self, until: Time) -> Option<Step> {
        loop {
            if let Some(dropped) = self.poll_drop() {
                return Some(Step::Drop(dropped));
            }
            if let Some((at, route, unit)) = self.poll_delivery() {
                return Some(Step::Deliver { at, route, unit });
            }
            let step = match self.poll_event(until)? {
                Event::Arrival { at, unit } => {
                    self.handle_arrival(at, unit).map(|(at, route, unit)| Step::Deliver { at, route, unit })
                }
                Event::Line { at, source, line } => self
                    .handle_line(at, source, line)
                    .map(|(at, route, unit)| Step::Deliver { at, route, unit }),
                Event::Wakeup { at, source } => self.handle_wakeup(at, source),
            };
            if step.is_some() {
                return step;
            }
        }
    }

    /// A unit that was dropped and has not been reported yet. An engine that wants to be fast asks, in place
    /// of [`Network::poll_step`], for this until there is none, then for [`Network::poll_event`], and hands
    /// that to [`Network::handle_arrival`], [`Network::handle_line`] or [`Network::handle_wakeup`].
    #[inline]
    pub fn poll_drop(&mut self) -> Option<Dropped> {
        self.reports.dropped.pop_front()
    }

    /// The drops that [`Network::poll_drop`] will report next.
    pub fn unreported_drops(&self) -> impl Iterator<Item = &Dropped> {
        self.reports.dropped.iter()
    }

    /// A further delivery that is certain, beside the one that an event has reported. An engine that does not use
    /// [`Network::poll_step`] asks for this until there is none whenever an event has reported a delivery.
    #[inline]
    pub fn poll_delivery(&mut self) -> Option<(Time, usize, Unit)> {
        self.reports.deliveries.pop_front()
    }

    /// The next event before `until`.
    #[inline(always)]
    pub fn poll_event(&mut self, until: Time) -> Option<Event> {
        match self.schedule.pop_before(until)? {
            Next::Arrival(at, unit) => Some(Event::Arrival { at, unit }),
            Next::Source(at, source) => {
                let line = self.schedule.sources.index_of(SourceKind::Line, source);
                Some(line.map_or(Event::Wakeup { at, source }, |line| Event::Line { at, source, line }))
            }
        }
    }

    /// An event source other than a delay line wakes.
    pub fn handle_wakeup(&mut self, at: Time, source: EventSource) -> Option<Step> {
        crate::work::step();
        let (kind, index) = self.schedule.sources.source(source);
        match kind {
            SourceKind::Gate => return self.serve_gate(at, index),
            SourceKind::Channel | SourceKind::Follower | SourceKind::Abr | SourceKind::Circuits => {
                self.wake_control(at, kind, index);
            }
            SourceKind::SlotEnd => self.end_slot(index),
            SourceKind::SignalValue => return self.poll_signal(index),
            SourceKind::Line => unreachable!("lines have an event of their own"),
            SourceKind::Alarm => return Some(Step::Alarm { at, alarm: index }),
            SourceKind::Traffic => self.emit(index),
            SourceKind::LateEvent => self.handle_late_events(at),
        }
        None
    }

    /// A slot of a signal ends.
    #[cold]
    fn end_slot(&mut self, signal: usize) {
        let ended = &mut self.signals[signal];
        ended.publish(&mut self.gates);
        self.schedule.wake(SourceKind::SlotEnd, signal, ended.slot_end());
        self.schedule.wake(SourceKind::SignalValue, signal, ended.next_value());
    }

    /// A value that a signal published arrives.
    #[cold]
    fn poll_signal(&mut self, signal: usize) -> Option<Step> {
        let (at, value) = self.signals[signal].poll_value()?;
        self.schedule.wake(SourceKind::SignalValue, signal, self.signals[signal].next_value());
        Some(Step::Signal { at, signal, value })
    }
}

#[cfg(test)]
mod tests;
