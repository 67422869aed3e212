//! The scenarios that ns-2 and ns-3 run beside us (s1, s2, s3, s3k), for comparisons of
//! results and of speed: `peers SCENARIO [CC] [SECONDS] [VARY] [REPEAT]` prints one line of
//! key=value pairs. After s1 a colon and a word give the queue before its bottleneck a discipline with the constants of its
//! RFC, or of Linux: `s1:codel`, `s1:pie`, `s1:fq_codel`, `s1:dualpi2`, `s1:cake`; `s1:unlimited` lets it grow. `@` and a
//! number of milliseconds at the end record all flows so often, and no gates: `s1@10`; `s1@10+gates` all gates too. SECONDS 0 is the
//! scenario's own length.
//! VARY is s1's bottleneck delay in milliseconds and, in s3 and s3k, microseconds added to every round-trip time: those two
//! are chaotic, and one number of one run says little. REPEAT runs the same plan so often in
//! one process, because one run is shorter than a process takes to start; `total` is what
//! they all delivered.

#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use tidegate_core::plan::{
    AppPlan, CakePlan, CoDelPlan, CongestionPlan, DelayedAckPlan, Discipline, DualPi2Plan, EcnPlan, FlowPlan,
    FqCoDelPlan, GatePlan, Increase, PiePlan, Plan, QueueLimit, QueuePlan, RatePlan, ReadPlan, RecordLevel,
    RtoPlan, RttTiming, SsthreshRounding, StartPlan, TcpBase, TcpPlan, TcpRules, TickPhase, TransportPlan,
};
use tidegate_core::units::{Rate, Span, Speed, Time};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |n: usize, default: &str| args.get(n).cloned().unwrap_or_else(|| default.to_owned());
    let (words, cc) = (arg(0, "s1"), arg(1, "newreno"));
    let (network, every) = words.split_once('@').unwrap_or((&words, ""));
    let (scenario, aqm) = network.split_once(':').unwrap_or((network, ""));
    let seconds: f64 = arg(2, "0").parse().expect("seconds");
    let vary: f64 = arg(3, if scenario == "s1" { "10" } else { "0" }).parse().expect("a number");
    let repeat: u64 = arg(4, "1").parse().expect("how often");
    let tcp = tcp(&cc);
    let (mut plan, rate) = match scenario {
        "s1" => (one_flow(&tcp, Span::from_picos((vary * 1e9).round() as u64)), 5e6),
        "s2" => (fast_flow(&tcp), 622e6),
        "s3" => (dumbbell(&tcp, 100, vary * 1e-6), 1e9),
        "s3k" => (dumbbell(&tcp, 1000, vary * 1e-6), 1e9),
        other => panic!("no scenario {other}"),
    };
    if !aqm.is_empty() {
        let bottleneck = plan.gates.iter_mut().find(|gate| gate.name == "bottleneck").expect("a bottleneck");
        if aqm == "cake" {
            bottleneck.classes = Some(CakePlan::default_for(bottleneck.framing).classes().into());
        } else if aqm == "unlimited" {
            bottleneck.queue.limit = QueueLimit::Unlimited;
        } else {
            bottleneck.queue.discipline = discipline(aqm);
        }
    }
    if !every.is_empty() {
        let (millis, gates) = every.split_once('+').unwrap_or((every, ""));
        let millis = millis.parse().expect("milliseconds between two rows");
        plan.record.level = RecordLevel::Every(Span::from_millis(millis));
        plan.record.gates = if gates == "gates" { None } else { Some(Vec::new()) };
    }
    if seconds > 0.0 {
        plan.duration = Time::from_picos((seconds * 1e12) as u64);
    }
    let simulate = || tidegate_sim::run(&plan, &mut |_| true).expect("nobody interrupts");
    for _ in 1..repeat {
        std::hint::black_box(simulate());
    }
    let run = simulate();
    let sum = |value: fn(&tidegate_sim::FlowSummary) -> u64| run.summary.flows.iter().map(value).sum::<u64>();
    let delivered = sum(|flow| flow.segments_delivered);
    // As in ns-2's script: at the bottleneck, not in the access links.
    let bottleneck = run.summary.gates.iter().find(|gate| gate.name == "bottleneck");
    let drops = bottleneck.map_or(0, |gate| gate.dropped_packets);
    let duration = plan.duration.as_secs_f64();
    println!(
        "peer=tidegate scen={words} tcp={cc} dur={duration} delivered={delivered} sent={} rexmit={} timeouts={} \
         drops={drops} events={} goodput_mbps={:.3} util={:.4} runs={repeat} total={}",
        sum(|flow| flow.segments_sent),
        sum(|flow| flow.segments_retransmitted),
        sum(|flow| flow.timeouts),
        run.summary.events,
        delivered as f64 * 1460.0 * 8.0 / duration / 1e6,
        delivered as f64 * 1500.0 * 8.0 / duration / rate,
        delivered * repeat,
    );
}

