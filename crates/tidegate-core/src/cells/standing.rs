//! Histogram of the number of cells at a slot-synchronous server at the beginnings of its slots, counted many slots at once. All
//! counters of waits and queue lengths follow from it ([`super::slotted`]).

/// Slots that are taken together.
const EIGHT: usize = 8;
/// A one in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The number of each byte.
const PLACES: u64 = 0x0706_0504_0302_0100;
/// No byte of eight may say more, so that what the eight add up to fits into one.
const MANY: u64 = ONES * 0xe0;
/// Backlogs that are called short.
const SHORT: usize = 16;
/// Slots that are taken together at a short backlog, with up to three cells in each: two bits of a pattern
/// for each.
const FOUR: usize = 4;
const PATTERNS: usize = 1 << (2 * FOUR);
/// Bytes beyond three.
const BEYOND: u64 = ONES * 0xfc;
/// Gathers the lowest two bits of four bytes in the highest byte.
const GATHER: u32 = 1 << 24 | 1 << 18 | 1 << 12 | 1 << 6;
/// Lengths that bytes can tell apart.
const MEASURED: usize = 256;

/// How often so many cells stood there; below zero before a correction.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    times: Vec<i64>,
    short: Box<Short>,
}

/// Four slots at a short backlog: what comes in them says all.
#[derive(Clone, Debug)]
struct Short {
    /// The backlog after a pattern, by the backlog before it.
    after: [[u8; PATTERNS]; SHORT],
    /// How often it was so.
    times: [[u64; PATTERNS]; SHORT],
}

impl Short {
    fn new() -> Box<Short> {
        let mut short = Box::new(Short { after: [[0; PATTERNS]; SHORT], times: [[0; PATTERNS]; SHORT] });
        for (backlog, row) in (0..).zip(&mut short.after) {
            for (pattern, after) in row.iter_mut().enumerate() {
                *after = each_of(pattern).fold(backlog, |backlog, cells| (backlog + cells).saturating_sub(1));
            }
        }
        short
    }

    /// Four slots, a byte each.
    #[inline]
    fn pass(&mut self, backlog: u64, four: u32) -> u64 {
        let pattern = (four.wrapping_mul(GATHER) >> 24) as usize % PATTERNS;
        let backlog = backlog as usize % SHORT;
        self.times[backlog][pattern] += 1;
        u64::from(self.after[backlog][pattern])
    }
}

/// What comes in each slot of a pattern.
fn each_of(pattern: usize) -> impl Iterator<Item = u8> {
    (0..FOUR).map(move |slot| (pattern >> (2 * slot)) as u8 & 3)
}

impl Standing {
    pub(super) fn new() -> Standing {
        Standing { times: vec![0; MEASURED], short: Short::new() }
    }

    /// Makes room for counting up to so many cells.
    pub(super) fn make_room(&mut self, cells: usize) {
        let most = cells + MEASURED;
        if self.times.len() < most {
            self.times.resize(most, 0);
        }
    }

    /// Counts slots from one on in which so many cells each come to a backlog, one of which leaves in
    /// each: as long as no more than `most` stand there, at least one, for which there is room. Says
    /// before which slot that ends, and the backlog then.
    #[inline]
    pub(super) fn pass(&mut self, cells: &[u8], from: usize, mut backlog: u64, most: u64) -> (usize, u64) {
        debug_assert!(most > 0);
        let mut slot = from;
        while slot < cells.len() {
            let eight = cells[slot..].first_chunk::<EIGHT>();
            if let Some(after) =
                eight.and_then(|eight| self.pass_eight(u64::from_le_bytes(*eight), backlog, most))
            {
                backlog = after;
                slot += EIGHT;
                continue;
            }
            for each in cells[slot..].iter().take(EIGHT) {
                let standing = backlog + u64::from(*each);
                if standing > most {
                    return (slot, backlog);
                }
                backlog = self.note(standing);
                slot += 1;
            }
        }
        (slot, backlog)
    }

