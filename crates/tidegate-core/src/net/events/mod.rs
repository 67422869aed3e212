//! The event queue: which event source comes next. It has one entry for each source, never one for each packet.
//!
//! The order is total: time, then the source's number, which says what comes first at one
//! instant. Few sources are kept in a sorted list, many in a calendar, and in two calendars while the directions
//! of connections alternate ([`crate::net::fast`]); all give the same order. The choices and their reasons are in
//! docs/design/event-queue.md.

mod calendar;
mod crowds;
mod entry;
mod filled;
mod list;
mod next;

pub(super) use calendar::Calendar;
pub(super) use filled::first_filled;
pub(super) use next::Next;

use list::List;

use crate::net::fast::{Alternation, Direction, Directions};
use crate::net::sources::EventSource;
use crate::unit::Unit;
use crate::units::{Span, Time};

/// The number of sources from which on a calendar is faster than a sorted list.
const MANY: usize = 64;

/// When each source wakes next.
#[derive(Debug)]
pub(super) struct EventQueue {
    /// The instant each source waits for; [`Time::NEVER`] when it sleeps.
    due: Vec<Time>,
    order: Order,
    /// The directions and leads for alternating, while they do not alternate.
    resting: Option<Alternation>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "only one exists; a box would cost a pointer to follow")]
enum Order {
    List(List),
    Calendar(Box<Calendar>),
    Directions(Box<Directions>),
}

impl EventQueue {
    /// A queue in which all `sources` sleep.
    #[must_use]
    pub(super) fn new(sources: usize) -> EventQueue {
        let order = if sources < MANY {
            Order::List(List::default())
        } else {
            Order::Calendar(Box::new(Calendar::new(sources)))
        };
        EventQueue { due: vec![Time::NEVER; sources], order, resting: None }
    }

    /// Where there are many sources the two directions may alternate from now on; says whether it is so.
    pub(super) fn may_alternate(&mut self, alternation: Alternation) -> bool {
        if alternation.leads == [Span::ZERO; 2] || !matches!(self.order, Order::Calendar(_)) {
            return false;
        }
        self.resting = Some(alternation);
        true
    }

    /// How much later than what happens in each direction its effects in the other are at least, where they may
    /// alternate; and whether they do.
    pub(super) fn alternation(&self) -> Option<([Span; 2], bool)> {
        match (&self.order, &self.resting) {
            (Order::Directions(directions), _) => Some((directions.leads(), true)),
            (_, Some(alternation)) => Some((alternation.leads, false)),
            _ => None,
        }
    }

    /// The two directions alternate from now on, where they may and do not. `runs_pass_alarms`: units of a run may come before alarms
    /// that ring earlier in their direction ([`Network::alternate`](crate::net::Network::alternate)).
    pub(super) fn start_alternation(&mut self, runs_pass_alarms: bool) {
        let Some(alternation) = self.resting.take() else { return };
        let mut directions = Directions::new(alternation, runs_pass_alarms);
        awake(&self.due).for_each(|(source, at)| directions.insert(source, at, &self.due));
        self.order = Order::Directions(Box::new(directions));
    }

    /// They alternate no longer: hands out the units that were sent and have not come, those of a stretch in order.
    pub(super) fn stop_alternation(&mut self) -> Vec<(Time, Unit)> {
        if !matches!(self.order, Order::Directions(_)) {
            return Vec::new();
        }
        let mut calendar = Box::new(Calendar::new(self.due.len()));
        awake(&self.due).for_each(|(source, at)| calendar.insert(source, at, &self.due));
        let Order::Directions(directions) = std::mem::replace(&mut self.order, Order::Calendar(calendar))
        else {
            unreachable!("they alternate");
        };
        let (alternation, units) = directions.end();
        self.resting = Some(alternation);
        units
    }

    /// Where directions alternate: a unit comes to one of them at `at`.
    #[inline(always)]
    pub(super) fn send(&mut self, direction: Direction, at: Time, unit: Unit) {
        if let Order::Directions(directions) = &mut self.order {
            directions.send(direction, at, unit);
        }
    }

    /// Where directions alternate, see [`Directions`].
    #[inline(always)]
    pub(super) fn directions(&mut self) -> Option<&mut Directions> {
        if let Order::Directions(directions) = &mut self.order { Some(directions) } else { None }
    }

