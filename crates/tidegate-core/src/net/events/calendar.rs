//! A calendar queue: a ring of buckets of equal width in time. Each bucket is a list through the sources themselves.
//! Sources due beyond the ring wait apart until it reaches them. The width follows the traffic: about one source a
//! bucket.
//!
//! Where sources share an instant, as timers on ticks of one clock, no width helps. A list of a few sources is put in
//! order when its bucket is reached; a bucket with many becomes a crowd, which is kept in order.

mod buckets;

use std::collections::BTreeSet;

use super::crowds::Crowds;
use super::filled::first_filled;
use crate::net::sources::EventSource;
use crate::units::Time;

const NONE: u32 = super::crowds::NONE;
const BUCKETS: usize = 1 << 14;
/// Pops between two reviews of the width: few at first, when the traffic is not known, then twice as many each time.
const REVIEWS: std::ops::RangeInclusive<u32> = 1 << 8..=1 << 15;

/// A calendar queue of event sources. The times at which sources are due are kept elsewhere: every call is given their
/// list (`due`).
#[derive(Debug)]
pub(in crate::net) struct Calendar {
    /// First source of each bucket, or the name of its crowd ([`Crowds`]).
    heads: Box<[u32; BUCKETS]>,
    /// One bit for each bucket that has sources.
    filled: Box<[u64; BUCKETS / 64]>,
    /// The source after each in its bucket.
    after: Vec<u32>,
    crowds: Crowds,
    /// The bucket whose list is in order; [`BUCKETS`]: none.
    in_order: usize,
    in_ring: usize,
    /// A bucket is 2^shift picoseconds wide.
    shift: u32,
    /// Number of the bucket that the next pop begins at, counted from time 0.
    current: u64,
    /// Sources beyond the ring.
    beyond: BTreeSet<(Time, EventSource)>,
    /// Bucket of the first of them.
    beyond_from: u64,
    /// Pops until the next review of the width, and between the last review and that one.
    pops_left: u32,
    pops_between: u32,
    reviewed_at: Time,
}

impl Calendar {
    pub(in crate::net) fn new(sources: usize) -> Calendar {
        Calendar {
            heads: Box::new([NONE; BUCKETS]),
            filled: Box::new([0; BUCKETS / 64]),
            after: vec![NONE; sources],
            crowds: Crowds::default(),
            in_order: BUCKETS,
            in_ring: 0,
            shift: 20,
            current: 0,
            beyond: BTreeSet::new(),
            beyond_from: u64::MAX,
            pops_left: *REVIEWS.start(),
            pops_between: *REVIEWS.start(),
            reviewed_at: Time::ZERO,
        }
    }

    /// Inserts a source that is due at `at`, which is its entry in `due`.
    #[inline(always)]
    pub(in crate::net) fn insert(&mut self, source: EventSource, at: Time, due: &[Time]) {
        // Never before the current bucket: what is due in the past comes at once.
        let bucket = (at.picos() >> self.shift).max(self.current);
        if bucket - self.current >= BUCKETS as u64 {
            return self.insert_beyond(source, at, bucket);
        }
        let slot = bucket as usize % BUCKETS;
        self.in_ring += 1;
        if let Some(crowd) = Crowds::named(self.heads[slot]) {
            return self.crowds.insert(crowd, source, at);
        }
        if slot == self.in_order {
            return self.insert_in_order(source, slot, due);
        }
        self.after[source as usize] = self.heads[slot];
        self.heads[slot] = source;
        self.filled[slot / 64] |= 1 << (slot % 64);
    }

    #[cold]
    fn insert_beyond(&mut self, source: EventSource, at: Time, bucket: u64) {
        self.beyond_from = self.beyond_from.min(bucket);
        self.beyond.insert((at, source));
    }

    /// Takes out a source that was due at `at`.
    #[cold]
    pub(in crate::net) fn remove(&mut self, source: EventSource, at: Time, due: &[Time]) {
        let bucket = (at.picos() >> self.shift).max(self.current);
        if bucket - self.current >= BUCKETS as u64 || !self.take_out(source, at, bucket, due) {
            // It was inserted when the ring did not reach it yet.
            self.beyond.remove(&(at, source));
            self.find_beyond();
        }
    }

    #[inline(always)]
    pub(in crate::net) fn pop_before(&mut self, until: Time, due: &[Time]) -> Option<(Time, EventSource)> {
        let slot = self.seek(due)?;
        let mut source = self.heads[slot];
        if let Some(crowd) = Crowds::named(source) {
            return self.pop_crowd(until, slot, crowd, due);
        }
        let mut at = due[source as usize];
        if self.after[source as usize] != NONE {
            match self.least(slot, due) {
                Least::Source(first, whose) => (at, source) = (first, whose),
                Least::Crowd(crowd) => return self.pop_crowd(until, slot, crowd, due),
            }
        }
        if at >= until {
            return None;
        }
        if self.heads[slot] == source {
            let next = self.after[source as usize];
            self.heads[slot] = next;
            if next == NONE {
                self.empty(slot);
            }
            self.in_ring -= 1;
        } else {
            self.unlink(source, slot);
        }
        self.popped(at, due);
        Some((at, source))
    }

