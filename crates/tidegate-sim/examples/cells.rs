//! Cells through a bottleneck per CPU second: `cells SCENARIO [SECONDS] [one-by-one]` with
//! SCENARIO `shaped` or `unshaped` (four TCP connections and four background sources through
//! one slotted multiplexer, reassembly included) or `trains` (back-to-back packets of one
//! circuit through a link of the same rate, no TCP). Prints one line of key=value pairs.

#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use tidegate_core::aal5::CELL_BITS;
use tidegate_core::gcra::{Interval, Limit, Release};
use tidegate_core::plan::{
    AppPlan, CellPlan, CongestionPlan, EcnPlan, FlowPlan, Framing, GatePlan, GcraPlan, Increase, Plan,
    QueueLimit, RatePlan, ReadPlan, RtoPlan, RttTiming, SourcePlan, SsthreshRounding, StartPlan, TcpBase,
    TcpPlan, TcpRules, TickPhase, TrafficPlan, TransportPlan,
};
use tidegate_core::units::{Rate, Span, Speed, Time};

const LINK: u64 = 150_000_000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let scenario = args.first().map_or("shaped", String::as_str);
    let seconds: u64 = args.get(1).map_or(60, |text| text.parse().expect("seconds"));
    let mut plan = match scenario {
        "shaped" => shaping(Some(35_000_000)),
        "unshaped" => shaping(None),
        "trains" => back_to_back(),
        other => panic!("no scenario {other}"),
    };
    plan.duration = Time::ZERO + Span::from_secs(seconds);
    plan.cells_one_by_one = args.iter().any(|arg| arg == "one-by-one");
    let run = tidegate_sim::run(&plan, &mut |_| true).expect("nobody interrupts");
    let link = run.summary.gates.iter().find(|gate| gate.name == "L0").expect("there is one");
    let cells = link.cells.expect("it is a cell gate");
    println!(
        "scen={scenario} dur={seconds} one_by_one={} cells={} offered={} dropped={} events={}",
        plan.cells_one_by_one,
        cells.delivered_cells,
        cells.offered_cells,
        cells.dropped_cells,
        run.summary.events
    );
}

fn cell_gate(name: &str, rate: RatePlan, delay: Span, queue: Option<u64>) -> GatePlan {
    let mut gate = GatePlan::open(name);
    gate.rate = rate;
    gate.framing = Framing::Aal5 { llc: false };
    gate.delay = delay;
    gate.queue.limit = queue.map_or(QueueLimit::Unlimited, QueueLimit::Cells);
    gate
}

fn link() -> RatePlan {
    RatePlan::Constant(Speed::Bits(Rate::from_bps(LINK)))
}

fn shaper(pcr: u64) -> RatePlan {
    let increment = Interval::at_rate(CELL_BITS, Rate::from_bps(pcr)).expect("a rate");
    RatePlan::Gcra(GcraPlan {
        limit: Limit::new(increment, 0).expect("a limit"),
        link: Rate::from_bps(LINK),
        release: Release::Tat,
    })
}

/// `traffic-shaping.toml`: TCP shaped to so many bits per second, or not at all.
fn shaping(pcr: Option<u64>) -> Plan {
    let mut plan = Plan::empty(Time::ZERO);
    let hop = Span::from_micros(2500);
    plan.gates.push(cell_gate("L0", link(), hop, Some(1000)));
    plan.gates[0].cells = CellPlan { slotted: true, ..CellPlan::default() };
    for n in 0..4u64 {
        let source = plan.gates.len();
        plan.gates.push(cell_gate(&format!("shaper/{n}"), pcr.map_or_else(link, shaper), hop, None));
        plan.gates.push(cell_gate(&format!("bgshaper/{n}"), shaper(15_000_000), Span::ZERO, None));
        plan.flows.push(FlowPlan {
            dscp: 0,
            scone: None,
            name: format!("tcp.{n}"),
            path: vec![source, 0],
            back: vec![],
            back_delay: Span::from_millis(5),
            start: StartPlan::At(Time::ZERO + Span::from_millis(250 * n)),
            app: AppPlan::Bulk,
            transport: TransportPlan::Tcp,
            tcp: tcp(),
        });
        plan.traffic.push(TrafficPlan {
            name: format!("bg.{n}"),
            group: "bg".to_owned(),
            delays: true,
            path: vec![source + 1, 0],
            start: StartPlan::At(Time::ZERO),
            // Messages of 25 cells.
            source: SourcePlan::Poisson { rate: Rate::from_bps(12_500_000 / 53 * 48), bytes: 25 * 48 - 8 },
        });
    }
    plan
}

/// One circuit at the link's rate, full of packets.
fn back_to_back() -> Plan {
    let mut plan = Plan::empty(Time::ZERO);
    plan.gates.push(cell_gate("host", link(), Span::ZERO, None));
    plan.gates.push(cell_gate("L0", link(), Span::ZERO, Some(1000)));
    plan.traffic.push(TrafficPlan {
        name: "bg".to_owned(),
        group: "bg".to_owned(),
        delays: true,
        path: vec![0, 1],
        start: StartPlan::At(Time::ZERO),
        source: SourcePlan::Constant { rate: Rate::from_bps(LINK / 53 * 48 * 99 / 100), bytes: 193 * 48 - 8 },
    });
    plan
}

fn tcp() -> TcpPlan {
    let half_second = Span::from_millis(500);
    TcpPlan {
        base: TcpBase::Bsd44,
        cc: CongestionPlan::Tahoe { fast_retransmit: true },
        mss: 9180,
        headers: 40,
        window: Some(60 * 9180),
        initial_window: 9180,
        initial_ssthresh: Some(60 * 9180),
        increase: Increase::PerAck,
        dupthresh: Some(3),
        sack: false,
        limited_transmit: false,
        ssthresh_rounding: SsthreshRounding::Down,
        go_back_n: true,
        guard: true,
        phase: TickPhase::Common,
        rto: RtoPlan::Estimated {
            min: Span::from_secs(1),
            max: Span::from_secs(64),
            initial: Span::from_secs(6),
            tick: half_second,
        },
        delayed_ack: None,
        quick_acks: 0,
        rules: TcpRules::RFC,
        handshake: false,
        timestamps: false,
        rtt_timing: RttTiming::One,
        idle_restart: false,
        ecn: EcnPlan::Off,
        abe: false,
        read: ReadPlan::AtOnce,
    }
}
