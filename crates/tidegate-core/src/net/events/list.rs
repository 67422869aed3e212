//! A sorted list of few entries, the next one last.

use super::MANY;
use super::entry::{entry, source_of};
use crate::net::sources::EventSource;
use crate::units::Time;

/// Room for every source, as a power of two: an index that is masked needs no check.
const ROOM: usize = MANY.next_power_of_two();

/// A sorted list of few event sources.
#[derive(Debug)]
pub(super) struct List {
    entries: [u128; ROOM],
    len: usize,
}

impl Default for List {
    fn default() -> List {
        List { entries: [0; ROOM], len: 0 }
    }
}

impl List {
    #[inline]
    pub(super) fn insert(&mut self, source: EventSource, at: Time) {
        let entry = entry(at, source);
        let mut place = self.len;
        self.len += 1;
        while place > 0 {
            let before = self.entries[(place - 1) % ROOM];
            if before > entry {
                break;
            }
            self.entries[place % ROOM] = before;
            place -= 1;
        }
        self.entries[place % ROOM] = entry;
    }

    #[cold]
    pub(super) fn remove(&mut self, source: EventSource) {
        let Some(place) = self.entries[..self.len].iter().position(|entry| source_of(*entry).1 == source)
        else {
            return;
        };
        self.entries.copy_within(place + 1..self.len, place);
        self.len -= 1;
    }

    #[inline]
    pub(super) fn pop_before(&mut self, until: Time) -> Option<(Time, EventSource)> {
        let last = self.len.checked_sub(1)?;
        let (at, source) = source_of(self.entries[last % ROOM]);
        if at >= until {
            return None;
        }
        self.len = last;
        Some((at, source))
    }

    pub(super) fn next(&self) -> Time {
        match self.len {
            0 => Time::NEVER,
            len => source_of(self.entries[len - 1]).0,
        }
    }
}
