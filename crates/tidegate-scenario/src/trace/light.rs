//! The light files of CellReplay: what packets meet after a pause on a cellular link.
//!
//! ```text
//! 0 31 0 0 2 2 7
//! 100 29 0 1 1 4 6
//! 200 30
//! ```
//!
//! - On each line, in whole milliseconds: when a train of packets was sent, the delay of its first packet, and the opportunities
//!   of the train, counted from its first packet.
//! - Times and opportunities never decrease. The last line ends the recording; opportunities there are not used.
//! - CellReplay asks for three lines, so this reader does too.

use std::path::Path;

use tidegate_core::plan::{LightTrace, TrainRow};
use tidegate_core::units::{Span, Time};

use super::error::Blame;
use super::{TraceError, lines};
use crate::file::{self, LARGEST_DATA};

const HELP: &str = "each line is whole milliseconds between spaces: a time, the base delay, and the opportunities of \
    the train from 0 on, as in 100 29 0 1 1 4 6";

/// What a light file is, and where it belongs.
const BELONGS: &str =
    "write it in a scenario as rate.cellreplay.light, beside the heavy file of the same link";

/// The longest time in a file, which keeps sums in range.
const LONGEST: u64 = 100 * 24 * 3600 * 1000;

/// The bytes of a light file.
pub(crate) fn read(path: &Path, name: &str) -> Result<Vec<u8>, TraceError> {
    file::read(path, LARGEST_DATA).map_err(|refused| {
        Blame { file: name }.whole(refused.problem(), "give the path of a light file of CellReplay")
    })
}

/// Reads a light trace from the bytes of the file `name`.
///
/// # Errors
/// The first line that is wrong.
pub(crate) fn parse(bytes: &[u8], name: &str) -> Result<LightTrace, TraceError> {
    let blame = Blame { file: name };
    let mut trains: Vec<TrainRow> = Vec::new();
    // The last line needs no opportunities, so that of a line is known with the next.
    let mut bare = None;
    for (number, line) in lines(bytes) {
        if let Some((bare_number, bare_line)) = bare {
            let problem = "a train needs at least one opportunity";
            return Err(blame.line(bare_number, bare_line, problem, HELP));
        }
        let row = row(line).map_err(|problem| blame.line(number, line, problem, HELP))?;
        if trains.last().is_some_and(|before| row.at < before.at) {
            return Err(blame.earlier(number, line));
        }
        bare = row.offsets.is_empty().then_some((number, line));
        trains.push(row);
    }
    if trains.len() < 3 {
        return Err(blame.whole("a light file has at least three lines", HELP));
    }
    let trace = LightTrace { trains };
    if trace.period() == Span::ZERO {
        return Err(blame.whole("the last time is the length of the recording and cannot be 0", HELP));
    }
    Ok(trace)
}

/// One line.
fn row(line: &[u8]) -> Result<TrainRow, &'static str> {
    let numbers = whole_numbers(line).ok_or("this is not whole milliseconds between spaces")?;
    let [at, delay, offsets @ ..] = numbers.as_slice() else {
        return Err("a line needs a time and a base delay");
    };
    if numbers.iter().any(|millis| *millis > LONGEST) {
        return Err("more than 100 days, longer than any run");
    }
    if !offsets.is_sorted() {
        return Err("the opportunities of a train must not decrease");
    }
    Ok(TrainRow {
        at: Time::ZERO.saturating_add(Span::from_millis(*at)),
        delay: Span::from_millis(*delay),
        offsets: offsets.iter().copied().map(Span::from_millis).collect(),
    })
}

/// The whole numbers of a line; `None` where anything else stands there.
fn whole_numbers(line: &[u8]) -> Option<Vec<u64>> {
    let text = std::str::from_utf8(line).ok()?;
    let words = text.split([' ', '\t']).filter(|word| !word.is_empty());
    words.map(|word| word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?).collect()
}

/// The message about a light file that was given as a trace; `None` where it is none. A table of whole numbers could look like one
/// line of it: the lines of a light file begin their opportunities at 0, and have many.
pub(super) fn mistaken(bytes: &[u8], blame: Blame<'_>) -> Option<TraceError> {
    let rows = lines(bytes).take(3).map(|(_, line)| whole_numbers(line));
    let rows: Vec<Vec<u64>> = rows.collect::<Option<_>>()?;
    let train = |row: &Vec<u64>| row.len() > 4 && row[2] == 0 && row[2..].is_sorted();
    let is_light =
        rows.len() == 3 && rows[..2].iter().all(train) && rows.is_sorted_by_key(|row| row.first().copied());
    is_light.then(|| {
        let problem =
            "this is a light file of CellReplay: base delays and opportunities of trains of packets";
        blame.whole(problem, BELONGS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_train() {
        let light = parse(b"0 31 0 0 2\r\n100 29\t0  1\n200 30\n", "light").expect("three lines");
        let first = TrainRow {
            at: Time::ZERO,
            delay: Span::from_millis(31),
            offsets: [0, 0, 2].map(Span::from_millis).to_vec(),
        };
        assert_eq!(light.trains[0], first);
        assert_eq!(light.trains[2].offsets, []);
        assert_eq!((light.period(), light.least_delay()), (Span::from_millis(200), Span::from_millis(29)));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, part) in [
            ("", "light: a light file has at least three lines"),
            ("0 31 0\n100 29 0\n", "light: a light file has at least three lines"),
            ("0 31 0\n0 29 0\n0 30", "the last time is the length of the recording and cannot be 0"),
            ("0 31 0\n100 29\n200 30", "line 2: read `100 29`: a train needs at least one opportunity"),
            ("0 31 0\n\n200 30", "light, line 2: a line needs a time and a base delay"),
            ("0 31 0\n100 2.5 0\n200 30", "line 2: read `100 2.5 0`: this is not whole milliseconds"),
            ("0 31 0\n100 -2 0\n200 30", "line 2: read `100 -2 0`: this is not whole milliseconds"),
            ("0 31 0\n100 29 0 3 2\n200 30", "the opportunities of a train must not decrease"),
            ("0 31 0\n100 29 0\n50 30", "line 3: read `50 30`: this line is earlier than the line before it"),
            ("0 31 0\n9000000000000 29 0\n", "more than 100 days, longer than any run"),
            ("0 31 0\n99999999999999999999999 29 0\n", "this is not whole milliseconds"),
        ] {
            let message = parse(text.as_bytes(), "light").expect_err(text).to_string();
            assert!(message.contains(part), "{text:?}: {message}");
        }
    }

    #[test]
    fn a_light_file_is_known_by_its_lines() {
        let told = |text: &str| mistaken(text.as_bytes(), Blame { file: "light" }).is_some();
        assert!(told("0 31 0 0 2 2 7\n100 29 0 1 1 4 6\n200 30\n"));
        // Columns of a table.
        assert!(!told("0 31 0\n100 29 0\n200 30 0\n"));
        assert!(!told("0 31 5 0 2\n100 29 5 0 2\n200 30 5 0 2\n"));
        assert!(!told("0 31.5 0 0 2\n100 29 0 0 2\n200 30 0 0 2\n"));
        assert!(!told("0\n1\n2\n"));
    }
}
