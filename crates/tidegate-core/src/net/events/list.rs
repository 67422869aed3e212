//! A sorted list of few entries, the next one last.

use super::Source;
use crate::units::Time;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct List {
    entries: Vec<(Time, Source)>,
}

impl List {
    #[inline]
    pub(super) fn insert(&mut self, source: Source, at: Time) {
        self.entries.push((at, source));
        let mut place = self.entries.len() - 1;
        while let Some(before) = place.checked_sub(1) {
            let (time, other) = self.entries[before];
            if time > at || (time == at && other > source) {
                break;
            }
            self.entries[place] = (time, other);
            place = before;
        }
        self.entries[place] = (at, source);
    }

    #[cold]
    pub(super) fn remove(&mut self, source: Source) {
        self.entries.retain(|(_, other)| *other != source);
    }

    #[inline]
    pub(super) fn pop_before(&mut self, until: Time) -> Option<(Time, Source)> {
        let (at, source) = *self.entries.last()?;
        if at >= until {
            return None;
        }
        self.entries.pop();
        Some((at, source))
    }

    pub(super) fn next(&self) -> Time {
        self.entries.last().map_or(Time::NEVER, |(at, _)| *at)
    }
}
