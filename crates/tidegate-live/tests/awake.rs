//! Idle processors wait awake while a run lasts, and not longer. A test program of its own: other runs
//! of the same process would hold the same device.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a test says why it is skipped")]

mod common;

use std::path::Path;

use common::{lab, plan};
use tidegate_live::{Backend, Classifier, Idle, Pump, PumpOptions};

const DEVICE: &str = "/dev/cpu_dma_latency";
const LINK: &str = r#"
duration = "10 s"
[gate.link]
rate = "12 Mbit/s"
[flow.bulk]
path = ["link"]
rtt = "20 ms"
app = "bulk"
"#;

/// Whether this process has the device open.
fn is_held() -> bool {
    let fds = std::fs::read_dir("/proc/self/fd").unwrap();
    fds.filter_map(Result::ok).any(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == Path::new(DEVICE)))
}

/// Whether it is held during a run, and what the run says of it.
fn during(idle: Idle) -> Option<(bool, Vec<String>)> {
    let plan = plan(LINK);
    let mut lab = lab(&plan, Backend::Auto)?;
    let options = PumpOptions { idle, ..PumpOptions::default() };
    let pump = Pump::start(&mut lab, &plan, Classifier::Ports { flows: 1 }, &options).unwrap();
    // The thread asks for what it wants before time zero.
    pump.clock().sleep_until(tidegate_core::units::Time::ZERO);
    let held = is_held();
    let report = pump.stop().unwrap();
    Some((held, report.notes))
}

#[test]
fn the_device_is_held_while_a_run_lasts() {
    let permitted = std::fs::OpenOptions::new().write(true).open(DEVICE);
    assert!(permitted.is_err() || is_held(), "this test sees what is open");
    let may = permitted.is_ok();
    drop(permitted);
    for (idle, wanted) in [(Idle::Auto, true), (Idle::Halts, false), (Idle::Awake, true)] {
        let Some((held, notes)) = during(idle) else { return };
        assert_eq!(held, wanted && may, "{idle:?}: {notes:?}");
        let says = match (wanted, may) {
            (true, true) => "idle processors wait awake (PM QoS)",
            (true, false) => "idle processors may halt: /dev/cpu_dma_latency cannot be used",
            (false, _) => "idle processors may halt",
        };
        assert!(notes.iter().any(|note| note.starts_with(says)), "{idle:?}: {notes:?}");
        assert!(!is_held(), "{idle:?}: held after the run");
    }
    if !may {
        eprintln!("{DEVICE} may not be used here: only that is checked");
    }
}
