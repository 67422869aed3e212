//! quinn over links of Tidegate: it fills them, obeys marks, does the same again, and ends.

use std::sync::{Arc, Mutex};

use tidegate_quic::{Controller, Settings, ends};
use tidegate_scenario::Scenario;
use tidegate_sim::host::{Ecn, Ends, Host, Outgoing, Packet, Report, Time};
use tidegate_sim::{RunResult, run_hosted};

/// A run of a scenario, whose flows named `quic` are of quinn.
fn run(text: &str, settings: &Settings) -> RunResult {
    let plan = Scenario::from_toml(text, "link.toml", None, &[]).expect("the scenario is good").plan(None, 0);
    let mut hosts = |flow: usize| (plan.flows[flow].name == "quic").then(|| ends(settings, 7));
    run_hosted(&plan, &mut hosts, &mut |_| true).expect("it behaves")
}

const LINK: &str = r#"
duration = "30 s"
gate.link = { rate = "20 Mbit/s", queue = "100 packets" }
flow.quic = { path = ["link"], rtt = "40 ms" }
"#;

#[test]
fn it_fills_a_link() {
    for controller in [Controller::Cubic, Controller::NewReno] {
        let result = run(LINK, &Settings { controller, ..Settings::default() });
        let flow = &result.summary.flows[0];
        assert_eq!(flow.tcp, format!("{}, quinn 0.11", controller.name()));
        assert!((17e6..20e6).contains(&flow.goodput_bps), "{controller:?}: {flow:?}");
        // The path's own, and a queue that is seldom empty.
        assert!(flow.rtt_mean_ms.is_some_and(|ms| (50.0..105.0).contains(&ms)), "{flow:?}");
        assert!(flow.losses.dropped_packets > 0 && flow.segments_retransmitted > 0, "{flow:?}");
    }
}

/// An end, and everything that left it: when, and all its bytes.
struct Taped(Box<dyn Host>, Arc<Mutex<Vec<(Time, Outgoing)>>>);

#[rustfmt::skip]
impl Host for Taped {
    fn open(&mut self, now: Time) { self.0.open(now); }
    fn handle_packet(&mut self, now: Time, ecn: Ecn, packet: Packet) { self.0.handle_packet(now, ecn, packet); }
    fn handle_wakeup(&mut self, now: Time) { self.0.handle_wakeup(now); }
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        let out = self.0.poll_transmit(now)?;
        self.1.lock().expect("one thread").push((now, out.clone()));
        Some(out)
    }
    fn next_wakeup(&mut self) -> Time { self.0.next_wakeup() }
    fn report(&self) -> Report { self.0.report() }
}

/// All packets of a run, and what it gives.
fn taped(seed: u64) -> (Vec<(Time, Outgoing)>, String) {
    let tape = Arc::new(Mutex::new(Vec::new()));
    let plan = Scenario::from_toml(LINK, "link.toml", None, &[]).expect("the scenario is good").plan(None, 0);
    let mut hosts = |_| -> Option<Ends> {
        tape.lock().expect("one thread").clear();
        Some(
            ends(&Settings::default(), seed)
                .map(|end| Box::new(Taped(end, Arc::clone(&tape))) as Box<dyn Host>),
        )
    };
    let result = run_hosted(&plan, &mut hosts, &mut |_| true).expect("it behaves");
    let packets = std::mem::take(&mut *tape.lock().expect("one thread"));
    (packets, format!("{:?}", (result.summary, result.gates, result.flows)))
}

#[test]
fn the_same_seed_gives_the_same_packets_byte_for_byte() {
    let (once, result) = taped(7);
    assert!(once.len() > 50_000);
    assert_eq!((&once, &result), (&taped(7).0, &taped(7).1));
    assert_ne!(once, taped(8).0);
}

#[test]
fn it_obeys_marks() {
    let text = LINK
        .replace("}\nflow", ", queue.aqm = \"codel\" }\nflow")
        .replace("queue = \"100", "queue.limit = \"1000");
    let flow = &run(&text, &Settings::default()).summary.flows[0];
    assert_eq!(flow.losses.dropped_packets, 0, "{flow:?}");
    assert!(flow.ecn_reductions.is_some_and(|times| times > 3) && flow.goodput_bps > 15e6, "{flow:?}");
}

#[test]
fn a_transfer_ends() {
    let text = r#"
duration = "30 s"
gate.link = { rate = "20 Mbit/s", queue = "100 packets" }
[flow.quic]
path = ["link"]
rtt = "40 ms"
app.transfer = "3 MB"
"#;
    let flow = &run(text, &Settings { bytes: Some(3_000_000), ..Settings::default() }).summary.flows[0];
    let took = flow.completion_s.expect("it ends");
    assert!((1.2..3.0).contains(&took), "{took}");
}

#[test]
fn beside_our_tcp_nobody_starves() {
    let text = format!("{LINK}flow.tcp = {{ path = [\"link\"], rtt = \"40 ms\" }}\n");
    let flows = run(&text, &Settings::default()).summary.flows;
    assert!(flows.iter().all(|flow| flow.goodput_bps > 2e6), "{flows:?}");
}
