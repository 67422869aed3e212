//! Applications that write little at a time.

#![allow(missing_docs, reason = "tests")]

use tidegate_quic::hosts;
use tidegate_scenario::Scenario;
use tidegate_sim::run_hosted;

/// Goodput of one flow that offers 1 Gbit/s in such writes, in Mbit/s.
fn goodput(link: &str, write: &str, seconds: &str) -> f64 {
    let text = format!(
        r#"
duration = "{seconds}"
gate.link = {{ rate = "{link}", queue = "100 packets" }}
[flow.quic]
transport = "quic"
path = ["link"]
rtt = "10 ms"
app.constant = {{ rate = "1 Gbit/s", write = "{write}" }}
"#
    );
    let scenario = Scenario::from_toml(&text, "link.toml", None, &[]).expect("the scenario is good");
    let plan = scenario.plan(Some(7), 0);
    let result =
        run_hosted(&plan, &mut hosts(&plan, None), &mut |_| true).expect("it sleeps between packets");
    result.summary.flows[0].goodput_bps.expect("it was measured") / 1e6
}

/// 125 writes in a microsecond are no fault; asked at each of them, quinn's pacer would let nothing leave.
#[test]
fn the_size_of_writes_does_not_matter_behind_a_full_window() {
    let [one, ten, thousand] = ["1 B", "10 B", "1 kB"].map(|write| goodput("100 Mbit/s", write, "500 ms"));
    assert!(thousand > 50.0, "{thousand}");
    assert!(
        (one / thousand - 1.0).abs() < 0.02 && (ten / thousand - 1.0).abs() < 0.02,
        "{one} {ten} {thousand}"
    );
}

#[test]
fn a_fast_link_takes_each_write_when_it_comes() {
    let [one, thousand] = ["1 B", "1 kB"].map(|write| goodput("40 Gbit/s", write, "100 ms"));
    assert!(one > 0.3 * thousand, "{one} {thousand}");
}
