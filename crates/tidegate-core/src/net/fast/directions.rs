//! The two event queues of a network whose directions *alternate*. An event in one direction of all connections (data arrive at gates
//! and receivers, receivers' timers fire) changes nothing in the other direction (ACKs arrive, senders' timers fire)
//! before a least time has passed, the *lead* (in parallel simulation: lookahead). So the events of one direction are handled as a
//! *batch* of that length, then those of the other. The processor then does one kind of work at a time, with its data in the caches, and the units that
//! each direction sends to the other need not be put in order one by one ([`super::arrivals`]).

use crate::net::events::{Calendar, Next};
use crate::net::fast::arrivals::Arrivals;
use crate::net::sources::EventSource;
use crate::unit::Unit;
use crate::units::{Span, Time};

/// A direction of all connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Direction {
    /// What comes from senders.
    Data = 0,
    /// What comes from receivers.
    Back = 1,
}

impl Direction {
    /// The direction of a flow's route.
    pub(in crate::net) fn of(route: usize) -> Direction {
        if route.is_multiple_of(2) { Direction::Data } else { Direction::Back }
    }
}

/// Which events are of which direction, and how long a batch may be.
#[derive(Debug)]
pub(in crate::net) struct Alternation {
    /// Each source's direction.
    pub(in crate::net) directions: Vec<Direction>,
    /// The lead of each direction: an event there has no effect in the other direction before that much time has passed.
    /// Not both are zero.
    pub(in crate::net) leads: [Span; 2],
    /// The longest time that units given to [`Directions::send`] are under way, apart from waiting.
    pub(in crate::net) longest: Span,
    /// The rank of such units at one instant, by the stretch that they go to: an event source's number.
    pub(in crate::net) ranks: Vec<EventSource>,
}

/// The pending events of one direction.
#[derive(Debug)]
struct Queue {
    /// Units sent by the other direction.
    arrivals: Arrivals,
    /// Every other event.
    calendar: Calendar,
    /// Lower bound on the next event in the calendar.
    calendar_from: Time,
}

/// The event queues of both directions, and which direction is handled now.
#[derive(Debug)]
pub(in crate::net) struct Directions {
    alternation: Alternation,
    queues: [Queue; 2],
    running: Direction,
    /// When the batch ends.
    limit: Time,
    /// Units of a run may come before alarms that ring earlier in their direction.
    pub(in crate::net) runs_pass_alarms: bool,
    /// The time of the last event handled in each direction.
    #[cfg(debug_assertions)]
    reached: [Time; 2],
}

impl Directions {
    pub(in crate::net) fn new(alternation: Alternation, runs_pass_alarms: bool) -> Directions {
        let width = (alternation.leads[0] + alternation.leads[1]).picos() / 4;
        let width = Span::from_picos(width).max(Arrivals::least_width(alternation.longest));
        let queue = |_| Queue {
            arrivals: Arrivals::new(width),
            calendar: Calendar::new(alternation.directions.len()),
            calendar_from: Time::NEVER,
        };
        Directions {
            queues: [0, 1].map(queue),
            alternation,
            running: Direction::Data,
            limit: Time::ZERO,
            runs_pass_alarms,
            #[cfg(debug_assertions)]
            reached: [Time::ZERO; 2],
        }
    }

    pub(in crate::net) fn insert(&mut self, source: EventSource, at: Time, due: &[Time]) {
        let queue = &mut self.queues[self.alternation.directions[source as usize] as usize];
        queue.calendar_from = queue.calendar_from.min(at);
        queue.calendar.insert(source, at, due);
    }

    pub(in crate::net) fn remove(&mut self, source: EventSource, at: Time, due: &[Time]) {
        self.queues[self.alternation.directions[source as usize] as usize].calendar.remove(source, at, due);
    }

    /// A unit comes to the end of its first stretch at `at`, in a direction.
    #[inline(always)]
    pub(in crate::net) fn send(&mut self, direction: Direction, at: Time, unit: Unit) {
        self.queues[direction as usize].arrivals.push(at, unit, &self.alternation.ranks);
    }

    /// The units of an open bucket that come next in the direction that is handled now. Those before the returned instant, which is `until` at
    /// most, come before every other event of this direction; where runs pass alarms, before every other event but alarms.
    #[inline(always)]
    pub(in crate::net) fn next_units(&mut self, until: Time) -> (&mut [(Time, Unit)], Time) {
        let queue = &mut self.queues[self.running as usize];
        let others = if self.runs_pass_alarms { Time::NEVER } else { queue.calendar_from };
        (queue.arrivals.open_units(), until.min(self.limit).min(others))
    }

    /// Lower bound on the next alarm of the direction that is handled now.
    pub(in crate::net) fn alarms_from(&self) -> Time {
        self.queues[self.running as usize].calendar_from
    }

    /// Alarms that ring before this come before every unit of this direction that is not lent.
    pub(in crate::net) fn alarms_before(&self, until: Time) -> Time {
        until.min(self.limit).min(self.queues[self.running as usize].arrivals.from())
    }

