//! What was sent and not yet acknowledged: a ring of records, one per segment, with the marks
//! of RFC 6675 on them.
//!
//! A retransmission repeats the bounds of the first transmission, so a segment is one record for as
//! long as it lives; where Linux changes the bounds, two records become one, or one becomes two, and those behind them get other
//! numbers (`bounds`). Records are numbered from 0 in the order of their data. The ring grows by doubling, and shrinks where few are left: what is gone through
//! again and again stays in the cache.

mod bounds;
mod packets;
mod record;
#[cfg(test)]
mod tests;

use crate::tcp::segment::MOST_BLOCKS;
use crate::units::Time;
pub(in crate::tcp) use bounds::renumber;
pub(in crate::tcp) use record::{
    FOUND, GOES_ON, LONGEST, LOST, REPEATED, RESENT, Removed, SACKED, SHORT, Sent,
};

/// A ring of so many records is not worth shrinking.
const SMALL: usize = 64;

/// A segment to send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct Resend {
    /// Its record.
    pub(in crate::tcp) number: u64,
    /// Offset of its first byte.
    pub(in crate::tcp) start: u64,
    /// User bytes.
    pub(in crate::tcp) len: u32,
}

/// No record has this number.
pub(in crate::tcp) const UNKNOWN: u64 = u64::MAX;

/// A SACK block that was read. At first one of nothing before all records.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Block {
    pub(in crate::tcp) left: u64,
    pub(in crate::tcp) right: u64,
    /// Number of the first record that begins at `right` or later; [`UNKNOWN`]: to be looked for.
    pub(in crate::tcp) after: u64,
}

/// The records of everything outstanding.
#[derive(Debug, Default)]
#[repr(C)]
pub(in crate::tcp) struct Scoreboard {
    // Where something is lost.
    /// SACK blocks read last, where any were.
    pub(in crate::tcp) blocks: Option<Box<[Block; MOST_BLOCKS]>>,
    /// Bytes ever taken to be lost, copies included.
    pub(in crate::tcp) lost_total: u64,
    /// SACKed bytes in records from `lost_end` on.
    pub(in crate::tcp) sacked_above: u64,
    /// Records below this and not SACKed are lost (IsLost).
    pub(in crate::tcp) lost_end: u64,
    /// One past the highest SACKed record.
    pub(in crate::tcp) sacked_end: u64,
    /// Where the next retransmission is looked for (HighRxt).
    pub(in crate::tcp) cursor: u64,
    /// Copies on their way (`retrans_out`).
    pub(in crate::tcp) copies: u64,
    /// User bytes of a full segment, where shorter ones count as much.
    full: u32,
    /// So many bytes before `base` the oldest segment began which an acknowledgement has cut, where Linux has not.
    pub(in crate::tcp) uncut: u32,
    /// Records with any mark.
    marked: u32,
    /// Lost segments that were not sent again.
    waiting: u32,
    // Always.
    slots: Vec<Sent>,
    /// Number of the oldest record.
    pub(in crate::tcp) first: u64,
    /// Number of the next record.
    pub(in crate::tcp) next: u64,
    /// Outstanding minus this is the pipe (RFC 6675 §4).
    pub(in crate::tcp) holes: i64,
    /// Offset of the oldest unacknowledged byte.
    pub(in crate::tcp) base: u64,
}

impl Scoreboard {
    #[inline]
    pub(in crate::tcp) fn slot(&self, number: u64) -> &Sent {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }

    #[inline]
    fn slot_mut(&mut self, number: u64) -> &mut Sent {
        let mask = self.slots.len() - 1;
        &mut self.slots[number as usize & mask]
    }

    /// Outstanding minus this is the pipe (RFC 6675 §4).
    #[inline]
    pub(in crate::tcp) fn holes(&self) -> i64 {
        self.holes
    }

    /// Whether every segment outstanding was sent once, nothing is known of any, and all count by their bytes.
    #[inline]
    pub(in crate::tcp) fn is_unmarked(&self) -> bool {
        self.marked == 0
    }

    /// A segment of `len` bytes up to `end` was sent for the first time. [`GOES_ON`] may be added to `len`.
    #[inline(always)]
    pub(in crate::tcp) fn push(&mut self, end: u64, len: u32, at: Time) {
        if (self.next - self.first) as usize == self.slots.len() {
            self.grow();
        }
        let number = self.next;
        *self.slot_mut(number) = Sent { at, end: end as u32, word: len };
        self.next += 1;
    }

    /// One more record fits in.
    fn make_room(&mut self) {
        if (self.next - self.first) as usize == self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.resize((self.slots.len() * 2).max(16));
    }