    /// Eight slots, a byte each; the backlog after them. `None`: one by one.
    #[inline]
    fn pass_eight(&mut self, word: u64, backlog: u64, most: u64) -> Option<u64> {
        crate::work::step();
        if backlog == 0 && word & !ONES == 0 {
            self.times[1] += (word.wrapping_mul(ONES) >> 56) as i64;
            return Some(0);
        }
        // In each byte what came up to it.
        let came = word.wrapping_mul(ONES);
        let all = came >> 56;
        if word & MANY != 0 || backlog + all > most {
            return None;
        }
        if backlog < EIGHT as u64 {
            if word & BEYOND != 0 {
                return None;
            }
            let backlog = self.short.pass(backlog, word as u32);
            return Some(self.short.pass(backlog, (word >> 32) as u32));
        }
        if word == ONES {
            self.times[backlog as usize + 1] += EIGHT as i64;
            return Some(backlog);
        }
        // What stands there less `base`, which the backlog does not fall to.
        let base = backlog - EIGHT as u64;
        let lengths = came.wrapping_add(EIGHT as u64 * ONES).wrapping_sub(PLACES);
        let measured = self.times.get_mut(base as usize..)?.first_chunk_mut::<MEASURED>()?;
        for length in lengths.to_le_bytes() {
            measured[usize::from(length)] += 1;
        }
        Some(backlog + all - EIGHT as u64)
    }

    /// Counts one slot with so many cells; the backlog of the next.
    #[inline]
    pub(super) fn note(&mut self, standing: u64) -> u64 {
        crate::work::step();
        if standing as usize >= self.times.len() {
            self.grow(standing);
        }
        self.times[standing as usize] += 1;
        standing.saturating_sub(1)
    }

    #[cold]
    fn grow(&mut self, standing: u64) {
        crate::work::step();
        self.make_room(standing as usize + 1);
    }

    /// Of the lengths from one up to another, one more each was counted, or one less.
    pub(super) fn correct(&mut self, first: u64, last: u64) {
        let (low, high) = (first.min(last) as usize + 1, first.max(last) as usize + 1);
        for times in &mut self.times[low..high] {
            *times += if last > first { 1 } else { -1 };
        }
    }

    /// How often each number of cells above none was counted; forgets it.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (u64, u64)> {
        let Standing { mut times, short } = std::mem::replace(self, Standing::new());
        for (backlog, row) in short.times.iter().enumerate() {
            for (pattern, count) in row.iter().enumerate() {
                let mut left = backlog;
                for cells in each_of(pattern) {
                    let standing = left + usize::from(cells);
                    times[standing] += *count as i64;
                    left = standing.saturating_sub(1);
                }
            }
        }
        (0..).zip(times).skip(1).map(|(cells, count)| (cells, count as u64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Eight slots at once are slot after slot.
        #[test]
        fn slots_together_are_slots(
            // Idle, steady, busy.
            cells in prop::collection::vec(
                prop_oneof![Just(vec![0; 5]), Just(vec![1; 20]), prop::collection::vec(0u8..3, 1..30),
                    prop::collection::vec(0u8..40, 1..9)], 0..40),
            mut backlog in 0u64..40,
            room in 0u64..300,
        ) {
            let cells = cells.concat();
            let most = (backlog + room).max(1);
            let (mut together, mut single) = (Standing::new(), Standing::new());
            together.make_room(most as usize);
            single.make_room(most as usize);
            let found = together.pass(&cells, 0, backlog, most);
            let mut slot = 0;
            while slot < cells.len() && backlog + u64::from(cells[slot]) <= most {
                backlog = single.note(backlog + u64::from(cells[slot]));
                slot += 1;
            }
            prop_assert_eq!(found, (slot, backlog));
            prop_assert!(together.take().zip(single.take()).all(|(a, b)| a == b));
        }
    }
}
