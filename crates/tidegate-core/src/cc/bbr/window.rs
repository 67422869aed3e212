//! The window and the pace that follow from the model.

use super::state::{Bbr, HIGH_GAIN, INITIAL_WINDOW, LEAST_WINDOW, Mode, RATE_BITS, Sample};
use crate::cc::Repair;

/// What is left of the rate so that queues go: `bbr_pacing_margin_percent` less than all.
const PERCENT: u64 = 99;
/// `bbr_extra_acked_max_us`.
const MOST_EXTRA: u64 = 100_000;

impl Bbr {
    /// `bbr_rate_bytes_per_sec`.
    pub(super) fn bytes_per_second(&self, rate: u64, gain: u64) -> u64 {
        let bytes = (u128::from(rate) * u128::from(self.mss * gain)) >> 8;
        let bytes = (bytes * u128::from(1_000_000 / 100 * PERCENT)) >> RATE_BITS;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// `bbr_init_pacing_rate_from_rtt`: the first window in a round trip of so many µs, 1 ms where there is none, times the
    /// gain of startup.
    pub(super) fn pace_by_rtt(&mut self, smoothed_rtt: u64) {
        let rtt = if smoothed_rtt > 0 { smoothed_rtt } else { 1000 };
        self.has_seen_rtt |= smoothed_rtt > 0;
        self.pace_at(self.bytes_per_second((self.window << RATE_BITS) / rtt, HIGH_GAIN));
    }

    /// `bbr_set_pacing_rate`; `smoothed_rtt` in µs.
    #[inline(always)]
    pub(super) fn set_pace(&mut self, gain: u64, smoothed_rtt: impl Fn() -> u64) {
        let rate = self.rate();
        if (self.paced.0, self.paced.1) != (rate, gain) {
            self.paced = (rate, gain, self.bytes_per_second(rate, gain));
        }
        let pace = self.paced.2;
        if !self.has_seen_rtt && smoothed_rtt() > 0 {
            self.pace_by_rtt(smoothed_rtt());
        }
        if self.full.reached || pace > self.pacing {
            self.pace_at(pace);
        }
    }

    /// `bbr_set_cwnd`.
    #[inline(always)]
    pub(super) fn set_window(&mut self, sample: &Sample, repairing: Repair) {
        if sample.acked > 0 {
            let window = self.recover_or_restore(sample, repairing);
            self.window = if self.conserves {
                window.max(sample.in_flight() + sample.acked)
            } else {
                self.approach(window, sample.acked)
            };
        }
        if self.mode == Mode::ProbeRtt {
            self.window = self.window.min(LEAST_WINDOW);
        }
    }

    /// The window in the repair of a loss, and the one before it thereafter (`bbr_set_cwnd_to_recover_or_restore`): in the
    /// first round what arrives may be sent.
    #[inline(always)]
    fn recover_or_restore(&mut self, sample: &Sample, repairing: Repair) -> u64 {
        let before = std::mem::replace(&mut self.repairing, repairing);
        let mut window = self.window;
        if sample.lost > 0 {
            window = window.saturating_sub(sample.lost).max(1);
        }
        if repairing == Repair::Recovery && before != Repair::Recovery {
            self.conserves = true;
            self.round_end = self.delivered_bytes;
            window = sample.in_flight() + sample.acked;
        } else if before != Repair::Nothing && repairing == Repair::Nothing {
            window = window.max(self.prior_window);
            self.conserves = false;
        }
        window
    }

    /// Towards the target, by what was acknowledged.
    #[inline(always)]
    pub(super) fn approach(&mut self, window: u64, acked: u64) -> u64 {
        let mut target = self.product(self.rate(), self.window_gain);
        if self.full.reached {
            // `bbr_ack_aggregation_cwnd`
            let most = (self.rate() * MOST_EXTRA) >> RATE_BITS;
            target += self.aggregation.extra[0].max(self.aggregation.extra[1]).min(most);
        }
        let target = self.with_room(target);
        self.target = target;
        let window = if self.full.reached {
            (window + acked).min(target)
        } else if window < target || self.delivered < INITIAL_WINDOW {
            window + acked
        } else {
            window
        };
        window.max(LEAST_WINDOW)
    }
}
