//! Small plans, their runs, and comparison of results.

use tidegate_core::plan::{
    AppPlan, CongestionPlan, DelayedAckPlan, EcnPlan, FlowPlan, GatePlan, Increase, Plan, QueueLimit,
    RatePlan, RtoPlan, RttTiming, SsthreshRounding, StartPlan, TcpBase, TcpPlan, TcpRules, TickPhase,
};
use tidegate_core::units::{Rate, Span, Speed, Time};
use tidegate_sim::{Column, RunResult, Table, run, run_watched};

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

pub(crate) fn whole(plan: &Plan) -> RunResult {
    run(plan, &mut |_| true).expect("nobody interrupts")
}

/// The same on so many threads.
pub(crate) fn whole_on(threads: usize, plan: &Plan) -> RunResult {
    let mut go_on = |_: Time| true;
    run_watched(plan, threads, &mut &mut go_on).expect("nobody interrupts")
}

/// Equal to the bit: NaN stands for "none" and is never equal to itself.
pub(crate) fn same(one: &Table, other: &Table) -> bool {
    let bits = |column: &Column| match column {
        Column::F64(values) => values.iter().map(|value| value.to_bits()).collect(),
        Column::U64(values) => values.clone(),
        Column::MaybeU64(values) => {
            values.iter().flat_map(|value| [u64::from(value.is_some()), value.unwrap_or(0)]).collect()
        }
        Column::U32(values) => values.iter().map(|value| u64::from(*value)).collect(),
        Column::U8(values) => values.iter().map(|value| u64::from(*value)).collect(),
    };
    let pairs = one.columns.iter().zip(&other.columns);
    pairs.into_iter().all(|(left, right)| left.0 == right.0 && bits(&left.1) == bits(&right.1))
}

pub(crate) fn tables_differ(one: &RunResult, other: &RunResult) -> Option<&'static str> {
    let (one, other) = (one.tables(), other.tables());
    one.iter().zip(&other).find(|(one, other)| !same(one, other)).map(|(one, _)| one.name)
}
