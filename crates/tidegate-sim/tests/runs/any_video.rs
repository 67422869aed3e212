//! Players of video.

use proptest::prelude::*;
use tidegate_core::plan::{
    AppPlan, ConnectionPlan, QoePlan, RequestLoop, RequestPlan, SizePlan, ThinkPlan, VideoPlan, VideoRule,
};
use tidegate_core::units::{Rate, Span};

/// A player of any kind, without a server.
pub(crate) fn any_video() -> impl Strategy<Value = AppPlan> {
    let rule = prop_oneof![
        Just(VideoRule::Fixed(1)),
        (1usize..6).prop_map(|samples| VideoRule::Throughput { safety: 0.9, samples }),
        Just(VideoRule::Bba { reservoir: Span::from_millis(200), cushion: Span::from_millis(700) }),
        Just(VideoRule::Bola { gamma_p: 5.0 }),
        any::<bool>().prop_map(|robust| VideoRule::Mpc { horizon: 3, samples: 3, robust }),
    ];
    (rule, 1u64..4, 100u64..500, prop_oneof![Just(u64::MAX), 1u64..9]).prop_map(
        |(rule, outstanding, millis, segments)| {
            let segment = Span::from_millis(millis);
            let video = VideoPlan {
                ladder: [100, 400, 1_500].map(|kbps| Rate::from_bps(kbps * 1_000)).to_vec(),
                segment,
                segments,
                sizes: None,
                buffer: Span::from_millis(1_000),
                join: segment,
                resume: segment,
                outstanding,
                rule,
                advice: None,
                qoe: QoePlan { switch: 1.0, stall: 3.0, join: 3.0 },
            };
            AppPlan::Request(Box::new(RequestPlan {
                server: None,
                request: SizePlan::Constant(300),
                response: SizePlan::Constant(1),
                think: ThinkPlan::Constant(Span::ZERO),
                request_loop: RequestLoop::Closed,
                outstanding: Some(outstanding),
                connection: ConnectionPlan::Persistent,
                count: (segments < u64::MAX).then_some(segments),
                video: Some(Box::new(video)),
            }))
        },
    )
}
