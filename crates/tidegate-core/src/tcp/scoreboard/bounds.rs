//! Records whose bounds change when they are sent again: two become one, or one becomes two. Those behind them get other numbers.

use super::record::LENGTH;
use super::{GOES_ON, REPEATED, SACKED, SHORT, Scoreboard, Sent, UNKNOWN};

/// A number of a record, where those from `from` on become later ones by one, or earlier ones.
pub(in crate::tcp) fn renumber(number: &mut u64, from: u64, later: bool) {
    if *number >= from {
        *number = if later { *number + 1 } else { *number - 1 };
    }
}

impl Scoreboard {
    /// Whether a record and the next one are packets of one segment each, of which the second has not arrived.
    pub(in crate::tcp) fn is_joinable(&self, number: u64) -> bool {
        number + 1 < self.next
            && !self.slot(number).marked(GOES_ON)
            && !self.slot(number + 1).marked(GOES_ON | SACKED)
    }

    /// A record takes up the next one.
    pub(in crate::tcp) fn join(&mut self, number: u64) {
        let (one, other) = (*self.slot(number), *self.slot(number + 1));
        self.mark(number + 1, 0, u32::MAX << SACKED.trailing_zeros());
        let word = self.sized(one.word | (other.word & REPEATED), one.len() + other.len());
        self.replace(number, Sent { end: other.end, word, ..one });
        for later in number + 2..self.next {
            *self.slot_mut(later - 1) = *self.slot(later);
        }
        self.next -= 1;
        self.renumber(number + 2, false);
    }

    /// A record becomes two, of which the first has `len` bytes and ends a packet.
    pub(in crate::tcp) fn cut(&mut self, number: u64, len: u32) {
        self.make_room();
        let whole = *self.slot(number);
        self.next += 1;
        for later in (number + 2..self.next).rev() {
            *self.slot_mut(later) = *self.slot(later - 1);
        }
        let rest = whole.len() - len;
        let first =
            Sent { end: whole.end.wrapping_sub(rest), word: self.sized(whole.word & !GOES_ON, len), ..whole };
        *self.slot_mut(number + 1) = Sent::default();
        self.replace(number, first);
        self.replace(number + 1, Sent { word: self.sized(whole.word, rest), ..whole });
        self.renumber(number + 1, true);
    }

    /// A record's word with another length.
    fn sized(&self, word: u32, len: u32) -> u32 {
        let short = if len < self.full() { SHORT } else { 0 };
        (word & !(LENGTH | SHORT)) | len | short
    }

    fn renumber(&mut self, from: u64, later: bool) {
        for number in [&mut self.cursor, &mut self.lost_end, &mut self.sacked_end] {
            renumber(number, from, later);
        }
        for block in self.blocks.iter_mut().flat_map(|blocks| blocks.iter_mut()) {
            block.after = UNKNOWN;
        }
    }
}