    /// The next alarm of the direction that is handled now, if it rings before `until`.
    pub(in crate::net) fn pop_alarm(&mut self, until: Time, due: &[Time]) -> Option<(Time, EventSource)> {
        self.queues[self.running as usize].calendar.pop_before(until, due)
    }

    /// The direction that is handled now, and the direction of each source.
    pub(in crate::net) fn running(&self) -> (Direction, &[Direction]) {
        (self.running, &self.alternation.directions)
    }

    /// Some of [`Directions::next_units`] have come, the first of them at `first`. All units of the open bucket are lent until
    /// [`Directions::give_back`]; returns the place of the first one.
    #[inline(always)]
    pub(in crate::net) fn lend_units(&mut self, first: Time, units: &mut Vec<(Time, Unit)>) -> usize {
        self.note_reached(first);
        self.queues[self.running as usize].arrivals.lend(units)
    }

    /// So many of the lent units have come.
    #[inline(always)]
    pub(in crate::net) fn remove_lent(&mut self, count: usize) {
        self.queues[self.running as usize].arrivals.remove_lent(count);
    }

    /// Takes the lent units back.
    #[inline(always)]
    pub(in crate::net) fn give_back(&mut self, units: &mut Vec<(Time, Unit)>) {
        self.queues[self.running as usize].arrivals.give_back(units, &self.alternation.ranks);
    }

    /// An event in the direction that is handled now. Of a run it is the first one: timers that its units set may ring before the
    /// last one comes.
    #[inline(always)]
    fn note_reached(&mut self, at: Time) {
        let _ = at;
        #[cfg(debug_assertions)]
        {
            let reached = std::mem::replace(&mut self.reached[self.running as usize], at);
            assert!(at >= reached, "{at} is before {reached} in the same direction");
        }
    }

    /// The next event before `until`.
    #[inline(always)]
    pub(in crate::net) fn pop_before(&mut self, until: Time, due: &[Time]) -> Option<Next> {
        let next = self.pop_running(until, due);
        match next {
            Some(Next::Arrival(at, _)) => self.note_reached(at),
            // Runs may have gone beyond it.
            Some(Next::Source(at, _)) if !self.runs_pass_alarms => self.note_reached(at),
            _ => {}
        }
        next
    }

    #[inline(always)]
    fn pop_running(&mut self, until: Time, due: &[Time]) -> Option<Next> {
        let queue = &mut self.queues[self.running as usize];
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
            let queue = &mut self.queues[self.running as usize];
            let popped = queue.pop_before(until.min(self.limit), due, &self.alternation.ranks);
            if popped.is_some() || !self.change(until, due) {
                return popped;
            }
        }
    }

    /// The direction with the first event is handled next; `false`: there is no event before `until`.
    fn change(&mut self, until: Time, due: &[Time]) -> bool {
        let [receivers, senders] = self.find_firsts(due);
        // At one instant data come first.
        let (first, other, lead) = if receivers <= senders {
            self.running = Direction::Data;
            (receivers, senders, self.alternation.leads[Direction::Back as usize])
        } else {
            self.running = Direction::Back;
            (senders, receivers, self.alternation.leads[Direction::Data as usize])
        };
        if first >= until {
            return false;
        }
        let back_again = first.saturating_add(self.alternation.leads[0] + self.alternation.leads[1]);
        let limit = other.saturating_add(lead).min(back_again);
        // What comes later may share a bucket with what is not there yet.
        let whole = self.queues[self.running as usize].arrivals.begin_of_bucket(limit);
        self.limit = if whole > first { whole } else { limit.max(first + Span::from_picos(1)) };
        true
    }

    /// Lower bounds on the next event of each direction. Calls [`Calendar::find_first`], which may make crowds.
    fn find_firsts(&mut self, due: &[Time]) -> [Time; 2] {
        self.queues.each_mut().map(|queue| queue.arrivals.from().min(queue.calendar.find_first(due).0))
    }

    /// Lower bounds on the next event of each direction. Calls [`Calendar::first`], which changes nothing.
    fn firsts(&self, due: &[Time]) -> [Time; 2] {
        [0, 1].map(|direction: usize| {
            let Queue { arrivals, calendar, .. } = &self.queues[direction];
            arrivals.from().min(calendar.first(due).0)
        })
    }

    /// Lower bound on the next event of either direction.
    pub(in crate::net) fn next(&self, due: &[Time]) -> Time {
        let [receivers, senders] = self.firsts(due);
        receivers.min(senders)
    }

    pub(in crate::net) fn leads(&self) -> [Span; 2] {
        self.alternation.leads
    }

    /// Ends the alternation. Returns the directions and leads, and the remaining units, those of each direction in order.
    pub(in crate::net) fn end(self) -> (Alternation, Vec<(Time, Unit)>) {
        let Directions { alternation, queues, .. } = self;
        let units =
            queues.into_iter().flat_map(|queue| queue.arrivals.take_all(&alternation.ranks)).collect();
        (alternation, units)
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
            && (at, ranks[unit.stretch as usize]) < first
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
