//! Random scenarios, run recorded, not recorded and with every event for itself, by a build that ends where arithmetic
//! overflows: the three agree, and every number of a summary is possible.
//!
//! The scenarios are those of `tests/support/random_scenarios.py`, and those of which a draw once failed (`fuzz/tests/scenarios`). `TIDEGATE_RANDOM_SCENARIOS="FIRST COUNT"` asks for others.

#![allow(clippy::print_stderr, reason = "a failure names its scenario, and a test that is left out says why")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tidegate_core::plan::{Plan, RecordPlan};
use tidegate_quic::hosts;
use tidegate_scenario::Scenario;
use tidegate_sim::run_hosted;

/// The first one and how many.
const USUALLY: (u64, u64) = (0, 500);

fn asked() -> (u64, u64) {
    let Ok(text) = std::env::var("TIDEGATE_RANDOM_SCENARIOS") else { return USUALLY };
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [first, count] = numbers[..] else {
        panic!("TIDEGATE_RANDOM_SCENARIOS is {text:?}, not \"FIRST COUNT\"")
    };
    (first, count)
}

/// So many scenarios, as text; `None`: there is no Python here.
fn texts((first, count): (u64, u64)) -> Option<Vec<String>> {
    let python = std::env::var("PYO3_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let printed = Command::new(&python)
        .args(["-m", "support.random_scenarios"])
        .args([first.to_string(), count.to_string()])
        .current_dir(tests)
        .output();
    let Ok(printed) = printed else {
        eprintln!("skipped: random scenarios need Python, and {python} cannot be started");
        return None;
    };
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    Some(serde_json::from_slice(&printed.stdout).expect("a list of texts"))
}

#[test]
fn every_way_of_running_gives_the_same_possible_numbers() {
    let nothing = std::hint::black_box(0_u64);
    assert!(std::panic::catch_unwind(|| nothing - 1).is_err(), "this build does not check arithmetic");
    let (first, count) = asked();
    let Some(texts) = texts((first, count)) else { return };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = texts.get(at) else { return wrong };
            let number = first + at as u64;
            let found = std::panic::catch_unwind(|| faults(text, Some(number)));
            let found = found.unwrap_or_else(|_| vec!["a panic, see above".to_owned()]);
            wrong.extend(found.into_iter().map(|fault| format!("scenario {number}: {fault}")));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    eprintln!("{count} random scenarios from {first}: {} faults", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Scenarios of which a draw once found a fault; the first line of each file says which.
#[test]
fn scenarios_that_failed_once_do_not_fail_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a folder of scenarios") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        assert_eq!(faults(&text, None), Vec::<String>::new(), "{}", path.display());
        count += 1;
    }
    assert!(count > 0, "no scenarios");
}

/// What is wrong with the summary of a scenario.
fn faults(text: &str, seed: Option<u64>) -> Vec<String> {
    let scenario = match Scenario::from_toml(text, "random.toml", None, &[]) {
        Ok(scenario) => scenario,
        Err(error) => return vec![format!("refused: {error}")],
    };
    let recorded = scenario.plan(seed, 0);
    let alone = Plan { record: RecordPlan::default(), ..recorded.clone() };
    let exact = Plan { exact: true, ..alone.clone() };
    let [alone, recorded, exact] = [&alone, &recorded, &exact].map(summary);
    let mut faults = Vec::new();
    for (way, other) in [("recorded", &recorded), ("exact", &exact)] {
        differences(way, "", &alone, other, &mut faults);
    }
    possible("", &alone, length_ms(&alone), &mut faults);
    faults
}

fn summary(plan: &Plan) -> Value {
    let run =
        run_hosted(plan, &mut hosts(plan, None), &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let mut summary = serde_json::to_value(&run.summary).expect("numbers and names");
    // How many events there were is what the ways differ in.
    summary["events"] = Value::Null;
    summary
}

/// The length of a run with what quantiles may be off by.
fn length_ms(summary: &Value) -> f64 {
    let [length, precision] =
        ["duration_s", "quantile_precision"].map(|name| summary[name].as_f64().unwrap_or(0.0));
    length * 1e3 * (1.0 + precision)
}

fn differences(way: &str, place: &str, one: &Value, other: &Value, faults: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if one.keys().eq(other.keys()) => {
            one.iter().for_each(|(name, value)| {
                differences(way, &format!("{place}.{name}"), value, &other[name], faults)
            });
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (n, row) in one.iter().enumerate() {
                differences(way, &format!("{place}[{n}]"), row, &other[n], faults);
            }
        }
        _ if one == other => {}
        _ => faults.push(format!("{way}: {place} is {other}, not {one}")),
    }
}

/// What no summary may say, whatever ran.
fn possible(place: &str, value: &Value, length_ms: f64, faults: &mut Vec<String>) {
    match value {
        Value::Array(rows) => {
            rows.iter()
                .enumerate()
                .for_each(|(n, row)| possible(&format!("{place}[{n}]"), row, length_ms, faults));
        }
        Value::Object(names) => {
            names
                .iter()
                .for_each(|(name, inner)| possible(&format!("{place}.{name}"), inner, length_ms, faults));
            for rule in [shares, spans, orders, accounts] {
                rule(value, length_ms, &mut |fault| faults.push(format!("{place}: {fault}")));
            }
        }
        _ => {}
    }
}

fn number(row: &Value, name: &str) -> Option<f64> {
    row.get(name)?.as_f64()
}

/// What is a share lies between 0 and 1.
fn shares(row: &Value, _: f64, fault: &mut dyn FnMut(String)) {
    for name in ["loss", "efficiency", "progress", "calls_blocked", "open_share", "contract_utilisation"] {
        if number(row, name).is_some_and(|share| !(0.0..=1.0).contains(&share)) {
            fault(format!("{name} is {}", row[name]));
        }
    }
}

/// Nothing takes longer than the run.
fn spans(row: &Value, length_ms: f64, fault: &mut dyn FnMut(String)) {
    let names = row.as_object().into_iter().flatten().filter(|(name, _)| name.ends_with("_ms"));
    for (name, span) in names {
        if span.as_f64().is_some_and(|span| !(0.0..=length_ms).contains(&span)) {
            fault(format!("{name} is {span}, of a run of {length_ms} ms"));
        }
    }
}

/// Percentiles rise, and a mean is no more than the largest; a quantile is the middle of its bin.
fn orders(row: &Value, _: f64, fault: &mut dyn FnMut(String)) {
    let names: Vec<&String> = row.as_object().into_iter().flat_map(|names| names.keys()).collect();
    let mut no_more = |less: &str, more: &str, slack: f64| {
        if let (Some(one), Some(other)) = (number(row, less), number(row, more))
            && one > other * (1.0 + slack) + 1e-9
        {
            fault(format!("{less} is {one}, {more} {other}"));
        }
    };
    for name in names {
        let swapped = |from: &str, to: &str| name.replacen(from, to, 1);
        if name.contains("_mean") {
            no_more(name, &swapped("_mean", "_max"), 1e-12);
        }
        for (less, more) in [("_p50", "_p95"), ("_p50", "_p99"), ("_p95", "_p99"), ("_p99", "_max")] {
            if name.contains(less) {
                no_more(name, &swapped(less, more), if more == "_max" { 0.01 } else { 0.0 });
            }
        }
    }
    for (less, more) in [("goodput_bps", "throughput_bps"), ("segments_delivered", "segments_received")] {
        no_more(less, more, 1e-12);
    }
}

/// What had its fate decided went on or was dropped.
fn accounts(row: &Value, _: f64, fault: &mut dyn FnMut(String)) {
    for unit in ["packets", "cells"] {
        let [offered, delivered, dropped] = ["offered", "delivered", "dropped"]
            .map(|what| row.get(format!("{what}_{unit}")).and_then(Value::as_u64));
        if let (Some(offered), Some(delivered), Some(dropped)) = (offered, delivered, dropped)
            && offered != delivered + dropped
        {
            fault(format!("{offered} {unit} offered, {delivered} delivered and {dropped} dropped"));
        }
    }
}
