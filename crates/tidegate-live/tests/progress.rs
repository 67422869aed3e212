//! What a run tells while it lasts: the rows of gates and flows that it records.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

#[macro_use]
mod common;

use tidegate_live::{LiveError, Progress, RunOptions, run};
use tidegate_result::{Column, Table};

both_ways!(rows_are_told_while_a_run_lasts, rows_are_told);

const LINK: &str = r#"
duration = "2 s"
[gate.link]
rate = "4 Mbit/s"
queue = "20 packets"
[flow.bulk]
path = ["link"]
rtt = "20 ms"
[record]
every = "20 ms"
"#;

/// The times of a table's rows.
fn times(table: &Table) -> Vec<f64> {
    let found = table.columns.iter().find(|(name, _)| *name == "time_s");
    match found {
        Some((_, Column::F64(times))) => times.clone(),
        _ => panic!("{} has no times", table.name),
    }
}

fn rows_are_told() {
    let plan = common::plan(LINK);
    let progress = Progress::default();
    let options = RunOptions {
        pump: common::pump_options(),
        progress: Some(progress.clone()),
        ..RunOptions::default()
    };
    let mut both: [Vec<(f64, f64)>; 2] = Default::default();
    let done = run(&plan, &options, &mut |now| {
        for (table, told) in progress.take().iter().zip(&mut both) {
            told.extend(times(table).iter().map(|at| (*at, now.as_secs_f64())));
        }
        true
    });
    let done = match done {
        Ok(done) => done,
        Err(error @ LiveError::NotPermitted { .. }) => {
            eprintln!("skipped: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    for (table, told) in done.result.tables().iter().zip(&both) {
        let recorded = times(table);
        let heard: Vec<f64> = told.iter().map(|(at, _)| *at).collect();
        assert_eq!(heard[..], recorded[..heard.len()], "{}: the rows of the run, in order", table.name);
        // What came in the last moments is in the result only.
        let share = heard.len() as f64 / recorded.len() as f64;
        assert!(share >= 0.8, "{}: {share} of the rows", table.name);
        let late = told.iter().map(|(at, now)| now - at).fold(0.0, f64::max);
        assert!(late < 1.0, "{}: told {late} s later", table.name);
    }
}
