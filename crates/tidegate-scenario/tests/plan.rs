//! What the language means: scenarios and the plans they make.

mod common;
mod reading;

use std::path::Path;

use tidegate_core::plan::{
    AppPlan, CoDelPlan, ColourAction, CongestionPlan, DelayedAckPlan, Discipline, DualPi2Plan, FlowPlan,
    FqCoDelPlan, Framing, HoldingPlan, KeyFramesPlan, LossPlan, MarkerPlan, MediaPlan, MeterPlan, OnChange,
    PiePlan, QueueCounts, QueueLimit, RatePlan, RecordLevel, RedAdaptivePlan, RedCurve, RedPlan, RtoPlan,
    RtoRestart, SizePlan, SourcePlan, StartPlan, StepThreshold, TcpBase, TcpPlan, TickPhase,
};
use tidegate_core::units::{Rate, Span, Speed, Time};
use tidegate_scenario::Scenario;

use reading::{load, plan, small};

fn tcp(flow: &str) -> TcpPlan {
    small("", flow).flows.remove(0).tcp
}

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

#[test]
fn the_least_scenario_has_linuxs_defaults() {
    let plan = plan("duration = \"10 s\"\n[gate.link]\ndelay = \"1 ms\"\n[flow.bulk]\npath = [\"link\"]");
    let open = tidegate_core::plan::GatePlan::open("link");
    assert_eq!(plan.gates, [tidegate_core::plan::GatePlan { delay: ms(1), ..open }]);
    assert_eq!(
        (plan.duration, plan.warmup, plan.seed),
        (Time::from_picos(10_000_000_000_000), Time::ZERO, 1)
    );
    let FlowPlan { tcp, back_delay, start, app, .. } = &plan.flows[0];
    assert_eq!((*back_delay, *start, app), (ms(1), StartPlan::At(Time::ZERO), &AppPlan::Bulk));
    assert_eq!((tcp.base, tcp.cc), (TcpBase::Linux, CongestionPlan::Cubic));
    assert_eq!((tcp.mss, tcp.headers, tcp.window, tcp.initial_window), (1448, 52, None, 14_480));
    assert_eq!((tcp.sack, tcp.limited_transmit, tcp.timestamps, tcp.dupthresh), (true, true, true, Some(3)));
    let named = |base: &str| small("", &format!("tcp.base = \"{base}\"")).flows.remove(0).tcp;
    assert_eq!(small("", "").flows[0].tcp, named("linux"));
    assert_eq!(small("", "tcp.timestamps = true").flows[0].tcp, named("linux-6.18"));
}

#[test]
fn the_standards_tcp_has_the_standards_defaults() {
    let tcp = tcp("tcp.base = \"rfc\"");
    assert_eq!((tcp.base, tcp.cc), (TcpBase::Rfc, CongestionPlan::NewReno));
    assert_eq!((tcp.mss, tcp.headers, tcp.window, tcp.initial_window), (1460, 40, None, 14_600));
    assert_eq!((tcp.sack, tcp.limited_transmit, tcp.timestamps, tcp.dupthresh), (true, true, false, Some(3)));
    let rto = RtoPlan::Estimated { min: ms(1000), max: ms(60_000), initial: ms(1000), tick: Span::ZERO };
    assert_eq!(tcp.rto, rto);
    let delayed = DelayedAckPlan { every: 2, timeout: Some(ms(200)), tick: Span::ZERO };
    assert_eq!(tcp.delayed_ack, Some(delayed));
}

#[test]
fn units_mean_what_they_say() {
    let rate = |text: &str| small(&format!("rate = \"{text}\""), "").gates.remove(0).rate;
    let bits = |bps: u64| RatePlan::Constant(Speed::Bits(Rate::from_bps(bps)));
    assert_eq!(rate("15.264 Mbit/s"), bits(15_264_000));
    assert_eq!(rate("12 Mbps"), bits(12_000_000));
    assert_eq!(rate("10Mbit/s"), bits(10_000_000));
    assert_eq!(rate("100 kB/s"), bits(800_000));
    assert_eq!(rate("1 Mibit/s"), bits(1_048_576));
    assert_eq!(rate("0.5 packets/s"), RatePlan::Constant(Speed::Packets(500_000)));
    assert_eq!(rate("unlimited"), RatePlan::Unlimited);
    let queue = |text: &str| small(&format!("queue = \"{text}\""), "").gates.remove(0).queue.limit;
    assert_eq!(queue("50 packets"), QueueLimit::Packets(50));
    assert_eq!(queue("64 KiB"), QueueLimit::Bytes(65_536));
    assert_eq!(queue("16 kbit"), QueueLimit::Bytes(2000));
    let delay = |text: &str| small(&format!("delay = \"{text}\""), "").gates.remove(0).delay;
    assert_eq!(delay("1.8097222 ms").picos(), 1_809_722_200);
    assert_eq!(delay("2 min").picos(), 120_000_000_000_000);
    assert_eq!(delay("3 µs"), delay("3 us"));
}

