//! Scenarios from text, for several tests.

use std::path::Path;

use tidegate_core::plan::Plan;
use tidegate_scenario::Scenario;

/// The scenario in a text; files in it count from the folder of tests.
pub(crate) fn load(text: &str) -> Scenario {
    match Scenario::from_toml(text, "test.toml", Some(Path::new("tests")), &[]) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    }
}

/// Its plan.
pub(crate) fn plan(text: &str) -> Plan {
    load(text).plan(None, 0)
}

/// A scenario of one gate and one flow, with these lines added to them. Its round trip is long, or what `flow` says.
pub(crate) fn small(gate: &str, flow: &str) -> Plan {
    let rtt = if flow.contains("rtt") { "" } else { "rtt = \"1000 s\"" };
    plan(&format!("duration = \"10 s\"\n[gate.link]\n{gate}\n[flow.bulk]\npath = [\"link\"]\n{rtt}\n{flow}"))
}
