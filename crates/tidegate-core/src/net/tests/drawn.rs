//! Networks and packets drawn at random.

use super::*;
use crate::gate::tests::classed::any_dress;

/// A flow's routes matter here, and whether its TCP wants to hear departures.
pub(super) fn flow(
    name: String,
    path: Vec<usize>,
    back: Vec<usize>,
    back_delay: Span,
    listens: bool,
) -> FlowPlan {
    let mut tcp: TcpPlan = plans::short();
    if listens {
        tcp.rto = RtoPlan::Fixed { rto: Span::from_millis(100), restart: RtoRestart::Departure };
    }
    FlowPlan {
        name,
        path,
        back,
        back_delay,
        start: StartPlan::At(Time::ZERO),
        app: AppPlan::Bulk,
        transport: TransportPlan::Tcp,
        tcp,
        dscp: 0,
        scone: None,
    }
}

pub(super) fn any_gate() -> BoxedStrategy<GatePlan> {
    let quick = prop_oneof![
        Just(RatePlan::Unlimited),
        (1u64..20).prop_map(|mbps| RatePlan::Constant(Speed::Bits(Rate::from_bps(mbps * 1_000_000)))),
    ];
    let express =
        (quick, 0u64..4, prop::option::of(0u64..20), any::<bool>()).prop_map(|(rate, delay, limit, host)| {
            let mut gate = GatePlan::open("");
            gate.rate = rate;
            gate.host = host;
            gate.delay = Span::from_millis(delay);
            gate.queue.limit = limit.map_or(QueueLimit::Unlimited, QueueLimit::Packets);
            gate.queue.counts = QueueCounts::Waiting;
            gate
        });
    let channel = (crate::gate::tests::any_gate(), crate::gate::rate::tests::any_channel(), any::<bool>())
        .prop_map(|(gate, dtm, rescale)| GatePlan {
            rate: RatePlan::Dtm(dtm),
            on_change: if rescale { OnChange::Rescale } else { OnChange::Keep },
            ..gate
        });
    let fed_back = prop_oneof![
        crate::gate::rate::tests::any_follow().prop_map(RatePlan::Follow),
        crate::gate::rate::tests::any_abr().prop_map(RatePlan::Abr),
    ];
    let fed_back =
        (crate::gate::tests::any_gate(), fed_back, any::<bool>()).prop_map(|(gate, rate, rescale)| {
            GatePlan {
                rate,
                on_change: if rescale { OnChange::Rescale } else { OnChange::Keep },
                host: rescale,
                ..gate
            }
        });
    prop_oneof![
        6 => express, 2 => crate::gate::tests::any_gate(), 2 => channel, 4 => fed_back,
        1 => random_calls::any_circuit()
    ]
    .boxed()
}

/// Lets each follower follow some gate, perhaps itself, and gives ABR sources their switches.
pub(super) fn led(mut plan: Plan, leaders: &[usize]) -> Plan {
    let count = plan.gates.len();
    let followers = plan.gates.iter_mut().filter_map(|gate| match &mut gate.rate {
        RatePlan::Follow(follow) => Some(follow),
        _ => None,
    });
    for (follow, leader) in followers.zip(leaders.iter().cycle()) {
        follow.gate = leader % count;
    }
    let switch = |(number, leader): (usize, &usize)| SwitchPlan {
        gate: leader % count,
        every: Span::from_millis(3 + number as u64),
        utilisation: 0.9,
        binary: number == 1,
    };
    plan.switches = leaders.iter().enumerate().map(switch).collect();
    for (number, gate) in plan.gates.iter_mut().enumerate() {
        if let RatePlan::Abr(abr) = &mut gate.rate {
            abr.switch = number % leaders.len();
        }
    }
    plan
}

