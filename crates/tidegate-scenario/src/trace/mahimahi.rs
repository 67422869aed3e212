//! Mahimahi traces: each line is a whole number of milliseconds from the start, and one
//! opportunity to deliver so many bytes (1500) at that instant.
//!
//! - Repeated lines are several opportunities in one millisecond.
//! - The recording's period is its last value: the line `1` alone is 1500 bytes per
//!   millisecond, 12 Mbit/s. In `0 1 2 3 4 5` line `5` and the next round's `0` fall
//!   together: 6 opportunities in 5 ms, 14.4 Mbit/s.
//! - Lines end in `\n` or `\r\n`. An empty line, anything but digits, a value below the one
//!   before and a last value of 0 are errors, as they are in Mahimahi.
//!
//! Several small packets may share an opportunity, a packet may span several, and bytes
//! that nobody wants are lost: that is the gate's part (`tidegate_core::gate`).

use tidegate_core::plan::OpportunityTrace;
use tidegate_core::units::{PICOS_PER_MILLISECOND, Span, Time};

use super::error::Blame;
use super::{TraceError, TraceOptions, lines};

const LINE_HELP: &str = "each line is one whole number: milliseconds from the start, as in 120";

/// Reads a Mahimahi trace.
///
/// # Errors
/// The first line that is wrong.
pub fn read(bytes: &[u8], name: &str, options: &TraceOptions) -> Result<OpportunityTrace, TraceError> {
    let blame = Blame { file: name };
    if options.opportunity_bytes == 0 {
        return Err(blame.whole(
            "an opportunity of 0 bytes delivers nothing",
            "write 1500, or 1504 as Mahimahi's own code charges a packet",
        ));
    }
    let mut at: Vec<Time> = Vec::new();
    let mut last = None;
    for (number, line) in lines(bytes) {
        let time = milliseconds(line).map_err(|problem| blame.line(number, line, problem, LINE_HELP))?;
        if at.last().is_some_and(|&before| time < before) {
            return Err(blame.earlier(number, line).after(at[at.len() - 1].picos() / PICOS_PER_MILLISECOND));
        }
        at.push(time);
        last = Some((number, line));
    }
    let Some((number, line)) = last else {
        return Err(blame.whole("the file is empty", LINE_HELP));
    };
    let period = at[at.len() - 1].saturating_since(Time::ZERO);
    if period == Span::ZERO {
        return Err(blame.line(
            number,
            line,
            "the last value is the length of the recording and cannot be 0",
            "end with a value above 0: the line 1 alone is 1500 bytes every millisecond, 12 Mbit/s",
        ));
    }
    Ok(OpportunityTrace { at, period, bytes: options.opportunity_bytes })
}

/// One line as an instant.
fn milliseconds(line: &[u8]) -> Result<Time, &'static str> {
    if line.is_empty() {
        return Err("the line is empty");
    }
    if !line.iter().all(u8::is_ascii_digit) {
        return Err("not a whole number of milliseconds");
    }
    let millis = line
        .iter()
        .try_fold(0_u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    let picos = millis
        .and_then(|millis| millis.checked_mul(PICOS_PER_MILLISECOND))
        .filter(|&picos| picos < u64::MAX / 2);
    picos.map(Time::from_picos).ok_or("more than 106 days, longer than any run")
}

/// Writes opportunities as a Mahimahi file; instants are rounded up to whole milliseconds.
#[must_use]
pub fn write(trace: &OpportunityTrace) -> String {
    let mut text = String::with_capacity(8 * trace.at.len());
    for at in &trace.at {
        text.push_str(&at.picos().div_ceil(PICOS_PER_MILLISECOND).to_string());
        text.push('\n');
    }
    text
}
