//! `--set`, sweeps, JSON, and the document as run.

mod common;

use std::path::Path;

use proptest::prelude::*;
use tidegate_core::plan::{Plan, QueueCounts, QueueLimit, RatePlan};
use tidegate_scenario::{Scenario, ScenarioError};

fn with(sets: &[&str]) -> Result<Scenario, ScenarioError> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::from_toml(common::WIDE, "wide.toml", Some(Path::new("tests")), &sets)
}

fn plan(sets: &[&str]) -> Plan {
    match with(sets) {
        Ok(scenario) => scenario.plan(None, 0),
        Err(error) => panic!("{error}"),
    }
}

/// The document as run must make the same plan without any `--set`.
fn again(scenario: &Scenario) -> Scenario {
    match Scenario::from_toml(&scenario.to_toml(), "again.toml", Some(Path::new("tests")), &[]) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}\n{}", scenario.to_toml()),
    }
}

#[test]
fn values_need_no_quotes() {
    let plan =
        plan(&["gate.return.rate=1 Mbit/s", "flow.client.tcp.cc=cubic", "seed=9", "flow.client.count = 1"]);
    assert_eq!(plan.seed, 9);
    assert_eq!(plan.flows[0].name, "client");
    assert_eq!(plan.flows[0].tcp.cc, tidegate_core::plan::CongestionPlan::Cubic);
}

#[test]
fn setting_a_rate_replaces_the_law() {
    for set in ["gate.chain.rate=1 Mbit/s", "gate.chain.rate.steps=[[\"0 s\", \"1 Mbit/s\"]]"] {
        let changed = plan(&[set]);
        let chain = changed.gates.iter().find(|gate| gate.name == "chain").expect("the gate is there");
        assert!(!matches!(chain.rate, RatePlan::Markov(_)), "{set}");
    }
    let three = ["gate.chain.rate.token_bucket.rate=1 Mbit/s", "gate.chain.rate.token_bucket.burst=9 kB"];
    let changed = plan(&three);
    assert!(
        changed
            .gates
            .iter()
            .any(|gate| gate.name == "chain" && matches!(gate.rate, RatePlan::TokenBucket { .. }))
    );
    assert_eq!(again(&with(&three).expect("it loads")).plan(None, 0), changed);
}

#[test]
fn the_short_form_of_a_queue_keeps_the_rest() {
    let changed = plan(&["gate.steps.queue=9 packets", "gate.return.queue.counts=all"]);
    let queue = |name: &str| {
        changed.gates.iter().find(|gate| gate.name == name).expect("the gate is there").queue.clone()
    };
    assert_eq!((queue("steps").limit, queue("steps").counts), (QueueLimit::Packets(9), QueueCounts::All));
    assert_eq!((queue("return").limit, queue("return").counts), (QueueLimit::Unlimited, QueueCounts::All));
    let short =
        "duration = \"1 s\"\n[gate.a]\nqueue = \"5 packets\"\ndelay = \"1 ms\"\n[flow.f]\npath = [\"a\"]";
    let sets = ["gate.a.queue.counts=all".to_owned()];
    let scenario = Scenario::from_toml(short, "short.toml", None, &sets).expect("it loads");
    assert_eq!(scenario.plan(None, 0).gates[0].queue.limit, QueueLimit::Packets(5));
    assert_eq!(again(&scenario).plan(None, 0), scenario.plan(None, 0));
}

#[test]
fn a_whole_table_can_be_set() {
    let sets = ["gate.extra={ rate = \"1 Mbit/s\" }", "flow.single.path=[\"access\", \"extra\"]"];
    let changed = plan(&sets);
    assert!(changed.gates.iter().any(|gate| gate.name == "extra"));
    assert_eq!(again(&with(&sets).expect("it loads")).plan(None, 0), changed);
}

#[test]
fn comments_stay() {
    let text = with(&["title=other", "gate.access.delay=2 ms"]).expect("it loads").to_toml();
    assert!(
        text.contains("# A comment at the top\ntitle = \"other\"                  # and one beside"),
        "{text}"
    );
    assert_eq!(with(&[]).expect("it loads").to_toml(), common::WIDE);
}

#[test]
fn json_and_toml_make_the_same_plan() {
    let json = r#"{"duration": "10 s", "gate": {"link": {"rate": "5 Mbit/s", "queue": "20 packets", "loss": 0.01}},
        "flow": {"bulk": {"path": ["link"], "rtt": "40 ms", "tcp": {"cc": "cubic", "sack": null}}}}"#;
    let toml = "duration = \"10 s\"\n[gate.link]\nrate = \"5 Mbit/s\"\nqueue = \"20 packets\"\nloss = \"1%\"\n\
                [flow.bulk]\npath = [\"link\"]\nrtt = \"40 ms\"\ntcp.cc = \"cubic\"";
    let json = Scenario::from_json(json, "dict", None, &[]).expect("the JSON loads");
    let toml = Scenario::from_toml(toml, "file", None, &[]).expect("the TOML loads");
    assert_eq!(json.plan(None, 0), toml.plan(None, 0));
    assert_eq!(again(&json).plan(None, 0), toml.plan(None, 0));
}

