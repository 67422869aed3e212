//! The choice of the columns: as told, by name, or by what stands in them.
//!
//! A name with a unit beats one without, and `time_s` and `rate_mbps` beat all others. Where more than one column
//! could be the one, none is taken.

use ::csv::ByteRecord;

use super::dates;
use super::names::{Unit, by_name, is_duration, is_number, text, words};
use super::units::{RateUnit, TimeUnit};
use super::wrong::{Wrong, wrong};
use crate::trace::TraceOptions;

/// The columns, before it is known what the times count.
pub(super) struct Choice {
    pub(super) time: Option<usize>,
    pub(super) rate: usize,
    pub(super) unit: Unit,
}

/// Words that only columns of times have.
const TIME_WORDS: [&str; 10] =
    ["time", "timestamp", "timestamps", "datetime", "date", "elapsed", "epoch", "ts", "seconds", "unixtime"];
/// Names of columns of times that need no unit, the best first.
const TIME_NAMES: [&str; 7] = ["time", "timestamp", "datetime", "date_time", "ts", "date", "epoch"];
/// Pieces of names that only columns of rates have.
const RATE_PIECES: [&str; 6] = ["throughput", "bandwidth", "bitrate", "goodput", "tput", "rate"];

const NAMES_HELP: &str = "name one time column (time_s, time_ms, time_us) and one rate column \
                          (rate_bps, rate_kbps, rate_mbps, rate_gbps), as in time_s,rate_mbps";

/// Chooses the columns of a table whose names are `header` and whose first row of values is `first`.
pub(super) fn choose(
    header: Option<&ByteRecord>,
    first: &ByteRecord,
    options: &TraceOptions,
) -> Result<Choice, Wrong> {
    let names: Vec<&str> =
        header.map_or_else(Vec::new, |header| header.iter().map(|name| text(name).unwrap_or("")).collect());
    let values: Vec<&str> = first.iter().map(|value| text(value).unwrap_or("")).collect();
    let told = &options.columns;
    let time = match &told.time {
        Some(name) => Some(by_name(header, name)?),
        None if header.is_some() => time_by_name(&names)?,
        None => time_by_value(&values, told.rate.is_none()),
    };
    let rate = match &told.rate {
        Some(name) => Found { column: by_name(header, name)?, unit: None },
        None if header.is_some() => rate_by_name(&names, &values, time, options)?,
        None => rate_by_value(&values, time)?,
    };
    let column = rate.column;
    let name = names.get(column).copied().unwrap_or("");
    let unit = told.rate_unit.or_else(|| RateUnit::of_name(name)).map(Unit::All).or(rate.unit);
    let beside = || {
        let next = column + 1;
        values.get(next).is_some_and(|text| RateUnit::of_rate(text).is_some()).then_some(Unit::In(next))
    };
    let own = || values.get(column).is_some_and(|text| in_cell(text).is_some()).then_some(Unit::In(column));
    let unit =
        unit.or_else(beside).or_else(own).ok_or_else(|| unit_of_rate(name, header.is_some(), column))?;
    Ok(Choice { time, rate: column, unit })
}

/// A rate with its unit in one cell, such as `14.7 Mbit/s`.
pub(super) fn in_cell(cell: &str) -> Option<(&str, RateUnit)> {
    let at = cell.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E'))?;
    let number = cell[..at].trim_end();
    is_number(number).then(|| Some((number, RateUnit::of_rate(&cell[at..])?))).flatten()
}

struct Found {
    column: usize,
    unit: Option<Unit>,
}

/// The one time column of a header: in the project's own spelling, else by its name, else by a word with a unit, else
/// one that says how long each rate holds.
fn time_by_name(names: &[&str]) -> Result<Option<usize>, Wrong> {
    let own = |name: &str| ["time_s", "time_ms", "time_us"].iter().any(|own| name.eq_ignore_ascii_case(own));
    let own: Vec<usize> = positions(names, own);
    if own.len() > 1 {
        return Err(wrong("there are two time columns or two rate columns", NAMES_HELP));
    }
    let plain =
        || TIME_NAMES.iter().find_map(|known| names.iter().position(|name| name.eq_ignore_ascii_case(known)));
    let has_word = |name: &str| words(name).any(|word| TIME_WORDS.contains(&word.as_str()));
    let named =
        positions(names, |name| has_word(name) && TimeUnit::of_name(name).is_some() && !is_duration(name));
    let worded = positions(names, |name| has_word(name) && !is_duration(name));
    let lengths = positions(names, is_duration);
    let chosen = own.first().copied().or_else(plain);
    let alone = |columns: &[usize]| (columns.len() == 1).then(|| columns[0]);
    let chosen = chosen.or_else(|| alone(&named)).or_else(|| alone(&worded)).or_else(|| alone(&lengths));
    match chosen {
        None if worded.len() > 1 => {
            let help = "say which (time_column), as in";
            Err(wrong("more than one column could be the time", help)
                .command(option("--time-column", names, worded[0]))
                .with_names())
        }
        chosen => Ok(chosen),
    }
}

