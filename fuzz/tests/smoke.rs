//! Every fuzz target on a fixed corpus of random input, about a second each: the same on
//! every machine and toolchain.

#![allow(clippy::print_stderr, reason = "a failure names its input")]

use tidegate_fuzz::{TARGETS, corpus};

/// Inputs per target; `TIDEGATE_FUZZ_INPUTS` asks for more.
const INPUTS: u64 = 30_000;

#[test]
fn every_target_takes_random_input() {
    let inputs = std::env::var("TIDEGATE_FUZZ_INPUTS").map_or(INPUTS, |text| text.parse().expect("a number"));
    for target in TARGETS {
        for index in 0..inputs {
            let input = corpus::input(&target, index);
            let run = || (target.run)(&input);
            if let Err(panic) = std::panic::catch_unwind(run) {
                eprintln!("{} on input {index}: {:?}", target.name, String::from_utf8_lossy(&input));
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// A corpus that is always refused would prove little.
#[test]
fn some_random_traces_are_read() {
    use tidegate_scenario::trace::{Format, TraceOptions, parse};
    for (name, format) in [
        ("trace_mahimahi", Format::Mahimahi),
        ("trace_drp", Format::Drp),
        ("trace_csv", Format::Csv),
        ("trace_json", Format::Csv),
        ("trace_seconds_mbps", Format::SecondsMbps),
    ] {
        let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
        let read = (0..INPUTS)
            .map(|index| corpus::input(target, index))
            .filter(|input| parse(input, "t", Some(format), &TraceOptions::default()).is_ok())
            .count();
        assert!(read >= 100, "{}: only {read} of {INPUTS} inputs are traces", target.name);
    }
}

/// The same of captures: most of what is read holds packets of TCP.
#[test]
fn some_random_captures_are_read() {
    let target = TARGETS.iter().find(|target| target.name == "capture").expect("a target");
    let read = (0..INPUTS)
        .map(|index| corpus::input(target, index))
        .filter(|input| {
            tidegate_capture::read_bytes("t", input).is_ok_and(|capture| !capture.connections.is_empty())
        })
        .count();
    assert!(read >= 1000, "only {read} of {INPUTS} inputs are captures of connections");
}

/// Inputs that broke a law once, or a target's own assumptions, stay right.
#[test]
fn every_target_takes_its_seeds() {
    let mut taken = 0;
    for target in TARGETS {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target.name);
        let Ok(files) = std::fs::read_dir(&folder) else { continue };
        for file in files {
            let path = file.expect("a file").path();
            (target.run)(&std::fs::read(&path).expect("it can be read"));
            taken += 1;
        }
    }
    assert!(taken >= 6, "only {taken} seeds were found");
}

/// The seeds are right as they stand.
#[test]
fn the_seed_scenarios_are_read() {
    for seed in tidegate_fuzz::scenario::SEEDS {
        let text = seed.split("--set").next().expect("a first piece");
        if let Err(error) = tidegate_scenario::Scenario::from_toml(text, "seed", None, &[]) {
            panic!("{error}");
        }
    }
}
