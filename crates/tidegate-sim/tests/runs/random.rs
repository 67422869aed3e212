//! Random plans: every way of driving a network gives the same numbers.

use proptest::prelude::*;
use tidegate_core::gcra::Conformance;
use tidegate_core::plan::{
    AppPlan, CellPlan, CohortPlan, CongestionPlan, Framing, GroupPlan, Limits, LossPlan, OnChange, Plan,
    PolicePlan, RatePlan, RecordLevel, TcpPlan, TcpRules,
};
use tidegate_core::units::{Span, Time};

use crate::accounts::*;
use crate::any::*;
use crate::any_advice::with_advice;
use crate::any_cells::*;
use crate::offered::*;
use crate::small::*;
use crate::twin::*;

/// Cohorts so small that a few dozen flows are parted.
const SMALL: CohortPlan = CohortPlan { from_flows: 8, log2_size: 2 };
/// As many flows as the product parts.
const CROWD: usize = CohortPlan::DEFAULT.from_flows + 100;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// TCP over cells: trains, cells one by one and every event tell the same.
    #[test]
    fn trains_change_nothing(plan in prop_oneof![any_cell_plan(), with_requests(any_cell_plan())]) {
        let trains = whole(&plan);
        accounts_of_requests_balance(&plan, &trains)?;
        accounts_of_cells_balance(&plan, &trains)?;
        let one_by_one = alone(1, &Plan { cells_one_by_one: true, ..plan });
        prop_assert_eq!(differs(&trains, &one_by_one), None);
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


    /// The same summary (but for the count of events) and the same columns as without fast paths, with TCP in the loop.
    #[test]
    fn fast_paths_change_nothing(
        plan in prop_oneof![
            any_plan(),
            any_private_plan(),
            any_dumbbell(),
            any_busy_dumbbell(),
            with_requests(any_plan()),
            with_requests(any_private_plan()),
            with_advice(with_requests(any_plan())),
            with_advice(any_private_plan()),
        ]
    ) {
        let result = whole(&plan);
        accounts_of_requests_balance(&plan, &result)?;
    }

    /// Rows of many ACKs of a flow that shares nothing, whatever interrupts them: a run without fast paths, a limit of events and a recording each
    /// take another way.
    #[test]
    fn rows_change_nothing(plan in any_lone_plan()) {
        let rows = whole(&plan);
        let limits = Limits { events: Some(u64::MAX), ..plan.limits };
        let in_order = whole(&Plan { limits, ..plan.clone() });
        let mut recorded = plan;
        recorded.record.level = RecordLevel::Every(Span::from_millis(10));
        for other in [in_order, whole(&recorded)] {
            prop_assert_eq!(summaries_differ(&rows.summary, &other.summary), None);
        }
    }

    /// What is recorded changes no summary: flows that nobody watches go a shorter way. Cells too.
    #[test]
    fn recording_changes_nothing(
        mut plan in prop_oneof![
            any_plan(),
            any_private_plan(),
            any_dumbbell(),
            any_busy_dumbbell(),
            any_cell_plan(),
            with_requests(any_plan()),
            with_requests(any_cell_plan()),
            with_advice(with_requests(any_plan())),
        ]
    ) {
        plan.record.level = RecordLevel::Summary;
        let unwatched = alone(1, &plan);
        plan.record.packets = true;
        let captured = alone(1, &plan);
        plan.record.level = RecordLevel::Events;
        let recorded = alone(1, &plan);
        plan.record.packets = false;
        plan.record.level = RecordLevel::Every(Span::from_millis(3));
        let now_and_then = alone(1, &plan);
        for watched in [captured, recorded, now_and_then] {
            prop_assert_eq!(summaries_differ(&unwatched.summary, &watched.summary), None);
        }
    }
}

/// Flows of a crowd, for a short time.
fn crowd(mut plan: Plan, millis: u64) -> Plan {
    plan.duration = Time::ZERO + Span::from_millis(millis);
    plan.warmup = Time::ZERO + Span::from_millis(50);
    plan
}

/// Two groups of every second flow, three flows alone, a row every 10 ms.
fn with_groups(mut plan: Plan) -> Plan {
    let of_group = |rest| (4..plan.flows.len()).filter(|flow| flow % 2 == rest).collect();
    let group = |rest| GroupPlan { name: format!("group {rest}"), flows: of_group(rest) };
    plan.record.groups = vec![group(0), group(1)];
    plan.record.flows = Some(vec![0, 2, 3]);
    plan.record.level = RecordLevel::Every(Span::from_millis(10));
    plan
}

/// The same summary and columns, and the same count of events, whatever the number of threads.
fn threads_change_nothing(plan: &Plan) -> Result<(), TestCaseError> {
    let one = alone(1, plan);
    for threads in [2, 5] {
        let several = alone(threads, plan);
        prop_assert!(one.summary == several.summary, "on {} threads", threads);
        prop_assert_eq!(tables_differ(&one, &several), None);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Cohorts of four flows: runs that go beyond alarms and are parted change nothing.
    #[test]
    fn parted_runs_change_nothing(plan in any_crowd(60)) {
        whole_on(2, &Plan { cohorts: SMALL, ..crowd(plan, 400) });
    }

    /// Nor does the number of threads, with flows in groups and alone.
    #[test]
    fn the_number_of_threads_changes_nothing(plan in any_crowd(60)) {
        threads_change_nothing(&Plan { cohorts: SMALL, ..with_groups(crowd(plan, 300)) })?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1))]

    /// As many flows, in cohorts as large, as in the product.
    #[test]
    fn runs_of_many_flows_are_parted(plan in any_crowd(CROWD)) {
        let plan = crowd(plan, 300);
        whole_on(2, &plan);
        threads_change_nothing(&with_groups(plan))?;
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
    let one_by_one = whole(&Plan { cells_one_by_one: true, ..plan });
    assert_eq!(trains.summary.flows, one_by_one.summary.flows);
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
        whole(&plan);
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
    // Captured packets have whole headers.
    for packets in [false, true] {
        plan.record.packets = packets;
        let unwatched = whole(&plan);
        let mut recorded = plan.clone();
        recorded.record.level = RecordLevel::Every(Span::from_millis(10));
        assert_eq!(unwatched.summary.flows, whole(&recorded).summary.flows);
    }
}