#[test]
fn a_step_is_in_packets_bytes_or_time() {
    let step = |threshold: &str| {
        let gate = format!("rate = \"8 Mbit/s\"\nqueue.aqm.step = \"{threshold}\"");
        small(&gate, "").gates.remove(0).queue.discipline
    };
    assert_eq!(step("30 packets"), Discipline::Step(StepThreshold::Packets(30)));
    assert_eq!(step("60 kB"), Discipline::Step(StepThreshold::Bytes(60_000)));
    assert_eq!(step("1 ms"), Discipline::Step(StepThreshold::Bytes(1000)));
}

/// The name alone and an empty table mean the constants of the RFC; a key changes one of them.
#[test]
fn disciplines_by_name_and_by_table() {
    let of = |aqm: &str| {
        let gate = format!("rate = \"8 Mbit/s\"\nqueue.aqm{aqm}");
        small(&gate, "").gates.remove(0).queue.discipline
    };
    for (name, default) in [
        // 500 bytes at 8 Mbit/s.
        ("red", Discipline::Red(RedPlan::default_for(Span::from_micros(500)))),
        ("codel", Discipline::CoDel(CoDelPlan::DEFAULT)),
        ("pie", Discipline::Pie(PiePlan::DEFAULT)),
        ("fq_codel", Discipline::FqCoDel(FqCoDelPlan::DEFAULT)),
        ("dualpi2", Discipline::DualPi2(DualPi2Plan::DEFAULT)),
    ] {
        assert_eq!(of(&format!(" = \"{name}\"")), default);
        assert_eq!(of(&format!(".{name} = {{}}")), default);
        assert_eq!(default.name(), name);
    }
    let ms = Span::from_millis;
    let codel = CoDelPlan { target: ms(7), interval: ms(80), ce_threshold: Some(ms(1)) };
    let keys = "target = \"7 ms\", interval = \"80 ms\", ce_threshold = \"1 ms\"";
    assert_eq!(of(&format!(".codel = {{ {keys} }}")), Discipline::CoDel(codel));
    let fq = FqCoDelPlan { codel, queues: 8, quantum: 300, limit: 50, memory: 64_000 };
    let more = "queues = 8, quantum = \"300 B\", limit = \"50 packets\", memory = \"64 kB\"";
    assert_eq!(of(&format!(".fq_codel = {{ {keys}, {more} }}")), Discipline::FqCoDel(fq));
    let bytes = FqCoDelPlan { limit: u64::MAX, memory: 9000, ..FqCoDelPlan::DEFAULT };
    assert_eq!(of(".fq_codel.limit = \"9 kB\""), Discipline::FqCoDel(bytes));
    let dual = DualPi2Plan {
        target: ms(20),
        update: ms(8),
        alpha: 500_000,
        beta: 1_250_000,
        coupling: 1_500_000,
        step: Span::from_micros(800),
        step_units: Some(5),
        step_spares: 0,
        range: Span::from_micros(400),
        classic_share: 62_500,
    };
    let dual_keys = "target = \"20 ms\", update = \"8 ms\", alpha = 0.5, beta = 1.25, coupling = 1.5, step = \"800 us\", \
                range = \"400 us\", classic_share = \"6.25%\", step_packets = 5, min_qlen_step = 0";
    assert_eq!(of(&format!(".dualpi2 = {{ {dual_keys} }}")), Discipline::DualPi2(dual));
    let pie = PiePlan {
        target: ms(10),
        update: ms(5),
        alpha: 250_000,
        beta: 2_500_000,
        max_burst: Span::ZERO,
        mark_below: 50_000_000_000_000_000,
        derandomize: false,
        cap: false,
    };
    let pie_keys = "target = \"10 ms\", update = \"5 ms\", alpha = 0.25, beta = 2.5, max_burst = \"0 s\", mark_below = \"5%\", \
                derandomize = false, cap = false";
    assert_eq!(of(&format!(".pie = {{ {pie_keys} }}")), Discipline::Pie(pie));
}

