//! The rows of a CSV trace: what the header names, and what each row says.

use csv::ByteRecord;
use tidegate_core::units::{Rate, Time};

use super::decimal::{self, Refused};
use super::error::{Blame, TraceError, is_numbers};

/// Names of time columns and the power of ten that makes picoseconds.
const TIMES: [(&str, i32); 3] = [("time_s", 12), ("time_ms", 9), ("time_us", 6)];

/// Names of rate columns and the power of ten that makes bits per second.
const RATES: [(&str, i32); 4] = [("rate_bps", 0), ("rate_kbps", 3), ("rate_mbps", 6), ("rate_gbps", 9)];

const HEADER_HELP: &str = "name one time column (time_s, time_ms, time_us) and one rate column \
                           (rate_bps, rate_kbps, rate_mbps, rate_gbps), as in time_s,rate_mbps";

const NUMBERS: &str = "write plain numbers, as in 0.5,3.2";

/// Times from here on count from 1970: 100 million seconds, which is 1973, in picoseconds.
const EPOCH: u128 = 100_000_000_000_000_000_000;

/// Where the two values of a row stand and what they count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    time: (usize, i32),
    rate: (usize, i32),
    /// Columns of the header, without empty ones at its end.
    count: usize,
}

/// What one row says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) line: u64,
    pub(super) at: Time,
    /// `None`: the recording ends here.
    pub(super) rate: Option<Rate>,
}

/// A row as it stands in the file: its time in picoseconds from wherever the file counts.
pub(super) struct Read {
    line: u64,
    picos: u128,
    rate: Option<Rate>,
    comma: Comma,
}

/// What the commas within the numbers of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Comma {
    None,
    /// Three digits follow, as in 1,234: decimal, or between thousands.
    Either,
    Decimal,
}

/// What is wrong with a row, and what would be right.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) problem: String,
    pub(super) help: String,
    /// The field that is wrong.
    field: Option<usize>,
}

impl Wrong {
    /// The error, which quotes the row or, where that is more than numbers, its field.
    pub(super) fn at(self, blame: Blame<'_>, line: u64, record: &ByteRecord, separator: u8) -> TraceError {
        let mut shown = record.iter().collect::<Vec<_>>().join(&separator);
        if !is_numbers(&shown) {
            shown = self.field.and_then(|index| record.get(index)).unwrap_or_default().to_vec();
        }
        blame.line(line, &shown, self.problem, self.help)
    }

    fn in_field(self, index: usize) -> Wrong {
        Wrong { field: Some(index), ..self }
    }
}

fn wrong(problem: impl Into<String>, help: impl Into<String>) -> Wrong {
    Wrong { problem: problem.into(), help: help.into(), field: None }
}

/// Refuses numbers where a header would be.
pub(super) fn header(record: &ByteRecord) -> Result<(), Wrong> {
    let is_number = |field: &[u8]| {
        let begins = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
        begins.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
    };
    if !record.get(0).is_some_and(is_number) {
        return Ok(());
    }
    let problem = "there is no header, so the unit of the rate is not known";
    if record.len() == 2 && record.get(1).is_some_and(|field| !field.is_empty() && !is_number(field)) {
        return Err(wrong(
            "there is no header and one number in a line, so a rate without its time",
            "write time_s,rate_mbps,unit above this line (rate_kbps for kbit/s; every line must have the same unit) and \
             each line's time in seconds before it, as in 0, before this one and 1, before the next",
        )
        .in_field(0));
    }
    Err(wrong(
        problem,
        "write one above this line, such as time_s,rate_mbps (or rate_bps, rate_kbps, rate_gbps)",
    ))
}

/// The columns that the first row names.
pub(super) fn columns(record: &ByteRecord) -> Result<Columns, Wrong> {
    let mut time = None;
    let mut rate = None;
    let mut plain = None;
    for (index, field) in record.iter().enumerate() {
        let name = field.to_ascii_lowercase();
        let find = |names: &[(&str, i32)]| {
            names.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, power)| (index, *power))
        };
        for (column, found) in [(&mut time, find(&TIMES)), (&mut rate, find(&RATES))] {
            if found.is_some() && column.is_some() {
                return Err(wrong("there are two time columns or two rate columns", HEADER_HELP));
            }
            *column = column.or(found);
        }
        match name.as_slice() {
            b"time" => plain = plain.or(Some(("time", "time_s, time_ms or time_us"))),
            b"rate" => plain = plain.or(Some(("rate", "rate_bps, rate_kbps, rate_mbps or rate_gbps"))),
            _ => {}
        }
    }
    match (time, rate, plain) {
        (Some(time), Some(rate), _) => Ok(Columns { time, rate, count: filled(record) }),
        (_, _, Some((name, names))) => {
            Err(wrong(format!("the column `{name}` does not say its unit"), format!("call it {names}")))
        }
        (None, ..) => Err(wrong("the header names no time column", HEADER_HELP)),
        (_, None, _) => Err(wrong("the header names no rate column", HEADER_HELP)),
    }
}

