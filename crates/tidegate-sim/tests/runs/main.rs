//! Whole runs: run-ahead against exact events with TCP in the loop, limits, interruption, and
//! what limits a flow where the cause is known.

#![allow(missing_docs, reason = "tests")]

#[path = "../plans/mod.rs"]
mod plans;
#[path = "../twin/mod.rs"]
mod twin;

mod accounts;
mod advice;
mod any;
mod any_advice;
mod any_cells;
mod any_video;
mod hosted;
mod memory;
mod offered;
mod own_time;
mod random;
mod rows;
mod small;
mod stepper;
mod watched;

use tidegate_core::plan::{
    AppPlan, CongestionPlan, Framing, LossPlan, Plan, RecordLevel, SourcePlan, StartPlan, TcpPlan,
};
use tidegate_core::units::{Rate, Span, Time};
use tidegate_sim::{RunError, RunResult, run};

use small::*;
use twin::*;

fn share(result: &RunResult, name: &str) -> f64 {
    result.summary.flows[0].limited_by.get(name).copied().unwrap_or(0.0)
}

#[test]
fn a_long_download_is_limited_by_its_link() {
    let result = whole(&one_link(Some(100), AppPlan::Bulk, tcp(CongestionPlan::Cubic)));
    assert!(share(&result, "gate.link") > 0.95, "{:?}", result.summary.flows[0].limited_by);
}

#[test]
fn a_small_window_limits() {
    let plan = TcpPlan { window: Some(5_000), delayed_ack: None, ..tcp(CongestionPlan::Reno) };
    let result = whole(&one_link(None, AppPlan::Bulk, plan));
    // Five segments a round trip of 21.04 ms, of which bursts keep the link for some 5 ms.
    assert!(share(&result, "receiver window") > 0.6, "{:?}", result.summary.flows[0].limited_by);
    let goodput = result.summary.flows[0].goodput_bps.expect("it was measured");
    assert!((goodput / (5_000.0 * 8.0 / 0.02104) - 1.0).abs() < 0.01, "{goodput}");
}

/// The queue fills in the warm-up, and round trips are equal from then on.
#[test]
fn round_trips_of_the_warm_up_do_not_count() {
    let window = CongestionPlan::Fixed { window: 100_000 };
    let mut plan = one_link(None, AppPlan::Bulk, TcpPlan { delayed_ack: None, ..tcp(window) });
    let whole_run = whole(&plan).summary.flows[0].clone();
    plan.warmup = Time::ZERO + Span::from_secs(2);
    let row = whole(&plan).summary.flows[0].clone();
    let (mean, all) = (row.rtt_mean_ms.expect("samples"), whole_run.rtt_mean_ms.expect("samples"));
    // A hundred segments of 1.04 ms each, and nothing else.
    assert!((mean - 104.0).abs() < 1e-6, "{mean}");
    assert!(all < mean - 0.1, "{all}");
}

#[test]
fn a_slow_application_limits() {
    let source = SourcePlan::Constant { rate: Rate::from_bps(800_000), bytes: 1000 };
    let result = whole(&one_link(Some(100), AppPlan::Source(source), tcp(CongestionPlan::Cubic)));
    assert!(share(&result, "application") > 0.95, "{:?}", result.summary.flows[0].limited_by);
}

#[test]
fn a_lost_tail_waits_for_its_timer_and_not_for_the_application() {
    // Ten segments at once into a queue of five: the tail is lost, and no ACK tells of it.
    let plan = TcpPlan { dupthresh: None, handshake: false, ..tcp(CongestionPlan::Reno) };
    let mut plan = one_link(Some(5), AppPlan::Transfer { bytes: 10_000 }, plan);
    plan.duration = Time::ZERO + Span::from_secs(2);
    let result = whole(&plan);
    let done = result.summary.flows[0].completion_s.expect("it ends");
    assert!(done > 0.2, "{done}");
    // What follows the transfer is the application's.
    assert!((share(&result, "application") - (2.0 - done) / 2.0).abs() < 0.02, "{done}");
}

#[test]
fn a_limit_stops_a_run_and_its_numbers_are_those_of_a_run_of_that_length() {
    let plan = one_link(Some(20), AppPlan::Bulk, tcp(CongestionPlan::NewReno));
    let mut limited = plan.clone();
    limited.limits.events = Some(1000);
    let stopped = whole(&limited);
    assert!(stopped.summary.warnings[0].contains("the limit of 1000 events"));
    let mut shorter = plan;
    shorter.duration = Time::from_picos((stopped.summary.duration_s * 1e12).round() as u64);
    let same = whole(&shorter);
    assert_eq!(stopped.summary.gates, same.summary.gates);
    assert_eq!(stopped.summary.flows, same.summary.flows);
}

#[test]
fn a_limit_that_is_reached_at_once_says_that_nothing_was_measured() {
    let mut plan = one_link(Some(20), AppPlan::Bulk, tcp(CongestionPlan::NewReno));
    plan.limits.events = Some(1);
    let told = |of: &Plan| whole(of).summary.warnings[0].clone();
    let at_once = told(&plan);
    assert!(at_once.contains("the limit of 1 event was reached; no time had passed"), "{at_once}");
    assert_eq!(whole(&plan).summary.flows[0].goodput_bps, None);
    // Where there is a warm-up, that had not ended.
    plan.warmup = Time::ZERO + Span::from_secs(1);
    assert!(told(&plan).contains("the warm-up had not ended"));
}