/// Thresholds in packets, bytes or time; each follows from the other.
#[test]
fn red_by_table() {
    let of = |keys: &str| {
        let gate = format!("rate = \"8 Mbit/s\"\nqueue.aqm.red = {{ {keys} }}");
        match small(&gate, "").gates.remove(0).queue.discipline {
            Discipline::Red(plan) => plan,
            other => panic!("{other:?}"),
        }
    };
    let default = RedPlan::default_for(Span::from_micros(500));
    let bytes = RedPlan { in_bytes: true, ..default };
    assert_eq!(of("min = \"7 packets\""), RedPlan { min: 7, max: 21, ..default });
    assert_eq!(of("max = \"21 packets\""), RedPlan { min: 7, max: 21, ..default });
    assert_eq!(of("min = \"9 kB\", max = \"12 kB\""), RedPlan { min: 9000, max: 12_000, ..bytes });
    assert_eq!(of("max = \"3 ms\""), RedPlan { min: 1000, max: 3000, ..bytes });
    let keys = "max_p = \"2%\", wq = 0.01, mean_packet = \"1 kB\", bandwidth = \"2 Mbit/s\", by_size = true, gentle = false, \
                wait = true, hard_drop = false";
    let other = RedPlan {
        max_p: 20_000_000_000_000_000,
        weight: 10_000_000,
        packet_time: Span::from_millis(4),
        by_size: Some(1000),
        gentle: false,
        wait: true,
        hard_drop: false,
        ..default
    };
    assert_eq!(of(keys), other);
    let weighted = of(
        "min = \"20 packets\", max = \"40 packets\", yellow = { min = \"10 packets\", max = \"30 packets\", \
                       max_p = \"50%\" }, red = { min = \"5 packets\", max = \"6 packets\" }",
    );
    let curve = |min, max, percent: u64| Some(RedCurve { min, max, max_p: percent * 10_000_000_000_000_000 });
    let colours = [None, curve(10, 30, 50), curve(5, 6, 10)];
    assert_eq!(weighted, RedPlan { min: 20, max: 40, colours, ..default });
    // 2000 packets of 500 bytes a second: 1 - exp(-1/2000).
    assert_eq!(of("wq = \"auto\"").weight, 499_875);
    assert_eq!(of("wq = \"1%\"").weight, of("wq = 0.01").weight);
    assert_eq!(of("adaptive = true").adaptive, Some(RedAdaptivePlan::DEFAULT));
    let steps = "adaptive = true, update = \"1 s\", increase = \"2%\", decrease = 0.8, max_p_least = \"3%\", \
                max_p_most = \"40%\", target_low = \"30%\", target_high = \"50%\"";
    let per_mille = 1_000_000_000_000_000;
    let adaptive = RedAdaptivePlan {
        interval: Span::from_secs(1),
        increase: 20 * per_mille,
        decrease: 800 * per_mille,
        least: 30 * per_mille,
        most: 400 * per_mille,
        target_low: 300_000,
        target_high: 500_000,
    };
    assert_eq!(of(steps).adaptive, Some(adaptive));
}

/// Markers by their RFCs' names, with what becomes of each colour, and limits by colour.
#[test]
fn markers_and_limits_by_colour() {
    let gate = |keys: &str| small(&format!("rate = \"8 Mbit/s\"\n{keys}"), "").gates.remove(0);
    let rate = Rate::from_bps;
    let single = gate("police.srtcm = { cir = \"2 Mbit/s\", cbs = \"15 kB\", ebs = \"0 B\" }");
    let meter = MeterPlan::SingleRate { cir: rate(2_000_000), cbs: 15_000, ebs: 0 };
    let actions = [ColourAction::Remark, ColourAction::Remark, ColourAction::Drop];
    assert_eq!(
        single.marker,
        Some(MarkerPlan { meter, colour_aware: false, actions, codepoints: [None; 3] })
    );
    assert_eq!((single.police, single.queue.colours), (None, [QueueLimit::Unlimited; 3]));
    let two = gate(
        "police.trtcm = { cir = \"2 Mbit/s\", cbs = \"15 kB\", pir = \"2 Mbit/s\", pbs = \"20 kB\", colour_aware = true, \
         green = \"pass\", yellow = \"drop\", red = \"remark\" }\nqueue.colour_limits = { yellow = \"9 packets\", red = \"3 kB\" }",
    );
    let two_rates =
        MeterPlan::TwoRate { cir: rate(2_000_000), cbs: 15_000, pir: rate(2_000_000), pbs: 20_000 };
    let others = [ColourAction::Pass, ColourAction::Drop, ColourAction::Remark];
    let codepoints = [None; 3];
    assert_eq!(
        two.marker,
        Some(MarkerPlan { meter: two_rates, colour_aware: true, actions: others, codepoints })
    );
    assert_eq!(two.queue.colours, [QueueLimit::Unlimited, QueueLimit::Packets(9), QueueLimit::Bytes(3000)]);
    let remarking = gate(
        "police.srtcm = { cir = \"2 Mbit/s\", cbs = \"15 kB\", ebs = \"0 B\", yellow = \"pass\", red = \"remark\", \
         dscp = { green = \"AF11\", red = 5 } }",
    );
    assert_eq!(remarking.marker.map(|marker| marker.codepoints), Some([Some(10), None, Some(5)]));
}