/// The first column that holds a date or counts from 1970, else the first of two columns of numbers.
fn time_by_value(values: &[&str], alone: bool) -> Option<usize> {
    let is_clock = |value: &&str| {
        let since_1970 = value.parse::<f64>().is_ok_and(|value| value >= 1e8);
        since_1970 || (!is_number(value) && dates::read(value).is_some())
    };
    let numbers = values.iter().filter(|value| is_number(value)).count();
    let first_of_two = alone && numbers == 2 && values.len() == 2;
    values.first().filter(|value| is_clock(value)).map(|_| 0).or(first_of_two.then_some(0))
}

fn rate_by_name(
    names: &[&str],
    values: &[&str],
    time: Option<usize>,
    options: &TraceOptions,
) -> Result<Found, Wrong> {
    let own = ["rate_bps", "rate_kbps", "rate_mbps", "rate_gbps"];
    let own = positions(names, |name| own.iter().any(|own| name.eq_ignore_ascii_case(own)));
    let with_unit = positions(names, |name| RateUnit::of_name(name).is_some());
    let piece = |name: &str| RATE_PIECES.iter().any(|piece| name.to_lowercase().contains(piece));
    let plain = positions(names, piece);
    let numbers: Vec<usize> =
        (0..values.len()).filter(|column| Some(*column) != time && is_number(values[*column])).collect();
    let found = |column: usize| Ok(Found { column, unit: None });
    match (own.as_slice(), with_unit.as_slice(), plain.as_slice()) {
        ([column], ..) => found(*column),
        ([_, _, ..], ..) => Err(wrong("there are two time columns or two rate columns", NAMES_HELP)),
        (_, [column], _) => found(*column),
        (_, [first, _, ..], _) => {
            let several = wrong("more than one column could be the rate", "say which (rate_column), as in");
            Err(several.command(option("--rate-column", names, *first)).with_names())
        }
        (.., [column]) => found(*column),
        (.., [first, _, ..]) => {
            let flags = format!("{} --rate-unit Mbit/s", option("--rate-column", names, *first));
            let several = wrong(
                "more than one column could be the rate, and none says its unit",
                "say which, and its unit (rate_column, rate_unit), as in",
            );
            Err(several.command(flags).with_names())
        }
        _ if numbers.len() == 1 && options.columns.rate_unit.is_some() => found(numbers[0]),
        _ if time.is_none() => Err(wrong("the header names no time column", NAMES_HELP)),
        _ => {
            let nothing = wrong(
                "the header names no rate column",
                format!("{NAMES_HELP}; or say which is the rate (rate_column, rate_unit), as in"),
            );
            let flags = numbers
                .first()
                .map_or("--rate-column NAME".to_owned(), |first| option("--rate-column", names, *first));
            Err(nothing.command(format!("{flags} --rate-unit Mbit/s")).with_names())
        }
    }
}

/// The one column of numbers beside the time, in a table without a header.
fn rate_by_value(values: &[&str], time: Option<usize>) -> Result<Found, Wrong> {
    let numbers: Vec<usize> = (0..values.len())
        .filter(|column| {
            Some(*column) != time && (is_number(values[*column]) || in_cell(values[*column]).is_some())
        })
        .collect();
    match numbers.as_slice() {
        [column] => Ok(Found { column: *column, unit: None }),
        [column, _] if values.len() == 2 => Ok(Found { column: *column, unit: None }),
        [] => Err(wrong("no column holds rates", "give a table with a time and a rate in each row")),
        _ => {
            let clock = time.unwrap_or(0);
            let rate = numbers.iter().find(|column| **column != clock).unwrap_or(&numbers[0]) + 1;
            let several = wrong(
                "there is no header, so the rate column is not known",
                "give the columns by their numbers (if a number has a decimal comma, write a point), as in",
            );
            Err(several
                .command(format!("--time-column {} --rate-column {rate} --rate-unit Mbit/s", clock + 1)))
        }
    }
}

/// What is wrong with a rate whose unit nobody says.
fn unit_of_rate(name: &str, header: bool, column: usize) -> Wrong {
    if !header {
        return wrong(
            "there is no header, so the unit of the rate is not known",
            "write one above this line, such as time_s,rate_mbps (or rate_bps, rate_kbps, rate_gbps), or give the unit \
             (rate_unit), as in",
        )
        .command("--rate-unit Mbit/s");
    }
    let problem = match name.to_ascii_lowercase().as_str() {
        "rate" => "the column `rate` does not say its unit".to_owned(),
        _ => format!("column {} does not say the unit of the rate", column + 1),
    };
    let help = "call it rate_bps, rate_kbps, rate_mbps or rate_gbps, or give the unit (rate_unit), as in";
    wrong(problem, help).command("--rate-unit Mbit/s")
}

/// An option that names a column: by its name where that is plain, else by its number.
fn option(option: &str, names: &[&str], column: usize) -> String {
    let name = names.get(column).copied().unwrap_or("");
    let plain = !name.is_empty()
        && name.len() <= 40
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-()[]/. %".contains(c));
    let simple = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-/.".contains(c));
    match (plain, simple) {
        (true, true) => format!("{option} {name}"),
        (true, false) => format!("{option} '{name}'"),
        (false, _) => format!("{option} {}", column + 1),
    }
}

fn positions(names: &[&str], is: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..names.len()).filter(|column| is(names[*column])).collect()
}
