//! RACK (RFC 8985): a segment is lost if one that was sent later has arrived, and enough time has passed for
//! the earlier one to have come by another way. Written from `tcp_recovery.c` of Linux 6.18.

use std::collections::VecDeque;

use super::scoreboard::{FOUND, LOST, REPEATED, RESENT, SACKED, Scoreboard, Sent, renumber};
use super::widening::Widening;
use crate::units::{Span, Time};

/// Segments by which some may come late before it is called reordering (`net.ipv4.tcp_reordering`) ...
const REORDERING: u64 = 3;
/// ... and the most that are counted (`tcp_max_reordering`).
const MOST_REORDERING: u64 = 300;

/// The newest transmission that is known to have arrived, and what has been learned of the path.
#[derive(Debug, Default)]
pub(super) struct Rack {
    /// RACK.xmit_ts: when the segment was sent that was sent last of those that arrived.
    sent: Time,
    /// RACK.end_seq: offset behind it.
    end: u64,
    /// RACK.rtt: its round trip.
    rtt: Span,
    /// That was the round trip of a copy. What leaves in answer to an ACK has one time here; in Linux copies have that of the ACK, and new
    /// data that leave after them are some microseconds younger (`tcp_write_xmit`).
    of_copy: bool,
    /// It has moved since losses were looked for.
    advanced: bool,
    /// A repair was taken back in Linux: a copy that stayed out is lost once more as if it had not been sent, so that it counts as lost and
    /// as on its way, and is not sent again before a time-out (`tcp_mark_skb_lost`).
    spares_copies: bool,
    /// All that is outstanding was sent after all that arrived.
    in_order: bool,
    /// RACK.min_RTT. DEVIATION: of the whole connection; Linux forgets after 300 s.
    least_rtt: Option<Span>,
    /// By how many segments some came late at most, three at least (`reordering`); `None`: none did (RACK.reordering_seen).
    reordering: Option<u64>,
    /// RACK.reo_wnd_mult.
    pub(super) widening: Widening,
    /// Records below this, as they were sent first, need not be looked at again: they were found lost, or passed over.
    fresh: u64,
    /// What was sent again, in the order of time. Entries of records that have gone, or were sent again since, are passed over.
    copies: VecDeque<Again>,
}

/// A record was sent again.
#[derive(Clone, Copy, Debug)]
struct Again {
    number: u64,
    at: Time,
    /// Number of the next record then: those below it had been sent before.
    next: u64,
}

/// What looking for losses found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Segments newly taken to be lost.
    pub(super) lost: u64,
    /// A retransmission was among them.
    pub(super) lost_retransmission: bool,
    /// Look again after this long: segments may be lost, or late.
    pub(super) again_after: Option<Span>,
}

impl Rack {
    /// Record `number` was sent again, with `next` as the number of the next one.
    pub(super) fn handle_copy(&mut self, number: u64, at: Time, next: u64) {
        self.in_order = false;
        self.copies.push_back(Again { number, at, next });
    }

    /// See [`renumber`].
    pub(super) fn renumber(&mut self, from: u64, later: bool) {
        renumber(&mut self.fresh, from, later);
        for copy in &mut self.copies {
            renumber(&mut copy.number, from, later);
            renumber(&mut copy.next, from, later);
        }
    }

    /// A round trip was measured. Whether it is the least.
    #[inline]
    pub(super) fn handle_rtt(&mut self, rtt: Span) -> bool {
        let is_least = self.least_rtt.is_none_or(|least| rtt < least);
        if is_least {
            self.least_rtt = Some(rtt);
        }
        is_least
    }

    /// RACK.min_RTT.
    pub(super) fn least_rtt(&self) -> Option<Span> {
        self.least_rtt
    }

    /// A segment sent once arrived after one that ends so many `segments` above its beginning.
    pub(super) fn handle_reordering(&mut self, segments: u64) {
        self.reordering = Some(self.reordering().max(segments).min(MOST_REORDERING));
    }

    /// By how many segments some are taken to come late (`reordering`).
    pub(super) fn reordering(&self) -> u64 {
        self.reordering.unwrap_or(REORDERING)
    }

    /// Whether more come late than is usual, so that a window grows with what is SACKed too (`tcp_may_raise_cwnd`).
    pub(super) fn is_reordered(&self) -> bool {
        self.reordering() > REORDERING
    }

    /// A time-out while nothing was being repaired, with `sacked` segments SACKed: what came late may have been lost (`tcp_enter_loss`).
    pub(super) fn handle_timeout(&mut self, sacked: u64) {
        if sacked >= REORDERING {
            self.reordering = self.reordering.map(|_| REORDERING);
        }
    }

