//! Random plans of gates that pass packets.

use proptest::prelude::*;
use tidegate_core::plan::{
    AppPlan, CongestionPlan, ConnectionPlan, FlowPlan, GatePlan, HoldingPlan, Increase, JitterPlan, LossPlan,
    MarkovPlan, Plan, QueueLimit, RatePlan, RecordLevel, RequestLoop, RequestPlan, RtoPlan, RttTiming,
    ServerPlan, SizePlan, SourcePlan, StartPlan, TcpBase, TcpPlan, TcpRules, ThinkPlan, TrafficPlan,
};
use tidegate_core::units::{Rate, Span, Speed, Time};

use crate::any_video::any_video;
use crate::small::*;

pub(crate) fn any_rate() -> BoxedStrategy<RatePlan> {
    let rate = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    prop_oneof![
        4 => (1u64..20).prop_map(move |mbps| RatePlan::Constant(Speed::Bits(rate(mbps)))),
        1 => Just(RatePlan::Unlimited),
        1 => (200u64..3000).prop_map(|pps| RatePlan::Constant(Speed::Packets(pps * 1_000_000))),
        1 => (1u64..10, 2_000u64..20_000).prop_map(move |(mbps, burst_bytes)| RatePlan::TokenBucket {
            rate: rate(mbps),
            burst_bytes,
            initial_bytes: None, peak: Some(rate(mbps * 3)),
            peak_burst_bytes: None,
        }),
        1 => (2u64..10, 20u64..300).prop_map(move |(mbps, mean)| RatePlan::Markov(MarkovPlan {
            rates: vec![rate(mbps), rate(mbps / 2)],
            mean_holding: vec![Span::from_millis(mean); 2],
            transitions: None,
            step: None,
            initial: None,
        })),
    ]
    .boxed()
}

pub(crate) fn any_jitter() -> impl Strategy<Value = JitterPlan> {
    prop_oneof![
        4 => Just(JitterPlan::None),
        1 => (1u64..10).prop_map(|millis| JitterPlan::Uniform { most: Span::from_millis(millis) }),
        1 => (1u64..3_000).prop_map(|micros| JitterPlan::Exponential { mean: Span::from_micros(micros) }),
    ]
}

pub(crate) fn any_gate() -> impl Strategy<Value = GatePlan> {
    let limit = prop_oneof![Just(QueueLimit::Unlimited), (0u64..40).prop_map(QueueLimit::Packets)];
    let loss = prop_oneof![
        3 => Just(LossPlan::None),
        1 => Just(LossPlan::Independent { probability: 0.01 }),
        1 => Just(LossPlan::Every { units: 80 }),
    ];
    (any_rate(), limit, loss, 0u64..20, any_jitter()).prop_map(|(rate, limit, loss, delay, jitter)| {
        let mut gate = GatePlan::open("");
        gate.rate = rate;
        gate.queue.limit = limit;
        gate.loss = loss;
        gate.jitter = jitter;
        gate.delay = Span::from_millis(delay);
        gate
    })
}

pub(crate) fn any_tcp() -> BoxedStrategy<TcpPlan> {
    let cc = prop_oneof![
        Just(CongestionPlan::Tahoe { fast_retransmit: true }),
        Just(CongestionPlan::Reno),
        Just(CongestionPlan::NewReno),
        Just(CongestionPlan::Cubic),
        Just(CongestionPlan::Fixed { window: 20_000 }),
        Just(CongestionPlan::FixedRate { rate: Rate::from_bps(3_000_000), window: 40_000 }),
        Just(CongestionPlan::Bbr),
        Just(CongestionPlan::Bbr3),
        Just(CongestionPlan::Westwood),
        Just(CongestionPlan::Vegas),
        Just(CongestionPlan::Copa),
        Just(CongestionPlan::Ledbat),
        Just(CongestionPlan::Dctcp),
        Just(CongestionPlan::Prague),
    ];
    (cc, any::<[bool; 4]>())
        .prop_map(|(cc, [sack, delayed, timestamps, handshake])| TcpPlan {
            sack,
            timestamps,
            headers: if timestamps { 52 } else { 40 },
            handshake,
            delayed_ack: tcp(cc).delayed_ack.filter(|_| delayed),
            // A path may have no bottleneck.
            window: Some(100_000),
            ..tcp(cc)
        })
        .boxed()
}

