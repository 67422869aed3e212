//! Link traces: reading, describing, converting and synthesising them.
//!
//! A trace says what a link can carry over time, in one of two ways: a rate that holds
//! until the next ([`RateTrace`]), or instants at which so many bytes may leave
//! ([`OpportunityTrace`]). Four file formats are read:
//!
//! | format | file | gives |
//! |---|---|---|
//! | [`Format::Mahimahi`] | one whole number of milliseconds per line, one delivery opportunity each ([`mahimahi`]) | opportunities |
//! | [`Format::Drp`] | one rate in kbit/s per line, a fixed step from the header ([`drp`]) | rates |
//! | [`Format::Csv`] | columns of time and rate (`table`): CSV, white space, JSON | rates |
//! | [`Format::SecondsMbps`] | seconds and Mbit/s on each line ([`seconds_mbps`]) | rates |
//!
//! [`info`] describes a trace and [`convert`] makes one kind from the other;
//! [`synth`] invents one. What a gate does with a trace lives in `tidegate_core::gate`; what a scenario may say
//! about one, in the scenario's own schema. Numbers are rounded to the nearest picosecond and bit per
//! second, by one rule for all formats; what is no number is an error that names the line.
//!
//! Of a table, [`ColumnOptions`] say what it does not say itself. A time is a number with a unit, a date, or a length;
//! the first one becomes 0. Rows of one time share the time until the next one evenly, and a rate holds until the next.
//!
//! # Which format a file has
//!
//! Say so, or leave it to two rules, in this order:
//!
//! 1. The name: `.up`, `.down`, `.mahi` and `.mahimahi` are Mahimahi, `.drp` is DRP.
//! 2. The content: a comment with `:recommended_frequency` (or `:recommended_freqeuncy`) is
//!    DRP; else in the first line that is neither empty nor a comment two numbers with white space between them are
//!    seconds and Mbit/s, and a comma, a semicolon, a tab or more columns between white space are a table. So is JSON.
//!
//! One number per line under another name could be milliseconds or kbit/s: an error that asks for the format. So is
//! everything else.

pub mod convert;
pub mod csv;
mod decimal;
mod detect;
pub mod drp;
mod error;
pub mod info;
pub(crate) mod light;
pub mod mahimahi;
pub mod seconds_mbps;
pub mod segments;
pub mod sizes;
pub mod synth;
mod table;
mod windows;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use tidegate_core::plan::{OpportunityTrace, RateTrace};
use tidegate_core::units::{FASTEST, Rate, Span, Time};

use crate::file::{self, LARGEST_DATA, LARGEST_SCENARIO, Refused};
pub use detect::detect;
use error::Blame;
pub use error::TraceError;
pub use table::{ColumnOptions, RateUnit, TimeUnit, UnknownRateUnit, UnknownTimeUnit};
pub use windows::deliverable_bytes;

/// Bytes of one delivery opportunity unless told otherwise: one full Ethernet payload.
pub const OPPORTUNITY_BYTES: u32 = 1500;

/// More windows, steps or opportunities than this are not made: a slip of the unit, not a trace.
const MOST_ENTRIES: u32 = 50_000_000;

/// What is wrong with a rate above [`FASTEST`].
const TOO_FAST: &str = "the rate is above 1 Pbit/s";

/// A trace as it was read.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadedTrace {
    /// A rate over time.
    Rates(RateTrace),
    /// Delivery opportunities.
    Opportunities(OpportunityTrace),
}

impl LoadedTrace {
    /// Length of the recording.
    #[must_use]
    pub fn period(&self) -> Span {
        match self {
            LoadedTrace::Rates(trace) => trace.period,
            LoadedTrace::Opportunities(trace) => trace.period,
        }
    }
}

/// The formats of trace files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Milliseconds of delivery opportunities.
    Mahimahi,
    /// Rates at a fixed step, with `#` headers.
    Drp,
    /// Time and rate in columns.
    Csv,
    /// Seconds and Mbit/s on each line, with white space between them.
    SecondsMbps,
}

impl Format {
    /// Every format, in the order that messages list them.
    pub const ALL: [Format; 4] = [Format::Mahimahi, Format::Drp, Format::Csv, Format::SecondsMbps];

