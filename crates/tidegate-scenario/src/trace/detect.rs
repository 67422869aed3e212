//! Which format a file has, by its name and its first line.

use std::path::Path;

use super::error::{self, Blame};
use super::{Format, TraceError, decimal, drp, light, lines, seconds_mbps};

/// The format of a trace, by its name and then by its content; the module's text has the
/// rules.
///
/// # Errors
/// A file that could be either, or is empty.
pub fn detect(bytes: &[u8], name: &str) -> Result<Format, TraceError> {
    let blame = Blame { file: name };
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or("");
    match ending.to_ascii_lowercase().as_str() {
        "up" | "down" | "mahi" | "mahimahi" => return Ok(Format::Mahimahi),
        "drp" => return Ok(Format::Drp),
        _ => {}
    }
    let says_drp = |(_, line): (u64, &[u8])| line.strip_prefix(b"#").and_then(drp::frequency).is_some();
    if lines(bytes).any(says_drp) {
        return Ok(Format::Drp);
    }
    if is_json(bytes) {
        return Ok(Format::Csv);
    }
    if let Some(mistaken) = light::mistaken(bytes, blame) {
        return Err(mistaken);
    }
    match first_line(bytes) {
        Some((_, line)) if seconds_mbps::is_line(line) => Ok(Format::SecondsMbps),
        Some((_, line)) if line.iter().any(|byte| b",;\t".contains(byte)) => Ok(Format::Csv),
        Some((number, line)) if is_spaced(bytes, number, line) => Ok(Format::Csv),
        Some((number, line)) if error::is_numbers(line) => Err(blame.line(
            number,
            line,
            "one number on each line could be milliseconds (Mahimahi) or kbit/s (DRP)",
            "give the format: mahimahi or drp (or rename the file to end in .up, .down or .drp); of other rates the time \
             from one to the next and the unit, as in --step '1 s' --rate-unit Mbit/s",
        )),
        Some((number, line)) => Err(blame.line(
            number,
            line,
            "this begins like no trace",
            "write time_s,rate_mbps and then rows like 0,12; or give a Mahimahi or DRP file, two numbers on each line \
             (seconds and Mbit/s), or JSON",
        )),
        None => Err(blame.whole("there is no data in this file", "give a Mahimahi, DRP or CSV trace")),
    }
}

/// The first line that is neither empty nor a comment.
pub(super) fn first_line(bytes: &[u8]) -> Option<(u64, &[u8])> {
    lines(bytes).find(|(_, line)| !line.starts_with(b"#") && !line.trim_ascii().is_empty())
}

/// Whether the bytes begin as JSON does.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Whether the file is columns between white space: the first line is numbers, or names above as many fields of which
/// one is a number.
fn is_spaced(bytes: &[u8], number: u64, begin: &[u8]) -> bool {
    let words = |line: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(line).split_ascii_whitespace().map(str::to_owned).collect()
    };
    let is_number = |word: &String| decimal::nearest(word.trim_start_matches('-'), 0).is_ok();
    let first = words(begin);
    let next = lines(bytes)
        .find(|(at, line)| *at > number && !line.starts_with(b"#") && !line.trim_ascii().is_empty());
    let under = next.map_or_else(Vec::new, |(_, line)| words(line));
    let named = under.len() == first.len() && under.iter().any(is_number);
    first.len() >= 2 && (named || first.iter().all(is_number))
}
