//! Reductions that prove needless are taken back: the segment was late and not lost. Timestamps show it (the ACK
//! answers to the first copy: RFC 3522, 4015), or reports of duplicates (every copy was superfluous: RFC 3708).
//! Written from `tcp_try_undo_…` of Linux 6.18.

use super::accounts::Accounts;
use super::scoreboard::REPEATED;
use super::sender::{Mode, Sender};
use crate::cc::Undone;
use crate::units::Time;

impl Sender {
    /// A reduction is about to be made: what it takes away. `tcp_enter_recovery`, `tcp_enter_loss`.
    pub(super) fn prepare_undo(&mut self, accounts: &mut Accounts) {
        let before =
            Undone { window: self.controller.window(), ssthresh: self.controller.snapshot().ssthresh };
        self.begin_undo(accounts, Some(before));
    }

    /// A repair begins; `None`: with a window that a mark has reduced.
    pub(super) fn begin_undo(&self, accounts: &mut Accounts, before: Option<Undone>) {
        let probe = u64::from(accounts.probe.end != 0 && accounts.probe.repeats);
        accounts.undo.begin(self.una, self.board.copies + probe, before);
    }

    /// `tcp_retrans_stamp_cleanup`: the first copy is forgotten where none is on its way.
    pub(super) fn forget_first_copy(&self, accounts: &mut Accounts) {
        let board = &self.board;
        let oldest_repeated = board.first != board.next && board.slot(board.first).marked(REPEATED);
        if board.copies == 0 && !oldest_repeated {
            accounts.undo.forget_first_copy();
        }
    }

    /// `tcp_undo_cwnd_reduction`.
    #[cold]
    pub(super) fn undo(&mut self, accounts: &mut Accounts, now: Time, unmark: bool) {
        accounts.usage.handle_window_set(now);
        if unmark {
            self.board.find_all();
            accounts.rack.look_at_all(&self.board, accounts.linux_windows);
        }
        let before = accounts.undo.end();
        let kept = before.is_none();
        if let Some(before) = before {
            let reduced = self.controller.snapshot().ssthresh;
            self.controller.handle_undone(&before);
            let restored = self.controller.snapshot().ssthresh;
            let rises = reduced.is_some_and(|reduced| restored.is_none_or(|ssthresh| ssthresh > reduced));
            if let Some(marks) = self.marks.as_mut().filter(|_| rises) {
                // `tcp_ecn_withdraw_cwr`: there is no reduction to tell of.
                marks.cwr_due = false;
            }
        }
        let reduces = self.mode == Mode::Sack && accounts.proportional;
        if reduces && kept {
            // The window stays as far as it has been reduced.
            let window = accounts.prr.window() * u64::from(self.config.mss);
            self.controller.handle_reduction_ended(window);
        }
        accounts.rack.look_again();
        self.mode = Mode::Open;
        self.ready = true;
    }

    /// `tcp_try_undo_recovery`: all that was outstanding when the repair began is acknowledged.
    pub(super) fn end_repair(&mut self, accounts: &mut Accounts, now: Time, echo: u32) {
        if accounts.undo.may(echo) {
            self.undo(accounts, now, false);
        } else {
            accounts.rack.widening.handle_recovered();
        }
        self.mode = Mode::Open;
    }

    /// `tcp_try_undo_partial`: `bytes` of it are. `true`: the hole was filled by a late segment, but copies are on their way,
    /// so that neither more is lost nor sent again for now.
    pub(super) fn undo_partially(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        bytes: u64,
        echo: u32,
    ) -> bool {
        if !accounts.undo.was_late(echo) {
            return false;
        }
        self.note_reordering(accounts, self.una, self.una - bytes);
        if self.board.copies > 0 {
            return true;
        }
        self.forget_first_copy(accounts);
        self.undo(accounts, now, true);
        false
    }

    /// `tcp_try_undo_dsack`: every copy was superfluous.
    pub(super) fn undo_superfluous(&mut self, accounts: &mut Accounts, now: Time) {
        if accounts.undo.all_superfluous() {
            accounts.rack.widening.handle_superfluous();
            self.undo(accounts, now, false);
        }
    }

    /// `tcp_try_undo_loss`: the time-out was needless.
    pub(super) fn undo_timeout(&mut self, accounts: &mut Accounts, now: Time) {
        self.undo(accounts, now, true);
        accounts.timeouts = 0;
    }
}
