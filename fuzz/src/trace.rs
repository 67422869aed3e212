//! Trace readers: any bytes give a trace that keeps its promises, or one clear message.

use tidegate_core::units::{Span, Time};
use tidegate_scenario::trace::convert::{ConvertOptions, convert, to_opportunities, to_rates};
use tidegate_scenario::trace::info::{InfoOptions, info};
use tidegate_scenario::trace::{Format, LoadedTrace, TraceOptions, deliverable_bytes, detect, parse};
use tidegate_scenario::trace::{segments, sizes};

/// Pieces of Mahimahi files.
pub const MAHIMAHI: &[&str] = &[
    "\n", "\r\n", "0\n", "1\n", "1\n", "250\n", "250\n", "250\r\n", "1000\n", "1000\n", "1000\n", "-",
    "1e3\n",
];

/// A DRP file.
pub const DRP_SEED: &str = include_str!("../seeds/trace_drp/small.drp");

/// Pieces of DRP files.
pub const DRP: &[&str] = &[
    "\n",
    "\n",
    "12000\n",
    "0\n",
    "10946.5\r\n",
    "# a comment\n",
    "# :recommended_freqeuncy=10\n",
    "# :recommended_freqeuncy=10\n",
    "# :recommended_frequency=",
    "-",
    ".",
    "e",
];

/// A CSV trace.
pub const CSV_SEED: &str = include_str!("../seeds/trace_csv/small.csv");

/// Pieces of CSV files.
pub const CSV: &[&str] = &[
    "time_s,rate_mbps\n",
    "time_s,rate_mbps\n",
    "rate_kbps,time_ms\n",
    "0,12\n",
    "0,12\n",
    "0.5,3.2\n",
    "10,0\n",
    "10,\n",
    "\n",
    "\r\n",
    ",",
    ".",
    "e",
    "#",
    "\"",
    "-",
    "\u{feff}",
];

/// A table in JSON.
pub const JSON_SEED: &str =
    r#"[{"time_s": 0, "rate_mbps": 12}, {"time_s": 0.5, "rate_mbps": 3.2}, {"time_s": 10}]"#;

/// Pieces of tables in JSON.
pub const JSON: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"time_s\": 0",
    "\"rate_mbps\": 12",
    "\"time_ms\": 500",
    "\"rate_kbps\": 3200",
    "{\"time_s\": 10}",
    "[0, 12]",
    "[0.5, 3.2]",
    "null",
    "true",
    "-1",
    "1e300",
    "\"1 s\"",
    "\n",
];

/// Pieces of files with seconds and Mbit/s on each line.
pub const SECONDS_MBPS: &[&str] = &[
    "0 12\n",
    "0 12\n",
    "0.5 3.2\n",
    "0.5\t3.2\r\n",
    "10 0\n",
    "10 0\n",
    "# a comment\n",
    "\n",
    " ",
    "-",
    "e",
    ".",
];

/// Sizes of messages with their probabilities.
pub const SIZES_SEED: &str = "1000, 0.15\n20000, 0.6\n1000000, 1\n";

/// Sizes of a video's segments in two bitrates.
pub const SEGMENTS_SEED: &str = "141200, 502000\n160400, 488100\n";

/// Such sizes as SABRE has them.
pub const SABRE_SEED: &str =
    r#"{"segment_duration_ms": 3000, "segment_sizes_bits": [[885360, 1536], [1286392, 80]]}"#;

/// Pieces of files of sizes.
pub const SIZES: &[&str] = &[
    "bytes, share\n",
    "1000",
    "1000\n",
    "20000, 0.6\n",
    "1000000, 1\n",
    "50, 100%\n",
    "0.5",
    ", ",
    ";",
    "\t",
    "\n",
    "\r\n",
    "#",
    "[",
    "]",
    "{\"segment_sizes_bits\": ",
    "}",
    "[141200, 502000]",
    "-",
    "e",
    "nan",
];

/// Longest recording that is also converted, so that one input takes microseconds.
const CONVERTED: Span = Span::from_secs(100);

/// Mahimahi files.
pub fn mahimahi(data: &[u8]) {
    reader(data, Format::Mahimahi);
}

/// DRP files.
pub fn drp(data: &[u8]) {
    reader(data, Format::Drp);
}

/// CSV files, and finding the format.
pub fn csv(data: &[u8]) {
    if let Err(error) = detect(data, "t") {
        check_message(&error.to_string());
    }
    reader(data, Format::Csv);
}

/// Tables in JSON.
pub fn json(data: &[u8]) {
    reader(data, Format::Csv);
}

/// Seconds and Mbit/s on each line.
pub fn seconds_mbps(data: &[u8]) {
    reader(data, Format::SecondsMbps);
}

/// Sizes of messages, and of a video's segments, as text and as JSON.
pub fn sizes(data: &[u8]) {
    match sizes::parse(data, "t") {
        Ok(law) => assert!(law.mean().is_none_or(f64::is_finite), "{law:?}"),
        Err(error) => check_message(&error.to_string()),
    }
    for name in ["t", "t.json"] {
        match segments::parse(data, name, 2) {
            Ok(sizes) => assert!(!sizes.is_empty() && sizes.iter().all(|row| row.len() == 2), "{sizes:?}"),
            Err(error) => check_message(&error.to_string()),
        }
    }
}

/// Reads, checks, and sends what was read through every writer.
fn reader(data: &[u8], format: Format) {
    let trace = match parse(data, "t", Some(format), &TraceOptions::default()) {
        Ok(trace) => trace,
        Err(error) => return check_message(&error.to_string()),
    };
    check(&trace);
    if trace.period() > CONVERTED {
        return;
    }
    let described = info(&trace, &InfoOptions::default());
    assert!(described.min_bps <= described.max_bps, "{described:?}");
    let own = match &trace {
        LoadedTrace::Opportunities(_) => Format::Mahimahi,
        LoadedTrace::Rates(_) => Format::Csv,
    };
    let text = convert(&trace, own, &ConvertOptions::default()).expect("a trace can be said in its own kind");
    assert_eq!(parse(text.as_bytes(), "t", Some(own), &TraceOptions::default()), Ok(trace.clone()));
    if let Ok(rates) = to_rates(&trace, Span::from_millis(100)) {
        let kept = deliverable_bytes(&LoadedTrace::Rates(rates));
        assert!(deliverable_bytes(&trace) - kept <= 1, "{kept}");
    }
    if deliverable_bytes(&trace) < 100_000_000
        && let Ok(opportunities) = to_opportunities(&trace, 1500)
    {
        check(&LoadedTrace::Opportunities(opportunities.clone()));
        assert_eq!(opportunities.at.len() as u64, deliverable_bytes(&trace) / 1500);
    }
}

/// What every trace promises to the gates.
fn check(trace: &LoadedTrace) {
    assert!(trace.period() > Span::ZERO);
    match trace {
        LoadedTrace::Rates(rates) => {
            assert_eq!(rates.points[0].0, Time::ZERO);
            assert!(rates.points.is_sorted_by(|a, b| a.0 < b.0));
            assert!(rates.points[rates.points.len() - 1].0.picos() < rates.period.picos());
        }
        LoadedTrace::Opportunities(trace) => {
            assert!(trace.at.is_sorted());
            assert_eq!(trace.at.last().map(|at| at.picos()), Some(trace.period.picos()));
        }
    }
}

/// One line that names the file and says what would be right.
fn check_message(message: &str) {
    assert!(message.starts_with('t') && message.contains("; ") && !message.contains('\n'), "{message}");
}
