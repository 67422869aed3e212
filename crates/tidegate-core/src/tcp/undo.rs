//! Reductions that prove needless are taken back: the segment was late and not lost. Timestamps show it (the ACK
//! answers to the first copy: RFC 3522, 4015), or reports of duplicates (every copy was superfluous: RFC 3708).
//! Written from `tcp_try_undo_…` of Linux 6.18.

use super::accounts::Accounts;
use super::rack::Rack;
use super::scoreboard::REPEATED;
use super::sender::{Mode, Sender};
use super::timestamp;
use crate::cc::Undone;
use crate::plan::TcpRules;
use crate::units::Time;

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
    /// What was in force before the reduction.
    before: Option<Undone>,
    /// Segments reported as duplicates, ever (`dsack_dups`).
    pub(super) duplicates: u64,
}

impl Undo {
    pub(super) fn new(rules: &TcpRules) -> Undo {
        Undo { enabled: rules.undo, marker: None, copies: None, first_copy: 0, before: None, duplicates: 0 }
    }

    /// `tcp_init_undo`: a reduction begins with `una` as the oldest byte and `copies` on their way.
    fn begin(&mut self, una: u64, copies: u64, before: Undone) {
        self.marker = self.enabled.then_some(una);
        self.copies = (copies > 0).then_some(copies);
        self.before = Some(before);
    }

    /// A segment was sent again.
    pub(super) fn handle_copy(&mut self, now: Time) {
        self.copies = Some(self.copies.unwrap_or(0) + 1);
        if self.first_copy == 0 {
            self.first_copy = timestamp::at(now);
        }
    }

    /// Whether a duplicate that ends at `end` is of this repair.
    pub(super) fn covers(&self, end: u64) -> bool {
        self.marker.is_some_and(|marker| end > marker)
    }

    /// So many copies were superfluous.
    pub(super) fn take(&mut self, segments: u64) {
        if let Some(copies) = &mut self.copies {
            *copies = copies.saturating_sub(segments);
        }
    }

    /// Every copy was superfluous.
    fn all_superfluous(&self) -> bool {
        self.marker.is_some() && self.copies == Some(0)
    }

    /// `tcp_packet_delayed`: the ACK answers to a segment that was sent before the first copy (RFC 3522 §3.2), or
    /// nothing was sent again yet.
    fn was_late(&self, echo: u32) -> bool {
        self.marker.is_some() && (self.first_copy == 0 || timestamp::is_before(echo, self.first_copy))
    }

    /// `tcp_may_undo`.
    pub(super) fn may(&self, echo: u32) -> bool {
        self.all_superfluous() || self.was_late(echo)
    }
}

impl Sender {
    /// A reduction is about to be made: what it takes away. `tcp_enter_recovery`, `tcp_enter_loss`.
    pub(super) fn prepare_undo(&mut self, accounts: &mut Accounts) {
        let probe = u64::from(accounts.probe.end != 0 && accounts.probe.repeats);
        let before =
            Undone { window: self.controller.window(), ssthresh: self.controller.snapshot().ssthresh };
        accounts.undo.begin(self.una, self.board.copies + probe, before);
    }

    /// `tcp_retrans_stamp_cleanup`: the first copy is forgotten where none is on its way.
    pub(super) fn forget_first_copy(&self, accounts: &mut Accounts) {
        let board = &self.board;
        let oldest_repeated = board.first != board.next && board.slot(board.first).marked(REPEATED);
        if board.copies == 0 && !oldest_repeated {
            accounts.undo.first_copy = 0;
        }
    }

    /// `tcp_undo_cwnd_reduction`.
    #[cold]
    pub(super) fn undo(&mut self, accounts: &mut Accounts, unmark: bool) {
        if unmark {
            self.board.find_all();
        }
        if let Some(before) = &accounts.undo.before {
            self.controller.handle_undone(before);
        }
        accounts.undo.marker = None;
        accounts.rack.look_again();
        self.mode = Mode::Open;
        self.ready = true;
    }

    /// `tcp_try_undo_recovery`: all that was outstanding when the repair began is acknowledged.
    pub(super) fn end_repair(&mut self, accounts: &mut Accounts, echo: u32) {
        if accounts.undo.may(echo) {
            self.undo(accounts, false);
        } else {
            accounts.rack.handle_recovered();
        }
        self.mode = Mode::Open;
    }