    /// Gives back what a burst needed once.
    #[cold]
    fn shrink(&mut self) {
        self.resize(((self.next - self.first) as usize * 2).next_power_of_two().max(SMALL));
    }

    fn resize(&mut self, len: usize) {
        crate::work::step();
        let mut slots = vec![Sent::default(); len];
        for number in self.first..self.next {
            slots[number as usize & (len - 1)] = *self.slot(number);
        }
        self.slots = slots;
    }

    /// Everything below `ack` has arrived.
    #[inline]
    pub(in crate::tcp) fn acknowledge(&mut self, ack: u64) -> Removed {
        if self.first != self.next {
            let sent = *self.slot(self.first);
            // One segment as it was sent first: the usual case.
            if sent.end == ack as u32 && !sent.is_marked() {
                self.drop_first(ack);
                return Removed { count: 1, marks: 0, sent_at: sent.at, reported: None };
            }
        }
        self.acknowledge_any(ack)
    }

    /// Everything below `ack`, which is the oldest segment as it was sent first, has arrived.
    #[inline]
    pub(in crate::tcp) fn drop_first(&mut self, ack: u64) {
        self.base = ack;
        self.first += 1;
    }

    /// Removes the oldest record as [`Scoreboard::drop_first`] does, and returns what it was.
    #[inline(always)]
    pub(in crate::tcp) fn take_first(&mut self, ack: u64) -> Removed {
        let sent = *self.slot(self.first);
        self.drop_first(ack);
        Removed { count: 1, marks: 0, sent_at: sent.at, reported: None }
    }

    /// The second oldest segment, if it ends at `ack`.
    #[inline(always)]
    pub(in crate::tcp) fn second_up_to(&self, ack: u64) -> Option<Sent> {
        if self.next - self.first < 2 {
            return None;
        }
        let second = *self.slot(self.first + 1);
        (second.end == ack as u32).then_some(second)
    }

    /// Everything below `ack`, which are the two oldest segments as they were sent first, has arrived.
    #[inline(always)]
    pub(in crate::tcp) fn drop_two(&mut self, ack: u64) {
        crate::work::step();
        self.base = ack;
        self.first += 2;
        self.shrink_if_few();
    }

    #[inline(always)]
    fn shrink_if_few(&mut self) {
        if self.slots.len() > SMALL && (self.next - self.first) as usize * 8 <= self.slots.len() {
            self.shrink();
        }
    }

    #[inline(never)]
    fn acknowledge_any(&mut self, ack: u64) -> Removed {
        self.acknowledge_each(ack, |_, _| {})
    }

    /// Removes all records below `ack`; `leaves` gets each of them, with its number.
    pub(in crate::tcp) fn acknowledge_each(
        &mut self,
        ack: u64,
        mut leaves: impl FnMut(u64, Sent),
    ) -> Removed {
        crate::work::step();
        self.base = ack;
        let mut removed = Removed::default();
        let mut goes_on = false;
        while self.first != self.next {
            let sent = *self.slot(self.first);
            let beyond = sent.end.wrapping_sub(ack as u32).cast_signed();
            if beyond > 0 {
                if beyond.unsigned_abs() < sent.len() && self.shorten(beyond.unsigned_abs(), goes_on) {
                    self.remove_first(&mut removed, &mut leaves);
                }
                break;
            }
            goes_on = sent.marked(GOES_ON);
            self.remove_first(&mut removed, &mut leaves);
        }
        self.shrink_if_few();
        removed
    }

    /// The oldest record leaves.
    #[inline(always)]
    fn remove_first(&mut self, removed: &mut Removed, leaves: &mut impl FnMut(u64, Sent)) {
        let sent = *self.slot(self.first);
        leaves(self.first, sent);
        removed.count += 1;
        removed.marks |= sent.word & (SACKED | LOST | RESENT | REPEATED);
        removed.sent_at = sent.at;
        if !sent.marked(SACKED) {
            removed.reported = Some(sent.at);
        }
        if sent.is_marked() {
            self.forget(sent);
            self.uncut = 0;
        }
        self.first += 1;
    }

    /// A marked record leaves.
    #[inline(always)]
    fn forget(&mut self, sent: Sent) {
        self.discount(sent);
        if sent.marked(SACKED) && self.first >= self.lost_end {
            self.sacked_above -= u64::from(sent.len());
        }
    }

