//! A calendar queue: a ring of buckets of equal width in time, each a short list. Entries
//! beyond the ring wait in a heap. The width follows the traffic: about one entry a bucket.

use super::heap::Heap;
use super::{Entry, Source};
use crate::units::Time;

const NONE: u32 = u32::MAX;
/// Pops between two looks at the width.
const REVIEW: u32 = 1 << 15;

#[derive(Clone, Copy, Debug)]
struct Node {
    at: Time,
    source: Source,
    next: u32,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Calendar {
    /// First node of each bucket's list.
    heads: Vec<u32>,
    /// One bit for each bucket that has entries.
    filled: Vec<u64>,
    nodes: Vec<Node>,
    /// First free node.
    free: u32,
    /// A bucket is 2^shift picoseconds wide.
    shift: u32,
    /// Number of the bucket that the next pop begins at, counted from time 0.
    current: u64,
    /// Entries beyond the ring, and the number of the first one's bucket.
    beyond: Heap,
    beyond_from: u64,
    in_ring: usize,
    pops: u32,
    reviewed_at: Time,
}

impl Calendar {
    pub(super) fn new(sources: usize) -> Calendar {
        let buckets = (sources * 4).next_power_of_two().clamp(1 << 10, 1 << 16);
        Calendar {
            heads: vec![NONE; buckets],
            filled: vec![0; buckets / 64],
            nodes: Vec::with_capacity(sources),
            free: NONE,
            shift: 20,
            current: 0,
            beyond: Heap::default(),
            beyond_from: u64::MAX,
            in_ring: 0,
            pops: 0,
            reviewed_at: Time::ZERO,
        }
    }

    fn bucket(&self, at: Time) -> u64 {
        at.picos() >> self.shift
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        // Never before the current bucket: an entry in the past comes at once.
        let bucket = self.bucket(entry.at).max(self.current);
        if bucket - self.current >= self.heads.len() as u64 {
            self.beyond_from = self.beyond_from.min(bucket);
            self.beyond.push(entry);
            return;
        }
        let slot = bucket as usize & (self.heads.len() - 1);
        let node = Node { at: entry.at, source: entry.source, next: self.heads[slot] };
        let place = self.free;
        if place == NONE {
            self.heads[slot] = self.nodes.len() as u32;
            self.nodes.push(node);
        } else {
            self.free = self.nodes[place as usize].next;
            self.nodes[place as usize] = node;
            self.heads[slot] = place;
        }
        self.filled[slot / 64] |= 1 << (slot % 64);
        self.in_ring += 1;
    }

    #[inline]
    pub(super) fn pop_before(&mut self, until: Time) -> Option<Entry> {
        let slot = self.seek()?;
        let (before, place) = self.least(slot);
        let Node { at, source, next } = self.nodes[place as usize];
        if at >= until {
            return None;
        }
        if before == NONE {
            self.heads[slot] = next;
            if next == NONE {
                self.filled[slot / 64] &= !(1 << (slot % 64));
            }
        } else {
            self.nodes[before as usize].next = next;
        }
        self.nodes[place as usize].next = self.free;
        self.free = place;
        self.in_ring -= 1;
        self.pops += 1;
        if self.pops == REVIEW {
            self.review(at);
        }
        Some(Entry { at, source })
    }

    pub(super) fn next(&self) -> Time {
        let beyond = self.beyond.next();
        let Some((_, slot)) = self.first_filled() else { return beyond };
        let (_, place) = self.least(slot);
        self.nodes[place as usize].at.min(beyond)
    }

    /// Moves to the first bucket with an entry and returns its slot.
    #[inline]
    fn seek(&mut self) -> Option<usize> {
        loop {
            match self.first_filled() {
                Some((bucket, slot)) if bucket < self.beyond_from => {
                    self.current = bucket;
                    // The ring reaches further now, and may reach the first entry beyond it.
                    if self.beyond_from - bucket < self.heads.len() as u64 {
                        self.fetch();
                    }
                    return Some(slot);
                }
                _ => {
                    let at = self.beyond.next();
                    if at == Time::NEVER && self.in_ring == 0 {
                        return None;
                    }
                    self.current = self
                        .bucket(at)
                        .max(self.current)
                        .min(self.first_filled().map_or(u64::MAX, |(bucket, _)| bucket));
                    self.fetch();
                }
            }
        }
    }

    /// The first bucket with an entry at or after the current one, and its slot.
    #[inline]
    fn first_filled(&self) -> Option<(u64, usize)> {
        if self.in_ring == 0 {
            return None;
        }
        let mask = self.heads.len() - 1;
        let begin = self.current as usize & mask;
        let mut word = begin / 64;
        let mut bits = self.filled[word] & (u64::MAX << (begin % 64));
        // Once round, and the first word again for the bits before `begin`.
        while bits == 0 {
            word = (word + 1) & (self.filled.len() - 1);
            bits = self.filled[word];
        }
        let slot = word * 64 + bits.trailing_zeros() as usize;
        let ahead = slot.wrapping_sub(begin) & mask;
        Some((self.current + ahead as u64, slot))
    }

    /// The least entry of a bucket and the node before it in the list.
    #[inline]
    fn least(&self, slot: usize) -> (u32, u32) {
        let mut best = self.heads[slot];
        let mut before_best = NONE;
        let mut before = best;
        let mut place = self.nodes[best as usize].next;
        while place != NONE {
            let (node, least) = (&self.nodes[place as usize], &self.nodes[best as usize]);
            if (node.at, node.source) < (least.at, least.source) {
                before_best = before;
                best = place;
            }
            before = place;
            place = node.next;
        }
        (before_best, best)
    }

    /// Takes into the ring what it now reaches.
    #[cold]
    fn fetch(&mut self) {
        let end = self.current + self.heads.len() as u64;
        while self.bucket(self.beyond.next()) < end && self.beyond.next() != Time::NEVER {
            let entry = self.beyond.pop_before(Time::NEVER).expect("there is a next");
            self.push(entry);
        }
        let next = self.beyond.next();
        self.beyond_from = if next == Time::NEVER { u64::MAX } else { self.bucket(next) };
    }

    /// Adapts the width to the mean gap between pops.
    #[cold]
    fn review(&mut self, now: Time) {
        let gap = now.saturating_since(self.reviewed_at).picos() / u64::from(self.pops);
        self.pops = 0;
        self.reviewed_at = now;
        let shift = gap.max(1).ilog2().clamp(4, 40);
        if shift.abs_diff(self.shift) > 1 {
            self.rebuild(shift, now);
        }
    }

    fn rebuild(&mut self, shift: u32, now: Time) {
        let mut entries = Vec::with_capacity(self.in_ring);
        for head in &mut self.heads {
            let mut place = std::mem::replace(head, NONE);
            while place != NONE {
                let Node { at, source, next } = self.nodes[place as usize];
                entries.push(Entry { at, source });
                place = next;
            }
        }
        while let Some(entry) = self.beyond.pop_before(Time::NEVER) {
            entries.push(entry);
        }
        self.filled.fill(0);
        self.nodes.clear();
        self.free = NONE;
        self.in_ring = 0;
        self.beyond = Heap::default();
        self.beyond_from = u64::MAX;
        self.shift = shift;
        self.current = self.bucket(now);
        for entry in entries {
            self.push(entry);
        }
    }
}
