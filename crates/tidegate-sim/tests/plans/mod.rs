//! The TCP that the tests of whole runs begin with; each names what it changes.

use tidegate_core::plan::{
    CongestionPlan, DelayedAckPlan, EcnPlan, Increase, ReadPlan, RtoPlan, RttTiming, SsthreshRounding,
    TcpBase, TcpPlan, TcpRules, TickPhase,
};
use tidegate_core::units::Span;

/// RFC rules with SACK, segments of 1000 bytes, an ACK for two segments or after 40 ms.
pub(crate) fn tcp(cc: CongestionPlan) -> TcpPlan {
    TcpPlan {
        base: TcpBase::Rfc,
        cc,
        mss: 1000,
        headers: 40,
        window: None,
        initial_window: 10_000,
        initial_ssthresh: None,
        increase: Increase::PerWindow,
        dupthresh: Some(3),
        sack: true,
        limited_transmit: true,
        ssthresh_rounding: SsthreshRounding::Exact,
        go_back_n: false,
        guard: true,
        phase: TickPhase::Common,
        rto: RtoPlan::Estimated {
            min: Span::from_millis(200),
            max: Span::from_secs(60),
            initial: Span::from_secs(1),
            tick: Span::ZERO,
        },
        delayed_ack: Some(DelayedAckPlan {
            every: 2,
            timeout: Some(Span::from_millis(40)),
            tick: Span::ZERO,
        }),
        quick_acks: 0,
        rules: TcpRules::RFC,
        handshake: true,
        timestamps: false,
        rtt_timing: RttTiming::Every,
        idle_restart: true,
        ecn: EcnPlan::Off,
        abe: false,
        read: ReadPlan::AtOnce,
    }
}