    /// A segment that was sent at `sent`, up to offset `end`, has arrived (RFC 8985 §6.2 step 2, `tcp_rack_advance`).
    pub(super) fn handle_delivered(&mut self, now: Time, sent: Time, end: u64, repeated: bool) {
        let rtt = now.saturating_since(sent);
        // Faster than any round trip: the ACK is of the first copy.
        if repeated && self.least_rtt.is_some_and(|least| rtt < least) {
            return;
        }
        self.advanced = true;
        self.in_order = false;
        self.rtt = rtt;
        self.of_copy = repeated;
        if (sent, end) > (self.sent, self.end) {
            (self.sent, self.end) = (sent, end);
        }
    }

    /// A duplicate was reported; that of a probe says nothing of reordering.
    pub(super) fn handle_duplicate(&mut self, of_probe: bool) {
        if self.reordering.is_some() && !of_probe {
            self.widening.handle_duplicate();
        }
    }

    /// Segments were acknowledged that were sent once, the last of them at `sent`, where no other transmission is outstanding that
    /// may have been sent before it. `false`: losses are to be looked for after all.
    #[inline]
    pub(super) fn handle_next(&mut self, now: Time, sent: Time, end: u64, board: &Scoreboard) -> bool {
        if self.in_order {
            // Sent after the newest until now, and before all that is left.
            debug_assert!(!self.of_copy, "what was in order was sent once");
            self.rtt = now.saturating_since(sent);
            (self.sent, self.end) = (sent, end);
            return true;
        }
        self.handle_delivered(now, sent, end, false);
        self.in_order = self.copies.is_empty()
            && (board.first == board.next
                || (board.slot(board.first).at(), board.end_of(board.first)) >= (self.sent, self.end));
        self.advanced = !self.in_order;
        self.in_order
    }

    /// A repair was taken back: losses are to be looked for although nothing newer has arrived.
    pub(super) fn look_again(&mut self) {
        self.advanced = true;
    }

    /// Nothing is lost after all. What a time-out took to be lost may prove lost as any other. `linux`: as Linux takes it.
    pub(super) fn look_at_all(&mut self, board: &Scoreboard, linux: bool) {
        self.spares_copies = linux;
        let waiting = || (board.first..board.next).map(|number| (number, *board.slot(number)));
        let mut copies: Vec<Again> = waiting()
            .filter(|(_, sent)| sent.marked(REPEATED) && !sent.marked(SACKED | FOUND))
            .map(|(number, sent)| {
                let after = waiting().find(|(_, other)| !other.marked(REPEATED) && other.at() >= sent.at());
                Again { number, at: sent.at(), next: after.map_or(board.next, |found| found.0) }
            })
            .collect();
        copies.sort_by_key(|copy| copy.at);
        self.copies = copies.into();
        self.fresh = board.first;
        self.in_order = false;
    }

    /// RFC 8985 §6.2 step 4, `tcp_rack_reo_wnd`: time allowed for reordering, with `sacked` segments SACKed.
    fn window(&self, recovering: bool, sacked: u64, srtt: Span) -> Span {
        if self.reordering.is_none() && (recovering || sacked >= REORDERING) {
            return Span::ZERO;
        }
        let quarter = self.least_rtt.map_or(Span::ZERO, |least| Span::from_picos(least.picos() / 4));
        quarter.saturating_mul(self.widening.quarters()).min(srtt)
    }

    /// Whether a record has been out so long at a time-out that it is taken to be lost (`tcp_timeout_mark_lost`).
    pub(super) fn is_overdue(&self, sent: Time, now: Time) -> bool {
        now.saturating_since(sent) >= self.rtt
    }

    /// RFC 8985 §6.2 step 5, after an ACK: nothing where the newest arrival is the one already looked at.
    pub(super) fn detect(
        &mut self,
        now: Time,
        board: &mut Scoreboard,
        recovering: bool,
        sacked: u64,
        srtt: Span,
    ) -> Found {
        if !std::mem::take(&mut self.advanced) {
            return Found::default();
        }
        self.look(now, board, recovering, sacked, srtt)
    }

