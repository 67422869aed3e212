//! CSV traces: a row says from when a rate holds.
//!
//! ```text
//! time_s,rate_mbps
//! 0,12
//! 0.5,3.2
//! 2,
//! ```
//!
//! - The header names the columns and their units: `time` (seconds), `time_s`, `time_ms`,
//!   `time_us`; `rate` (bit/s), `rate_bps`, `rate_kbps`, `rate_mbps`, `rate_gbps`. Their
//!   order is free and other columns are ignored. A file without a header is refused: its unit is not known.
//! - Times increase and begin at 0. A rate of 0 is an outage.
//! - The last row may leave its rate empty: the recording ends there. Where it does not,
//!   the last rate holds as long as the one before it.
//! - Numbers are exact: whole bits per second and whole picoseconds, or an error.
//! - Lines that begin with `#` and empty lines are skipped.

use std::fmt::Write as _;

use tidegate_core::plan::RateTrace;
use tidegate_core::units::{Rate, Time};

use super::decimal::{self, Refused};
use super::error::Blame;
use super::{TraceError, check_rates};

/// Names of time columns and the power of ten that makes picoseconds.
const TIMES: [(&str, i32); 4] = [("time", 12), ("time_s", 12), ("time_ms", 9), ("time_us", 6)];

/// Names of rate columns and the power of ten that makes bits per second.
const RATES: [(&str, i32); 5] =
    [("rate", 0), ("rate_bps", 0), ("rate_kbps", 3), ("rate_mbps", 6), ("rate_gbps", 9)];

const HEADER_HELP: &str = "name one time column (time_s, time_ms, time_us) and one rate column \
                           (rate_bps, rate_kbps, rate_mbps, rate_gbps), as in time_s,rate_mbps";

/// Where the two values of a row stand and what they count.
#[derive(Clone, Copy, Debug)]
struct Columns {
    time: (usize, i32),
    rate: (usize, i32),
}

/// What one row says.
#[derive(Clone, Copy, Debug)]
struct Row {
    line: u64,
    at: Time,
    /// `None`: the recording ends here.
    rate: Option<Rate>,
}

/// Reads a CSV trace.
///
/// # Errors
/// The first line that is wrong.
pub fn read(bytes: &[u8], name: &str) -> Result<RateTrace, TraceError> {
    let blame = Blame { file: name };
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(::csv::Trim::All)
        .from_reader(bytes);
    let mut columns = None;
    let mut rows: Vec<Row> = Vec::new();
    let mut record = ::csv::ByteRecord::new();
    loop {
        let more = reader.read_byte_record(&mut record).map_err(|error| unreadable(&error, blame))?;
        if !more {
            break;
        }
        let line = record.position().map_or(0, ::csv::Position::line);
        let shown = shown(&record);
        let wrong = |(problem, help): Wrong| blame.line(line, shown.as_bytes(), problem, help);
        let Some(known) = columns else {
            columns = Some(header(&record).map_err(wrong)?);
            continue;
        };
        push(&mut rows, row(&record, known, line).map_err(wrong)?).map_err(wrong)?;
    }
    finish(rows, blame)
}

/// What is wrong with a row, and what would be right.
type Wrong = (&'static str, &'static str);

/// A row as it may stand in a message.
fn shown(record: &::csv::ByteRecord) -> String {
    let fields: Vec<_> = record.iter().map(String::from_utf8_lossy).collect();
    fields.join(",")
}

/// A row that the CSV layer itself cannot take apart.
fn unreadable(error: &::csv::Error, blame: Blame<'_>) -> TraceError {
    let line = error.position().map(::csv::Position::line);
    let whole = blame.whole(format!("not a CSV file ({error})"), "write one time and one rate per line");
    TraceError { line, ..whole }
}

/// The columns that the first row names.
fn header(record: &::csv::ByteRecord) -> Result<Columns, Wrong> {
    if record.get(0).is_some_and(|field| field.first().is_some_and(|b| b.is_ascii_digit() || *b == b'.')) {
        return Err((
            "there is no header, so the unit of the rate is not known",
            "write one above this line, such as time_s,rate_mbps (or rate_bps, rate_kbps, rate_gbps)",
        ));
    }
    let mut time = None;
    let mut rate = None;
    for (index, field) in record.iter().enumerate() {
        let name = field.to_ascii_lowercase();
        let find = |names: &[(&str, i32)]| {
            names.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, power)| (index, *power))
        };
        for (column, found) in [(&mut time, find(&TIMES)), (&mut rate, find(&RATES))] {
            if found.is_some() && column.is_some() {
                return Err(("there are two time columns or two rate columns", HEADER_HELP));
            }
            *column = column.or(found);
        }
    }
    match (time, rate) {
        (Some(time), Some(rate)) => Ok(Columns { time, rate }),
        (None, _) => Err(("the header names no time column", HEADER_HELP)),
        (_, None) => Err(("the header names no rate column", HEADER_HELP)),
    }
}

/// One row of values.
fn row(record: &::csv::ByteRecord, columns: Columns, line: u64) -> Result<Row, Wrong> {
    let field = |index: usize| {
        let bytes = record.get(index).ok_or(("a column is missing", "write one time and one rate"))?;
        std::str::from_utf8(bytes).map_err(|_| ("not a number", "write plain numbers, as in 0.5,3.2"))
    };
    let picos = decimal::scaled(field(columns.time.0)?, columns.time.1).map_err(|refused| match refused {
        Refused::NotANumber => ("the time is not a number", "write plain numbers, as in 0.5,3.2"),
        Refused::Negative => ("the time is below 0", "times begin at 0"),
        Refused::TooFine => ("the time is finer than a picosecond", "round the time to whole picoseconds"),
        Refused::TooLarge => TOO_LONG,
    })?;
    if picos >= u64::MAX / 2 {
        return Err(TOO_LONG);
    }
    let text = field(columns.rate.0)?;
    let rate = if text.is_empty() {
        None
    } else {
        let bps = decimal::scaled(text, columns.rate.1).map_err(|refused| match refused {
            Refused::NotANumber => ("the rate is not a number", "write plain numbers, as in 0.5,3.2"),
            Refused::Negative => ("the rate is below 0", "write 0 for an outage"),
            Refused::TooFine => {
                ("the rate is not a whole number of bit/s", "round the rate to whole bits per second")
            }
            Refused::TooLarge => ("the rate is above 1 Pbit/s", "check the unit of the rate"),
        })?;
        Some(Rate::from_bps(bps))
    };
    Ok(Row { line, at: Time::from_picos(picos), rate })
}

const TOO_LONG: Wrong = ("the time is more than 106 days, longer than any run", "check the unit of the time");

/// Keeps the rows in order.
fn push(rows: &mut Vec<Row>, row: Row) -> Result<(), Wrong> {
    match rows.last() {
        None if row.at != Time::ZERO => {
            Err(("the first time is not 0", "subtract the time of the first row from all times"))
        }
        None if row.rate.is_none() => Err(("the first row has no rate", "write a rate after the time")),
        Some(before) if before.rate.is_none() => Err((
            "the row before had no rate, which ends the recording",
            "give every row but the last a rate",
        )),
        Some(before) if row.at <= before.at => {
            Err(("this row is not later than the row before it", "times must increase from row to row"))
        }
        _ => {
            rows.push(row);
            Ok(())
        }
    }
}

/// The trace that the rows make.
fn finish(rows: Vec<Row>, blame: Blame<'_>) -> Result<RateTrace, TraceError> {
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
