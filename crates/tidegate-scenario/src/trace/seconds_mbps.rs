//! Traces of "seconds Mbit/s": two numbers on each line, as those who measure adaptive video publish them.
//!
//! ```text
//! 0.0 4.03
//! 0.5 3.2
//! 1.1 5
//! ```
//!
//! - A line is an instant and the throughput measured *until* then, from the line before. So the
//!   program for which the form was made reads it (Pensieve, `sim/fixed_env.py`: the throughput of line i holds from the
//!   time of line i − 1 to that of line i), and the throughput of the first line is of no use.
//! - The recording begins at the first time and ends at the last one.
//! - Numbers are of measurements, with more digits than they mean: they are rounded to the nearest bit/s
//!   and picosecond.
//! - Lines that begin with `#` and empty lines are skipped.

use std::fmt::Write as _;

use tidegate_core::plan::RateTrace;
use tidegate_core::units::{Rate, Span, Time};

use super::decimal::{self, Refused};
use super::error::Blame;
use super::{TraceError, check_rates, lines};

/// Powers of ten that make picoseconds of seconds, and bit/s of Mbit/s.
const TIME_POWER: i32 = 12;
const RATE_POWER: i32 = 6;
const FORM: &str = "write seconds and Mbit/s on each line, as in 0.5 3.2";

/// Whether a line has the form: two numbers with white space between them.
pub(super) fn is_line(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else { return false };
    let mut words = text.split_ascii_whitespace();
    let is_number = |word: Option<&str>| word.is_some_and(|word| decimal::nearest(word, 0).is_ok());
    is_number(words.next()) && is_number(words.next()) && words.next().is_none()
}

/// Reads a trace of seconds and Mbit/s.
///
/// # Errors
/// The first line that is wrong.
pub fn read(bytes: &[u8], name: &str) -> Result<RateTrace, TraceError> {
    let blame = Blame { file: name };
    let mut rows: Vec<(u64, u64, Rate)> = Vec::new();
    for (number, line) in lines(bytes) {
        let text = line.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        let wrong = |problem: &str, help: &str| blame.line(number, text, problem, help);
        if !is_line(text) {
            return Err(wrong("this is not two numbers", FORM));
        }
        let words: Vec<&str> = std::str::from_utf8(text).unwrap_or("").split_ascii_whitespace().collect();
        let value = |word: &str, power: i32| decimal::nearest_u64(word, power);
        let at = value(words[0], TIME_POWER).ok().filter(|picos| *picos < u64::MAX / 2);
        let at = at.ok_or_else(|| {
            wrong("the time is below 0, or more than 106 days", "check the unit of the time: seconds")
        })?;
        let rate = value(words[1], RATE_POWER).map_err(|refused| match refused {
            Refused::Negative => wrong("the rate is below 0", "write 0 for an outage"),
            _ => wrong("the rate is too large", "check the unit of the rate: Mbit/s"),
        })?;
        if rows.last().is_some_and(|(_, before, _)| at <= *before) {
            return Err(wrong(
                "this line is not later than the line before it",
                "times must increase from line to line",
            ));
        }
        rows.push((number, at, Rate::from_bps(rate)));
    }
    let (Some((_, first, _)), Some((_, last, _))) = (rows.first(), rows.last()) else {
        return Err(blame.whole("there are no rows in this file", FORM));
    };
    if rows.len() < 2 {
        return Err(blame.whole("one line is no recording: its throughput has no beginning", FORM));
    }
    let points: Vec<(Time, Rate)> =
        rows.windows(2).map(|pair| (Time::from_picos(pair[0].1 - first), pair[1].2)).collect();
    let of_points: Vec<u64> = rows[1..].iter().map(|(number, ..)| *number).collect();
    check_rates(&points, &of_points, |rate| rate.to_string(), blame)?;
    Ok(RateTrace { points, period: Span::from_picos(last - first) })
}

/// Writes a rate trace as seconds and Mbit/s; the first line begins it, and its throughput is that of the second.
#[must_use]
pub fn write(trace: &RateTrace) -> String {
    let mut text = String::new();
    let ends = trace.points.iter().skip(1).map(|(at, _)| at.picos()).chain([trace.period.picos()]);
    for (number, (end, (at, rate))) in ends.zip(&trace.points).enumerate() {
        let rate = decimal::text(rate.bps(), 6);
        if number == 0 {
            let _ = writeln!(text, "{} {rate}", decimal::text(at.picos(), 12));
        }
        let _ = writeln!(text, "{} {rate}", decimal::text(end, 12));
    }
    text
}
