//! Throughput advice in random plans.

use proptest::prelude::*;
use tidegate_core::effcap::Blocks;
use tidegate_core::plan::{
    AdvicePlan, AdviceSource, AppPlan, CongestionPlan, Course, Plan, PresentPlan, RatePlan, SconePlan, Share,
};
use tidegate_core::units::{PICOS_PER_SECOND, Rate, Span};

fn any_advice() -> impl Strategy<Value = AdvicePlan> {
    let source = prop_oneof![
        (50u64..20_000).prop_map(|kbps| AdviceSource::Rate(Rate::from_bps(kbps * 1_000))),
        Just(AdviceSource::Law),
        (1u64..200, 1u32..5, 1u32..5).prop_map(|(millis, samples, blocks)| AdviceSource::Estimate {
            every: Span::from_millis(millis),
            blocks: Blocks { samples, blocks },
        }),
    ];
    let among = (1u64..400, any::<bool>())
        .prop_map(|(millis, signalled)| PresentPlan { within: Span::from_millis(millis), signalled });
    (source, 1u64..5, prop::option::of(among)).prop_map(|(source, quarters, among)| AdvicePlan {
        source,
        share: Share::from_parts(PICOS_PER_SECOND / 4 * quarters.min(4)),
        among,
    })
}

/// Whether a gate of this law can tell that.
fn can_tell(advice: &AdvicePlan, law: &RatePlan) -> bool {
    match (advice.source, law.course()) {
        (AdviceSource::Rate(_), _) => true,
        (_, Course::Unlimited) => false,
        (AdviceSource::Law, course) => !law.counts_packets() && !matches!(course, Course::Opportunities(..)),
        (AdviceSource::Estimate { .. }, course) => !law.counts_packets() && !matches!(course, Course::Set(_)),
    }
}

/// Some gates of the plan give advice, and some flows listen.
pub(crate) fn with_advice(plan: impl Strategy<Value = Plan>) -> impl Strategy<Value = Plan> {
    let listens = (0u32..4, 10u64..400, any::<[bool; 2]>());
    let listeners = prop::collection::vec(prop::option::of(listens), 3);
    (plan, prop::collection::vec(prop::option::of(any_advice()), 8), listeners).prop_map(
        |(mut plan, advice, listeners)| {
            for (gate, own) in plan.gates.iter_mut().zip(advice) {
                let apt = own.filter(|each| !gate.is_cell_gate() && can_tell(each, &gate.rate));
                gate.advice = apt;
            }
            for (flow, own) in plan.flows.iter_mut().zip(listeners) {
                let Some((first, millis, [paced, capped])) = own else { continue };
                flow.scone = Some(SconePlan { first, every: Span::from_millis(millis) });
                let paces = flow.tcp.sack && !matches!(flow.tcp.cc, CongestionPlan::Tahoe { .. });
                flow.tcp.rules.obeys_advice = paced && paces;
                if let AppPlan::Request(requests) = &mut flow.app
                    && let Some(video) = &mut requests.video
                {
                    video.advice = capped.then_some(Share::ALL);
                }
            }
            plan
        },
    )
}
