//! As a user who is not root, inside a user namespace: the test starts itself again there.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use common::{Bulk, plan};
use tidegate_live::{Backend, Classifier, Lab, LabOptions, Pump, PumpOptions, userns};

const INSIDE: &str = "TIDEGATE_TEST_INSIDE";
const NOBODY: u32 = 65_534;
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
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    let me = std::env::current_exe().unwrap();
    if !nix::unistd::geteuid().is_root() {
        let mut command = again(&me);
        userns::place(command.env(INSIDE, "1"));
        return run(&mut command);
    }
    // As nobody first, who then makes the namespace.
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let program = folder.path().join("test");
    std::fs::copy(me, &program).unwrap();
    run(again(&program).uid(NOBODY).gid(NOBODY));
}

/// This test alone, in a process of its own.
fn again(program: &std::path::Path) -> Command {
    let mut command = Command::new(program);
    command.args(["packet_sockets_are_chosen_without_root", "--exact", "--nocapture"]).current_dir("/");
    command
}

fn run(command: &mut Command) {
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            eprintln!("{said}");
            assert!(output.status.success(), "{said}");
        }
        Err(error) => eprintln!("skipped: no user namespaces here ({error})"),
    }
}

fn inside() {
    let plan = plan(LINK);
    assert!(userns::is_capable(), "root of the user namespace");
    let mut lab = Lab::new(&plan, Backend::Auto, &LabOptions::default()).unwrap();
    eprintln!("backend {}", lab.backend());
    assert_eq!(lab.backend() == Backend::Packet, std::fs::File::open("/dev/net/tun").is_err());
    lab.sender().set_sysctl("net.ipv4.tcp_sack", "0").unwrap();
    assert_eq!(lab.sender().sysctl("net.ipv4.tcp_sack").unwrap(), "0");
    let pump = Pump::start(&mut lab, &plan, Classifier::Ports { flows: 1 }, &PumpOptions::default()).unwrap();
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
