//! The rows of a table: when each begins, and what it says.

use super::cells::{Comma, number, of_row};
use super::columns::{Columns, Times};
use super::dates;
use super::names::filled;
use super::units::SECOND;
use super::wrong::{Place, Wrong, too_long, wrong};
use ::csv::ByteRecord;

/// Times above these seconds since 1970 are of another unit: it is the year 5138.
const LATEST: u128 = 100_000_000_000 * SECOND;

/// One value: a rate in bit/s, or an amount in bits since the row before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) place: Place,
    pub(super) at: u64,
    pub(super) value: u64,
}

/// Rows in order.
pub(super) struct Rows {
    pub(super) columns: Columns,
    pub(super) values: Vec<Value>,
    /// The first time, in picoseconds from wherever the file counts.
    pub(super) begun: Option<u128>,
    /// The time of the row before, or with lengths of time the end of the row before.
    pub(super) clock: u128,
    zone: Option<String>,
    /// When the first of the rows without a rate begins that follow the last one with a rate.
    pub(super) ends: Option<u64>,
    pub(super) without_rate: u64,
    pub(super) amounts: bool,
    pub(super) comma: Option<(Place, Comma)>,
}

impl Rows {
    pub(super) fn new(columns: Columns) -> Rows {
        Rows {
            columns,
            values: Vec::new(),
            begun: None,
            clock: 0,
            zone: None,
            ends: None,
            without_rate: 0,
            amounts: false,
            comma: None,
        }
    }

    /// Adds a row.
    pub(super) fn push(&mut self, record: &ByteRecord, place: Place) -> Result<(), Wrong> {
        self.same_fields(record)?;
        if let Some((column, value)) = &self.columns.only
            && record.get(*column) != Some(value.as_bytes())
        {
            return Ok(());
        }
        let mut comma = Comma::None;
        let (begins, length) = self.instant(record, &mut comma)?;
        let late = || {
            wrong(
                "this row is earlier than the row before it",
                "times must not decrease: sort the rows, or if these are several recordings, keep the rows of one \
                 (where)",
            )
        };
        if begins < self.clock {
            return Err(late());
        }
        self.clock = begins + length.unwrap_or(0);
        let rate = of_row(record, &self.columns, &mut comma)?;
        if comma > self.comma.map_or(Comma::None, |(_, before)| before) {
            self.comma = Some((place, comma));
        }
        let Some((value, unit)) = rate else {
            match self.begun {
                Some(begun) => self.ends = self.ends.or(Some(within(begins - begun)?)),
                None => self.without_rate += 1,
            }
            return Ok(());
        };
        if self.ends.take().is_some() {
            self.without_rate += 1;
        }
        let begun = *self.begun.get_or_insert(begins);
        let at = within(begins - begun)?;
        within(self.clock - begun)?;
        let value = match length {
            Some(length) if unit.amount => u128::from(value) * SECOND / length.max(1),
            _ => {
                self.amounts = unit.amount;
                u128::from(value)
            }
        };
        self.values.push(Value { place, at, value: u64::try_from(value).unwrap_or(u64::MAX) });
        Ok(())
    }

    /// When a row begins, in picoseconds as the file counts, and how long it is where its row says so.
    fn instant(&mut self, record: &ByteRecord, comma: &mut Comma) -> Result<(u128, Option<u128>), Wrong> {
        let named = self.columns.time_column();
        let field = |column: usize| {
            let bytes = record
                .get(column)
                .ok_or_else(|| wrong("a column is missing", "write one time and one rate"))?;
            std::str::from_utf8(bytes)
                .map_err(|_| wrong("the time is not a number", TIMES_HELP).in_field(column))
        };
        let said = match self.columns.time {
            Times::Step(step) => Ok((self.clock, Some(u128::from(step.picos())))),
            Times::Durations(column, unit) => {
                match number(field(column)?, unit.power, "the duration", comma)? {
                    0 => Err(wrong("a duration of 0", "give every rate some time, or take the row out")),
                    length => Ok((self.clock, Some(length))),
                }
            }
            Times::Numbers(column, unit) => {
                let picos = number(field(column)?, unit.power, "the time", comma)?;
                if picos > LATEST {
                    return Err(wrong(
                        "the time is after the year 5000 if it counts from 1970",
                        "check the unit of the time (time_unit: s, ms, us or ns)",
                    )
                    .in_field(column));
                }
                Ok((picos, None))
            }
            Times::Dates(column) => {
                let stamp =
                    dates::read(field(column)?).ok_or_else(|| wrong("the time is no date", TIMES_HELP))?;
                let zone = self.zone.get_or_insert_with(|| stamp.zone.clone());
                if *zone == stamp.zone {
                    Ok((stamp.picos, None))
                } else {
                    Err(wrong("the time zone is not that of the rows before", "write all times in one zone"))
                }
            }
        };
        said.map_err(|wrong| wrong.in_field(named.unwrap_or(0)))
    }

    /// A row has as many fields as the header; empty ones at its end do not count, and a row that ends the recording
    /// has its time alone.
    fn same_fields(&self, record: &ByteRecord) -> Result<(), Wrong> {
        let (read, count) = (filled(record), self.columns.count);
        let time = self.columns.time_column();
        let ends = record.iter().enumerate().all(|(index, field)| field.is_empty() || Some(index) == time);
        let reaches = record.len() > self.columns.rate;
        if (ends && reaches) || (read <= count && record.len() >= count) {
            return Ok(());
        }
        if ends && record.len() < 2 {
            return Err(wrong("a column is missing", "write one time and one rate"));
        }
        let few = record.len() < count;
        let fields = if few { record.len() } else { read };
        let problem = format!("{fields} fields under a header of {count}");
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
}

const TIMES_HELP: &str = "write seconds, as in 0.5, or dates, as in 2021-12-15 16:05:11";

/// A time after the first, where a run may be so long.
pub(super) fn within(picos: u128) -> Result<u64, Wrong> {
    u64::try_from(picos).ok().filter(|picos| *picos < u64::MAX / 2).ok_or_else(too_long)
}
