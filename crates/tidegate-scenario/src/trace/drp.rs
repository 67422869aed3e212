//! DRP files (data rate patterns, `telekom/aml-jens`): one rate in kbit/s per line, at a
//! fixed step.
//!
//! - Lines that begin with `#` are comments. One of them names the step:
//!   `# :recommended_freqeuncy=10` is 10 values **per second** (the tool that plays these
//!   files takes 1 to 100 Hz). That is how the published files spell it;
//!   `:recommended_frequency` is read too. A file without it needs
//!   [`TraceOptions::step`].
//! - Rates are rounded to the nearest bit/s, the frequency to the nearest millionth.
//! - Value i holds from ⌊i·10¹²/frequency⌋ ps to the next, so the step never drifts.
//! - Empty lines are skipped.

use std::fmt::Write as _;

use tidegate_core::plan::RateTrace;
use tidegate_core::units::{PICOS_PER_SECOND, Rate, Span, Time};

use super::decimal::{self, Refused};
use super::error::Blame;
use super::{TOO_FAST, TraceError, TraceOptions, check_rates, lines};

/// The header key, in both spellings; the published files use the first.
const KEYS: [&str; 2] = [":recommended_freqeuncy", ":recommended_frequency"];

const STEP_HELP: &str = "write `# :recommended_frequency=10` for 10 values per second";

/// Values per second, in millionths, as the text of a comment gives them: `None` where the
/// comment is about something else.
pub(super) fn frequency(comment: &[u8]) -> Option<Result<u64, Refused>> {
    let text = std::str::from_utf8(comment).ok()?.trim();
    let rest = KEYS.iter().find_map(|key| text.strip_prefix(key))?;
    let value = rest.trim_start().strip_prefix(['=', ':'])?;
    Some(decimal::nearest_u64(value.trim(), 6))
}

/// How the instants of the values follow from their index, exactly.
#[derive(Clone, Copy, Debug)]
enum Grid {
    /// Values per second, in millionths.
    Frequency(u64),
    /// Between two values.
    Step(Span),
}

impl Grid {
    /// When value `index` begins, if that can be counted.
    fn at(self, index: usize) -> Option<u64> {
        let index = u128::try_from(index).ok()?;
        let picos = match self {
            Grid::Frequency(micro) => {
                index.checked_mul(u128::from(PICOS_PER_SECOND) * 1_000_000)? / u128::from(micro)
            }
            Grid::Step(step) => index.checked_mul(u128::from(step.picos()))?,
        };
        u64::try_from(picos).ok().filter(|&picos| picos < u64::MAX / 2)
    }
}

/// Reads a DRP file.
///
/// # Errors
/// The first line that is wrong, or a step that nobody named.
pub fn read(bytes: &[u8], name: &str, options: &TraceOptions) -> Result<RateTrace, TraceError> {
    let blame = Blame { file: name };
    let mut grid = None;
    let mut rates: Vec<Rate> = Vec::new();
    let mut numbers: Vec<u64> = Vec::new();
    for (number, line) in lines(bytes) {
        let line = line.trim_ascii();
        if let Some(comment) = line.strip_prefix(b"#") {
            if let Some(value) = frequency(comment) {
                grid =
                    Some(grid_of(value, grid.is_some()).map_err(|p| blame.line(number, line, p, STEP_HELP))?);
            }
        } else if !line.is_empty() {
            let rate = kilobits(line).map_err(|(p, help)| blame.line(number, line, p, help))?;
            rates.push(rate);
            numbers.push(number);
        }
    }
    if rates.is_empty() {
        return Err(blame.whole("there is no rate in this file", "write one rate in kbit/s on each line"));
    }
    let Some(grid) = grid.or(options.step.filter(|step| *step > Span::ZERO).map(Grid::Step)) else {
        return Err(blame.whole("the header does not say how many values there are per second", STEP_HELP));
    };
    let begins = |index: usize| grid.at(index).map(Time::from_picos);
    let points = rates.iter().enumerate().map(|(index, &rate)| Some((begins(index)?, rate))).collect();
    let (Some(points), Some(end)): (Option<Vec<_>>, _) = (points, begins(rates.len())) else {
        return Err(blame.whole("the recording is longer than 106 days", STEP_HELP));
    };
    check_rates(&points, &numbers, |rate| decimal::text(rate.bps(), 3), blame)?;
    Ok(RateTrace { points, period: end.saturating_since(Time::ZERO) })
}

/// Checks a header's frequency.
fn grid_of(value: Result<u64, Refused>, again: bool) -> Result<Grid, &'static str> {
    match value {
        _ if again => Err("the frequency is given twice"),
        Ok(0) | Err(Refused::Negative) => Err("the frequency must be above 0"),
        Ok(micro) if micro > 1_000_000_000_000 => Err("more than a million values per second"),
        Ok(micro) => Ok(Grid::Frequency(micro)),
        Err(Refused::NotANumber) => Err("the frequency is not a number"),
        Err(Refused::TooLarge) => Err("more than a million values per second"),
    }
}

/// One line as a rate.
fn kilobits(line: &[u8]) -> Result<Rate, (&'static str, &'static str)> {
    let help = "each line is one rate in kbit/s, as in 11002 or 11002.5";
    let text = std::str::from_utf8(line).map_err(|_| ("not a rate in kbit/s", help))?;
    match decimal::nearest_u64(text, 3) {
        Ok(bps) => Ok(Rate::from_bps(bps)),
        Err(Refused::Negative) => Err(("a rate cannot be below 0", "write 0 for an outage")),
        Err(Refused::NotANumber) => Err(("not a rate in kbit/s", help)),
        Err(Refused::TooLarge) => Err((TOO_FAST, "check the unit: kbit/s")),
    }
}

/// Writes rates at a fixed step as a DRP file; `None` when the trace's points are not on a
/// grid of so many millionths of a value per second.
#[must_use]
pub fn write(trace: &RateTrace, micro_hertz: u64) -> Option<String> {
    let grid = Grid::Frequency(micro_hertz);
    let mut text = format!("# :recommended_freqeuncy={}\n", decimal::text(micro_hertz, 6));
    let mut points = trace.points.iter().peekable();
    let mut rate = Rate::ZERO;
    let end = trace.period.picos();
    for index in 0.. {
        let at = grid.at(index)?;
        if at >= end {
            return (at == end && points.peek().is_none()).then_some(text);
        }
        if points.peek().is_some_and(|(from, _)| from.picos() == at) {
            rate = points.next()?.1;
        }
        if points.peek().is_some_and(|(from, _)| from.picos() <= at) {
            return None;
        }
        writeln!(text, "{}", decimal::text(rate.bps(), 3)).ok()?;
    }
    None
}
