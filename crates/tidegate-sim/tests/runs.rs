//! Whole runs: run-ahead against exact events with TCP in the loop, limits, interruption, and
//! what limits a flow where the cause is known.

#![allow(missing_docs, reason = "tests")]

use std::sync::Arc;

use proptest::prelude::*;
use tidegate_core::gate::{Gate, GateContext, Precision};
use tidegate_core::gcra::{Conformance, Interval, Limit, Release};
use tidegate_core::net::seed;
use tidegate_core::plan::{
    AppPlan, CellPlan, CongestionPlan, ConnectionPlan, DelayedAckPlan, FlowPlan, Framing, GatePlan, GcraPlan,
    HoldingPlan, Increase, JitterPlan, LossPlan, MarkovPlan, MessageLength, MessagePlan, OnChange, Pace,
    Plan, PolicePlan, QueueLimit, RatePlan, Reassembly, RecordLevel, RequestPlan, RtoPlan, RttTiming,
    ServerPlan, SizePlan, SourcePlan, SsthreshRounding, StartPlan, TcpBase, TcpPlan, TcpRules, ThinkPlan,
    TickPhase, TrafficPlan,
};
use tidegate_core::random::TruncatedGeometric;
use tidegate_core::units::{Measured, Rate, Span, Speed, Time};
use tidegate_sim::{Column, RunError, RunResult, Side, Table, run};

fn tcp(cc: CongestionPlan) -> TcpPlan {
    TcpPlan {
        base: TcpBase::Rfc,
        cc,
        mss: 1000,
        headers: 40,
        window: None,
        initial_window: 10_000,
        initial_ssthresh: None,
        increase: Increase::PerWindow,
        dupthresh: Some(3),
        sack: true,
        limited_transmit: true,
        ssthresh_rounding: SsthreshRounding::Exact,
        go_back_n: false,
        guard: true,
        phase: TickPhase::Common,
        rto: RtoPlan::Estimated {
            min: Span::from_millis(200),
            max: Span::from_secs(60),
            initial: Span::from_secs(1),
            tick: Span::ZERO,
        },
        delayed_ack: Some(DelayedAckPlan {
            every: 2,
            timeout: Some(Span::from_millis(40)),
            tick: Span::ZERO,
        }),
        quick_acks: 0,
        rules: TcpRules::RFC,
        handshake: true,
        timestamps: false,
        rtt_timing: RttTiming::Every,
        idle_restart: true,
    }
}

fn link(name: &str, mbps: u64, packets: Option<u64>, delay: Span) -> GatePlan {
    let mut gate = GatePlan::open(name);
    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(mbps * 1_000_000)));
    gate.queue.limit = packets.map_or(QueueLimit::Unlimited, QueueLimit::Packets);
    gate.delay = delay;
    gate
}

fn flow(path: Vec<usize>, app: AppPlan, tcp: TcpPlan) -> FlowPlan {
    FlowPlan {
        name: "bulk".to_owned(),
        path,
        back: vec![],
        back_delay: Span::from_millis(10),
        start: StartPlan::At(Time::ZERO),
        app,
        tcp,
    }
}

fn one_link(packets: Option<u64>, app: AppPlan, tcp: TcpPlan) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_secs(10));
    plan.gates.push(link("link", 8, packets, Span::from_millis(10)));
    plan.flows.push(flow(vec![0], app, tcp));
    plan
}

fn whole(plan: &Plan) -> RunResult {
    run(plan, &mut |_| true).expect("nobody interrupts")
}

fn share(result: &RunResult, name: &str) -> f64 {
    result.summary.flows[0].limited_by.get(name).copied().unwrap_or(0.0)
}

#[test]
fn a_long_download_is_limited_by_its_link() {
    let result = whole(&one_link(Some(100), AppPlan::Bulk, tcp(CongestionPlan::Cubic)));
    assert!(share(&result, "gate.link") > 0.95, "{:?}", result.summary.flows[0].limited_by);
}