#[test]
fn a_limit_of_each_flow_and_a_second_bucket() {
    let police = "police = { rate = \"2 Mbit/s\", burst = \"15 kB\", per_flow = { rate = \"1 Mbit/s\", burst = \"5 kB\" } }";
    let policed =
        small(&format!("rate = \"8 Mbit/s\"\n{police}"), "").gates.remove(0).police.expect("a policer");
    let each = policed.per_flow.expect("a limit of each flow");
    assert_eq!((each.bits_per_second(8), each.burst()), (1_000_000, 5000));
    let names = ["rate, burst, peak, peak_burst", "cir, cbs, pir, pbs"];
    for given in names.map(|line| line.split(", ").collect::<Vec<_>>()) {
        let [rate, burst, peak, second] = given[..] else { panic!("four names") };
        let law = format!(
            "rate.token_bucket = {{ {rate} = \"2 Mbit/s\", {burst} = \"15 kB\", {peak} = \"4 Mbit/s\", {second} = \"3 kB\" }}"
        );
        let expected = RatePlan::TokenBucket {
            rate: Rate::from_bps(2_000_000),
            burst_bytes: 15_000,
            initial_bytes: None,
            peak: Some(Rate::from_bps(4_000_000)),
            peak_burst_bytes: Some(3000),
        };
        assert_eq!(small(&law, "").gates.remove(0).rate, expected);
    }
}

#[test]
fn copies_are_private_and_shared_gates_are_one() {
    let plan = load(common::WIDE).plan(None, 0);
    let names: Vec<&str> = plan.gates.iter().map(|gate| gate.name.as_str()).collect();
    let copies = [
        "access/client.1",
        "access/client.1/back",
        "access/client.2",
        "access/client.2/back",
        "access/single",
        "access/bg.1",
        "access/bg.2",
    ];
    assert_eq!(names[..7], copies);
    assert_eq!(names[7..], ["token", "steps", "chain", "recorded", "return"]);
    let path = |flow: usize| -> Vec<&str> { plan.flows[flow].path.iter().map(|gate| names[*gate]).collect() };
    let back = |flow: usize| -> Vec<&str> { plan.flows[flow].back.iter().map(|gate| names[*gate]).collect() };
    assert_eq!(path(1), ["access/client.2", "token", "chain"]);
    assert_eq!(back(1), ["return", "access/client.2/back"]);
    assert_eq!(path(2), ["access/single", "recorded", "steps"]);
    assert!(back(2).is_empty());
    assert_eq!(
        plan.traffic[1].path.iter().map(|gate| names[*gate]).collect::<Vec<_>>(),
        ["access/bg.2", "chain"]
    );
}

#[test]
fn the_way_back_makes_up_the_round_trip() {
    let plan = load(common::WIDE).plan(None, 0);
    // rtt 40 ms; 1 ms there, 3 ms and 1 ms of gates back
    assert_eq!(plan.flows[0].back_delay, ms(35));
    // left out: as long as the way there
    assert_eq!(plan.flows[2].back_delay, ms(11));
    let given = "duration = \"1 s\"\n[gate.a]\ndelay = \"5 ms\"\n[flow.f]\npath = [\"a\"]\nback = [\"a\"]";
    let shared = self::plan(given);
    assert_eq!((shared.gates.len(), shared.flows[0].back_delay), (1, Span::ZERO));
    assert_eq!(shared.flows[0].path, shared.flows[0].back);
    let none = self::plan(&given.replace("back = [\"a\"]", "back = []"));
    assert_eq!(none.flows[0].back_delay, Span::ZERO);
}

