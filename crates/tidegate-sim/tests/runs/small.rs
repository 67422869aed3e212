//! Small plans.

use tidegate_core::plan::{
    AppPlan, CongestionPlan, DelayedAckPlan, EcnPlan, FlowPlan, GatePlan, Increase, Plan, QueueLimit,
    RatePlan, RtoPlan, RttTiming, SsthreshRounding, StartPlan, TcpBase, TcpPlan, TcpRules, TickPhase,
};
use tidegate_core::units::{Rate, Span, Speed, Time};

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
    }
}

pub(crate) fn link(name: &str, mbps: u64, packets: Option<u64>, delay: Span) -> GatePlan {
    let mut gate = GatePlan::open(name);
    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(mbps * 1_000_000)));
    gate.queue.limit = packets.map_or(QueueLimit::Unlimited, QueueLimit::Packets);
    gate.delay = delay;
    gate
}

pub(crate) fn flow(path: Vec<usize>, app: AppPlan, tcp: TcpPlan) -> FlowPlan {
    FlowPlan {
        dscp: 0,
        name: "bulk".to_owned(),
        path,
        back: vec![],
        back_delay: Span::from_millis(10),
        start: StartPlan::At(Time::ZERO),
        app,
        tcp,
    }
}

pub(crate) fn one_link(packets: Option<u64>, app: AppPlan, tcp: TcpPlan) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_secs(10));
    plan.gates.push(link("link", 8, packets, Span::from_millis(10)));
    plan.flows.push(flow(vec![0], app, tcp));
    plan
}