/// Endpoints run ahead of the rest only where nothing is recorded.
pub(crate) fn any_record() -> impl Strategy<Value = RecordLevel> {
    prop_oneof![
        4 => Just(RecordLevel::Summary),
        1 => Just(RecordLevel::Events),
        1 => Just(RecordLevel::Every(Span::from_millis(7))),
    ]
}

/// Flows in networks of their own, or nearly: what is run ahead most.
pub(crate) fn any_private_plan() -> impl Strategy<Value = Plan> {
    let gates = prop::collection::vec(any_gate(), 8);
    let lengths = prop::collection::vec((1usize..4, 0usize..4, any_tcp(), 0u64..500), 1..3);
    let crossing = prop::option::of(prop::collection::vec(0usize..8, 1..3));
    (gates, lengths, crossing, any::<bool>(), any_app()).prop_map(
        |(gates, lengths, crossing, constant, app)| {
            let mut next = 0..;
            let mut take = |length: usize| next.by_ref().take(length).map(|gate: usize| gate % 8).collect();
            let flows = lengths
                .into_iter()
                .map(|(path, back, tcp, start)| (take(path), take(back), tcp, start))
                .collect();
            let mut plan = assemble((gates, flows, crossing, RecordLevel::Summary));
            for gate in &mut plan.gates {
                if constant {
                    gate.loss = LossPlan::None;
                    gate.queue.counts = tidegate_core::plan::QueueCounts::Waiting;
                    if !matches!(gate.rate, RatePlan::Constant(Speed::Bits(_))) {
                        gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(7_000_000)));
                    }
                }
            }
            for flow in &mut plan.flows {
                flow.app = app.clone();
            }
            plan
        },
    )
}

/// A flow in a network of its own whose ACKs come in rows for seconds, and what interrupts it: losses, timers, pauses, ends.
pub(crate) fn any_lone_plan() -> BoxedStrategy<Plan> {
    let gate = (1u64..40, 1u64..90, 0u64..40, 0u8..12).prop_map(|(mbps, packets, delay, special)| {
        let mut gate = link("", mbps, (packets < 80).then_some(packets), Span::from_millis(delay));
        match special {
            0 => gate.loss = LossPlan::Every { units: 150 },
            1 => gate.loss = LossPlan::Independent { probability: 0.003 },
            2 => gate.jitter = JitterPlan::Uniform { most: Span::from_millis(2) },
            3 => gate.rate = RatePlan::Unlimited,
            4 => gate.queue.limit = QueueLimit::Bytes(packets * 1000),
            _ => {}
        }
        gate
    });
    let app = prop_oneof![
        4 => Just(AppPlan::Bulk),
        1 => (1u64..3_000_000).prop_map(|bytes| AppPlan::Transfer { bytes }),
        1 => any_app(),
    ];
    let flow = (1usize..4, 0usize..4, any_lone_sender(), 0u64..300);
    (prop::collection::vec(gate, 6), flow, app, 300u64..5_000, 0u64..3_000)
        .prop_map(|(gates, (path, back, mut tcp, start), app, duration, warmup)| {
            if gates[..path].iter().all(|passed| passed.rate == RatePlan::Unlimited) {
                // Nothing else would hold the window.
                tcp.window = tcp.window.or(Some(100_000));
            }
            let paths = ((0..path).collect(), (path..path + back).collect());
            let mut plan =
                assemble((gates, vec![(paths.0, paths.1, tcp, start)], None, RecordLevel::Summary));
            plan.duration = Time::ZERO + Span::from_millis(duration);
            plan.warmup = Time::ZERO + Span::from_millis(warmup.min(duration - 1));
            plan.flows[0].app = app;
            plan
        })
        .boxed()
}