    /// Looks for lost segments at any time, also when the reordering timer expires (RFC 8985 §6.3).
    pub(super) fn look(
        &mut self,
        now: Time,
        board: &mut Scoreboard,
        recovering: bool,
        sacked: u64,
        srtt: Span,
    ) -> Found {
        self.fresh = self.fresh.max(board.first);
        let mut search = Search {
            now,
            allowed: self.rtt + self.window(recovering, sacked, srtt),
            newest: (self.sent, self.end),
            of_copy: self.of_copy,
            spares_copies: self.spares_copies,
            found: Found::default(),
        };
        // All transmissions in the order of time: each record as it was sent first, and copies between them.
        let mut fresh = self.fresh;
        let mut late = None;
        let mut late_copies = 0;
        loop {
            let copy = self.copies.get(late_copies).copied();
            if let Some(copy) = copy
                && copy.next <= fresh
            {
                match search.judge(board, copy.number, board.waits(copy.number, copy.at)) {
                    Verdict::Newer => break,
                    Verdict::Done => {
                        self.copies.remove(late_copies);
                    }
                    Verdict::Late => late_copies += 1,
                }
            } else if fresh < board.next {
                let sent = *board.slot(fresh);
                let waits = !sent.marked(SACKED | LOST | REPEATED | FOUND);
                match search.judge(board, fresh, waits.then_some(sent)) {
                    Verdict::Newer => break,
                    Verdict::Done => {}
                    Verdict::Late => late = late.or(Some(fresh)),
                }
                fresh += 1;
            } else {
                break;
            }
        }
        self.fresh = late.unwrap_or(fresh);
        search.found
    }
}

/// What becomes of a transmission that is looked at.
enum Verdict {
    /// It was sent after all that is known to have arrived, and so were those that follow.
    Newer,
    /// It need not be looked at again: it is lost, or nothing to wait for.
    Done,
    /// It may still arrive.
    Late,
}

/// Looks at transmissions one after the other.
struct Search {
    now: Time,
    /// A transmission that has been out so long is lost.
    allowed: Span,
    /// The newest that is known to have arrived: when it was sent, and the offset behind it.
    newest: (Time, u64),
    /// See [`Rack::of_copy`].
    of_copy: bool,
    /// See [`Rack::spares_copies`].
    spares_copies: bool,
    found: Found,
}

impl Search {
    /// A transmission of record `number`; `waits`: its record, unless it has gone, was SACKed, sent again or lost.
    #[inline]
    fn judge(&mut self, board: &mut Scoreboard, number: u64, waits: Option<Sent>) -> Verdict {
        let Some(sent) = waits else { return Verdict::Done };
        if (sent.at(), board.end_of(number)) >= self.newest {
            return Verdict::Newer;
        }
        let out = self.now.saturating_since(sent.at());
        let younger = self.of_copy && !sent.marked(REPEATED);
        if out > self.allowed || (out == self.allowed && !younger) {
            let spared = self.spares_copies && sent.marked(RESENT) && !sent.marked(LOST);
            self.found.lost += 1;
            self.found.lost_retransmission |= sent.marked(RESENT) && !spared;
            board.lose(number, if spared { 0 } else { RESENT });
            return Verdict::Done;
        }
        let remaining = self.allowed.saturating_sub(out);
        self.found.again_after = Some(self.found.again_after.map_or(remaining, |span| span.max(remaining)));
        Verdict::Late
    }
}

impl Scoreboard {
    /// The record of a transmission, if it is outstanding, was not sent again since, and is neither SACKed nor lost.
    fn waits(&self, number: u64, at: Time) -> Option<Sent> {
        if number < self.first || number >= self.next {
            return None;
        }
        let sent = *self.slot(number);
        let lost = sent.marked(LOST) && !sent.marked(RESENT);
        (sent.at() == at && !sent.marked(SACKED) && !lost).then_some(sent)
    }

    /// Offset behind a record.
    pub(super) fn end_of(&self, number: u64) -> u64 {
        let resend = self.describe(number);
        resend.start + u64::from(resend.len)
    }

    /// A record is lost, or its copy is; `clear`: the marks that it then has no longer.
    pub(super) fn lose(&mut self, number: u64, clear: u32) {
        self.mark(number, LOST | FOUND, clear);
        self.cursor = self.cursor.min(number);
        self.lost_end = self.next;
        self.sacked_above = 0;
    }

    /// A time-out: the oldest record is lost, and those that `overdue` says; copies with them.
    pub(super) fn lose_overdue(&mut self, overdue: impl Fn(Time) -> bool) {
        for number in self.first..self.next {
            let sent = *self.slot(number);
            if !sent.marked(SACKED) && (number == self.first || overdue(sent.at())) {
                self.mark(number, LOST, RESENT);
            }
        }
        self.cursor = self.first;
        self.lost_end = self.next;
        self.sacked_above = 0;
    }
}