#[test]
fn the_axes_multiply() {
    let scenario = with(&[]).expect("it loads");
    let all = scenario.combinations();
    assert_eq!(all.len(), 6);
    let last: Vec<String> = all[5].iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(
        last,
        [
            "gate.chain.rate.markov.mean_holding=[\"7.2 s\", \"7.2 s\"]",
            "flow.client.tcp.cc=\"tahoe\"",
            "gate.steps.queue=\"unlimited\"",
        ]
    );
    for combination in &all {
        let sets: Vec<String> = combination.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        assert_eq!(again(&with(&sets).expect("it loads")).plan(None, 0), plan(&sets));
    }
}

#[test]
fn a_scenario_is_explained_with_every_default() {
    let text = with(&[]).expect("it loads").explain();
    let path = Path::new("tests/golden/explain.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &text).expect("the golden file can be written");
    }
    assert_eq!(text, std::fs::read_to_string(path).expect("the golden file is there"));
}

#[test]
fn the_schema_knows_every_table() {
    let schema = tidegate_scenario::schema();
    let gate = &schema["properties"]["gate"]["additionalProperties"]["properties"];
    for key in ["queue", "rate", "loss", "framing", "delay", "per", "duplex", "host", "on_change"] {
        assert!(gate[key]["description"].is_string(), "{key}");
    }
    assert_eq!(schema["required"], serde_json::json!(["duration"]));
    let reference = tidegate_scenario::reference();
    for heading in ["gate.NAME.rate.markov", "flow.NAME.tcp.rto", "traffic.NAME.source", "record"] {
        assert!(reference.contains(&format!("`{heading}`")), "{heading}");
    }
}

/// Deep nesting is an error, not a crash.
#[test]
fn nesting_has_an_end() {
    let deep = |open: &str, close: &str| open.repeat(50_000) + &close.repeat(50_000);
    let dotted = "a.".repeat(50_000) + "b";
    for text in [
        format!("{dotted} = 1"),
        format!("[{dotted}]"),
        format!("a = {}", deep("[", "]")),
        format!("a = {}", deep("{a=", "}")),
        format!("[[sweep]]\n\"{dotted}\" = [1]\n"),
    ] {
        assert!(Scenario::from_toml(&text, "deep.toml", None, &[]).is_err());
    }
    for text in [deep("[", "]"), format!("{}1{}", "{\"a\":".repeat(50_000), "}".repeat(50_000))] {
        assert!(Scenario::from_json(&text, "deep.json", None, &[]).is_err());
    }
    let dotted_set = format!("{dotted}=1");
    for set in [dotted_set, format!("title={}", deep("[", "]"))] {
        assert!(with(&[&set]).is_err());
    }
}

/// Single edits that keep the scenario right.
const EDITS: &[&str] = &[
    "title=a \"b\" c",
    "gate.access.delay=2 ms",
    "gate.access.rate=unlimited",
    "gate.token.rate.token_bucket.burst=20 kB",
    "gate.token.framing=ip",
    "gate.token.framing.overhead=18 B",
    "gate.steps.rate=1 Mbit/s",
    "gate.steps.queue=10 packets",
    "gate.chain.rate.markov.initial=1",
    "gate.chain.loss=0.5",
    "gate.recorded.rate.trace.at_end=repeat",
    "gate.recorded.rate.trace=bad_input/traces/good.drp",
    "flow.client.count=1",
    "flow.client.start=1 s",
    "flow.client.app=bulk",
    "flow.client.app.constant.rate=1 Mbit/s",
    "flow.client.tcp.rto={ fixed = \"1 s\" }",
    "flow.client.tcp.base=linux",
    "flow.single.tcp.window=30 segments",
    "flow.single.back=[\"return\"]",
    "tcp.model.mss=400 B",
    "traffic.bg.source.constant.rate=1 kbit/s",
    "record.every=events",
    "record.single=[\"srtt_ms\"]",
    "limits.events=5",
];

proptest! {
    #[test]
    fn the_document_as_run_makes_the_same_plan(edits in prop::sample::subsequence(EDITS, 0..8).prop_shuffle()) {
        if let Ok(scenario) = with(&edits) {
            prop_assert_eq!(again(&scenario).plan(None, 0), scenario.plan(None, 0));
        }
    }

    #[test]
    fn any_text_is_loaded_or_refused(text in "\\PC{0,60}", bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let bytes = String::from_utf8_lossy(&bytes);
        for any in [text.as_str(), &bytes] {
            let _ = Scenario::from_toml(any, "any.toml", None, &[]).map_err(|error| error.to_string());
            let _ = Scenario::from_json(any, "any.json", None, &[]).map_err(|error| error.to_string());
            let _ = with(&[any]).map_err(|error| error.to_string());
        }
    }

    #[test]
    fn a_damaged_scenario_is_loaded_or_refused(
        at in 0..common::WIDE.len(), length in 0_usize..40, new in "[\"\\[\\]{}=.,#a-z0-9 \n]{0,6}",
    ) {
        let mut text = common::WIDE.to_owned();
        text.replace_range(at..(at + length).min(text.len()), &new);
        match Scenario::from_toml(&text, "any.toml", Some(Path::new("tests")), &[]) {
            Ok(scenario) => {
                prop_assert_eq!(again(&scenario).plan(None, 0), scenario.plan(None, 0));
                let _ = scenario.explain();
            }
            Err(error) => prop_assert!(error.to_string().contains(&error.problem), "{}", error),
        }
    }
}
