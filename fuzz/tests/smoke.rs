//! Every fuzz target on a fixed corpus of random input, about a second each: the same on
//! every machine and toolchain.

use tidegate_fuzz::{TARGETS, corpus};

/// Inputs per target; `TIDEGATE_FUZZ_INPUTS` asks for more.
const INPUTS: u64 = 50_000;

#[test]
fn every_target_takes_random_input() {
    let inputs = std::env::var("TIDEGATE_FUZZ_INPUTS").map_or(INPUTS, |text| text.parse().expect("a number"));
    for target in TARGETS {
        for index in 0..inputs {
            let input = corpus::input(target.name, target.words, index);
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
    for (target, format) in TARGETS.iter().zip([Format::Mahimahi, Format::Drp, Format::Csv]) {
        let read = (0..INPUTS)
            .map(|index| corpus::input(target.name, target.words, index))
            .filter(|input| parse(input, "t", Some(format), &TraceOptions::default()).is_ok())
            .count();
        assert!(read >= 100, "{}: only {read} of {INPUTS} inputs are traces", target.name);
    }
}
