//! The state of BBR version 3. Names in the comments are the draft's.

use crate::cc::running_max::RunningMax;
use crate::plan::TcpPlan;
use crate::random::Stream;

/// No bound.
pub(super) const INFINITE: u64 = u64::MAX;
/// `BBR.StartupPacingGain`: 4 ln 2.
pub(super) const STARTUP_GAIN: u64 = 277;
/// `BBR.DefaultCwndGain`.
pub(super) const WINDOW_GAIN: u64 = 200;

/// Where it is in its ways of sending (draft §5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Startup,
    Drain,
    /// Slower than the path, until its queue is gone and there is headroom (§5.3.3.1).
    Down,
    /// At the rate of the path (§5.3.3.2).
    Cruise,
    /// At this rate without the bounds of late, for a round (§5.3.3.3).
    Refill,
    /// Faster, to find more (§5.3.3.4).
    Up,
    ProbeRtt,
}

impl State {
    /// `IsInAProbeBWState`.
    pub(super) fn probes_rate(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }
}

/// What the ACKs of now tell of (`BBR.ack_phase`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// An ACK (`RS`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub(super) now: u64,
    /// `RS.newly_acked`, `RS.newly_lost`.
    pub(super) acked: u64,
    pub(super) newly_lost: u64,
    pub(super) in_flight: u64,
    pub(super) rtt: Option<u64>,
    pub(super) window_limited: bool,
    pub(super) recovering: bool,
    /// There is a sample of the rate; without, what follows is 0.
    pub(super) valid: bool,
    /// `RS.delivery_rate`, `RS.delivered`, `RS.prior_delivered`.
    pub(super) rate: u64,
    pub(super) delivered: u64,
    pub(super) prior_delivered: u64,
    /// `RS.tx_in_flight`, `RS.lost`.
    pub(super) sent_in_flight: u64,
    pub(super) lost: u64,
    pub(super) app_limited: bool,
}

/// BBR, version 3. The default is a state of zeroes, which [`Bbr3::new`] completes.
#[derive(Debug, Default)]
pub struct Bbr3 {
    /// `C.SMSS`, `C.InitialCwnd`, `C.cwnd`, `BBR.prior_cwnd`, `C.pacing_rate`.
    pub(super) mss: u64,
    pub(super) initial_window: u64,
    pub(super) window: u64,
    pub(super) prior_window: u64,
    pub(super) pacing: u64,
    pub(super) state: State,
    pub(super) pacing_gain: u64,
    pub(super) window_gain: u64,
    /// `C.delivered`.
    pub(super) delivered: u64,
    /// `BBR.round_count`, `BBR.next_round_delivered`, `BBR.round_start`.
    pub(super) rounds: u64,
    pub(super) round_end: u64,
    pub(super) round_start: bool,
    /// The highest rate of the cycle before and of this one (`BBR.max_bw_filter`), and the rate in force (`BBR.bw`).
    pub(super) highest: [u64; 2],
    pub(super) rate: u64,
    /// `BBR.bw_shortterm`, `BBR.inflight_shortterm`, `BBR.inflight_longterm`.
    pub(super) rate_short: u64,
    pub(super) inflight_short: u64,
    pub(super) inflight_long: u64,
    /// `BBR.bw_latest`, `BBR.inflight_latest`.
    pub(super) rate_latest: u64,
    pub(super) inflight_latest: u64,
    /// `BBR.loss_round_delivered`, `BBR.loss_round_start`, `BBR.loss_in_round`; ACKs that told of losses in this round.
    pub(super) loss_round_end: u64,
    pub(super) loss_round_start: bool,
    pub(super) loss_in_round: bool,
    pub(super) loss_events: u32,
    /// `BBR.full_bw`, `BBR.full_bw_count`, `BBR.full_bw_now`, `BBR.full_bw_reached`.
    pub(super) full_rate: u64,
    pub(super) full_rounds: u32,
    pub(super) full_now: bool,
    pub(super) full_reached: bool,
    /// `BBR.drain_start_round`.
    pub(super) drain_round: u64,
    /// `BBR.cycle_stamp`, `BBR.bw_probe_wait`, `BBR.rounds_since_bw_probe`.
    pub(super) cycle_at: u64,
    pub(super) probe_wait: u64,
    pub(super) rounds_since_probe: u64,
    /// `BBR.bw_probe_up_rounds`, `BBR.bw_probe_up_acks`, `BBR.probe_up_cnt`, `BBR.bw_probe_samples`.
    pub(super) up_rounds: u32,
    pub(super) up_acked: u64,
    pub(super) up_per_byte: u64,
    pub(super) probing: bool,
    pub(super) ack_phase: AckPhase,
    /// `BBR.min_rtt`, `BBR.probe_rtt_min_delay`, with the instants of their samples.
    pub(super) min_rtt: Option<u64>,
    pub(super) min_rtt_at: u64,
    pub(super) probed_rtt: u64,
    pub(super) probed_rtt_at: u64,
    pub(super) probe_rtt_expired: bool,
    /// `BBR.probe_rtt_done_stamp`, `BBR.probe_rtt_round_done`.
    pub(super) probe_until: Option<u64>,
    pub(super) probe_round_done: bool,
    pub(super) idle_restart: bool,
    /// `BBR.extra_acked_interval_start`, `BBR.extra_acked_delivered`, `BBR.extra_acked`.
    pub(super) extra_since: u64,
    pub(super) extra_delivered: u64,
    pub(super) extra: RunningMax,
    pub(super) recovering: bool,
    /// The connection is there; a round trip is known.
    pub(super) begun: bool,
    pub(super) has_seen_rtt: bool,
    pub(super) rng: Option<Stream>,
}

impl Bbr3 {
    /// `BBROnInit`. `rng` draws when it probes; without it, as early as may be.
    #[must_use]
    pub fn new(plan: &TcpPlan, rng: Option<Stream>) -> Bbr3 {
        let mss = u64::from(plan.mss).min(plan.window.unwrap_or(u64::MAX)).max(1);
        let initial_window = plan.initial_window.max(mss);
        let mut bbr = Bbr3 {
            mss,
            initial_window,
            window: initial_window,
            pacing_gain: STARTUP_GAIN,
            window_gain: WINDOW_GAIN,
            rate_short: INFINITE,
            inflight_short: INFINITE,
            inflight_long: INFINITE,
            up_per_byte: INFINITE,
            probed_rtt: INFINITE,
            rng,
            ..Bbr3::default()
        };
        bbr.pace_by_rtt(0);
        bbr
    }

    /// `BBR.max_bw`.
    pub(super) fn max_rate(&self) -> u64 {
        self.highest[0].max(self.highest[1])
    }

    /// `BBR.MinPipeCwnd`.
    pub(super) fn least_window(&self) -> u64 {
        4 * self.mss
    }

    /// `BBRStartRound`.
    pub(super) fn start_round(&mut self) {
        self.round_end = self.delivered;
    }

    /// `BBRResetFullBW`, with what more must exceed.
    pub(super) fn look_for_more_than(&mut self, rate: u64) {
        self.full_rate = rate;
        self.full_rounds = 0;
        self.full_now = false;
    }
}
