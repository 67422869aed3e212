//! The model of the path: bottleneck rate, aggregation of ACKs, whether the pipe is full, least round trip.

use super::state::{Bbr3, Sample, State};

/// `BBR.MinRTTFilterLen` and `BBR.ProbeRTTInterval`, in µs.
const MIN_RTT_MICROS: u64 = 10_000_000;
const PROBE_RTT_MICROS: u64 = 5_000_000;
/// `BBR.ExtraAckedFilterLen`, in rounds.
const EXTRA_ROUNDS: u64 = 10;

impl Bbr3 {
    /// `BBRUpdateRound` and `BBRUpdateMaxBw` (§5.5.1, §5.5.5).
    pub(super) fn update_rate(&mut self, sample: &Sample) {
        self.round_start = sample.valid && sample.prior_delivered >= self.round_end;
        if self.round_start {
            self.start_round();
            self.rounds += 1;
            self.rounds_since_probe += 1;
        }
        if sample.rate > 0 && (sample.rate >= self.max_rate() || !sample.app_limited) {
            self.highest[1] = self.highest[1].max(sample.rate);
        }
    }

    /// `BBRAdvanceMaxBwFilter` (§5.5.6): a cycle is over. One without a sample does not count.
    pub(super) fn end_cycle(&mut self) {
        if self.highest[1] > 0 {
            self.highest = [self.highest[1], 0];
        }
    }

    /// `BBRUpdateACKAggregation` (§5.5.9).
    pub(super) fn update_aggregation(&mut self, sample: &Sample) {
        if sample.acked == 0 {
            return;
        }
        let interval = sample.now.saturating_sub(self.extra_since);
        let mut expected = product(self.rate, interval);
        if self.extra_delivered <= expected {
            self.extra_delivered = 0;
            self.extra_since = sample.now;
            expected = 0;
        }
        self.extra_delivered += sample.acked;
        let extra = (self.extra_delivered - expected).min(self.window);
        let rounds = if self.full_reached { EXTRA_ROUNDS } else { 1 };
        self.extra.add(rounds, self.rounds, extra);
    }

    /// `BBRCheckFullBWReached` (§5.3.1.2): three rounds without a quarter more.
    pub(super) fn check_full(&mut self, sample: &Sample) {
        if self.full_now || !self.round_start || sample.app_limited {
            return;
        }
        if sample.rate >= self.full_rate.saturating_mul(5) / 4 {
            self.look_for_more_than(sample.rate);
            return;
        }
        self.full_rounds += 1;
        self.full_now = self.full_rounds >= 3;
        self.full_reached |= self.full_now;
    }

    /// `BBRUpdateMinRTT` (§5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, sample: &Sample) {
        self.probe_rtt_expired = sample.now > self.probed_rtt_at + PROBE_RTT_MICROS;
        if let Some(rtt) = sample.rtt
            && (rtt < self.probed_rtt || self.probe_rtt_expired)
        {
            self.probed_rtt = rtt;
            self.probed_rtt_at = sample.now;
        }
        let expired = sample.now > self.min_rtt_at + MIN_RTT_MICROS;
        if self.probed_rtt < self.min_rtt.unwrap_or(u64::MAX) || expired {
            self.min_rtt = (self.probed_rtt < u64::MAX).then_some(self.probed_rtt);
            self.min_rtt_at = self.probed_rtt_at;
        }
    }

    /// `BBRCheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, sample: &Sample) {
        self.check_startup_loss(sample);
        if self.state == State::Startup && self.full_reached {
            self.enter_drain();
        }
    }
}

/// Bytes at a rate in so many µs.
pub(super) fn product(rate: u64, micros: u64) -> u64 {
    u64::try_from(u128::from(rate) * u128::from(micros) / 1_000_000).unwrap_or(u64::MAX)
}