#[test]
fn the_other_direction_can_be_named() {
    let plan = plan(
        "duration = \"1 s\"\n[gate.trunk]\ndelay = \"1 ms\"\nduplex = true\n[flow.there]\npath = [\"trunk\"]\nback = [\"trunk\"]\n\
         [flow.here]\npath = [\"trunk/back\"]\nback = [\"trunk\"]",
    );
    let names: Vec<&str> = plan.gates.iter().map(|gate| gate.name.as_str()).collect();
    assert_eq!(names, ["trunk", "trunk/back"]);
    assert_eq!((plan.flows[0].path[0], plan.flows[0].back[0]), (0, 1));
    assert_eq!((plan.flows[1].path[0], plan.flows[1].back[0]), (1, 0));
}

#[test]
fn every_law_becomes_its_plan() {
    let plan = load(common::WIDE).plan(None, 0);
    let gate = |name: &str| plan.gates.iter().find(|gate| gate.name == name).expect("the gate is there");
    let token = gate("token");
    let bucket = RatePlan::TokenBucket {
        rate: Rate::from_bps(4_000_000),
        burst_bytes: 10_000,
        initial_bytes: None,
        peak: Some(Rate::from_bps(10_000_000)),
        peak_burst_bytes: None,
    };
    assert_eq!(token.rate, bucket);
    assert_eq!(token.framing, Framing::Overhead { overhead: 38, minimum: 84 });
    let steps = gate("steps");
    let RatePlan::Steps { steps: list, repeat: None } = &steps.rate else { panic!("{:?}", steps.rate) };
    assert_eq!(list[2], (Time::from_picos(7_000_000_000_000), Speed::Packets(1_000_500_000)));
    assert_eq!((steps.on_change, steps.queue.counts), (OnChange::Keep, QueueCounts::All));
    let chain = gate("chain");
    let RatePlan::Markov(markov) = &chain.rate else { panic!("{:?}", chain.rate) };
    assert_eq!((markov.rates[1].bps(), markov.step, markov.initial), (400_000, Some(ms(30)), None));
    assert_eq!(chain.on_change, OnChange::Keep);
    let law = LossPlan::GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.5, loss_good: 0.0, loss_bad: 1.0 };
    assert_eq!(chain.loss, law);
    let recorded = gate("recorded");
    assert!(matches!(&recorded.rate, RatePlan::RateTrace { trace, .. } if trace.points.len() == 2));
    assert_eq!(
        (recorded.on_change, recorded.loss),
        (OnChange::Rescale, LossPlan::Independent { probability: 0.01 })
    );
}

#[test]
fn applications_traffic_and_records_become_their_plans() {
    let scenario = load(common::WIDE);
    let plan = scenario.plan(None, 2);
    assert_eq!((plan.seed, plan.replication, plan.exact), (7, 2, true));
    assert_eq!(plan.flows[0].app, AppPlan::Transfer { bytes: 1_000_000 });
    let source = SourcePlan::OnOff {
        rate: Rate::from_bps(1_000_000),
        bytes: 1460,
        on: HoldingPlan::Constant(ms(1000)),
        off: HoldingPlan::Exponential(ms(2000)),
    };
    assert_eq!(plan.flows[2].app, AppPlan::Source(source));
    assert_eq!(plan.flows[0].start, StartPlan::Uniform(Time::ZERO, Time::from_picos(100_000_000_000)));
    assert_eq!(plan.traffic.len(), 2);
    assert_eq!(plan.traffic[0].source, SourcePlan::Poisson { rate: Rate::from_bps(100_000), bytes: 200 });
    assert_eq!(plan.record.level, RecordLevel::Every(ms(10)));
    assert_eq!((plan.record.gates, plan.record.flows), (Some(vec![9]), Some(vec![0, 1])));
    assert_eq!((plan.limits.events, plan.limits.memory_bytes), (Some(1_000_000), Some(1_000_000_000)));
    assert_eq!(scenario.inputs().len(), 1);
    assert_eq!(scenario.inputs()[0].sha256.len(), 64);
    assert_eq!(
        (scenario.flow_names(), scenario.runs()),
        (&["client".to_owned(), "single".to_owned()][..], 3)
    );
    assert!(scenario.warnings().is_empty(), "{:?}", scenario.warnings());
}

