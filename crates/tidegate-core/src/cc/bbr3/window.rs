//! The window and the pace that follow from the model (draft §5.6).

use super::model::product;
use super::phases::PROBE_RTT_GAIN;
use super::state::{Bbr3, INFINITE, STARTUP_GAIN, Sample, State};

/// `BBR.PacingMarginPercent`: one less than all.
const PERCENT: u64 = 99;
/// The longest burst (§5.6.3), in bytes; it lasts a millisecond.
const LONGEST_BURST: u64 = 64_000;

impl Bbr3 {
    /// `BBRInitPacingRate` (§5.6.2); 1 ms stands for a round trip that is not known.
    pub(super) fn pace_by_rtt(&mut self, rtt: u64) {
        let micros = if rtt > 0 { rtt } else { 1000 };
        self.has_seen_rtt |= rtt > 0;
        self.pacing = self.initial_window * 1_000_000 / micros * STARTUP_GAIN / 100;
    }

    /// `BBRSetPacingRateWithGain`.
    pub(super) fn set_pace(&mut self, gain: u64) {
        let pace = self.rate.saturating_mul(gain * PERCENT) / 10_000;
        if self.full_reached || pace > self.pacing {
            self.pacing = pace.max(1);
        }
    }

    /// `BBRBDPMultiple`.
    pub(super) fn times_product(&self, rate: u64, gain: u64) -> u64 {
        self.min_rtt.map_or(self.initial_window, |rtt| product(rate, rtt).saturating_mul(gain) / 100)
    }

    /// `BBRQuantizationBudget`: room for three bursts, `C.send_quantum` each, at least (§5.5.8), and four segments.
    fn with_room(&self, volume: u64) -> u64 {
        let burst = (self.pacing / 1000).min(LONGEST_BURST).max(2 * self.mss);
        let up = if self.state == State::Up { 2 * self.mss } else { 0 };
        volume.max(3 * burst).max(self.least_window()) + up
    }

    /// `BBRInflight`.
    pub(super) fn inflight(&self, gain: u64) -> u64 {
        self.with_room(self.times_product(self.max_rate(), gain))
    }

    /// `BBRProbeRTTCwnd`.
    pub(super) fn probe_rtt_window(&self) -> u64 {
        self.times_product(self.rate, PROBE_RTT_GAIN).max(self.least_window())
    }

    /// `BBRSaveCwnd`.
    pub(super) fn save_window(&mut self) {
        self.prior_window = if !self.recovering && self.state != State::ProbeRtt {
            self.window
        } else {
            self.prior_window.max(self.window)
        };
    }

    /// `BBRSetCwnd` (§5.6.4).
    pub(super) fn set_window(&mut self, sample: &Sample) {
        let most = self.with_room(self.times_product(self.max_rate(), self.window_gain) + self.extra.get());
        // §5.6.4.4: what is lost is taken off, and what was there before a recovery comes back.
        if sample.newly_lost > 0 {
            self.window = self.window.saturating_sub(sample.newly_lost).max(self.mss);
        }
        if std::mem::replace(&mut self.recovering, sample.recovering) && !sample.recovering {
            self.window = self.window.max(self.prior_window);
        }
        if self.full_reached {
            self.window = (self.window + sample.acked).min(most);
        } else if self.window < most || self.delivered < self.initial_window {
            self.window += sample.acked;
        }
        self.window = self.window.max(self.least_window());
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        self.window = self.window.min(self.bound());
    }

    /// `BBRBoundCwndForModel`.
    fn bound(&self) -> u64 {
        let long = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_long,
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            State::Startup | State::Drain => INFINITE,
        };
        long.min(self.inflight_short).max(self.least_window())
    }
}