/// One row of values.
pub(super) fn row(record: &ByteRecord, columns: Columns, line: u64) -> Result<Read, Wrong> {
    let mut comma = Comma::None;
    let mut field = |index: usize| {
        let bytes =
            record.get(index).ok_or_else(|| wrong("a column is missing", "write one time and one rate"))?;
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("not a number", NUMBERS).in_field(index))?;
        let (point, found) = decimal_comma(text);
        comma = comma.max(found);
        Ok(point)
    };
    let (time, rate) = (field(columns.time.0)?, field(columns.rate.0)?);
    same_fields(record, columns)?;
    let picos = decimal::nearest(&time, columns.time.1).map_err(|refused| match refused {
        Refused::NotANumber => wrong(
            "the time is not a number",
            "write times as plain numbers; for dates, the seconds since the first row, as in 0 and 0.5",
        ),
        Refused::Negative => wrong("the time is below 0", "times begin at 0"),
        Refused::TooLarge => too_long(),
    });
    let picos = picos.map_err(|wrong| wrong.in_field(columns.time.0))?;
    let rate = if rate.is_empty() {
        None
    } else {
        let bps = decimal::nearest_u64(&rate, columns.rate.1).map_err(|refused| match refused {
            Refused::NotANumber => wrong("the rate is not a number", NUMBERS),
            Refused::Negative => wrong("the rate is below 0", "write 0 for an outage"),
            Refused::TooLarge => wrong("the rate is above 1 Pbit/s", "check the unit of the rate"),
        });
        Some(Rate::from_bps(bps.map_err(|wrong| wrong.in_field(columns.rate.0))?))
    };
    Ok(Read { line, picos, rate, comma })
}

/// A row has as many fields as the header; empty ones at its end do not count, and a row that ends the recording has
/// its time alone.
fn same_fields(record: &ByteRecord, columns: Columns) -> Result<(), Wrong> {
    let read = filled(record);
    let ends = record.iter().enumerate().all(|(index, field)| field.is_empty() || index == columns.time.0);
    if ends || (read <= columns.count && record.len() >= columns.count) {
        return Ok(());
    }
    let few = record.len() < columns.count;
    let fields = if few { record.len() } else { read };
    let problem = format!("{fields} fields under a header of {}", columns.count);
    Err(if few {
        wrong(problem, "write a comma for each column, also where its value is not known")
    } else {
        wrong(
            problem,
            "if a number has a decimal comma, write a point, as in 0,14.7, or put semicolons between the columns; \
             otherwise name every column in the header",
        )
    })
}

/// The fields of a row without empty ones at its end.
fn filled(record: &ByteRecord) -> usize {
    record.len() - record.iter().rev().take_while(|field| field.is_empty()).count()
}

/// A field with a point for its one comma, which separates nothing, and what that comma is.
fn decimal_comma(text: &str) -> (String, Comma) {
    match text.split_once(',') {
        Some((whole, part)) if !whole.contains('.') && !part.contains(['.', ',']) => {
            let all_digits = |piece: &str| piece.bytes().all(|byte| byte.is_ascii_digit());
            let grouped = part.len() == 3 && all_digits(part) && all_digits(whole);
            let is_thousands = grouped && (1..=3).contains(&whole.len()) && !whole.starts_with('0');
            let found = if is_thousands { Comma::Either } else { Comma::Decimal };
            (format!("{whole}.{part}"), found)
        }
        _ => (text.to_owned(), Comma::None),
    }
}

fn too_long() -> Wrong {
    wrong("the time is more than 106 days, longer than any run", "check the unit of the time")
}

/// Rows in order.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// The time of the first row, where it counts from 1970.
    epoch: Option<u128>,
    comma: Option<(u64, Comma)>,
}

impl Rows {
    /// Adds a row.
    pub(super) fn push(&mut self, read: Read) -> Result<(), Wrong> {
        if self.rows.is_empty() && read.picos >= EPOCH {
            self.epoch = Some(read.picos);
        }
        if read.comma > self.comma.map_or(Comma::None, |(_, comma)| comma) {
            self.comma = Some((read.line, read.comma));
        }
        let begun = self.epoch.unwrap_or(0);
        let late =
            || wrong("this row is not later than the row before it", "times must increase from row to row");
        let picos = read.picos.checked_sub(begun).ok_or_else(late)?;
        let picos = u64::try_from(picos).ok().filter(|picos| *picos < u64::MAX / 2).ok_or_else(too_long)?;
        let row = Row { line: read.line, at: Time::from_picos(picos), rate: read.rate };
        match self.rows.last() {
            None if row.at != Time::ZERO => {
                Err(wrong("the first time is not 0", "subtract the time of the first row from all times"))
            }
            None if row.rate.is_none() => {
                Err(wrong("the first row has no rate", "write a rate after the time"))
            }
            Some(before) if before.rate.is_none() => Err(wrong(
                "the row before had no rate, which ends the recording",
                "give every row but the last a rate",
            )),
            Some(before) if row.at <= before.at => Err(late()),
            _ => {
                self.rows.push(row);
                Ok(())
            }
        }
    }

    /// Refuses commas that may as well stand between thousands, in all rows.
    pub(super) fn decimal_commas(&self) -> Result<(), (u64, Wrong)> {
        match self.comma {
            Some((line, Comma::Either)) => Err((
                line,
                wrong(
                    "a comma with three digits behind it is a decimal comma or stands between thousands",
                    "write a point, or no comma",
                ),
            )),
            _ => Ok(()),
        }
    }

    /// What a reader of the file should hear.
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.epoch.is_some() {
            remarks.push("the times count from 1970; the first one is taken from all".to_owned());
        }
        let steps: Vec<_> =
            self.rows.windows(2).map(|pair| pair[1].at.saturating_since(pair[0].at)).collect();
        let ended = self.rows.last().is_some_and(|row| row.rate.is_none());
        if let (false, Some(last)) = (ended, steps.last())
            && steps.iter().any(|step| step != last)
        {
            remarks.push(format!(
                "the file does not say when its last rate ends: it holds {last}, as the one before it (to say so, end \
                 with a row that has a time and no rate)"
            ));
        }
        remarks
    }
}
