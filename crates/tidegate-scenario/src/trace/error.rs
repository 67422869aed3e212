//! What can be wrong with a trace, said once and completely.

use std::fmt;

/// A trace that cannot be used: where, what was read, what is wrong with it, what would be
/// right. Its `Display` is the whole message, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The file, as the user named it.
    pub file: String,
    /// The line, counted from 1; `None` when the file as a whole is wrong.
    pub line: Option<u64>,
    /// What stands there (shortened when long); empty when there is nothing to show.
    pub read: String,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub help: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        f.write_str(": ")?;
        if !self.read.is_empty() {
            write!(f, "read `{}`: ", self.read)?;
        }
        write!(f, "{}; {}", self.problem, self.help)
    }
}

impl std::error::Error for TraceError {}

/// Longest piece of input quoted in a message, in characters.
const QUOTE: usize = 60;

/// Builds the errors of one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blame<'a> {
    /// The file, as the user named it.
    pub(super) file: &'a str,
}

impl Blame<'_> {
    /// The file as a whole is wrong.
    pub(super) fn whole(self, problem: impl Into<String>, help: impl Into<String>) -> TraceError {
        TraceError {
            file: self.file.to_owned(),
            line: None,
            read: String::new(),
            problem: problem.into(),
            help: help.into(),
        }
    }

    /// One line is wrong.
    pub(super) fn line(
        self,
        line: u64,
        read: &[u8],
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> TraceError {
        TraceError { line: Some(line), read: quote(read), ..self.whole(problem, help) }
    }
}

/// Input as it may stand in a message: printable, on one line, not too long.
fn quote(read: &[u8]) -> String {
    let text = String::from_utf8_lossy(&read[..read.len().min(4 * QUOTE)]);
    let mut shown = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == QUOTE {
            shown.push('…');
            break;
        }
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}
