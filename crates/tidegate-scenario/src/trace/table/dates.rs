//! Dates and times of day, as instants in picoseconds.
//!
//! - ISO 8601 and its relatives: `2021-12-15T16:05:11.5Z`, `2021-12-15 16:05:11+01:00`, `2018.01.18_16.12.26`.
//! - As `date` and mail write them: `Wed Dec 15 16:05:11 UTC 2021`, `Wed, 15 Dec 2021 16:05:11 GMT`.
//! - A time of day alone: `16:05:11.5`.
//!
//! A zone in numbers is taken off. The name of a zone is not, because only differences count: the caller refuses a
//! file in which it changes. A leap second is the second after it.

use super::units::SECOND;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// An instant as a file writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Picoseconds since 1970, or since midnight where there is no date.
    pub(super) picos: u128,
    /// The name of the zone, where there is one.
    pub(super) zone: String,
}

/// What is known of an instant so far.
#[derive(Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    /// Picoseconds since midnight.
    time: Option<u128>,
    afternoon: Option<bool>,
    /// Seconds that the zone is ahead.
    ahead: i64,
    zone: String,
}

/// Reads a date with its time of day, or a time of day alone.
pub(super) fn read(text: &str) -> Option<Stamp> {
    let mut parts = Parts::default();
    let text = &point_for_comma(text.trim().trim_matches('"'));
    let text = match iso_date(text) {
        Some((date, rest)) => {
            (parts.year, parts.month, parts.day) = (Some(date[0]), Some(date[1]), Some(date[2]));
            rest
        }
        None => text,
    };
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        parts.take(word)?;
    }
    parts.stamp()
}

/// The text with a point for each comma between digits, which parts seconds where decimals are written so.
fn point_for_comma(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let mended = text.char_indices().map(|(at, letter)| {
        let decimal = letter == ',' && is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
        if decimal { '.' } else { letter }
    });
    mended.collect()
}

impl Parts {
    /// Understands one word.
    fn take(&mut self, word: &str) -> Option<()> {
        let lower = word.to_ascii_lowercase();
        let month = MONTHS.iter().position(|month| lower.starts_with(month));
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        // A point or a hyphen is a mark only behind a date: 1.2.3 is none.
        let marked = word.contains(':') || (self.year.is_some() && word.contains(['.', '-']));
        if self.time.is_none() && marked && word.starts_with(|c: char| c.is_ascii_digit()) {
            let (time, zone) = clock(word)?;
            self.time = Some(time);
            return self.zone(zone);
        }
        if digits && word.len() == 4 && self.year.is_none() {
            self.year = Some(word.parse().ok()?);
        } else if digits && word.len() <= 2 && self.day.is_none() {
            self.day = Some(word.parse().ok()?);
        } else if lower == "am" || lower == "pm" {
            self.afternoon = Some(lower == "pm");
        } else if WEEKDAYS.iter().any(|day| lower.starts_with(day)) && self.time.is_none() {
            return Some(());
        } else if let (Some(month), None) = (month, self.month) {
            self.month = Some(month as i64 + 1);
        } else {
            return self.zone(word);
        }
        Some(())
    }

    /// Understands a zone: its name, or its distance in hours and minutes.
    fn zone(&mut self, word: &str) -> Option<()> {
        if word.is_empty() || self.time.is_none() || !self.zone.is_empty() {
            return word.is_empty().then_some(());
        }
        let sign = match word.as_bytes()[0] {
            b'+' => 1,
            b'-' => -1,
            _ => {
                let is_name = word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
                word.clone_into(&mut self.zone);
                return is_name.then_some(());
            }
        };
        let digits: String = word[1..].chars().filter(|c| *c != ':').collect();
        let value: i64 = digits.parse().ok()?;
        let (hours, minutes) = match digits.len() {
            1 | 2 => (value, 0),
            4 => (value / 100, value % 100),
            _ => return None,
        };
        self.ahead = sign * (hours * 3600 + minutes * 60);
        Some(())
    }