/// The TCP of a flow whose ACKs may come in rows: RFC or Linux, and the whole default of base `linux` now and then.
fn any_lone_sender() -> impl Strategy<Value = TcpPlan> {
    let window = prop_oneof![Just(400_000), 20_000u64..200_000];
    let rules = (any::<[bool; 4]>(), 0usize..3);
    let more = (any::<[bool; 2]>(), 0u8..4);
    (any_tcp(), window, rules, more).prop_map(
        |(plan, window, ([timed, aimd, linux, acks], rfc), ([grows, cubic], host))| {
            let aimd_plans = [
                CongestionPlan::Tahoe { fast_retransmit: true },
                CongestionPlan::Reno,
                CongestionPlan::NewReno,
            ];
            let host = host == 0;
            let linux = host || linux && plan.sack;
            let least = RtoPlan::Estimated {
                min: Span::from_millis(200),
                max: Span::from_secs(60),
                initial: Span::from_secs(if host { 1 } else { 3 }),
                tick: if timed && !host { Span::from_millis(10) } else { Span::ZERO },
            };
            let plan = TcpPlan {
                cc: if aimd { aimd_plans[rfc] } else { plan.cc },
                window: Some(window),
                rtt_timing: if timed { RttTiming::One } else { RttTiming::Every },
                rto: least,
                increase: if acks { Increase::PerAck } else { Increase::PerWindow },
                rules: if linux { TcpRules::LINUX } else { TcpRules::RFC },
                ..plan
            };
            if host { as_by_default(plan, grows, cubic) } else { plan }
        },
    )
}

/// The same with what `tcp.base = "linux"` says of everything else.
fn as_by_default(plan: TcpPlan, grows: bool, cubic: bool) -> TcpPlan {
    TcpPlan {
        base: TcpBase::Linux,
        cc: if cubic { CongestionPlan::Cubic } else { plan.cc },
        mss: 1448,
        headers: 52,
        initial_window: 10 * 1448,
        sack: true,
        timestamps: true,
        quick_acks: 16,
        delayed_ack: tcp(plan.cc).delayed_ack,
        rtt_timing: RttTiming::Every,
        window: plan.window.filter(|_| !grows),
        ..plan
    }
}

/// Many flows with access gates of their own that share a gate each way, and some data another before or
/// in place of it: the two halves of connections take turns.
pub(crate) fn any_dumbbell() -> impl Strategy<Value = Plan> {
    let access = (any_gate(), any_gate(), 0u64..15, 0u64..15, 0usize..3);
    let flows = prop::collection::vec((access, any_tcp(), 0u64..500, any_app()), 6..10);
    let shared = (any_gate(), any_gate(), any_gate());
    // Background traffic over the data's gates, or over that of the answers, or over none.
    let crossing = prop_oneof![Just(None), Just(Some(vec![0])), Just(Some(vec![1])), Just(Some(vec![2, 0]))];
    (flows, shared, crossing).prop_map(|(flows, (there, back, another), crossing)| {
        let mut gates = vec![there, back, another];
        let mut drafts = vec![];
        let mut apps = vec![];
        for ((mut enters, mut answers, data_delay, answer_delay, way), tcp, start, app) in flows {
            enters.delay = Span::from_millis(data_delay);
            answers.delay = Span::from_millis(answer_delay);
            let first = gates.len();
            gates.extend([enters, answers]);
            let path = [vec![first, 0], vec![first, 2, 0], vec![first, 2]];
            drafts.push((path[way].clone(), vec![first + 1, 1], tcp, start));
            apps.push(app);
        }
        let mut plan = assemble((gates, drafts, crossing, RecordLevel::Summary));
        for (flow, app) in plan.flows.iter_mut().zip(apps) {
            flow.app = ends_may_part(app);
        }
        plan
    })
}

/// Plain gates under load, which are passed in runs, by more flows; queues overflow, applications pause, and timers ring between
/// arrivals.
pub(crate) fn any_busy_dumbbell() -> impl Strategy<Value = Plan> {
    let rate = prop_oneof![Just(10u64), Just(100), Just(1000), 5u64..200];
    let draft = (any_tcp(), 0u64..900, any_app(), 0u64..40_000, 0u64..20_000, 0usize..4, rate);
    let crossing = prop_oneof![
        4 => Just(None),
        1 => Just(Some(vec![0])),
        1 => Just(Some(vec![1])),
        1 => Just(Some(vec![3, 0])),
    ];
    let shared = (5u64..120, 5u64..120, 5u64..60, 3u64..200, 0u64..5_000, crossing);
    (prop::collection::vec(draft, 6..40), shared).prop_map(|(flows, others)| {
        let (there, back, another, room, delay, background) = others;
        let micros = Span::from_micros;
        let mut gates = vec![
            link("", there, Some(room), micros(delay)),
            link("", back, Some(1000), micros(delay / 2)),
            link("", another, Some(room / 2 + 1), micros(delay + 10)),
            link("", there * 2, None, micros(delay)),
        ];
        let (mut drafts, mut apps) = (vec![], vec![]);
        for (tcp, start, app, data_delay, answer_delay, way, mbps) in flows {
            let first = gates.len();
            gates.extend([
                link("", mbps, Some(50), micros(data_delay)),
                link("", mbps, None, micros(answer_delay)),
                link("", mbps * 2, Some(100), micros(answer_delay / 2)),
                link("", mbps, Some(20), micros(data_delay / 3)),
            ]);
            let own = first + 2;
            let path = [vec![first, 0, own], vec![first, 0], vec![first, 2, 0, own], vec![first, 2]];
            drafts.push((path[way].clone(), vec![first + 1, 1, first + 3], tcp, start));
            apps.push(app);
        }
        let mut plan = assemble((gates, drafts, background, RecordLevel::Summary));
        for (flow, app) in plan.flows.iter_mut().zip(apps) {
            flow.app = ends_may_part(app);
        }
        plan
    })
}

