use proptest::prelude::*;

mod circuits;
mod golden;
mod stretches;

use super::*;
use crate::dtm::{Settings, Slots};
use crate::effcap::Blocks;
use crate::gate::rate::Allocated;
use crate::gate::{DropReason, GateRow};
use crate::gcra::{Interval, Limit, Release};
use crate::plan::{
    AppPlan, CellPlan, DtmPlan, Estimators, FlowPlan, FollowPlan, Framing, GatePlan, GcraPlan, HoldingPlan,
    JitterPlan, OnChange, Plan, PoolOrder, PoolPlan, QueueCounts, QueueLimit, RatePlan, Reassembly, RtoPlan,
    RtoRestart, Share, SignalKind, SignalPlan, SourcePlan, StartPlan, SwitchPlan, TcpPlan, TrafficPlan,
};
use crate::tcp::tests::plans;
use crate::unit::{Blame, HeldBy};
use crate::units::{Rate, Speed};

/// A flow's routes matter here, and whether its TCP wants to hear departures.
fn flow(name: String, path: Vec<usize>, back: Vec<usize>, back_delay: Span, listens: bool) -> FlowPlan {
    let mut tcp: TcpPlan = plans::short();
    if listens {
        tcp.rto = RtoPlan::Fixed { rto: Span::from_millis(100), restart: RtoRestart::Departure };
    }
    FlowPlan { name, path, back, back_delay, start: StartPlan::At(Time::ZERO), app: AppPlan::Bulk, tcp }
}

fn any_gate() -> impl Strategy<Value = GatePlan> {
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
        1 => circuits::any_circuit()
    ]
}

/// Lets each follower follow some gate, perhaps itself, and gives ABR sources their switches.
fn led(mut plan: Plan, leaders: &[usize]) -> Plan {
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
fn pooled(mut plan: Plan, spare: u64) -> Plan {
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
fn rates_in_pool(plan: &Plan, network: &Network) -> u64 {
    let gates = plan.gates.iter().zip(network.gates());
    let pooled = gates.filter(|(gate, _)| matches!(&gate.rate, RatePlan::Dtm(dtm) if dtm.pool.is_some()));
    pooled.filter_map(|(_, gate)| gate.rate_set()).map(Rate::bps).sum()
}

fn any_network() -> impl Strategy<Value = Plan> {
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
        let calls = circuits::any_calls();
        (Just(gates), flows, sources, any::<bool>(), signals, spare, (leaders, calls)).prop_map(
            |(gates, flows, sources, recorded, signals, spare, (leaders, calls))| {
                let plan = network(gates, flows, sources, recorded);
                let plan = led(pooled(Plan { signals, ..plan }, spare), &leaders);
                circuits::reserved(plan, calls)
            },
        )
    })
}

type FlowDraft = (Vec<usize>, Vec<usize>, u64, bool);

