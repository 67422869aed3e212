//! Fed-back rates: whom a gate follows, and what is filled in.

use tidegate_core::abr::Rates;
use tidegate_core::effcap::Blocks;
use tidegate_core::plan::{AbrPlan, FollowPlan, OnChange, Plan, RatePlan, Share, SwitchPlan};
use tidegate_core::units::{Rate, Span};
use tidegate_scenario::Scenario;

fn load(toml: &str) -> Scenario {
    Scenario::from_toml(toml, "follow.toml", None, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn follow<'a>(plan: &'a Plan, gate: &str) -> &'a FollowPlan {
    let gate = plan.gates.iter().find(|row| row.name == gate).unwrap_or_else(|| panic!("no gate {gate}"));
    let RatePlan::Follow(follow) = &gate.rate else { panic!("{:?}", gate.rate) };
    assert_eq!(gate.on_change, OnChange::Keep);
    follow
}

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

const EVERY_KEY: &str = r#"
    duration = "10 s"
    [gate.source]
    host = true
    rate.follow.gate = "link"
    rate.follow.every = "30 ms"
    rate.follow.lag = "240 ms"
    rate.follow.effcap = { m = 8, n = 88 }
    rate.follow.share = 0.1
    rate.follow.initial = "50 kB/s"
    rate.follow.min = "8 kbit/s"
    rate.follow.peak = "1 Mbit/s"
    [gate.link]
    rate = "100 kB/s"
    [flow.bulk]
    path = ["source", "link"]
"#;

#[test]
fn every_key_counts() {
    let plan = load(EVERY_KEY).plan(None, 0);
    let expected = FollowPlan {
        gate: 1,
        every: ms(30),
        lag: ms(240),
        blocks: Blocks { samples: 8, blocks: 88 },
        share: Share::from_parts(100_000_000_000),
        initial: Rate::from_bps(400_000),
        min: Rate::from_bps(8_000),
        peak: Some(Rate::from_bps(1_000_000)),
    };
    assert_eq!(follow(&plan, "source"), &expected);
    let said = load(EVERY_KEY).explain();
    for line in [
        "=> the capacity of gate link is averaged over 30 ms and known here 240 ms later; until 270 ms the rate is 400 kbit/s\n",
        "=> the rate is 10% of the smallest of 88 moving averages over 8 values of 30 ms each, which cover 2.85 s (EFFCAP), \
         from 8 kbit/s to 1 Mbit/s\n",
    ] {
        assert!(said.contains(line), "{line} is not in\n{said}");
    }
}

/// Private sources of flows with round trips of 90, 10 + 20 + 3 and 2·30 ms, and a link that is
/// passed in one direction by one of them only.
const FILLED_IN: &str = r#"
    duration = "10 s"
    [gate.source]
    per = "flow"
    rate.follow = { gate = "link", every = "10 ms", effcap.rtts = 12 }
    [gate.link]
    duplex = true
    rate.steps = [["0 s", "1 Mbit/s"], ["1 s", "2 Mbit/s"]]
    delay = "10 ms"
    [gate.far]
    rate = "1 Mbit/s"
    delay = "20 ms"
    [gate.return]
    delay = "3 ms"
    [flow.given]
    path = ["source", "link"]
    rtt = "90 ms"
    [flow.back]
    path = ["source", "far"]
    back = ["link", "return"]
    [flow.twice]
    path = ["source", "link", "far"]
    count = 2
"#;

#[test]
fn the_round_trip_is_filled_in() {
    let scenario = load(FILLED_IN);
    let plan = scenario.plan(None, 0);
    let link = plan.gates.iter().position(|gate| gate.name == "link").expect("it is there");
    for (name, round_trip, per_trip) in
        [("given", 90, 9), ("back", 33, 4), ("twice.1", 60, 6), ("twice.2", 60, 6)]
    {
        let row = follow(&plan, &format!("source/{name}"));
        assert_eq!((row.gate, row.lag), (link, ms(round_trip)), "{name}");
        // N: 12 round trips is 11 times as many blocks.
        assert_eq!(row.blocks, Blocks { samples: per_trip, blocks: 11 * per_trip }, "{name}");
        assert_eq!((row.share, row.initial, row.min, row.peak), (Share::ALL, Rate::ZERO, Rate::ZERO, None));
    }
    let said = scenario.explain();
    assert!(said.contains("known here 90 ms later; until 100 ms nothing is sent"), "{said}");
}

#[test]
fn a_gate_may_be_followed_that_nothing_passes() {
    let scenario = load(
        r#"
        duration = "10 s"
        [gate.source]
        rate.follow = { gate = "first", every = "10 ms" }
        [gate.first]
        rate.follow = { gate = "capacity", every = "10 ms", lag = "5 ms" }
        [gate.capacity]
        rate = "1 Mbit/s"
        [flow.bulk]
        path = ["source"]
        "#,
    );
    assert!(scenario.warnings().is_empty(), "{:?}", scenario.warnings());
    let plan = scenario.plan(None, 0);
    assert_eq!(plan.gates.len(), 3);
    assert_eq!(plan.gates[follow(&plan, "source").gate].name, "first");
    assert_eq!(plan.gates[follow(&plan, "first").gate].name, "capacity");
}

