//! What the endpoint reads of its plan on the way of every segment, in the form it needs.

use super::persist::PersistRule;
use super::rtt::{passed, phase_of};
use super::scoreboard::LONGEST;
use crate::plan::{
    AckRule, CongestionPlan, EcnPlan, LARGEST_WINDOW, ReadPlan, RtoPlan, RtoRestart, RttTiming, TcpBase,
    TcpPlan, TcpRules,
};
use crate::units::{Span, Time};

/// A plan made ready for use.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Config {
    /// Most bytes in flight, and what the receiver takes ahead of the next byte expected.
    pub(super) window: u64,
    /// The window at the start and after idle times.
    pub(super) initial_window: u64,
    /// Bytes that must be acknowledged at once.
    pub(super) ack_every: u64,
    ack_delay: AckDelay,
    /// How long an end that has closed waits for what may still come: in TIME-WAIT, and for the other's FIN.
    pub(super) time_wait: Span,
    /// The window as the wire says it; `u32::MAX`: no limit.
    pub(super) advertised: u32,
    /// Duplicate ACKs that start a fast retransmit; `u32::MAX`: never.
    pub(super) dupthresh: u32,
    pub(super) rules: TcpRules,
    pub(super) ecn: EcnPlan,
    pub(super) persist: PersistRule,
    pub(super) limited_transmit: bool,
    pub(super) go_back_n: bool,
    pub(super) guard: bool,
    pub(super) timestamps: bool,
    pub(super) handshake: bool,
    /// A lost SYN sets the slow-start threshold, as any other segment.
    pub(super) lost_syn_counts: bool,
    // What nearly every segment asks for comes last.
    /// Departures from the host restart the retransmission timer.
    pub(super) restart_at_departure: bool,
    pub(super) idle_restart: bool,
    /// Receivers acknowledge as Linux does.
    pub(super) linux_acks: bool,
    /// Receive windows grow, or close and open.
    pub(super) windows_move: bool,
    /// Every segment has something to say of its own: timestamps, or ECN.
    pub(super) special: bool,
    pub(super) sack: bool,
    /// Every ACK is accounted for.
    pub(super) account: bool,
    /// Fast paths are off ([`super::Endpoint::take_general_way`]).
    pub(super) exact: bool,
    /// One segment is timed at a time.
    pub(super) time_one: bool,
    /// User bytes in a full segment; no more than the window.
    pub(super) mss: u32,
}

/// Twice the lifetime of a segment: four minutes by RFC 9293 §3.4.2, one in 4.4BSD and Linux (`TCP_TIMEWAIT_LEN`, `tcp_fin_timeout`).
fn time_wait(base: TcpBase) -> Span {
    Span::from_secs(if base == TcpBase::Rfc { 240 } else { 60 })
}

/// How long an ACK is put off.
#[derive(Clone, Copy, Debug)]
enum AckDelay {
    /// Until enough bytes have come.
    Unlimited,
    /// So long.
    For(Span),
    /// So long at least, and longer where data come less often ([`super::ack_timeout`]).
    AtLeast(Span),
    /// To the next tick of BSD's fast timer: a free-running clock that ticks every `tick` picoseconds and
    /// has done `phase` / 2³² of a tick at time 0.
    ToTick { phase: u32, tick: u64 },
}

impl Config {
    /// Whether a segment without options says all in its numbers.
    pub(super) fn is_plain(&self) -> bool {
        !self.special && !self.windows_move
    }

    pub(super) fn new(plan: &TcpPlan) -> Config {
        let window = plan.window.unwrap_or(u64::MAX);
        // A window smaller than a segment makes segments smaller (RFC 9293 §3.8.6.2.1).
        let mss = plan.mss.clamp(1, LONGEST).min(u32::try_from(window).unwrap_or(u32::MAX).max(1));
        let never_at_acks = matches!(plan.cc, CongestionPlan::Tahoe { fast_retransmit: false });
        let (ack_every, ack_delay) = match plan.delayed_ack {
            None => (1, AckDelay::For(Span::ZERO)),
            Some(delay) => {
                let every = u64::from(delay.every.max(1)) * u64::from(mss);
                let put_off = match delay.timeout {
                    None => AckDelay::Unlimited,
                    Some(timeout) if plan.ack_delay_follows_data() => AckDelay::AtLeast(timeout),
                    Some(timeout) if delay.tick == Span::ZERO => AckDelay::For(timeout),
                    Some(_) => AckDelay::ToTick { phase: 0, tick: delay.tick.picos() },
                };
                (if delay.every <= 1 { 1 } else { every }, put_off)
            }
        };
        Config {
            mss,
            dupthresh: if never_at_acks { u32::MAX } else { plan.dupthresh.unwrap_or(u32::MAX) },
            window: window.min(LARGEST_WINDOW),
            advertised: plan.window.map_or(u32::MAX, |bytes| bytes.min(LARGEST_WINDOW) as u32),
            sack: plan.sack,
            account: plan.accounts(),
            exact: false,
            rules: plan.rules,
            limited_transmit: plan.limited_transmit,
            go_back_n: plan.go_back_n,
            guard: plan.guard,
            timestamps: plan.timestamps,
            ecn: plan.ecn,
            persist: PersistRule::new(plan),
            special: plan.timestamps,
            linux_acks: plan.rules.acks == AckRule::WhileBufferGrows,
            windows_move: plan.rules.acks == AckRule::WhileBufferGrows || plan.read != ReadPlan::AtOnce,
            idle_restart: plan.idle_restart,
            handshake: plan.handshake,
            // Linux forgets what a lost SYN did to the threshold (`tcp_init_metrics`).
            lost_syn_counts: plan.base != TcpBase::Linux,
            time_wait: time_wait(plan.base),
            time_one: plan.rtt_timing == RttTiming::One,
            restart_at_departure: matches!(plan.rto, RtoPlan::Fixed { restart: RtoRestart::Departure, .. }),
            initial_window: plan.initial_window,
            ack_every,
            ack_delay,
        }
    }

    /// The host had been up for `uptime` at time 0.
    pub(super) fn start_clock(&mut self, uptime: Span) {
        if let AckDelay::ToTick { phase, tick } = &mut self.ack_delay {
            *phase = phase_of(uptime, *tick);
        }
    }

    /// When an ACK for a segment that arrives now must leave. `beyond_least`: how much longer it waits where data come less often.
    #[inline]
    pub(super) fn ack_deadline(&self, now: Time, beyond_least: Span) -> Time {
        match self.ack_delay {
            AckDelay::Unlimited => Time::NEVER,
            AckDelay::For(timeout) => now.saturating_add(timeout),
            AckDelay::AtLeast(timeout) => now.saturating_add(timeout).saturating_add(beyond_least),
            AckDelay::ToTick { phase, tick } => {
                let passed = passed(phase, tick);
                let next = (now.picos().saturating_add(passed) / tick).saturating_add(1);
                Time::from_picos(next.saturating_mul(tick).saturating_sub(passed))
            }
        }
    }
}
