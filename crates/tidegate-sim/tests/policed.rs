//! Policers with TCP in the loop: who is to blame, what is counted, and what stands in the bucket.

#![allow(missing_docs, reason = "tests")]

mod plans;
mod twin;

use proptest::prelude::*;
use tidegate_core::gcra::{Conformance, Interval, Limit};
use tidegate_core::plan::{
    AppPlan, CongestionPlan, FlowPlan, GatePlan, LossPlan, Plan, PolicePlan, QueueLimit, RatePlan,
    RecordLevel, SourcePlan, StartPlan, TcpPlan, TickPhase, TrafficPlan, TransportPlan,
};
use tidegate_core::units::{Rate, Span, Speed, Time};
use tidegate_result::GateSummary;
use tidegate_sim::RunResult;
use twin::whole;

const POLICER: &str = "policer of isp";

fn tcp(cc: CongestionPlan) -> TcpPlan {
    TcpPlan { mss: 1460, initial_window: 14_600, phase: TickPhase::Own, ..plans::tcp(cc) }
}

fn bytes_limit(bps: u64, burst: u64) -> Limit {
    let byte = Interval::at_rate(8, Rate::from_bps(bps)).expect("a rate");
    Limit::tokens(byte, burst).expect("a burst")
}

fn contract(bps: u64, burst: u64) -> PolicePlan {
    PolicePlan { peak: bytes_limit(bps, burst), sustained: None, tags: false, per_flow: None }
}

fn gate(name: &str, mbps: u64, queue: u64, police: Option<PolicePlan>) -> GatePlan {
    let mut gate = GatePlan::open(name);
    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(mbps * 1_000_000)));
    gate.queue.limit = QueueLimit::Packets(queue);
    gate.delay = Span::from_millis(20);
    gate.police = police;
    gate
}

/// A bulk flow through these gates, 40 ms of delay for one gate, counted from 5 to 30 s.
fn plan(gates: Vec<GatePlan>, cc: CongestionPlan) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_secs(30));
    plan.warmup = Time::ZERO + Span::from_secs(5);
    plan.flows.push(FlowPlan {
        dscp: 0,
        scone: None,
        name: "bulk".to_owned(),
        path: (0..gates.len()).collect(),
        back: vec![],
        back_delay: Span::from_millis(20),
        start: StartPlan::At(Time::ZERO),
        app: AppPlan::Bulk,
        transport: TransportPlan::Tcp,
        tcp: tcp(cc),
    });
    plan.gates = gates;
    plan
}

fn share(result: &RunResult, name: &str) -> f64 {
    result.summary.flows[0].limited_by.get(name).copied().unwrap_or(0.0)
}

#[test]
fn a_policed_flow_names_the_policer() {
    for cc in [CongestionPlan::Reno, CongestionPlan::NewReno, CongestionPlan::Cubic] {
        let result = whole(&plan(vec![gate("isp", 1000, 1000, Some(contract(20_000_000, 50_000)))], cc));
        let flow = &result.summary.flows[0];
        assert!(share(&result, POLICER) > 0.9, "{cc:?} {:?}", flow.limited_by);
        assert!(flow.losses.policed_packets > 0);
        assert_eq!(flow.losses.policed_packets, flow.losses.dropped_packets);
        let isp = &result.summary.gates[0];
        assert_eq!(isp.drops.get("policed"), Some(&isp.dropped_packets));
    }
}

/// The policer never drops: everything is as if it were not there.
#[test]
fn a_policer_that_nothing_exceeds_changes_nothing() {
    let unused = Some(contract(100_000_000, 1_000_000));
    let with = whole(&plan(vec![gate("isp", 8, 30, unused)], CongestionPlan::Cubic));
    let without = whole(&plan(vec![gate("isp", 8, 30, None)], CongestionPlan::Cubic));
    assert!(share(&with, "gate.isp") > 0.9);
    assert_eq!(with.summary.flows, without.summary.flows);
    assert_eq!(GateSummary { police: None, ..with.summary.gates[0].clone() }, without.summary.gates[0]);
}

/// The policer drops in slow start; from then on a short queue behind it does.
#[test]
fn losses_of_a_queue_do_not_name_a_policer() {
    let police = Some(contract(50_000_000, 20_000));
    let gates = vec![gate("isp", 1000, 1000, police), gate("link", 10, 3, None)];
    let result = whole(&plan(gates, CongestionPlan::Reno));
    let flow = &result.summary.flows[0];
    assert!(flow.losses.drops.get("queue full").is_some_and(|count| *count > 10), "{:?}", flow.losses);
    assert_eq!(flow.losses.policed_packets, 0, "none while it is counted");
    assert!(share(&result, POLICER) < 0.05, "{:?}", flow.limited_by);
    assert!(share(&result, "congestion window") > 0.2, "{:?}", flow.limited_by);
}

/// A fixed window is as large after a loss as before.
#[test]
fn a_fixed_window_blames_the_policer_only_while_it_repairs() {
    let fixed = CongestionPlan::Fixed { window: 6 * 1460 };
    let slow = Some(contract(1_000_000, 100_000));
    let quick = Some(contract(50_000_000, 7_000));
    let repairs = whole(&plan(vec![gate("isp", 1000, 1000, slow)], fixed));
    assert!(share(&repairs, POLICER) > 0.5, "{:?}", repairs.summary.flows[0].limited_by);
    let rarely = whole(&plan(vec![gate("isp", 1000, 1000, quick)], fixed));
    let shares = share(&rarely, POLICER) + share(&rarely, "congestion window");
    assert!(shares > 0.9, "{:?}", rarely.summary.flows[0].limited_by);
}