#[test]
fn tcp_layers_count_in_order() {
    let plan = load(common::WIDE).plan(None, 0);
    let client = &plan.flows[0].tcp;
    assert_eq!(client.cc, CongestionPlan::Tahoe { fast_retransmit: true });
    assert_eq!((client.mss, client.window, client.initial_window), (500, Some(10_000), 500));
    // 4.4BSD counts two ticks, whatever the tick
    let rto = RtoPlan::Estimated { min: ms(200), max: ms(64_000), initial: ms(6000), tick: ms(100) };
    assert_eq!(client.rto, rto);
    let delayed = DelayedAckPlan { every: 2, timeout: Some(ms(200)), tick: ms(200) };
    assert_eq!(client.delayed_ack, Some(delayed));
    let single = &plan.flows[2].tcp;
    assert_eq!((single.cc, single.timestamps), (CongestionPlan::Cubic, true));
    assert_eq!((single.headers, single.mss, single.initial_window), (52, 1448, 14_480));
    assert_eq!((single.dupthresh, single.delayed_ack, single.quick_acks), (None, None, 16));
}

#[test]
fn the_papers_tcp_can_be_said() {
    let abr = tcp("tcp.rto = { fixed = \"480 ms\", restart = \"departure\" }\ntcp.dupthresh = \"never\"");
    assert_eq!(abr.rto, RtoPlan::Fixed { rto: ms(480), restart: RtoRestart::Departure });
    let spacer = tcp("tcp.base = \"bsd44\"\ntcp.delayed_ack = { every = 2, timeout = \"never\" }");
    assert_eq!(spacer.delayed_ack, Some(DelayedAckPlan { every: 2, timeout: None, tick: Span::ZERO }));
    let rfc = |more: &str| tcp(&format!("tcp.base = \"rfc\"\n{more}"));
    let fixed = rfc("tcp.cc = \"fixed\"\ntcp.window = \"20 segments\"");
    assert_eq!(fixed.cc, CongestionPlan::Fixed { window: 29_200 });
    assert_eq!(rfc("tcp.timestamps = true").headers, 52);
    assert_eq!(rfc("tcp.mss = \"500 B\"").initial_window, 5000);
    assert_eq!(rfc("tcp.mss = \"9000 B\"").initial_window, 18_000);
    assert_eq!(rfc("tcp.rto.min = \"90 s\"").rto, {
        RtoPlan::Estimated { min: ms(90_000), max: ms(90_000), initial: ms(90_000), tick: Span::ZERO }
    });
}

#[test]
fn warnings_name_what_is_unused() {
    let scenario = load(
        "duration = \"10 s\"\n[gate.link]\nduplex = true\nrate = \"1 Mbit/s\"\n[gate.spare]\n[tcp.spare]\nsack = false\n\
         [flow.bulk]\npath = [\"link\"]\nstart = \"20 s\"\ntcp.fast_retransmit = false",
    );
    let keys: Vec<&str> = scenario.warnings().iter().map(|warning| warning.key.as_str()).collect();
    assert_eq!(
        keys,
        ["gate.link.duplex", "gate.spare", "tcp.spare", "flow.bulk.start", "flow.bulk.tcp.fast_retransmit"]
    );
    assert_eq!((scenario.warnings()[1].line, scenario.warnings()[1].column), (5, 7));
}

#[test]
fn a_flow_that_nothing_holds_back_is_a_warning() {
    let keys = |lines: &str| -> Vec<String> {
        let text = format!(
            "duration = \"10 s\"\n[gate.link]\ndelay = \"1 ms\"\n[flow.bulk]\npath = [\"link\"]\n{lines}"
        );
        load(&text).warnings().iter().map(|warning| warning.key.clone()).collect()
    };
    assert_eq!(keys(""), ["flow.bulk"]);
    assert!(keys("tcp.window = \"64 KiB\"").is_empty());
    assert!(keys("app.transfer = \"1 MB\"").is_empty());
}

#[test]
fn background_can_be_switched_off() {
    let text = common::WIDE;
    let none = Scenario::from_toml(text, "t", Some(Path::new("tests")), &["traffic.bg.count=0".to_owned()]);
    let plan = none.expect("no background is a scenario").plan(None, 0);
    assert!(plan.traffic.is_empty());
}

#[test]
fn an_error_is_a_value_with_its_parts() {
    let text = "duration = \"10 s\"\n[gate.link]\n  rate = \"12 mb\"\n[flow.bulk]\npath = [\"link\"]";
    let error = Scenario::from_toml(text, "a.toml", None, &[]).expect_err("mb is no unit");
    assert_eq!((error.file.as_str(), error.line, error.column), ("a.toml", Some(3), Some(10)));
    assert_eq!((error.key.as_str(), error.read.as_str()), ("gate.link.rate", "\"12 mb\""));
    assert_eq!(error.help.as_deref(), Some("write \"12 Mbit/s\""));
}