    /// Pops the first source of a crowd if it is due before `until`.
    #[inline(never)]
    fn pop_crowd(
        &mut self,
        until: Time,
        slot: usize,
        crowd: usize,
        due: &[Time],
    ) -> Option<(Time, EventSource)> {
        let (at, source) = self.crowds.pop_before(crowd, until)?;
        self.after_crowd(crowd, slot);
        self.popped(at, due);
        Some((at, source))
    }

    /// Counts a pop at `at`, and reviews the width when it is time.
    #[inline(always)]
    fn popped(&mut self, at: Time, due: &[Time]) {
        self.pops_left -= 1;
        if self.pops_left == 0 {
            self.review(at, due);
        }
    }

    /// The first source, and when it is due: [`Time::NEVER`] if there is none. For frequent calls: a bucket with many
    /// sources becomes a crowd.
    pub(in crate::net) fn find_first(&mut self, due: &[Time]) -> (Time, EventSource) {
        let beyond = self.beyond.first().copied().unwrap_or((Time::NEVER, NONE));
        let Some((_, slot)) = self.first_filled() else { return beyond };
        let first = match self.least(slot, due) {
            Least::Source(at, source) => (at, source),
            Least::Crowd(crowd) => self.crowds.first(crowd),
        };
        first.min(beyond)
    }

    /// The first source, and when it is due, by a search that leaves the calendar unchanged: [`Time::NEVER`] if there
    /// is none.
    pub(in crate::net) fn first(&self, due: &[Time]) -> (Time, EventSource) {
        let beyond = self.beyond.first().copied().unwrap_or((Time::NEVER, NONE));
        let Some((_, slot)) = self.first_filled() else { return beyond };
        let head = self.heads[slot];
        let first = match Crowds::named(head) {
            Some(crowd) => Some(self.crowds.first(crowd)),
            None => self.sources_from(head).map(|source| (due[source as usize], source)).min(),
        };
        first.map_or(beyond, |first| first.min(beyond))
    }

    /// Moves to the first bucket with a source and returns its slot.
    #[inline]
    fn seek(&mut self, due: &[Time]) -> Option<usize> {
        loop {
            match self.first_filled() {
                Some((bucket, slot)) if bucket < self.beyond_from => {
                    self.current = bucket;
                    // The ring reaches further now, and may reach the first beyond it.
                    if self.beyond_from - bucket < BUCKETS as u64 {
                        self.fetch(due);
                    }
                    return Some(slot);
                }
                None if self.beyond.is_empty() => return None,
                _ => {
                    self.current = self.beyond_from.max(self.current);
                    self.fetch(due);
                }
            }
        }
    }

    /// The first bucket with a source at or after the current one, and its slot.
    #[inline]
    fn first_filled(&self) -> Option<(u64, usize)> {
        if self.in_ring == 0 {
            return None;
        }
        let begin = self.current as usize % BUCKETS;
        let slot = first_filled(self.filled.as_slice(), begin)?;
        let ahead = slot.wrapping_sub(begin) % BUCKETS;
        Some((self.current + ahead as u64, slot))
    }

    /// The first source of a bucket, which is in order from now on.
    #[inline(always)]
    fn least(&mut self, slot: usize, due: &[Time]) -> Least {
        let head = self.heads[slot];
        if let Some(crowd) = Crowds::named(head) {
            return Least::Crowd(crowd);
        }
        if self.after[head as usize] == NONE || slot == self.in_order {
            return Least::Source(due[head as usize], head);
        }
        self.put_in_order(slot, due)
    }

    /// Takes into the ring what it now reaches.
    #[cold]
    fn fetch(&mut self, due: &[Time]) {
        let end = self.current.saturating_add(BUCKETS as u64);
        while let Some((at, source)) = self.beyond.first().copied() {
            if at.picos() >> self.shift >= end {
                break;
            }
            self.beyond.pop_first();
            debug_assert_eq!(due[source as usize], at);
            self.insert(source, at, due);
        }
        self.find_beyond();
    }

    fn find_beyond(&mut self) {
        let first = self.beyond.first().map(|(at, _)| at.picos() >> self.shift);
        self.beyond_from = first.unwrap_or(u64::MAX);
    }

    /// Adapts the width to the mean gap between pops.
    #[cold]
    fn review(&mut self, now: Time, due: &[Time]) {
        let gap = now.saturating_since(self.reviewed_at).picos() / u64::from(self.pops_between);
        self.pops_between = (self.pops_between * 2).min(*REVIEWS.end());
        self.pops_left = self.pops_between;
        self.reviewed_at = now;
        let shift = gap.max(1).ilog2().clamp(4, 40);
        if shift.abs_diff(self.shift) <= 1 {
            return;
        }
        let mut sources: Vec<EventSource> = self.beyond.iter().map(|(_, source)| *source).collect();
        for slot in 0..BUCKETS {
            let head = std::mem::replace(&mut self.heads[slot], NONE);
            if Crowds::named(head).is_none() {
                sources.extend(self.sources_from(head));
            }
        }
        sources.extend(self.crowds.take_all());
        self.filled.fill(0);
        self.in_order = BUCKETS;
        self.in_ring = 0;
        self.beyond.clear();
        self.beyond_from = u64::MAX;
        self.shift = shift;
        self.current = now.picos() >> shift;
        for source in sources {
            self.insert(source, due[source as usize], due);
        }
    }
}

/// The first source of a bucket.
enum Least {
    Source(Time, EventSource),
    /// The first source of this crowd.
    Crowd(usize),
}
