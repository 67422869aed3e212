//! Two event queues that take turns. An event at one half of all connections (data arrive at gates
//! and receivers, receivers' timers fire) changes nothing at the other half (ACKs arrive, senders' timers fire)
//! before a least time has passed, the *lead*. So each half is handled alone for that long.
//! The processor then does one kind of work at a time, with its data in the caches, and the units that
//! each half sends to the other need not be put in order one by one ([`super::arrivals`]).

use crate::net::events::{Calendar, Next};
use crate::net::fast::arrivals::Arrivals;
use crate::net::sources::EventSource;
use crate::unit::Unit;
use crate::units::{Span, Time};

/// A half of all connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Half {
    /// What comes from senders.
    Receivers = 0,
    /// What comes from receivers.
    Senders = 1,
}

impl Half {
    /// The half at which the units of a flow's route arrive.
    pub(in crate::net) fn of(route: usize) -> Half {
        if route.is_multiple_of(2) { Half::Receivers } else { Half::Senders }
    }
}

/// Who takes turns, and for how long.
#[derive(Debug)]
pub(in crate::net) struct Turns {
    /// Each source's half.
    pub(in crate::net) halves: Vec<Half>,
    /// The lead of each half: an event there has no effect at the other half before that much time has passed.
    /// Not both are zero.
    pub(in crate::net) leads: [Span; 2],
    /// The longest time that units given to [`Halves::send`] are under way, apart from waiting.
    pub(in crate::net) longest: Span,
    /// The rank of such units at one instant, by the stretch that they go to: an event source's number.
    pub(in crate::net) ranks: Vec<EventSource>,
}

/// The pending events of one half.
#[derive(Debug)]
struct Queue {
    /// Units sent by the other half.
    arrivals: Arrivals,
    /// Every other event.
    calendar: Calendar,
    /// Lower bound on the next event in the calendar.
    calendar_from: Time,
}

/// The event queues of both halves, and whose turn it is.
#[derive(Debug)]
pub(in crate::net) struct Halves {
    turns: Turns,
    queues: [Queue; 2],
    turn: Half,
    /// When the turn ends.
    limit: Time,
    /// Units of a run may come before alarms that ring earlier at their half ([`Network::take_turns`](crate::net::Network::take_turns)).
    pub(in crate::net) runs_pass_alarms: bool,
    /// The time of the last event handled at each half.
    #[cfg(debug_assertions)]
    reached: [Time; 2],
}

impl Halves {
    pub(in crate::net) fn new(turns: Turns) -> Halves {
        let width = (turns.leads[0] + turns.leads[1]).picos() / 4;
        let width = Span::from_picos(width).max(Arrivals::least_width(turns.longest));
        let queue = |_| Queue {
            arrivals: Arrivals::new(width),
            calendar: Calendar::new(turns.halves.len()),
            calendar_from: Time::NEVER,
        };
        Halves {
            queues: [0, 1].map(queue),
            turns,
            turn: Half::Receivers,
            limit: Time::ZERO,
            runs_pass_alarms: false,
            #[cfg(debug_assertions)]
            reached: [Time::ZERO; 2],
        }
    }

    pub(in crate::net) fn insert(&mut self, source: EventSource, at: Time, due: &[Time]) {
        let queue = &mut self.queues[self.turns.halves[source as usize] as usize];
        queue.calendar_from = queue.calendar_from.min(at);
        queue.calendar.insert(source, at, due);
    }

    pub(in crate::net) fn remove(&mut self, source: EventSource, at: Time, due: &[Time]) {
        self.queues[self.turns.halves[source as usize] as usize].calendar.remove(source, at, due);
    }

    /// A unit comes to a half at `at`.
    #[inline(always)]
    pub(in crate::net) fn send(&mut self, half: Half, at: Time, unit: Unit) {
        self.queues[half as usize].arrivals.push(at, unit, &self.turns.ranks);
    }

    /// The units of an open bucket that come next at the half whose turn it is. Those before the returned instant, which is `until` at
    /// most, come before every other event of this half; where runs pass alarms, before every other event but alarms.
    #[inline(always)]
    pub(in crate::net) fn next_units(&mut self, until: Time) -> (&mut [(Time, Unit)], Time) {
        let queue = &mut self.queues[self.turn as usize];
        let others = if self.runs_pass_alarms { Time::NEVER } else { queue.calendar_from };
        (queue.arrivals.open_units(), until.min(self.limit).min(others))
    }

    /// Lower bound on the next alarm of the half whose turn it is.
    pub(in crate::net) fn alarms_from(&self) -> Time {
        self.queues[self.turn as usize].calendar_from
    }

    /// Alarms that ring before this come before every unit of this half that is not lent.
    pub(in crate::net) fn alarms_before(&self, until: Time) -> Time {
        until.min(self.limit).min(self.queues[self.turn as usize].arrivals.from())
    }

    /// The next alarm of the half whose turn it is, if it rings before `until`.
    pub(in crate::net) fn pop_alarm(&mut self, until: Time, due: &[Time]) -> Option<(Time, EventSource)> {
        self.queues[self.turn as usize].calendar.pop_before(until, due)
    }

    /// Whose turn it is, and the half of each source.
    pub(in crate::net) fn turn(&self) -> (Half, &[Half]) {
        (self.turn, &self.turns.halves)
    }

