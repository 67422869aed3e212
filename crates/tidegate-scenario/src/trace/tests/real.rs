//! Real traces (`../shared/traces` beside the repository, or `TIDEGATE_TRACES`): they are
//! not part of the project; where they are absent each test says so and passes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::trace::convert::{ConvertOptions, convert};
use crate::trace::info::{InfoOptions, info};
use crate::trace::*;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every trace file at hand, by name.
fn files() -> Vec<PathBuf> {
    let given = std::env::var_os("TIDEGATE_TRACES").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| repository().join("../shared/traces"));
    let Ok(entries) = std::fs::read_dir(&folder) else {
        skip(&format!("no real traces at {}", folder.display()));
        return Vec::new();
    };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending != "md"));
    files.sort();
    files
}

#[allow(clippy::print_stderr, reason = "a skipped test says why")]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

fn read(file: &Path) -> LoadedTrace {
    load(file, None, &TraceOptions::default()).unwrap_or_else(|error| panic!("{error}")).trace
}

#[test]
fn every_real_trace_is_read_and_described() {
    for file in files() {
        let info = info(&read(&file), &InfoOptions::default());
        assert!(info.duration_s > 100.0 && info.mean_bps > 1e5, "{}: {info:?}", file.display());
    }
}

#[test]
fn deliverable_bytes_agree_with_an_independent_count() {
    let script = repository().join("tests/independent/deliverable_bytes.py");
    for file in files() {
        let Ok(output) = Command::new("python3").arg(&script).arg(&file).output() else {
            return skip("no python3 here");
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let counted = String::from_utf8(output.stdout).expect("a number");
        assert_eq!(deliverable_bytes(&read(&file)).to_string(), counted.trim(), "{}", file.display());
    }
}

#[test]
fn real_traces_survive_their_own_format() {
    for file in files() {
        let trace = read(&file);
        let format = match &trace {
            LoadedTrace::Opportunities(_) => Format::Mahimahi,
            LoadedTrace::Rates(_) => Format::Drp,
        };
        let text = convert(&trace, format, &ConvertOptions::default()).expect("its own format");
        let again = parse(text.as_bytes(), "t", Some(format), &TraceOptions::default());
        assert_eq!(again.as_ref(), Ok(&trace), "{}", file.display());
        if format == Format::Mahimahi {
            assert_eq!(text.as_bytes(), std::fs::read(&file).expect("read before"), "{}", file.display());
        }
    }
}