    /// Adds a record to the sums.
    #[inline(always)]
    fn count(&mut self, sent: Sent) {
        let standing = sent.standing();
        self.holes += i64::from(standing.holes) * i64::from(sent.len()) - self.shortage(sent, standing);
        self.copies += u64::from(standing.copies);
        self.waiting += u32::from(standing.waiting);
        self.marked += u32::from(standing.marked);
    }

    /// Takes a record out of the sums.
    #[inline(always)]
    fn discount(&mut self, sent: Sent) {
        let standing = sent.standing();
        self.holes -= i64::from(standing.holes) * i64::from(sent.len()) - self.shortage(sent, standing);
        self.copies -= u64::from(standing.copies);
        self.waiting -= u32::from(standing.waiting);
        self.marked -= u32::from(standing.marked);
    }

    /// Sets marks of a record and clears others.
    pub(in crate::tcp) fn mark(&mut self, number: u64, set: u32, clear: u32) {
        let sent = *self.slot(number);
        let marked = Sent { word: (sent.word & !clear) | set, ..sent };
        if set & LOST != 0 && (!sent.marked(LOST) || sent.word & clear & RESENT != 0) {
            self.lost_total += u64::from(sent.len());
        }
        self.replace(number, marked);
    }

    /// Puts another record in the place of one; the sums follow.
    #[inline(always)]
    fn replace(&mut self, number: u64, sent: Sent) {
        self.discount(*self.slot(number));
        self.count(sent);
        *self.slot_mut(number) = sent;
    }

    /// A time-out: everything that is not SACKed is lost, and so are the copies; with
    /// `forget_sacks` everything is.
    pub(in crate::tcp) fn lose_all(&mut self, forget_sacks: bool) {
        // Every record counts anew.
        (self.holes, self.copies, self.waiting, self.marked) = (0, 0, 0, 0);
        for number in self.first..self.next {
            let sent = *self.slot(number);
            let word = if sent.marked(SACKED) && !forget_sacks {
                sent.word & !RESENT
            } else {
                if !sent.marked(LOST) || sent.marked(RESENT) {
                    self.lost_total += u64::from(sent.len());
                }
                (sent.word & !(SACKED | RESENT)) | LOST
            };
            self.slot_mut(number).word = word;
            self.count(Sent { word, ..sent });
        }
        self.lost_end = self.next;
        self.sacked_above = 0;
        self.cursor = self.first;
        if forget_sacks {
            self.blocks = None;
        }
    }

    /// The oldest segment is lost, whatever SACK says.
    pub(in crate::tcp) fn lose_first(&mut self) {
        if self.first != self.next {
            self.mark(self.first, LOST, RESENT);
            self.lost_end = self.lost_end.max(self.first + 1);
            self.cursor = self.first;
        }
    }

    /// The oldest segment.
    pub(in crate::tcp) fn oldest(&self) -> Option<Resend> {
        (self.first != self.next).then(|| self.describe(self.first))
    }

    /// The next lost segment that was not retransmitted yet (RFC 6675 §4 NextSeg rule 1; after
    /// a time-out, the next segment of the gap).
    #[inline(always)]
    pub(in crate::tcp) fn next_lost(&mut self) -> Option<Resend> {
        self.cursor = self.cursor.max(self.first);
        let end = self.lost_end.min(self.next);
        if self.waiting == 0 {
            self.cursor = self.cursor.max(end);
        }
        while self.cursor < end {
            if self.slot(self.cursor).standing().waiting == 1 {
                return Some(self.describe(self.cursor));
            }
            self.cursor += 1;
        }
        None
    }

    /// Whether something is taken for lost, sent again or not.
    pub(in crate::tcp) fn holds_lost(&self) -> bool {
        let lost = |sent: &Sent| sent.marked(LOST) && !sent.marked(SACKED);
        (self.first..self.lost_end.min(self.next)).any(|number| lost(self.slot(number)))
    }

    /// `segment` is sent again; `mark` is [`RESENT`] where copies count in the pipe, or 0.
    pub(in crate::tcp) fn resend(&mut self, segment: Resend, at: Time, mark: u32) {
        let sent = *self.slot(segment.number);
        self.replace(segment.number, Sent { at, word: (sent.word & !FOUND) | mark | REPEATED, ..sent });
    }

    /// Retransmissions are looked for from the oldest segment on.
    pub(in crate::tcp) fn rewind(&mut self) {
        self.cursor = self.first;
    }

    pub(in crate::tcp) fn describe(&self, number: u64) -> Resend {
        let sent = *self.slot(number);
        let ahead = sent.end.wrapping_sub(sent.len()).wrapping_sub(self.base as u32);
        Resend { number, start: self.base + u64::from(ahead), len: sent.len() }
    }
}
