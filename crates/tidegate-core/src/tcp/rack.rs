//! RACK (RFC 8985): a segment is lost if one that was sent later has arrived, and enough time has passed for
//! the earlier one to have come by another way. Written from `tcp_recovery.c` of Linux 6.18.

use std::collections::VecDeque;

use super::scoreboard::{LOST, RESENT, SACKED, Scoreboard, Sent};
use super::widening::Widening;
use crate::units::{Span, Time};

/// SACKed segments from which on no time is left for reordering while none has been seen (`tcp_reordering`).
const REORDERING: u64 = 3;

/// The newest transmission that is known to have arrived, and what has been learned of the path.
#[derive(Debug, Default)]
pub(super) struct Rack {
    /// RACK.xmit_ts: when the segment was sent that was sent last of those that arrived.
    sent: Time,
    /// RACK.end_seq: offset behind it.
    end: u64,
    /// RACK.rtt: its round trip.
    rtt: Span,
    /// It has moved since losses were looked for.
    advanced: bool,
    /// RACK.min_RTT. DEVIATION: of the whole connection; Linux forgets after 300 s.
    least_rtt: Option<Span>,
    /// RACK.reordering_seen.
    reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    pub(super) widening: Widening,
    /// Transmissions in the order of time: number of the record, and when. Those of records that have gone,
    /// or were sent again, are passed over.
    order: VecDeque<(u64, Time)>,
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
    /// A record was sent.
    pub(super) fn handle_sent(&mut self, number: u64, at: Time) {
        self.order.push_back((number, at));
    }

    /// A round trip was measured.
    pub(super) fn handle_rtt(&mut self, rtt: Span) {
        self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
    }

    /// RACK.min_RTT.
    pub(super) fn least_rtt(&self) -> Option<Span> {
        self.least_rtt
    }

    /// A segment sent once arrived after one that lies above it.
    pub(super) fn handle_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// A segment that was sent at `sent`, up to offset `end`, has arrived (RFC 8985 §6.2 step 2).
    pub(super) fn handle_delivered(&mut self, now: Time, sent: Time, end: u64, repeated: bool) {
        let rtt = now.saturating_since(sent);
        // Faster than any round trip: the ACK is of the first copy.
        if repeated && self.least_rtt.is_some_and(|least| rtt < least) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (sent, end) > (self.sent, self.end) {
            (self.sent, self.end) = (sent, end);
        }
    }

    /// A duplicate was reported; that of a probe says nothing of reordering.
    pub(super) fn handle_duplicate(&mut self, of_probe: bool) {
        if self.reordering_seen && !of_probe {
            self.widening.handle_duplicate();
        }
    }

    /// Losses are to be looked for although nothing newer has arrived.
    pub(super) fn look_again(&mut self) {
        self.advanced = true;
    }

    /// RFC 8985 §6.2 step 4, `tcp_rack_reo_wnd`: time allowed for reordering, with `sacked` segments SACKed.
    fn window(&self, recovering: bool, sacked: u64, srtt: Span) -> Span {
        if !self.reordering_seen && (recovering || sacked >= REORDERING) {
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

    /// The same when the reordering timer expires.
    pub(super) fn look(
        &mut self,
        now: Time,
        board: &mut Scoreboard,
        recovering: bool,
        sacked: u64,
        srtt: Span,
    ) -> Found {
        let allowed = self.rtt + self.window(recovering, sacked, srtt);
        let mut found = Found::default();
        let mut late = Vec::new();
        while let Some((number, at)) = self.order.front().copied() {
            if let Some(sent) = board.waits(number, at) {
                if (at, board.end_of(number)) >= (self.sent, self.end) {
                    break;
                }
                let out = now.saturating_since(at);
                if out >= allowed {
                    found.lost += 1;
                    found.lost_retransmission |= sent.marked(RESENT);
                    board.lose(number);
                } else {
                    let remaining = allowed.saturating_sub(out);
                    found.again_after = Some(found.again_after.map_or(remaining, |span| span.max(remaining)));
                    late.push((number, at));
                }
            }
            self.order.pop_front();
        }
        for entry in late.into_iter().rev() {
            self.order.push_front(entry);
        }
        found
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

    /// A record is lost, or its copy is.
    pub(super) fn lose(&mut self, number: u64) {
        self.mark(number, LOST, RESENT);
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
