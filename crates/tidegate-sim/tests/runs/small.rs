//! Small plans.

use tidegate_core::plan::{
    AppPlan, FlowPlan, GatePlan, Plan, QueueLimit, RatePlan, StartPlan, TcpPlan, TransportPlan,
};
use tidegate_core::units::{Rate, Span, Speed, Time};

pub(crate) use crate::plans::tcp;

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
        transport: TransportPlan::Tcp,
        tcp,
        scone: None,
    }
}

pub(crate) fn one_link(packets: Option<u64>, app: AppPlan, tcp: TcpPlan) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_secs(10));
    plan.gates.push(link("link", 8, packets, Span::from_millis(10)));
    plan.flows.push(flow(vec![0], app, tcp));
    plan
}
