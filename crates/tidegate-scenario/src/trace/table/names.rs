//! Names and fields of a table: which column a name tells, and what a field could be.

use ::csv::ByteRecord;

use super::units::RateUnit;
use super::wrong::{Wrong, wrong};
use crate::trace::decimal;

/// What the rates count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    All(RateUnit),
    /// Each row says so in this column.
    In(usize),
}

/// The column that a name or a number from 1 tells.
pub(super) fn by_name(header: Option<&ByteRecord>, name: &str) -> Result<usize, Wrong> {
    let fields = || header.into_iter().flat_map(ByteRecord::iter).filter_map(text).map(str::trim);
    let exact = fields().position(|field| field == name);
    let found = exact.or_else(|| fields().position(|field| field.eq_ignore_ascii_case(name)));
    let number = || name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    found.or_else(number).ok_or_else(|| match header {
        Some(_) => wrong(
            format!("no column is called `{name}`"),
            "give a name in the header, or the column's number from 1",
        ),
        None => wrong(
            format!("there is no header, so no column is called `{name}`"),
            "give the column's number from 1",
        ),
    })
}

/// Whether a name is of lengths of time.
pub(super) fn is_duration(name: &str) -> bool {
    words(name).next().is_some_and(|word| word == "duration" || word == "dur")
}

/// The words of a name, in small letters.
pub(super) fn words(name: &str) -> impl Iterator<Item = String> + '_ {
    name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

pub(super) fn text(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok().map(str::trim)
}

pub(super) fn is_number(text: &str) -> bool {
    let plain = text.replacen(',', ".", 1);
    decimal::nearest(&plain, 0).is_ok()
        || plain.strip_prefix('-').is_some_and(|rest| decimal::nearest(rest, 0).is_ok())
}

/// The fields of a row without empty ones at its end.
pub(super) fn filled(record: &ByteRecord) -> usize {
    record.len() - record.iter().rev().take_while(|field| field.is_empty()).count()
}
