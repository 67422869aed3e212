//! The trace that the rows of a table make, and what is to be said of it.

use ::csv::ByteRecord;
use tidegate_core::plan::RateTrace;
use tidegate_core::units::{Rate, Span, Time};

use super::cells::Comma;
use super::columns::Times;
use super::rows::{Rows, Value, within};
use super::units::SECOND;
use super::wrong::{Place, wrong};
use crate::trace::error::Blame;
use crate::trace::{TraceError, check_rates};

/// Times from here on count from 1970: 100 million seconds, in picoseconds.
const EPOCH: u128 = 100_000_000 * SECOND;
/// A step so many times as long as the usual one is a gap.
const GAP: u64 = 10;

impl Rows {
    /// The trace that the rows make, and what is to be said of it.
    pub(super) fn finish(mut self, blame: Blame<'_>) -> Result<(RateTrace, Vec<String>), TraceError> {
        if let Some((place, Comma::Either)) = self.comma {
            let either = wrong(
                "a comma with three digits behind it is a decimal comma or stands between thousands",
                "write a point, or no comma",
            );
            return Err(either.at(blame, place, &ByteRecord::new(), b','));
        }
        let mut remarks = std::mem::take(&mut self.columns.remarks);
        let Some(last) = self.values.last().copied() else {
            let help = match self.columns.only {
                Some(_) => "give a value that stands in the file (where)",
                None => "write time_s,rate_mbps and then rows like 0,12",
            };
            return Err(blame.whole("there are no rows in this file", help));
        };
        self.begun_remark(&mut remarks);
        let mut starts: Vec<u64> = self.values.iter().map(|value| value.at).collect();
        starts.dedup();
        let lengths = matches!(self.columns.time, Times::Durations(..) | Times::Step(_));
        let told = if lengths { within(self.clock - self.begun.unwrap_or(0)).ok() } else { self.ends };
        let step = starts.windows(2).last().map(|pair| pair[1] - pair[0]);
        let (end, guessed) = match (told, step) {
            _ if self.amounts => (last.at, false),
            (Some(end), _) if end > last.at => (end, false),
            (_, Some(step)) => (last.at.saturating_add(step), true),
            _ => {
                let single = wrong(
                    if self.values.len() == 1 {
                        "a single row needs an end time"
                    } else {
                        "all rows have one time"
                    },
                    "end with a row that has a time and no rate, as in 10,",
                );
                return Err(single.at(blame, last.place, &ByteRecord::new(), b','));
            }
        };
        remarks.extend(self.remarks(&starts, guessed));
        starts.push(end);
        let points = if self.amounts { self.amounts(&starts) } else { self.spread(&starts) };
        let places: Vec<Place> = points.iter().map(|(_, place)| *place).collect();
        let points: Vec<(Time, Rate)> = points.into_iter().map(|(point, _)| point).collect();
        let lines: Vec<u64> = places.iter().map(|place| place.number()).collect();
        check_rates(&points, &lines, |rate| rate.to_string(), blame).map_err(|error| {
            match places.first() {
                Some(Place::Item(_)) => TraceError { line: None, ..error },
                _ => error,
            }
        })?;
        Ok((RateTrace { points, period: Span::from_picos(end) }, remarks))
    }

    fn begun_remark(&self, remarks: &mut Vec<String>) {
        let numbers = matches!(self.columns.time, Times::Numbers(..));
        match self.begun {
            Some(begun) if numbers && begun >= EPOCH => {
                remarks.push("the times count from 1970; the first one is taken from all".to_owned());
            }
            Some(begun) if numbers && begun > 0 => {
                let begun = Span::from_picos(u64::try_from(begun).unwrap_or(u64::MAX));
                remarks.push(format!("the times begin at {begun}; the first one is taken from all"));
            }
            _ => {}
        }
    }

    /// What a reader of the file should hear of its times, which begin at `starts`.
    fn remarks(&self, starts: &[u64], guessed: bool) -> Vec<String> {
        let mut remarks = Vec::new();
        let repeated = self.values.len() - starts.len();
        if repeated > 0 && !self.amounts {
            remarks.push(format!(
                "{} the time of the row before: rows of one time share the time until the next one evenly",
                rows(repeated as u64)
            ));
        }
        if self.without_rate > 0 {
            remarks.push(format!("{} no rate: the rate before holds", rows(self.without_rate)));
        }
        let mut steps: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let last = steps.last().copied();
        if let (true, Some(last)) = (guessed, last)
            && steps.iter().any(|step| *step != last)
        {
            let last = Span::from_picos(last);
            remarks.push(format!(
                "the file does not say when its last rate ends: it holds {last}, as the one before it (to say so, end \
                 with a row that has a time and no rate)"
            ));
        }
        steps.sort_unstable();
        let median = steps.get(steps.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        if let (Some(longest), true) = (steps.last(), steps.len() > 2)
            && *longest / GAP > median
        {
            remarks.push(format!(
                "a row is {} after the one before it, and rows are usually {} apart: the rate before a gap holds \
                 through it",
                Span::from_picos(*longest),
                Span::from_picos(median)
            ));
        }
        remarks
    }

    /// Rows of one time share the time until the next one evenly. `starts` ends with the end of the recording.
    fn spread(&self, starts: &[u64]) -> Vec<((Time, Rate), Place)> {
        let mut points: Vec<((Time, Rate), Place)> = Vec::with_capacity(self.values.len());
        for (group, pair) in self.values.chunk_by(|a, b| a.at == b.at).zip(starts.windows(2)) {
            let (begins, length) = (pair[0], u128::from(pair[1] - pair[0]));
            for (index, value) in (0_u128..).zip(group) {
                let share = u64::try_from(length * index / group.len() as u128).unwrap_or(0);
                let point = (Time::from_picos(begins + share), Rate::from_bps(value.value));
                // Shares shorter than a picosecond: the last one stands.
                points.pop_if(|((at, _), _)| *at == point.0);
                points.push((point, value.place));
            }
        }
        points
    }

    /// Amounts since the time before become rates until then; the first has no beginning.
    fn amounts(&self, starts: &[u64]) -> Vec<((Time, Rate), Place)> {
        let groups = self.values.chunk_by(|a, b| a.at == b.at).skip(1);
        let rate = |(group, pair): (&[Value], &[u64])| {
            let bits: u128 = group.iter().map(|value| u128::from(value.value)).sum();
            let rate = bits * SECOND / u128::from((pair[1] - pair[0]).max(1));
            let rate = Rate::from_bps(u64::try_from(rate).unwrap_or(u64::MAX));
            ((Time::from_picos(pair[0]), rate), group[0].place)
        };
        groups.zip(starts.windows(2)).map(rate).collect()
    }
}

fn rows(count: u64) -> String {
    if count == 1 { "1 row has".to_owned() } else { format!("{count} rows have") }
}