fn network(
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

/// Everything that can be seen of a network.
#[derive(Debug, PartialEq)]
struct Story {
    /// When, on which route, which packet, and what it waited for.
    delivered: Vec<(Time, usize, u32, Blame)>,
    dropped: Vec<(Time, usize, u32, u8)>,
    departed: Vec<(Time, usize)>,
    signals: Vec<(Time, usize, u64)>,
    counters: Vec<String>,
    allocated: Vec<Option<Allocated>>,
    histories: Vec<Option<Vec<String>>>,
    traffic: Vec<TrafficCounts>,
    calls: Vec<String>,
}

/// The first thing told differently, by name and number.
fn first_difference(one: &Story, other: &Story) -> Option<String> {
    fn lists<T: PartialEq + std::fmt::Debug>(name: &str, one: &[T], other: &[T]) -> Option<String> {
        let place = (0..one.len().max(other.len())).find(|place| one.get(*place) != other.get(*place))?;
        Some(format!("{name}[{place}]: {:?} and {:?}", one.get(place), other.get(place)))
    }
    lists("delivered", &one.delivered, &other.delivered)
        .or_else(|| lists("dropped", &one.dropped, &other.dropped))
        .or_else(|| lists("departed", &one.departed, &other.departed))
        .or_else(|| lists("signals", &one.signals, &other.signals))
        .or_else(|| lists("counters", &one.counters, &other.counters))
        .or_else(|| lists("allocated", &one.allocated, &other.allocated))
        .or_else(|| lists("histories", &one.histories, &other.histories))
        .or_else(|| lists("traffic", &one.traffic, &other.traffic))
        .or_else(|| lists("calls", &one.calls, &other.calls))
}

/// How a driver wakes: it handles what is due only at multiples of `grain` (late), and also
/// whenever `early` says so (early).
#[derive(Clone, Copy, Debug)]
struct Waking {
    grain: u64,
    early: bool,
}

/// Sends packets into the network as `entries` say and answers each data packet with an ACK,
/// as endpoints would.
fn tell(plan: &Plan, entries: &[(u64, usize, u32)], waking: Option<Waking>) -> Story {
    let mut network = Network::new(plan, 1);
    let mut story = Story {
        delivered: vec![],
        dropped: vec![],
        departed: vec![],
        signals: vec![],
        counters: vec![],
        allocated: vec![],
        histories: vec![],
        traffic: vec![],
        calls: vec![],
    };
    let mut at = Time::ZERO;
    for (handle, (gap, route, bytes)) in (0..).zip(entries) {
        let next = at.saturating_add(Span::from_picos(*gap));
        if let Some(Waking { grain, early }) = waking {
            let mut now = at.picos() / grain * grain + grain;
            while now < next.min(plan.duration).picos() {
                drain(&mut network, Time::from_picos(now), &mut story);
                if early {
                    drain(&mut network, Time::from_picos(now), &mut story);
                }
                now += grain;
            }
        }
        at = next.min(plan.duration);
        drain(&mut network, at, &mut story);
        if next >= plan.duration {
            break;
        }
        let unit = &mut Unit::new(*bytes, handle, HeldBy::Application);
        let route = route % (plan.flows.len() * 2);
        assert_eq!(network.handle_unit(at, route, unit), None);
        match handle % 4 {
            0 => network.handle_transfer_begin(at, route / 2),
            1 => network.handle_transfer_end(at, route / 2),
            _ => {}
        }
    }
    (0..plan.flows.len()).for_each(|flow| network.handle_transfer_end(at, flow));
    drain(&mut network, plan.duration, &mut story);
    network.finish();
    while let Some(dropped) = network.poll_drop() {
        story.dropped.push((dropped.at, dropped.gate, dropped.unit.handle, dropped.reason as u8));
    }
    story.dropped.retain(|(time, ..)| *time < plan.duration);
    story.dropped.sort_unstable();
    // Flows that hear at one instant, in any order.
    story.departed.sort_unstable();
    story.counters = network.gates().iter().map(|gate| format!("{:?}", gate.counters())).collect();
    story.counters.extend((0..plan.gates.len()).map(|gate| format!("{:?}", network.cell_counts(gate))));
    story.allocated = network.gates().iter().map(Gate::allocated).collect();
    let rows = |rows: Vec<GateRow>| rows.iter().map(|row| format!("{row:?}")).collect();
    story.histories = network.gates_mut().iter_mut().map(|gate| gate.take_history().map(rows)).collect();
    story.traffic = network.traffic_counts().collect();
    story.calls = circuits::told(plan, &network);
    story
}

fn drain(network: &mut Network, until: Time, story: &mut Story) {
    while let Some(step) = network.poll_step(until) {
        match step {
            Step::Deliver { at, route, unit } => {
                story.delivered.push((at, route, unit.handle, unit.blame));
                if route % 2 == 0 {
                    let ack = &mut Unit::new(40, unit.handle + 1_000_000, HeldBy::Application);
                    assert_eq!(network.handle_unit(at, route + 1, ack), None);
                }
            }
            Step::Drop(dropped) => {
                story.dropped.push((dropped.at, dropped.gate, dropped.unit.handle, dropped.reason as u8));
            }
            Step::Departed { at, flow } => story.departed.push((at, flow)),
            Step::Signal { at, signal, value } => story.signals.push((at, signal, value)),
            Step::Alarm { .. } => {}
        }
    }
}

/// A cell gate: one rate, steps, a shaper, slots; any queue.
fn any_cell_gate() -> impl Strategy<Value = GatePlan> {
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
    (rate, limit, discard, rest).prop_map(
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
}

/// Cell gates and others; routes lead from lower numbers to higher ones, as sections demand.
fn any_cell_network() -> impl Strategy<Value = Plan> {
    let gates = prop::collection::vec(prop_oneof![4 => any_cell_gate(), 1 => any_gate()], 1..6);
    gates.prop_flat_map(|gates| {
        let count = gates.len();
        let route = move |least: usize| {
            prop::collection::btree_set(0..count, least..=count).prop_map(|set| set.into_iter().collect())
        };
        let flows = prop::collection::vec((route(1), route(0), 0u64..30, any::<bool>()), 1..5);
        let sources = prop::collection::vec((route(1), 0u32..3, 1u64..4), 0..3);
        let leaders = prop::collection::vec(0..count, 1..4);
        let calls = circuits::any_calls();
        (Just(gates), flows, sources, prop::bool::weighted(0.2), leaders, calls).prop_map(
            |(gates, flows, sources, recorded, leaders, calls)| {
                circuits::reserved(led(network(gates, flows, sources, recorded), &leaders), calls)
            },
        )
    })
}

fn entries() -> impl Strategy<Value = Vec<(u64, usize, u32)>> {
    // Some at whole milliseconds, where intervals end and rates change.
    let gap = prop_oneof![0u64..2_000_000_000, (0u64..4).prop_map(|ms| ms * 1_000_000_000)];
    let bytes = prop_oneof![3 => Just(1500u32), 1 => 40u32..1500];
    prop::collection::vec((gap, 0usize..10, bytes), 1..150)
}

/// A channel of 1 Mbit/s at first, in slots of 100 kbit/s, measured every 10 ms and changed
/// every 20; the estimate is what was measured, with one slot above it. Three packets wait.
fn channel() -> Plan {
    let ms = Span::from_millis;
    let settings = Settings {
        slot: Rate::from_bps(100_000),
        shift_inc: 0,
        shift_dec: 0,
        margin: Slots::whole(1),
        corridor: Slots::whole(0),
        ..Settings::default()
    };
    let mut gate = GatePlan::open("channel");
    gate.rate = RatePlan::Dtm(DtmPlan {
        settings,
        initial: Rate::from_bps(1_000_000),
        measure: ms(10),
        update_every: 2,
        estimators: Estimators::Channel,
        pool: None,
    });
    gate.queue.limit = QueueLimit::Packets(3);
    let mut plan = Plan::empty(Time::ZERO + ms(100));
    plan.gates.push(gate);
    plan.flows.push(flow("flow".to_owned(), vec![0], vec![], Span::ZERO, false));
    plan
}

/// By hand. Five packets of 1000 bytes come at 0: one is served, three wait, the fifth is
/// dropped. Two come in the second interval, at 10 and 15 ms; the second finds the queue full.
/// That is 1.6 Mbit/s, the dropped one included: from 20 ms on there are 1.7. Nothing comes in
/// the third; a packet exactly at its end counts in the fourth, 0.8 Mbit/s: from 40 ms on there
/// are 0.9. From 60 ms on there is one slot.
#[test]
fn a_channel_follows_what_comes_to_its_door() {
    let times = [0, 0, 0, 0, 0, 10, 5, 15];
    let entries = times.map(|gap: u64| (gap * 1_000_000_000, 0, 1000));
    let told = |plan: &Plan| {
        let story = tell(plan, &entries, None);
        let delivered = story.delivered.iter().filter(|(_, route, ..)| *route == 0);
        let at: Vec<u64> = delivered.map(|(at, ..)| at.picos()).collect();
        (at, story.dropped.iter().map(|(_, _, handle, _)| *handle).collect::<Vec<_>>(), story.allocated[0])
    };
    let plan = channel();
    let (at, dropped, allocated) = told(&plan);
    // 8 ms each at first; the third packet is on its way at 20 ms and keeps its speed. The next
    // ones take 8000/1.7 us, 4705.88…, one after the other.
    let n_faster = |n: u64| 24_000_000_000 + n * 80_000_000_000 / 17;
    assert_eq!(at, [8_000_000_000, 16_000_000_000, 24_000_000_000, n_faster(1), n_faster(2), n_faster(3)]);
    assert_eq!(dropped, [4, 6]);
    let allocated = allocated.expect("it is a channel");
    assert_eq!((allocated.least.bps(), allocated.most.bps(), allocated.changes), (100_000, 1_700_000, 3));
    // 20 ms at 1, 20 at 1.7, 20 at 0.9 and 40 at 0.1 Mbit/s.
    assert_eq!(allocated.offered, 76_000 * 1_000_000_000_000);
    let exact = Plan { exact_events: true, ..plan.clone() };
    assert_eq!(told(&exact), (at.clone(), dropped.clone(), Some(allocated)));
    // With "rescale" 4 of its 8 ms are left to the third packet at 20 ms.
    let mut rescaled = plan;
    rescaled.gates[0].on_change = OnChange::Rescale;
    assert_eq!(told(&rescaled).0[2], 20_000_000_000 + 4_000_000 * 1_000_000 / 1700);
}

/// By hand. One flow sends 1.6 Mbit/s in the first interval, the other in the second. Estimates
/// rise at once and halve when they fall. One estimate of both is 1.6 Mbit/s at 20 ms; one for
/// each is 0.8 and 1.6. Two intervals later there is a quarter left of either.
#[test]
fn one_estimate_or_one_for_each_flow() {
    let entries = [(0, 0, 1000), (0, 0, 1000), (10_000_000_000, 2, 1000), (0, 2, 1000)];
    let offered = |estimators: Estimators| {
        let mut plan = channel();
        plan.flows.push(flow("other".to_owned(), vec![0], vec![], Span::ZERO, false));
        plan.gates[0].queue.limit = QueueLimit::Unlimited;
        let RatePlan::Dtm(dtm) = &mut plan.gates[0].rate else { panic!("it is a channel") };
        dtm.settings.shift_dec = 1;
        dtm.estimators = estimators;
        let story = tell(&plan, &entries, None);
        story.allocated[0].expect("it is a channel").offered / u128::from(crate::units::PICOS_PER_SECOND)
    };
    // 20 ms each at 1 Mbit/s and at what was estimated with one slot more.
    assert_eq!(offered(Estimators::Channel), 20 * (1000 + 1700 + 500 + 200 + 125));
    assert_eq!(offered(Estimators::Flow), 20_000 + 50_000 + 14_000 + 5_000 + 2_750);
}

/// By hand. Two channels of 1 Mbit/s have 2 between them. The second is silent: at 20 ms it
/// gives back 0.9, and the first, which measured 1.6 Mbit/s, gets 1.7 at the same instant. Of the
/// 3.3 that it asks for at 40 ms it gets the 1.9 that are left; so again at 60 and 80 ms.
#[test]
fn what_one_channel_gives_back_the_other_gets_at_once() {
    let mut plan = channel();
    plan.gates.push(GatePlan { name: "silent".to_owned(), ..plan.gates[0].clone() });
    for gate in &mut plan.gates {
        let RatePlan::Dtm(dtm) = &mut gate.rate else { panic!("it is a channel") };
        dtm.pool = Some(0);
    }
    plan.pools.push(PoolPlan {
        name: "pool".to_owned(),
        capacity: Rate::from_bps(2_000_000),
        order: PoolOrder::Asked,
    });
    plan.flows.push(flow("other".to_owned(), vec![1], vec![], Span::ZERO, false));
    let mut entries = vec![(10_000_000_000, 0, 1000), (0, 0, 1000), (20_000_000_000, 0, 1000)];
    entries.extend([(0, 0, 1000); 3]);
    entries.extend([(20_000_000_000, 0, 2000), (0, 0, 2000), (20_000_000_000, 0, 2000), (0, 0, 2000)]);
    let story = tell(&plan, &entries, None);
    let [first, silent] = [0, 1].map(|gate: usize| story.allocated[gate].expect("it is a channel"));
    assert_eq!((first.most.bps(), first.changes), (1_900_000, 2));
    assert_eq!((silent.least.bps(), silent.changes), (100_000, 1));
    let bits = |given: Allocated| given.offered / u128::from(crate::units::PICOS_PER_SECOND);
    assert_eq!(bits(first), 20 * (1000 + 1700) + 60 * 1900);
    assert_eq!(bits(silent), 20 * 1000 + 80 * 100);
}

/// A source of 1 Mbit/s at first that takes half of what a link offers: 4 Mbit/s, and 1 from 15 ms
/// on. Slots of 10 ms; their values come 7 ms later: half of 4, of 2.5 and of 1 Mbit/s at 17, 27
/// and 37 ms.
fn follower() -> Plan {
    let ms = Span::from_millis;
    let mbps = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    let mut link = GatePlan::open("link");
    link.rate = RatePlan::Steps {
        steps: vec![(Time::ZERO, Speed::Bits(mbps(4))), (Time::ZERO + ms(15), Speed::Bits(mbps(1)))],
        repeat: None,
    };
    let mut source = GatePlan::open("source");
    source.host = true;
    source.rate = RatePlan::Follow(FollowPlan {
        gate: 0,
        every: ms(10),
        lag: ms(7),
        blocks: Blocks::INSTCAP,
        share: Share::from_parts(500_000_000_000),
        initial: mbps(1),
        min: Rate::ZERO,
        peak: None,
    });
    let mut plan = Plan::empty(Time::ZERO + ms(100));
    plan.gates = vec![link, source];
    plan.flows.push(flow("flow".to_owned(), vec![1], vec![], Span::ZERO, true));
    plan
}

/// When packets of 1000 bytes leave the source that come so many microseconds after each other.
fn departures(plan: &Plan, gaps: &[u64]) -> Vec<u64> {
    let entries: Vec<(u64, usize, u32)> = gaps.iter().map(|gap| (gap * 1_000_000, 0, 1000)).collect();
    let ahead = tell(plan, &entries, None);
    let exact = tell(&Plan { exact_events: true, ..plan.clone() }, &entries, None);
    assert_eq!(first_difference(&ahead, &exact), None);
    let data: Vec<Time> =
        ahead.delivered.iter().filter(|(_, route, ..)| *route == 0).map(|(at, ..)| *at).collect();
    // TCP hears each of them.
    assert_eq!(ahead.departed.iter().map(|(at, _)| *at).collect::<Vec<_>>(), data);
    data.iter().map(|at| at.picos() / 1_000_000).collect()
}

/// By hand. Three packets at 0 take 8 ms each at 1 Mbit/s; the third begins at 16 ms and keeps its
/// speed, so the fourth, at 2 Mbit/s from 17 ms on, takes 4: 28 ms; it began at 24 ms. At 27 ms the
/// rate is 1.25 Mbit/s: the fifth takes 6.4 ms. At 37 ms it is 0.5.
#[test]
fn a_source_takes_its_share_of_what_comes_back() {
    let plan = follower();
    assert_eq!(departures(&plan, &[0, 0, 0, 0, 0]), [8000, 16000, 24000, 28000, 34400]);
    // What begins at the very instant that a value comes has the new rate: 4 ms from 17 ms on,
    // 16 ms from 37 ms on; a microsecond earlier it has the old one.
    assert_eq!(departures(&plan, &[17_000, 20_000]), [21_000, 53_000]);
    assert_eq!(departures(&plan, &[36_999]), [43_399]);
}

/// With nothing to begin with, what waits begins when the first value comes. With EFFCAP of two
/// means over two values: 4 alone at 17 ms, then 3.25, 1.75 and 1 Mbit/s, and half of that.
#[test]
fn a_source_that_knows_nothing_sends_nothing() {
    let mut plan = follower();
    let RatePlan::Follow(follow) = &mut plan.gates[1].rate else { panic!("it follows") };
    follow.initial = Rate::ZERO;
    follow.blocks = Blocks { samples: 2, blocks: 2 };
    assert_eq!(departures(&plan, &[0, 0, 5000]), [21_000, 25_000, 29_000]);
    // Half of 3.25 Mbit/s at 27 ms, of 1.75 at 37 ms.
    let at = departures(&plan, &[27_000, 10_000, 10_000]);
    assert_eq!(at, [27_000 + 64_000 / 13, 37_000 + 64_000 / 7, 47_000 + 16_000]);
}

/// Gates that follow each other, and one that follows itself, come to rest.
#[test]
fn a_circle_of_followers_does_no_harm() {
    let mut plan = follower();
    let RatePlan::Follow(follow) = &plan.gates[1].rate else { panic!("it follows") };
    let follow = *follow;
    let mut other = plan.gates[1].clone();
    other.rate = RatePlan::Follow(FollowPlan { gate: 1, ..follow });
    plan.gates[0] = other;
    let RatePlan::Follow(first) = &mut plan.gates[1].rate else { panic!("it follows") };
    first.gate = 0;
    plan.duration = Time::ZERO + Span::from_secs(1);
    let story = tell(&plan, &[(0, 0, 1000)], None);
    for allocated in &story.allocated {
        let allocated = allocated.expect("it follows");
        // Half of half: after a second nothing is left.
        assert_eq!((allocated.most.bps(), allocated.least.bps()), (1_000_000, 0));
    }
}

/// The same in cells: a packet of 88 bytes is two, 424 bits each. What is in the source's
/// buffer goes at the rate in force when each cell begins.
#[test]
fn cells_begin_at_the_rate_in_force() {
    let mut plan = follower();
    plan.gates[1].framing = Framing::Aal5 { llc: false };
    plan.gates[1].rate = match &plan.gates[1].rate {
        // 42.4 kbit/s: a cell takes 10 ms; then half of 84.8 and of 42.4 kbit/s.
        RatePlan::Follow(follow) => {
            // Values come at 20 and 30 ms, when cells begin.
            let lag = Span::from_millis(10);
            RatePlan::Follow(FollowPlan { initial: Rate::from_bps(42_400), lag, ..*follow })
        }
        other => other.clone(),
    };
    plan.gates[0].rate = RatePlan::Steps {
        steps: vec![
            (Time::ZERO, Speed::Bits(Rate::from_bps(169_600))),
            (Time::ZERO + Span::from_millis(10), Speed::Bits(Rate::from_bps(84_800))),
        ],
        repeat: None,
    };
    let entries = [(0, 0, 88), (0, 0, 88), (0, 0, 40)];
    let story = tell(&plan, &entries, None);
    let at: Vec<u64> = story.departed.iter().map(|(at, _)| at.picos() / 1_000_000_000).collect();
    // Cells begin at 0 and 10 ms at 42.4 kbit/s, at 20 and 25 ms at 84.8, and at 30 ms at 42.4.
    assert_eq!(at, [20, 30, 40]);
    let delivered: Vec<u64> =
        story.delivered.iter().filter(|row| row.1 == 0).map(|row| row.0.picos() / 1_000_000_000).collect();
    assert_eq!(delivered, at);
}

/// One gate of 1 Mbit/s, 2 Mbit/s from 15 ms on; two packets wait at most.
fn published(kind: SignalKind) -> Vec<(Time, u64)> {
    let ms = Span::from_millis;
    let mut plan = Plan::empty(Time::ZERO + ms(100));
    let mut gate = GatePlan::open("gate");
    gate.rate = RatePlan::Steps {
        steps: vec![
            (Time::ZERO, Speed::Bits(Rate::from_bps(1_000_000))),
            (Time::ZERO + ms(15), Speed::Bits(Rate::from_bps(2_000_000))),
        ],
        repeat: None,
    };
    gate.queue.limit = QueueLimit::Packets(2);
    plan.gates.push(gate);
    plan.flows.push(flow("flow".to_owned(), vec![0], vec![], Span::ZERO, false));
    plan.signals.push(SignalPlan { gate: 0, kind, every: ms(10), lag: ms(7) });
    // Four at once: the last is dropped. One more exactly at the end of the first slot.
    let entries = [(0, 0, 1000), (0, 0, 1000), (0, 0, 1000), (0, 0, 1000), (10_000_000_000, 0, 500)];
    let story = tell(&plan, &entries, None);
    story.signals.iter().take(3).map(|(at, _, value)| (*at, *value)).collect()
}

#[test]
fn a_gate_publishes_its_slots() {
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let expect = |values: [u64; 3]| [(at(17), values[0]), (at(27), values[1]), (at(37), values[2])];
    assert_eq!(published(SignalKind::Capacity), expect([1_000_000, 1_500_000, 2_000_000]));
    // What comes at the end of a slot belongs to the next.
    assert_eq!(published(SignalKind::Arrivals), expect([4000, 500, 0]));
    assert_eq!(published(SignalKind::Drops), expect([1, 0, 0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Run-ahead changes nothing: every departure, drop, count and row is the same when each
    /// arrival and each end of service is an event of its own.
    #[test]
    fn exact_events_tell_the_same_story(plan in any_network(), entries in entries()) {
        let ahead = tell(&plan, &entries, None);
        let exact = tell(&Plan { exact_events: true, ..plan }, &entries, None);
        prop_assert_eq!(first_difference(&ahead, &exact), None);
    }

    /// Trains tell what cells one by one tell, and both what they tell with every event.
    #[test]
    fn trains_change_nothing(plan in any_cell_network(), entries in entries()) {
        let trains = tell(&plan, &entries, None);
        let one_by_one = tell(&Plan { cells_one_by_one: true, ..plan.clone() }, &entries, None);
        prop_assert_eq!(first_difference(&trains, &one_by_one), None);
        let exact = tell(&Plan { exact_events: true, ..plan }, &entries, None);
        prop_assert_eq!(first_difference(&trains, &exact), None);
    }

    /// A pump in real time wakes late, early and at odd instants; what enters carries its own
    /// time, and what leaves does so when it should have.
    #[test]
    fn waking_changes_no_departure(
        plan in prop_oneof![any_network(), any_cell_network()],
        entries in entries(),
        grain in 1_000_000u64..5_000_000_000,
        early in any::<bool>(),
    ) {
        let on_time = tell(&plan, &entries, None);
        let pumped = tell(&plan, &entries, Some(Waking { grain, early }));
        prop_assert_eq!(first_difference(&on_time, &pumped), None);
    }

    /// What is said of the next delivery holds, as long as nothing enters and no rate is fed back.
    #[test]
    fn nothing_is_delivered_sooner_than_said(
        plan in prop_oneof![any_network(), any_cell_network()],
        entries in entries(),
    ) {
        let mut plan = plan;
        for gate in &mut plan.gates {
            if matches!(gate.rate, RatePlan::Dtm(_) | RatePlan::Follow(_)) {
                gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(5_000_000)));
            }
        }
        let mut network = Network::new(&plan, 0);
        let mut arrivals = entries.iter().scan(Time::ZERO, |at, (gap, route, bytes)| {
            *at = at.saturating_add(Span::from_picos(*gap));
            Some((*at, route % (plan.flows.len() * 2), *bytes))
        }).peekable();
        loop {
            let (wake, bound) = (network.next_wakeup(), network.next_delivery());
            let entering = arrivals.peek().map_or(Time::NEVER, |arrival| arrival.0);
            if wake.min(entering) >= plan.duration {
                break;
            }
            if entering < wake {
                let (at, route, bytes) = arrivals.next().expect("it was there");
                network.handle_unit(at, route, &mut Unit::new(bytes, 0, HeldBy::Application));
                continue;
            }
            while let Some(step) = network.poll_step(wake.saturating_add(Span::from_picos(1))) {
                if let Step::Deliver { at, .. } = step {
                    prop_assert!(at >= bound, "{at} is sooner than {bound}");
                }
            }
        }
    }

    /// Whatever is asked for when: the channels of a pool never have more than it, and each has
    /// its least number of slots.
    #[test]
    fn a_pool_is_never_over_committed(plan in any_network(), entries in entries()) {
        let capacity = plan.pools[0].capacity.bps();
        let mut network = Network::new(&plan, 1);
        let mut at = Time::ZERO;
        for (handle, (gap, route, bytes)) in (0..).zip(entries) {
            at = at.saturating_add(Span::from_picos(gap));
            while network.poll_step(at).is_some() {}
            network.handle_unit(at, route % (plan.flows.len() * 2), &mut Unit::new(bytes, handle, HeldBy::Application));
            prop_assert!(rates_in_pool(&plan, &network) <= capacity);
            for (gate, row) in network.gates().iter().zip(&plan.gates) {
                if let RatePlan::Dtm(dtm) = &row.rate {
                    let least = dtm.settings.min * dtm.settings.slot.bps();
                    prop_assert!(gate.rate_set().is_some_and(|rate| rate.bps() >= least));
                }
            }
        }
    }

    /// Nothing is lost in silence: by the time all is quiet every packet has been delivered
    /// or dropped, once.
    #[test]
    fn every_packet_has_one_fate(
        plan in prop_oneof![any_network(), any_cell_network()],
        entries in entries(),
    ) {
        let plan = Plan { duration: Time::ZERO + Span::from_secs(10_000), traffic: vec![], ..plan };
        let mut plan = Plan { record: crate::plan::RecordPlan::default(), signals: vec![], ..plan };
        // Nobody keeps a circuit for ever that another wants.
        for row in &mut plan.reservations {
            row.hold = row.hold.or(Some(Span::from_millis(1)));
        }
        plan.calls.clear();
        // Measured seldom: the wait is long.
        for switch in &mut plan.switches {
            switch.every = Span::from_secs(1);
        }
        for gate in &mut plan.gates {
            if let RatePlan::Dtm(dtm) = &mut gate.rate {
                dtm.measure = Span::from_secs(1);
            }
            if let RatePlan::Abr(abr) = &mut gate.rate {
                abr.rm_within = Span::from_secs(1);
                abr.rates.min = 500_000.0;
            }
            // What follows nothing may stand for ever.
            if let RatePlan::Follow(follow) = &mut gate.rate {
                follow.every = Span::from_secs(1);
                follow.min = Rate::from_bps(500_000);
            }
        }
        let story = tell(&plan, &entries, None);
        let mut fates: Vec<u32> = story.delivered.iter().map(|(_, _, handle, _)| *handle).collect();
        fates.extend(story.dropped.iter().map(|(_, _, handle, _)| *handle));
        fates.sort_unstable();
        let mut entered: Vec<u32> = (0..entries.len() as u32).collect();
        entered.extend(
            story.delivered.iter().filter(|(_, route, ..)| route % 2 == 0).map(|(_, _, handle, _)| handle + 1_000_000),
        );
        entered.sort_unstable();
        prop_assert_eq!(fates, entered);
    }
}
