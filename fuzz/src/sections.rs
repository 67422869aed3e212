//! A section of cell gates under a list of packets: sources through one multiplexer, slotted or
//! not, with a policer, packet discard or jitter. Trains and cells one by one deliver and drop the same, every packet has one fate, and the
//! accounts of cells balance.

use tidegate_core::gate::Counters;
use tidegate_core::gcra::{Conformance, Interval, Limit};
use tidegate_core::net::{Dropped, Network, Step};
use tidegate_core::plan::{
    AppPlan, FlowPlan, Framing, GatePlan, JitterPlan, Plan, PolicePlan, QueueLimit, RatePlan, Reassembly,
    SourcePlan, StartPlan, TrafficPlan, TransportPlan,
};
use tidegate_core::unit::{HeldBy, Unit};
use tidegate_core::units::{Rate, Span, Speed, Time};

/// Bytes of an input that choose the gates.
const HEADER: usize = 3 + SOURCES;
const SOURCES: usize = 3;
/// Bytes that tell of packets, at most.
const MOST: usize = 60;

/// What is seen of a network: deliveries by route, drops, and the counters of every gate.
#[derive(Debug, PartialEq)]
struct Story {
    delivered: Vec<(Time, usize, u32)>,
    dropped: Vec<(Time, usize, u32, u8)>,
    counters: Vec<String>,
    traffic: String,
}

/// Any bytes: gates, then packets.
pub fn run(data: &[u8]) {
    let Some((header, packets)) = data.split_at_checked(HEADER) else { return };
    let packets = &packets[..packets.len().min(MOST)];
    let plan = plan(header);
    let trains = tell(&plan, packets);
    let one_by_one = tell(&Plan { cells_one_by_one: true, ..plan.clone() }, packets);
    assert_eq!(trains, one_by_one);
    if header[0] & 0x84 == 0x84 {
        assert_eq!(trains, tell(&Plan { exact: true, ..plan }, packets));
    }
}

/// The multiplexer comes first, its sources after it; the last also sends by itself.
fn plan(header: &[u8]) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_millis(2));
    plan.warmup = Time::ZERO + Span::from_micros(u64::from(header[0] >> 5 & 1) * 250);
    let mut multiplexer = cell_gate("mux", 150, u64::from(header[1]));
    multiplexer.cells.slotted = header[0] & 1 == 0;
    multiplexer.cells.ppd = header[0] & 0x0e == 0;
    multiplexer.cells.epd = (header[0] & 0x12 == 0).then_some(u64::from(header[1]) / 2);
    multiplexer.cells.reassembly = if header[0] & 0x40 == 0 { Reassembly::Aal5 } else { Reassembly::Simple };
    by_cell(&mut multiplexer, header[2]);
    plan.gates.push(multiplexer);
    for (number, byte) in header[3..].iter().enumerate() {
        let mbps = [150, 75, 35, 20, 15, 149, 1, 300][usize::from(byte & 7)];
        let mut source = cell_gate(&format!("source{number}"), mbps, u64::from(byte >> 3 & 15));
        source.delay = Span::from_micros(u64::from(byte >> 7) * 424);
        plan.gates.push(source);
    }
    plan.flows = (1..SOURCES)
        .map(|source| FlowPlan {
            dscp: 0,
            scone: None,
            name: format!("flow{source}"),
            path: vec![source, 0],
            back: vec![],
            back_delay: Span::ZERO,
            start: StartPlan::At(Time::ZERO),
            app: AppPlan::Bulk,
            transport: TransportPlan::Tcp,
            tcp: crate::endpoints::plan(&[0; 6]),
        })
        .collect();
    plan.traffic.push(TrafficPlan {
        name: "bg".to_owned(),
        group: "bg".to_owned(),
        delays: false,
        path: vec![SOURCES, 0],
        start: StartPlan::At(Time::ZERO),
        source: SourcePlan::Poisson { rate: Rate::from_bps(30_000_000), bytes: 1192 },
    });
    plan
}

