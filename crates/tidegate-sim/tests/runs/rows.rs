//! Rows that are taken every so often: whoever is ahead, and at whichever instants.

use proptest::prelude::*;
use tidegate_core::plan::{JitterPlan, Limits, Plan, RatePlan, RecordLevel, StartPlan};
use tidegate_core::units::{Rate, Span, Speed, Time};

use crate::any::*;
use crate::twin::*;

/// How often rows are taken.
fn any_interval() -> impl Strategy<Value = Span> {
    prop_oneof![
        Just(Span::from_millis(1)),
        Just(Span::from_millis(3)),
        Just(Span::from_millis(10)),
        Just(Span::from_millis(100)),
        (300u64..40_000).prop_map(Span::from_micros),
    ]
}

/// Full segments take gates whole service times, and rows are taken as often as `each` of them pass: much happens at a row's very
/// instant.
fn fall_in_step(plan: &mut Plan, each: u64) {
    let service = Span::from_millis(1);
    for flow in &mut plan.flows {
        // 1000 bytes with headers, at 8 Mbit/s.
        flow.tcp.mss = 1_000 - flow.tcp.headers;
        flow.back_delay = service.saturating_mul(5);
        flow.start = StartPlan::At(Time::ZERO);
    }
    for gate in &mut plan.gates {
        if gate.rate != RatePlan::Unlimited {
            gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(8_000_000)));
        }
        gate.jitter = JitterPlan::None;
        gate.delay = service.saturating_mul(gate.delay.picos() / service.picos() % 20);
    }
    plan.record.level = RecordLevel::Every(service.saturating_mul(each));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Rows that are taken every so often are the same whether both ends are driven in order of time, as with a limit of events, or
    /// one may be ahead of the other, in long rows or not; and whether all segments have whole headers, as where packets are captured, or
    /// hardly any. Some rows are taken at the instants at which units come.
    #[test]
    fn rows_do_not_depend_on_who_is_ahead(
        mut plan in prop_oneof![
            any_plan(),
            any_private_plan(),
            any_dumbbell(),
            any_lone_plan(),
            with_requests(any_private_plan()),
        ],
        every in any_interval(),
        in_step in prop::option::weighted(0.2, 1u64..4),
    ) {
        plan.record.level = RecordLevel::Every(every);
        if let Some(each) = in_step {
            fall_in_step(&mut plan, each);
        }
        let ahead = whole(&plan);
        let limits = Limits { events: Some(u64::MAX), ..plan.limits };
        let mut captured = plan.clone();
        captured.record.packets = true;
        for other in [Plan { limits, ..plan }, captured] {
            let mut other = alone(1, &other);
            other.packets.clear();
            prop_assert_eq!(&ahead.summary.flows, &other.summary.flows);
            prop_assert_eq!(&ahead.summary.requests, &other.summary.requests);
            prop_assert_eq!(tables_differ(&ahead, &other), None);
        }
    }
}
