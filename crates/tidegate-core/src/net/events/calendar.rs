//! A calendar queue: a ring of buckets of equal width in time. Each bucket is a list through
//! the sources themselves. Sources due beyond the ring wait apart until it reaches them. The
//! width follows the traffic: about one source a bucket.

use std::collections::BTreeSet;

use super::filled::first_filled;
use crate::net::sources::EventSource;
use crate::units::Time;

const NONE: u32 = u32::MAX;
const BUCKETS: usize = 1 << 14;
/// Pops between two looks at the width.
const REVIEW: u32 = 1 << 15;

/// See the module. It does not keep when a source is due: every call is given that list (`due`).
#[derive(Debug)]
pub(in crate::net) struct Calendar {
    /// First source of each bucket.
    heads: Box<[u32; BUCKETS]>,
    /// One bit for each bucket that has sources.
    filled: Box<[u64; BUCKETS / 64]>,
    /// The source after each in its bucket.
    after: Vec<u32>,
    in_ring: usize,
    /// A bucket is 2^shift picoseconds wide.
    shift: u32,
    /// Number of the bucket that the next pop begins at, counted from time 0.
    current: u64,
    /// Sources beyond the ring.
    beyond: BTreeSet<(Time, EventSource)>,
    /// Bucket of the first of them.
    beyond_from: u64,
    pops: u32,
    reviewed_at: Time,
}

impl Calendar {
    pub(in crate::net) fn new(sources: usize) -> Calendar {
        Calendar {
            heads: Box::new([NONE; BUCKETS]),
            filled: Box::new([0; BUCKETS / 64]),
            after: vec![NONE; sources],
            in_ring: 0,
            shift: 20,
            current: 0,
            beyond: BTreeSet::new(),
            beyond_from: u64::MAX,
            pops: 0,
            reviewed_at: Time::ZERO,
        }
    }

    #[inline(always)]
    pub(in crate::net) fn insert(&mut self, source: EventSource, at: Time) {
        // Never before the current bucket: what is due in the past comes at once.
        let bucket = (at.picos() >> self.shift).max(self.current);
        if bucket - self.current >= BUCKETS as u64 {
            return self.insert_beyond(source, at, bucket);
        }
        let slot = bucket as usize % BUCKETS;
        self.after[source as usize] = self.heads[slot];
        self.heads[slot] = source;
        self.filled[slot / 64] |= 1 << (slot % 64);
        self.in_ring += 1;
    }

    #[cold]
    fn insert_beyond(&mut self, source: EventSource, at: Time, bucket: u64) {
        self.beyond_from = self.beyond_from.min(bucket);
        self.beyond.insert((at, source));
    }

    /// Takes out a source that was due at `at`.
    #[cold]
    pub(in crate::net) fn remove(&mut self, source: EventSource, at: Time) {
        let bucket = (at.picos() >> self.shift).max(self.current);
        if bucket - self.current >= BUCKETS as u64 || !self.unlink(source, bucket as usize % BUCKETS) {
            // Put in when the ring ended before it.
            self.beyond.remove(&(at, source));
            self.find_beyond();
        }
    }

    /// Takes a source out of its bucket; `false` if it is not there.
    fn unlink(&mut self, source: EventSource, slot: usize) -> bool {
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
            self.filled[slot / 64] &= !(1 << (slot % 64));
        }
        self.in_ring -= 1;
        true
    }

    #[inline(always)]
    pub(in crate::net) fn pop_before(&mut self, until: Time, due: &[Time]) -> Option<(Time, EventSource)> {
        let slot = self.seek(due)?;
        let mut source = self.heads[slot];
        let mut at = due[source as usize];
        if self.after[source as usize] != NONE {
            (at, source) = self.least(slot, due);
        }
        if at >= until {
            return None;
        }
        if self.heads[slot] == source {
            let next = self.after[source as usize];
            self.heads[slot] = next;
            if next == NONE {
                self.filled[slot / 64] &= !(1 << (slot % 64));
            }
            self.in_ring -= 1;
        } else {
            self.unlink(source, slot);
        }
        self.pops += 1;
        if self.pops == REVIEW {
            self.review(at, due);
        }
        Some((at, source))
    }

    /// The first source, and when it is due: [`Time::NEVER`] if there is none.
    pub(in crate::net) fn first(&self, due: &[Time]) -> (Time, EventSource) {
        let beyond = self.beyond.first().copied().unwrap_or((Time::NEVER, NONE));
        match self.first_filled() {
            None => beyond,
            Some((_, slot)) => self.least(slot, due).min(beyond),
        }
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

    /// The first source of a bucket.
    #[inline(never)]
    fn least(&self, slot: usize, due: &[Time]) -> (Time, EventSource) {
        let mut place = self.heads[slot];
        let mut best = (due[place as usize], place);
        loop {
            place = self.after[place as usize];
            if place == NONE {
                return best;
            }
            best = best.min((due[place as usize], place));
        }
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
            self.insert(source, at);
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
        let gap = now.saturating_since(self.reviewed_at).picos() / u64::from(self.pops);
        self.pops = 0;
        self.reviewed_at = now;
        let shift = gap.max(1).ilog2().clamp(4, 40);
        if shift.abs_diff(self.shift) <= 1 {
            return;
        }
        let mut sources: Vec<EventSource> = self.beyond.iter().map(|(_, source)| *source).collect();
        for head in self.heads.iter_mut() {
            let mut place = std::mem::replace(head, NONE);
            while place != NONE {
                sources.push(place);
                place = self.after[place as usize];
            }
        }
        self.filled.fill(0);
        self.in_ring = 0;
        self.beyond.clear();
        self.beyond_from = u64::MAX;
        self.shift = shift;
        self.current = now.picos() >> shift;
        for source in sources {
            self.insert(source, due[source as usize]);
        }
    }
}