    /// `tcp_try_undo_partial`: a part of it is. `true`: the hole was filled by a late segment, but copies are on their way,
    /// so that neither more is lost nor sent again for now.
    pub(super) fn undo_partially(&mut self, accounts: &mut Accounts, echo: u32) -> bool {
        if !accounts.undo.was_late(echo) {
            return false;
        }
        accounts.rack.handle_reordering();
        if self.board.copies > 0 {
            return true;
        }
        self.forget_first_copy(accounts);
        self.undo(accounts, true);
        false
    }

    /// `tcp_try_undo_dsack`: every copy was superfluous.
    pub(super) fn undo_superfluous(&mut self, accounts: &mut Accounts) {
        if accounts.undo.all_superfluous() {
            accounts.rack.handle_superfluous();
            self.undo(accounts, false);
        }
    }

    /// `tcp_try_undo_loss`: the time-out was needless.
    pub(super) fn undo_timeout(&mut self, accounts: &mut Accounts) {
        self.undo(accounts, true);
        accounts.timeouts = 0;
    }
}

/// Recoveries for which a wider reordering window holds (RFC 8985 §6.2 step 4, `TCP_RACK_RECOVERY_THRESH`).
const PERSISTENCE: u8 = 16;

/// RFC 8985 §6.2 step 4: how duplicates widen the window for reordering (`tcp_rack_update_reo_wnd`).
#[derive(Debug, Default)]
pub(super) struct Widening {
    /// Quarters of the least round trip beside the first (`reo_wnd_steps` - 1).
    steps: u8,
    /// Recoveries until it is forgotten (`reo_wnd_persist`).
    persists: u8,
    /// A duplicate was reported that reordering may have caused (`dsack_seen`).
    seen: bool,
    /// When it widened last.
    at: Time,
}

impl Widening {
    /// Quarters of the least round trip.
    pub(super) fn quarters(&self) -> u64 {
        u64::from(self.steps) + 1
    }

    /// Once a round trip: an ACK newly reports what was sent at `newest` last.
    pub(super) fn handle_ack(&mut self, now: Time, newest: Time) {
        if newest < self.at {
            self.seen = false;
        }
        if std::mem::take(&mut self.seen) {
            self.steps = self.steps.saturating_add(1).min(u8::MAX - 1);
            self.at = now;
            self.persists = PERSISTENCE;
        } else if self.persists == 0 {
            self.steps = 0;
        }
    }
}

impl Rack {
    /// A duplicate was reported; that of a probe says nothing of reordering.
    pub(super) fn handle_duplicate(&mut self, of_probe: bool) {
        self.widening.seen |= self.reordering_seen && !of_probe;
    }

    /// A recovery ended that was not needless.
    fn handle_recovered(&mut self) {
        self.widening.persists = self.widening.persists.saturating_sub(1);
    }

    /// A recovery was needless.
    fn handle_superfluous(&mut self) {
        self.widening.persists = (self.widening.persists + 1).min(PERSISTENCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    /// A step for each round trip with duplicates, kept for 16 recoveries.
    #[test]
    fn duplicates_widen_the_window_for_reordering_once_a_round_trip() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut rack = Rack::default();
        rack.handle_duplicate(false);
        rack.widening.handle_ack(at(40), at(0));
        assert_eq!(rack.widening.quarters(), 1, "no reordering was seen");
        rack.handle_reordering();
        rack.handle_duplicate(true);
        rack.widening.handle_ack(at(50), at(10));
        assert_eq!(rack.widening.quarters(), 1, "it was the probe");
        rack.handle_duplicate(false);
        rack.widening.handle_ack(at(60), at(20));
        assert_eq!(rack.widening.quarters(), 2);
        rack.handle_duplicate(false);
        rack.widening.handle_ack(at(61), at(21));
        assert_eq!(rack.widening.quarters(), 2, "the segment was sent before the last step");
        for _ in 0..PERSISTENCE {
            assert_eq!(rack.widening.quarters(), 2);
            rack.handle_recovered();
        }
        rack.widening.handle_ack(at(200), at(160));
        assert_eq!(rack.widening.quarters(), 1);
    }
}
