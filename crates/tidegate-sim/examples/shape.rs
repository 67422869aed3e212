//! Runs a scenario file and does nothing else, for counting instructions: `shape FILE MILLISECONDS RECORD [KEY=VALUE …]`.
//! MILLISECONDS is where the run ends, RECORD is `summary` or `as-written`. Prints what was delivered and the events.

#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use std::path::Path;

use tidegate_core::plan::{Plan, RecordPlan};
use tidegate_core::units::{Span, Time};
use tidegate_scenario::Scenario;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, millis, record, sets @ ..] = args.as_slice() else {
        panic!("shape FILE MILLISECONDS RECORD [KEY=VALUE …]")
    };
    let scenario = Scenario::load(Path::new(file), sets).unwrap_or_else(|error| panic!("{error}"));
    let written = scenario.plan(Some(1), 0);
    let until = Time::ZERO + Span::from_millis(millis.parse().expect("milliseconds"));
    let mut plan = Plan { duration: until, warmup: Time::ZERO, until_done: false, ..written };
    if record == "summary" {
        plan.record = RecordPlan::default();
    }
    let run = tidegate_sim::run(&plan, &mut |_| true).expect("nobody interrupts");
    let packets: u64 = run.summary.gates.iter().filter_map(|gate| gate.delivered_packets).sum();
    println!("file={file} millis={millis} record={record} packets={packets} events={}", run.summary.events);
}
