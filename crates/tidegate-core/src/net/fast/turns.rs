//! Whether the two halves of connections may take turns, and for how long (see [`Half`]).
//!
//! What turns do to time ([`crate::net`] has the whole contract): the events of each half are handled in order
//! ([`super::halves`] asserts it). Whenever the turn changes, and once more when turns are given up,
//! `Network::now` may go back, to the first event of the other half, by less than both leads together
//! ([`crate::net::schedule`] asserts it). What enters at one half never comes to it before what was handled there.
//! The units of a run ([`super::runs`]) are handled before the timers that they set, of which some ring before the last unit comes.

use crate::net::Network;
use crate::net::fast::cohorts::Cohorts;
use crate::net::fast::halves::{Half, Turns};
use crate::net::map::{Chain, NONE};
use crate::net::sources::{EventSource, SourceKind};
use crate::units::Span;

/// The least number of events in a turn that makes up for the change of halves.
const WORTH_A_TURN: u128 = 8;

/// The half that each line and each route belongs to.
struct Belonging {
    lines: Vec<Half>,
    routes: Vec<Half>,
}

impl Network {
    /// Lets what comes from senders and what comes from receivers be handled in turns, each ahead of
    /// the other as far as it may: no result changes, but [`Network::now`] goes back when the turn changes, by less
    /// than both leads together. `alarm` says for
    /// which half each alarm rings. Every delivery must be reported ahead of its time ([`Network::deliver_ahead`]).
    ///
    /// With very many flows, an alarm may ring after units have been handed out that come later than it was due. So it must concern
    /// one flow alone, and whatever is due at an end of a flow before a unit comes there must be done before the unit is taken.
    ///
    /// Says whether it will be so: not where data and answers pass the same gate, nor where any gate is
    /// driven step by step, follows a signal or publishes one.
    pub fn take_turns(&mut self, alarm: impl Fn(usize) -> Half) -> bool {
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
        let delays: Vec<Span> = firsts.iter().map(|first| self.delay_of(&self.map.chains[*first])).collect();
        let least = |back: usize| delays.iter().skip(back).step_by(2).min().copied().unwrap_or(Span::ZERO);
        let lines_before = [NONE].into_iter().chain(self.map.chains.iter().map(|chain| chain.line));
        let turns = Turns {
            halves: (0..sources.len() as EventSource).map(of).collect(),
            leads: [least(1), least(0)],
            longest: delays.iter().max().copied().unwrap_or(Span::ZERO),
            ranks: lines_before.collect(),
        };
        let may = self.schedule.queue.may_take_turns(turns);
        if may {
            self.start_turns();
        }
        may
    }

    /// Starts or stops turns by the number of events since the last call: where a turn has few, changing halves costs more than it
    /// saves. No result changes. To be called now and then.
    #[inline(never)]
    pub fn review_turns(&mut self) {
        let Some((leads, taken)) = self.schedule.queue.turns() else { return };
        let (events_before, then) =
            std::mem::replace(&mut self.schedule.reviewed, (self.schedule.handled, self.schedule.now));
        let events = u128::from(self.schedule.handled - events_before);
        let span = u128::from(self.schedule.now.saturating_since(then).picos());
        // Each half has a turn in as much time as both leads.
        let in_turns = u128::from((leads[0] + leads[1]).picos()) * events;
        let worth_it = in_turns >= 2 * WORTH_A_TURN * span;
        match (taken, worth_it) {
            (true, false) => self.stop_turns(),
            (false, true) => self.start_turns(),
            _ => {}
        }
    }

    fn start_turns(&mut self) {
        self.schedule.queue.start_turns();
        for (route, first) in self.map.first.iter().enumerate().take(self.map.flow_routes()) {
            let stretch = &mut self.map.chains[*first as usize];
            if stretch.line != NONE && !stretch.ahead {
                stretch.half = Some(Half::of(route));
            }
        }
        let pass_alarms = self.map.flows() >= self.map.cohorts.from_flows && self.has_only_alarms();
        if let Some(halves) = self.schedule.queue.halves() {
            halves.runs_pass_alarms = pass_alarms;
        }
        self.map.shorts = self.map.chains.iter().map(|chain| chain.as_short(&self.map.gates)).collect();
        self.cohorts = None;
        if pass_alarms {
            self.cohorts = Cohorts::new(&self.map, self.gates.len());
        }
    }

    /// Whether alarms are the only event sources while halves take turns: no unit waits on a line, now or later, and there is no
    /// background traffic.
    fn has_only_alarms(&self) -> bool {
        let waits = |chain: &Chain| chain.line != NONE && !chain.ahead && chain.half.is_none();
        self.traffic.is_empty()
            && !self.map.chains.iter().any(waits)
            && self.lines.iter().all(|line| line.units.is_empty())
    }

    fn stop_turns(&mut self) {
        for (at, unit) in self.schedule.queue.stop_turns() {
            let line = self.map.chains[unit.chain as usize - 1].line;
            self.schedule.wake(SourceKind::Line, line as usize, at);
            self.lines[line as usize].units.push_back((at, unit));
        }
        for stretch in &mut self.map.chains {
            stretch.half = None;
        }
        self.map.shorts = Vec::new();
        self.cohorts = None;
    }

    /// The half of each line and route; `None`: data and answers share a gate or a line.
    fn belonging(&self) -> Option<Belonging> {
        let mut lines = vec![None; self.lines.len()];
        let mut gates = vec![None; self.gates.len()];
        let mut routes = Vec::new();
        for route in 0..self.map.first.len() {
            let stretches = &self.map.chains[self.map.stretches(route)];
            let passed: Vec<usize> = stretches
                .iter()
                .flat_map(|chain| self.map.gates_of(chain))
                .map(|gate| *gate as usize)
                .collect();
            let half = if route < self.map.flow_routes() {
                Half::of(route)
            } else {
                // Background traffic goes with the flows whose gates it passes; theirs are known by now.
                passed.iter().find_map(|gate| gates[*gate]).unwrap_or(Half::Receivers)
            };
            let lines_passed = stretches.iter().map(|chain| chain.line).filter(|line| *line != NONE);
            let gates_agree = passed.iter().all(|gate| *gates[*gate].get_or_insert(half) == half);
            let mut lines_agree = lines_passed.map(|line| *lines[line as usize].get_or_insert(half) == half);
            if !gates_agree || !lines_agree.all(|agrees| agrees) {
                return None;
            }
            routes.push(half);
        }
        let lines = lines.into_iter().map(|half| half.unwrap_or(Half::Receivers)).collect();
        Some(Belonging { lines, routes })
    }

    /// The time that a stretch takes at least, from its beginning to the end of its line.
    fn delay_of(&self, stretch: &Chain) -> Span {
        let delays = self.map.gates_of(stretch).iter().map(|gate| self.gates[*gate as usize].delay());
        delays.fold(stretch.delay, |sum, delay| sum + delay)
    }
}
