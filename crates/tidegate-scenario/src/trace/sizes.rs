//! Sizes of messages in a file.
//!
//! ```text
//! # bytes, cumulative probability
//! 1000, 0.15
//! 20000, 0.6
//! 1000000, 1
//! ```
//!
//! - Two columns, between them a comma, a semicolon, a tab or spaces: a size in whole bytes and the
//!   probability of a size of at most that, from 0 to 1 or in per cent; neither ever falls, and the
//!   last probability is 1 (or 100). Between two rows sizes are spread evenly; the first size has its
//!   probability for itself.
//! - One column: sizes that were recorded, each equally likely.
//! - A first line that begins with a letter is a header; lines that begin with `#` and empty lines
//!   are skipped.

use std::path::Path;
use std::sync::Arc;

use tidegate_core::plan::SizePlan;
use tidegate_core::random::{LARGEST_MESSAGE, SizeTable};

use super::TraceError;
use super::error::Blame;
use crate::file::{self, LARGEST_DATA};

const HELP: &str = "write a size in whole bytes on each line; either every line or no line has its cumulative \
    probability too, as in 20000, 0.6";

/// One row: its line, its text, its values.
struct Row<'a> {
    line: u64,
    text: &'a str,
    size: u64,
    share: Option<f64>,
}

/// The bytes of a file of sizes.
pub(crate) fn read(path: &Path, name: &str) -> Result<Vec<u8>, TraceError> {
    file::read(path, LARGEST_DATA).map_err(|refused| {
        Blame { file: name }
            .whole(refused.problem(), "give the path of a readable file with one size on each line")
    })
}

/// Reads sizes from the bytes of the file `name`.
///
/// # Errors
/// The first line that is wrong.
pub fn parse(bytes: &[u8], name: &str) -> Result<SizePlan, TraceError> {
    let blame = Blame { file: name };
    let text = std::str::from_utf8(bytes)
        .map_err(|_| blame.whole("this is not text in UTF-8", "write sizes as text, one on each line"))?;
    let rows = rows(text, blame)?;
    match rows.first() {
        None => Err(blame.whole("it holds no size", HELP)),
        Some(Row { share: None, .. }) => {
            Ok(SizePlan::List(rows.iter().map(|row| row.size).collect::<Vec<_>>().into()))
        }
        Some(_) => table(&rows, blame),
    }
}

fn rows<'a>(text: &'a str, blame: Blame<'_>) -> Result<Vec<Row<'a>>, TraceError> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut header = true;
    for (line, written) in lines.filter(|(_, written)| !written.is_empty() && !written.starts_with('#')) {
        if std::mem::take(&mut header) && written.starts_with(|letter: char| letter.is_alphabetic()) {
            continue;
        }
        let row = row(line, written, blame)?;
        if rows.first().is_some_and(|first| first.share.is_some() != row.share.is_some()) {
            let problem = "some lines have a probability and some have none";
            return Err(blame.line(line, written.as_bytes(), problem, HELP));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn row<'a>(line: u64, text: &'a str, blame: Blame<'_>) -> Result<Row<'a>, TraceError> {
    let wrong = |problem: &str, help: &str| blame.line(line, text.as_bytes(), problem, help);
    let mut values = text
        .split(|letter: char| matches!(letter, ',' | ';') || letter.is_whitespace())
        .filter(|value| !value.is_empty());
    let (size, share, more) = (values.next().unwrap_or_default(), values.next(), values.next());
    if more.is_some() {
        return Err(wrong("there are more than two values", HELP));
    }
    let Ok(size) = size.parse::<u64>() else {
        return Err(wrong("the size is not a whole number of bytes", HELP));
    };
    if size > LARGEST_MESSAGE {
        return Err(wrong("the size is larger than 1 TB", "write sizes in bytes"));
    }
    let share = match share.map(str::parse::<f64>) {
        None => None,
        Some(Ok(share)) if (0.0..=100.0).contains(&share) => Some(share),
        Some(_) => {
            return Err(wrong(
                "the second value is not a probability",
                "write 0 to 1, or 0 to 100 for per cent",
            ));
        }
    };
    if size == 0 && share.is_none_or(|share| share > 0.0) {
        return Err(wrong("a message has at least one byte", "write 1 or more, or a probability of 0"));
    }
    Ok(Row { line, text, size, share })
}

fn table(rows: &[Row<'_>], blame: Blame<'_>) -> Result<SizePlan, TraceError> {
    let share = |row: &Row<'_>| row.share.unwrap_or(0.0);
    for pair in rows.windows(2) {
        let wrong = |problem: &str| {
            blame.line(pair[1].line, pair[1].text.as_bytes(), problem, "put the lines in order of size")
        };
        if pair[1].size < pair[0].size {
            return Err(wrong("the size is less than the one before it").after(pair[0].size));
        }
        if share(&pair[1]) < share(&pair[0]) {
            let problem = "the cumulative probability is smaller than the one on the line before";
            return Err(wrong(problem).after(share(&pair[0])));
        }
    }
    let last = rows.last().map_or(0.0, share);
    if last != 1.0 && last != 100.0 {
        let Some(row) = rows.last() else { return Err(blame.whole("it holds no size", HELP)) };
        let problem = "the last probability is neither 1 nor 100";
        let help = "end with 1, or with 100 for per cent";
        return Err(blame.line(row.line, row.text.as_bytes(), problem, help));
    }
    let points = rows.iter().map(|row| (row.size, share(row) / last)).collect();
    let table = SizeTable::cumulative(points);
    table
        .map(|table| SizePlan::Table(Arc::new(table)))
        .ok_or_else(|| blame.whole("it holds no distribution", HELP))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SizePlan, String> {
        parse(text.as_bytes(), "web.csv").map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_and_a_list() {
        let Ok(SizePlan::Table(table)) = read("bytes,share\n# web\n0 0\n100, 20\n\n1000;60\n2000\t100\n")
        else {
            panic!("it is a table")
        };
        assert_eq!(table.limits(), (0, 2000));
        assert!((table.mean() - (0.2 * 50.0 + 0.4 * 550.0 + 0.4 * 1500.0)).abs() < 1e-9);
        assert_eq!(read("10\n30\n20\n"), Ok(SizePlan::List(vec![10, 30, 20].into())));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, part) in [
            ("", "web.csv: it holds no size"),
            (
                "bytes,p\n10,0.5\n5,1",
                "web.csv, line 3: read `5,1`: the size is less than the one before it (10)",
            ),
            (
                "10,0.5\n20,0.4\n30,1",
                "line 2: read `20,0.4`: the cumulative probability is smaller than the one on the line before (0.5)",
            ),
            (
                "10,0.5\n20,0.9",
                "line 2: read `20,0.9`: the last probability is neither 1 nor 100; end with 1",
            ),
            ("10,0.5\n20", "line 2: read `20`: some lines have a probability and some have none"),
            ("1.5", "line 1: read `1.5`: the size is not a whole number of bytes"),
            ("10,101", "the second value is not a probability"),
            ("10,nan", "the second value is not a probability"),
            ("10,1,2", "there are more than two values"),
            ("0", "a message has at least one byte"),
            ("2000000000000", "larger than 1 TB"),
        ] {
            let message = read(text).expect_err(text);
            assert!(message.contains(part), "{text:?}: {message}");
        }
    }
}
