//! The buckets of the ring: each a list through the sources themselves, put in order when it is reached, or a crowd.

use super::{BUCKETS, Calendar, Least, NONE};
use crate::net::events::crowds::{Crowds, LEAST};
use crate::net::events::entry::{entry, source_of};
use crate::net::sources::EventSource;
use crate::units::Time;

impl Calendar {
    /// Puts a source into the bucket that is in order, which becomes a crowd if the place is far from its beginning.
    #[cold]
    pub(super) fn insert_in_order(&mut self, source: EventSource, slot: usize, due: &[Time]) {
        let at = due[source as usize];
        let is_before = |other: &EventSource| (due[*other as usize], *other) < (at, source);
        let (mut before, mut count) = (None, 0);
        for other in self.sources_from(self.heads[slot]).take_while(is_before).take(LEAST) {
            (before, count) = (Some(other), count + 1);
        }
        crate::work::looks(count);
        if count == LEAST
            && let Some(crowd) = self.crowd_at(slot, due)
        {
            self.in_order = BUCKETS;
            return self.crowds.insert(crowd, source, at);
        }
        match before {
            Some(before) => {
                self.after[source as usize] = std::mem::replace(&mut self.after[before as usize], source);
            }
            None => self.after[source as usize] = std::mem::replace(&mut self.heads[slot], source),
        }
    }

    /// Takes a source out of the ring; `false` if it is not there.
    pub(super) fn take_out(&mut self, source: EventSource, at: Time, bucket: u64, due: &[Time]) -> bool {
        let slot = bucket as usize % BUCKETS;
        if let Some(crowd) = self.crowd_at(slot, due) {
            let is_there = self.crowds.remove(crowd, source, at);
            if is_there {
                self.after_crowd(crowd, slot);
            }
            return is_there;
        }
        self.unlink(source, slot)
    }

    /// The crowd of a bucket, if it has one or is to have one from now on.
    pub(super) fn crowd_at(&mut self, slot: usize, due: &[Time]) -> Option<usize> {
        let head = self.heads[slot];
        if Crowds::named(head).is_some() || head == NONE {
            return Crowds::named(head);
        }
        self.sources_from(head).nth(LEAST - 1)?;
        let sources: Vec<EventSource> = self.sources_from(head).collect();
        crate::work::looks(sources.len());
        let crowd = self.crowds.gather(sources.into_iter().map(|source| (due[source as usize], source)));
        self.heads[slot] = Crowds::name(crowd);
        Some(crowd)
    }

    /// The sources of a bucket that is no crowd, from this one on.
    pub(super) fn sources_from(&self, head: u32) -> impl Iterator<Item = EventSource> {
        let given = |place: u32| (place != NONE).then_some(place);
        std::iter::successors(given(head), move |place| given(self.after[*place as usize]))
    }

    /// A source was taken out of a crowd.
    pub(super) fn after_crowd(&mut self, crowd: usize, slot: usize) {
        self.in_ring -= 1;
        if self.crowds.dissolve(crowd) {
            self.heads[slot] = NONE;
            self.empty(slot);
        }
    }

    /// Takes a source out of its bucket, which is no crowd; `false` if it is not there.
    pub(super) fn unlink(&mut self, source: EventSource, slot: usize) -> bool {
        let next = self.after[source as usize];
        let mut place = self.heads[slot];
        if place == source {
            self.heads[slot] = next;
        } else {
            while place != NONE && self.after[place as usize] != source {
                place = self.after[place as usize];
            }
            if place == NONE {
                return false;
            }
            self.after[place as usize] = next;
        }
        if self.heads[slot] == NONE {
            self.empty(slot);
        }
        self.in_ring -= 1;
        true
    }

    /// A bucket has nothing any more.
    #[inline]
    pub(super) fn empty(&mut self, slot: usize) {
        self.filled[slot / 64] &= !(1 << (slot % 64));
        if slot == self.in_order {
            self.in_order = BUCKETS;
        }
    }

    /// Puts the list of a bucket in order, or makes it a crowd.
    #[inline(never)]
    pub(super) fn put_in_order(&mut self, slot: usize, due: &[Time]) -> Least {
        if let Some(crowd) = self.crowd_at(slot, due) {
            return Least::Crowd(crowd);
        }
        let mut entries = [0; LEAST];
        let mut count = 0;
        for source in self.sources_from(self.heads[slot]) {
            entries[count] = entry(due[source as usize], source);
            count += 1;
        }
        crate::work::looks(count);
        let entries = &mut entries[..count];
        entries.sort_unstable();
        let mut next = NONE;
        for (_, source) in entries.iter().rev().map(|entry| source_of(*entry)) {
            self.after[source as usize] = next;
            next = source;
        }
        self.heads[slot] = next;
        self.in_order = slot;
        Least::Source(due[next as usize], next)
    }
}
