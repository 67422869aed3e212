//! Plans that tests start from.

use crate::plan::{
    CongestionPlan, DelayedAckPlan, EcnPlan, Increase, ReadPlan, RtoPlan, RttTiming, SsthreshRounding,
    TcpBase, TcpPlan, TcpRules, TickPhase,
};
use crate::units::Span;

/// NewReno with an ACK for every segment, initial window 2, RTO at least 1 s, nothing else.
pub(crate) fn plain() -> TcpPlan {
    TcpPlan {
        base: TcpBase::Rfc,
        cc: CongestionPlan::NewReno,
        mss: 1460,
        headers: 40,
        window: None,
        read: ReadPlan::AtOnce,
        initial_window: 2 * 1460,
        initial_ssthresh: None,
        increase: Increase::PerAck,
        dupthresh: Some(3),
        sack: false,
        limited_transmit: false,
        ssthresh_rounding: SsthreshRounding::Exact,
        go_back_n: false,
        guard: true,
        phase: TickPhase::Common,
        rto: RtoPlan::Estimated {
            min: Span::from_secs(1),
            max: Span::from_secs(60),
            initial: Span::from_secs(1),
            tick: Span::ZERO,
        },
        delayed_ack: None,
        quick_acks: 0,
        rules: TcpRules::RFC,
        handshake: true,
        timestamps: false,
        rtt_timing: RttTiming::Every,
        idle_restart: true,
        ecn: EcnPlan::Off,
        abe: false,
    }
}

/// As ns-2 2.35 has it in the peers' scenarios.
pub(crate) fn ns2(cc: CongestionPlan) -> TcpPlan {
    TcpPlan {
        cc,
        limited_transmit: true,
        go_back_n: true,
        guard: true,
        phase: TickPhase::Common,
        rto: RtoPlan::Estimated {
            min: Span::from_millis(200),
            max: Span::from_secs(100_000),
            initial: Span::from_secs(3),
            tick: Span::from_millis(10),
        },
        rtt_timing: RttTiming::One,
        idle_restart: false,
        ..plain()
    }
}

/// An ACK for every second segment, or after 200 ms.
pub(crate) fn delayed() -> DelayedAckPlan {
    DelayedAckPlan { every: 2, timeout: Some(Span::from_millis(200)), tick: Span::ZERO }
}

/// Segments of 100 bytes, no handshake, RTO at least 200 ms: short traces.
pub(crate) fn short() -> TcpPlan {
    TcpPlan {
        mss: 100,
        initial_window: 200,
        handshake: false,
        rto: RtoPlan::Estimated {
            min: Span::from_millis(200),
            max: Span::from_secs(60),
            initial: Span::from_secs(1),
            tick: Span::ZERO,
        },
        ..plain()
    }
}
