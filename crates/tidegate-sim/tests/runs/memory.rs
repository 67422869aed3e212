//! What a run holds in memory, and the limit of it.
//!
//! Not a unit test: that would compile the whole simulator once more.

use tidegate_core::plan::{AppPlan, CongestionPlan, Plan, RecordLevel};
use tidegate_core::units::{Span, Time};
use tidegate_sim::{RunError, Stepper};

use crate::small::*;

/// A sender that knows no bound fills a queue without one.
fn filling() -> Plan {
    let plan = one_link(None, AppPlan::Bulk, tcp(CongestionPlan::Cubic));
    Plan { duration: Time::ZERO + Span::from_secs(100), ..plan }
}

/// Whether its limit stopped a run, and the bytes that it held then.
fn held_at_the_end(plan: &Plan) -> (bool, u64) {
    let mut stepper = Stepper::new(plan.clone(), &[], &mut |_| None).expect("a plan for the simulator");
    let stopped = match stepper.advance(plan.duration, &mut |_| true) {
        Ok(()) => false,
        Err(RunError::Limit(_)) => true,
        Err(other) => panic!("{other}"),
    };
    (stopped, stepper.memory_bytes())
}

#[test]
fn a_run_holds_little_more_than_its_limit_of_memory() {
    for level in [RecordLevel::Summary, RecordLevel::Events] {
        for limit in [50_000, 200_000, 1_000_000, 5_000_000] {
            let mut plan = filling();
            plan.record.level = level;
            plan.limits.memory_bytes = Some(limit);
            let (stopped, held) = held_at_the_end(&plan);
            assert!(!stopped || held <= 2 * limit + 32_000 + 2 * 2_000, "{limit}: {held}");
            assert!(stopped || held < limit, "{limit}: {held}");
        }
    }
}

#[test]
fn what_a_run_begins_with_counts() {
    let mut plan = filling();
    let copy = plan.flows[0].clone();
    plan.flows.extend((0..99).map(|_| copy.clone()));
    plan.limits.memory_bytes = Some(plan.start_bytes() / 2);
    assert!(plan.start_bytes() > 700_000 && held_at_the_end(&plan).0);
}
