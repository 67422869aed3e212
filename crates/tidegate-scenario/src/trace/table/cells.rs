//! The numbers in the cells of a row.

use ::csv::ByteRecord;

use super::choice::in_cell;
use super::columns::Columns;
use super::names::{Unit, text};
use super::units::RateUnit;
use super::wrong::{Wrong, too_long, wrong};
use crate::trace::TOO_FAST;
use crate::trace::decimal::{self, Refused};

const NUMBERS: &str = "write plain numbers, as in 0.5,3.2";

/// What programs write for a value that they do not have.
const MISSING: [&str; 9] = ["", "-", "--", "nan", "na", "n/a", "null", "none", "?"];

/// What the commas within the numbers of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Comma {
    None,
    /// Three digits follow, as in 1,234: decimal, or between thousands.
    Either,
    Decimal,
}

/// A number times ten to the power of `power`, rounded; `what` names it in messages.
pub(super) fn number(cell: &str, power: i32, what: &str, comma: &mut Comma) -> Result<u128, Wrong> {
    let (point, found) = decimal_comma(cell);
    *comma = (*comma).max(found);
    decimal::nearest(&point, power).map_err(|refused| match refused {
        Refused::NotANumber => wrong(
            format!("{what} is not a number"),
            "write times as plain numbers, as in 0.5, or as dates, as in 2021-12-15 16:05:11",
        ),
        Refused::Negative => wrong(format!("{what} is below 0"), "times begin at 0"),
        Refused::TooLarge => too_long(),
    })
}

/// The rate of a row, or the amount, in bit/s or bits; `None` where the row has none.
pub(super) fn of_row(
    record: &ByteRecord,
    columns: &Columns,
    comma: &mut Comma,
) -> Result<Option<(u64, RateUnit)>, Wrong> {
    let cell = record.get(columns.rate).unwrap_or_default();
    let not_a_number = || wrong("the rate is not a number", NUMBERS).in_field(columns.rate);
    let cell = text(cell).ok_or_else(not_a_number)?;
    if MISSING.iter().any(|missing| cell.eq_ignore_ascii_case(missing)) {
        return Ok(None);
    }
    let (number, unit) = match columns.unit {
        Unit::All(unit) => (cell, Some(unit)),
        Unit::In(column) if column == columns.rate => {
            in_cell(cell).map_or((cell, None), |(number, unit)| (number, Some(unit)))
        }
        Unit::In(column) => (cell, record.get(column).and_then(text).and_then(RateUnit::of_rate)),
    };
    let unit = unit.ok_or_else(|| {
        wrong("this row does not say the unit of its rate", "write it as in the rows before, such as Mbit/s")
    })?;
    let (point, found) = decimal_comma(number);
    *comma = (*comma).max(found);
    // Bytes have eight bits, so that the last digits of a byte count.
    let value = if unit.bytes {
        decimal::nearest(&point, unit.power + 12)
            .map(|value| (value * 8 + 500_000_000_000) / 1_000_000_000_000)
    } else {
        decimal::nearest(&point, unit.power)
    };
    let value = value.and_then(|value| u64::try_from(value).map_err(|_| Refused::TooLarge));
    let value = value.map_err(|refused| match refused {
        Refused::NotANumber => wrong("the rate is not a number", NUMBERS),
        Refused::Negative => wrong("the rate is below 0", "write 0 for an outage"),
        Refused::TooLarge => wrong(TOO_FAST, "check the unit of the rate"),
    });
    Ok(Some((value.map_err(|wrong| wrong.in_field(columns.rate))?, unit)))
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