    /// The name in scenarios and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Mahimahi => "mahimahi",
            Format::Drp => "drp",
            Format::Csv => "csv",
            Format::SecondsMbps => "seconds-mbps",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is none of `mahimahi`, `drp`, `csv`, `seconds-mbps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such trace format; write mahimahi, drp, csv or seconds-mbps")]
pub struct UnknownFormat;

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or(UnknownFormat)
    }
}

/// What a file does not say about itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceOptions {
    /// Bytes of one Mahimahi delivery opportunity: 1500, or 1504 as Mahimahi's own code
    /// charges a 1500-byte packet (its TUN header).
    pub opportunity_bytes: u32,
    /// Time from one value to the next: of a DRP file whose header names no frequency (a header wins), and of a table
    /// without times.
    pub step: Option<Span>,
    /// The columns of a table.
    pub columns: ColumnOptions,
}

impl Default for TraceOptions {
    fn default() -> TraceOptions {
        TraceOptions { opportunity_bytes: OPPORTUNITY_BYTES, step: None, columns: ColumnOptions::default() }
    }
}

/// A trace, and what a reader of its file should hear.
#[derive(Clone, Debug, PartialEq)]
pub struct Remarked {
    /// The trace.
    pub trace: LoadedTrace,
    /// What was understood that the file does not say in so many words: a sentence each, without its full stop.
    pub remarks: Vec<String>,
}

/// Reads the trace file at `path`; `None` finds the format by the rules above.
///
/// # Errors
/// A file that cannot be read, or is no such trace.
pub fn load(path: &Path, format: Option<Format>, options: &TraceOptions) -> Result<Remarked, TraceError> {
    let name = path.display().to_string();
    let bytes = read(path, &name)?;
    parse_with_remarks(&bytes, &name, format, options)
}

/// The bytes of a file of code.
pub(crate) fn read_code(path: &Path, name: &str) -> Result<Vec<u8>, TraceError> {
    file::read(path, LARGEST_SCENARIO).map_err(|refused| {
        let help = "give the path of a Python file, relative to the scenario's folder";
        Blame { file: name }.whole(refused.problem(), help)
    })
}

/// The bytes of a trace file.
pub(crate) fn read(path: &Path, name: &str) -> Result<Vec<u8>, TraceError> {
    file::read(path, LARGEST_DATA).map_err(|refused| {
        let problem = match &refused {
            Refused::Io(error) => format!("cannot read the trace ({error})"),
            other => other.problem(),
        };
        let help = match refused {
            Refused::Large { .. } => "give a shorter recording",
            _ => "give the path of a trace file; in a scenario it is relative to the scenario's folder",
        };
        Blame { file: name }.whole(problem, help)
    })
}

/// Reads a trace from bytes; `name` stands in messages and, by its ending, may tell the
/// format.
///
/// # Errors
/// Bytes that are no such trace.
pub fn parse(
    bytes: &[u8],
    name: &str,
    format: Option<Format>,
    options: &TraceOptions,
) -> Result<LoadedTrace, TraceError> {
    parse_with_remarks(bytes, name, format, options).map(|read| read.trace)
}

/// As [`parse`], with what a reader of the file should hear.
///
/// # Errors
/// Bytes that are no such trace.
pub fn parse_with_remarks(
    bytes: &[u8],
    name: &str,
    format: Option<Format>,
    options: &TraceOptions,
) -> Result<Remarked, TraceError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let told = options.columns != ColumnOptions::default();
    let format = match (format, detect(bytes, name)) {
        (Some(format), _) => format,
        (None, _) if told => Format::Csv,
        (None, Err(_)) if options.step.is_some() => Format::Csv,
        (None, found) => found?,
    };
    if told && format != Format::Csv {
        let help = "take them out, or give the format csv";
        return Err(
            Blame { file: name }.whole(format!("columns and units are not of the format {format}"), help)
        );
    }
    if options.step.is_some() && matches!(format, Format::Mahimahi | Format::SecondsMbps) {
        let help = "take the step out; it is for rates without times";
        return Err(Blame { file: name }.whole(
            format!(
                "a step says how long each rate holds, and a trace of the format {format} says that itself"
            ),
            help,
        ));
    }
    let mut remarks = Vec::new();
    let trace = match format {
        Format::Mahimahi => LoadedTrace::Opportunities(mahimahi::read(bytes, name, options)?),
        Format::Drp => LoadedTrace::Rates(drp::read(bytes, name, options)?),
        Format::SecondsMbps => LoadedTrace::Rates(seconds_mbps::read(bytes, name)?),
        Format::Csv => {
            let (trace, said) = table::read(bytes, name, options)?;
            remarks = said;
            LoadedTrace::Rates(trace)
        }
    };
    Ok(Remarked { trace, remarks })
}

/// Lines with their numbers from 1; `\n` or `\r\n` ends one, and a last newline opens none.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let count = if bytes.is_empty() { 0 } else { usize::MAX };
    (1..).zip(bytes.split(|&b| b == b'\n').take(count)).map(|(number, line)| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (number, line)
    })
}

/// Checks what every rate trace must keep, whatever its file: something passes, and no
/// rate is above [`FASTEST`] (`lines` has the line of each point).
fn check_rates(
    points: &[(Time, Rate)],
    lines: &[u64],
    shown: impl Fn(Rate) -> String,
    blame: Blame<'_>,
) -> Result<(), TraceError> {
    if let Some(index) = points.iter().position(|(_, rate)| *rate > FASTEST) {
        let read = shown(points[index].1);
        return Err(blame.line(lines[index], read.as_bytes(), TOO_FAST, "check the unit of the rate"));
    }
    if points.iter().all(|(_, rate)| *rate == Rate::ZERO) {
        return Err(
            blame.whole("the rate is 0 from the first line to the last", "let at least one rate be above 0")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
