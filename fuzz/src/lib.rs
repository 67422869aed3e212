//! Fuzz targets as ordinary functions: bytes in, a panic where a law of the project is
//! broken. libFuzzer calls them from `fuzz_targets/`; `tests/smoke.rs` calls each on a fixed
//! seed in every test run, so that they are never out of date.
//!
//! To add one: a function here, a line in `TARGETS`, a program in `fuzz_targets/` and its
//! `[[bin]]` in `Cargo.toml`.

pub mod calls;
pub mod capture;
pub mod corpus;
pub mod endpoints;
pub mod hosts;
pub mod queues;
pub mod scenario;
pub mod sections;
pub mod trace;

/// A target: its name, the function, and pieces of text that make its input likely to be
/// almost right.
pub struct Target {
    /// As in `cargo fuzz run fuzz_<name>`.
    pub name: &'static str,
    /// Takes any bytes.
    pub run: fn(&[u8]),
    /// Input that is right, to be spoiled.
    pub seeds: &'static [&'static [u8]],
    /// Pieces that random input is put together from, between raw bytes.
    pub words: &'static [&'static str],
}

/// Every target.
pub const TARGETS: [Target; 13] = [
    Target { name: "scenario", run: scenario::run, seeds: &scenario::SEED_BYTES, words: scenario::WORDS },
    Target { name: "endpoints", run: endpoints::run, seeds: &[], words: &[] },
    Target { name: "hosts", run: hosts::run, seeds: &[], words: &[] },
    Target { name: "sections", run: sections::run, seeds: &[], words: &[] },
    Target { name: "queues", run: queues::run, seeds: &[], words: &[] },
    Target { name: "calls", run: calls::run, seeds: &[], words: &[] },
    Target { name: "capture", run: capture::run, seeds: capture::SEEDS, words: &[] },
    Target {
        name: "trace_mahimahi",
        run: trace::mahimahi,
        seeds: &[b"0\n1\n1\n250\n"],
        words: trace::MAHIMAHI,
    },
    Target { name: "trace_drp", run: trace::drp, seeds: &[trace::DRP_SEED.as_bytes()], words: trace::DRP },
    Target { name: "trace_csv", run: trace::csv, seeds: &[trace::CSV_SEED.as_bytes()], words: trace::CSV },
    Target {
        name: "trace_json",
        run: trace::json,
        seeds: &[trace::JSON_SEED.as_bytes()],
        words: trace::JSON,
    },
    Target {
        name: "trace_seconds_mbps",
        run: trace::seconds_mbps,
        seeds: &[b"0 12\n0.5 3.2\n10 0\n"],
        words: trace::SECONDS_MBPS,
    },
    Target {
        name: "sizes",
        run: trace::sizes,
        seeds: &[trace::SIZES_SEED.as_bytes(), trace::SEGMENTS_SEED.as_bytes(), trace::SABRE_SEED.as_bytes()],
        words: trace::SIZES,
    },
];
