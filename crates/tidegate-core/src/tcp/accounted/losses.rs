//! Which losses an acknowledgement proves, and the reduction that begins with them.

use super::Delivery;
use crate::tcp::accounts::{Accounts, Repeats};
use crate::tcp::frto::Sign;
use crate::tcp::rack::Found;
use crate::tcp::scoreboard::REPEATED;
use crate::tcp::sender::{Mode, Sender};
use crate::tcp::timers::{Purpose, on_ticks};
use crate::units::Time;

impl Sender {
    /// `tcp_fastretrans_alert`: the end of a recovery, what is lost, the beginning of one.
    pub(super) fn account_losses(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        bytes: u64,
        duplicate: bool,
        delivery: &Delivery,
    ) -> Found {
        let (moved, echo) = (bytes > 0, delivery.echo);
        accounts.repeats = Repeats::Lost;
        let marked = self.marks.as_ref().is_some_and(|marks| marks.is_reading_mark());
        if marked {
            accounts.undo.keep_reduction();
        }
        // `tcp_ack_is_dubious`.
        let dubious = delivery.newly_sacked > 0
            || delivery.again.segments > 0
            || (!moved && delivery.plain)
            || marked
            || accounts.disordered
            || accounts.yields
            || self.mode != Mode::Open;
        if self.mode == Mode::Sack && self.una >= self.recover {
            self.end_repair(accounts, now, echo);
        }
        match self.mode {
            Mode::Sack => {
                if moved && accounts.by_time && self.undo_partially(accounts, now, bytes, echo) {
                    accounts.repeats = Repeats::None;
                    return Found::default();
                }
                self.undo_superfluous(accounts, now);
            }
            Mode::Loss => {
                let duplicate = delivery.newly_sacked > 0 || (duplicate && delivery.again.segments == 0);
                let sign = Sign { moved, original: delivery.original, duplicate, echo };
                self.account_after_timeout(accounts, now, sign);
            }
            Mode::Open | Mode::Fast => self.undo_superfluous(accounts, now),
        }
        if self.mode == Mode::Open {
            self.forget_first_copy(accounts);
        }
        let found = if !accounts.by_time {
            self.find_lost_by_sack(bytes, delivery)
        } else if dubious || !accounts.linux_windows {
            self.find_lost_by_time(accounts, now)
        } else {
            // DEVIATION: RFC 8985 §6.2 looks for losses at every ACK; Linux does not where nothing is in disorder (`tcp_ack`).
            Found::default()
        };
        let again = self.mode == Mode::Loss && found.lost_retransmission;
        // `tcp_time_to_recover`: also where a recovery has just ended and what was lost after it began is out again.
        if again || (self.mode == Mode::Open && self.board.holds_lost()) {
            self.begin_reduction(accounts, now);
        }
        if dubious {
            accounts.disordered = self.is_disordered(accounts);
        }
        found
    }

    /// `tcp_try_keep_open`: whether anything is reported, lost or sent again, or the oldest segment once was.
    fn is_disordered(&self, accounts: &Accounts) -> bool {
        let board = &self.board;
        let again = || board.copies > 0 || board.slot(board.first).marked(REPEATED) || board.holds_lost();
        accounts.sacked > 0 || (accounts.linux_windows && board.first != board.next && again())
    }

    /// RACK, and its timer where more may be lost.
    pub(in crate::tcp) fn find_lost_by_time(&mut self, accounts: &mut Accounts, now: Time) -> Found {
        let srtt = self.estimator.smoothed();
        let recovering = self.mode != Mode::Open;
        let found = accounts.rack.detect(now, &mut self.board, recovering, accounts.sacked, srtt);
        if let Some(after) = found.again_after {
            self.timers.set(Purpose::Reorder, now.saturating_add(on_ticks(after)));
        }
        found
    }

    /// RFC 6675 §5 steps 1 and 2.
    fn find_lost_by_sack(&mut self, bytes: u64, delivery: &Delivery) -> Found {
        let before = self.pipe();
        if delivery.newly_sacked > 0 && bytes == 0 {
            self.dupacks = self.dupacks.saturating_add(1);
        }
        self.board.find_lost(self.config.dupthresh, self.config.mss);
        if self.mode == Mode::Open && self.dupacks >= self.config.dupthresh && !self.board.oldest_is_lost() {
            self.board.lose_first();
        }
        Found { lost: self.segments(before.saturating_sub(self.pipe())), ..Found::default() }
    }
}