/// The least a queue could hold, and a source beside the flow: each is told of its own drops.
#[test]
fn drops_are_told_apart_by_owner_and_reason() {
    let mut plan =
        plan(vec![gate("isp", 1000, 1000, Some(contract(20_000_000, 50_000)))], CongestionPlan::Reno);
    plan.traffic.push(TrafficPlan {
        name: "calls".to_owned(),
        group: "bg".to_owned(),
        delays: true,
        path: vec![0],
        start: StartPlan::At(Time::ZERO),
        source: SourcePlan::Poisson { rate: Rate::from_bps(15_000_000), bytes: 1000 },
    });
    plan.record.level = RecordLevel::Every(Span::from_millis(1));
    let result = whole(&plan);
    let (flow, calls) = (&result.summary.flows[0].losses, &result.summary.traffic[0].losses);
    assert!(calls.policed_packets > 50 && flow.policed_packets > 10, "{calls:?} {flow:?}");
    assert_eq!(flow.policed_packets + calls.policed_packets, result.summary.gates[0].dropped_packets);
    let police = result.summary.gates[0].police.expect("it polices");
    assert!(police.contract_utilisation <= 1.0 && police.contract_utilisation > 0.8, "{police:?}");
    assert_eq!(result.summary.gates[0].utilisation, Some(police.contract_utilisation));
    let tokens: Vec<f64> = result.gates[0].iter().map(|row| row.tokens).collect();
    assert!(tokens.iter().all(|tokens| (0.0..=50_000.0).contains(tokens)));
    assert!(tokens.iter().any(|tokens| *tokens < 10_000.0));
}

#[test]
fn a_bucket_over_time_by_hand() {
    // 8 Mbit/s is a byte each microsecond. Packets of 1000 bytes each 500 us: two come for one that fits.
    let mut plan =
        plan(vec![gate("isp", 1000, 1000, Some(contract(8_000_000, 3_000)))], CongestionPlan::Reno);
    plan.flows.clear();
    plan.traffic.push(TrafficPlan {
        name: "steady".to_owned(),
        group: "bg".to_owned(),
        delays: true,
        path: vec![0],
        start: StartPlan::At(Time::ZERO),
        source: SourcePlan::Constant { rate: Rate::from_bps(16_000_000), bytes: 1000 },
    });
    plan.duration = Time::ZERO + Span::from_millis(5);
    plan.warmup = Time::ZERO;
    plan.record.level = RecordLevel::Every(Span::from_micros(250));
    let result = whole(&plan);
    let tokens: Vec<f64> = result.gates[0].iter().map(|row| row.tokens).take(11).collect();
    // At 0, 0.5, 1 and 1.5 ms a thousand are taken; between 0.5 ms come back 500.
    let by_hand = [2000.0, 2250.0, 1500.0, 1750.0, 1000.0, 1250.0, 500.0, 750.0, 0.0, 250.0, 500.0];
    assert_eq!(tokens, by_hand);
    let isp = result.summary.gates[0].police.expect("it polices");
    assert_eq!(isp.contract_bytes, 3000.0 + 5000.0);
    assert_eq!(isp.contract_bps, 8e6);
}

fn any_contract() -> impl Strategy<Value = PolicePlan> {
    let rates = (1_000_000u64..40_000_000, 1_500u64..200_000);
    let kinds = prop_oneof![
        Just(None),
        Just(Some(Conformance::Vbr1)),
        Just(Some(Conformance::Vbr2)),
        Just(Some(Conformance::Vbr3))
    ];
    (rates, 1_500u64..100_000, kinds, any::<bool>()).prop_map(|((bps, burst), lower, kind, tags)| {
        PolicePlan {
            peak: bytes_limit(bps, burst),
            sustained: kind.map(|kind| (bytes_limit(bps / 2, lower), kind)),
            tags: tags && kind.is_none(),
            per_flow: None,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whichever way gates are driven: the same causes, counts and levels, and no use above what is allowed.
    #[test]
    fn policed_flows_have_twins(
        police in any_contract(),
        second in prop::option::of(any_contract()),
        (mbps, queue, loss) in (2u64..100, 1u64..60, any::<bool>()),
        bucket in any::<bool>(),
        reno in any::<bool>(),
    ) {
        let cc = if reno { CongestionPlan::Reno } else { CongestionPlan::Cubic };
        let mut gates = vec![gate("isp", 1000, 1000, Some(police)), gate("link", mbps, queue, second)];
        if bucket {
            gates[1].rate = RatePlan::TokenBucket {
                rate: Rate::from_bps(mbps * 1_000_000),
                burst_bytes: 10_000,
                initial_bytes: None, peak: Some(Rate::from_bps(mbps * 4_000_000)),
                peak_burst_bytes: None,
            };
        }
        gates[0].queue.tagged = Some(0);
        if loss {
            gates[1].loss = LossPlan::Independent { probability: 0.005 };
        }
        let mut plan = plan(gates, cc);
        plan.duration = Time::ZERO + Span::from_secs(8);
        plan.record.level = RecordLevel::Every(Span::from_micros(7_300));
        let ahead = whole(&plan);
        // What is recorded changes no result.
        plan.record.level = RecordLevel::Summary;
        prop_assert_eq!(&ahead.summary.flows, &whole(&plan).summary.flows);
        for gate in &ahead.summary.gates {
            prop_assert_eq!(gate.drops.values().sum::<u64>(), gate.dropped_packets);
            if let Some(told) = gate.police {
                prop_assert!(told.conforming_bytes as f64 <= told.contract_bytes + 1.0, "{:?}", told);
            }
        }
    }
}
