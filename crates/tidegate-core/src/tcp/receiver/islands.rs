//! What has arrived ahead of a gap: the islands in order, and those that arrived last.

use std::collections::VecDeque;

use crate::tcp::segment::MOST_BLOCKS;

/// A stretch that arrived ahead of a gap: the bytes from `start` to before `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Island {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// All of them, in order: disjoint and not touching.
#[derive(Debug, Default)]
pub(super) struct Islands(VecDeque<Island>);

/// What became of a stretch that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Joined {
    /// It, and the islands that it touched or overlapped, as one.
    pub(super) island: Island,
    /// Bytes of it that were not there before.
    pub(super) new: u64,
    /// Islands that it touched or overlapped.
    pub(super) count: usize,
}

impl Joined {
    fn with(start: u64, end: u64) -> Joined {
        Joined { island: Island { start, end }, new: end - start, count: 0 }
    }

    /// `other` touches or overlaps `[start, end)`, which arrived; `again` hears of what they have in common, if anything, and whether
    /// that is the beginning of what arrived (`tcp_data_queue_ofo`: not where `other` begins with it and is shorter).
    fn join(&mut self, (start, end): (u64, u64), other: Island, again: &mut impl FnMut((u64, u64), bool)) {
        let (left, right) = (other.start.max(start), other.end.min(end));
        if left < right {
            again((left, right), other.start < start || (other.start == start && end <= other.end));
        }
        self.new -= right - left;
        self.island.start = self.island.start.min(other.start);
        self.island.end = self.island.end.max(other.end);
        self.count += 1;
    }
}

impl Islands {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// User bytes in all of them.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|island| island.end - island.start).sum()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The highest one.
    pub(super) fn last(&self) -> Option<Island> {
        self.0.back().copied()
    }

    /// The highest one, if it ends at `offset`.
    #[inline]
    pub(super) fn last_up_to(&mut self, offset: u64) -> Option<&mut Island> {
        self.0.back_mut().filter(|last| last.end == offset)
    }

    /// The place of the first that ends at `offset` or later.
    fn find(&self, offset: u64) -> usize {
        match self.0.back() {
            // New data usually continue the last one, or come behind it.
            Some(last) if last.start <= offset => self.0.len() - usize::from(last.end >= offset),
            _ => self.0.partition_point(|island| island.end < offset),
        }
    }

    /// The first that `[start, end)` touches or overlaps.
    pub(super) fn touching(&self, start: u64, end: u64) -> Option<Island> {
        self.0.get(self.find(start)).copied().filter(|island| island.start <= end)
    }

    /// Adds `[start, end)`; `again` hears of each part that was there before.
    pub(super) fn insert(&mut self, start: u64, end: u64, mut again: impl FnMut((u64, u64), bool)) -> Joined {
        let place = self.find(start);
        let mut joined = Joined::with(start, end);
        while let Some(island) = self.0.get(place + joined.count).filter(|island| island.start <= end) {
            joined.join((start, end), *island, &mut again);
        }
        match joined.count {
            0 => self.0.insert(place, joined.island),
            count => {
                self.0[place] = joined.island;
                for _ in 1..count {
                    self.0.remove(place + 1);
                }
            }
        }
        joined
    }

    /// `[start, end)` arrived, and there is no gap below it: takes out the islands that it reaches, which are none any more.
    pub(super) fn reach(&mut self, start: u64, end: u64, mut again: impl FnMut((u64, u64), bool)) -> Joined {
        let mut joined = Joined::with(start, end);
        while let Some(island) = self.0.front().filter(|island| island.start <= end) {
            joined.join((start, end), *island, &mut again);
            self.0.pop_front();
        }
        joined
    }
}

/// The low 32 bits of an island's bounds. No gap is as long as 2³¹ bytes: the wire could not name what lies beyond it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Bounds {
    fn of(island: Island) -> Bounds {
        Bounds { start: island.start as u32, end: island.end as u32 }
    }

    fn holds(self, offset: u32) -> bool {
        offset.wrapping_sub(self.start) < self.end.wrapping_sub(self.start)
    }
}

/// The islands that arrived last, newest first (RFC 2018 §4). Behind them are empty ones.
#[derive(Debug, Default)]
pub(super) struct Recent([Bounds; MOST_BLOCKS]);

impl Recent {
    /// The newest island has grown to `island`. `false`: another one is the newest, and nothing has changed.
    #[inline]
    pub(super) fn lengthen(&mut self, island: Island) -> bool {
        let longer = Bounds::of(island);
        let was_newest = self.0[0].start == longer.start;
        if was_newest {
            self.0[0] = longer;
        }
        was_newest
    }

