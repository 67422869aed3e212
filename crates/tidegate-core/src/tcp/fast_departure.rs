//! Which departures take the fast path ([`Sender::send_full`]): a full segment of new data leaves a sender that is not disturbed, whose
//! application has written more. Whether the steps of [`super::departure`] would send it is seen here without asking all that they ask.

use super::accounts::{Accounts, BurstAt, Owed};
use super::sender::Sender;
use crate::units::Time;

/// What leaves after an ACK that made room in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fills {
    /// A full segment after which nothing more may leave.
    One,
    /// A packet of two of them.
    Two,
}

impl Fills {
    /// Segments of the packet that the next one begins.
    pub(super) fn segments(self) -> u64 {
        if self == Fills::Two { 2 } else { 1 }
    }

    /// Whether another segment follows the next one.
    pub(super) fn goes_on(self) -> bool {
        self == Fills::Two
    }
}

impl Sender {
    /// What leaves next, and the congestion window, of a sender that ACKs alone clock ([`Accounts::self_clocked`]): after an ACK, or
    /// after the first of two.
    #[inline(always)]
    pub(super) fn fills_window_next(&mut self, accounts: &mut Accounts, now: Time) -> Option<(u64, Fills)> {
        let begins = accounts.owed == Owed::Restart;
        let goes_on = accounts.owed == Owed::Probe && accounts.offload.left == 1;
        if !(accounts.self_clocked && accounts.cached.is_known() && (begins || goes_on)) {
            return None;
        }
        // Nothing is repaired, which would put another window in its place.
        let window = self.controller.window();
        self.fills_window(accounts, now, window, begins).map(|fills| (window, fills))
    }

    /// How full segments fill a congestion window of `window` bytes, where one or two do; `begins`: nothing has left since the ACK.
    #[inline(always)]
    pub(super) fn fills_window(
        &mut self,
        accounts: &mut Accounts,
        now: Time,
        window: u64,
        begins: bool,
    ) -> Option<Fills> {
        let (mss, out) = (u64::from(self.config.mss), self.outstanding());
        let room = window.min(self.peer_window).saturating_sub(out);
        if room < mss || room >= 3 * mss || out == 0 {
            return None;
        }
        let fills = if room < 2 * mss {
            Fills::One
        } else if begins && accounts.offload.at_work && window >= 4 * mss {
            // A packet has two segments at least, and at most half the window.
            Fills::Two
        } else {
            return None;
        };
        // A full segment would follow: a shorter one might have room.
        let more = self.written - self.max >= (fills.segments() + 1) * mss;
        (more && !self.defers(accounts, now, window)).then_some(fills)
    }

    /// Whether the next departure is one of a burst at the controller's rate: the pacer does not hold it back, and both windows and what
    /// was written leave room for two bursts. Then the congestion window.
    #[inline(always)]
    pub(super) fn is_in_burst(&self, accounts: &Accounts, now: Time) -> Option<u64> {
        if !accounts.in_bursts || !accounts.cached.is_known() || accounts.pacer.holds(now) {
            return None;
        }
        let (window, rate) = self.controller.window_and_rate()?;
        let BurstAt { rate: last, bytes, segments } = accounts.cached.burst;
        let (out, room) = (self.outstanding(), 2 * bytes);
        // With so much room nothing waits to leave as part of a larger packet, and a burst is a packet.
        let is_one = rate == last
            && segments > 0
            && out > 0
            && out + room <= window
            && out + room <= self.peer_window
            && self.max + room <= self.written;
        is_one.then_some(window)
    }
}
