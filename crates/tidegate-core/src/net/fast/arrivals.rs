//! Units on their way to the first place where several inputs meet, for one direction of all connections
//! ([`super::directions`]). The other direction sends them some time before they are handled
//! here. So they wait in buckets of time without order, and are put in order when their bucket is opened.

use std::collections::BTreeMap;

use crate::net::events::first_filled;
use crate::net::fast::deal::deal;
use crate::net::sources::EventSource;
use crate::unit::Unit;
use crate::units::{Span, Time};

const BUCKETS: u64 = 512;
const WORDS: usize = BUCKETS as usize / 64;
/// In a bucket with fewer units, each is inserted at its place among those before it.
const FEW: usize = 8;
/// After a bucket that was far from sorted, so many are distributed without trying an insertion sort first.
const ALIKE: u32 = 15;

/// The units on their way to one direction, in buckets of time.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// The units of opened buckets, in order. Those before `place` have been handled.
    open: Vec<(Time, Unit)>,
    place: usize,
    /// The value of `place` when the lent units are back.
    come: usize,
    /// A bucket is 2^shift picoseconds wide.
    shift: u32,
    /// The first bucket that has not been opened, counted from time 0.
    next: u64,
    /// The buckets from `next` on, each at its number modulo their count.
    ring: Box<[Vec<(Time, Unit)>; BUCKETS as usize]>,
    /// One bit for each that has units.
    filled: [u64; WORDS],
    /// Buckets that the ring did not reach when something was put in.
    beyond: BTreeMap<u64, Vec<(Time, Unit)>>,
    /// Memory of opened buckets, for those that are filled next: it is still in the cache.
    rooms: Vec<Vec<(Time, Unit)>>,
    /// A unit on its way to [`Arrivals::push_stray`]. As an argument it would have to be in memory, and then so would be
    /// all others that are put in.
    stray: Vec<(Time, Unit)>,
    /// While a bucket is put in order: the number of units in each part of it, then the place of the part's next unit.
    counts: Vec<u32>,
    /// The number of buckets that are still distributed without trying an insertion sort ([`ALIKE`]).
    unordered: u32,
}

impl Arrivals {
    /// `width`: that of a bucket, about.
    pub(super) fn new(width: Span) -> Arrivals {
        Arrivals {
            open: Vec::new(),
            place: 0,
            come: 0,
            shift: width.picos().max(1).ilog2(),
            next: 0,
            ring: Box::new([const { Vec::new() }; BUCKETS as usize]),
            filled: [0; WORDS],
            beyond: BTreeMap::new(),
            rooms: Vec::new(),
            stray: Vec::new(),
            counts: Vec::new(),
            unordered: 0,
        }
    }

    /// The bucket width for delays up to this one.
    pub(super) fn least_width(delay: Span) -> Span {
        Span::from_picos(delay.picos() / (BUCKETS / 2))
    }

    /// The beginning of the bucket that contains `at`.
    pub(super) fn begin_of_bucket(&self, at: Time) -> Time {
        Time::from_picos(at.picos() >> self.shift << self.shift)
    }

    /// A unit comes at `at`. `rank`: as in [`Arrivals::open_before`].
    #[inline(always)]
    pub(super) fn push(&mut self, at: Time, unit: Unit, rank: &[EventSource]) {
        let bucket = at.picos() >> self.shift;
        if bucket.wrapping_sub(self.next) >= BUCKETS {
            self.stray.push((at, unit));
            return self.push_stray(rank);
        }
        let slot = (bucket % BUCKETS) as usize;
        if self.ring[slot].len() == self.ring[slot].capacity() {
            self.make_room(slot);
        }
        self.ring[slot].push((at, unit));
    }

    /// Room for one more in a bucket that has none.
    #[inline(never)]
    fn make_room(&mut self, slot: usize) {
        let units = &mut self.ring[slot];
        if units.capacity() == 0 {
            *units = self.rooms.pop().unwrap_or_default();
            self.filled[slot / 64] |= 1 << (slot % 64);
        }
        units.reserve(1);
    }

    /// Puts in the unit that is no part of the ring.
    #[cold]
    fn push_stray(&mut self, rank: &[EventSource]) {
        while let Some((at, unit)) = self.stray.pop() {
            self.push_elsewhere(at, unit, rank);
        }
    }

    #[cold]
    fn push_elsewhere(&mut self, at: Time, unit: Unit, rank: &[EventSource]) {
        let bucket = at.picos() >> self.shift;
        if bucket >= self.next {
            return self.beyond.entry(bucket).or_default().push((at, unit));
        }
        let stray = (at, unit);
        let place = self.open[self.place..].partition_point(|other| !is_after(other, &stray, rank));
        self.open.insert(self.place + place, stray);
    }

    /// The next unit, if its bucket is open.
    #[inline(always)]
    pub(super) fn head(&self) -> Option<(Time, Unit)> {
        self.open.get(self.place).copied()
    }

    /// Removes the next unit.
    #[inline(always)]
    pub(super) fn take(&mut self) {
        self.place += 1;
    }

    /// The remaining units of the open bucket, in order.
    #[inline(always)]
    pub(super) fn open_units(&mut self) -> &mut [(Time, Unit)] {
        &mut self.open[self.place..]
    }

    /// Lends the remaining units of opened buckets until [`Arrivals::give_back`]. Returns the place of the first.
    #[inline(always)]
    pub(super) fn lend(&mut self, units: &mut Vec<(Time, Unit)>) -> usize {
        std::mem::swap(&mut self.open, units);
        self.come = std::mem::replace(&mut self.place, 0);
        self.come
    }

    /// The first so many of the lent units have come: they are removed.
    #[inline(always)]
    pub(super) fn remove_lent(&mut self, count: usize) {
        self.come += count;
    }