    /// Wakes `source` at `at`, unless it wakes earlier anyway. A source that is woken early
    /// finds nothing to do and asks again, so nothing ever has to be moved back.
    #[inline]
    pub(super) fn wake(&mut self, source: EventSource, at: Time) {
        let due = self.due[source as usize];
        if at < due {
            self.wake_at(source, at, due);
        }
    }

    /// Wakes a source that sleeps, as it does after [`EventQueue::pop_before`]; at [`Time::NEVER`] it sleeps on.
    #[inline]
    pub(super) fn wake_asleep(&mut self, source: EventSource, at: Time) {
        debug_assert_eq!(self.due[source as usize], Time::NEVER);
        if at == Time::NEVER {
            return;
        }
        self.due[source as usize] = at;
        match &mut self.order {
            Order::List(list) => list.insert(source, at),
            Order::Calendar(calendar) => calendar.insert(source, at, &self.due),
            Order::Directions(directions) => directions.insert(source, at, &self.due),
        }
    }

    #[inline(never)]
    fn wake_at(&mut self, source: EventSource, at: Time, due: Time) {
        if due != Time::NEVER {
            self.remove(source, due);
            self.due[source as usize] = Time::NEVER;
        }
        self.wake_asleep(source, at);
    }

    #[cold]
    fn remove(&mut self, source: EventSource, due: Time) {
        match &mut self.order {
            Order::List(list) => list.remove(source),
            Order::Calendar(calendar) => calendar.remove(source, due, &self.due),
            Order::Directions(directions) => directions.remove(source, due, &self.due),
        }
    }

    /// The next event before `until`. If it is a source, the source sleeps from now on.
    #[inline(always)]
    pub(super) fn pop_before(&mut self, until: Time) -> Option<Next> {
        let (at, source) = match &mut self.order {
            Order::List(list) => list.pop_before(until)?,
            Order::Calendar(calendar) => calendar.pop_before(until, &self.due)?,
            Order::Directions(directions) => match directions.pop_before(until, &self.due)? {
                Next::Source(at, source) => (at, source),
                arrival @ Next::Arrival(..) => return Some(arrival),
            },
        };
        self.due[source as usize] = Time::NEVER;
        Some(Next::Source(at, source))
    }

    /// When a source wakes; [`Time::NEVER`] when it sleeps.
    pub(super) fn due(&self, source: EventSource) -> Time {
        self.due[source as usize]
    }

    /// Where directions alternate and nothing but alarms waits beside units: the next one of the direction that is handled now, if it rings
    /// before `until`. It sleeps from now on.
    pub(super) fn pop_alarm(&mut self, until: Time) -> Option<(Time, EventSource)> {
        let Order::Directions(directions) = &mut self.order else { return None };
        let (at, source) = directions.pop_alarm(until, &self.due)?;
        self.due[source as usize] = Time::NEVER;
        Some((at, source))
    }

    /// When each source wakes; and, where directions alternate, which direction is handled now, and the direction of each.
    pub(super) fn sources(&self) -> (&[Time], Option<(Direction, &[Direction])>) {
        let Order::Directions(directions) = &self.order else { return (&self.due, None) };
        (&self.due, Some(directions.running()))
    }

    /// No source wakes before this.
    #[must_use]
    pub(super) fn next(&self) -> Time {
        match &self.order {
            Order::List(list) => list.next(),
            Order::Calendar(calendar) => calendar.first(&self.due).0,
            Order::Directions(directions) => directions.next(&self.due),
        }
    }

    /// Bytes held by units of [`EventQueue::send`].
    pub(super) fn memory_bytes(&self) -> u64 {
        if let Order::Directions(directions) = &self.order { directions.memory_bytes() } else { 0 }
    }
}