/// Puts every other channel into one pool with `spare` bit/s beside their initial rates.
pub(super) fn pooled(mut plan: Plan, spare: u64) -> Plan {
    let mut initial = 0;
    let channels = plan.gates.iter_mut().filter_map(|gate| match &mut gate.rate {
        RatePlan::Dtm(dtm) => Some(dtm),
        _ => None,
    });
    for dtm in channels.step_by(2) {
        dtm.pool = Some(0);
        initial += dtm.initial.bps();
    }
    let capacity = Rate::from_bps(initial + spare);
    plan.pools = vec![PoolPlan { name: "pool".to_owned(), capacity, order: PoolOrder::Asked }];
    plan
}

/// The rates in force in the pool.
pub(super) fn rates_in_pool(plan: &Plan, network: &Network) -> u64 {
    let gates = plan.gates.iter().zip(network.gates());
    let pooled = gates.filter(|(gate, _)| matches!(&gate.rate, RatePlan::Dtm(dtm) if dtm.pool.is_some()));
    pooled.filter_map(|(_, gate)| gate.rate_set()).map(Rate::bps).sum()
}

pub(super) fn any_network() -> impl Strategy<Value = Plan> {
    let gates = prop::collection::vec(any_gate(), 1..7);
    gates.prop_flat_map(|gates| {
        let count = gates.len();
        let route = move |least: usize| prop::collection::vec(0..count, least..5);
        let flows = prop::collection::vec((route(1), route(0), 0u64..30, any::<bool>()), 1..6);
        let sources = prop::collection::vec((route(1), 0u32..3, 1u64..4), 0..3);
        let kinds =
            prop_oneof![Just(SignalKind::Capacity), Just(SignalKind::Arrivals), Just(SignalKind::Drops)];
        let signal = (0..count, kinds, 1u64..40, 0u64..60).prop_map(|(gate, kind, every, lag)| SignalPlan {
            gate,
            kind,
            every: Span::from_millis(every),
            lag: Span::from_millis(lag),
        });
        let signals = prop::collection::vec(signal, 0..3);
        let spare = 0u64..3_000_000;
        let leaders = prop::collection::vec(0..count, 1..4);
        let calls = random_calls::any_calls();
        (Just(gates), flows, sources, any::<bool>(), signals, spare, (leaders, calls)).prop_map(
            |(gates, flows, sources, recorded, signals, spare, (leaders, calls))| {
                let plan = network(gates, flows, sources, recorded);
                let plan = led(pooled(Plan { signals, ..plan }, spare), &leaders);
                random_calls::reserved(plan, calls)
            },
        )
    })
}

/// Networks as [`any_network`] draws them; some of the gates have classes.
pub(super) fn any_classed_network() -> impl Strategy<Value = Plan> {
    let dresses = prop::collection::vec(prop::option::weighted(0.5, any_dress()), 7);
    (any_network(), dresses).prop_map(|(mut plan, dresses)| {
        for (gate, dress) in plan.gates.iter_mut().zip(dresses) {
            if let (Some(dress), false) = (dress, matches!(gate.rate, RatePlan::Reserve(_))) {
                *gate = dress.put_on(gate.clone());
            }
        }
        plan
    })
}

/// Networks as [`any_network`] draws them; some of the queues decide when a unit would be served.
pub(super) fn any_judged_network() -> impl Strategy<Value = Plan> {
    let judges = prop::collection::vec(prop::option::weighted(0.6, crate::gate::tests::any_judge()), 7);
    (any_network(), judges).prop_map(|(mut plan, judges)| {
        for (gate, judge) in plan.gates.iter_mut().zip(judges) {
            gate.queue.discipline = judge.unwrap_or(gate.queue.discipline);
        }
        plan
    })
}

/// Networks as [`any_network`] draws them, with queues that drop or mark by their average length, markers, policers of each flow and
/// second buckets.
pub(super) fn any_network_with_extras() -> impl Strategy<Value = Plan> {
    let extras = prop::collection::vec(prop::option::weighted(0.6, crate::gate::tests::any_extras()), 7);
    (any_network(), extras).prop_map(|(mut plan, extras)| {
        for (gate, more) in plan.gates.iter_mut().zip(extras) {
            if let Some(more) = more {
                more.given_to(gate);
            }
        }
        plan
    })
}

