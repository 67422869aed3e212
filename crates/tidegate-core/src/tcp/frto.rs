//! After a time-out: was it needless? F-RTO (RFC 5682 §3.1, enhanced with SACK), as `tcp_process_loss` of Linux 6.18.

use super::accounts::{Accounts, Repeats};
use super::sender::Sender;
use crate::units::Time;

/// What an ACK says after a time-out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sign {
    /// The cumulative acknowledgement moved.
    pub(super) moved: bool,
    /// A segment that was sent once, before the time-out, is newly reported.
    pub(super) original: bool,
    /// Something is newly SACKed, or the ACK is a duplicate.
    pub(super) duplicate: bool,
    /// Timestamp it answers to; 0: none.
    pub(super) echo: u32,
}

impl Sender {
    /// `tcp_process_loss`.
    #[cold]
    pub(super) fn account_after_timeout(&mut self, accounts: &mut Accounts, now: Time, sign: Sign) {
        if sign.moved && accounts.undo.may(sign.echo) {
            return self.undo_timeout(accounts, now);
        }
        let recovered = self.una >= self.recover;
        if accounts.frto {
            // Step 3b: not all was lost.
            if sign.original {
                return self.undo_timeout(accounts, now);
            }
            if self.max > self.recover {
                // Step 3a: the loss was real.
                accounts.frto &= !sign.duplicate;
            } else if sign.moved && !recovered {
                self.recover = self.max;
                if self.written > self.max && self.una.saturating_add(self.peer_window) > self.max {
                    accounts.repeats = Repeats::AfterNew;
                    return;
                }
                accounts.frto = false;
            }
        }
        if recovered {
            self.end_repair(accounts, now, sign.echo);
        }
    }
}
