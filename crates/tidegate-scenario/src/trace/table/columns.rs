//! Which columns of a table hold the time and the rate, and what they count.

use ::csv::ByteRecord;
use tidegate_core::units::Span;

use super::choice::{Choice, choose};
use super::dates;
use super::names::{Unit, by_name, filled, is_duration, is_number, text};
use super::units::TimeUnit;
use super::wrong::{Wrong, wrong};
use crate::trace::TraceOptions;

/// Numbers from here on count from 1970: 100 million seconds, which is 1973.
const EPOCH: f64 = 1e8;

/// Where the values of a row stand and what they count.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) time: Times,
    pub(super) rate: usize,
    pub(super) unit: Unit,
    /// Fields that every row must have, without empty ones at the end of the first.
    pub(super) count: usize,
    /// The column and the value of the rows that count.
    pub(super) only: Option<(usize, String)>,
    /// What was understood that nobody said.
    pub(super) remarks: Vec<String>,
}

/// Where the times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    /// Numbers in a column.
    Numbers(usize, TimeUnit),
    /// Dates or times of day in a column.
    Dates(usize),
    /// A column says how long each rate holds.
    Durations(usize, TimeUnit),
    /// Every rate holds so long.
    Step(Span),
}

impl Columns {
    /// The column of the time, where there is one.
    pub(super) fn time_column(&self) -> Option<usize> {
        match self.time {
            Times::Numbers(column, _) | Times::Dates(column) | Times::Durations(column, _) => Some(column),
            Times::Step(_) => None,
        }
    }
}

/// Whether a first row is one of values: any of its fields is a number or a date.
pub(super) fn is_values(record: &ByteRecord) -> bool {
    record.iter().any(|field| text(field).is_some_and(|text| is_number(text) || dates::read(text).is_some()))
}

/// The columns of a table whose names are `header` and whose first row of values is `first`.
pub(super) fn columns(
    header: Option<&ByteRecord>,
    first: &ByteRecord,
    options: &TraceOptions,
) -> Result<Columns, Wrong> {
    let Choice { time, rate, unit } = choose(header, first, options)?;
    let named = |column: usize| header.and_then(|header| text(header.get(column)?));
    let mut remarks = Vec::new();
    let time = match (time, options.step) {
        (None, Some(step)) if step > Span::ZERO => Times::Step(step),
        (None, _) => return Err(no_times(header, first, rate)),
        (Some(_), Some(_)) => {
            return Err(wrong(
                "a step says how long each rate holds, and this table has times",
                "take the step out; it is for rates without times",
            ));
        }
        (Some(column), _) => {
            let name = named(column).unwrap_or("");
            let told = options.columns.time_unit.or_else(|| TimeUnit::of_name(name));
            let value = first.get(column).and_then(text).unwrap_or("");
            if is_duration(name) && options.columns.time.is_none() {
                let counted = told.ok_or_else(|| unit_of_time(name))?;
                Times::Durations(column, counted)
            } else if !is_number(value) && dates::read(value).is_some() {
                Times::Dates(column)
            } else if told.is_none() && !value.is_empty() && !is_number(value) {
                return Err(wrong(
                    "the times are neither numbers nor dates of a known form",
                    "write dates as 2021-12-15 16:05:11, or seconds, as in 0.5",
                ));
            } else {
                let counted = told.or_else(|| since_1970(value));
                let asked = options.columns != Default::default();
                if counted.is_none() && asked {
                    remarks.push("the times are read as seconds; time_unit says another unit".to_owned());
                }
                let seconds = asked.then_some(TimeUnit::SECONDS);
                Times::Numbers(column, counted.or(seconds).ok_or_else(|| unit_of_time(name))?)
            }
        }
    };
    let only = options.columns.only.as_deref().map(|only| row_filter(header, only)).transpose()?;
    let count = header.map_or(filled(first), filled);
    Ok(Columns { time, rate, unit, count, only, remarks })
}

/// What is wrong with rates that have no times.
fn no_times(header: Option<&ByteRecord>, first: &ByteRecord, rate: usize) -> Wrong {
    let problem = match header {
        Some(_) => "the header names no time column",
        None if first.len() <= 2 => "rates without times",
        None => "no header and no date, so the time column is not known",
    };
    let help = match header {
        Some(_) => "give the one that is (time_column), or how long each rate holds (step), as in",
        None => "give how long each rate holds (step), or the column with the times (time_column), as in",
    };
    wrong(problem, help).in_field(rate).command(if header.is_some() {
        "--time-column NAME"
    } else {
        "--step '1 s'"
    })
}

fn unit_of_time(name: &str) -> Wrong {
    let problem = match name.to_ascii_lowercase().as_str() {
        "time" => "the column `time` does not say its unit",
        _ => "the column of the times does not say its unit",
    };
    wrong(problem, "call it time_s, time_ms or time_us, or give the unit (time_unit), as in")
        .command("--time-unit s")
}

/// The unit of a number that counts from 1970, by its size.
fn since_1970(value: &str) -> Option<TimeUnit> {
    let value: f64 = value.parse().ok()?;
    let power = match value {
        v if v < EPOCH => return None,
        v if v < 1e11 => 12,
        v if v < 1e14 => 9,
        v if v < 1e17 => 6,
        _ => 3,
    };
    Some(TimeUnit { power })
}

/// The column and the value in `COLUMN=VALUE`.
fn row_filter(header: Option<&ByteRecord>, only: &str) -> Result<(usize, String), Wrong> {
    let (name, value) = only
        .split_once('=')
        .ok_or_else(|| wrong("where: no value", "write COLUMN=VALUE, as in run_num=1"))?;
    Ok((by_name(header, name.trim())?, value.trim().to_owned()))
}
