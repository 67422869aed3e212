//! Linux's segmentation offload for data that are not paced: the segments that leave at an instant are handed to the device
//! as packets of several. The path sees single segments all the same; what remains of it are the PSH of each packet's last
//! segment, which the receiver acknowledges at once, and the rest of a window that waits to leave with more.

use super::accounts::{Accounts, PacketBounds};
use super::outgoing::Outgoing;
use super::sender::Sender;
use crate::cc::{Bursts, LARGEST_PACKET};
use crate::plan::{Arithmetic, Segmentation};
use crate::unit::HeldBy;
use crate::units::{Rate, Span, Time};

/// Each 2^9 us of the least round trip halve what a short one allows beside the rate (`net.ipv4.tcp_tso_rtt_log`).
const TRIP_LOG: u32 = 9;
/// A rest waits only for ACKs that are this near, and only so soon after what left before it (`tcp_tso_should_defer`).
const NEAR: Span = Span::from_millis(1);
/// A rest that is this part of the window does not wait (`tcp_tso_win_divisor`).
const LARGE: u64 = 3;

impl Sender {
    /// Segments of the packet whose first segment has just left (`tcp_write_xmit`, `tcp_cwnd_test`); `resumed`: see [`Offload::resumed`].
    #[inline(always)]
    pub(super) fn packet(&self, window: u64, bounds: PacketBounds, resumed: u64) -> u64 {
        let mss = u64::from(self.config.mss);
        // As it was before that segment.
        let room = (window + mss).saturating_sub(self.pipe());
        // An ACK for each segment makes room for one.
        if room < 2 * mss {
            return 1;
        }
        let room = room / mss;
        let half = (window / mss / 2).max(1);
        let unsent = (self.written - self.max).div_ceil(mss) + 1;
        let theirs = self.room_of_theirs().div_ceil(mss) + 1;
        self.largest_packet(window, bounds).max(resumed).min(room).min(half).min(unsent).min(theirs).max(1)
    }

    /// New bytes for which the other side's window has room.
    pub(super) fn room_of_theirs(&self) -> u64 {
        (self.una + self.peer_window).saturating_sub(self.max)
    }

    /// The rest of a packet that the other side's window cuts within a segment (`tcp_mss_split_point`, `tcp_snd_wnd_test`).
    #[cold]
    pub(super) fn poll_piece(&mut self, accounts: &mut Accounts, now: Time) -> Option<Outgoing> {
        let room = self.room_of_theirs();
        let cut = accounts.offload.left > 0
            && self.held == HeldBy::ReceiverWindow
            && 0 < room
            && room < u64::from(self.config.mss);
        if !cut {
            return None;
        }
        let sent = self.push_new(now, room as u32, false);
        self.board.note_short();
        // What stops the next segment is seen when it is asked for.
        self.ready = true;
        Some(sent)
    }

    /// Bytes that leave at once at `rate`, where Linux's segmentation offload is at work ([`Bursts`]): 64 KB at most; 0: one segment.
    #[inline(never)]
    pub(super) fn burst(&self, rate: Rate, least_rtt: Option<Span>) -> u64 {
        let rules = &self.config.rules;
        if rules.segmentation != Segmentation::Kernel || rules.arithmetic != Arithmetic::Linux {
            return 0;
        }
        let Bursts { shift, on_short_trips, least, single_below } = self.controller.bursts();
        let least = if rate < single_below { 1 } else { least };
        let beside = if on_short_trips { beside_rate(least_rtt) } else { 0 };
        let mss = u64::from(self.config.mss);
        let segments = (((rate.bps() / 8) >> shift) + beside).min(LARGEST_PACKET) / mss;
        segments.max(least) * mss
    }

