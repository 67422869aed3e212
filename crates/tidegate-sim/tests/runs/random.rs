//! Random plans: every way of driving a network gives the same numbers.

use proptest::prelude::*;
use tidegate_core::gcra::{Conformance, Interval, Limit};
use tidegate_core::plan::{
    AppPlan, CellPlan, CongestionPlan, Framing, GroupPlan, Limits, LossPlan, OnChange, Plan, PolicePlan,
    RatePlan, RecordLevel, TcpPlan, TcpRules,
};
use tidegate_core::units::{Rate, Span, Time};

use crate::accounts::*;
use crate::any::*;
use crate::any_cells::*;
use crate::offered::*;
use crate::small::*;

/// More flows than the network takes to be many.
const CROWD: usize = 4_200;
const CASES_OF_CROWDS: u32 = 5;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// TCP over cells: trains, cells one by one and every event tell the same.
    #[test]
    fn trains_change_nothing(plan in prop_oneof![any_cell_plan(), with_requests(any_cell_plan())]) {
        let trains = whole(&plan);
        accounts_of_requests_balance(&plan, &trains)?;
        accounts_of_cells_balance(&plan, &trains)?;
        let others = [
            whole(&Plan { cells_one_by_one: true, ..plan.clone() }),
            whole(&Plan { exact_events: true, ..plan }),
        ];
        for other in others {
            prop_assert_eq!(&trains.summary.flows, &other.summary.flows);
            prop_assert_eq!(&trains.summary.gates, &other.summary.gates);
            prop_assert_eq!(&trains.summary.traffic, &other.summary.traffic);
            prop_assert_eq!(&trains.summary.requests, &other.summary.requests);
            prop_assert_eq!(tables_differ(&trains, &other), None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Goodput is at most throughput, throughput at most what was offered; of one flow and of all together.
    #[test]
    fn goodput_is_never_more_than_was_offered(
        mut plan in prop_oneof![any_plan(), any_private_plan(), any_dumbbell(), any_cell_plan(), with_requests(any_plan())]
    ) {
        plan.record.level = RecordLevel::Every(Span::from_millis(7));
        plan.record.packets = true;
        for gate in &mut plan.gates {
            // Else a packet keeps the speed it began with, and may pass faster than is offered.
            gate.on_change = OnChange::Rescale;
        }
        let result = whole(&plan);
        goodput_is_received(&plan, &result)?;
        throughput_was_offered(&plan, &result)?;
    }


    /// The same summary (but for the count of events) and the same columns, with TCP in the loop.
    #[test]
    fn exact_events_change_nothing(
        plan in prop_oneof![
            any_plan(),
            any_private_plan(),
            any_dumbbell(),
            any_busy_dumbbell(),
            with_requests(any_plan()),
            with_requests(any_private_plan()),
        ]
    ) {
        let ahead = whole(&plan);
        accounts_of_requests_balance(&plan, &ahead)?;
        let exact = whole(&Plan { exact_events: true, ..plan });
        prop_assert_eq!(&ahead.summary.flows, &exact.summary.flows);
        prop_assert_eq!(&ahead.summary.gates, &exact.summary.gates);
        prop_assert_eq!(&ahead.summary.traffic, &exact.summary.traffic);
        prop_assert_eq!(&ahead.summary.requests, &exact.summary.requests);
        let (ahead, exact) = (ahead.tables(), exact.tables());
        for (one, other) in ahead.iter().zip(&exact) {
            prop_assert!(same(one, other), "{} differ", one.name);
        }
    }
    /// Laps of a flow that shares nothing, whatever interrupts them: exact events, a limit of events and a recording each take
    /// another way.
    #[test]
    fn laps_change_nothing(plan in any_lone_plan()) {
        let laps = whole(&plan);
        let exact = whole(&Plan { exact_events: true, ..plan.clone() });
        let limits = Limits { events: Some(u64::MAX), ..plan.limits };
        let in_order = whole(&Plan { limits, ..plan.clone() });
        let mut recorded = plan;
        recorded.record.level = RecordLevel::Every(Span::from_millis(10));
        let recorded = whole(&recorded);
        for other in [exact, in_order, recorded] {
            prop_assert_eq!(&laps.summary.flows, &other.summary.flows);
            prop_assert_eq!(&laps.summary.gates, &other.summary.gates);
        }
    }

    /// What is recorded changes no summary: flows that nobody watches go a shorter way.
    #[test]
    fn recording_changes_nothing(
        mut plan in prop_oneof![any_plan(), any_private_plan(), any_dumbbell(), any_busy_dumbbell()]
    ) {
        plan.record.level = RecordLevel::Summary;
        let unwatched = whole(&plan);
        plan.record.packets = true;
        let captured = whole(&plan);
        plan.record.level = RecordLevel::Events;
        let recorded = whole(&plan);
        plan.record.packets = false;
        plan.record.level = RecordLevel::Every(Span::from_millis(3));
        let now_and_then = whole(&plan);
        for watched in [captured, recorded, now_and_then] {
            prop_assert_eq!(&unwatched.summary.flows, &watched.summary.flows);
            prop_assert_eq!(&unwatched.summary.gates, &watched.summary.gates);
            prop_assert_eq!(&unwatched.summary.traffic, &watched.summary.traffic);
            prop_assert_eq!(&unwatched.summary.requests, &watched.summary.requests);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES_OF_CROWDS))]

    /// So many flows that runs go beyond alarms, and are parted among threads.
    #[test]
    fn exact_events_change_nothing_among_many_flows(mut plan in any_crowd(CROWD)) {
        plan.duration = Time::ZERO + Span::from_millis(400);
        plan.warmup = Time::ZERO + Span::from_millis(50);
        let ahead = whole_on(2, &plan);
        let exact = whole(&Plan { exact_events: true, ..plan });
        prop_assert!(ahead.summary.flows == exact.summary.flows);
        prop_assert!(ahead.summary.gates == exact.summary.gates);
        prop_assert!(ahead.summary.traffic == exact.summary.traffic);
        prop_assert!(ahead.summary.requests == exact.summary.requests);
    }

    /// The same summary, count of events and columns, with flows in groups and alone.
    #[test]
    fn the_number_of_threads_changes_nothing(mut plan in any_crowd(CROWD)) {
        plan.duration = Time::ZERO + Span::from_millis(300);
        plan.warmup = Time::ZERO + Span::from_millis(50);
        let of_group = |rest| (4..plan.flows.len()).filter(|flow| flow % 2 == rest).collect();
        let group = |rest| GroupPlan { name: format!("group {rest}"), flows: of_group(rest) };
        plan.record.groups = vec![group(0), group(1)];
        plan.record.flows = Some(vec![0, 2, 3]);
        plan.record.level = RecordLevel::Every(Span::from_millis(10));
        let one = whole_on(1, &plan);
        for threads in [2, 5] {
            let several = whole_on(threads, &plan);
            prop_assert!(one.summary == several.summary, "on {} threads", threads);
            prop_assert_eq!(tables_differ(&one, &several), None);
        }
    }
}

/// The policer takes the last cell of a segment; those before it wait for a slot in which an ACK could come. The sender's time-out
/// comes before any other event, and knows whom to blame all the same.
#[test]
fn what_a_policer_took_is_known_when_the_sender_misses_it() {
    let cells = |name: &str, mbps, slotted| {
        let mut gate = link(name, mbps, None, Span::ZERO);
        gate.framing = Framing::Aal5 { llc: false };
        gate.cells = CellPlan { slotted, ..CellPlan::default() };
        gate
    };
    let tahoe = tcp(CongestionPlan::Tahoe { fast_retransmit: true });
    let mut plan = one_link(None, AppPlan::Bulk, TcpPlan { sack: false, delayed_ack: None, ..tahoe });
    plan.gates = vec![cells("isp", 3, false), cells("core", 25, true)];
    let sustained = Some((cell_limit(3, 183), Conformance::Vbr1));
    plan.gates[0].police =
        Some(PolicePlan { peak: cell_limit(6, 9), sustained, tags: false, per_flow: None });
    (plan.flows[0].path, plan.flows[0].back) = (vec![0, 1], vec![1]);
    plan.duration = Time::ZERO + Span::from_millis(1_200);
    let trains = whole(&plan);
    assert!(trains.summary.flows[0].timeouts > 0);
    assert!(trains.summary.flows[0].limited_by["policer of isp"] > 0.0);
    for (cells_one_by_one, exact_events) in [(true, false), (false, true)] {
        let other = whole(&Plan { cells_one_by_one, exact_events, ..plan.clone() });
        assert_eq!(trains.summary.flows, other.summary.flows);
    }
}

/// Where a run ends while its queues grow, what would have come after the end is in no peak.
#[test]
fn queues_that_grow_after_the_end_are_no_peaks() {
    let tcp = TcpPlan { initial_window: 2_000, ..tcp(CongestionPlan::Reno) };
    let mut plan = one_link(None, AppPlan::Bulk, tcp);
    plan.gates =
        vec![link("access", 9, None, Span::from_millis(22)), link("core", 4, None, Span::from_millis(20))];
    plan.flows[0].path = vec![0, 1];
    for millis in (300..1_500).step_by(41) {
        plan.duration = Time::ZERO + Span::from_millis(millis);
        let laps = whole(&plan);
        let exact = whole(&Plan { exact_events: true, ..plan.clone() });
        assert_eq!(laps.summary.gates, exact.summary.gates, "after {millis} ms");
    }
}

/// The receiver's window grows, and an ACK that says so is lost behind others: the next one says so too, whether it has a header of
/// its own, as in a recorded run, or not.
#[test]
fn a_window_of_which_no_ack_has_told_is_told_again() {
    let tahoe = tcp(CongestionPlan::Tahoe { fast_retransmit: true });
    let window = Some(400_000);
    let plan = TcpPlan { rules: TcpRules::LINUX, handshake: false, delayed_ack: None, window, ..tahoe };
    let mut plan = one_link(Some(1), AppPlan::Bulk, plan);
    plan.duration = Time::ZERO + Span::from_secs(1);
    (plan.gates[0].rate, plan.gates[0].delay) = (RatePlan::Unlimited, Span::ZERO);
    plan.gates.push(link("back", 16, Some(1), Span::ZERO));
    plan.gates[1].loss = LossPlan::Every { units: 150 };
    plan.flows[0].back = vec![1];
    // A flow that passes a policer has no short headers, even where the policer drops nothing.
    let increment = Interval::at_rate(8, Rate::from_bps(100_000_000_000)).expect("a rate");
    let peak = Limit::tokens(increment, 1_000_000).expect("few bytes");
    let lets_all_pass = PolicePlan { peak, sustained: None, tags: false, per_flow: None };
    for police in [None, Some(lets_all_pass)] {
        plan.gates[0].police = police;
        let unwatched = whole(&plan);
        let exact = whole(&Plan { exact_events: true, ..plan.clone() });
        let mut recorded = plan.clone();
        recorded.record.level = RecordLevel::Every(Span::from_millis(10));
        let recorded = whole(&recorded);
        assert_eq!(unwatched.summary.flows, recorded.summary.flows);
        assert_eq!(exact.summary.flows, recorded.summary.flows);
    }
}
