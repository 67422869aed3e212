//! Goodput of transfers that end near the beginning of the measured time, or of which none is measured.

use tidegate_core::plan::{AppPlan, CongestionPlan, Plan, StartPlan};
use tidegate_core::units::{Span, Time};
use tidegate_result::FlowSummary;

use crate::small::*;
use crate::twin::*;

/// User bits per second of the full link.
const FULL: f64 = 8e6 * 1000.0 / 1040.0;

fn row(plan: &Plan) -> FlowSummary {
    whole(plan).summary.flows[0].clone()
}

fn transfer() -> Plan {
    // The last segment is not full.
    one_link(None, AppPlan::Transfer { bytes: 500_300 }, tcp(CongestionPlan::Reno))
}

#[test]
fn a_transfer_that_ends_just_after_the_warm_up_is_not_faster_than_its_link() {
    let plan = transfer();
    let took = (row(&plan).completion_s.expect("it ends") * 1e12).round() as u64;
    // The last segment takes 340 us, those before 1040 us.
    for before in [1, 1_000_000, 339_000_000, 341_000_000, 1_380_000_001, 5_000_000_000, 20_123_456_789] {
        let warmup = Time::from_picos(took - before);
        let goodput = row(&Plan { warmup, ..plan.clone() });
        let [goodput, throughput] =
            [goodput.goodput_bps, goodput.throughput_bps].map(|rate| rate.expect("a bit of it"));
        assert!(goodput <= FULL * (1.0 + 1e-9) && goodput > 0.85 * FULL, "{before} ps: {goodput}");
        assert!((throughput / 8e6 - 1.0).abs() < 1e-6, "{before} ps: {throughput}");
    }
}

#[test]
fn what_was_over_before_the_measured_time_has_no_goodput() {
    let plan = transfer();
    let took = row(&plan).completion_s.expect("it ends");
    for later in [0.0, 0.5] {
        let warmup = Time::from_picos(((took + later) * 1e12).round() as u64);
        let over = row(&Plan { warmup, ..plan.clone() });
        assert_eq!((over.goodput_bps, over.in_order_bps, over.throughput_bps), (None, None, None));
        assert_eq!((over.completion_s, over.progress), (Some(took), Some(1.0)));
    }
}

#[test]
fn what_does_not_begin_has_no_goodput_and_what_delivers_nothing_has_none_per_second() {
    let mut plan = transfer();
    plan.flows[0].start = StartPlan::At(plan.duration + Span::from_secs(1));
    assert_eq!(row(&plan).goodput_bps, None);
    // It begins, and the first segment does not come any more.
    plan.flows[0].start = StartPlan::At(Time::from_picos(plan.duration.picos() - 1));
    assert_eq!(row(&plan).goodput_bps, Some(0.0));
}

#[test]
fn copies_of_which_no_time_was_measured_have_no_part_in_their_group() {
    let mut plan = transfer();
    let took = Span::from_picos((row(&plan).completion_s.expect("it ends") * 1e12).round() as u64);
    let later = Time::ZERO + Span::from_secs(5);
    for (copy, start) in [Time::ZERO, later, plan.duration + Span::from_secs(1)].into_iter().enumerate() {
        let mut flow = plan.flows[0].clone();
        (flow.name, flow.start) = (format!("bulk.{}", copy + 1), StartPlan::At(start));
        plan.flows.push(flow);
    }
    plan.flows.remove(0);
    plan.warmup = Time::ZERO + took + Span::from_secs(1);
    let summary = whole(&plan).summary;
    let each: Vec<_> = summary.flows.iter().map(|flow| flow.goodput_bps.is_some()).collect();
    assert_eq!(each, [false, true, false]);
    let group = &summary.flow_groups[0];
    assert_eq!((group.flows, group.done), (3, 2));
    let ratio =
        group.goodput_bps.expect("of the second") / summary.flows[1].goodput_bps.expect("it is there");
    assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
    plan.flows.remove(1);
    assert_eq!(whole(&plan).summary.flow_groups[0].goodput_bps, None);
}