/// The flows of a busy dumbbell so often that there are `least` or more, with gates of their own and starts a little apart, over
/// shared gates that are faster by as much. Now and then without what is an event of its own: another shared gate behind the
/// first one, and background traffic.
pub(crate) fn any_crowd(least: usize) -> impl Strategy<Value = Plan> {
    let ways = (prop::bool::weighted(0.8), 0..3_usize, 0..2_usize, 0..2_usize, prop::bool::weighted(0.2));
    (any_busy_dumbbell(), 0u64..3_000_000, ways).prop_map(
        move |(mut plan, apart, (bare, answers, before, behind, second))| {
            if bare {
                plan.traffic.clear();
                plan.flows.retain(|flow| flow.path.len() < 4);
            }
            let (shared, mut flows) = (4, std::mem::take(&mut plan.flows));
            for flow in &mut flows {
                // Answers pass a gate that all share, gates of their flow alone, or one of them.
                flow.back.retain(|gate| answers == 0 || *gate >= shared);
                flow.back.truncate(if answers == 2 { 1 } else { 3 });
                // Another gate that all share, with nothing that comes to it from elsewhere.
                if second && let Some(place) = flow.path.iter().position(|gate| *gate == 0) {
                    flow.path.insert(place + 1, 3);
                }
                // Data pass more gates of their flow alone.
                let first = plan.gates.len();
                plan.gates.extend(
                    (0..before + behind).map(|_| plan.gates[flow.path[0]].clone()).collect::<Vec<_>>(),
                );
                flow.path.splice(0..0, first..first + before);
                flow.path.extend(first + before..first + before + behind);
            }
            let own = plan.gates.split_off(shared);
            let copies = least.div_ceil(flows.len().max(1));
            for gate in &mut plan.gates {
                let times = copies as u64;
                if let RatePlan::Constant(Speed::Bits(rate)) = gate.rate {
                    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(rate.bps() * times)));
                }
                if let QueueLimit::Packets(packets) = gate.queue.limit {
                    gate.queue.limit = QueueLimit::Packets(packets * times);
                }
            }
            for copy in 0..copies {
                let place = |gate: &usize| if *gate < shared { *gate } else { *gate + copy * own.len() };
                plan.gates.extend(own.iter().cloned());
                for flow in &flows {
                    let mut flow = flow.clone();
                    flow.name = format!("{}.{copy}", flow.name);
                    flow.path = flow.path.iter().map(place).collect();
                    flow.back = flow.back.iter().map(place).collect();
                    if let StartPlan::At(at) = flow.start {
                        flow.start = StartPlan::At(at + Span::from_picos(apart * copy as u64));
                    }
                    plan.flows.push(flow);
                }
            }
            for (number, gate) in plan.gates.iter_mut().enumerate() {
                gate.name = format!("gate{number}");
            }
            plan
        },
    )
}

pub(crate) fn any_app() -> BoxedStrategy<AppPlan> {
    let rate = Rate::from_bps(2_000_000);
    prop_oneof![
        3 => Just(AppPlan::Bulk),
        1 => (1u64..300_000).prop_map(|bytes| AppPlan::Transfer { bytes }),
        1 => Just(AppPlan::Source(SourcePlan::Constant { rate, bytes: 1000 })),
        1 => Just(AppPlan::Source(SourcePlan::Poisson { rate, bytes: 700 })),
        1 => Just(AppPlan::Source(SourcePlan::OnOff {
            rate,
            bytes: 1500,
            on: HoldingPlan::Exponential(Span::from_millis(200)),
            off: HoldingPlan::Exponential(Span::from_millis(300)),
        })),
        2 => any_requests(),
        1 => any_video(),
    ]
    .boxed()
}