#[test]
fn a_transfer_has_its_goodput_over_its_own_time() {
    let plan = one_link(None, AppPlan::Transfer { bytes: 500_000 }, tcp(CongestionPlan::Reno));
    let row = |of: &Plan| whole(of).summary.flows[0].clone();
    let first = row(&plan);
    let took = first.completion_s.expect("it ends");
    assert_eq!(first.goodput_bps, Some(4e6 / took));
    assert_eq!((first.progress, first.start_s), (Some(1.0), Some(0.0)));
    // However long the run goes on.
    let longer = row(&Plan { duration: Time::ZERO + Span::from_secs(50), ..plan.clone() });
    assert_eq!((longer.goodput_bps, longer.throughput_bps), (first.goodput_bps, first.throughput_bps));
    // What the warm-up took is no part of it, neither bytes nor time.
    let half = Span::from_picos((took / 2.0 * 1e12) as u64);
    let later = row(&Plan { warmup: Time::ZERO + half, ..plan.clone() });
    assert_eq!(later.completion_s, Some(took));
    let goodput = later.goodput_bps.expect("it was measured");
    assert!((goodput / 8e6 - 1000.0 / 1040.0).abs() < 1e-9, "{goodput}");
    // One that is not done: the measured time, and how much came.
    let short = row(&Plan { duration: Time::ZERO + half, ..plan });
    assert_eq!(short.completion_s, None);
    let share = short.goodput_bps.expect("it was measured") * half.as_secs_f64() / 8.0 / 500_000.0;
    assert!((short.progress.expect("a transfer") - share).abs() < 1e-9 && share > 0.3, "{share}");
}

#[test]
fn a_run_until_done_is_a_run_of_that_length() {
    let mut plan = one_link(Some(20), AppPlan::Transfer { bytes: 500_000 }, tcp(CongestionPlan::NewReno));
    plan.flows.push(small::flow(vec![0], AppPlan::Bulk, tcp(CongestionPlan::Cubic)));
    plan.flows.push(small::flow(vec![0], AppPlan::Transfer { bytes: 200_000 }, tcp(CongestionPlan::Cubic)));
    plan.flows[2].start = StartPlan::At(Time::ZERO + Span::from_millis(300));
    plan.record.level = RecordLevel::Every(Span::from_millis(7));
    let done = whole(&Plan { until_done: true, ..plan.clone() });
    let ends = done.summary.flows.iter().filter_map(|row| Some(row.start_s? + row.completion_s?));
    let last = ends.fold(0.0, f64::max);
    assert!((done.summary.duration_s - last).abs() < 5e-12 && last < 10.0, "{last}");
    let duration = Time::from_picos((done.summary.duration_s * 1e12).round() as u64);
    let same = whole(&Plan { duration, ..plan.clone() });
    assert_eq!(done.summary, same.summary);
    assert_eq!(tables_differ(&done, &same), None);
    // At the bound it stops, and says what was not done.
    let bound = Plan { duration: Time::ZERO + Span::from_millis(500), ..plan };
    let mut stopped = whole(&Plan { until_done: true, ..bound.clone() });
    let told = stopped.summary.warnings.pop().expect("a warning");
    assert!(told.contains("stopped at 500 ms") && told.contains("2 of 2 flows"), "{told}");
    assert_eq!(stopped.summary, whole(&bound).summary);
}

/// The end of such a run is known when it has been there: only then can its rows be too many.
#[test]
fn rows_until_all_is_done_are_those_up_to_then() {
    let mut plan = one_link(Some(20), AppPlan::Transfer { bytes: 50_000 }, tcp(CongestionPlan::Reno));
    plan.duration = Time::ZERO + Span::from_secs(1_000);
    plan.until_done = true;
    // Up to the bound they would be two hundred million.
    plan.record.level = RecordLevel::Every(Span::from_micros(10));
    let result = whole(&plan);
    assert!(
        result.summary.duration_s < 1.0 && result.summary.warnings.is_empty(),
        "{:?}",
        result.summary.warnings
    );
    plan.record.level = RecordLevel::Every(Span::from_picos(1));
    let Err(RunError::Recording(told)) = run(&plan, &mut |_| true) else { panic!("it fits") };
    assert!(told.contains("more than limits.memory, 2000 MB") && !told.contains("1000 s"), "{told}");
}

#[test]
fn an_interrupted_run_has_no_result() {
    let plan = one_link(Some(20), AppPlan::Bulk, tcp(CongestionPlan::Reno));
    let plan = Plan { duration: Time::ZERO + Span::from_secs(100_000), ..plan };
    assert_eq!(run(&plan, &mut |_| false).err(), Some(RunError::Interrupted));
}

/// Packet discard acts on what its own queue refused, not on what the wire lost.
#[test]
fn packet_discard_does_not_know_of_random_losses() {
    let plan = |ppd: bool| {
        let mut plan = one_link(None, AppPlan::Bulk, tcp(CongestionPlan::Reno));
        let gate = &mut plan.gates[0];
        gate.framing = Framing::Aal5 { llc: false };
        gate.loss = LossPlan::Independent { probability: 0.001 };
        gate.cells.ppd = ppd;
        plan
    };
    let with = whole(&plan(true));
    assert!(with.summary.gates[0].cells.is_some_and(|cells| cells.dropped_cells > 10));
    assert_eq!(with.summary, whole(&plan(false)).summary);
}
