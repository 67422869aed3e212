//! Virtual circuits in a path: which gates have them, what contracts they have, and whose they are.

use tidegate_core::gcra::Release;
use tidegate_core::plan::{GatePlan, Plan, QueueLimit, SchedulerPlan, SpacerPlan};
use tidegate_scenario::Scenario;

fn plan(text: &str) -> Plan {
    let text = format!("duration = \"10 s\"\n{text}");
    match Scenario::from_toml(&text, "test.toml", None, &[]) {
        Ok(scenario) => scenario.plan(None, 0),
        Err(error) => panic!("{error}"),
    }
}

fn gate<'a>(plan: &'a Plan, name: &str) -> &'a GatePlan {
    plan.gates.iter().find(|gate| gate.name == name).expect("a gate of this name")
}

fn spacer(gate: &GatePlan) -> &SpacerPlan {
    match &gate.classes.as_ref().expect("circuits").scheduler {
        SchedulerPlan::Spacer(spacer) => spacer,
        other => panic!("{other:?}"),
    }
}

/// Two flows behind shapers of their own, a source without one; data and ACKs through one path each.
const CELLS: &str = r#"
[gate.vc]
per = "flow"
framing = "aal5"
rate.gcra = { pcr = "8 Mbit/s", cdvt = "1 ms", link = "150 Mbit/s", release = "earliest" }

[gate.vp]
framing = "aal5"
rate.gcra = { pcr = "10 Mbit/s", link = "150 Mbit/s" }
queue = { limit = "200 cells", clp1 = "100 cells" }

[flow.a]
count = 2
path = ["vc", "vp"]

[traffic.bg]
path = ["vp"]
source.constant = { rate = "1 Mbit/s", packet = "500 B" }
"#;

#[test]
fn a_shared_shaper_behind_shapers_of_flows_has_circuits() {
    let plan = plan(CELLS);
    let vp = gate(&plan, "vp");
    let classes = vp.classes.as_ref().expect("circuits");
    let names: Vec<&str> = classes.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["a.1", "a.2", "bg"]);
    // Data and ACKs of a.1, of a.2, then bg; ACKs do not pass.
    assert_eq!(&classes.of_route[..], [0, 0, 1, 0, 2]);
    let SpacerPlan { unit_bytes, classes: contracts } = spacer(vp);
    assert_eq!(*unit_bytes, 53);
    let rate = |n: usize| contracts[n].limits[0].bits_per_second(424);
    assert_eq!([rate(0), rate(1), rate(2)], [8_000_000, 8_000_000, 10_000_000]);
    assert_eq!(
        (contracts[0].limits[0].tolerance(), contracts[0].release),
        (1_000_000_000, Release::Earliest)
    );
    // The queue is that of each circuit.
    for class in &classes.classes {
        assert_eq!((class.queue.limit, class.queue.tagged), (QueueLimit::Cells(200), Some(100)));
    }
    assert_eq!((vp.queue.limit, vp.queue.tagged), (QueueLimit::Unlimited, None));
    assert!(gate(&plan, "vc/a.1").classes.is_none());
}

#[test]
fn fifo_keeps_one_queue_and_plain_gates_never_have_circuits() {
    let fifo = plan(&CELLS.replace("[gate.vp]", "[gate.vp]\nscheduler = \"fifo\""));
    assert!(gate(&fifo, "vp").classes.is_none());
    let link =
        CELLS.replace("rate.gcra = { pcr = \"10 Mbit/s\", link = \"150 Mbit/s\" }", "rate = \"10 Mbit/s\"");
    assert!(gate(&plan(&link), "vp").classes.is_none());
    let asked = plan(&link.replace("[gate.vp]", "[gate.vp]\nscheduler = \"spacer\""));
    assert_eq!(spacer(gate(&asked, "vp")).classes.len(), 3);
    let shared = CELLS.replace("per = \"flow\"\n", "");
    assert!(gate(&plan(&shared), "vp").classes.is_none());
}

/// Token buckets of bytes; a bucket of the peak rate is part of the contract.
#[test]
fn packets_have_circuits_too() {
    let plan = plan(
        r#"
        [gate.own]
        per = "flow"
        rate.token_bucket = { rate = "2 Mbit/s", burst = "10 kB", peak = "4 Mbit/s", peak_burst = "3 kB" }
        [gate.all]
        rate.token_bucket = { rate = "3 Mbit/s", burst = "10 kB" }
        queue = "20 packets"
        duplex = true
        [flow.a]
        path = ["own", "all"]
        back = ["all"]
        [flow.b]
        path = ["own", "all"]
        "#,
    );
    let forth = spacer(gate(&plan, "all"));
    assert_eq!((forth.unit_bytes, forth.classes.len()), (1, 2));
    let limits: Vec<(u64, u64)> =
        forth.classes[0].limits.iter().map(|limit| (limit.bits_per_second(8), limit.burst())).collect();
    assert_eq!(limits, [(2_000_000, 10_000), (4_000_000, 3_000)]);
    // The other direction: one flow's ACKs, which have the path's contract.
    let back = gate(&plan, "all/back");
    assert_eq!(back.classes.as_ref().expect("circuits").classes[0].name, "a/back");
    assert_eq!(spacer(back).classes[0].limits[0].bits_per_second(8), 3_000_000);
}
