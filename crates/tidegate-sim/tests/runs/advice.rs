//! Throughput advice, from a gate to what a flow makes of it.

use tidegate_core::plan::{
    AdvicePlan, AdviceSource, AppPlan, CongestionPlan, Plan, RecordLevel, SconePlan, Share, TcpRules,
};
use tidegate_core::units::{Rate, Span, Time};
use tidegate_sim::{RunResult, run};

use crate::small::*;

fn told(kbps: u64) -> Option<AdvicePlan> {
    let source = AdviceSource::Rate(Rate::from_bps(kbps * 1_000));
    Some(AdvicePlan { source, share: Share::ALL, among: None })
}

/// A flow over two links of 8 Mbit/s that listens to advice every second, and obeys it.
fn listening(cc: CongestionPlan, base: TcpRules) -> Plan {
    let mut plan = one_link(Some(100), AppPlan::Bulk, tcp(cc));
    plan.gates.push(link("second", 8, Some(100), Span::from_millis(5)));
    let flow = &mut plan.flows[0];
    flow.path = vec![0, 1];
    flow.scone = Some(SconePlan { first: 3, every: Span::from_secs(1) });
    flow.tcp.sack = true;
    flow.tcp.rules = TcpRules { obeys_advice: true, ..base };
    plan.duration = Time::ZERO + Span::from_secs(20);
    plan.warmup = Time::ZERO + Span::from_secs(2);
    plan.record.level = RecordLevel::Every(Span::from_millis(100));
    plan
}

fn ran(plan: &Plan) -> RunResult {
    run(plan, &mut |_| true).expect("nobody interrupts")
}

#[test]
fn packets_leave_no_faster_than_advised() {
    for cc in [CongestionPlan::Reno, CongestionPlan::Cubic, CongestionPlan::Bbr] {
        for base in [TcpRules::LINUX, TcpRules::RFC] {
            let mut plan = listening(cc, base);
            (plan.gates[0].advice, plan.gates[1].advice) = (told(2_000), told(5_000));
            let result = ran(&plan);
            let advice = result.advice.as_ref().expect("its packets carry signals");
            assert!(advice.iter().all(|row| row.signal.bits() == 26), "the lower one: {advice:?}");
            assert!((22..=23).contains(&advice.len()), "3 at the start, then one a second: {}", advice.len());
            let flow = &result.summary.flows[0];
            let advised = advice[0].signal.rate().expect("a rate").bps() as f64;
            // A burst of two segments begins the measured time earlier than it ends it.
            let throughput = flow.throughput_bps.expect("it was measured");
            assert!(throughput <= advised * 1.002, "{cc:?}: {throughput} of {advised}");
            assert!(throughput >= advised * 0.97, "{cc:?}: {throughput} of {advised}");
        }
    }
}

#[test]
fn without_advice_nothing_is_held_back() {
    let listens = ran(&listening(CongestionPlan::Cubic, TcpRules::RFC));
    assert_eq!(listens.advice.as_deref(), Some(&[][..]));
    let mut plan = listening(CongestionPlan::Cubic, TcpRules::RFC);
    plan.flows[0].scone = None;
    let deaf = ran(&plan);
    assert_eq!(deaf.advice, None);
    assert_eq!(listens.summary.flows[0].goodput_bps, deaf.summary.flows[0].goodput_bps);
}

/// A signal is lost with its packet.
#[test]
fn what_is_dropped_says_nothing() {
    let mut plan = listening(CongestionPlan::Cubic, TcpRules::LINUX);
    plan.gates[0].advice = told(2_000);
    plan.gates[1].loss = tidegate_core::plan::LossPlan::Every { units: 2 };
    let result = ran(&plan);
    let advice = result.advice.expect("its packets carry signals");
    let sent = result.summary.flows[0].segments_sent;
    assert!(advice.len() < 22 && sent > 0, "{} of {sent}", advice.len());
}
