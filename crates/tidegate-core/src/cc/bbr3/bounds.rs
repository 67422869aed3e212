//! Bounds on the data in flight and on the rate, which follow from losses.

use super::state::{AckPhase, Bbr3, INFINITE, Sample, State};

/// `BBR.LossThresh`: 2%.
const LOSS_PERCENT: u64 = 2;
/// `BBR.Beta`, in percent.
const BETA: u64 = 70;
/// `BBR.Headroom`, in percent.
const HEADROOM: u64 = 15;
/// `BBRStartupFullLossCnt` (§5.3.1.3).
const STARTUP_LOSSES: u32 = 6;
/// The slope of a probe doubles up to so often.
const MOST_UP_ROUNDS: u32 = 30;

impl Bbr3 {
    /// `BBRUpdateLatestDeliverySignals` (§5.5.10.3).
    pub(super) fn update_latest(&mut self, sample: &Sample) {
        self.loss_round_start = false;
        if !sample.valid {
            return;
        }
        self.rate_latest = self.rate_latest.max(sample.rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered);
        if sample.prior_delivered >= self.loss_round_end {
            self.loss_round_end = self.delivered;
            self.loss_round_start = true;
        }
    }

    /// `BBRAdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest(&mut self, sample: &Sample) {
        if self.loss_round_start {
            self.rate_latest = sample.rate;
            self.inflight_latest = sample.delivered;
        }
    }

    /// `BBRUpdateCongestionSignals`, after the rate: a round with a loss lowers the bounds of late, unless it probes.
    pub(super) fn adapt_short_term(&mut self) {
        if !self.loss_round_start {
            return;
        }
        if self.loss_in_round && !matches!(self.state, State::Startup | State::Refill | State::Up) {
            if self.rate_short == INFINITE {
                self.rate_short = self.max_rate();
            }
            if self.inflight_short == INFINITE {
                self.inflight_short = self.window;
            }
            self.rate_short = self.rate_latest.max(self.rate_short * BETA / 100);
            self.inflight_short = self.inflight_latest.max(self.inflight_short * BETA / 100);
        }
        self.loss_in_round = false;
    }

    /// `BBRResetShortTermModel`.
    pub(super) fn forget_short_term(&mut self) {
        self.rate_short = INFINITE;
        self.inflight_short = INFINITE;
    }

    /// `BBRResetCongestionSignals`.
    pub(super) fn forget_signals(&mut self) {
        self.loss_in_round = false;
        self.rate_latest = 0;
        self.inflight_latest = 0;
    }

    /// `BBRHandleLostPacket` (§5.5.10.2). DEVIATION: once for each ACK that tells of losses and by the newest segment that
    /// arrived, not for each lost segment by itself.
    pub(super) fn note_losses(&mut self, sample: &Sample) {
        if sample.newly_lost == 0 {
            return;
        }
        if !self.loss_in_round {
            self.loss_round_end = self.delivered;
        }
        self.loss_in_round = true;
        self.loss_events += 1;
        if self.probing && is_too_high(sample) {
            let at_loss = in_flight_at_loss(sample.sent_in_flight, sample.lost, sample.newly_lost);
            self.handle_too_high(sample, at_loss);
        }
    }

    /// `BBRHandleInflightTooHigh`.
    fn handle_too_high(&mut self, sample: &Sample, in_flight: u64) {
        self.probing = false;
        if !sample.app_limited {
            self.inflight_long = in_flight.max(self.target() * BETA / 100);
        }
        if self.state == State::Up {
            self.start_down(sample.now);
        }
    }

    /// `BBRTargetInflight`.
    pub(super) fn target(&self) -> u64 {
        self.times_product(self.rate, 100).min(self.window)
    }

    /// `BBRCheckStartupHighLoss` (§5.3.1.3): a round of recovery with at least six losses, and more than 2% lost.
    pub(super) fn check_startup_loss(&mut self, sample: &Sample) {
        if !self.full_reached
            && self.loss_round_start
            && sample.recovering
            && self.loss_events >= STARTUP_LOSSES
            && is_too_high(sample)
        {
            self.full_reached = true;
            self.inflight_long = self.times_product(self.max_rate(), 100).max(self.inflight_latest);
        }
        if self.loss_round_start {
            self.loss_events = 0;
        }
    }

    /// `BBRAdaptLongTermModel` (§5.3.3.6).
    pub(super) fn adapt_long_term(&mut self, sample: &Sample) {
        if self.round_start {
            match self.ack_phase {
                AckPhase::ProbeStarting => self.ack_phase = AckPhase::ProbeFeedback,
                AckPhase::ProbeStopping => {
                    self.ack_phase = AckPhase::Init;
                    self.probing = false;
                    if self.state.probes_rate() && !sample.app_limited {
                        self.end_cycle();
                    }
                }
                AckPhase::Init | AckPhase::Refilling | AckPhase::ProbeFeedback => {}
            }
        }
        if self.inflight_long == INFINITE || is_too_high(sample) {
            return;
        }
        self.inflight_long = self.inflight_long.max(sample.sent_in_flight);
        if self.state == State::Up {
            self.probe_upward(sample);
        }
    }

    /// `BBRProbeInflightLongtermUpward`: the bound rises, twice as fast each round.
    fn probe_upward(&mut self, sample: &Sample) {
        if !sample.window_limited || self.window < self.inflight_long {
            return;
        }
        self.up_acked += sample.acked;
        let delta = self.up_acked / self.up_per_byte;
        self.up_acked -= delta * self.up_per_byte;
        self.inflight_long += delta;
        if self.round_start {
            self.raise_slope();
        }
    }

    /// `BBRRaiseInflightLongtermSlope`.
    pub(super) fn raise_slope(&mut self) {
        let growth = self.mss << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(MOST_UP_ROUNDS);
        self.up_per_byte = (self.window / growth).max(1);
    }

    /// `BBRInflightWithHeadroom`.
    pub(super) fn with_headroom(&self) -> u64 {
        if self.inflight_long == INFINITE {
            return INFINITE;
        }
        let headroom = (self.inflight_long * HEADROOM / 100).max(self.mss);
        self.inflight_long.saturating_sub(headroom).max(self.least_window())
    }
}

/// `IsInflightTooHigh`: of what was in flight with the segment, more than 2% was lost.
pub(super) fn is_too_high(sample: &Sample) -> bool {
    sample.valid && sample.lost * 100 > sample.sent_in_flight * LOSS_PERCENT
}

/// `BBRInflightAtLoss`: what was in flight when losses passed 2%. `size`: the losses that this ACK told of.
pub(super) fn in_flight_at_loss(sent_in_flight: u64, lost: u64, size: u64) -> u64 {
    let before = sent_in_flight.saturating_sub(size);
    let lost_before = lost.saturating_sub(size);
    let room = (before * LOSS_PERCENT).saturating_sub(lost_before * 100);
    before + room / (100 - LOSS_PERCENT)
}
