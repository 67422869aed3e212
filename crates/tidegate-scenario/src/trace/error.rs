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
    /// What stands there, if it looks like numbers (shortened when long). Otherwise empty: whoever wrote the
    /// scenario may have named a file that is no trace and that others should not see.
    pub read: Box<str>,
    /// What is wrong.
    pub problem: Box<str>,
    /// The value in the line before that this one does not go with; empty where there is none.
    pub before: Box<str>,
    /// What would be right.
    pub help: Box<str>,
    /// The help without names that stand in the file; empty where it has none.
    pub discreet: Box<str>,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what(), self.help)
    }
}

impl TraceError {
    /// The message without its help.
    #[must_use]
    pub fn what(&self) -> String {
        let mut text = self.file.clone();
        if let Some(line) = self.line {
            text.push_str(&format!(", line {line}"));
        }
        text.push_str(": ");
        if !self.read.is_empty() {
            text.push_str(&format!("read `{}`: ", self.read));
        }
        text.push_str(&self.problem);
        if !self.before.is_empty() {
            text.push_str(&format!(" ({})", self.before));
        }
        text
    }

    /// A file that was not given where files are given as bytes.
    pub(crate) fn not_given(file: &str, help: String) -> TraceError {
        Blame { file }.whole("there is no such file here", help)
    }

    /// This error without a byte of the file.
    pub(crate) fn without_content(self) -> TraceError {
        let help = if self.discreet.is_empty() { self.help } else { self.discreet.clone() };
        TraceError { read: "".into(), before: "".into(), help, ..self }
    }

    /// This error, whose help has names of the file in it; `discreet` is the help without them.
    pub(super) fn with_names(self, discreet: String) -> TraceError {
        TraceError { discreet: discreet.into(), ..self }
    }

    /// This error with the value in the line before.
    pub(super) fn after(self, before: impl fmt::Display) -> TraceError {
        TraceError { before: before.to_string().into(), ..self }
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
            read: "".into(),
            problem: problem.into().into(),
            before: "".into(),
            help: help.into().into(),
            discreet: "".into(),
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
        TraceError { line: Some(line), read: quote(read).into(), ..self.whole(problem, help) }
    }

    /// A line is earlier than the line before it.
    pub(super) fn earlier(self, line: u64, read: &[u8]) -> TraceError {
        let help = "times must not decrease: sort the lines (sort -n)";
        self.line(line, read, "this line is earlier than the line before it", help)
    }
}

/// Input as it may stand in a message: numbers, not too long; anything else is not shown.
fn quote(read: &[u8]) -> String {
    if !is_numbers(read) {
        return String::new();
    }
    let shown = read.iter().take(QUOTE).map(|&byte| if byte == b'\t' { ' ' } else { char::from(byte) });
    let more = (read.len() > QUOTE).then_some('…');
    shown.chain(more).collect()
}

/// Whether a line looks like numbers: digits, signs, and what separates them.
pub(super) fn is_numbers(read: &[u8]) -> bool {
    let mut digit_before = false;
    read.iter().all(|&byte| {
        let is_exponent = digit_before && matches!(byte, b'e' | b'E');
        digit_before = byte.is_ascii_digit();
        digit_before || is_exponent || b"+-.,;:% \t".contains(&byte)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_looks_like_numbers_is_quoted() {
        for shown in ["12", "-1.5e-3", "0.5, 3", "100%", "10;20"] {
            assert_eq!(quote(shown.as_bytes()), shown);
        }
        for hidden in
            ["root:$6$abc:19000:0", "-----BEGIN", "fast", "1,x", "deadbeef", "e5", "\u{1b}[2J", "12\0"]
        {
            assert_eq!(quote(hidden.as_bytes()), "", "{hidden:?}");
        }
        assert_eq!(quote(&[b'7'; 100]), format!("{}…", "7".repeat(QUOTE)));
    }
}