/// Asks how long packets of most background sources are on their way; one of them sends media.
pub(super) fn followed(mut plan: Plan) -> Plan {
    for (number, row) in plan.traffic.iter_mut().enumerate() {
        row.delays = number > 0 || row.path.len().is_multiple_of(2);
        if matches!(row.source, SourcePlan::Constant { .. }) {
            row.source = SourcePlan::Media(Box::new(any_media(number as u64)));
        }
    }
    plan
}

/// Frames of one packet, or of several at once or spread.
fn any_media(number: u64) -> MediaPlan {
    let key = KeyFramesPlan { every: 3, size: SizePlan::Constant(4000) };
    MediaPlan {
        frames_per_1000_s: 49_970 * (number + 1),
        frame: SizePlan::Exponential { mean: 1000 },
        key_frames: (number > 0).then_some(key),
        packet: 540,
        headers: 40,
        spread: Span::from_millis(5 * number),
        deadline: Some(Span::from_millis(10)),
    }
}

pub(super) type FlowDraft = (Vec<usize>, Vec<usize>, u64, bool);

pub(super) fn network(
    mut gates: Vec<GatePlan>,
    flows: Vec<FlowDraft>,
    sources: Vec<(Vec<usize>, u32, u64)>,
    recorded: bool,
) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_millis(200));
    plan.warmup = Time::ZERO + Span::from_millis(20);
    for (n, gate) in gates.iter_mut().enumerate() {
        gate.name = format!("gate{n}");
    }
    plan.gates = gates;
    for (n, (path, back, delay, listens)) in flows.into_iter().enumerate() {
        plan.flows.push(flow(format!("flow{n}"), path, back, Span::from_millis(delay), listens));
    }
    for (n, (path, kind, mbps)) in sources.into_iter().enumerate() {
        let (rate, bytes) = (Rate::from_bps(mbps * 1_000_000), 500);
        let source = match kind {
            0 => SourcePlan::Constant { rate, bytes },
            1 => SourcePlan::Poisson { rate, bytes },
            _ => SourcePlan::OnOff {
                rate,
                bytes,
                on: HoldingPlan::Constant(Span::from_millis(5)),
                off: HoldingPlan::Exponential(Span::from_millis(5)),
            },
        };
        plan.traffic.push(TrafficPlan {
            name: format!("bg{n}"),
            group: "bg".to_owned(),
            delays: false,
            path,
            start: StartPlan::At(Time::ZERO),
            source,
        });
    }
    if recorded {
        plan.record.level = crate::plan::RecordLevel::Every(Span::from_millis(3));
    }
    plan
}