/// A point of a study: further edits, no sweep, and only the traces that it names.
#[test]
fn a_point_has_its_edits_and_no_sweep() {
    let text = "duration = \"4 s\"\n[gate.link]\nrate = \"1 Mbit/s\"\n[flow.bulk]\npath = [\"link\"]\n\
                [[sweep]]\n\"gate.link.rate\" = [\"2 Mbit/s\", \"3 Mbit/s\"]\n";
    let scenario = load(text);
    let point = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        scenario.point(&sets)
    };
    let fast = point(&["gate.link.rate=3 Mbit/s"]).unwrap_or_else(|error| panic!("{error}"));
    let alone = text.replace("1 Mbit/s\"\n[flow", "3 Mbit/s\"\n[flow");
    assert_eq!(fast.plan(None, 0), load(&alone).plan(None, 0));
    assert_eq!((fast.combinations().len(), scenario.combinations().len()), (1, 2));
    let again = load(&fast.to_toml());
    assert_eq!(again.plan(None, 0), fast.plan(None, 0), "{}", fast.to_toml());
    let wrong = point(&["gate.link.rte=3 Mbit/s"]).err().map(|error| error.to_string());
    assert!(wrong.is_some_and(|told| told.contains("rate")), "the nearest key is offered");
}

/// Tahoe's slow start begins at the first byte that is missing, on every base; 4.4BSD has no guard.
#[test]
fn tahoe_goes_back_and_bsd_has_no_guard() {
    let chosen = |text: &str| {
        let plan = tcp(text);
        (plan.go_back_n, plan.guard, plan.phase)
    };
    assert_eq!(chosen("tcp.cc = \"tahoe\""), (true, true, TickPhase::Own));
    assert_eq!(chosen("tcp.cc = \"tahoe\"\ntcp.go_back_n = false"), (false, true, TickPhase::Own));
    assert_eq!(chosen("tcp.cc = \"reno\""), (false, true, TickPhase::Own));
    assert_eq!(chosen("tcp.base = \"linux\""), (false, true, TickPhase::Own));
    assert_eq!(chosen("tcp.base = \"bsd44\""), (true, false, TickPhase::Own));
    let common = "tcp.base = \"bsd44\"\ntcp.guard = true\ntcp.rto.phase = \"common\"";
    assert_eq!(chosen(common), (true, true, TickPhase::Common));
    // The phase alone leaves the base's timer as it is.
    assert_eq!(tcp(common).rto, tcp("tcp.base = \"bsd44\"").rto);
}

#[test]
fn media_and_groups_become_their_plans() {
    let text = "duration = \"10 s\"\n[gate.link]\n\
        [traffic.video]\npath = [\"link\"]\ngroup = \"calls\"\nsource.media = { frame_rate = 29.97, frame.exponential \
        = \"5 kB\", key_frames = { every = 60, size = \"40 kB\" }, spread = \"10 ms\", deadline = \"150 ms\" }\n\
        [traffic.voice]\npath = [\"link\"]\ncount = 2\ndelays = false\nsource.media = { frame_rate = 50, frame = \"160 B\" }\n";
    let plan = load(text).plan(None, 0);
    let media = MediaPlan {
        frames_per_1000_s: 29_970,
        frame: SizePlan::Exponential { mean: 5000 },
        key_frames: Some(KeyFramesPlan { every: 60, size: SizePlan::Constant(40_000) }),
        packet: 1200,
        headers: 40,
        spread: ms(10),
        deadline: Some(ms(150)),
    };
    assert_eq!(plan.traffic[0].source, SourcePlan::Media(Box::new(media)));
    let rows = plan.traffic.iter().map(|row| (row.name.as_str(), row.group.as_str(), row.delays));
    let rows: Vec<(&str, &str, bool)> = rows.collect();
    assert_eq!(rows, [("video", "calls", true), ("voice.1", "voice", false), ("voice.2", "voice", false)]);
    assert_eq!(plan.traffic[1].source.largest(), 200);
}

