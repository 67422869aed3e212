//! Whether the two directions of connections may alternate ([`super::directions`]), when it is worth while, and what is known of each
//! stretch meanwhile ([`FastPaths`]).
//!
//! What that does to time ([`crate::net`] has the whole contract): the events of each direction are handled in order
//! ([`super::directions`] asserts it). Whenever the direction changes, and once more when directions stop alternating,
//! `Network::now` may go back, to the first event of the other direction, by less than both leads together
//! ([`crate::net::schedule`] asserts it). What enters in one direction never comes to it before what was handled there.
//!
//! The units of a run ([`super::runs`]) are handled before the timers that they set, of which some ring before the last unit comes.

use crate::net::Network;
use crate::net::fast::cohorts::Cohorts;
use crate::net::fast::directions::{Alternation, Direction};
use crate::net::fast::stretch::FastStretch;
use crate::net::map::{NONE, RouteMap, Stretch};
use crate::net::sources::{EventSource, SourceKind};
use crate::units::Span;

/// The least number of events in a batch that makes up for the change of directions.
const WORTH_A_BATCH: u128 = 8;

/// What is known of a network as long as its directions alternate, and only for speed. Empty while they do not.
#[derive(Debug, Default)]
pub(in crate::net) struct FastPaths {
    /// By stretch.
    pub(super) stretches: Vec<FastStretch>,
    /// The cohorts that take the units of a run, where there are very many flows.
    pub(super) cohorts: Option<Cohorts>,
}

impl FastPaths {
    fn new(map: &RouteMap) -> FastPaths {
        let mut directions = vec![None; map.stretches.len()];
        for (route, first) in map.first.iter().enumerate().take(map.flow_routes()) {
            directions[*first as usize] = Some(Direction::of(route));
        }
        let stretch = |(stretch, direction): (&Stretch, Option<Direction>)| {
            let is_sent = stretch.line != NONE && !stretch.ahead;
            FastStretch::new(stretch, map.gates_of(stretch), direction.filter(|_| is_sent))
        };
        FastPaths { stretches: map.stretches.iter().zip(directions).map(stretch).collect(), cohorts: None }
    }

    fn forget(&mut self) {
        *self = FastPaths::default();
    }
}

/// The direction that each line and each route belongs to.
struct Belonging {
    lines: Vec<Direction>,
    routes: Vec<Direction>,
}

impl Network {
    /// Lets what comes from senders and what comes from receivers be handled in batches, each ahead of
    /// the other as far as it may: no result changes, but [`Network::now`] goes back when the direction changes, by less
    /// than both leads together. `alarm` says for
    /// which direction each alarm rings. Every delivery must be reported ahead of its time ([`Network::deliver_ahead`]).
    ///
    /// With very many flows, an alarm may ring after units have been handed out that come later than it was due. So it must concern
    /// one flow only, and whatever is due at an end of a flow before a unit comes there must be done before the unit is taken.
    ///
    /// Says whether it will be so: not where data and answers pass the same gate, nor where any gate is
    /// driven step by step, follows a signal or publishes one.
    pub fn alternate(&mut self, alarm: impl Fn(usize) -> Direction) -> bool {
        // Sources before the lines belong to gates that wake, are controlled or publish.
        if self.schedule.numbers(SourceKind::Line).start > 0 {
            return false;
        }
        let Some(Belonging { lines, routes }) = self.belonging() else { return false };
        let sources = &self.schedule.sources;
        let of = |number| match sources.source(number) {
            (SourceKind::Line, line) => lines[line],
            (SourceKind::Alarm, number) => alarm(number),
            (_, background) => routes[self.map.flow_routes() + background],
        };
        let firsts: Vec<usize> =
            (0..self.map.flow_routes()).map(|route| self.map.stretches(route).start).collect();
        let delays: Vec<Span> =
            firsts.iter().map(|first| self.delay_of(&self.map.stretches[*first])).collect();
        let least = |back: usize| delays.iter().skip(back).step_by(2).min().copied().unwrap_or(Span::ZERO);
        let lines_before = [NONE].into_iter().chain(self.map.stretches.iter().map(|stretch| stretch.line));
        let alternation = Alternation {
            directions: (0..sources.len() as EventSource).map(of).collect(),
            leads: [least(1), least(0)],
            longest: delays.iter().max().copied().unwrap_or(Span::ZERO),
            ranks: lines_before.collect(),
        };
        let may = self.schedule.queue.may_alternate(alternation);
        if may {
            self.start_alternation();
        }
        may
    }