    /// Some of [`Halves::next_units`] have come, the first of them at `first`. All units of the open bucket are lent until
    /// [`Halves::give_back`]; returns the place of the first one.
    #[inline(always)]
    pub(in crate::net) fn lend_units(&mut self, first: Time, units: &mut Vec<(Time, Unit)>) -> usize {
        self.note_reached(first);
        self.queues[self.turn as usize].arrivals.lend(units)
    }

    /// So many of the lent units have come.
    #[inline(always)]
    pub(in crate::net) fn remove_lent(&mut self, count: usize) {
        self.queues[self.turn as usize].arrivals.remove_lent(count);
    }

    /// Takes the lent units back.
    #[inline(always)]
    pub(in crate::net) fn give_back(&mut self, units: &mut Vec<(Time, Unit)>) {
        self.queues[self.turn as usize].arrivals.give_back(units, &self.turns.ranks);
    }

    /// An event at the half whose turn it is. Of a run it is the first one: timers that its units set may ring before the
    /// last one comes.
    #[inline(always)]
    fn note_reached(&mut self, at: Time) {
        let _ = at;
        #[cfg(debug_assertions)]
        {
            let reached = std::mem::replace(&mut self.reached[self.turn as usize], at);
            assert!(at >= reached, "{at} is before {reached} at the same half");
        }
    }

    /// The next event before `until`.
    #[inline(always)]
    pub(in crate::net) fn pop_before(&mut self, until: Time, due: &[Time]) -> Option<Next> {
        let next = self.pop_in_turn(until, due);
        match next {
            Some(Next::Arrival(at, _)) => self.note_reached(at),
            // Runs may have gone beyond it.
            Some(Next::Source(at, _)) if !self.runs_pass_alarms => self.note_reached(at),
            _ => {}
        }
        next
    }

    #[inline(always)]
    fn pop_in_turn(&mut self, until: Time, due: &[Time]) -> Option<Next> {
        let queue = &mut self.queues[self.turn as usize];
        if let Some((at, unit)) = queue.arrivals.head()
            && at < until.min(self.limit).min(queue.calendar_from)
        {
            queue.arrivals.take();
            return Some(Next::Arrival(at, unit));
        }
        self.pop_any(until, due)
    }

    #[inline(never)]
    fn pop_any(&mut self, until: Time, due: &[Time]) -> Option<Next> {
        loop {
            let queue = &mut self.queues[self.turn as usize];
            let popped = queue.pop_before(until.min(self.limit), due, &self.turns.ranks);
            if popped.is_some() || !self.change(until, due) {
                return popped;
            }
        }
    }

    /// Gives the turn to the half with the first event; `false`: there is no event before `until`.
    fn change(&mut self, until: Time, due: &[Time]) -> bool {
        let [receivers, senders] = self.find_firsts(due);
        // At one instant data come first.
        let (first, other, lead) = if receivers <= senders {
            self.turn = Half::Receivers;
            (receivers, senders, self.turns.leads[Half::Senders as usize])
        } else {
            self.turn = Half::Senders;
            (senders, receivers, self.turns.leads[Half::Receivers as usize])
        };
        if first >= until {
            return false;
        }
        let back_again = first.saturating_add(self.turns.leads[0] + self.turns.leads[1]);
        let limit = other.saturating_add(lead).min(back_again);
        // What comes later may share a bucket with what is not there yet.
        let whole = self.queues[self.turn as usize].arrivals.begin_of_bucket(limit);
        self.limit = if whole > first { whole } else { limit.max(first + Span::from_picos(1)) };
        true
    }

    /// Lower bounds on the next event of each half. Calls [`Calendar::find_first`], which may make crowds.
    fn find_firsts(&mut self, due: &[Time]) -> [Time; 2] {
        self.queues.each_mut().map(|queue| queue.arrivals.from().min(queue.calendar.find_first(due).0))
    }

    /// Lower bounds on the next event of each half. Calls [`Calendar::first`], which changes nothing.
    fn firsts(&self, due: &[Time]) -> [Time; 2] {
        [0, 1].map(|half: usize| {
            let Queue { arrivals, calendar, .. } = &self.queues[half];
            arrivals.from().min(calendar.first(due).0)
        })
    }

    /// Lower bound on the next event of either half.
    pub(in crate::net) fn next(&self, due: &[Time]) -> Time {
        let [receivers, senders] = self.firsts(due);
        receivers.min(senders)
    }

    pub(in crate::net) fn leads(&self) -> [Span; 2] {
        self.turns.leads
    }

    /// Ends the turns. Returns the halves and leads, and the remaining units, those of each half in order.
    pub(in crate::net) fn end(self) -> (Turns, Vec<(Time, Unit)>) {
        let Halves { turns, queues, .. } = self;
        let units = queues.into_iter().flat_map(|queue| queue.arrivals.take_all(&turns.ranks)).collect();
        (turns, units)
    }

    /// Bytes held by units on their way.
    pub(in crate::net) fn memory_bytes(&self) -> u64 {
        self.queues.iter().map(|queue| queue.arrivals.memory_bytes()).sum()
    }
}

impl Queue {
    fn pop_before(&mut self, until: Time, due: &[Time], ranks: &[EventSource]) -> Option<Next> {
        self.arrivals.open_before(until, ranks);
        let first = self.calendar.find_first(due);
        self.calendar_from = first.0;
        if let Some((at, unit)) = self.arrivals.head()
            && (at, ranks[unit.chain as usize]) < first
        {
            if at >= until {
                return None;
            }
            self.arrivals.take();
            return Some(Next::Arrival(at, unit));
        }
        let (at, source) = self.calendar.pop_before(until, due)?;
        Some(Next::Source(at, source))
    }
}
