//! Gates with a queue discipline or with classes, behind a gate with a marker, under a list of packets and a media
//! source. Run ahead or event by event the same is delivered and dropped, every packet has one fate, packets of one flow
//! and codepoint keep their order, and what is counted of classes and of media frames adds up.

mod gates;

use std::collections::BTreeMap;

use tidegate_core::gate::{Counters, Gate};
use tidegate_core::net::{Dropped, Network, Owner, Step};
use tidegate_core::plan::{
    AppPlan, FlowPlan, KeyFramesPlan, MediaPlan, Plan, SizePlan, SourcePlan, StartPlan, TrafficPlan,
    TransportPlan,
};
use tidegate_core::unit::{Ecn, HeldBy, Unit};
use tidegate_core::units::{Span, Time};

/// Bytes of an input that choose the gates and the media source.
const HEADER: usize = gates::HEADER + 2;
const FLOWS: usize = 3;
/// Bytes that tell of packets, at most.
const MOST: usize = 90;
/// The first gate of every path, then the one that is tried.
const TRIED: usize = 1;

/// What is seen of a network.
#[derive(Debug, PartialEq)]
struct Story {
    delivered: Vec<(Time, usize, u32, Ecn)>,
    dropped: Vec<(Time, usize, Owner, u32, u8)>,
    counters: Vec<String>,
    traffic: String,
}

/// Any bytes: gates, then packets.
pub fn run(data: &[u8]) {
    let Some((header, packets)) = data.split_at_checked(HEADER) else { return };
    let packets = &packets[..packets.len().min(MOST)];
    let plan = plan(header);
    let ahead = tell(&plan, packets);
    if header[0] & 1 == 0 {
        let exact = tell(&Plan { exact: true, ..plan }, packets);
        // One after the other: a failure shows where they part.
        assert_eq!(ahead.dropped.iter().find(|drop| !exact.dropped.contains(drop)), None);
        assert_eq!(ahead.counters, exact.counters);
        assert_eq!(ahead, exact);
    }
}

fn plan(header: &[u8]) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_millis(40));
    plan.warmup = Time::ZERO + Span::from_millis(u64::from(header[0] >> 5 & 1) * 7);
    plan.gates = vec![gates::edge(header[1]), gates::tried(&header[..gates::HEADER], 2 * FLOWS)];
    plan.flows = (0..FLOWS)
        .map(|flow| FlowPlan {
            dscp: 0,
            scone: None,
            name: format!("flow{flow}"),
            path: vec![0, TRIED],
            back: vec![],
            back_delay: Span::ZERO,
            start: StartPlan::At(Time::ZERO),
            app: AppPlan::Bulk,
            transport: TransportPlan::Tcp,
            tcp: crate::endpoints::plan(&[0; 6]),
        })
        .collect();
    let source = SourcePlan::Media(Box::new(media(header[gates::HEADER], header[gates::HEADER + 1])));
    plan.traffic.push(TrafficPlan {
        name: "call".to_owned(),
        group: "call".to_owned(),
        delays: true,
        path: vec![0, TRIED],
        start: StartPlan::At(Time::ZERO),
        source,
    });
    plan
}

/// Frames every 2 to 40 ms, of one packet or more, at once or spread.
fn media(rhythm: u8, size: u8) -> MediaPlan {
    let frames_per_1000_s = [25_000, 29_970, 50_000, 500_000][usize::from(rhythm & 3)];
    let mean = 1 + 30 * u64::from(size);
    MediaPlan {
        frames_per_1000_s,
        frame: if size & 1 == 0 { SizePlan::Constant(mean) } else { SizePlan::Exponential { mean } },
        key_frames: (rhythm & 4 != 0)
            .then(|| KeyFramesPlan { every: u64::from(rhythm >> 6), size: SizePlan::Constant(4 * mean) }),
        packet: [90, 240, 540, 1500][usize::from(rhythm >> 3 & 3)],
        headers: 40,
        spread: Span::from_micros(if rhythm & 0x20 == 0 { 0 } else { 2_000 }),
        deadline: (size & 2 == 0).then_some(Span::from_millis(3)),
    }
}

