//! Units that never leave the gate before: they arrive at [`Time::NEVER`].

use super::*;

/// From the unit before to then, the trace repeats 6 × 10^9 times and the discipline adapts 4 × 10^7 times.
#[test]
fn what_never_comes_is_not_waited_for() {
    let trace = OpportunityTrace {
        at: vec![Time::ZERO, Time::ZERO + Span::from_millis(2)],
        period: Span::from_millis(3),
        bytes: 1500,
    };
    let trace = RatePlan::Opportunities { trace: trace.into(), at_end: AtEnd::Repeat };
    let adaptive = Discipline::Red(RedPlan {
        adaptive: Some(RedAdaptivePlan::DEFAULT),
        ..RedPlan::default_for(Span::from_millis(1))
    });
    let red = QueuePlan { discipline: adaptive, ..QueuePlan::UNLIMITED };
    for plan in [
        GatePlan { rate: trace, ..GatePlan::open("link") },
        GatePlan { queue: red, ..link(1_000_000, QueueLimit::Unlimited) },
    ] {
        let mut gate = Gate::new(&plan, context(RecordLevel::Summary));
        assert!(gate.pass(MEASURED.from, &mut unit(1500, 0), &MEASURED).is_some());
        let before = gate.counters().arrived();
        for n in 1..4 {
            assert_eq!(gate.pass(Time::NEVER, &mut unit(1500, n), &MEASURED), Some(Time::NEVER));
        }
        assert_eq!(gate.counters().arrived(), before);
    }
}