/// A discipline with the constants of its RFC.
fn discipline(word: &str) -> Discipline {
    match word {
        "codel" => Discipline::CoDel(CoDelPlan::DEFAULT),
        "pie" => Discipline::Pie(PiePlan::DEFAULT),
        "fq_codel" => Discipline::FqCoDel(FqCoDelPlan::DEFAULT),
        "dualpi2" => Discipline::DualPi2(DualPi2Plan::DEFAULT),
        other => panic!("no discipline {other}"),
    }
}

/// ns-2's TCP: SYN, initial window 2, limited transmit, no SACK, RTO of at least 200 ms with
/// a 10 ms tick, first RTO 3 s, an ACK per segment.
fn tcp(cc: &str) -> TcpPlan {
    if let Some(name) = cc.strip_prefix("linux-") {
        return linux(name);
    }
    if let Some(name) = cc.strip_prefix("host-") {
        return host(name);
    }
    TcpPlan {
        base: TcpBase::Rfc,
        cc: match cc {
            "tahoe" => CongestionPlan::Tahoe { fast_retransmit: true },
            "reno" => CongestionPlan::Reno,
            "cubic" => CongestionPlan::Cubic,
            _ => CongestionPlan::NewReno,
        },
        mss: 1460,
        headers: 40,
        window: None,
        initial_window: 2 * 1460,
        initial_ssthresh: None,
        increase: Increase::PerAck,
        dupthresh: Some(3),
        sack: cc == "sack",
        limited_transmit: true,
        // ns-2's NewReno and SACK halve the flight, its Reno and Tahoe whole segments of cwnd.
        ssthresh_rounding: match cc {
            "reno" | "tahoe" => SsthreshRounding::Down,
            _ => SsthreshRounding::Exact,
        },
        go_back_n: true,
        guard: true,
        phase: TickPhase::Common,
        rto: RtoPlan::Estimated {
            min: Span::from_millis(200),
            max: Span::from_secs(60),
            initial: Span::from_secs(3),
            tick: Span::from_millis(10),
        },
        delayed_ack: None,
        quick_acks: 0,
        rules: TcpRules::RFC,
        handshake: true,
        timestamps: false,
        rtt_timing: RttTiming::One,
        idle_restart: false,
        ecn: EcnPlan::Off,
        abe: false,
        read: ReadPlan::AtOnce,
    }
}

/// Linux's rules, with an ACK per segment as the peers have it: `linux-cubic`, `linux-bbr` and the like.
fn linux(cc: &str) -> TcpPlan {
    TcpPlan {
        base: TcpBase::Linux,
        cc: CongestionPlan::named(cc).expect("a controller"),
        sack: true,
        guard: true,
        go_back_n: false,
        initial_window: 10 * 1460,
        increase: Increase::PerWindow,
        rto: RtoPlan::Estimated {
            min: Span::from_millis(200),
            max: Span::from_secs(120),
            initial: Span::from_secs(1),
            tick: Span::ZERO,
        },
        rtt_timing: RttTiming::Every,
        rules: TcpRules { acks: TcpRules::RFC.acks, ..TcpRules::LINUX },
        ..tcp("newreno")
    }
}

/// Linux's rules as scenarios have them: timestamps, an ACK for two segments, a receive window that grows: `host-cubic` and the like.
fn host(cc: &str) -> TcpPlan {
    TcpPlan {
        mss: 1448,
        headers: 52,
        initial_window: 10 * 1448,
        rules: TcpRules::LINUX,
        delayed_ack: Some(DelayedAckPlan {
            every: 2,
            timeout: Some(Span::from_millis(40)),
            tick: Span::ZERO,
        }),
        quick_acks: 16,
        timestamps: true,
        idle_restart: true,
        ..linux(cc)
    }
}

