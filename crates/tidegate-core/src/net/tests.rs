use proptest::prelude::*;

use super::*;
use crate::gate::GateRow;
use crate::plan::{
    AppPlan, FlowPlan, GatePlan, HoldingPlan, QueueCounts, QueueLimit, RatePlan, RtoPlan, RtoRestart,
    SignalKind, SignalPlan, SourcePlan, StartPlan, TcpPlan, TrafficPlan,
};
use crate::tcp::tests::plans;
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
        (quick, 0u64..4, prop::option::of(1u64..20), any::<bool>()).prop_map(|(rate, delay, limit, host)| {
            let mut gate = GatePlan::open("");
            gate.rate = rate;
            gate.host = host;
            gate.delay = Span::from_millis(delay);
            gate.queue.limit = limit.map_or(QueueLimit::Unlimited, QueueLimit::Packets);
            gate.queue.counts = QueueCounts::Waiting;
            gate
        });
    prop_oneof![3 => express, 1 => crate::gate::tests::any_gate()]
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
        (Just(gates), flows, sources, any::<bool>(), signals).prop_map(
            |(gates, flows, sources, recorded, signals)| {
                let plan = network(gates, flows, sources, recorded);
                Plan { signals, ..plan }
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
    delivered: Vec<(Time, usize, u32)>,
    dropped: Vec<(Time, usize, u32, u8)>,
    departed: Vec<(Time, usize)>,
    signals: Vec<(Time, usize, u64)>,
    counters: Vec<String>,
    histories: Vec<Option<Vec<String>>>,
    traffic: Vec<TrafficCounts>,
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
        .or_else(|| lists("histories", &one.histories, &other.histories))
        .or_else(|| lists("traffic", &one.traffic, &other.traffic))
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
        histories: vec![],
        traffic: vec![],
    };
    let mut at = Time::ZERO;
    for (handle, (gap, route, bytes)) in (0..).zip(entries) {
        let next = at.saturating_add(Span::from_picos(*gap));
        if let Some(Waking { grain, early }) = waking {
            let mut now = at.picos() / grain * grain + grain;
            while now < next.picos() {
                drain(&mut network, Time::from_picos(now), &mut story);
                if early {
                    drain(&mut network, Time::from_picos(now), &mut story);
                }
                now += grain;
            }
        }
        at = next;
        drain(&mut network, at, &mut story);
        let unit = &mut Unit::new(*bytes, handle, HeldBy::Application);
        assert_eq!(network.enter(at, route % (plan.flows.len() * 2), unit), None);
    }
    drain(&mut network, plan.duration, &mut story);
    network.finish();
    story.dropped.retain(|(time, ..)| *time < plan.duration);
    story.dropped.sort_unstable();
    story.counters = network.gates().iter().map(|gate| format!("{:?}", gate.counters())).collect();
    let rows = |rows: Vec<GateRow>| rows.iter().map(|row| format!("{row:?}")).collect();
    story.histories = network.gates_mut().iter_mut().map(|gate| gate.take_history().map(rows)).collect();
    story.traffic = network.traffic_counts().collect();
    story
}

fn drain(network: &mut Network, until: Time, story: &mut Story) {
    while let Some(step) = network.step(until) {
        match step {
            Step::Deliver { at, route, unit } => {
                story.delivered.push((at, route, unit.handle));
                if route % 2 == 0 {
                    let ack = &mut Unit::new(40, unit.handle + 1_000_000, HeldBy::Application);
                    assert_eq!(network.enter(at, route + 1, ack), None);
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

fn entries() -> impl Strategy<Value = Vec<(u64, usize, u32)>> {
    let bytes = prop_oneof![3 => Just(1500u32), 1 => 40u32..1500];
    prop::collection::vec((0u64..2_000_000_000, 0usize..10, bytes), 1..150)
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

    /// A pump in real time wakes late, early and at odd instants; what enters carries its own
    /// time, and what leaves does so when it should have.
    #[test]
    fn waking_changes_no_departure(
        plan in any_network(),
        entries in entries(),
        grain in 1_000_000u64..5_000_000_000,
        early in any::<bool>(),
    ) {
        let on_time = tell(&plan, &entries, None);
        let pumped = tell(&plan, &entries, Some(Waking { grain, early }));
        prop_assert_eq!(first_difference(&on_time, &pumped), None);
    }

    /// Nothing is lost in silence: by the time all is quiet every packet has been delivered
    /// or dropped, once.
    #[test]
    fn every_packet_has_one_fate(plan in any_network(), entries in entries()) {
        let plan = Plan { duration: Time::ZERO + Span::from_secs(10_000), traffic: vec![], ..plan };
        let plan = Plan { record: crate::plan::RecordPlan::default(), signals: vec![], ..plan };
        let story = tell(&plan, &entries, None);
        let mut fates: Vec<u32> = story.delivered.iter().map(|(_, _, handle)| *handle).collect();
        fates.extend(story.dropped.iter().map(|(_, _, handle, _)| *handle));
        fates.sort_unstable();
        let mut entered: Vec<u32> = (0..entries.len() as u32).collect();
        entered.extend(
            story.delivered.iter().filter(|(_, route, _)| route % 2 == 0).map(|(_, _, handle)| handle + 1_000_000),
        );
        entered.sort_unstable();
        prop_assert_eq!(fates, entered);
    }
}