/// A cell gate: one rate, steps, a shaper, slots; any queue.
pub(super) fn any_cell_gate() -> BoxedStrategy<GatePlan> {
    let mbps = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    let rate = prop_oneof![
        4 => (1u64..40).prop_map(move |n| RatePlan::Constant(Speed::Bits(mbps(n)))),
        1 => (1u64..40, 1u64..40).prop_map(move |(one, two)| RatePlan::Steps {
            steps: vec![
                (Time::ZERO, Speed::Bits(mbps(one))),
                (Time::ZERO + Span::from_millis(30), Speed::Bits(mbps(two))),
            ],
            repeat: None,
        }),
        2 => (1u64..20, 0u64..40, any::<bool>()).prop_map(move |(n, tolerance, tat)| {
            let tolerance = Span::from_micros(if tolerance < 20 { 0 } else { tolerance });
            let increment = Interval::at_rate(424, mbps(n)).expect("a rate");
            RatePlan::Gcra(GcraPlan {
                limit: Limit::new(increment, tolerance.picos()).expect("a limit"),
                link: mbps(30),
                release: if tat { Release::Tat } else { Release::Earliest },
            })
        }),
    ];
    let rate = prop_oneof![6 => rate, 1 => crate::gate::rate::tests::any_follow().prop_map(RatePlan::Follow), 1 => crate::gate::rate::tests::any_abr().prop_map(RatePlan::Abr)];
    let limit = prop_oneof![
        2 => Just(QueueLimit::Unlimited),
        3 => (0u64..80).prop_map(QueueLimit::Cells),
        1 => Just(QueueLimit::Cells(0)),
    ];
    let discard = (
        prop::option::weighted(0.3, 0u64..40),
        prop::bool::weighted(0.3),
        prop::option::weighted(0.15, crate::gate::tests::any_police(100)),
        prop::option::weighted(0.15, prop_oneof![Just(0u64), 0u64..40]),
    );
    let rest = (0u64..4, any::<[bool; 3]>(), prop::bool::weighted(0.1), crate::gate::tests::any_jitter());
    (rate, limit, discard, rest)
        .prop_map(
            |(rate, limit, (epd, ppd, police, tagged), (delay, [slotted, simple, llc], all, jitter))| {
                let mut gate = GatePlan::open("");
                gate.cells = CellPlan {
                    slotted: slotted && matches!(rate, RatePlan::Constant(_)),
                    epd,
                    ppd,
                    reassembly: if simple { Reassembly::Simple } else { Reassembly::Aal5 },
                };
                gate.framing = Framing::Aal5 { llc };
                gate.police = police;
                gate.jitter = jitter;
                gate.queue.tagged = tagged;
                gate.rate = rate;
                gate.queue.limit = limit;
                gate.queue.counts =
                    if all && !gate.cells.slotted { QueueCounts::All } else { QueueCounts::Waiting };
                gate.delay = Span::from_millis(delay);
                gate
            },
        )
        .boxed()
}

/// Cell gates and others; routes lead from lower numbers to higher ones, as sections demand.
pub(super) fn any_cell_network() -> impl Strategy<Value = Plan> {
    let gates = prop::collection::vec(prop_oneof![4 => any_cell_gate(), 1 => any_gate()], 1..6);
    gates.prop_flat_map(|gates| {
        let count = gates.len();
        let route = move |least: usize| {
            prop::collection::btree_set(0..count, least..=count).prop_map(|set| set.into_iter().collect())
        };
        let flows = prop::collection::vec((route(1), route(0), 0u64..30, any::<bool>()), 1..5);
        let sources = prop::collection::vec((route(1), 0u32..3, 1u64..4), 0..3);
        let leaders = prop::collection::vec(0..count, 1..4);
        let calls = random_calls::any_calls();
        (Just(gates), flows, sources, prop::bool::weighted(0.2), leaders, calls).prop_map(
            |(gates, flows, sources, recorded, leaders, calls)| {
                random_calls::reserved(led(network(gates, flows, sources, recorded), &leaders), calls)
            },
        )
    })
}

/// Networks as [`any_cell_network`] draws them; some of the cell gates have classes. Slotted gates have none: there cells of one slot
/// are in random order.
pub(super) fn any_classed_cell_network() -> impl Strategy<Value = Plan> {
    let dresses = prop::collection::vec(prop::option::weighted(0.6, any_dress()), 6);
    (any_cell_network(), dresses).prop_map(|(mut plan, dresses)| {
        for (gate, dress) in plan.gates.iter_mut().zip(dresses) {
            if let (Some(dress), true, false) = (dress, gate.is_cell_gate(), gate.cells.slotted) {
                *gate = dress.put_on(gate.clone());
            }
        }
        plan
    })
}

pub(super) fn entries() -> impl Strategy<Value = Vec<(u64, usize, u32)>> {
    // Some at whole milliseconds, where intervals end and rates change.
    let gap = prop_oneof![0u64..2_000_000_000, (0u64..4).prop_map(|ms| ms * 1_000_000_000)];
    let bytes = prop_oneof![3 => Just(1500u32), 1 => 40u32..1500];
    prop::collection::vec((gap, 0usize..10, bytes), 1..150)
}