    /// Starts or stops alternation by the number of events since the last call: where a batch has few, changing directions costs more than
    /// it saves. No result changes. To be called now and then.
    #[inline(never)]
    pub fn review_alternation(&mut self) {
        let Some((leads, taken)) = self.schedule.queue.alternation() else { return };
        let (events_before, then) =
            std::mem::replace(&mut self.schedule.reviewed, (self.schedule.handled, self.schedule.now));
        let events = u128::from(self.schedule.handled - events_before);
        let span = u128::from(self.schedule.now.saturating_since(then).picos());
        // Each direction has a batch in as much time as both leads.
        let in_batches = u128::from((leads[0] + leads[1]).picos()) * events;
        let worth_it = in_batches >= 2 * WORTH_A_BATCH * span;
        match (taken, worth_it) {
            (true, false) => self.stop_alternation(),
            (false, true) => self.start_alternation(),
            _ => {}
        }
    }

    fn start_alternation(&mut self) {
        self.fast = FastPaths::new(&self.map);
        let pass_alarms = self.map.flows() >= self.map.cohorts.from_flows && self.has_only_alarms();
        if pass_alarms {
            self.fast.cohorts = Cohorts::new(&self.map, self.gates.len());
        }
        self.schedule.queue.start_alternation(pass_alarms);
    }

    /// Whether alarms are the only event sources while directions alternate: no unit waits on a line, now or later, and there is no
    /// background traffic.
    fn has_only_alarms(&self) -> bool {
        let mut stretches = self.map.stretches.iter().zip(&self.fast.stretches);
        self.traffic.is_empty()
            && !stretches
                .any(|(stretch, fast)| stretch.line != NONE && !stretch.ahead && fast.direction.is_none())
            && self.lines.iter().all(|line| line.units.is_empty())
    }

    fn stop_alternation(&mut self) {
        for (at, unit) in self.schedule.queue.stop_alternation() {
            let line = self.map.stretches[unit.stretch as usize - 1].line;
            self.schedule.wake(SourceKind::Line, line as usize, at);
            self.lines[line as usize].units.push_back((at, unit));
        }
        self.fast.forget();
    }

    /// The direction of each line and route; `None`: data and answers share a gate or a line.
    fn belonging(&self) -> Option<Belonging> {
        let mut lines = vec![None; self.lines.len()];
        let mut gates = vec![None; self.gates.len()];
        let mut routes = Vec::new();
        for route in 0..self.map.first.len() {
            let stretches = &self.map.stretches[self.map.stretches(route)];
            let passed: Vec<usize> = stretches
                .iter()
                .flat_map(|stretch| self.map.gates_of(stretch))
                .map(|gate| *gate as usize)
                .collect();
            let direction = if route < self.map.flow_routes() {
                Direction::of(route)
            } else {
                // Background traffic goes with the flows whose gates it passes; theirs are known by now.
                passed.iter().find_map(|gate| gates[*gate]).unwrap_or(Direction::Data)
            };
            let lines_passed = stretches.iter().map(|stretch| stretch.line).filter(|line| *line != NONE);
            let gates_agree = passed.iter().all(|gate| *gates[*gate].get_or_insert(direction) == direction);
            let mut lines_agree =
                lines_passed.map(|line| *lines[line as usize].get_or_insert(direction) == direction);
            if !gates_agree || !lines_agree.all(|agrees| agrees) {
                return None;
            }
            routes.push(direction);
        }
        let lines = lines.into_iter().map(|direction| direction.unwrap_or(Direction::Data)).collect();
        Some(Belonging { lines, routes })
    }

    /// The time that a stretch takes at least, from its beginning to the end of its line.
    fn delay_of(&self, stretch: &Stretch) -> Span {
        let delays = self.map.gates_of(stretch).iter().map(|gate| self.gates[*gate as usize].delay());
        delays.fold(stretch.delay, |sum, delay| sum + delay)
    }
}