/// What becomes of the packets: three bytes each, after how many tens of microseconds, of which flow and codepoint, and
/// how large.
fn tell(plan: &Plan, packets: &[u8]) -> Story {
    let mut network = Network::new(plan, 0);
    let mut at = Time::ZERO;
    let mut story = Story { delivered: vec![], dropped: vec![], counters: vec![], traffic: String::new() };
    let mut came = vec![];
    for packet in packets.chunks_exact(3) {
        at = at.saturating_add(Span::from_micros(10 * u64::from(packet[0])));
        if at >= plan.duration {
            break;
        }
        drain(&mut network, at, &mut story);
        let (route, ecn) = (usize::from(packet[1]) % FLOWS * 2, Ecn::from_bits(packet[1] >> 6));
        let mut unit = Unit::new(40 + u32::from(packet[2]) * 5, came.len() as u32, HeldBy::Application);
        unit.set_ecn(ecn);
        came.push((route, ecn));
        network.handle_unit(at, route, &mut unit);
    }
    drain(&mut network, plan.duration, &mut story);
    has_one_fate(&story, &came);
    network.finish();
    while let Some(drop) = network.poll_drop() {
        story.dropped.push(told(drop));
    }
    // A gate that runs ahead tells of drops after the end.
    story.dropped.retain(|(when, ..)| *when < plan.duration);
    story.dropped.sort_unstable();
    network.gates().iter().for_each(|gate| balances(&gate.counters()));
    classes_add_up(&network.gates()[TRIED]);
    frames_add_up(&network);
    story.counters = network.gates().iter().map(|gate| format!("{:?}", gate.counters())).collect();
    story.traffic = told_of_media(&network);
    story
}

fn told(dropped: Dropped) -> (Time, usize, Owner, u32, u8) {
    (dropped.at, dropped.gate, dropped.owner, dropped.unit.handle, dropped.reason as u8)
}

fn drain(network: &mut Network, until: Time, story: &mut Story) {
    while let Some(step) = network.poll_step(until) {
        match step {
            Step::Deliver { at, route, unit } => story.delivered.push((at, route, unit.handle, unit.ecn())),
            Step::Drop(drop) => story.dropped.push(told(drop)),
            _ => {}
        }
    }
}

/// Packets of flows are delivered or dropped once at most, and delivered in the order of time and of each flow and
/// codepoint; what cannot be marked is not.
fn has_one_fate(story: &Story, came: &[(usize, Ecn)]) {
    let mut last = BTreeMap::new();
    let mut seen = vec![false; came.len()];
    let mut before = Time::ZERO;
    for (at, route, handle, ecn) in &story.delivered {
        let (from, was) = came[*handle as usize];
        assert!(!std::mem::replace(&mut seen[*handle as usize], true), "{handle} came out twice");
        assert_eq!(from, *route);
        assert!(*ecn == was || (*ecn == Ecn::Ce && was != Ecn::NotEct), "{was:?} became {ecn:?}");
        assert!(*at >= before, "{handle} was delivered before its time");
        before = *at;
        // DualPI2 has a line for each kind of codepoint.
        let earlier = last.insert((*route, was as u8), *handle);
        assert!(earlier.is_none_or(|earlier| earlier < *handle), "{handle} overtook");
    }
    for (.., owner, handle, _) in &story.dropped {
        // Packets of the media source have numbers of their own, and are not delivered to anybody here.
        if *owner != Owner::Traffic(0) {
            let twice = std::mem::replace(&mut seen[*handle as usize], true);
            assert!(!twice, "{handle} was dropped twice, or dropped and delivered");
        }
    }
}

/// What came left, was refused or dropped from within, or is held.
fn balances(counters: &Counters) {
    let [came, left, refused] =
        [counters.arrived(), counters.delivered(), counters.refused()].map(|phases| phases.total().packets);
    let gone = left + refused + counters.culled().total().packets + counters.lost().total().packets;
    assert!(came >= gone, "{came} came, {gone} went");
}

fn classes_add_up(gate: &Gate) {
    let classes = gate.class_counters();
    if classes.is_empty() {
        return;
    }
    let whole = gate.counters();
    for of in [
        (&|of: &Counters| of.arrived().total().bytes) as &dyn Fn(&Counters) -> u64,
        &|of| of.delivered().total().bytes,
        &|of| of.refused().total().packets,
        &|of| of.culled().total().packets,
        &|of| of.marked().total().packets,
        &|of| of.held().packets,
    ] {
        assert_eq!(classes.iter().map(|class| of(&class.counters)).sum::<u64>(), of(&whole));
    }
}

fn told_of_media(network: &Network) -> String {
    let Some(transit) = network.transit(0) else { return String::new() };
    let frames =
        transit.frames().map(|frames| (frames.sent(), frames.lost(), frames.late(), frames.delays()));
    format!("{} {:?} {:?} {frames:?}", transit.lost(), transit.delays(), transit.jitter())
}

/// No frame is both lost and whole, and no packet of the source both lost and delivered.
fn frames_add_up(network: &Network) {
    let Some(transit) = network.transit(0) else { return };
    let counts = network.traffic_counts().next().expect("a source");
    assert!(transit.delays().count() + transit.lost() <= counts.sent.packets);
    let frames = transit.frames().expect("a media source");
    let known = frames.lost() + frames.delays().count();
    assert!(known <= frames.sent(), "{known} of {} frames", frames.sent());
    assert!(frames.late().unwrap_or(0) <= frames.delays().count());
}
