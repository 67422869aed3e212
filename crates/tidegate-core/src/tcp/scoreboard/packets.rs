//! Packets of several segments, as Linux cuts them, and segments that are shorter than a full one: how they count in flight, and what an
//! acknowledgement within them leaves.

use super::record::{LENGTH, Standing};
use super::{GOES_ON, LOST, REPEATED, RESENT, SACKED, SHORT, Scoreboard, Sent};

impl Scoreboard {
    /// Segments of less than `full` bytes count as so many in flight.
    pub(in crate::tcp) fn count_segments(&mut self, full: u32) {
        self.full = full;
    }

    /// As how many bytes in flight every segment counts at least; 0: as its own.
    #[inline(always)]
    pub(in crate::tcp) fn full(&self) -> u32 {
        self.full
    }

    /// The segment sent last is shorter than a full one.
    #[cold]
    pub(in crate::tcp) fn note_short(&mut self) {
        if self.full > 0 {
            self.mark(self.next - 1, SHORT, 0);
        }
    }

    /// The segment sent last is not the last of its packet.
    pub(in crate::tcp) fn note_goes_on(&mut self) {
        self.slot_mut(self.next - 1).word |= GOES_ON;
    }

    /// By how much the pipe is larger than its bytes for what a short segment lacks.
    #[inline(always)]
    pub(super) fn shortage(&self, sent: Sent, standing: Standing) -> i64 {
        if sent.marked(SHORT) { i64::from(1 - standing.holes) * i64::from(self.full - sent.len()) } else { 0 }
    }

    /// The acknowledgement ends inside the oldest record, `left` bytes before its end; `goes_on`: it began in an earlier segment of the
    /// same packet. Our own receiver never does this. `true`: what is left of the packet is one segment less, and the oldest record,
    /// as it was, is one that has arrived (`tcp_tso_acked`).
    #[cold]
    pub(super) fn shorten(&mut self, left: u32, goes_on: bool) -> bool {
        let first = self.first;
        let sent = *self.slot(first);
        if self.full > 0 && sent.marked(GOES_ON) && self.cut_anew() {
            return true;
        }
        let mark = if self.full > 0 { SHORT } else { 0 };
        let shorter = Sent { word: (sent.word & !LENGTH) | left | mark, ..sent };
        if sent.marked(SACKED) && first >= self.lost_end {
            self.sacked_above -= u64::from(sent.len() - left);
        }
        self.replace(first, shorter);
        if !(goes_on || sent.marked(GOES_ON)) {
            self.uncut += sent.len() - left;
        }
        false
    }

    /// What is left of the oldest packet, from `base` on, is cut into segments anew (`tcp_trim_head`); whether it is one less.
    /// DEVIATION: where no segment is saved, all keep the bounds that they had; and what has come to differ is a packet no more.
    fn cut_anew(&mut self) -> bool {
        let marks = |sent: &Sent| (sent.at, sent.word & (SACKED | LOST | RESENT | REPEATED));
        let oldest = *self.slot(self.first);
        let mut last = self.first;
        while last + 1 < self.next && self.slot(last).marked(GOES_ON) {
            last += 1;
            if marks(self.slot(last)) != marks(&oldest) {
                return false;
            }
        }
        let bytes = self.slot(last).end.wrapping_sub(self.base as u32);
        let segments = last - self.first;
        if u64::from(bytes.div_ceil(self.full)) > segments {
            return false;
        }
        let mut start = self.base as u32;
        for number in self.first + 1..=last {
            let sent = *self.slot(number);
            let end = if number == last { sent.end } else { start.wrapping_add(self.full) };
            let len = end.wrapping_sub(start);
            let short = if len < self.full { SHORT } else { 0 };
            self.replace(number, Sent { end, word: (sent.word & !(LENGTH | SHORT)) | len | short, ..sent });
            start = end;
        }
        true
    }

    /// A record is the last of its packet.
    pub(in crate::tcp) fn end_packet(&mut self, number: u64) {
        if self.first <= number && number < self.next {
            self.slot_mut(number).word &= !GOES_ON;
        }
    }
}
