//! Which format a file has, by its name and its first line.

use std::path::Path;

use super::error::{self, Blame};
use super::{Format, TraceError, drp, lines, seconds_mbps};

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
    match first_line(bytes) {
        Some((_, line)) if seconds_mbps::is_line(line) => Ok(Format::SecondsMbps),
        Some((_, line)) if line.iter().any(|byte| b",;\t".contains(byte)) => Ok(Format::Csv),
        Some((number, line)) if error::is_numbers(line) => Err(blame.line(
            number,
            line,
            "one number on each line could be milliseconds (Mahimahi) or kbit/s (DRP)",
            "give the format: mahimahi or drp (or rename the file to end in .up, .down or .drp)",
        )),
        Some((number, line)) => Err(blame.line(
            number,
            line,
            "this begins like no trace",
            "write time_s,rate_mbps and then rows like 0,12; or give a Mahimahi or DRP file, or two numbers on each \
             line, seconds and Mbit/s",
        )),
        None => Err(blame.whole("there is no data in this file", "give a Mahimahi, DRP or CSV trace")),
    }
}

/// The first line that is neither empty nor a comment.
pub(super) fn first_line(bytes: &[u8]) -> Option<(u64, &[u8])> {
    lines(bytes).find(|(_, line)| !line.starts_with(b"#") && !line.trim_ascii().is_empty())
}
