//! The state of BBR: its model of the path, and the products of rate and round trip that window and pace are made of.

use crate::cc::running_max::RunningMax;
use crate::cc::{Ack, LARGEST_PACKET, Repair};
use crate::plan::TcpPlan;
use crate::random::Stream;
use crate::units::{KERNEL_HZ, Rate};

/// `BW_SCALE`: rates are segments per microsecond times 2²⁴.
pub(super) const RATE_BITS: u32 = 24;
/// `BBR_UNIT`: a gain of 1.
pub(super) const UNIT: u64 = 256;
/// `bbr_high_gain`: 2/ln 2, the least that doubles the rate each round.
pub(super) const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
/// `bbr_drain_gain`: its inverse.
pub(super) const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// `bbr_cwnd_min_target`, in segments.
pub(super) const LEAST_WINDOW: u64 = 4;
/// `TCP_INIT_CWND`, in segments.
pub(super) const INITIAL_WINDOW: u64 = 10;
/// `sk_pacing_shift`: bursts last a millisecond, or rather 1/1024 s.
const BURST_SHIFT: u32 = 10;
/// `bbr_min_tso_rate` in bytes a second: below it bursts are one segment, else two at least.
const SLOW: u64 = 1_200_000 / 8;

/// How fast it decides to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// Looks for the rate of the path, which the rate of sending doubles each round.
    #[default]
    Startup,
    /// Lets the queue go that this built.
    Drain,
    /// Cycles through gains about the rate.
    ProbeBw,
    /// Has next to nothing in flight, to see the least round trip.
    ProbeRtt,
}

/// Whether the path is used to the full.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Full {
    /// The rate that more must exceed (`full_bw`).
    pub(super) rate: u64,
    /// Rounds without (`full_bw_cnt`).
    pub(super) rounds: u32,
    pub(super) reached: bool,
}

/// How many more segments than expected ACKs report at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// When counting began, in µs, and what was acknowledged since (`ack_epoch_mstamp`, `ack_epoch_acked`).
    pub(super) since: u64,
    pub(super) acked: u64,
    /// The most of the last five to ten rounds, in two halves (`extra_acked`).
    pub(super) extra: [u64; 2],
    pub(super) half: usize,
    pub(super) rounds: u64,
}

/// The rate over several rounds with losses, which a policer keeps (`lt_*`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    pub(super) rate: u64,
    /// The rate is used in place of the highest of late.
    pub(super) in_use: bool,
    pub(super) sampling: bool,
    pub(super) rounds: u64,
    /// Where the interval began: ms, segments delivered and lost.
    pub(super) since: u64,
    pub(super) delivered: u64,
    pub(super) lost: u64,
}

/// An ACK and its sample, in the units of BBR; what is seldom needed is converted when it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample<'a> {
    pub(super) ack: &'a Ack,
    pub(super) mss: u64,
    /// Segments newly lost.
    pub(super) lost: u64,
    /// Segments newly reported.
    pub(super) acked: u64,
    /// Segments delivered in so many µs; `None`: not a valid observation.
    pub(super) rate: Option<(u64, u64)>,
    /// Bytes delivered when the segment was sent.
    pub(super) prior_delivered: u64,
    pub(super) app_limited: bool,
    pub(super) rtt: Option<u64>,
}

impl Sample<'_> {
    /// Segments in flight after it.
    pub(super) fn in_flight(&self) -> u64 {
        self.ack.in_flight.div_ceil(self.mss)
    }

    /// In µs.
    pub(super) fn smoothed_rtt(&self) -> u64 {
        self.ack.smoothed_rtt.micros()
    }

    /// A single short segment arrived, and nothing else since it was sent: the ACK may have been put off where nothing is
    /// repaired (`FLAG_ACK_MAYBE_DELAYED`).
    pub(super) fn is_alone(&self) -> bool {
        let alone = self.ack.delivered < self.mss && self.ack.segments == 1 && self.rate.is_some();
        alone && self.ack.rate.is_some_and(|rate| rate.delivered == self.ack.delivered)
    }
}

/// What is known for speed alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FastPath {
    /// Since the last ACK nothing has happened that [`super::fast_path`] does not look at.
    pub(super) open: bool,
}

impl FastPath {
    /// The next ACK takes the general path.
    pub(super) fn forget(&mut self) {
        *self = FastPath::default();
    }
}

