//! What `queue.aqm = "cake"`, `from` and `to` mean.

mod reading;

use tidegate_core::plan::{
    AckFilter, CakePlan, ClassesPlan, Diffserv, Discipline, Framing, Isolation, LinkLayer, Plan,
    SchedulerPlan, ShapedBytes, TinsPlan,
};
use tidegate_core::units::{Rate, Span};

use reading::{load, plan, small};

fn tins(plan: &Plan, gate: usize) -> (&ClassesPlan, &TinsPlan) {
    let classes = plan.gates[gate].classes.as_deref().expect("tins");
    match &classes.scheduler {
        SchedulerPlan::Cake(tins) => (classes, tins),
        other => panic!("{other:?}"),
    }
}

/// Every key, against the plan made by hand.
#[test]
fn keys_become_the_plan() {
    let of = |aqm: &str| small(&format!("rate = \"8 Mbit/s\"\nqueue.aqm{aqm}"), "");
    let flows = |plan: &Plan| -> Vec<Discipline> {
        tins(plan, 0).0.classes.iter().map(|class| class.queue.discipline).collect()
    };
    let expected = |plan: CakePlan| -> Vec<Discipline> {
        plan.classes().classes.iter().map(|class| class.queue.discipline).collect()
    };
    let default = CakePlan::default_for(Framing::Ip);
    assert_eq!(flows(&of(" = \"cake\"")), expected(default));
    assert_eq!(flows(&of(".cake = {}")), expected(default));
    let keys = "bandwidth = \"5 Mbit/s\", overhead = -4, mpu = \"64 B\", compensation = \"ptm\", diffserv = \"diffserv4\", \
                isolation = \"dual-dsthost\", rtt = \"40 ms\", target = \"3 ms\", mtu = \"9000 B\", queues = 16, \
                quantum = \"700 B\", blue_increment = \"1%\", blue_decrement = 0.001, memory = \"90 kB\"";
    let mine = CakePlan {
        bandwidth: Some(Rate::from_bps(5_000_000)),
        bytes: ShapedBytes::Beyond { overhead: -4, least: 64, link: LinkLayer::Ptm },
        diffserv: Diffserv::Four,
        isolation: Isolation::DualDestination,
        rtt: Span::from_millis(40),
        target: Some(Span::from_millis(3)),
        mtu: 9000,
        queues: 16,
        quantum: Some(700),
        increment: 10_000_000_000_000_000,
        decrement: 1_000_000_000_000_000,
        memory: Some(90_000),
        ..default
    };
    let read = of(&format!(".cake = {{ {keys} }}"));
    assert_eq!(flows(&read), expected(mine));
    let (_, shaper) = tins(&read, 0);
    assert_eq!((shaper.bandwidth, shaper.memory, shaper.limit), (mine.bandwidth, 90_000, u64::MAX));
    let limited = of(" = \"cake\"\nqueue.limit = \"20 packets\"");
    assert_eq!(tins(&limited, 0).1.limit, 20);
    let smaller = of(".cake.memory = \"1 MB\"\nqueue.limit = \"20 kB\"");
    assert_eq!(tins(&smaller, 0).1.memory, 20_000);
}

/// Codepoints say the tin; a gate that washes hides them from those after it; names say the hosts.
#[test]
fn codepoints_say_tins_and_names_say_hosts() {
    let text = "duration = \"10 s\"\n[gate.one]\nrate = \"9 Mbit/s\"\nqueue.aqm.cake = { wash = true }\n\
                [gate.two]\nrate = \"9 Mbit/s\"\nqueue.aqm = \"cake\"\n\
                [flow.a]\npath = [\"one\", \"two\"]\nback = [\"two\"]\ncount = 2\ndscp = \"EF\"\nto = \"laptop\"\n\
                [flow.b]\npath = [\"one\"]\nback = [\"one\"]\ndscp = \"CS1\"\nfrom = \"server\"\nto = \"laptop\"\n\
                [traffic.c]\npath = [\"two\"]\nfrom = \"server\"\nsource.constant.rate = \"1 Mbit/s\"";
    let plan = plan(text);
    let (one, hosts) = tins(&plan, 0);
    assert_eq!(one.of_route.as_ref(), [2, 2, 2, 2, 1, 1, 0]);
    // What has passed the first gate is washed; ACKs have not.
    assert_eq!(tins(&plan, 1).0.of_route[..4], [0, 2, 0, 2]);
    let [a1, _, a2, _, b, back, c] = hosts.hosts.as_ref() else { panic!("{:?}", hosts.hosts) };
    assert_eq!((a1[1], a2[1]), (b[1], b[1]));
    assert_eq!((b[0], [b[1], b[0]]), (c[0], *back));
    let mut all = vec![a1[0], a2[0], a1[1], b[0], c[1]];
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 5);
}

#[test]
fn a_shaper_above_the_gate_is_a_warning() {
    let text = "duration = \"10 s\"\n[gate.link]\nrate = \"9 Mbit/s\"\nqueue.aqm.cake = { bandwidth = \"10 Mbit/s\" }\n\
                [flow.a]\npath = [\"link\"]\ntcp.window = \"90 kB\"";
    let scenario = load(text);
    let warnings: Vec<_> = scenario.warnings().iter().map(|warning| warning.key.as_str()).collect();
    assert_eq!(warnings, ["gate.link.queue.aqm.cake.bandwidth"]);
}

/// A packet of 1514 bytes takes 12.112 ms at 1 Mbit/s and 3.028 ms at 4, of which one and a half are within 5 ms.
#[test]
fn a_slow_link_without_a_bandwidth_is_a_warning() {
    let warned = |gate: &str| {
        let text = format!(
            "duration = \"10 s\"\n[gate.link]\n{gate}\n[flow.a]\npath = [\"link\"]\ntcp.window = \"90 kB\""
        );
        let said: Vec<String> = load(&text).warnings().iter().map(ToString::to_string).collect();
        said.join("\n")
    };
    let said = warned("rate = \"1 Mbit/s\"\nqueue.aqm = \"cake\"");
    assert!(said.contains("a packet takes 12.1 ms here, and drops for waits above 5 ms"), "{said}");
    assert!(
        said.contains("cake.bandwidth = \"1 Mbit/s\" }, as sqm-scripts do, which makes the limit 18.2 ms"),
        "{said}"
    );
    for good in [
        "rate = \"4 Mbit/s\"\nqueue.aqm = \"cake\"",
        "rate = \"1 Mbit/s\"\nqueue.aqm.cake.bandwidth = \"1 Mbit/s\"",
        "rate = \"1 Mbit/s\"\nqueue.aqm.cake.target = \"20 ms\"",
    ] {
        assert_eq!(warned(good), "");
    }
}

#[test]
fn the_ack_filter_is_off_unless_it_is_asked_for() {
    let of = |aqm: &str| {
        let plan = small(&format!("rate = \"8 Mbit/s\"\nqueue.aqm{aqm}"), "");
        assert_eq!(tins(&plan, 0).1.ack_filter, plan.gates[0].ack_filter());
        plan.gates[0].ack_filter()
    };
    assert_eq!([of(" = \"cake\""), of(".cake.ack_filter = \"off\"")], [None; 2]);
    assert_eq!(of(".cake.ack_filter = \"conservative\""), Some(AckFilter::Conservative));
    assert_eq!(of(".cake.ack_filter = \"aggressive\""), Some(AckFilter::Aggressive));
}