    /// What has just arrived is the newest.
    pub(super) fn remember(&mut self, joined: &Joined) {
        let newest = Bounds::of(joined.island);
        // Usually it was so before, and has become longer.
        if joined.count != 1 || self.0[0].start != newest.start {
            self.keep(1, |island| !newest.holds(island.start));
        }
        self.0[0] = newest;
    }

    /// Everything below `next` has arrived: islands below it are none any more, and their places go to those that came
    /// before them (RFC 2018 §4).
    pub(super) fn forget_reached(&mut self, next: u64) {
        self.keep(0, |island| island.start.wrapping_sub(next as u32).cast_signed() > 0);
    }

    /// Moves those that `stays` says to `place` and the places behind it, as far as there are any.
    fn keep(&mut self, place: usize, stays: impl Fn(&Bounds) -> bool) {
        let mut kept = [Bounds::default(); MOST_BLOCKS];
        for (to, island) in kept[place..].iter_mut().zip(self.0.iter().filter(|island| stays(island))) {
            *to = *island;
        }
        self.0 = kept;
    }

    /// Their bounds, newest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Bounds> {
        self.0.iter().copied().take_while(|island| island.start != island.end)
    }

    /// Whether `island` is the newest or the one before it.
    pub(super) fn is_of_two(&self, island: Island) -> bool {
        self.0[..2].contains(&Bounds::of(island))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes that the tests look at.
    const BYTES: u64 = 320;

    /// The islands of bytes that are there, from `next` on; the first byte is at offset `base`.
    fn islands_of(bytes: &[bool], base: u64, next: u64) -> Vec<Island> {
        let mut islands: Vec<Island> = Vec::new();
        for offset in (next..base + BYTES).filter(|offset| bytes[(offset - base) as usize]) {
            match islands.last_mut() {
                Some(last) if last.end == offset => last.end += 1,
                _ => islands.push(Island { start: offset, end: offset + 1 }),
            }
        }
        islands
    }

    proptest! {
        /// Stretches arrive in any order. The islands are those of the bytes that have arrived, however they are found. The
        /// recent ones are those of the bytes that arrived last, as far as four are remembered, also where the wire's numbers
        /// wrap.
        #[test]
        fn islands_are_what_has_arrived(
            base in prop::sample::select(vec![0, (1_u64 << 32) - 150]),
            arrivals in prop::collection::vec((0..BYTES - 20, 1_u64..20), 1..100),
        ) {
            let mut bytes = vec![false; BYTES as usize];
            let mut next = base;
            let (mut islands, mut recent) = (Islands::default(), Recent::default());
            let mut expected: Vec<u64> = Vec::new();
            for (start, len) in arrivals {
                let end = base + start + len;
                if end <= next {
                    continue;
                }
                let start = (base + start).max(next);
                let there = islands_of(&bytes, base, next);
                let touched = there.iter().find(|island| island.start <= end && start <= island.end);
                prop_assert_eq!(islands.touching(start, end), touched.copied());
                let mut told = 0;
                let again = |(left, right): (u64, u64), _| {
                    assert!(left < right && there.iter().any(|island| island.start <= left && right <= island.end));
                    told += right - left;
                };
                let continued = islands.last_up_to(start).map(|last| last.start);
                let joined =
                    if start == next { islands.reach(start, end, again) } else { islands.insert(start, end, again) };
                let stretch = &mut bytes[(start - base) as usize..(end - base) as usize];
                let missing = stretch.iter().filter(|arrived| !**arrived).count() as u64;
                stretch.fill(true);
                prop_assert_eq!((joined.new, told), (missing, end - start - missing));
                let island = joined.island;
                expected.retain(|offset| !(island.start..island.end).contains(offset));
                expected.insert(0, island.start);
                expected.truncate(4);
                let mut lengthened = Recent(recent.0);
                recent.remember(&joined);
                if let Some(first) = continued {
                    prop_assert_eq!(joined, Joined { island: Island { start: first, end }, new: end - start, count: 1 });
                    prop_assert!(!lengthened.lengthen(island) || lengthened.0 == recent.0);
                }
                if start == next {
                    next = island.end;
                    expected.retain(|offset| *offset > next);
                    recent.forget_reached(next);
                }
                let now_there = islands_of(&bytes, base, next);
                prop_assert_eq!(islands.0.iter().copied().collect::<Vec<_>>(), now_there.clone());
                prop_assert_eq!((islands.len(), islands.last()), (now_there.len(), now_there.last().copied()));
                let holding = |offset: &u64| {
                    Bounds::of(*now_there.iter().find(|other| other.start == *offset).expect("it is there"))
                };
                prop_assert_eq!(recent.iter().collect::<Vec<_>>(), expected.iter().map(holding).collect::<Vec<_>>());
            }
        }
    }
}