fn link(name: &str, mbps: u64, delay: Span, packets: Option<u64>) -> GatePlan {
    GatePlan {
        rate: RatePlan::Constant(Speed::Bits(Rate::from_bps(mbps * 1_000_000))),
        queue: QueuePlan {
            limit: packets.map_or(QueueLimit::Unlimited, QueueLimit::Packets),
            ..QueuePlan::UNLIMITED
        },
        delay,
        ..GatePlan::open(name)
    }
}

fn flow(name: String, path: Vec<usize>, back: Vec<usize>, start: Time, tcp: &TcpPlan) -> FlowPlan {
    FlowPlan {
        dscp: 0,
        scone: None,
        name,
        path,
        back,
        back_delay: Span::ZERO,
        start: StartPlan::At(start),
        app: AppPlan::Bulk,
        transport: TransportPlan::Tcp,
        tcp: tcp.clone(),
    }
}

/// ns-2's `DropTail` refuses a packet when its length plus one reaches the limit.
const fn waiting(limit: u64) -> Option<u64> {
    Some(limit - 1)
}

/// One flow over 10/5/10/10 Mbit/s, 10 ms per hop, 50 packets before the 5 Mbit/s link.
fn one_flow(tcp: &TcpPlan, bottleneck_delay: Span) -> Plan {
    let ms = Span::from_millis(10);
    let mut plan = Plan::empty(Time::ZERO + Span::from_secs(200));
    for (suffix, limit) in [("", waiting(50)), (".back", waiting(1000))] {
        plan.gates.push(link(&format!("access{suffix}"), 10, ms, waiting(1000)));
        plan.gates.push(link(&format!("bottleneck{suffix}"), 5, bottleneck_delay, limit));
        plan.gates.push(link(&format!("third{suffix}"), 10, ms, waiting(1000)));
        plan.gates.push(link(&format!("sink{suffix}"), 10, ms, waiting(1000)));
    }
    plan.flows.push(flow("bulk".to_owned(), vec![0, 1, 2, 3], vec![7, 6, 5, 4], Time::ZERO, tcp));
    plan
}

/// One flow over 622 Mbit/s, RTT 40 ms, a buffer of one BDP.
fn fast_flow(tcp: &TcpPlan) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_secs(60));
    for (suffix, limit) in [("", waiting(2073)), (".back", waiting(1_000_000))] {
        plan.gates.push(link(&format!("access{suffix}"), 10_000, Span::from_millis(1), waiting(1_000_000)));
        plan.gates.push(link(&format!("bottleneck{suffix}"), 622, Span::from_millis(18), limit));
        plan.gates.push(link(&format!("sink{suffix}"), 10_000, Span::from_millis(1), waiting(1_000_000)));
    }
    plan.flows.push(flow("bulk".to_owned(), vec![0, 1, 2], vec![5, 4, 3], Time::ZERO, tcp));
    plan
}

/// Flows over a 1 Gbit/s dumbbell, RTTs from 20 to 120 ms, starts within the first second.
fn dumbbell(tcp: &TcpPlan, flows: usize, later: f64) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_secs(20));
    let ms = Span::from_millis(1);
    plan.gates.push(link("bottleneck", 1000, ms, waiting(2917)));
    plan.gates.push(link("bottleneck.back", 1000, ms, waiting(1_000_000)));
    for n in 0..flows {
        let rtt = later + 0.020 + 0.100 * n as f64 / (flows as f64 - 1.0);
        let access = Span::from_picos(((rtt / 2.0 - 0.002) * 1e12).round() as u64);
        let first = plan.gates.len();
        plan.gates.push(link(&format!("access/{n}"), 1000, access, waiting(100_000)));
        plan.gates.push(link(&format!("sink/{n}"), 1000, ms, waiting(100_000)));
        plan.gates.push(link(&format!("sink/{n}.back"), 1000, ms, waiting(100_000)));
        plan.gates.push(link(&format!("access/{n}.back"), 1000, access, waiting(100_000)));
        let start = Time::from_picos((n as f64 / flows as f64 * 1e12).round() as u64);
        let (path, back) = (vec![first, 0, first + 1], vec![first + 2, 1, first + 3]);
        plan.flows.push(flow(format!("bulk.{}", n + 1), path, back, start, tcp));
    }
    plan
}