#[test]
fn each_flow_follows_its_own() {
    let plan = load(
        r#"
        duration = "10 s"
        [gate.source]
        per = "flow"
        rate.follow = { gate = "line", every = "10 ms" }
        [gate.line]
        per = "flow"
        rate = "1 Mbit/s"
        [flow.bulk]
        path = ["source", "line"]
        count = 2
        [flow.other]
        path = ["line"]
        "#,
    )
    .plan(None, 0);
    for name in ["bulk.1", "bulk.2"] {
        let followed = follow(&plan, &format!("source/{name}")).gate;
        assert_eq!(plan.gates[followed].name, format!("line/{name}"));
    }
}

#[test]
fn two_may_follow_each_other() {
    let plan = load(
        r#"
        duration = "10 s"
        [gate.one]
        rate.follow = { gate = "two", every = "10 ms", initial = "1 Mbit/s" }
        [gate.two]
        rate.follow = { gate = "one", every = "10 ms", initial = "1 Mbit/s" }
        [flow.bulk]
        path = ["one", "two"]
        "#,
    )
    .plan(None, 0);
    assert_eq!((follow(&plan, "one").gate, follow(&plan, "two").gate), (1, 0));
}

const ABR: &str = r#"
    duration = "10 s"
    [gate.source]
    per = "flow"
    rate.abr.gate = "link"
    rate.abr.pcr = "10 Mbit/s"
    rate.abr.mcr = "100 kbit/s"
    rate.abr.icr = "1 Mbit/s"
    rate.abr.rif = 0.5
    rate.abr.rdf = "25%"
    rate.abr.nrm = 16
    rate.abr.trm = "50 ms"
    [gate.plain]
    rate.abr = { gate = "link", pcr = "2 Mbit/s", lag = "7 ms" }
    delay = "3 ms"
    [gate.access]
    delay = "5 ms"
    [gate.link]
    rate = "10 Mbit/s"
    delay = "8 ms"
    abr = { every = "20 ms", utilisation = 0.8, tells = "bit" }
    [flow.near]
    path = ["source", "link"]
    [flow.far]
    path = ["source", "access", "link"]
    rtt = "50 ms"
    [traffic.bg]
    path = ["plain", "link"]
    source.constant.rate = "1 Mbit/s"
"#;

#[test]
fn every_key_of_a_source_and_its_switch_counts() {
    let scenario = load(ABR);
    assert!(scenario.warnings().is_empty(), "{:?}", scenario.warnings());
    let plan = scenario.plan(None, 0);
    let source = |name: &str| {
        let gate = plan.gates.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no gate {name}"));
        let RatePlan::Abr(abr) = gate.rate else { panic!("{:?}", gate.rate) };
        abr
    };
    let near = AbrPlan {
        switch: 0,
        rates: Rates { peak: 10e6, min: 1e5, initial: 1e6, increase: 0.5, decrease: 0.25 },
        cells_per_rm: 16,
        rm_within: ms(50),
        there: Span::ZERO,
        lag: ms(16),
    };
    assert_eq!(source("source/near"), near);
    assert_eq!(source("source/far"), AbrPlan { there: ms(5), lag: ms(50), ..near });
    let rates = Rates { peak: 2e6, min: 0.0, initial: 2e6, increase: 0.0625, decrease: 0.0625 };
    let plain = AbrPlan { rates, cells_per_rm: 32, rm_within: ms(100), there: ms(3), lag: ms(7), ..near };
    assert_eq!(source("plain"), plain);
    let link = plan.gates.iter().position(|gate| gate.name == "link").expect("it is there");
    assert_eq!(plan.switches, [SwitchPlan { gate: link, every: ms(20), utilisation: 0.8, binary: true }]);
    let said = scenario.explain();
    for line in [
        "=> rate from 100 kbit/s to 10 Mbit/s; 1 Mbit/s until the first RM cell returns, 16 ms after it was sent\n",
        "=> an RM cell is sent every 678 us at the peak rate, and at least every 50 ms; gate link is 0 s away\n",
        "=> gate link measures its load every 20 ms and signals congestion when the load is above 80% of its capacity\n",
    ] {
        assert!(said.contains(line), "{line} is not in\n{said}");
    }
}

#[test]
fn a_switch_that_nobody_listens_to_is_a_warning() {
    let scenario = load(
        r#"
        duration = "10 s"
        [gate.link]
        rate = "1 Mbit/s"
        abr = {}
        [flow.bulk]
        path = ["link"]
        "#,
    );
    let warnings: Vec<&str> = scenario.warnings().iter().map(|warning| warning.key.as_str()).collect();
    assert_eq!(warnings, ["gate.link.abr"]);
    assert!(scenario.plan(None, 0).switches.is_empty());
}
