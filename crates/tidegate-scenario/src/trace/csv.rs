//! CSV traces: a row says from when a rate holds.
//!
//! ```text
//! time_s,rate_mbps
//! 0,12
//! 0.5,3.2
//! 2,
//! ```
//!
//! - The header names the columns and their units: `time_s`, `time_ms`, `time_us`; `rate_bps`, `rate_kbps`,
//!   `rate_mbps`, `rate_gbps`. Their order is free and other columns are ignored. A file whose units are not known (no
//!   header, or plain `time` or `rate`) is refused.
//! - Fields are separated by commas, or by semicolons or tabs where the header has more of those. Within a
//!   field a comma is a decimal one, as spreadsheets write it. A row that has another number of fields than the header
//!   is refused.
//! - Times increase and begin at 0, or are counted from 1970: then the first one is taken from all.
//!   A rate of 0 is an outage.
//! - The last row may leave its rate empty: the recording ends there. Where it does not,
//!   the last rate holds as long as the one before it.
//! - Numbers are rounded to the nearest bit/s and picosecond.
//! - Lines that begin with `#` and empty lines are skipped.

use std::fmt::Write as _;

use tidegate_core::plan::RateTrace;
use tidegate_core::units::{Rate, Time};

use super::decimal;
use super::detect::first_line;
use super::error::Blame;
use super::rows::{Row, Rows, Wrong, columns, header, row};
use super::{TraceError, check_rates};

/// Reads a CSV trace, with what is to be said of it.
///
/// # Errors
/// The first line that is wrong.
pub fn read(bytes: &[u8], name: &str) -> Result<(RateTrace, Vec<String>), TraceError> {
    let blame = Blame { file: name };
    let separator = separator(first_line(bytes).map_or(b"", |(_, line)| line));
    let mut reader = ::csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(::csv::Trim::All)
        .from_reader(bytes);
    let mut known = None;
    let mut rows = Rows::default();
    let mut record = ::csv::ByteRecord::new();
    loop {
        let more = reader.read_byte_record(&mut record).map_err(|error| unreadable(&error, blame))?;
        if !more {
            break;
        }
        let line = record.position().map_or(0, ::csv::Position::line);
        let wrong = |wrong: Wrong| wrong.at(blame, line, &record, separator);
        let Some(columns) = known else {
            known = Some(header(&record).and_then(|()| columns(&record)).map_err(wrong)?);
            continue;
        };
        rows.push(row(&record, columns, line).map_err(wrong)?).map_err(wrong)?;
    }
    rows.decimal_commas().map_err(|(line, wrong)| blame.line(line, b"", wrong.problem, wrong.help))?;
    let remarks = rows.remarks();
    finish(&rows.rows, blame).map(|trace| (trace, remarks))
}

/// What separates the fields: what the header has most of.
fn separator(header: &[u8]) -> u8 {
    let count = |separator: u8| header.iter().filter(|&&byte| byte == separator).count();
    [b';', b'\t'].into_iter().find(|&other| count(other) > count(b',')).unwrap_or(b',')
}

/// A row that the CSV layer itself cannot take apart.
fn unreadable(error: &::csv::Error, blame: Blame<'_>) -> TraceError {
    let line = error.position().map(::csv::Position::line);
    let whole = blame.whole(format!("not a CSV file ({error})"), "write one time and one rate per line");
    TraceError { line, ..whole }
}

/// The trace that the rows make.
fn finish(rows: &[Row], blame: Blame<'_>) -> Result<RateTrace, TraceError> {
    let points: Vec<(Time, Rate)> = rows.iter().filter_map(|row| Some((row.at, row.rate?))).collect();
    let lines: Vec<u64> = rows.iter().map(|row| row.line).collect();
    let Some(last) = rows.last() else {
        return Err(
            blame.whole("there are no rows in this file", "write time_s,rate_mbps and then rows like 0,12")
        );
    };
    check_rates(&points, &lines, |rate| rate.to_string(), blame)?;
    let period = match (last.rate, points.len().checked_sub(2)) {
        (None, _) => last.at.saturating_since(Time::ZERO),
        (Some(_), Some(before)) => {
            let held = last.at.saturating_since(points[before].0);
            last.at.saturating_add(held).saturating_since(Time::ZERO)
        }
        (Some(_), None) => {
            return Err(blame.line(
                last.line,
                b"",
                "a single row needs an end time",
                "end with a row that has a time and no rate, as in 10,",
            ));
        }
    };
    Ok(RateTrace { points, period })
}

/// Writes a rate trace as CSV: seconds and bit/s, with a last row that ends it.
#[must_use]
pub fn write(trace: &RateTrace) -> String {
    let mut text = String::from("time_s,rate_bps\n");
    for (at, rate) in &trace.points {
        let _ = writeln!(text, "{},{}", decimal::text(at.picos(), 12), rate.bps());
    }
    let _ = writeln!(text, "{},", decimal::text(trace.period.picos(), 12));
    text
}