#[test]
fn a_small_window_limits() {
    let plan = TcpPlan { window: Some(5_000), delayed_ack: None, ..tcp(CongestionPlan::Reno) };
    let result = whole(&one_link(None, AppPlan::Bulk, plan));
    // Five segments a round trip of 21.04 ms, of which bursts keep the link for some 5 ms.
    assert!(share(&result, "receiver window") > 0.6, "{:?}", result.summary.flows[0].limited_by);
    let goodput = result.summary.flows[0].goodput_bps;
    assert!((goodput / (5_000.0 * 8.0 / 0.02104) - 1.0).abs() < 0.01, "{goodput}");
}

#[test]
fn a_slow_application_limits() {
    let source = SourcePlan::Constant { rate: Rate::from_bps(800_000), bytes: 1000 };
    let result = whole(&one_link(Some(100), AppPlan::Source(source), tcp(CongestionPlan::Cubic)));
    assert!(share(&result, "application") > 0.95, "{:?}", result.summary.flows[0].limited_by);
}

#[test]
fn a_lost_tail_waits_for_its_timer_and_not_for_the_application() {
    // Ten segments at once into a queue of five: the tail is lost, and no ACK tells of it.
    let plan = TcpPlan { dupthresh: None, handshake: false, ..tcp(CongestionPlan::Reno) };
    let mut plan = one_link(Some(5), AppPlan::Transfer { bytes: 10_000 }, plan);
    plan.duration = Time::ZERO + Span::from_secs(2);
    let result = whole(&plan);
    let done = result.summary.flows[0].completion_s.expect("it ends");
    assert!(done > 0.2, "{done}");
    // What follows the transfer is the application's.
    assert!((share(&result, "application") - (2.0 - done) / 2.0).abs() < 0.02, "{done}");
}

#[test]
fn a_limit_stops_a_run_and_its_numbers_are_those_of_a_run_of_that_length() {
    let plan = one_link(Some(20), AppPlan::Bulk, tcp(CongestionPlan::NewReno));
    let mut limited = plan.clone();
    limited.limits.events = Some(1000);
    let stopped = whole(&limited);
    assert!(stopped.summary.warnings[0].contains("the limit of 1000 events"));
    let mut shorter = plan;
    shorter.duration = Time::from_picos((stopped.summary.duration_s * 1e12).round() as u64);
    let same = whole(&shorter);
    assert_eq!(stopped.summary.gates, same.summary.gates);
    assert_eq!(stopped.summary.flows, same.summary.flows);
}

#[test]
fn an_interrupted_run_has_no_result() {
    let plan = one_link(Some(20), AppPlan::Bulk, tcp(CongestionPlan::Reno));
    let plan = Plan { duration: Time::ZERO + Span::from_secs(100_000), ..plan };
    assert_eq!(run(&plan, &mut |_| false).err(), Some(RunError::Interrupted));
}

fn any_rate() -> impl Strategy<Value = RatePlan> {
    let rate = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    prop_oneof![
        4 => (1u64..20).prop_map(move |mbps| RatePlan::Constant(Speed::Bits(rate(mbps)))),
        1 => Just(RatePlan::Unlimited),
        1 => (200u64..3000).prop_map(|pps| RatePlan::Constant(Speed::Packets(pps * 1_000_000))),
        1 => (1u64..10, 2_000u64..20_000).prop_map(move |(mbps, burst_bytes)| RatePlan::TokenBucket {
            rate: rate(mbps),
            burst_bytes,
            peak: Some(rate(mbps * 3)),
        }),
        1 => (2u64..10, 20u64..300).prop_map(move |(mbps, mean)| RatePlan::Markov(MarkovPlan {
            rates: vec![rate(mbps), rate(mbps / 2)],
            mean_holding: vec![Span::from_millis(mean); 2],
            transitions: None,
            step: None,
            initial: None,
        })),
    ]
}

fn any_jitter() -> impl Strategy<Value = JitterPlan> {
    prop_oneof![
        4 => Just(JitterPlan::None),
        1 => (1u64..10).prop_map(|millis| JitterPlan::Uniform { most: Span::from_millis(millis) }),
        1 => (1u64..3_000).prop_map(|micros| JitterPlan::Exponential { mean: Span::from_micros(micros) }),
    ]
}

