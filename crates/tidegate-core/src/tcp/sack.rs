//! What SACK tells about the segments outstanding: RFC 6675 §4's Update, IsLost and NextSeg.

use super::scoreboard::{Block, LOST, REPEATED, RESENT, Resend, SACKED, Scoreboard, Sent, UNKNOWN};

impl Scoreboard {
    /// Whether the oldest segment is lost (RFC 6675 §5 step 2: IsLost(HighACK + 1)).
    pub(super) fn oldest_is_lost(&self) -> bool {
        self.first != self.next && self.slot(self.first).marked(LOST)
    }

    /// A SACK block; `true` if it reports anything new (RFC 6675 §4, Update). `arrived` sees each record that it newly reports, and its
    /// number.
    pub(super) fn sack_each(
        &mut self,
        rank: usize,
        left: u64,
        right: u64,
        mut arrived: impl FnMut(u64, Sent),
    ) -> bool {
        let left = left.max(self.base);
        if left >= right {
            return false;
        }
        let (place, Block { right: from, after, .. }) = self.bring_block(rank, left);
        let known = after != UNKNOWN;
        if known && right <= from {
            // All of it was read before.
            return false;
        }
        let mut number = if known { after.max(self.first) } else { self.first_behind(left, from) };
        let mut any_new = false;
        while number < self.next {
            let sent = *self.slot(number);
            if sent.end.wrapping_sub(right as u32).cast_signed() > 0 {
                break;
            }
            if !sent.marked(SACKED) {
                any_new = true;
                arrived(number, sent);
                self.mark(number, SACKED, 0);
                self.sacked_end = self.sacked_end.max(number + 1);
                if number >= self.lost_end {
                    self.sacked_above += u64::from(sent.len());
                }
            }
            number += 1;
        }
        // Unless a record lies across the end of the block.
        let whole = number == self.next || self.describe(number).start >= right;
        let behind = if whole { number } else { UNKNOWN };
        self.blocks.get_or_insert_default()[place] = Block { left, right: from.max(right), after: behind };
        any_new
    }

    /// The first record of a block that begins at `left` and has been read up to `from`, across which a record may lie.
    fn first_behind(&self, left: u64, from: u64) -> u64 {
        let number = self.find(from.max(self.base));
        let across = from > left && number > self.first && self.end_of(number - 1) > from.max(self.base) && {
            self.describe(number - 1).start >= left
        };
        if across { number - 1 } else { number }
    }

    /// The place and content among the blocks read last of the one that begins at `left`, which an ACK names as its `rank`th: the same
    /// place, if it has not got it already. Those between move on; so the last one goes that no ACK has named for longest.
    fn bring_block(&mut self, rank: usize, left: u64) -> (usize, Block) {
        let blocks = &mut **self.blocks.get_or_insert_default();
        let rank = rank.min(blocks.len() - 1);
        if blocks[rank].left == left {
            return (rank, blocks[rank]);
        }
        let found = blocks.iter().position(|block| block.left == left);
        if let Some(place) = found.filter(|place| *place < rank) {
            return (place, blocks[place]);
        }
        match found {
            Some(place) => blocks[rank..=place].rotate_right(1),
            None => {
                blocks[rank..].rotate_right(1);
                blocks[rank] = Block { left, right: left, after: UNKNOWN };
            }
        }
        (rank, blocks[rank])
    }

    /// The records that lie in `[left, right)`.
    pub(super) fn within(&self, left: u64, right: u64) -> std::ops::Range<u64> {
        let from = self.find(left.max(self.base));
        let mut to = from;
        while to < self.next && self.slot(to).end.wrapping_sub(right as u32).cast_signed() <= 0 {
            to += 1;
        }
        from..to
    }

    /// Whether a record lies in a stretch of SACKed ones any of which was sent twice: Linux makes one of them all, and of what it knows of
    /// each what it knows of all (`tcp_shifted_skb`).
    #[cold]
    pub(super) fn is_beside_repeated(&self, number: u64) -> bool {
        let joins = |other: &u64| {
            let sent = self.slot(*other);
            sent.marked(SACKED) && (sent.marked(LOST) || !sent.marked(RESENT))
        };
        let repeated = |other: u64| self.slot(other).marked(REPEATED);
        joins(&number)
            && ((self.first..number).rev().take_while(joins).any(repeated)
                || (number + 1..self.next).take_while(joins).any(repeated))
    }

    /// Nothing is lost after all.
    pub(super) fn find_all(&mut self) {
        self.sacked_above = 0;
        for number in self.first..self.next {
            self.mark(number, 0, LOST);
            let sent = *self.slot(number);
            self.sacked_above += if sent.marked(SACKED) { u64::from(sent.len()) } else { 0 };
        }
        self.lost_end = self.first;
        self.cursor = self.first;
    }

    /// The first record that begins at `offset` or later.
    pub(super) fn find(&self, offset: u64) -> u64 {
        let ahead = (offset - self.base) as u32;
        let (mut low, mut high) = (self.first, self.next);
        while low < high {
            let middle = low + (high - low) / 2;
            let sent = *self.slot(middle);
            let start = sent.end.wrapping_sub(sent.len()).wrapping_sub(self.base as u32);
            if start < ahead {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Moves `lost_end` up as far as IsLost holds (RFC 6675 §4): `dupthresh` discontiguous SACKed stretches
    /// above, or more than (`dupthresh` - 1) segments of SACKed bytes.
    pub(super) fn find_lost(&mut self, dupthresh: u32, mss: u32) {
        if dupthresh == u32::MAX {
            return;
        }
        let enough = u64::from(dupthresh.saturating_sub(1)) * u64::from(mss);
        self.lost_end = self.lost_end.max(self.first);
        while self.lost_end < self.sacked_end {
            let sent = *self.slot(self.lost_end);
            if sent.marked(SACKED) {
                self.sacked_above -= u64::from(sent.len());
            } else if self.sacked_above > enough || self.stretches_above(self.lost_end) >= dupthresh {
                self.mark(self.lost_end, LOST, 0);
            } else {
                break;
            }
            self.lost_end += 1;
        }
    }

    /// SACKed stretches above record `number`, counted only while few bytes are SACKed.
    fn stretches_above(&self, number: u64) -> u32 {
        let mut stretches = 0;
        let mut inside = false;
        for above in number + 1..self.sacked_end.min(self.next) {
            let sacked = self.slot(above).marked(SACKED);
            stretches += u32::from(sacked && !inside);
            inside = sacked;
        }
        stretches
    }

    /// The next segment below the highest SACKed one that is neither SACKed nor lost nor sent
    /// again (RFC 6675 §4 NextSeg rule 3).
    pub(super) fn next_doubtful(&mut self) -> Option<Resend> {
        self.cursor = self.cursor.max(self.first);
        while self.cursor < self.sacked_end.min(self.next) {
            if !self.slot(self.cursor).marked(SACKED | RESENT) {
                return Some(self.describe(self.cursor));
            }
            self.cursor += 1;
        }
        None
    }

    /// The newest segment that is not SACKed (RFC 6675 §4 NextSeg rule 4).
    pub(super) fn newest_missing(&self) -> Option<Resend> {
        let newest = (self.first..self.next).rev().find(|number| !self.slot(*number).marked(SACKED))?;
        Some(self.describe(newest))
    }
}
