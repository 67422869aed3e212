//! The model of the path: its bottleneck rate, aggregation of ACKs, whether the pipe is full.

use super::state::{Bbr, RATE_BITS, Sample, UNIT};

/// `bbr_bw_rtts`: the highest rate of so many rounds counts.
pub(super) const RATE_ROUNDS: u64 = 10;
/// `bbr_extra_acked_win_rtts`.
const EXTRA_ROUNDS: u64 = 5;
/// `bbr_ack_epoch_acked_reset_thresh`.
const MOST_ACKED: u64 = 1 << 20;
/// `bbr_full_bw_thresh`: growth that shows that there is more.
const GROWTH: u64 = UNIT * 5 / 4;
/// `bbr_full_bw_cnt`: rounds without it that show that there is not.
const FULL_ROUNDS: u32 = 3;

impl Bbr {
    /// `bbr_update_bw`.
    #[inline(always)]
    pub(super) fn update_rate(&mut self, sample: &Sample) {
        self.round_start = false;
        let Some((delivered, interval)) = sample.rate else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = self.delivered_bytes;
            self.rounds += 1;
            self.round_start = true;
            self.conserves = false;
        }
        self.sample_long_term(sample.lost, sample.app_limited);
        let rate = (delivered << RATE_BITS) / interval;
        if !sample.app_limited || rate >= self.highest.get() {
            self.highest.add(RATE_ROUNDS, self.rounds, rate);
        }
    }

    /// `bbr_update_ack_aggregation`.
    #[inline(always)]
    pub(super) fn update_aggregation(&mut self, sample: &Sample) {
        if sample.acked == 0 || sample.rate.is_none() {
            return;
        }
        let bunch = &mut self.aggregation;
        if self.round_start {
            bunch.rounds += 1;
            if bunch.rounds >= EXTRA_ROUNDS {
                bunch.rounds = 0;
                bunch.half = 1 - bunch.half;
                bunch.extra[bunch.half] = 0;
            }
        }
        self.bunch(self.rate(), sample.acked);
    }

    /// So many segments were reported that should have come at `rate`; whether more have come at once than ever before.
    #[inline(always)]
    pub(super) fn bunch(&mut self, rate: u64, acked: u64) -> bool {
        let (now, window) = (self.delivered_at, self.window);
        let bunch = &mut self.aggregation;
        let mut expected = (rate * now.saturating_sub(bunch.since)) >> RATE_BITS;
        if bunch.acked <= expected || bunch.acked + acked >= MOST_ACKED {
            bunch.acked = 0;
            bunch.since = now;
            expected = 0;
        }
        bunch.acked = (bunch.acked + acked).min(MOST_ACKED - 1);
        let extra = (bunch.acked - expected).min(window);
        let most = &mut bunch.extra[bunch.half];
        let more = extra > *most;
        *most = extra.max(*most);
        more
    }

    /// `bbr_check_full_bw_reached`.
    #[inline(always)]
    pub(super) fn check_full(&mut self, sample: &Sample) {
        if self.full.reached || !self.round_start || sample.app_limited {
            return;
        }
        let highest = self.highest.get();
        if highest >= (self.full.rate * GROWTH) >> 8 {
            self.full.rate = highest;
            self.full.rounds = 0;
            return;
        }
        self.full.rounds += 1;
        self.full.reached = self.full.rounds >= FULL_ROUNDS;
    }
}