fn any_gate() -> impl Strategy<Value = GatePlan> {
    let limit = prop_oneof![Just(QueueLimit::Unlimited), (0u64..40).prop_map(QueueLimit::Packets)];
    let loss = prop_oneof![
        3 => Just(LossPlan::None),
        1 => Just(LossPlan::Independent { probability: 0.01 }),
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

fn any_tcp() -> impl Strategy<Value = TcpPlan> {
    let cc = prop_oneof![
        Just(CongestionPlan::Tahoe { fast_retransmit: true }),
        Just(CongestionPlan::Reno),
        Just(CongestionPlan::NewReno),
        Just(CongestionPlan::Cubic),
        Just(CongestionPlan::Fixed { window: 20_000 }),
    ];
    (cc, any::<[bool; 4]>()).prop_map(|(cc, [sack, delayed, timestamps, handshake])| TcpPlan {
        sack,
        timestamps,
        headers: if timestamps { 52 } else { 40 },
        handshake,
        delayed_ack: tcp(cc).delayed_ack.filter(|_| delayed),
        // A path may have no bottleneck.
        window: Some(100_000),
        ..tcp(cc)
    })
}

/// Endpoints run ahead of the rest only where nothing is recorded.
fn any_record() -> impl Strategy<Value = RecordLevel> {
    prop_oneof![
        4 => Just(RecordLevel::Summary),
        1 => Just(RecordLevel::Events),
        1 => Just(RecordLevel::Every(Span::from_millis(7))),
    ]
}

/// Flows in networks of their own, or nearly: what is run ahead most.
fn any_private_plan() -> impl Strategy<Value = Plan> {
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

/// Many flows with access gates of their own that share a gate each way, and some data another before or
/// in place of it: the two halves of connections take turns.
fn any_dumbbell() -> impl Strategy<Value = Plan> {
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
            // A shared server would have all in one order.
            flow.app = if matches!(app, AppPlan::Request(_)) { AppPlan::Bulk } else { app };
        }
        plan
    })
}

fn any_app() -> impl Strategy<Value = AppPlan> {
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
    ]
}

/// Requests of any kind; where they name a server it is number 0.
fn any_requests() -> impl Strategy<Value = AppPlan> {
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
                pace: if open { Pace::Request } else { Pace::Response },
                outstanding: if open && !anew { outstanding } else { Some(1) },
                connection: if anew { ConnectionPlan::New } else { ConnectionPlan::Persistent },
                count,
            }))
        },
    )
}

/// Some flows of the plan ask instead.
fn with_requests(plan: impl Strategy<Value = Plan>) -> impl Strategy<Value = Plan> {
    (plan, prop::collection::vec(prop::option::of(any_requests()), 3)).prop_map(|(mut plan, apps)| {
        for (flow, app) in plan.flows.iter_mut().zip(apps) {
            flow.app = app.unwrap_or(AppPlan::Bulk);
        }
        plan
    })
}

/// Everything asked is somewhere, response times are sums of their parts, and nothing was answered before it came.
fn accounts_of_requests_balance(plan: &Plan, result: &RunResult) -> Result<(), TestCaseError> {
    let with = plan.flows.iter().filter(|flow| matches!(flow.app, AppPlan::Request(_))).count();
    let rows = &result.summary.requests;
    prop_assert_eq!(rows.len(), if with == 0 { 0 } else { with + 1 });
    let Some((all, flows)) = rows.split_last() else { return Ok(()) };
    for row in rows {
        prop_assert_eq!(row.asked, row.finished + row.unfinished);
        let parts = [row.request_mean_s, row.server_mean_s, row.transfer_mean_s];
        let sum: f64 = parts.iter().flatten().sum();
        prop_assert!((sum - row.response_mean_s.unwrap_or(0.0)).abs() < 1e-9);
        prop_assert!(row.response_p50_s <= row.response_p95_s && row.response_p99_s <= row.response_max_s);
    }
    prop_assert_eq!(all.asked, flows.iter().map(|row| row.asked).sum::<u64>());
    prop_assert_eq!(all.finished, flows.iter().map(|row| row.finished).sum::<u64>());
    for one in result.requests.iter().flatten() {
        let times = [one.asked, one.begun, one.arrived, one.answered, one.ended];
        prop_assert!(times.is_sorted(), "{:?}", times);
    }
    Ok(())
}