    /// Segments of a packet at most ([`Bursts`]), at a rate which for data that are not paced is 200% or 120% of the window in a round
    /// trip (`tcp_update_pacing_rate`).
    pub(super) fn largest_packet(&self, window: u64, bounds: PacketBounds) -> u64 {
        let PacketBounds { least_rtt, most_rate } = bounds;
        const LEAST: u64 = Bursts::LINUX.least;
        let mss = u64::from(self.config.mss);
        if let Some(rate) = self.controller.pacing_rate() {
            return self.burst(rate.min(most_rate), least_rtt) / mss;
        }
        // Most are too slow for a third segment, which needs no division to be seen: 2 · window / srtt / 1024 + beside < 3 mss.
        let window = window.max(self.out_after_ack());
        let srtt = self.estimator.smoothed().picos();
        let wanted = ((LEAST + 1) * mss).saturating_sub(beside_rate(least_rtt));
        if window.saturating_mul(2_000_000_000_000 / 1024) < wanted * srtt {
            return LEAST;
        }
        let Some(rate) = self.rate_of_window(window) else { return LEAST };
        (self.burst(rate.min(most_rate), least_rtt) / mss).max(LEAST)
    }

    /// The window is about to fall without an ACK: until the next one packets are no shorter for that.
    #[cold]
    pub(super) fn keep_packets(&self, accounts: &mut Accounts) {
        if self.controller.pacing_rate().is_none() {
            let most = self.largest_packet(self.window_with(accounts), accounts.packet_bounds());
            accounts.offload.resumed = accounts.offload.resumed.max(most);
            accounts.cached.forget();
        }
    }

    /// Bytes outstanding when the last ACK said at which rate data leave (`tcp_update_pacing_rate`). Where nothing is SACKed they are no more
    /// than the window.
    pub(super) fn out_after_ack(&self) -> u64 {
        if self.board.sacked_end > self.board.first { self.out_after_ack } else { self.outstanding() }
    }

    /// Whether what the window has room for waits to leave as part of a larger packet (`tcp_tso_should_defer`).
    #[inline(always)]
    pub(super) fn defers(&mut self, accounts: &mut Accounts, now: Time, window: u64) -> bool {
        let mss = u64::from(self.config.mss);
        let offload = &accounts.offload;
        // `tcp_wstamp_ns`: of data and of ACKs alone; what the pacer lets go is no later than it says.
        let last = self.last_sent.max(offload.acknowledged_at).max(accounts.pacer.next());
        if !offload.at_work || offload.left > 0 || now.saturating_since(last) > NEAR {
            return false;
        }
        let room = (window + u64::from(self.fin_rides)).saturating_sub(self.pipe());
        let theirs = self.room_of_theirs();
        let limit = room.min(theirs);
        let unsent = self.written - self.max - u64::from(self.finished && self.max < self.written);
        if limit < mss
            || unsent <= mss
            || limit >= self.largest_packet(window, accounts.packet_bounds()).max(offload.resumed) * mss
            || limit >= window.min(self.peer_window) / LARGE
            || self.outstanding() == 0
            // All that is left has room, and what has FIN gets no more data.
            || (self.finished && limit >= unsent)
        {
            return false;
        }
        let srtt = self.estimator.smoothed();
        let near = NEAR.min(Span::from_picos(srtt.picos() / 2));
        let expected = self.board.slot(self.board.first).at().saturating_add(srtt);
        if expected > now.saturating_add(near) {
            return false;
        }
        if unsent < limit {
            // All that is left has room: it waits for more from the application.
            self.held = HeldBy::Application;
        } else if room < theirs {
            accounts.offload.waits = true;
            self.stopped_by_window();
        } else {
            self.held = HeldBy::ReceiverWindow;
        }
        true
    }
}

/// Bytes that a packet may have beside those of its rate where the least round trip is short (`tcp_tso_autosize`).
fn beside_rate(least_rtt: Option<Span>) -> u64 {
    let steps = least_rtt.map_or(u64::MAX, |least| least.micros() >> TRIP_LOG);
    if steps < u64::from(u32::BITS) { LARGEST_PACKET >> steps } else { 0 }
}
