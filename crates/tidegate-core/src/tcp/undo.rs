//! What a sender remembers of a repair that may prove needless (`undo_marker`, `undo_retrans`, `retrans_stamp` of Linux 6.18).

use super::timestamp;
use crate::cc::Undone;
use crate::plan::TcpRules;
use crate::units::{Span, Time};

/// The repair that may be taken back.
#[derive(Debug)]
pub(super) struct Undo {
    /// Timestamps and duplicates are looked at.
    enabled: bool,
    /// Where it began (`undo_marker`); `None`: nothing can be taken back.
    marker: Option<u64>,
    /// Copies of which no duplicate was reported (`undo_retrans`); `None`: none was sent yet.
    copies: Option<u64>,
    /// Timestamp of the first copy (`retrans_stamp`); 0: none was sent yet.
    first_copy: u32,
    /// What was in force before the reduction; `None`: a mark had reduced the window, which stays so (`prior_ssthresh` = 0).
    before: Option<Undone>,
    /// Segments reported as duplicates, ever (`dsack_dups`).
    pub(super) duplicates: u64,
}

impl Undo {
    pub(super) fn new(rules: &TcpRules) -> Undo {
        Undo { enabled: rules.undo, marker: None, copies: None, first_copy: 0, before: None, duplicates: 0 }
    }

    /// `tcp_init_undo`: a reduction begins with `una` as the oldest byte and `copies` on their way.
    pub(super) fn begin(&mut self, una: u64, copies: u64, before: Option<Undone>) {
        self.marker = self.enabled.then_some(una);
        self.copies = (copies > 0).then_some(copies);
        self.before = before;
    }

    /// `tcp_enter_cwr`: the window is reduced for a mark, so that what an older repair has taken is not given back.
    pub(super) fn forget(&mut self) {
        self.marker = None;
        self.before = None;
    }

    /// A mark is reported while losses are repaired: the window stays reduced, whatever the repair proves to be
    /// (`tcp_fastretrans_alert`, `prior_ssthresh` = 0).
    pub(super) fn keep_reduction(&mut self) {
        self.before = None;
    }

    /// A probe has shown a loss: the window that it reduced is what is given back (`tcp_init_cwnd_reduction`, `prior_cwnd`).
    pub(super) fn give_back(&mut self, window: u64) {
        if let Some(before) = &mut self.before {
            before.window = window;
        }
    }

    /// No copy is on its way.
    pub(super) fn forget_first_copy(&mut self) {
        self.first_copy = 0;
    }

    /// The repair has been taken back: what was in force before it.
    pub(super) fn end(&mut self) -> Option<Undone> {
        self.marker = None;
        self.before
    }

    /// Whether a repair may be taken back (`undo_marker`).
    pub(super) fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// So many segments were sent again, or would have been.
    pub(super) fn handle_copies(&mut self, now: Time, segments: u64) {
        self.copies = Some(self.copies.unwrap_or(0) + segments);
        if self.first_copy == 0 {
            self.first_copy = timestamp::at(now);
        }
    }

    /// Whether a duplicate that ends at `end` is of this repair.
    pub(super) fn covers(&self, end: u64) -> bool {
        self.marker.is_some_and(|marker| end > marker)
    }

    /// Since when copies have been sent, in whole milliseconds.
    pub(super) fn copies_for(&self, now: Time) -> Span {
        if self.first_copy == 0 {
            return Span::ZERO;
        }
        Span::from_millis(u64::from(timestamp::at(now).wrapping_sub(self.first_copy)))
    }

    /// So many copies were superfluous.
    pub(super) fn take(&mut self, segments: u64) {
        if let Some(copies) = &mut self.copies {
            *copies = copies.saturating_sub(segments);
        }
    }

    /// Every copy was superfluous.
    pub(super) fn all_superfluous(&self) -> bool {
        self.marker.is_some() && self.copies == Some(0)
    }

    /// `tcp_packet_delayed`: the ACK answers to a segment that was sent before the first copy (RFC 3522 §3.2), or
    /// nothing was sent again yet.
    pub(super) fn was_late(&self, echo: u32) -> bool {
        self.marker.is_some() && (self.first_copy == 0 || timestamp::is_before(echo, self.first_copy))
    }

    /// `tcp_may_undo`.
    pub(super) fn may(&self, echo: u32) -> bool {
        self.all_superfluous() || self.was_late(echo)
    }
}
