//! Policers (`bbr_lt_bw_sampling`): where two intervals of several rounds lose much and carry the same, a token bucket
//! sets the rate, and it is used in place of the highest measured rate.

use super::state::{Bbr, LongTerm, Mode, RATE_BITS, UNIT};

/// `bbr_lt_intvl_min_rtts`: rounds of an interval, at least; four times as many at most.
const ROUNDS: u64 = 4;
/// `bbr_lt_loss_thresh`: lost for each delivered, in 256ths, from which an interval is lossy.
const LOSSY: u64 = 50;
/// `bbr_lt_bw_ratio`: rates are alike up to an eighth ...
const ALIKE: u64 = UNIT / 8;
/// ... and up to `bbr_lt_bw_diff` bytes a second.
const ALIKE_BYTES: u64 = 4000 / 8;
/// `bbr_lt_bw_max_rtts`: rounds after which the rate is looked for anew.
const ROUNDS_IN_USE: u64 = 48;

impl Bbr {
    /// `bbr_reset_lt_bw_sampling`.
    pub(super) fn forget_long_term(&mut self) {
        self.long_term = LongTerm::default();
        self.begin_interval();
    }

    /// `bbr_reset_lt_bw_sampling_interval`.
    fn begin_interval(&mut self) {
        self.long_term.since = self.delivered_at / 1000;
        self.long_term.delivered = self.delivered;
        self.long_term.lost = self.lost;
        self.long_term.rounds = 0;
    }

    /// `bbr_lt_bw_sampling`; `lost`: segments newly lost.
    #[inline(always)]
    pub(super) fn sample_long_term(&mut self, lost: u64, app_limited: bool) {
        let idle = !self.long_term.in_use && !self.long_term.sampling;
        // The first loss says that the bucket is empty.
        if !idle || lost > 0 {
            self.go_on_sampling(lost, app_limited);
        }
    }

    #[inline(never)]
    fn go_on_sampling(&mut self, lost: u64, app_limited: bool) {
        if self.long_term.in_use {
            if self.mode == Mode::ProbeBw && self.round_start {
                self.long_term.rounds += 1;
                if self.long_term.rounds >= ROUNDS_IN_USE {
                    self.forget_long_term();
                    self.begin_cycle();
                }
            }
            return;
        }
        if !self.long_term.sampling {
            self.begin_interval();
            self.long_term.sampling = true;
        }
        if app_limited {
            self.forget_long_term();
            return;
        }
        self.long_term.rounds += u64::from(self.round_start);
        if self.long_term.rounds < ROUNDS {
            return;
        }
        if self.long_term.rounds > 4 * ROUNDS {
            self.forget_long_term();
            return;
        }
        // An interval ends with a loss too.
        if lost == 0 {
            return;
        }
        let lost_since = self.lost.saturating_sub(self.long_term.lost);
        let delivered = self.delivered - self.long_term.delivered;
        if delivered == 0 || lost_since << 8 < LOSSY * delivered {
            return;
        }
        let millis = (self.delivered_at / 1000).saturating_sub(self.long_term.since);
        if millis < 1 {
            return;
        }
        if millis >= u64::from(u32::MAX) / 1000 {
            self.forget_long_term();
            return;
        }
        self.end_interval((delivered << RATE_BITS) / (millis * 1000));
    }

    /// `bbr_lt_bw_interval_done`.
    fn end_interval(&mut self, rate: u64) {
        let before = self.long_term.rate;
        if before > 0 {
            let difference = rate.abs_diff(before);
            let alike = difference * UNIT <= ALIKE * before;
            if alike || self.bytes_per_second(difference, UNIT) <= ALIKE_BYTES {
                self.long_term.rate = rate.midpoint(before);
                self.long_term.in_use = true;
                self.long_term.rounds = 0;
                self.pacing_gain = UNIT;
                return;
            }
        }
        self.long_term.rate = rate;
        self.begin_interval();
    }
}