fn any_plan() -> impl Strategy<Value = Plan> {
    prop::collection::vec(any_gate(), 1..5).prop_flat_map(|gates| {
        let count = gates.len();
        let route = move |least: usize| prop::collection::vec(0..count, least..4);
        let flows = prop::collection::vec((route(1), route(0), any_tcp(), 0u64..500), 1..4);
        (Just(gates), flows, prop::option::of(route(1)), any_record()).prop_map(assemble)
    })
}

type Draft = (Vec<GatePlan>, Vec<(Vec<usize>, Vec<usize>, TcpPlan, u64)>, Option<Vec<usize>>, RecordLevel);

fn assemble((mut gates, flows, crossing, record): Draft) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_millis(1_200));
    plan.warmup = Time::ZERO + Span::from_millis(300);
    for (n, gate) in gates.iter_mut().enumerate() {
        gate.name = format!("gate{n}");
    }
    plan.gates = gates;
    for (n, (path, back, tcp, start)) in flows.into_iter().enumerate() {
        plan.flows.push(FlowPlan {
            name: format!("flow{n}"),
            path,
            back,
            start: StartPlan::At(Time::ZERO + Span::from_millis(start)),
            ..flow(vec![], AppPlan::Bulk, tcp)
        });
    }
    plan.traffic.extend(crossing.map(|path| TrafficPlan {
        name: "crossing".to_owned(),
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

/// Equal to the bit: NaN stands for "none" and is never equal to itself.
fn same(one: &Table, other: &Table) -> bool {
    let bits = |column: &Column| match column {
        Column::F64(values) => values.iter().map(|value| value.to_bits()).collect(),
        Column::U64(values) => values.clone(),
        Column::MaybeU64(values) => {
            values.iter().flat_map(|value| [u64::from(value.is_some()), value.unwrap_or(0)]).collect()
        }
        Column::U32(values) => values.iter().map(|value| u64::from(*value)).collect(),
        Column::U8(values) => values.iter().map(|value| u64::from(*value)).collect(),
    };
    let pairs = one.columns.iter().zip(&other.columns);
    pairs.into_iter().all(|(left, right)| left.0 == right.0 && bits(&left.1) == bits(&right.1))
}

/// Packet discard acts on what its own queue refused, not on what the wire lost.
#[test]
fn packet_discard_does_not_know_of_random_losses() {
    let plan = |ppd: bool| {
        let mut plan = one_link(None, AppPlan::Bulk, tcp(CongestionPlan::Reno));
        let gate = &mut plan.gates[0];
        gate.framing = Framing::Aal5 { llc: false };
        gate.loss = LossPlan::Independent { probability: 0.001 };
        gate.cells.ppd = ppd;
        plan
    };
    let with = whole(&plan(true));
    assert!(with.summary.gates[0].cells.is_some_and(|cells| cells.dropped_cells > 10));
    assert_eq!(with.summary, whole(&plan(false)).summary);
}

/// A cell gate of any kind. Its number decides nothing: routes lead from lower to higher ones.
fn any_cell_gate() -> impl Strategy<Value = GatePlan> {
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
    (rate, limit, discard, any::<[bool; 2]>(), (0u64..10, any_jitter()), loss).prop_map(
        |(rate, limit, ((epd, ppd), police), [slotted, simple], (delay, jitter), loss)| {
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
        },
    )
}

/// A policer of cells, and at how many waiting what it tags is dropped.
fn any_police() -> impl Strategy<Value = (PolicePlan, u64)> {
    let limit = |mbps: u64, cells: u64| {
        let increment = Interval::at_rate(424, Rate::from_bps(mbps * 1_000_000)).expect("a rate");
        Limit::tokens(increment, cells).expect("few cells")
    };
    let conformance = prop_oneof![Just(Conformance::Vbr1), Just(Conformance::Vbr2), Just(Conformance::Vbr3)];
    let sustained = prop::option::of((1u64..200, conformance));
    (2u64..30, 1u64..100, any::<bool>(), sustained, 0u64..100).prop_map(
        move |(mbps, cells, tags, sustained, threshold)| {
            let sustained = sustained.map(|(burst, which)| (limit(mbps / 2, burst), which));
            (PolicePlan { peak: limit(mbps, cells), sustained, tags }, threshold)
        },
    )
}

/// Flows and sources over cell gates and others, in each direction.
fn any_cell_plan() -> impl Strategy<Value = Plan> {
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

fn tables_differ(one: &RunResult, other: &RunResult) -> Option<&'static str> {
    let (one, other) = (one.tables(), other.tables());
    one.iter().zip(&other).find(|(one, other)| !same(one, other)).map(|(one, _)| one.name)
}

/// What came is what went on, what was dropped and what was still there; and of packets nobody
/// knows more than was counted.
fn accounts_of_cells_balance(plan: &Plan, result: &RunResult) -> Result<(), TestCaseError> {
    for (row, gate) in plan.gates.iter().zip(&result.summary.gates) {
        let Some(cells) = gate.cells else { continue };
        if plan.warmup == Time::ZERO {
            prop_assert!(cells.offered_cells >= cells.delivered_cells + cells.dropped_cells);
        }
        if let QueueLimit::Cells(limit) = row.queue.limit {
            prop_assert!(cells.queue_max_cells <= limit, "{} above {limit}", cells.queue_max_cells);
        }
        prop_assert!(gate.dropped_packets <= cells.dropped_cells + cells.wasted_cells.unwrap_or(0));
        prop_assert_eq!((gate.queue_mean_packets, gate.queue_max_packets), (None, None));
        prop_assert_eq!(gate.delivered_bytes, cells.delivered_cells * 53);
        if let Some(used) = gate.utilisation {
            // A shaper with a tolerance may be ahead of its rate by as much.
            prop_assert!(used < 1.01, "{used}");
        }
    }
    for (gate, rows) in plan.gates.iter().zip(&result.gates) {
        for row in rows {
            let Some(cells) = row.cells else { continue };
            prop_assert!(cells.fluid <= cells.whole as f64 + 1e-9, "{:?} at {}", cells, gate.name);
            prop_assert!(cells.whole >= row.queue_packets);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// TCP over cells: trains, cells one by one and every event tell the same.
    #[test]
    fn trains_change_nothing(plan in prop_oneof![any_cell_plan(), with_requests(any_cell_plan())]) {
        let trains = whole(&plan);
        accounts_of_requests_balance(&plan, &trains)?;
        accounts_of_cells_balance(&plan, &trains)?;
        let others = [
            whole(&Plan { cells_one_by_one: true, ..plan.clone() }),
            whole(&Plan { exact_events: true, ..plan }),
        ];
        for other in others {
            prop_assert_eq!(&trains.summary.flows, &other.summary.flows);
            prop_assert_eq!(&trains.summary.gates, &other.summary.gates);
            prop_assert_eq!(&trains.summary.traffic, &other.summary.traffic);
            prop_assert_eq!(&trains.summary.requests, &other.summary.requests);
            prop_assert_eq!(tables_differ(&trains, &other), None);
        }
    }
}

/// Data segments that came to a flow's receiver: when, and so many IP bytes.
fn received(result: &RunResult, flow: usize) -> Vec<(Time, u64)> {
    let data = result.packets.iter().filter(|packet| {
        packet.flow as usize == flow
            && packet.seen == Side::Receiver
            && packet.from == Side::Sender
            && packet.segment.len > 0
    });
    data.map(|packet| (packet.at, u64::from(packet.bytes))).collect()
}

/// How many, and how many IP bytes, came up to an instant.
fn up_to(segments: &[(Time, u64)], at: Time) -> (u64, u64) {
    let come = &segments[..segments.partition_point(|(came, _)| *came <= at)];
    (come.len() as u64, come.iter().map(|(_, bytes)| bytes).sum())
}

/// The work that a gate's rate law offered up to `at`, from the scenario alone; `None`: nothing limits.
fn offered(plan: &Plan, gate: usize, at: Time) -> Option<f64> {
    let row = &plan.gates[gate];
    let measured = Measured { from: Time::ZERO, until: at };
    let context = GateContext {
        index: gate,
        seed: seed(plan),
        measured,
        precision: Precision::Coarse,
        record: RecordLevel::Summary,
    };
    let capacity = Gate::new(row, context).capacity(row, seed(plan), measured)?;
    let ahead = match &row.rate {
        // A shaper's first cell leaves at once, and a tolerance lets more of them leave early.
        RatePlan::Gcra(gcra) => {
            let early = gcra.limit.tolerance() as f64 * gcra.bits_per_second() as f64 / 1e12;
            424.0 * 2.0 + early
        }
        _ => 0.0,
    };
    Some(capacity.offered as f64 / 1e12 + ahead)
}

/// The work of so many segments at a gate, without framing: at most what the gate did for them.
fn work(plan: &Plan, gate: usize, (packets, bytes): (u64, u64)) -> f64 {
    if plan.gates[gate].rate.counts_packets() { packets as f64 * 1e6 } else { bytes as f64 * 8.0 }
}

/// The largest packet of any flow at a gate: 1000 B of payload and headers, in cells 23 of 53 B.
fn largest_packet(plan: &Plan, gate: usize) -> f64 {
    if plan.gates[gate].rate.counts_packets() { 1e6 } else { 23.0 * 424.0 }
}

/// Goodput is at most throughput less headers, flow by flow, in every interval of the history and in the summary.
fn goodput_is_received(plan: &Plan, result: &RunResult) -> Result<(), TestCaseError> {
    let span = plan.duration.saturating_since(plan.warmup).as_secs_f64();
    for (n, (flow, row)) in plan.flows.iter().zip(&result.summary.flows).enumerate() {
        prop_assert!(row.goodput_bps <= row.throughput_bps, "{row:?}");
        let came = received(result, n);
        let payload = |at| {
            let (packets, bytes) = up_to(&came, at);
            bytes - packets * u64::from(flow.tcp.headers)
        };
        let (mut before, mut delivered, mut in_order) = (0, 0, 0);
        for state in &result.flows[n] {
            let now = payload(state.at);
            prop_assert!(state.delivered_bytes - delivered <= now - before, "{} at {}", row.name, state.at);
            prop_assert!(in_order <= state.in_order_bytes && state.in_order_bytes <= state.delivered_bytes);
            (before, delivered, in_order) = (now, state.delivered_bytes, state.in_order_bytes);
        }
        let measured = came.iter().filter(|(at, _)| *at >= plan.warmup).map(|(_, bytes)| bytes).sum::<u64>();
        prop_assert!((measured as f64 * 8.0 / span - row.throughput_bps).abs() < 1e-3);
    }
    Ok(())
}

/// Throughput is at most what the rate law of every gate on the path offered, all flows of the gate together.
///
/// A segment that arrives at t left a gate by t less the delays from there on. So what arrived since the start is
/// at most what the gate offered up to then. In an interval that begins later, what the gate had let through
/// before may still stand at gates behind it; so this is asked of the flows whose last gate it is, and one packet
/// may be more, whose service had begun before the interval. Where a packet is delayed at random behind the gate it
/// arrives at most that much later than the constant delays say: there it is asked since the start alone.
fn throughput_was_offered(plan: &Plan, result: &RunResult) -> Result<(), TestCaseError> {
    let came: Vec<_> = (0..plan.flows.len()).map(|flow| received(result, flow)).collect();
    let instants: Vec<Time> = (0..=24)
        .map(|n| Time::ZERO + Span::from_millis(50 * n))
        .take_while(|at| *at <= plan.duration)
        .collect();
    for gate in 0..plan.gates.len() {
        // Each flow's delay from this gate on.
        let delays = plan.flows.iter().map(|flow| {
            let place = flow.path.iter().rposition(|passed| *passed == gate)?;
            let behind = || flow.path[place..].iter().map(|n| &plan.gates[*n]);
            let delay: u64 = behind().map(|passed| passed.delay.picos()).sum();
            let constant = behind().all(|passed| passed.jitter == JitterPlan::None);
            Some((Span::from_picos(delay), constant && place + 1 == flow.path.len()))
        });
        let delays: Vec<_> = delays.collect();
        let total = |at: Time, last_only: bool| {
            let flows = came.iter().zip(&delays).filter_map(|(came, delay)| Some((came, (*delay)?)));
            let flows = flows.filter(|(_, (_, last))| *last || !last_only);
            flows.fold((0, 0), |(packets, bytes), (arrived, (delay, _))| {
                let (more, size) = up_to(arrived, at.saturating_add(delay));
                (packets + more, bytes + size)
            })
        };
        let bucket = match &plan.gates[gate].rate {
            RatePlan::TokenBucket { burst_bytes, .. } => *burst_bytes as f64 * 8.0,
            _ => 0.0,
        };
        let mut before: Option<(f64, f64)> = None;
        for at in &instants {
            let Some(offered) = offered(plan, gate, *at) else { break };
            let all = work(plan, gate, total(*at, false));
            prop_assert!(all <= offered + 1e-3, "gate {gate} at {at}: {all} of {offered}");
            let last = work(plan, gate, total(*at, true));
            if let Some((offered_before, last_before)) = before {
                // Tokens that were not used before the interval may be used in it.
                let most = offered - offered_before + bucket + largest_packet(plan, gate) + 1e-3;
                prop_assert!(last - last_before <= most, "gate {gate} up to {at}: above {most}");
            }
            before = Some((offered, last));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Goodput is at most throughput, throughput at most what was offered; of one flow and of all together.
    #[test]
    fn goodput_is_never_more_than_was_offered(
        mut plan in prop_oneof![any_plan(), any_private_plan(), any_dumbbell(), any_cell_plan(), with_requests(any_plan())]
    ) {
        plan.record.level = RecordLevel::Every(Span::from_millis(7));
        plan.record.packets = true;
        for gate in &mut plan.gates {
            // Else a packet keeps the speed it began with, and may pass faster than is offered.
            gate.on_change = OnChange::Rescale;
        }
        let result = whole(&plan);
        goodput_is_received(&plan, &result)?;
        throughput_was_offered(&plan, &result)?;
    }


    /// The same summary (but for the count of events) and the same columns, with TCP in the loop.
    #[test]
    fn exact_events_change_nothing(
        plan in prop_oneof![any_plan(), any_private_plan(), any_dumbbell(), with_requests(any_plan())]
    ) {
        let ahead = whole(&plan);
        accounts_of_requests_balance(&plan, &ahead)?;
        let exact = whole(&Plan { exact_events: true, ..plan });
        prop_assert_eq!(&ahead.summary.flows, &exact.summary.flows);
        prop_assert_eq!(&ahead.summary.gates, &exact.summary.gates);
        prop_assert_eq!(&ahead.summary.traffic, &exact.summary.traffic);
        prop_assert_eq!(&ahead.summary.requests, &exact.summary.requests);
        let (ahead, exact) = (ahead.tables(), exact.tables());
        for (one, other) in ahead.iter().zip(&exact) {
            prop_assert!(same(one, other), "{} differ", one.name);
        }
    }
    /// What is recorded changes no summary: flows that nobody watches go a shorter way.
    #[test]
    fn recording_changes_nothing(mut plan in prop_oneof![any_plan(), any_private_plan(), any_dumbbell()]) {
        plan.record.level = RecordLevel::Summary;
        let unwatched = whole(&plan);
        plan.record.packets = true;
        let captured = whole(&plan);
        plan.record.level = RecordLevel::Events;
        let recorded = whole(&plan);
        for watched in [captured, recorded] {
            prop_assert_eq!(&unwatched.summary.flows, &watched.summary.flows);
            prop_assert_eq!(&unwatched.summary.gates, &watched.summary.gates);
            prop_assert_eq!(&unwatched.summary.traffic, &watched.summary.traffic);
        }
    }
}