/// A point is read from the text without the values of the axes, which may be very many. It is what the whole text with the point's edits
/// would be, and what is wrong is on the same line.
#[test]
fn a_point_is_what_the_whole_text_with_its_edits_is() {
    let toml = [
        "[[sweep]]\n\"gate.link.rate\" = [ # slow\n  \"2 Mbit/s\", # ] fast\n  \"3 Mbit/s\",\n]\n\
         gate.link.queue = [\"3 packets\", \"[4] packets\"]\n",
        "[[sweep]]\nflow.bulk = { tcp.cc = [\"reno\", \"cubic\"], rtt = [\n\"10 ms\",\n\"20 ms\"] }\n",
        "",
    ];
    let body = "duration = \"4 s\"\n[gate.link]\nrate = \"1 Mbit/s\"\n[flow.bulk]\npath = [\"link\"]\n";
    let mut texts: Vec<(String, bool)> =
        toml.iter().map(|axis| (format!("{body}{axis}[gate.other]\nrate = \"4 Mbit/s\"\n"), false)).collect();
    texts[0].0 = texts[0].0.replace("[4] packets", "4 packets");
    texts.push((
        "{\"duration\": \"4 s\", \"sweep\": [{\"gate.link.rate\": [\"2 Mbit/s\",\n \"3 Mbit/s\"]},\n \
         {\"flow\": {\"bulk\": {\"rtt\": [\"1 ms\"]}}}],\n\"gate\": {\"link\": {\"rate\": \"1 Mbit/s\"}, \
         \"other\": {\"rate\": \"4 Mbit/s\"}},\n\"flow\": {\"bulk\": {\"path\": [\"link\"]}}}"
            .to_owned(),
        true,
    ));
    for (text, json) in texts {
        let read = |sets: &[String]| match json {
            true => Scenario::from_json(&text, "a.json", None, sets),
            false => Scenario::from_toml(&text, "a.toml", None, sets),
        };
        let whole = read(&[]).unwrap_or_else(|error| panic!("{error}"));
        for edits in [
            &["gate.link.rate=3 Mbit/s", "runs=3"][..],
            &["flow.bulk.tcp.cc=cubic", "gate.other.queue=7 packets", "title=new"],
            &["gate.other.delay=5 ms", "gate.link.rate=2 mb"],
            &["gate.other.rate={token_bucket={rate=\"1 Mbit/s\"}}"],
        ] {
            let mut sets: Vec<String> = edits.iter().map(|edit| (*edit).to_owned()).collect();
            let told = |made: Scenario| (made.to_toml(), made.plan(None, 0));
            let point = whole.point(&sets).map(told);
            sets.push("sweep=[]".to_owned());
            let edited = read(&sets).map(told);
            match (point, edited) {
                (Ok(point), Ok(edited)) => assert_eq!(point, edited),
                (Err(point), Err(edited)) => {
                    assert_eq!(point.to_string(), edited.to_string());
                    assert_eq!((&point.file, point.line), (&edited.file, edited.line));
                }
                (point, edited) => panic!("{point:?} is not {edited:?}"),
            }
        }
    }
}

/// What is kept of each point of a study does not grow with the points.
#[test]
fn a_point_keeps_no_values_of_the_axes() {
    let point = |steps: usize| {
        let rates: Vec<String> = (1..=steps).map(|kbit| format!("\"{kbit} kbit/s\"")).collect();
        let scenario = load(&format!(
            "duration = \"4 s\"\n[gate.link]\nrate = \"1 Mbit/s\"\n[flow.bulk]\npath = [\"link\"]\n\
             [[sweep]]\n\"gate.link.rate\" = [{}]\n",
            rates.join(", ")
        ));
        assert_eq!(scenario.combinations().len(), steps);
        scenario.point(&["gate.link.rate=3 kbit/s".to_owned()]).unwrap_or_else(|error| panic!("{error}"))
    };
    let [few, many] = [2, 2_000].map(|steps| format!("{:?}", point(steps)));
    assert!(few == many, "{} bytes and {}", few.len(), many.len());
}

/// Which gates have rows: all, those that are named, none beside named flows or groups; a copy of a gate counts as the gate.
#[test]
fn gates_that_are_recorded_are_told_as_written() {
    let record = |table: &str| {
        let text = format!(
            "duration = \"4 s\"\n[gate.access]\nrate = \"1 Mbit/s\"\nper = \"flow\"\n[gate.link]\nrate = \"9 Mbit/s\"\n\
             [flow.user]\ncount = 3\npath = [\"access\", \"link\"]\n[record]\n{table}\n"
        );
        load(&text).recorded_gates().join(" ")
    };
    assert_eq!(record(""), "access link");
    assert_eq!(record("every = \"1 s\""), "access link");
    assert_eq!(record("access = [\"queue_packets\"]"), "access");
    assert_eq!(record("link = [\"queue_packets\"]\nuser = [\"cwnd_segments\"]"), "link");
    assert_eq!(record("user = [\"cwnd_segments\"]"), "");
    assert_eq!(record("groups = [\"user\"]"), "");
}