/// What has to look at each cell of the multiplexer.
fn by_cell(gate: &mut GatePlan, byte: u8) {
    let limit = |mbps: u64, cells: u64| {
        let increment = Interval::at_rate(424, Rate::from_bps(mbps * 1_000_000)).expect("a rate");
        Limit::tokens(increment, cells).expect("few cells")
    };
    let cells = u64::from(byte >> 4);
    gate.police = match byte & 7 {
        0 => Some(PolicePlan {
            peak: limit(100, 1 + cells),
            sustained: None,
            tags: byte & 8 != 0,
            per_flow: None,
        }),
        1 => Some(PolicePlan {
            peak: limit(100, 1 + cells),
            sustained: Some((limit(40, 1 + 2 * cells), Conformance::Vbr3)),
            tags: false,
            per_flow: None,
        }),
        _ => None,
    };
    gate.queue.tagged = (byte & 0x0a == 0x08 || byte & 7 == 1).then_some(cells);
    gate.jitter = match byte & 7 {
        2 => JitterPlan::Uniform { most: Span::from_micros(8 * cells) },
        3 => JitterPlan::Exponential { mean: Span::from_micros(cells) },
        4 => JitterPlan::Wakeup {
            latency: Span::from_micros(cells),
            pause: Span::from_micros(20 * (1 + cells)),
        },
        _ => JitterPlan::None,
    };
}

/// 15 cells and more are no limit.
fn cell_gate(name: &str, mbps: u64, cells: u64) -> GatePlan {
    let mut gate = GatePlan::open(name);
    gate.framing = Framing::Aal5 { llc: false };
    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(mbps * 1_000_000)));
    gate.queue.limit = if cells % 16 == 15 { QueueLimit::Unlimited } else { QueueLimit::Cells(cells) };
    gate
}

/// Three bytes a packet: after how many microseconds, by which route and how large.
fn tell(plan: &Plan, packets: &[u8]) -> Story {
    let mut network = Network::new(plan, 0);
    let (mut at, mut entered) = (Time::ZERO, 0);
    let (mut delivered, mut dropped) = (vec![], vec![]);
    for packet in packets.chunks_exact(3) {
        at = at.saturating_add(Span::from_micros(u64::from(packet[0])));
        if at >= plan.duration {
            break;
        }
        drain(&mut network, at, &mut delivered, &mut dropped);
        let bytes = 40 + u32::from(packet[2]) * 36;
        let unit = &mut Unit::new(bytes, entered, HeldBy::Application);
        // Data routes are the even ones.
        network.handle_unit(at, usize::from(packet[1]) % (SOURCES - 1) * 2, unit);
        entered += 1;
    }
    drain(&mut network, plan.duration, &mut delivered, &mut dropped);
    network.finish();
    while let Some(drop) = network.poll_drop() {
        dropped.push(told(drop));
    }
    dropped.sort_unstable();
    network.gates().iter().for_each(|gate| balances(&gate.counters()));
    Story {
        delivered,
        dropped,
        counters: network.gates().iter().map(|gate| format!("{:?}", gate.counters())).collect(),
        traffic: format!("{:?}", network.traffic_counts().collect::<Vec<_>>()),
    }
}

fn told(dropped: Dropped) -> (Time, usize, u32, u8) {
    (dropped.at, dropped.gate, dropped.unit.handle, dropped.reason as u8)
}

fn drain(
    network: &mut Network,
    until: Time,
    delivered: &mut Vec<(Time, usize, u32)>,
    dropped: &mut Vec<(Time, usize, u32, u8)>,
) {
    while let Some(step) = network.poll_step(until) {
        match step {
            Step::Deliver { at, route, unit } => delivered.push((at, route, unit.handle)),
            Step::Drop(drop) => dropped.push(told(drop)),
            _ => {}
        }
    }
}

/// What came left, was refused, or is held.
fn balances(counters: &Counters) {
    let [came, left, refused] =
        [counters.arrived(), counters.delivered(), counters.refused()].map(|phases| phases.total().packets);
    assert!(came >= left + refused, "{came} came, {left} left, {refused} were refused");
    assert_eq!(came - left - refused, counters.held().packets);
}