    /// Takes the lent units back.
    #[inline(always)]
    pub(super) fn give_back(&mut self, units: &mut Vec<(Time, Unit)>, rank: &[EventSource]) {
        std::mem::swap(&mut self.open, units);
        self.place = self.come;
        for (at, unit) in units.drain(..) {
            self.push_elsewhere(at, unit, rank);
        }
    }

    /// Lower bound on the next arrival, of those that are not lent.
    pub(super) fn from(&self) -> Time {
        match self.open.get(self.place) {
            Some((at, _)) => *at,
            None => Time::from_picos(self.first_closed().map_or(u64::MAX, |bucket| bucket << self.shift)),
        }
    }

    /// Opens buckets until the next unit is known or would not come before `until`. At one instant the unit
    /// whose stretch has the lower `rank` comes first.
    #[inline(never)]
    pub(super) fn open_before(&mut self, until: Time, rank: &[EventSource]) {
        while self.place == self.open.len() {
            let Some(bucket) = self.first_closed().filter(|bucket| bucket << self.shift < until.picos())
            else {
                return;
            };
            let slot = (bucket % BUCKETS) as usize;
            let mut units = std::mem::take(&mut self.ring[slot]);
            self.filled[slot / 64] &= !(1 << (slot % 64));
            if let Some(more) = self.beyond.remove(&bucket) {
                // Put in before the others of the same sender.
                units.splice(0..0, more);
            }
            self.next = bucket + 1;
            self.put_in_order(units, bucket, rank);
        }
    }

    /// All remaining units, in order.
    pub(super) fn take_all(mut self, rank: &[EventSource]) -> Vec<(Time, Unit)> {
        let mut units = Vec::new();
        loop {
            units.extend_from_slice(&self.open[self.place..]);
            self.place = self.open.len();
            self.open_before(Time::NEVER, rank);
            if self.head().is_none() {
                return units;
            }
        }
    }

    /// The first bucket with a unit that has not been opened.
    fn first_closed(&self) -> Option<u64> {
        let beyond = self.beyond.first_key_value().map(|(bucket, _)| *bucket);
        // A bucket may have units in both.
        self.first_in_ring().into_iter().chain(beyond).min()
    }

    fn first_in_ring(&self) -> Option<u64> {
        let begin = (self.next % BUCKETS) as usize;
        let slot = first_filled(&self.filled, begin)?;
        Some(self.next + (slot.wrapping_sub(begin) % BUCKETS as usize) as u64)
    }

    /// Makes a bucket the open one.
    fn put_in_order(&mut self, mut units: Vec<(Time, Unit)>, bucket: u64, rank: &[EventSource]) {
        self.place = 0;
        if self.puts_few_in_order(&mut units, rank) {
            std::mem::swap(&mut self.open, &mut units);
        } else {
            self.distribute(&units, bucket);
            move_few(&mut self.open, usize::MAX, rank);
        }
        units.clear();
        self.rooms.push(units);
    }

    /// Sorts units that are few or nearly in order, as they are where all flows have one delay. `false`: they are too far from order; they
    /// are not sorted, but units with equal keys are still in their original order.
    #[inline(always)]
    fn puts_few_in_order(&mut self, units: &mut [(Time, Unit)], rank: &[EventSource]) -> bool {
        if units.len() < FEW {
            return move_few(units, usize::MAX, rank);
        }
        if self.unordered > 0 {
            self.unordered -= 1;
            return false;
        }
        let ordered = move_few(units, units.len() / 4, rank);
        self.unordered = if ordered { 0 } else { ALIKE };
        ordered
    }

    /// Deals a bucket's units out over as many parts of it.
    fn distribute(&mut self, units: &[(Time, Unit)], bucket: u64) {
        let parts = units.len().next_power_of_two();
        let begin = bucket << self.shift;
        let shift = self.shift.saturating_sub(parts.ilog2());
        let part = |(at, _): &(Time, Unit)| ((at.picos() - begin) >> shift) as usize;
        deal(units, (parts, part), &mut self.counts, &mut self.open);
    }

    /// Bytes held.
    pub(super) fn memory_bytes(&self) -> u64 {
        let closed = self.ring.iter().chain(self.beyond.values()).chain(&self.rooms);
        let units = closed.map(Vec::capacity).sum::<usize>() + self.open.capacity();
        (units * size_of::<(Time, Unit)>()) as u64
    }
}

/// Stable insertion sort. `false`: it needs more than `most` moves and was given up; units with equal keys are still in their
/// original order.
#[inline(always)]
fn move_few(units: &mut [(Time, Unit)], most: usize, rank: &[EventSource]) -> bool {
    let mut moves = 0;
    for end in 1..units.len() {
        if units[end - 1].0 >= units[end].0 {
            moves += put_among(&mut units[..=end], rank);
            if moves > most {
                return false;
            }
        }
    }
    true
}

/// Moves the last unit to its place among the sorted ones before it. Returns the number of places it moved.
#[inline(always)]
fn put_among(units: &mut [(Time, Unit)], rank: &[EventSource]) -> usize {
    let last = units.len() - 1;
    let mut place = last;
    let unit = units[place];
    while place > 0 && is_after(&units[place - 1], &unit, rank) {
        units[place] = units[place - 1];
        place -= 1;
    }
    units[place] = unit;
    last - place
}

/// Whether `one` comes after `other`; at one instant that is so if the `rank` of its stretch is higher.
#[inline]
fn is_after((at, one): &(Time, Unit), (before, other): &(Time, Unit), rank: &[EventSource]) -> bool {
    at > before || (at == before && rank[one.stretch as usize] > rank[other.stretch as usize])
}

#[cfg(test)]
mod tests;
