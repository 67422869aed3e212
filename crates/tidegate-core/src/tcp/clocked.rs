//! The usual departures after a usual ACK: the window, which had stopped the sender, has room for one segment again and for no
//! more, or for two, which are a packet of segmentation offload. What [`super::departure`] does then, without what can bring
//! nothing.

use super::accounts::{Accounts, Owed};
use super::outgoing::Outgoing;
use super::sender::Sender;
use super::window_use::Burst;
use crate::unit::HeldBy;
use crate::units::Time;

/// What leaves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clocked {
    /// A full segment after which nothing more may leave.
    Last,
    /// The first of two.
    First,
}

impl Sender {
    /// Which full segment leaves after an ACK that took the short way ([`super::next_ack`]), where one or two fill the window,
    /// and neither pace nor application has a say. `None`: another way says what leaves.
    #[inline(always)]
    pub(super) fn clocked(&mut self, accounts: &mut Accounts, now: Time) -> Option<Clocked> {
        let begins = accounts.owed == Owed::Restart;
        let goes_on = accounts.owed == Owed::Probe && accounts.offload.left == 1;
        if !(accounts.clocked && accounts.calm && accounts.probing && (begins || goes_on)) {
            return None;
        }
        // Nothing is repaired, which would put another window in its place.
        self.fills_up(accounts, now, self.controller.window(), begins)
    }

    /// How the next full segment fills the window of a calm sender that ACKs alone clock, with `window` as its congestion window;
    /// `begins`: nothing has left since the ACK.
    #[inline(always)]
    pub(super) fn fills_up(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        window: u64,
        begins: bool,
    ) -> Option<Clocked> {
        let (mss, out) = (u64::from(self.config.mss), self.outstanding());
        let room = window.min(self.peer_window).saturating_sub(out);
        if room < mss || room >= 3 * mss || out == 0 {
            return None;
        }
        let next = if room < 2 * mss {
            Clocked::Last
        } else if begins && accounts.offload.at_work && window >= 4 * mss {
            // A packet has two segments at least, and at most half the window.
            Clocked::First
        } else {
            return None;
        };
        // A full segment would follow: a shorter one might have room.
        let leaves = if next == Clocked::First { 2 * mss } else { mss };
        let more = self.written - self.max >= leaves + mss;
        (more && !self.defers(accounts, now, window)).then_some(next)
    }

    /// That segment leaves.
    #[inline(always)]
    pub(super) fn poll_clocked(&mut self, accounts: &mut Accounts, now: Time, next: Clocked) -> Outgoing {
        let sent = self.push_clocked(accounts, now, next);
        if next == Clocked::Last {
            self.close_clocked(accounts, now, self.controller.window());
        }
        sent
    }

    /// Sends one full segment; after the last one [`Sender::close_clocked`] is due.
    #[inline(always)]
    pub(super) fn push_clocked(&mut self, accounts: &mut Accounts, now: Time, next: Clocked) -> Outgoing {
        debug_assert!(self.inflation == 0 && self.is_undisturbed(accounts));
        let sent = self.push_new(now, self.config.mss);
        self.note_sent(now, sent);
        accounts.owed = Owed::Probe;
        if next == Clocked::First {
            accounts.sent = true;
            accounts.offload.next_of(|| 2);
            return sent;
        }
        sent.push_if(accounts.offload.next_of(|| 1))
    }

    /// All has left that a congestion window of `window` bytes lets go. Answers with the window from then on.
    #[inline(always)]
    pub(super) fn close_clocked(&mut self, accounts: &mut Accounts, now: Time, window: u64) -> u64 {
        self.ready = false;
        // Neither repair nor duplicates change what the window means.
        let out = self.outstanding();
        if out + u64::from(self.config.mss) <= window {
            self.held = HeldBy::ReceiverWindow;
        } else {
            self.stopped_by_window();
        }
        self.settle_timer(accounts, now);
        accounts.sent = false;
        let left = Burst {
            at: now,
            limited: accounts.offload.close() || self.fills_with(out, window),
            out: self.board.next - self.board.first,
            una: self.una,
            max: self.max,
            rto: self.estimator.rto(),
        };
        let allows = |most| self.controller.in_slow_start() && self.segments(window) < most;
        if accounts.usage.handle_burst(left, allows) {
            self.shrink_unused(accounts, now, window);
            return self.controller.window();
        }
        window
    }
}