/// The sources that do not sleep, and when they wake.
fn awake(due: &[Time]) -> impl Iterator<Item = (EventSource, Time)> {
    (0..).zip(due.iter().copied()).filter(|(_, at)| *at != Time::NEVER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn source_of(next: Option<Next>) -> Option<(Time, EventSource)> {
        match next? {
            Next::Source(at, source) => Some((at, source)),
            Next::Arrival(..) => panic!("nothing was sent"),
        }
    }

    proptest! {
        /// List and calendar give one order, whatever is woken when.
        #[test]
        fn list_and_calendar_agree(
            steps in prop::collection::vec((0u32..20, 0u64..1u64 << 44, 0u32..60), 1..3000),
        ) {
            let mut few = EventQueue::new(20);
            let mut many = EventQueue::new(200);
            prop_assert!(matches!(many.order, Order::Calendar(_)));
            let mut now = 0;
            for (source, span, shift) in steps {
                let at = Time::from_picos(now + (span >> shift));
                few.wake(source, at);
                many.wake(source, at);
                prop_assert_eq!(few.next(), many.next());
                if shift % 2 == 0 {
                    let until = Time::from_picos(now + (1 << 43));
                    let popped = few.pop_before(until);
                    prop_assert_eq!(popped, many.pop_before(until));
                    now = source_of(popped).map_or(now, |(time, _)| time.picos());
                }
            }
            loop {
                let popped = few.pop_before(Time::NEVER);
                prop_assert_eq!(popped, many.pop_before(Time::NEVER));
                let Some((at, _)) = source_of(popped) else { break };
                prop_assert!(at.picos() >= now);
                now = at.picos();
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Many sources at few instants, woken and woken earlier: in the order of a set.
        #[test]
        fn crowds_come_in_order(
            tick in prop_oneof![Just(1u64 << 33), Just(1 << 12), 1u64..1 << 36],
            steps in prop::collection::vec((0u32..400, 0u64..6, 0u32..8), 1..4000),
        ) {
            let mut queue = EventQueue::new(400);
            let mut due = std::collections::BTreeMap::new();
            let mut set = std::collections::BTreeSet::new();
            let mut now = 0;
            for (source, ticks, step) in steps {
                let at = Time::from_picos((now / tick + ticks) * tick + u64::from(step == 7));
                let at = at.max(Time::from_picos(now));
                if due.get(&source).is_none_or(|before| at < *before) {
                    if let Some(before) = due.insert(source, at) {
                        set.remove(&(before, source));
                    }
                    set.insert((at, source));
                }
                queue.wake(source, at);
                prop_assert_eq!(queue.next(), set.first().map_or(Time::NEVER, |first| first.0));
                if step == 0 {
                    let first = set.pop_first();
                    prop_assert_eq!(source_of(queue.pop_before(Time::NEVER)), first);
                    let Some((reached, woken)) = first else { continue };
                    due.remove(&woken);
                    now = reached.picos();
                }
            }
            while let Some(first) = set.pop_first() {
                prop_assert_eq!(source_of(queue.pop_before(Time::NEVER)), Some(first));
            }
            prop_assert_eq!(source_of(queue.pop_before(Time::NEVER)), None);
        }
    }

    /// Many flows set their timers behind one that comes first: each is compared with few, and all come in order.
    #[test]
    fn a_bucket_in_order_that_fills_becomes_a_crowd() {
        let at = |source: u32| Time::from_picos(5 + u64::from(source));
        let mut queue = EventQueue::new(4000);
        for source in [1, 0] {
            queue.wake(source, at(source));
        }
        assert_eq!(queue.pop_before(Time::from_picos(1)), None);
        crate::work::take_looks();
        for source in 2..4000 {
            queue.wake(source, at(source));
        }
        assert!(crate::work::take_looks() < 2 * 4000);
        for source in 0..4000 {
            assert_eq!(source_of(queue.pop_before(Time::NEVER)), Some((at(source), source)));
        }
    }

    #[test]
    fn the_calendar_follows_the_traffic() {
        let mut few = EventQueue::new(20);
        let mut many = EventQueue::new(300);
        let mut state = 1u64;
        for source in 0..20 {
            few.wake(source, Time::from_picos(u64::from(source)));
            many.wake(source, Time::from_picos(u64::from(source)));
        }
        for round in 0..200_000u64 {
            let popped = few.pop_before(Time::NEVER);
            assert_eq!(popped, many.pop_before(Time::NEVER));
            let (at, source) = source_of(popped).unwrap();
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Gaps from nanoseconds to seconds, in spells.
            let next = Time::from_picos(at.picos() + (state >> (24 + (round >> 14) % 24)));
            few.wake(source, next);
            many.wake(source, next);
        }
    }

    #[test]
    fn at_one_instant_the_lower_number_comes_first() {
        for sources in [4, 1000] {
            let mut queue = EventQueue::new(sources);
            for source in [3, 1, 2] {
                queue.wake(source, Time::from_picos(5));
            }
            let order: Vec<EventSource> = std::iter::from_fn(|| source_of(queue.pop_before(Time::NEVER)))
                .map(|(_, source)| source)
                .collect();
            assert_eq!(order, [1, 2, 3]);
        }
    }
}
