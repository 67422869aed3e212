//! Data that came again: what a receiver tells of them (RFC 2883), and what a sender reads from it.

use super::accounts::Accounts;
use super::scoreboard::{REPEATED, RESENT, SACKED};
use super::segment::Segment;
use super::sender::Sender;

/// What a receiver has to tell: the stretch that came again, as offsets.
#[derive(Debug, Default)]
pub(super) struct Duplicates {
    /// Since the last ACK; empty: nothing.
    fresh: (u64, u64),
    /// What the ACK that leaves now tells.
    reported: (u64, u64),
}

impl Duplicates {
    /// The beginning of a segment, `[start, end)`, came again (`tcp_dsack_set`): an ACK tells of the segment that caused it (RFC 2883 §4).
    pub(super) fn set(&mut self, start: u64, end: u64) {
        self.fresh = (start, end);
    }

    /// A later part of a segment came again (`tcp_dsack_extend`). What touches is one stretch; of two apart the first is told.
    pub(super) fn extend(&mut self, start: u64, end: u64) {
        let (left, right) = self.fresh;
        if !self.are_news() {
            self.fresh = (start, end);
        } else if start <= right && left <= end {
            self.fresh = (left.min(start), right.max(end));
        }
    }

    /// Whether the next ACK has something to tell.
    #[inline]
    pub(super) fn are_news(&self) -> bool {
        self.fresh.0 < self.fresh.1
    }

    /// An ACK leaves: each stretch is told once (RFC 2883 §4).
    pub(super) fn leave(&mut self) {
        self.reported = std::mem::take(&mut self.fresh);
    }

    /// What the ACK that leaves now tells.
    pub(super) fn reported(&self) -> Option<(u64, u64)> {
        (self.reported.0 < self.reported.1).then_some(self.reported)
    }
}

/// What the first SACK block of an ACK says of duplicates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Report {
    /// Segments that arrived twice, all of which this end has sent twice.
    pub(super) segments: u64,
    /// They are the tail loss probe: original and probe have arrived (RFC 8985 §7.4.1).
    pub(super) of_probe: bool,
    /// Offset of the lowest segment sent twice of which SACK had reported one copy before: the first one came late.
    pub(super) overtaken: Option<u64>,
}

impl Sender {
    /// Reads the first SACK block of an ACK of everything below `ack` if it tells of duplicates (RFC 2883 §4,
    /// `tcp_check_dsack`, `tcp_dsack_seen`). One of no segments: it is an ordinary one, or tells of what was not sent twice.
    pub(super) fn read_duplicates(&mut self, accounts: &mut Accounts, segment: &Segment, ack: u64) -> Report {
        let block = |index: usize| {
            let (left, right) = segment.sack[index];
            let offset = |number| self.numbering.offset(number, self.una);
            offset(left).zip(offset(right)).filter(|(left, right)| left < right)
        };
        let Some((left, right)) = block(0).filter(|_| segment.sack_count > 0) else {
            return Report::default();
        };
        let below = left < ack;
        let outer = block(1).filter(|_| segment.sack_count > 1);
        let outer = outer.filter(|(outer_left, outer_right)| *outer_left <= left && right <= *outer_right);
        let inside = outer.is_some();
        let mss = u64::from(self.config.mss);
        if !(below || inside) || right > self.max || right - left > self.largest_window() {
            return Report::default();
        }
        let segments = (right - left).div_ceil(mss);
        let of_probe = segments == 1 && accounts.probe.end != 0 && accounts.probe.end == right;
        let undo = &mut accounts.undo;
        undo.duplicates += segments;
        // More than was ever sent twice: the network copies segments. That of a probe tells of it all the same.
        if undo.duplicates > self.counters.segments_retransmitted {
            return Report { of_probe, ..Report::default() };
        }
        accounts.rack.handle_duplicate(of_probe);
        let mut overtaken = None;
        if right > self.una {
            // Blocks are read in the order of their numbers (`tcp_sacktag_write_queue`): one that begins below has been.
            let sacked = outer.is_some_and(|(outer_left, _)| outer_left < left);
            overtaken = self.take_copies(accounts, (left, right), ack, sacked);
        } else if undo.covers(right) {
            undo.take(segments);
        }
        Report { segments, of_probe, overtaken }
    }

    /// `tcp_sacktag_one`: copies of what is still recorded in `[left, right)` have arrived. The lowest of which another had arrived before,
    /// as the ACK itself says (`sacked`), or one before it.
    #[cold]
    fn take_copies(
        &mut self,
        accounts: &mut Accounts,
        (left, right): (u64, u64),
        ack: u64,
        sacked: bool,
    ) -> Option<u64> {
        let mut overtaken = None;
        for number in self.board.within(left, right) {
            let sent = *self.board.slot(number);
            let end = self.board.end_of(number);
            let repeated = sent.marked(REPEATED) || self.board.is_beside_repeated(number);
            if repeated && accounts.undo.covers(end) {
                accounts.undo.take(1);
            }
            if repeated && (sacked || sent.marked(SACKED)) {
                overtaken = overtaken.or(Some(end - u64::from(sent.len())));
            }
            if end > ack && sent.marked(RESENT) {
                self.board.mark(number, 0, RESENT);
            }
        }
        overtaken
    }
}
