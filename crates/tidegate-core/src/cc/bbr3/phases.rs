//! When each state of BBR version 3 begins and ends (draft §5.3).

use rand::RngExt as _;

use super::state::{AckPhase, Bbr3, STARTUP_GAIN, Sample, State, WINDOW_GAIN};

/// `BBR.DrainPacingGain`.
const DRAIN_GAIN: u64 = 50;
/// Rounds after which a drain ends anyway (§5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// Pacing gains of `ProbeBW_DOWN` and `ProbeBW_UP`, and the window's of the latter (§5.6.1).
const DOWN_GAIN: u64 = 90;
const UP_GAIN: u64 = 125;
const UP_WINDOW_GAIN: u64 = 225;
/// The window's gain of `ProbeRTT`.
pub(super) const PROBE_RTT_GAIN: u64 = 50;
/// `BBR.ProbeRTTDuration`, in µs.
const PROBE_RTT_DURATION: u64 = 200_000;
/// A probe follows the last by two to three seconds (§5.3.3.5.3), in µs ...
const LEAST_WAIT: u64 = 2_000_000;
const MOST_MORE: u64 = 1_000_000;
/// ... and by no more rounds than Reno takes for one more segment a round, up to 63.
const RENO_ROUNDS: u64 = 63;

impl Bbr3 {
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
        (self.pacing_gain, self.window_gain) = (STARTUP_GAIN, WINDOW_GAIN);
    }

    pub(super) fn enter_drain(&mut self) {
        self.state = State::Drain;
        (self.pacing_gain, self.window_gain) = (DRAIN_GAIN, WINDOW_GAIN);
        self.drain_round = self.rounds;
    }

    /// `BBRCheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, sample: &Sample) {
        if self.state == State::Drain
            && (sample.in_flight <= self.inflight(100) || self.rounds > self.drain_round + DRAIN_ROUNDS)
        {
            self.start_down(sample.now);
        }
    }

    /// `BBRStartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, now: u64) {
        self.forget_signals();
        self.up_per_byte = u64::MAX;
        // `BBRPickProbeWait`
        let (rounds, more) =
            self.rng.as_mut().map_or((0, 0), |rng| (rng.random_range(0..2), rng.random_range(0..=MOST_MORE)));
        self.rounds_since_probe = rounds;
        self.probe_wait = LEAST_WAIT + more;
        self.cycle_at = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::Down;
        (self.pacing_gain, self.window_gain) = (DOWN_GAIN, WINDOW_GAIN);
    }

    fn start_cruise(&mut self) {
        self.state = State::Cruise;
        (self.pacing_gain, self.window_gain) = (100, WINDOW_GAIN);
    }

    fn start_refill(&mut self) {
        self.forget_short_term();
        self.up_rounds = 0;
        self.up_acked = 0;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::Refill;
        (self.pacing_gain, self.window_gain) = (100, WINDOW_GAIN);
    }

    fn start_up(&mut self, sample: &Sample) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.look_for_more_than(sample.rate);
        self.state = State::Up;
        (self.pacing_gain, self.window_gain) = (UP_GAIN, UP_WINDOW_GAIN);
        self.raise_slope();
    }

    /// `BBRUpdateProbeBWCyclePhase` (§5.3.3.6).
    pub(super) fn update_cycle(&mut self, sample: &Sample) {
        if !self.full_reached {
            return;
        }
        self.adapt_long_term(sample);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(sample.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(sample.in_flight) => self.start_cruise(),
            State::Refill if self.round_start => {
                self.probing = true;
                self.start_up(sample);
            }
            State::Up => {
                if self.is_time_to_go_down(sample) {
                    self.start_down(sample.now);
                }
            }
            State::Startup | State::Drain | State::Down | State::Cruise | State::Refill | State::ProbeRtt => {
            }
        }
    }

    /// `BBRIsTimeToProbeBW`.
    fn is_time_to_probe(&self, now: u64) -> bool {
        let reno = (self.target() / self.mss).min(RENO_ROUNDS);
        now > self.cycle_at + self.probe_wait || self.rounds_since_probe >= reno
    }

    /// `BBRIsTimeToCruise`.
    fn is_time_to_cruise(&self, in_flight: u64) -> bool {
        in_flight <= self.with_headroom() && in_flight <= self.inflight(100)
    }

    /// `BBRIsTimeToGoDown`: the rate has stopped to grow, and not because of the bound.
    fn is_time_to_go_down(&mut self, sample: &Sample) -> bool {
        if sample.window_limited && self.window >= self.inflight_long {
            self.look_for_more_than(sample.rate);
            return false;
        }
        self.full_now
    }

    /// `BBRCheckProbeRTT` (§5.3.4.3).
    pub(super) fn check_probe_rtt(&mut self, sample: &Sample) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_window();
            self.state = State::ProbeRtt;
            (self.pacing_gain, self.window_gain) = (100, PROBE_RTT_GAIN);
            self.probe_until = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            if self.probe_until.is_none() && sample.in_flight <= self.probe_rtt_window() {
                self.probe_until = Some(sample.now + PROBE_RTT_DURATION);
                self.probe_round_done = false;
                self.start_round();
            } else if self.probe_until.is_some() {
                self.probe_round_done |= self.round_start;
                if self.probe_round_done {
                    self.check_probe_rtt_done(sample.now);
                }
            }
        }
        if sample.acked > 0 {
            self.idle_restart = false;
        }
    }

    /// `BBRCheckProbeRTTDone` and `BBRExitProbeRTT`.
    pub(super) fn check_probe_rtt_done(&mut self, now: u64) {
        if self.probe_until.is_none_or(|until| now <= until) {
            return;
        }
        self.probed_rtt_at = now;
        self.window = self.window.max(self.prior_window);
        self.forget_short_term();
        if self.full_reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }
}
