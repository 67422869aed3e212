//! As a user who is not root, inside a user namespace: what differs there.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

mod common;

use common::ways::rootless;
use common::{Bulk, plan, pump_options};
use tidegate_live::{Backend, Classifier, Lab, LabOptions, Pump, userns};

const LINK: &str = r#"
duration = "1 s"
[gate.link]
rate = "12 Mbit/s"
queue = "50 packets"
delay = "10 ms"
[flow.bulk]
path = ["link"]
rtt = "20 ms"
app = "bulk"
"#;

#[test]
fn packet_sockets_are_chosen_without_root() {
    rootless("packet_sockets_are_chosen_without_root", inside);
}

fn inside() {
    let plan = plan(LINK);
    assert!(userns::is_capable(), "root of the user namespace");
    let mut lab = Lab::new(&plan, Backend::Auto, &LabOptions::default()).unwrap();
    eprintln!("backend {}", lab.backend());
    assert_eq!(lab.backend() == Backend::Packet, std::fs::File::open("/dev/net/tun").is_err());
    lab.sender().set_sysctl("net.ipv4.tcp_sack", "0").unwrap();
    assert_eq!(lab.sender().sysctl("net.ipv4.tcp_sack").unwrap(), "0");
    let pump = Pump::start(&mut lab, &plan, Classifier::Ports { flows: 1 }, &pump_options()).unwrap();
    let bulk = Bulk::start(&lab, 0);
    pump.clock().sleep_until(plan.duration);
    let goodput = bulk.stop() as f64 * 8.0;
    let report = pump.stop().unwrap();
    eprintln!("{goodput} bit/s, {:?}, {:?}, {:?}", report.lateness.summary(), report.notes, report.warnings);
    assert!((1e6..12e6).contains(&goodput), "{goodput} bit/s");
    assert_eq!((report.strays, report.device_drops), ([0, 0], [0, 0]));
    // Whoever may not keep processors awake is told, and the run goes on.
    let may = std::fs::OpenOptions::new().write(true).open("/dev/cpu_dma_latency").is_ok();
    let awake = |note: &String| note.starts_with("idle processors wait awake");
    assert_eq!(report.notes.iter().any(awake), may, "{:?}", report.notes);
}