    fn stamp(self) -> Option<Stamp> {
        let mut time = self.time?;
        if let Some(afternoon) = self.afternoon {
            let hour = time / (3600 * SECOND);
            if !(1..=12).contains(&hour) {
                return None;
            }
            time = time % (3600 * SECOND) + (hour % 12 + if afternoon { 12 } else { 0 }) * 3600 * SECOND;
        }
        let days = match (self.year, self.month, self.day) {
            (None, None, None) => 0,
            (Some(year), Some(month), Some(day)) => days(year, month, day)?,
            _ => return None,
        };
        let seconds = days * 86_400 - self.ahead;
        let picos = u128::try_from(i128::from(seconds) * SECOND as i128 + time as i128).ok()?;
        Some(Stamp { picos, zone: self.zone })
    }
}

/// Year, month and day at the beginning, and what follows the mark behind them.
fn iso_date(text: &str) -> Option<([i64; 3], &str)> {
    let bytes = text.as_bytes();
    let mark = *bytes.get(4).filter(|byte| b"-/.".contains(byte))?;
    if bytes.get(7) != Some(&mark) || !bytes.get(10).is_some_and(|byte| b"Tt _".contains(byte)) {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = bytes[from..to].iter().all(u8::is_ascii_digit);
        digits.then(|| text[from..to].parse().ok()).flatten()
    };
    Some(([number(0, 4)?, number(5, 7)?, number(8, 10)?], &text[11..]))
}

/// A time of day, and the zone that is glued to it.
fn clock(word: &str) -> Option<(u128, &str)> {
    let mark = word.chars().find(|c| !c.is_ascii_digit())?;
    let end = word.find(|c: char| !c.is_ascii_digit() && c != mark && c != '.').unwrap_or(word.len());
    let (clock, zone) = word.split_at(end);
    let mut fields = clock.splitn(3, mark);
    let mut below = |limit: u128| {
        let text = fields.next()?;
        (!text.is_empty() && text.len() <= 2)
            .then(|| text.parse::<u128>().ok())
            .flatten()
            .filter(|value| *value < limit)
    };
    let (hours, minutes) = (below(24)?, below(60)?);
    let seconds = fields.next()?;
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    if whole.is_empty() || whole.len() > 2 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole: u128 = whole.parse().ok().filter(|value| *value <= 60)?;
    let part: String = part.chars().chain(std::iter::repeat('0')).take(12).collect();
    Some(((hours * 3600 + minutes * 60 + whole) * SECOND + part.parse::<u128>().ok()?, zone))
}

/// Days since 1970-01-01 in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let long = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=long).contains(&day) || year < 1970 {
        return None;
    }
    // Years begin in March, so that the leap day is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Option<u128> {
        read(text).map(|stamp| stamp.picos / (SECOND / 1000))
    }

    #[test]
    fn dates_of_every_form_are_one_instant() {
        for text in [
            "2021-12-15T16:05:11Z",
            "2021-12-15 16:05:11",
            "2021-12-15 16:05:11 UTC",
            "2021-12-15T17:05:11+01:00",
            "2021-12-15T08:05:11-0800",
            "2021/12/15 16:05:11.000000",
            "2021.12.15_16.05.11",
            "Wed Dec 15 16:05:11 UTC 2021",
            "Wed 15 Dec 2021 04:05:11 PM UTC",
            "Wed Dec 15 16:05:11 2021",
            "Wed, 15 Dec 2021 16:05:11 GMT",
            "Wed, 15 Dec 2021 18:05:11 +0200",
        ] {
            assert_eq!(millis(text), Some(1_639_584_311_000), "{text}");
        }
        assert_eq!(millis("2024-02-29T23:59:59.25"), Some(1_709_251_199_250));
        assert_eq!(millis("16:05:11.5"), Some(57_911_500));
        assert_eq!(millis("1970-01-01 16:05:11,250"), Some(57_911_250));
        assert_eq!(read("Wed Dec 15 16:05:11 CET 2021").map(|stamp| stamp.zone), Some("CET".to_owned()));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "1.5",
            "12",
            "2021-12-15",
            "2021-13-15T00:00:00",
            "2021-02-29 00:00:00",
            "12/15/2021 16:05:11",
            "16:05",
            "25:00:00",
            "time",
            "Wed",
            "Dec 15 2021",
            "2021-12-15T16:05:11 and more words",
            "1.2.3.4",
            "é:é:é",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