/// BBR, version 1. The default is a state of zeroes, which [`Bbr::new`] completes.
#[derive(Debug, Default)]
pub struct Bbr {
    pub(super) mss: u64,
    /// In segments (`snd_cwnd`); what it was before a repair or a probe of the round trip (`prior_cwnd`).
    pub(super) window: u64,
    pub(super) prior_window: u64,
    pub(super) ssthresh: Option<u64>,
    /// Bytes a second (`sk_pacing_rate`), and the segments that leave at once then.
    pub(super) pacing: u64,
    pub(super) burst: u64,
    /// `pacing` in bits.
    pub(super) pace: Rate,
    /// The rate and the gain of which a pace was made last, and that pace.
    pub(super) paced: (u64, u64, u64),
    pub(super) mode: Mode,
    pub(super) pacing_gain: u64,
    pub(super) window_gain: u64,
    /// The highest rate of the last ten rounds.
    pub(super) highest: RunningMax,
    /// In µs, and the tick of its sample.
    pub(super) min_rtt: Option<u64>,
    pub(super) min_rtt_at: u64,
    /// Since the SYN, which counts.
    pub(super) delivered: u64,
    pub(super) delivered_bytes: u64,
    /// When data were delivered last, in µs.
    pub(super) delivered_at: u64,
    /// Ever lost, in segments and in bytes.
    pub(super) lost: u64,
    pub(super) lost_bytes: u64,
    pub(super) rounds: u64,
    /// The round is over when a segment is reported that was sent after so many bytes were delivered.
    pub(super) round_end: u64,
    pub(super) round_start: bool,
    /// The place in the cycle of gains, and when it was reached, in µs.
    pub(super) place: usize,
    pub(super) place_at: u64,
    pub(super) full: Full,
    pub(super) aggregation: Aggregation,
    pub(super) long_term: LongTerm,
    /// The tick at which the window may grow again.
    pub(super) probe_until: Option<u64>,
    pub(super) probe_round_done: bool,
    pub(super) idle_restart: bool,
    pub(super) conserves: bool,
    /// What was being repaired at the ACK before (`prev_ca_state`, as far as it matters).
    pub(super) repairing: Repair,
    pub(super) has_seen_rtt: bool,
    /// The window to which it grew or shrank last.
    pub(super) target: u64,
    pub(super) fast_path: FastPath,
    /// The connection is there.
    pub(super) begun: bool,
    pub(super) rng: Option<Stream>,
}

/// A tick of the kernel's clock in microseconds.
pub(super) const TICK: u64 = 1_000_000 / KERNEL_HZ;

/// `tcp_jiffies32`.
pub(super) fn ticks(micros: u64) -> u64 {
    micros / TICK
}

impl Bbr {
    /// A connection's controller at its start. `rng` draws where the cycle of gains begins; without it, at its fastest place.
    #[must_use]
    pub fn new(plan: &TcpPlan, rng: Option<Stream>) -> Bbr {
        let mss = u64::from(plan.mss).min(plan.window.unwrap_or(u64::MAX)).max(1);
        let mut bbr = Bbr {
            mss,
            window: (plan.initial_window / mss).max(1),
            burst: 1,
            pacing_gain: HIGH_GAIN,
            window_gain: HIGH_GAIN,
            delivered: 1,
            rng,
            ..Bbr::default()
        };
        bbr.pace_by_rtt(0);
        bbr
    }

    /// `bbr_bw`: the rate that is taken for the path's.
    pub(super) fn rate(&self) -> u64 {
        if self.long_term.in_use { self.long_term.rate } else { self.highest.get() }
    }

    /// `bbr_bdp`: a rate's product with the least round trip, in segments.
    #[inline(always)]
    pub(super) fn product(&self, rate: u64, gain: u64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return INITIAL_WINDOW };
        ((rate * min_rtt * gain) >> 8).div_ceil(1 << RATE_BITS)
    }

    /// Paces at so many bytes a second. `bbr_tso_segs_goal`: segments that leave at once.
    #[inline(always)]
    pub(super) fn pace_at(&mut self, pacing: u64) {
        if pacing != self.pacing {
            self.pacing = pacing;
            self.pace = Rate::from_bps(pacing.saturating_mul(8));
            let least = if pacing < SLOW { 1 } else { 2 };
            self.burst = ((pacing >> BURST_SHIFT).min(LARGEST_PACKET) / self.mss).max(least);
        }
    }

    /// `bbr_quantization_budget`: room for bursts at both ends, for delayed ACKs, and for a probe on a small path.
    #[inline(always)]
    pub(super) fn with_room(&self, window: u64) -> u64 {
        let even = (window + 3 * self.burst).next_multiple_of(2);
        even + if self.mode == Mode::ProbeBw && self.place == 0 { 2 } else { 0 }
    }

    /// `bbr_inflight`.
    pub(super) fn target(&self, rate: u64, gain: u64) -> u64 {
        self.with_room(self.product(rate, gain))
    }

    /// `bbr_packets_in_net_at_edt`: segments in the network when the next one leaves.
    pub(super) fn in_network(&self, in_flight: u64, until_departure: u64) -> u64 {
        let delivered = (self.rate() * until_departure) >> RATE_BITS;
        let leaves = if self.pacing_gain > UNIT { self.burst } else { 0 };
        (in_flight + leaves).saturating_sub(delivered)
    }
}