/// The application, or data where a shared server or new connections would have both ends in one order.
fn ends_may_part(app: AppPlan) -> AppPlan {
    match app {
        AppPlan::Request(plan) if plan.server.is_some() || plan.connection == ConnectionPlan::New => {
            AppPlan::Bulk
        }
        app => app,
    }
}

/// Requests of any kind; where they name a server it is number 0.
pub(crate) fn any_requests() -> impl Strategy<Value = AppPlan> {
    let size = |mean: u64| {
        prop_oneof![
            (1..2 * mean).prop_map(SizePlan::Constant),
            Just(SizePlan::Exponential { mean }),
            Just(SizePlan::Pareto { least: mean / 5, shape: 1.3, most: mean * 20 }),
        ]
    };
    let think = prop_oneof![
        (1u64..100).prop_map(|millis| ThinkPlan::Constant(Span::from_millis(millis))),
        (1u64..100).prop_map(|millis| ThinkPlan::Exponential(Span::from_millis(millis))),
        Just(ThinkPlan::List(vec![Span::from_micros(1), Span::from_millis(50)])),
    ];
    let count = prop::option::weighted(0.2, 1u64..9);
    let how = (any::<[bool; 3]>(), prop::option::of(1u64..4));
    (size(500), size(15_000), think, how, count).prop_map(
        |(request, response, think, ([shared, open, anew], outstanding), count)| {
            AppPlan::Request(Box::new(RequestPlan {
                server: shared.then_some(0),
                request,
                response,
                think,
                request_loop: if open { RequestLoop::Open } else { RequestLoop::Closed },
                outstanding: if open && !anew { outstanding } else { Some(1) },
                connection: if anew { ConnectionPlan::New } else { ConnectionPlan::Persistent },
                count,
                video: None,
            }))
        },
    )
}

/// Some flows of the plan ask instead.
pub(crate) fn with_requests(plan: impl Strategy<Value = Plan>) -> impl Strategy<Value = Plan> {
    (plan, prop::collection::vec(prop::option::of(any_requests()), 3)).prop_map(|(mut plan, apps)| {
        for (flow, app) in plan.flows.iter_mut().zip(apps) {
            flow.app = app.unwrap_or(AppPlan::Bulk);
        }
        plan
    })
}

pub(crate) fn any_plan() -> impl Strategy<Value = Plan> {
    prop::collection::vec(any_gate(), 1..5).prop_flat_map(|gates| {
        let count = gates.len();
        let route = move |least: usize| prop::collection::vec(0..count, least..4);
        let flows = prop::collection::vec((route(1), route(0), any_tcp(), 0u64..500), 1..4);
        (Just(gates), flows, prop::option::of(route(1)), any_record()).prop_map(assemble)
    })
}

pub(crate) type Draft =
    (Vec<GatePlan>, Vec<(Vec<usize>, Vec<usize>, TcpPlan, u64)>, Option<Vec<usize>>, RecordLevel);

pub(crate) fn assemble((mut gates, flows, crossing, record): Draft) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_millis(1_200));
    plan.warmup = Time::ZERO + Span::from_millis(300);
    for (n, gate) in gates.iter_mut().enumerate() {
        gate.name = format!("gate{n}");
    }
    plan.gates = gates;
    for (n, (path, back, tcp, start)) in flows.into_iter().enumerate() {
        plan.flows.push(FlowPlan {
            dscp: 0,
            name: format!("flow{n}"),
            path,
            back,
            start: StartPlan::At(Time::ZERO + Span::from_millis(start)),
            ..flow(vec![], AppPlan::Bulk, tcp)
        });
    }
    plan.traffic.extend(crossing.map(|path| TrafficPlan {
        name: "crossing".to_owned(),
        group: "bg".to_owned(),
        delays: true,
        path,
        start: StartPlan::At(Time::ZERO),
        source: SourcePlan::OnOff {
            rate: Rate::from_bps(3_000_000),
            bytes: 700,
            on: HoldingPlan::Exponential(Span::from_millis(100)),
            off: HoldingPlan::Exponential(Span::from_millis(100)),
        },
    }));
    plan.servers.push(ServerPlan { name: "server".to_owned(), rate: Some(Rate::from_bps(40_000_000)) });
    plan.record.level = record;
    plan
}
