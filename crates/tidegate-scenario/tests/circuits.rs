//! Circuits, pools and calls: scenarios, the plans they make, and what is said of them.

use std::path::Path;

use tidegate_core::plan::{
    ArrivalPlan, Blocked, CallsPlan, Demand, Framing, HoldingPlan, PoolOrder, PoolPlan, RatePlan,
    ReservationPlan,
};
use tidegate_core::units::{Rate, Span, Time};
use tidegate_scenario::Scenario;

fn load(text: &str) -> Scenario {
    match Scenario::from_toml(text, "test.toml", Some(Path::new("tests")), &[]) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    }
}

fn mbps(mbps: u64) -> Rate {
    Rate::from_bps(mbps * 1_000_000)
}

const EVERY_KEY: &str = r#"
    duration = "10 s"
    [pool.spare]
    capacity = "1 Gbit/s"
    [pool.vp]
    capacity = "155.52 Mbit/s"
    order = "first fit"
    [pool.link]
    capacity = "100 Mbit/s"
    [gate.vc]
    per = "flow"
    duplex = true
    framing.aal5.llc = true
    queue = "20 packets"
    rate.reserve = { pool = ["link", "vp"], rate = "20 Mbit/s", hold = "forever", setup = "3 ms", blocked = "refuse", retry = "1 s" }
    [gate.shared]
    rate.reserve = { pool = "vp", rate = "5 Mbit/s" }
    [flow.client]
    count = 2
    path = ["vc"]
    back = ["vc"]
    [flow.other]
    path = ["shared"]
    [traffic.bg]
    path = ["shared"]
    source.poisson = { rate = "1 Mbit/s" }
    [calls.phones]
    pool = "vp"
    rate = "64 kbit/s"
    every = { exponential = "2 s" }
    hold = "1 min"
    setup = "1 s"
    blocked = "refuse"
    start = "4 s"
"#;

#[test]
fn every_key_of_circuits_pools_and_calls_counts() {
    let scenario = load(EVERY_KEY);
    let plan = scenario.plan(None, 0);
    let pool =
        |name: &str, bps, order| PoolPlan { name: name.to_owned(), capacity: Rate::from_bps(bps), order };
    assert_eq!(
        plan.pools,
        [
            pool("spare", 1_000_000_000, PoolOrder::Asked),
            pool("vp", 155_520_000, PoolOrder::FirstFit),
            pool("link", 100_000_000, PoolOrder::Asked)
        ]
    );
    let both = vec![Demand { pool: 1, rate: mbps(20) }, Demand { pool: 2, rate: mbps(20) }];
    let own = |name: &str| ReservationPlan {
        name: name.to_owned(),
        demands: both.clone(),
        setup: Span::from_millis(3),
        hold: None,
        blocked: Blocked::Retry(Span::from_secs(1)),
    };
    let shared = ReservationPlan {
        name: "shared".to_owned(),
        demands: vec![Demand { pool: 1, rate: mbps(5) }],
        setup: Span::ZERO,
        hold: Some(Span::ZERO),
        blocked: Blocked::Wait,
    };
    assert_eq!(plan.reservations, [own("vc/client.1"), own("vc/client.2"), shared]);
    let of = |gate: &tidegate_core::plan::GatePlan| match &gate.rate {
        RatePlan::Reserve(circuit) => (gate.name.clone(), circuit.reservation, circuit.rate),
        other => panic!("{other:?}"),
    };
    let named = |name: &str, reservation, rate| (name.to_owned(), reservation, mbps(rate));
    assert_eq!(
        plan.gates.iter().map(of).collect::<Vec<_>>(),
        [
            named("vc/client.1", 0, 20),
            named("vc/client.1/back", 0, 20),
            named("vc/client.2", 1, 20),
            named("vc/client.2/back", 1, 20),
            named("shared", 2, 5)
        ]
    );
    assert_eq!(plan.gates[0].framing, Framing::CellPackets { llc: true });
    assert_eq!(
        plan.calls,
        [CallsPlan {
            name: "phones".to_owned(),
            start: Time::ZERO + Span::from_secs(4),
            arrivals: ArrivalPlan::Every(HoldingPlan::Exponential(Span::from_secs(2))),
            hold: HoldingPlan::Constant(Span::from_secs(60)),
            demands: vec![Demand { pool: 1, rate: Rate::from_bps(64_000) }],
            setup: Span::from_secs(1),
            blocked: Blocked::Refuse,
            patience: None,
        }]
    );
    let warnings: Vec<&str> = scenario.warnings().iter().map(|warning| warning.key.as_str()).collect();
    assert_eq!(warnings, ["pool.spare"]);
}

