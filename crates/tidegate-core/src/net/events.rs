//! The event queue: which source comes next. One entry per source, never one per packet.
//!
//! The order is total: time, then the source's number, which says what comes first at one
//! instant. A heap serves few sources, a calendar many; both give the same order.

mod calendar;
mod heap;

use calendar::Calendar;

use crate::units::Time;

/// A source of events: its number is its rank at one instant.
pub type Source = u32;

/// From so many sources on the calendar is faster than a sorted list.
const MANY: usize = 24;

/// When each source wakes next.
#[derive(Debug)]
pub(super) struct EventQueue {
    /// The instant each source waits for; [`Time::NEVER`] when it sleeps.
    due: Vec<Time>,
    /// The next one last; used while there is no calendar.
    list: Vec<Entry>,
    calendar: Option<Box<Calendar>>,
}

/// An entry: when, and who.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    at: Time,
    source: Source,
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Entry) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn lt(&self, other: &Entry) -> bool {
        self.at < other.at || (self.at == other.at && self.source < other.source)
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> std::cmp::Ordering {
        (self.at, self.source).cmp(&(other.at, other.source))
    }
}

impl EventQueue {
    /// A queue in which all `sources` sleep.
    #[must_use]
    pub(super) fn new(sources: usize) -> EventQueue {
        let calendar = (sources >= MANY).then(|| Box::new(Calendar::new(sources)));
        EventQueue { due: vec![Time::NEVER; sources], list: Vec::new(), calendar }
    }

    /// Wakes `source` at `at`, unless it wakes earlier anyway. A source that is woken early
    /// finds nothing to do and asks again, so nothing ever has to be taken out.
    #[inline]
    pub(super) fn wake(&mut self, source: Source, at: Time) {
        let due = &mut self.due[source as usize];
        if at >= *due {
            return;
        }
        *due = at;
        self.push(Entry { at, source });
    }

    fn push(&mut self, entry: Entry) {
        if let Some(calendar) = &mut self.calendar {
            return calendar.push(entry);
        }
        self.list.push(entry);
        let mut place = self.list.len() - 1;
        while place > 0 && self.list[place - 1] < entry {
            self.list[place] = self.list[place - 1];
            place -= 1;
        }
        self.list[place] = entry;
    }

    /// The next source to wake before `until`; it sleeps from now on.
    #[inline]
    pub(super) fn pop_before(&mut self, until: Time) -> Option<(Time, Source)> {
        loop {
            let entry = match &mut self.calendar {
                Some(calendar) => calendar.pop_before(until)?,
                None => self.list.pop_if(|entry| entry.at < until)?,
            };
            let due = &mut self.due[entry.source as usize];
            // A later entry of a source that was woken earlier since is stale.
            if *due == entry.at {
                *due = Time::NEVER;
                return Some((entry.at, entry.source));
            }
        }
    }

    /// No source wakes before this.
    #[must_use]
    pub(super) fn next(&self) -> Time {
        match &self.calendar {
            Some(calendar) => calendar.next(),
            None => self.list.last().map_or(Time::NEVER, |entry| entry.at),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The same order from both, whatever is woken when.
        #[test]
        fn list_and_calendar_agree(
            steps in prop::collection::vec((0u32..200, 0u64..1u64 << 44, 0u32..60), 1..2000),
        ) {
            let mut few = EventQueue { due: vec![Time::NEVER; 200], list: vec![], calendar: None };
            let mut calendar = EventQueue::new(200);
            prop_assert!(calendar.calendar.is_some());
            let mut now = 0;
            for (source, span, shift) in steps {
                let at = Time::from_picos(now + (span >> shift));
                few.wake(source, at);
                calendar.wake(source, at);
                prop_assert_eq!(calendar.next(), few.next());
                if shift % 2 == 0 {
                    let until = Time::from_picos(now + (1 << 43));
                    let popped = few.pop_before(until);
                    prop_assert_eq!(popped, calendar.pop_before(until));
                    now = popped.map_or(now, |(at, _)| at.picos());
                }
            }
            loop {
                let popped = few.pop_before(Time::NEVER);
                prop_assert_eq!(popped, calendar.pop_before(Time::NEVER));
                let Some((at, _)) = popped else { break };
                prop_assert!(at.picos() >= now);
                now = at.picos();
            }
        }
    }

    #[test]
    fn at_one_instant_the_lower_number_comes_first() {
        for sources in [4, 1000] {
            let mut queue = EventQueue::new(sources);
            for source in [3, 1, 2] {
                queue.wake(source, Time::from_picos(5));
            }
            let order: Vec<Source> =
                std::iter::from_fn(|| queue.pop_before(Time::NEVER)).map(|(_, source)| source).collect();
            assert_eq!(order, [1, 2, 3]);
        }
    }
}
