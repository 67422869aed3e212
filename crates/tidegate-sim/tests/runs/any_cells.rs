//! Random plans with cell gates.

use std::sync::Arc;

use proptest::prelude::*;
use tidegate_core::gcra::{Conformance, Interval, Limit, Release};
use tidegate_core::plan::{
    CellPlan, Framing, GatePlan, GcraPlan, JitterPlan, LossPlan, MessageLength, MessagePlan, Plan,
    PolicePlan, QueueLimit, RatePlan, Reassembly, SourcePlan, StartPlan, TrafficPlan,
};
use tidegate_core::random::TruncatedGeometric;
use tidegate_core::units::{Rate, Span, Speed, Time};

use crate::any::*;

/// A cell gate of any kind. Its number decides nothing: routes lead from lower to higher ones.
pub(crate) fn any_cell_gate() -> BoxedStrategy<GatePlan> {
    let mbps = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    let rate = prop_oneof![
        4 => (1u64..30).prop_map(move |n| RatePlan::Constant(Speed::Bits(mbps(n)))),
        2 => (1u64..20, 0u64..3).prop_map(move |(n, tolerance)| RatePlan::Gcra(GcraPlan {
            limit: Limit::new(
                Interval::at_rate(424, mbps(n)).expect("a rate"),
                Span::from_micros(tolerance * 20).picos(),
            )
            .expect("a limit"),
            link: mbps(30),
            release: if n.is_multiple_of(2) { Release::Tat } else { Release::Earliest },
        })),
        1 => (1u64..20).prop_map(move |n| RatePlan::Steps {
            steps: vec![
                (Time::ZERO, Speed::Bits(mbps(n))),
                (Time::ZERO + Span::from_millis(500), Speed::Bits(mbps(n / 2 + 1))),
            ],
            repeat: None,
        }),
        1 => Just(RatePlan::Unlimited),
    ];
    let limit = prop_oneof![2 => Just(QueueLimit::Unlimited), 3 => (0u64..400).prop_map(QueueLimit::Cells)];
    let discard = (prop::option::weighted(0.2, 1u64..200), prop::bool::weighted(0.2));
    let discard = (discard, prop::option::weighted(0.2, any_police()));
    let loss = prop::bool::weighted(0.15);
    (rate, limit, discard, any::<[bool; 2]>(), (0u64..10, any_jitter()), loss)
        .prop_map(|(rate, limit, ((epd, ppd), police), [slotted, simple], (delay, jitter), loss)| {
            let mut gate = GatePlan::open("");
            let slotted = slotted && matches!(rate, RatePlan::Constant(_));
            gate.cells = CellPlan {
                slotted,
                epd,
                ppd,
                reassembly: if simple { Reassembly::Simple } else { Reassembly::Aal5 },
            };
            gate.framing = Framing::Aal5 { llc: false };
            gate.rate = rate;
            gate.queue.limit = limit;
            if let Some((police, threshold)) = police {
                gate.police = Some(police);
                gate.queue.tagged = Some(threshold);
            }
            // A cell is drawn for itself.
            gate.jitter = match jitter {
                JitterPlan::Uniform { most } => {
                    JitterPlan::Uniform { most: Span::from_picos(most.picos() / 50) }
                }
                other => other,
            };
            if loss && !slotted {
                gate.loss = LossPlan::Independent { probability: 0.0005 };
            }
            gate.delay = Span::from_millis(delay);
            gate
        })
        .boxed()
}

/// So many cells at once, and then so many megabits of them a second.
pub(crate) fn cell_limit(mbps: u64, cells: u64) -> Limit {
    let increment = Interval::at_rate(424, Rate::from_bps(mbps * 1_000_000)).expect("a rate");
    Limit::tokens(increment, cells).expect("few cells")
}

/// A policer of cells, and at how many waiting what it tags is dropped.
pub(crate) fn any_police() -> impl Strategy<Value = (PolicePlan, u64)> {
    let conformance = prop_oneof![Just(Conformance::Vbr1), Just(Conformance::Vbr2), Just(Conformance::Vbr3)];
    let sustained = prop::option::of((1u64..200, conformance));
    (2u64..30, 1u64..100, any::<bool>(), sustained, 0u64..100).prop_map(
        move |(mbps, cells, tags, sustained, threshold)| {
            let sustained = sustained.map(|(burst, which)| (cell_limit(mbps / 2, burst), which));
            (PolicePlan { peak: cell_limit(mbps, cells), sustained, tags, per_flow: None }, threshold)
        },
    )
}

/// Flows and sources over cell gates and others, in each direction.
pub(crate) fn any_cell_plan() -> impl Strategy<Value = Plan> {
    let gates = prop::collection::vec(prop_oneof![4 => any_cell_gate(), 1 => any_gate()], 2..6);
    gates.prop_flat_map(|gates| {
        let count = gates.len();
        let route = move |least: usize| {
            prop::collection::btree_set(0..count, least..=count.min(3))
                .prop_map(|set| set.into_iter().collect::<Vec<usize>>())
        };
        let flows = prop::collection::vec((route(1), route(0), any_tcp(), 0u64..500), 1..4);
        let crossing = prop::collection::vec((route(1), 1u64..8, any::<bool>()), 0..3);
        (Just(gates), flows, crossing, any_record()).prop_map(|(gates, flows, crossing, record)| {
            let mut plan = assemble((gates, flows, None, record));
            let lengths = Arc::new(TruncatedGeometric::new(10, 60).expect("it has one"));
            plan.traffic.extend(crossing.into_iter().enumerate().map(|(n, (path, mbps, exponential))| {
                TrafficPlan {
                    name: format!("crossing{n}"),
                    group: "bg".to_owned(),
                    delays: n == 0,
                    path,
                    start: StartPlan::At(Time::ZERO),
                    source: SourcePlan::Messages(MessagePlan {
                        load: Rate::from_bps(mbps * 1_000_000),
                        exponential,
                        length: MessageLength::Geometric(Arc::clone(&lengths)),
                        llc: false,
                    }),
                }
            }));
            plan
        })
    })
}