#[test]
fn circuits_in_series_are_one_call() {
    let plan = load(
        r#"
        duration = "10 s"
        [pool.p]
        capacity = "30 Mbit/s"
        [pool.q]
        capacity = "30 Mbit/s"
        [gate.one]
        duplex = true
        rate.reserve = { pool = ["q", "p"], rate = "10 Mbit/s", hold = "1 s" }
        [gate.two]
        rate.reserve = { pool = "q", rate = "5 Mbit/s", hold = "1 s" }
        [flow.bulk]
        path = ["one", "two"]
        back = ["one"]
        "#,
    )
    .plan(None, 0);
    let [call] = plan.reservations.as_slice() else { panic!("{:?}", plan.reservations) };
    assert_eq!(call.demands, [Demand { pool: 0, rate: mbps(10) }, Demand { pool: 1, rate: mbps(15) }]);
}

#[test]
fn calls_alone_are_something_to_run() {
    let text = "duration = \"9 s\"\n[pool.p]\ncapacity = \"2 Mbit/s\"\n[calls.c]\npool = \"p\"\nrate = \"1 Mbit/s\"\n\
                every = \"1 s\"\nhold = \"3 s\"\n";
    assert!(
        load(text)
            .explain()
            .contains("the load exceeds the capacity: the number of waiting calls keeps growing")
    );
}

#[test]
fn circuits_pools_and_calls_are_explained() {
    let said = load(EVERY_KEY).explain();
    for line in [
        "  => packets pass whole and take 53 bytes for each of their cells",
        "  => 5 circuits of 20 Mbit/s fit into 100 Mbit/s, pool link",
        "  => the first packet requests the circuit; the circuit is up 3 ms after the grant, and never released",
        "  => a call that does not fit is repeated after 1 s, and packets wait in the queue",
        "  => 31 circuits of 5 Mbit/s fit into 155.52 Mbit/s, pool vp",
        "  => the first packet requests the circuit; the circuit is up at the grant, and released as soon as it is idle",
        "pool spare\n  capacity  1 Gbit/s\n  => no gate takes capacity from it",
        "  => 3 circuits take capacity from it: vc/client.1 to shared",
        "  => they may not all fit into 155.52 Mbit/s at once: a small call may overtake a large one, which may wait for a long time",
        "  => all of them fit into 100 Mbit/s at once, with 60 Mbit/s left: no call ever waits",
        "  => a call every 2 s that lasts 61 s is a load of 30.5 Erlang; 2430 calls fit at once into 155.52 Mbit/s, pool vp",
    ] {
        assert!(said.contains(line), "{line}\n\n{said}");
    }
    let seven = EVERY_KEY.replace("[\"link\", \"vp\"]", "\"vp\"");
    assert!(load(&seven).explain().contains("7 circuits of 20 Mbit/s fit into 155.52 Mbit/s, pool vp"));
}

#[test]
fn patience_and_sources_make_plans_and_are_explained() {
    let text = r#"
        duration = "9 s"
        [pool.p]
        capacity = "2 Mbit/s"
        [calls.few]
        pool = "p"
        rate = "1 Mbit/s"
        sources = 6
        idle = { exponential = "9 s" }
        hold = { exponential = "3 s" }
        patience = "4 s"
        [calls.many]
        pool = "p"
        rate = "1 Mbit/s"
        every = { exponential = "1 s" }
        hold = { exponential = "3 s" }
        patience = { exponential = "2 s" }
    "#;
    let scenario = load(text);
    let plan = scenario.plan(None, 0);
    let exponential = |seconds| HoldingPlan::Exponential(Span::from_secs(seconds));
    assert_eq!(plan.calls[0].arrivals, ArrivalPlan::Sources { count: 6, idle: exponential(9) });
    assert_eq!(plan.calls[0].patience, Some(HoldingPlan::Constant(Span::from_secs(4))));
    assert_eq!(plan.calls[1].patience, Some(exponential(2)));
    let said = scenario.explain();
    for line in [
        "  => 6 sources, each idle for 9 s and then in a call for 3 s: 1.5 calls on average if none is blocked; 2 calls fit at once into 2 Mbit/s, pool p",
        "  => a call that has waited for 4 s gives up (abandoned)",
        "  => a call that has waited for 2 s on average gives up (abandoned)",
    ] {
        assert!(said.contains(line), "{line}\n\n{said}");
    }
    assert!(!said.contains("the number of waiting calls keeps growing"), "impatient calls leave");
    let few = load(&text.replace("sources = 6", "sources = 2")).explain();
    assert!(few.contains("all sources fit at once, so these sources never block each other"), "{few}");
}
