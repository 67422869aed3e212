//! Real TCP through gates.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a test says what it measured")]

mod common;

use common::{Bulk, lab, plan};
use tidegate_live::replay::replay;
use tidegate_live::{Backend, Classifier, Pump, PumpOptions, PumpReport};

const LINK: &str = r#"
title = "link"
duration = "2 s"
[gate.link]
rate = "12 Mbit/s"
queue = "50 packets"
delay = "10 ms"
[flow.bulk]
path = ["link"]
rtt = "20 ms"
app = "bulk"
"#;

/// Runs one bulk flow; bytes received, and the report.
fn run(toml: &str, backend: Backend) -> Option<(u64, PumpReport, tidegate_core::plan::Plan)> {
    let plan = plan(toml);
    let mut lab = lab(&plan, backend)?;
    let pump = Pump::start(&mut lab, &plan, Classifier::Ports { flows: 1 }, &PumpOptions::default()).unwrap();
    let bulk = Bulk::start(&lab, 0);
    while pump.is_running() {
        pump.clock().sleep_until(plan.duration);
    }
    let bytes = bulk.stop();
    let report = pump.stop().unwrap();
    eprintln!(
        "{bytes} bytes, {:?}, cpu {:?}, {} arrivals",
        report.lateness.summary(),
        report.cpu,
        report.arrivals.len()
    );
    eprintln!("{:?} {:?}", report.notes, report.warnings);
    Some((bytes, report, plan))
}

#[test]
fn a_connection_fills_a_link() {
    let Some((bytes, report, _)) = run(LINK, Backend::Auto) else { return };
    let goodput = bytes as f64 * 8.0 / 2.0;
    assert!((8e6..12e6 * 1448.0 / 1500.0).contains(&goodput), "{goodput} bit/s");
    assert_eq!(report.strays, [0, 0]);
    assert_eq!(report.device_drops, [0, 0]);
}

#[test]
fn a_replay_gives_the_same_departures() {
    let Some((_, report, plan)) = run(LINK, Backend::Auto) else { return };
    assert!(report.departures.len() > 1000);
    assert_eq!(replay(&plan, &report.arrivals), report.departures);
}

#[test]
fn packet_sockets_do_the_same() {
    let Some((bytes, report, plan)) = run(LINK, Backend::Packet) else { return };
    let goodput = bytes as f64 * 8.0 / 2.0;
    assert!((8e6..12e6 * 1448.0 / 1500.0).contains(&goodput), "{goodput} bit/s");
    assert_eq!((report.strays, report.device_drops), ([0, 0], [0, 0]));
    assert_eq!(replay(&plan, &report.arrivals), report.departures);
}
