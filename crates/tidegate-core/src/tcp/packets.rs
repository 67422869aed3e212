//! Linux's segmentation offload for data that are not paced: the segments that leave at an instant are handed to the device
//! as packets of several. The path sees single segments all the same; what remains of it are the PSH of each packet's last
//! segment, which the receiver acknowledges at once, and the rest of a window that waits to leave with more.

use super::accounts::Accounts;
use super::sender::{Mode, Sender};
use crate::unit::HeldBy;
use crate::units::{Span, Time};

/// Segments of a packet at least (`tcp_min_tso_segs`).
const LEAST: u64 = 2;
/// A rest waits only for ACKs that are this near, and only so soon after what left before it (`tcp_tso_should_defer`).
const NEAR: Span = Span::from_millis(1);
/// A rest that is this part of the window does not wait (`tcp_tso_win_divisor`).
const LARGE: u64 = 3;

impl Sender {
    /// Segments of the packet whose first segment has just left (`tcp_write_xmit`, `tcp_cwnd_test`).
    #[inline(always)]
    pub(super) fn packet(&self, window: u64) -> u64 {
        let mss = u64::from(self.config.mss);
        // As it was before that segment.
        let room = (window + mss).saturating_sub(self.pipe());
        // An ACK for each segment makes room for one.
        if room < 2 * mss || self.mode != Mode::Open {
            return 1;
        }
        let room = room / mss;
        let half = (window / mss / 2).max(1);
        let unsent = (self.written - self.max) / mss + 1;
        let theirs = (self.una + self.peer_window).saturating_sub(self.max) / mss + 1;
        self.largest_packet().min(room).min(half).min(unsent).min(theirs).max(1)
    }

    /// Segments of a packet at most: 1/1024 s of the rate (`tcp_tso_autosize`), which for data that are not paced is 200% or
    /// 120% of the window in a round trip (`tcp_update_pacing_rate`).
    fn largest_packet(&self) -> u64 {
        let mss = u64::from(self.config.mss);
        if let Some(rate) = self.controller.pacing_rate() {
            return self.burst(rate) / mss;
        }
        // Most are too slow for a third segment, which needs no division to be seen: 2 · window / srtt / 1024 < 3 mss.
        let window = self.window().max(self.outstanding());
        let srtt = self.estimator.smoothed().picos();
        if window.saturating_mul(2_000_000_000_000 / 1024) < (LEAST + 1) * mss * srtt {
            return LEAST;
        }
        let Some(rate) = self.rate_of_window() else { return LEAST };
        (self.burst(rate) / mss).max(LEAST)
    }

    /// Whether what the window has room for waits to leave as part of a larger packet (`tcp_tso_should_defer`).
    #[inline(always)]
    pub(super) fn defers(&mut self, accounts: &mut Accounts, now: Time, window: u64) -> bool {
        let mss = u64::from(self.config.mss);
        let offload = &accounts.offload;
        if !offload.at_work || offload.left > 0 || now.saturating_since(self.last_sent) > NEAR {
            return false;
        }
        let room = window.saturating_sub(self.pipe());
        let theirs = (self.una + self.peer_window).saturating_sub(self.max);
        let limit = room.min(theirs);
        if limit < mss
            || self.written - self.max <= mss
            || limit >= self.largest_packet() * mss
            || limit >= window.min(self.peer_window) / LARGE
            || self.outstanding() == 0
        {
            return false;
        }
        let srtt = self.estimator.smoothed();
        let near = NEAR.min(Span::from_picos(srtt.picos() / 2));
        let expected = self.board.slot(self.board.first).at().saturating_add(srtt);
        if expected > now.saturating_add(near) {
            return false;
        }
        if room < theirs {
            accounts.offload.waits = true;
            self.stopped_by_window();
        } else {
            self.held = HeldBy::ReceiverWindow;
        }
        true
    }
}
