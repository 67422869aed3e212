//! Runs that stop and are steered: in any steps the result is that of a whole run.

use tidegate_core::plan::{AppPlan, CongestionPlan, Plan, RecordLevel};
use tidegate_core::units::{Rate, Span, Time};
use tidegate_sim::{RunError, Stepper};

use crate::small::*;
use crate::twin::*;

/// Losses, so that repairs are steered too.
fn plan(cc: CongestionPlan) -> Plan {
    let mut plan = one_link(Some(20), AppPlan::Bulk, tcp(cc));
    plan.duration = Time::ZERO + Span::from_secs(3);
    plan.record.level = RecordLevel::Every(Span::from_millis(50));
    plan
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

#[test]
fn steps_change_nothing() {
    let plan = plan(CongestionPlan::Cubic);
    let whole = whole(&plan);
    for step in [7, 350, 10_000] {
        let mut stepper = Stepper::new(plan.clone(), &[], &mut |_| None).expect("a plan for the simulator");
        while stepper.now() < stepper.until() {
            let next = stepper.now() + Span::from_millis(step);
            stepper.advance(next, &mut |_| true).expect("nobody interrupts");
        }
        let (_, result) = stepper.finish(&mut |_| true).expect("nobody interrupts");
        assert_eq!(result.summary.flows, whole.summary.flows);
        assert_eq!(result.summary.gates, whole.summary.gates);
        assert_eq!(tables_differ(&result, &whole), None);
    }
}

#[test]
fn a_window_that_is_left_alone_is_a_fixed_one() {
    let fixed = whole(&plan(CongestionPlan::Fixed { window: 10_000 }));
    let stepper =
        Stepper::new(plan(CongestionPlan::Cubic), &[0], &mut |_| None).expect("a plan for the simulator");
    let (ran, result) = stepper.finish(&mut |_| true).expect("nobody interrupts");
    assert_eq!(ran.flows[0].tcp.cc, CongestionPlan::Steered);
    assert_eq!(result.summary.flows[0].goodput_bps, fixed.summary.flows[0].goodput_bps);
}

#[test]
fn windows_and_paces_hold_from_the_instant_on() {
    let mut stepper =
        Stepper::new(plan(CongestionPlan::Reno), &[0], &mut |_| None).expect("a plan for the simulator");
    assert_eq!(stepper.start_of(0), Time::ZERO);
    stepper.advance(at(1000), &mut |_| true).expect("nobody interrupts");
    let first = stepper.look(0);
    // Ten segments in a round trip of 20 ms and the 10 ms in which they are served.
    assert_eq!(first.sender.cwnd, 10_000.0);
    assert!(first.heard.delivered_bytes > 300_000 && first.heard.lost_bytes == 0, "{:?}", first.heard);
    assert!(first.heard.round_trip_least >= Some(Span::from_millis(21)), "{:?}", first.heard);
    // Forty segments at once are more than the queue of twenty holds.
    stepper.steer(0, 60_000, None);
    stepper.advance(at(2000), &mut |_| true).expect("nobody interrupts");
    let second = stepper.look(0);
    assert_eq!(second.sender.cwnd, 60_000.0);
    assert!(second.heard.lost_bytes > 0 && second.counted.segments_retransmitted > 0, "{:?}", second.heard);
    // 2 Mbit/s of user data, whatever the window.
    stepper.steer(0, 60_000, Some(Rate::from_bps(2_000_000)));
    stepper.advance(at(2200), &mut |_| true).expect("nobody interrupts");
    let before = stepper.look(0).counted.bytes_sent;
    stepper.advance(at(2800), &mut |_| true).expect("nobody interrupts");
    let sent = stepper.look(0).counted.bytes_sent - before;
    assert!((149_000..=151_000).contains(&sent), "{sent}");
    assert_eq!(stepper.look(0).heard.delivered_bytes, 0);
    assert_eq!(stepper.look(0).completed, None);
}

#[test]
fn an_instant_that_has_passed_and_one_behind_the_end_are_taken_as_they_are_meant() {
    let mut stepper =
        Stepper::new(plan(CongestionPlan::Reno), &[], &mut |_| None).expect("a plan for the simulator");
    stepper.advance(at(500), &mut |_| true).expect("nobody interrupts");
    stepper.advance(at(100), &mut |_| true).expect("nobody interrupts");
    assert_eq!(stepper.now(), at(500));
    stepper.advance(at(99_000), &mut |_| true).expect("nobody interrupts");
    assert_eq!((stepper.now(), stepper.until()), (at(3000), at(3000)));
}

#[test]
fn a_stepper_can_be_interrupted_and_refuses_the_kernels_controllers() {
    let mut long = plan(CongestionPlan::Reno);
    long.duration = Time::ZERO + Span::from_secs(1000);
    let mut stepper = Stepper::new(long, &[], &mut |_| None).expect("a plan for the simulator");
    let until = stepper.until();
    assert!(matches!(stepper.advance(until, &mut |_| false), Err(RunError::Interrupted)));
    let kernels = plan(CongestionPlan::Kernel("yeah"));
    assert!(matches!(Stepper::new(kernels.clone(), &[], &mut |_| None), Err(RunError::NotHere(_))));
    // Steered, it has no controller of its own.
    assert!(Stepper::new(kernels, &[0], &mut |_| None).is_ok());
}
