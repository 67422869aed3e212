//! Sizes of the segments of a video in a file.
//!
//! ```text
//! # bytes at 300 kbit/s, 1 Mbit/s, 2 Mbit/s
//! 141200, 502000, 980400
//! 160400, 488100, 1021000
//! ```
//!
//! - One row for each segment, in order; in it one size in whole bytes for each bitrate of the ladder. Between two sizes stand a comma, a
//!   semicolon, a tab or spaces.
//! - A first line that begins with a letter is a header; lines that begin with `#` and empty lines are skipped.
//!
//! A file whose name ends in `.json` is one list with a list of sizes in bytes for each segment, or the description of a video for SABRE:
//! an object whose `segment_sizes_bits` is such a list in bits. Its other members are not read.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tidegate_core::random::LARGEST_MESSAGE;

use super::TraceError;
use super::error::Blame;

const HELP: &str =
    "write one line for each segment, with one size in whole bytes for each bitrate of the ladder";

/// Sizes in bytes: a row for each segment, in it as many as there are bitrates.
pub type SegmentSizes = Arc<[Vec<u64>]>;

/// Reads the sizes of segments in `rungs` bitrates from the bytes of the file `name`.
///
/// # Errors
/// The first line that is wrong.
pub fn parse(bytes: &[u8], name: &str, rungs: usize) -> Result<SegmentSizes, TraceError> {
    let blame = Blame { file: name };
    if Path::new(name).extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("json")) {
        return parse_json(bytes, &blame, rungs);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| blame.whole("this is not text in UTF-8", HELP))?;
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut rows = Vec::new();
    let mut header = true;
    for (line, written) in lines.filter(|(_, written)| !written.is_empty() && !written.starts_with('#')) {
        if std::mem::take(&mut header) && written.starts_with(|letter: char| letter.is_alphabetic()) {
            continue;
        }
        let row = row(written, rungs)
            .map_err(|(problem, help)| blame.line(line, written.as_bytes(), &problem, help))?;
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(blame.whole("it holds no size", HELP));
    }
    Ok(rows.into())
}

fn row(text: &str, rungs: usize) -> Result<Vec<u64>, (String, &'static str)> {
    let values = text.split(|letter: char| matches!(letter, ',' | ';') || letter.is_whitespace());
    checked(values.filter(|value| !value.is_empty()).map(|value| value.parse::<u64>().ok()), rungs)
}

/// A segment's sizes in bytes; `None`: not a whole number.
fn checked(
    values: impl Iterator<Item = Option<u64>>,
    rungs: usize,
) -> Result<Vec<u64>, (String, &'static str)> {
    let mut sizes: Vec<u64> = Vec::with_capacity(rungs);
    for value in values {
        let Some(size) = value else {
            return Err((format!("size {} is not a whole number of bytes", sizes.len() + 1), HELP));
        };
        if size == 0 {
            return Err((format!("size {} is zero", sizes.len() + 1), "write 1 or more bytes"));
        }
        if size > LARGEST_MESSAGE {
            return Err((format!("size {} is larger than 1 TB", sizes.len() + 1), "write sizes in bytes"));
        }
        if sizes.contains(&size) {
            // (What a player asked for is told by the size of what came.)
            let problem = format!("size {} stands there for another bitrate, too", sizes.len() + 1);
            return Err((problem, "write sizes that tell the bitrates of a segment apart"));
        }
        sizes.push(size);
    }
    if sizes.len() != rungs {
        let sizes = crate::units::plural(sizes.len() as u64, "size");
        return Err((format!("{sizes} for a ladder of {rungs}"), HELP));
    }
    Ok(sizes)
}

const JSON_HELP: &str = "write a list with a list of sizes in bytes for each segment, or {\"segment_sizes_bits\": [[…], …]} as SABRE has it";

fn parse_json(bytes: &[u8], blame: &Blame<'_>, rungs: usize) -> Result<SegmentSizes, TraceError> {
    let document: Value = serde_json::from_slice(bytes)
        .map_err(|error| blame.whole(format!("this is not JSON: {error}"), JSON_HELP))?;
    let (rows, bits) = match &document {
        Value::Object(members) => (members.get("segment_sizes_bits").and_then(Value::as_array), true),
        other => (other.as_array(), false),
    };
    let Some(rows) = rows.filter(|rows| !rows.is_empty()) else {
        return Err(blame.whole("it holds no size", JSON_HELP));
    };
    let size = |value: &Value| value.as_u64().map(|size| if bits { size.div_ceil(8) } else { size });
    let segment = |(number, row): (usize, &Value)| {
        let values = row.as_array().ok_or_else(|| ("it is not a list".to_owned(), JSON_HELP));
        let sizes = values.and_then(|values| checked(values.iter().map(size), rungs));
        sizes.map_err(|(problem, _)| blame.whole(format!("segment {number}: {problem}"), JSON_HELP))
    };
    Ok(rows.iter().enumerate().map(segment).collect::<Result<Vec<_>, _>>()?.into())
}
