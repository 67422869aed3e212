//! The usual departure after a usual ACK: the window, which had stopped the sender, has room for one segment again, and for no
//! more. What [`super::departure`] does then, without what can bring nothing.

use super::accounts::{Accounts, Owed};
use super::outgoing::Outgoing;
use super::sender::Sender;
use super::window_use::Burst;
use crate::units::Time;

impl Sender {
    /// Whether one full segment fills the window, after an ACK that took the short way ([`super::next_ack`]), and
    /// neither pace, receiver nor application have a say.
    #[inline(always)]
    pub(super) fn is_clocked(&mut self, accounts: &mut Accounts, now: Time) -> bool {
        if accounts.owed != Owed::Restart {
            return false;
        }
        // Nothing is repaired, which would put another window in its place.
        let window = self.controller.window();
        let mss = u64::from(self.config.mss);
        let filled = self.outstanding() + mss;
        filled == window
            && filled > mss
            && filled <= self.peer_window
            && self.written - self.max > mss
            && accounts.clocked
            && accounts.probing
            && !self.defers(accounts, now, window)
    }

    /// That segment leaves.
    #[inline(always)]
    pub(super) fn poll_clocked(&mut self, accounts: &mut Accounts, now: Time) -> Outgoing {
        debug_assert!(
            self.inflation == 0
                && !accounts.sent
                && accounts.offload.left == 0
                && self.is_undisturbed(accounts)
        );
        let sent = self.push_new(now, self.config.mss);
        self.note_sent(now, sent);
        self.ready = false;
        self.stopped_by_window();
        accounts.owed = Owed::Probe;
        self.settle_timer(accounts, now);
        let out = self.board.next - self.board.first;
        let rto = self.estimator.rto();
        let burst = Burst { at: now, limited: true, out, una: self.una, max: self.max, rto };
        accounts.usage.handle_burst(burst, |_| true);
        sent
    }
}
