//! A slotted multiplexer of many circuits, as the shaping paper has it: dense enough that slots are
//! gone through many at once.

use super::*;

/// A constant rate or a shaper, at the multiplexer's rate or below, sometimes with a queue that
/// loses cells.
fn any_source() -> impl Strategy<Value = GatePlan> {
    let rate = prop_oneof![Just(150u64), Just(15), Just(75), 2u64..150];
    let queue = prop_oneof![3 => Just(QueueLimit::Unlimited), 1 => (1u64..40).prop_map(QueueLimit::Cells)];
    (rate, any::<bool>(), queue, 0u64..3).prop_map(|(mbps, shaped, queue, delay)| {
        let mut gate = cell_gate(mbps, queue);
        if shaped {
            let increment = Interval::at_rate(424, Rate::from_bps(mbps * 1_000_000)).expect("a rate");
            gate.rate = RatePlan::Gcra(GcraPlan {
                limit: Limit::new(increment, 0).expect("a limit"),
                link: Rate::from_bps(150_000_000),
                release: Release::Tat,
            });
        }
        gate.delay = Span::from_micros(delay * 212);
        gate
    })
}

fn cell_gate(mbps: u64, queue: QueueLimit) -> GatePlan {
    let mut gate = GatePlan::open("");
    gate.framing = Framing::Aal5 { llc: false };
    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(mbps * 1_000_000)));
    gate.queue.limit = queue;
    gate
}

/// Sources through one multiplexer of 150 Mbit/s, a slot of 2.83 us.
pub(super) fn any_multiplexer() -> impl Strategy<Value = Plan> {
    let limit = prop_oneof![
        1 => Just(QueueLimit::Unlimited),
        4 => (0u64..60).prop_map(QueueLimit::Cells),
    ];
    let sources = prop::collection::vec((any_source(), any::<bool>()), 2..9);
    let by_cell = (
        prop::option::weighted(0.2, crate::gate::tests::any_police(100)),
        prop::option::weighted(0.2, 0u64..40),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
    );
    (sources, limit, any::<bool>(), 0u64..3, by_cell).prop_map(
        |(sources, limit, simple, warmup, (police, epd, ppd, jitters))| {
            let mut multiplexer = cell_gate(150, limit);
            multiplexer.cells.slotted = true;
            multiplexer.police = police;
            multiplexer.cells.epd = epd.filter(|_| ppd || jitters);
            multiplexer.cells.ppd = ppd;
            if jitters {
                multiplexer.jitter = JitterPlan::Uniform { most: Span::from_micros(50) };
            }
            multiplexer.cells.reassembly = if simple { Reassembly::Simple } else { Reassembly::Aal5 };
            let mut gates = vec![multiplexer];
            let (mut flows, mut traffic) = (vec![], vec![]);
            for (gate, is_flow) in sources {
                gates.push(gate);
                let path = vec![gates.len() - 1, 0];
                if is_flow {
                    flows.push((path, vec![], 0, false));
                } else {
                    traffic.push((path, traffic.len() as u32 % 3, 5));
                }
            }
            if flows.is_empty() {
                flows.push((vec![0], vec![], 0, false));
            }
            let mut plan = network(gates, flows, traffic, false);
            plan.duration = Time::ZERO + Span::from_millis(30);
            plan.warmup = Time::ZERO + Span::from_millis(warmup * 5);
            plan
        },
    )
}

/// Often together, sometimes a whole number of slots apart.
pub(super) fn dense_entries() -> impl Strategy<Value = Vec<(u64, usize, u32)>> {
    let gap = prop_oneof![Just(0u64), 0u64..500_000_000, (0u64..100).prop_map(|n| n * 8_480_000)];
    let bytes = prop_oneof![Just(1512u32), Just(9220), 40u32..9220];
    prop::collection::vec((gap, 0usize..20, bytes), 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Many slots at once give the results of slots one by one, and of a run with every event.
    #[test]
    fn many_slots_at_once_change_nothing(
        plan in any_multiplexer(),
        entries in dense_entries(),
        every in prop::option::of(5u64..5_000),
    ) {
        let mut plan = plan;
        if let Some(every) = every {
            plan.record.level = crate::plan::RecordLevel::Every(Span::from_micros(every));
        }
        let trains = outcome_of(&plan, &entries, None);
        let one_by_one = outcome_of(&Plan { cells_one_by_one: true, ..plan.clone() }, &entries, None);
        prop_assert_eq!(first_difference(&trains, &one_by_one), None);
        let exact = outcome_of(&Plan { exact: true, ..plan }, &entries, None);
        prop_assert_eq!(first_difference(&trains, &exact), None);
    }
}
