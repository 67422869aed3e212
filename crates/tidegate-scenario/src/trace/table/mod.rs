//! Tables of times and rates as people have them: CSV, columns between white space, JSON.

mod cells;
mod choice;
mod columns;
mod dates;
mod json;
mod made;
mod names;
mod netem;
mod rows;
mod units;
mod wrong;

use ::csv::ByteRecord;
use tidegate_core::plan::RateTrace;

pub use units::{RateUnit, TimeUnit, UnknownRateUnit, UnknownTimeUnit};

use super::detect::{first_line, is_json};
use super::error::Blame;
use super::{TraceError, TraceOptions, lines};
use columns::{columns, is_values};
use rows::Rows;
use wrong::{Place, Wrong};

/// Which columns a table has, where its reader says so; what is `None` is found by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ColumnOptions {
    /// Name of the time column, or its number from 1.
    pub time: Option<String>,
    /// Name of the rate column, or its number from 1.
    pub rate: Option<String>,
    /// What the times count.
    pub time_unit: Option<TimeUnit>,
    /// What the rates count.
    pub rate_unit: Option<RateUnit>,
    /// `COLUMN=VALUE`: only rows with this value count.
    pub only: Option<String>,
}

impl ColumnOptions {
    /// The keys of a scenario and the arguments of a call that [`ColumnOptions::set`] takes.
    pub const KEYS: [&'static str; 5] = ["time_column", "rate_column", "time_unit", "rate_unit", "where"];

    /// Sets what `key` says; a `key` of no column changes nothing.
    ///
    /// # Errors
    /// The text is no unit, or `where` says no value; what would be right.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        match key {
            "time_column" => self.time = Some(text.to_owned()),
            "rate_column" => self.rate = Some(text.to_owned()),
            "time_unit" => {
                self.time_unit = Some(text.parse().map_err(|wrong: UnknownTimeUnit| wrong.to_string())?);
            }
            "rate_unit" => {
                self.rate_unit = Some(text.parse().map_err(|wrong: UnknownRateUnit| wrong.to_string())?);
            }
            "where" if !text.contains('=') => {
                return Err("no value; write COLUMN=VALUE, as in run_num=1".to_owned());
            }
            "where" => self.only = Some(text.to_owned()),
            _ => {}
        }
        Ok(())
    }
}

/// A trace, and what is to be said of it.
type Told = (RateTrace, Vec<String>);

/// Reads a table, with what is to be said of it.
///
/// # Errors
/// The first row that is wrong.
pub(super) fn read(bytes: &[u8], name: &str, options: &TraceOptions) -> Result<Told, TraceError> {
    let blame = Blame { file: name };
    if is_json(bytes) {
        return read_json(bytes, blame, options);
    }
    let first = first_line(bytes).map_or(b"".as_slice(), |(_, line)| line);
    let separator = separator(first);
    let mut feed = Feed { options, blame, separator: separator.unwrap_or(b' '), header: None, rows: None };
    let Some(separator) = separator else {
        for (number, line) in lines(bytes).filter(|(_, line)| is_content(line)) {
            let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            feed.take(&words.collect(), Place::Line(number))?;
        }
        return feed.finish();
    };
    let mut reader = ::csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(::csv::Trim::All)
        .from_reader(bytes);
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| unreadable(&error, blame))? {
        let line = record.position().map_or(0, ::csv::Position::line);
        feed.take(&record, Place::Line(line))?;
    }
    feed.finish()
}

fn read_json(bytes: &[u8], blame: Blame<'_>, options: &TraceOptions) -> Result<Told, TraceError> {
    let table =
        json::table(bytes).map_err(|wrong| wrong.at(blame, Place::Item(0), &ByteRecord::new(), b','))?;
    let mut feed = Feed { options, blame, separator: b',', header: table.header, rows: None };
    for (number, record) in (1..).zip(&table.rows) {
        feed.take(record, Place::Item(number))?;
    }
    feed.finish()
}

/// The rows of a table on their way.
struct Feed<'a> {
    options: &'a TraceOptions,
    blame: Blame<'a>,
    separator: u8,
    header: Option<(ByteRecord, Place)>,
    rows: Option<Rows>,
}

impl Feed<'_> {
    fn take(&mut self, record: &ByteRecord, place: Place) -> Result<(), TraceError> {
        let at = |wrong: Wrong| wrong.at(self.blame, place, record, self.separator);
        if let Some(rows) = &mut self.rows {
            return rows.push(record, place).map_err(at);
        }
        if self.header.is_none() && !is_values(record) {
            self.header = Some((record.clone(), place));
            return Ok(());
        }
        let mut rows = self.begin(record, place)?;
        rows.push(record, place).map_err(at)?;
        self.rows = Some(rows);
        Ok(())
    }

    /// Chooses the columns; what is wrong with them is wrong with the header.
    fn begin(&self, first: &ByteRecord, place: Place) -> Result<Rows, TraceError> {
        let (blamed, place) = self.header.as_ref().map_or((first, place), |(header, place)| (header, *place));
        let header = self.header.as_ref().map(|(header, _)| header);
        let columns = columns(header, first, self.options);
        columns.map(Rows::new).map_err(|wrong| wrong.at(self.blame, place, blamed, self.separator))
    }

    fn finish(self) -> Result<Told, TraceError> {
        let nothing = || {
            let help = "write time_s,rate_mbps and then rows like 0,12";
            self.blame.whole("there are no rows in this file", help)
        };
        match (self.rows, &self.header) {
            (Some(rows), _) => rows.finish(self.blame),
            (None, Some((header, place))) => {
                let columns = columns(Some(header), &ByteRecord::new(), self.options);
                columns.map_err(|wrong| wrong.at(self.blame, *place, header, self.separator))?;
                Err(nothing())
            }
            (None, None) => Err(nothing()),
        }
    }
}

/// What separates the fields: what the first line has most of; `None`: white space.
fn separator(first: &[u8]) -> Option<u8> {
    let count = |separator: u8| first.iter().filter(|&&byte| byte == separator).count();
    if b",;\t".iter().all(|byte| count(*byte) == 0) {
        return if first.trim_ascii().contains(&b' ') { None } else { Some(b',') };
    }
    Some([b';', b'\t'].into_iter().find(|&other| count(other) > count(b',')).unwrap_or(b','))
}

fn is_content(line: &[u8]) -> bool {
    !line.starts_with(b"#") && !line.trim_ascii().is_empty()
}

/// A row that the CSV layer itself cannot take apart.
fn unreadable(error: &::csv::Error, blame: Blame<'_>) -> TraceError {
    let line = error.position().map(::csv::Position::line);
    let whole = blame.whole(format!("not a CSV file ({error})"), "write one time and one rate per line");
    TraceError { line, ..whole }
}
