//! kill -9 of the engine in the middle of a run: nothing is left, and the next run works.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the child says that it runs, a skip why")]

mod common;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Command, Stdio};

use common::ways::both;
use common::{Bulk, lab, plan, pump_options};
use tidegate_live::clean::clean;
use tidegate_live::{Backend, Classifier, Pump};

const CHILD: &str = "TIDEGATE_TEST_CHILD";
const RUNS: &str = "XDG_RUNTIME_DIR";
const READY: &str = "program ";
const LINK: &str = r#"
duration = "60 s"
[gate.link]
rate = "50 Mbit/s"
queue = "50 packets"
delay = "1 ms"
[flow.bulk]
path = ["link"]
rtt = "2 ms"
app = "bulk"
"#;

#[test]
fn the_next_run_works_and_nothing_is_left() {
    if std::env::var_os(CHILD).is_some() {
        return run_until_killed();
    }
    both("the_next_run_works_and_nothing_is_left", ten_times);
}

fn ten_times() {
    if lab(&plan(LINK), Backend::Auto).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for round in 0..10 {
        let backend = if round % 2 == 0 { "tun" } else { "packet" };
        let mut engine = again(folder.path(), backend);
        let (program, namespace) = wait_until_it_runs(&mut engine);
        assert!(is_inside(program, namespace));
        engine.kill().unwrap();
        engine.wait().unwrap();
        // The program inside has outlived the engine, and with it its namespace.
        assert!(is_inside(program, namespace));
        let cleaned = in_folder(folder.path());
        assert_eq!(cleaned, format!("cleaned [{}] [{program}]", engine.id()), "round {round}");
        assert!(!is_inside(program, namespace));
        assert_eq!(notes(folder.path()), 0);
    }
    // A run that ends as it should takes its note along.
    assert!(again(folder.path(), "short").wait().unwrap().success());
    assert_eq!(notes(folder.path()), 0);
    assert!(everything_is_outside(), "no process is left in another network namespace");
}

/// The engine's life in its own process.
fn run_until_killed() {
    if std::env::var(CHILD).unwrap() == "clean" {
        let cleaned = clean().unwrap();
        return println!("cleaned {:?} {:?}", cleaned.runs, cleaned.processes);
    }
    let mut plan = plan(LINK);
    if std::env::var(CHILD).unwrap() == "short" {
        plan.duration = tidegate_core::units::Time::from_picos(100_000_000_000);
    }
    let backend = if std::env::var(CHILD).unwrap() == "packet" { Backend::Packet } else { Backend::Auto };
    let mut lab = lab(&plan, backend).unwrap();
    let pump = Pump::start(&mut lab, &plan, Classifier::Ports { flows: 1 }, &pump_options()).unwrap();
    let bulk = Bulk::start(&lab, 0);
    let mut sleep = Command::new("sleep");
    sleep.arg("60").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    lab.sender().place(&mut sleep);
    let mut program = sleep.spawn().unwrap();
    // In the middle of the run.
    pump.clock().sleep_until(tidegate_core::units::Time::from_picos(50_000_000_000));
    assert!(pump.is_running());
    let namespace = std::fs::metadata(format!("/proc/{}/ns/net", program.id())).unwrap().ino();
    println!("{READY}{} {namespace}", program.id());
    pump.clock().sleep_until(plan.duration);
    bulk.stop();
    pump.wait().unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
}

fn again(folder: &std::path::Path, what: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["the_next_run_works_and_nothing_is_left", "--exact", "--nocapture"]);
    command.env(CHILD, what).env(RUNS, folder).stdout(Stdio::piped()).spawn().unwrap()
}

/// The program inside and its namespace.
fn wait_until_it_runs(engine: &mut Child) -> (u32, u64) {
    let lines = BufReader::new(engine.stdout.as_mut().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        if let Some((_, numbers)) = line.split_once(READY) {
            let (program, namespace) = numbers.split_once(' ').unwrap();
            return (program.parse().unwrap(), namespace.parse().unwrap());
        }
    }
    panic!("the engine ended before its time");
}

/// What a clean in a process of its own says: where it looks is in the environment.
fn in_folder(folder: &std::path::Path) -> String {
    let output = again(folder, "clean").wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.find("cleaned").map(|at| line[at..].to_owned()));
    line.unwrap_or_else(|| panic!("{text}"))
}

fn notes(folder: &std::path::Path) -> usize {
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    folders.map(|notes| std::fs::read_dir(notes).unwrap().count()).sum()
}

fn is_inside(program: u32, namespace: u64) -> bool {
    std::fs::metadata(format!("/proc/{program}/ns/net")).is_ok_and(|found| found.ino() == namespace)
}

/// Whether every process that carries a mark of a live run is gone or waited for.
fn everything_is_outside() -> bool {
    let marked = |entry: std::io::Result<std::fs::DirEntry>| {
        let environment = std::fs::read(entry.unwrap().path().join("environ")).unwrap_or_default();
        let command = String::from_utf8_lossy(&environment).into_owned();
        command.contains("TIDEGATE_LIVE_RUN=") && command.contains(CHILD)
    };
    !std::fs::read_dir("/proc").unwrap().any(marked)
}
