//! The usual departure of data that are paced: one segment of a burst, where both windows and what was written leave room for two
//! bursts. What [`super::departure`] does then, without what can bring nothing.

use super::accounts::{Accounts, AtOnce, Owed};
use super::outgoing::Outgoing;
use super::rate::With;
use super::sender::Sender;
use super::window_use::Burst;
use crate::unit::HeldBy;
use crate::units::Time;

impl Sender {
    /// Whether that is what leaves now: the pacer does not hold it back, nothing is repaired, and more is outstanding.
    #[inline(always)]
    pub(super) fn is_in_burst(&self, accounts: &Accounts, now: Time) -> bool {
        if !accounts.bursts || !accounts.calm || accounts.pacer.holds(now) {
            return false;
        }
        let Some((window, rate)) = self.controller.window_and_rate() else { return false };
        let AtOnce { rate: last, bytes, segments } = accounts.at_once;
        let (out, room) = (self.outstanding(), 2 * bytes);
        // With so much room nothing waits to leave as part of a larger packet, and a burst is a packet.
        rate == last
            && segments > 0
            && accounts.probing
            && out > 0
            && out + room <= window
            && out + room <= self.peer_window
            && self.max + room <= self.written
    }

    /// That segment leaves.
    #[inline(always)]
    pub(super) fn poll_burst(&mut self, accounts: &mut Accounts, now: Time) -> Outgoing {
        debug_assert!(self.inflation == 0 && self.is_undisturbed(accounts));
        let AtOnce { rate, bytes, segments } = accounts.at_once;
        let (number, out) = (self.board.next, self.outstanding());
        let sent = self.push_new(now, self.config.mss);
        self.note_sent(now, sent);
        if let Some(sampler) = &mut accounts.sampler {
            let in_flight = out + u64::from(self.config.mss);
            let with = With { alone: false, in_flight, lost: self.board.lost_total, repeated: false };
            sampler.handle_sent(now, number, self.board.first, with);
        }
        let ends = accounts.offload.next_of(|| segments);
        accounts.pacer.handle_sent(now, self.config.mss, rate, bytes);
        if accounts.pacer.holds(now) {
            self.end_burst(accounts, now);
        } else {
            accounts.sent = true;
            accounts.owed = Owed::Probe;
        }
        sent.push_if(ends)
    }

    /// The rest waits for the pacer.
    #[inline(always)]
    fn end_burst(&mut self, accounts: &mut Accounts, now: Time) {
        self.held = HeldBy::Pacing;
        self.timers.pace(accounts.pacer.next());
        self.ready = false;
        accounts.owed = Owed::Probe;
        self.settle_timer(accounts, now);
        let waits = accounts.offload.close();
        accounts.sent = false;
        let left = Burst {
            at: now,
            limited: waits,
            out: self.board.next - self.board.first,
            una: self.una,
            max: self.max,
            rto: self.estimator.rto(),
        };
        let allows = |most| self.controller.in_slow_start() && self.segments(self.controller.window()) < most;
        if accounts.usage.handle_burst(left, allows) {
            self.shrink_unused(accounts, now, self.controller.window());
        }
    }
}
