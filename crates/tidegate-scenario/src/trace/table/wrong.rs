//! What is wrong with a table, and what would be right.

use ::csv::ByteRecord;

use crate::trace::error::{Blame, TraceError, is_numbers};

/// What is wrong with a row, and what would be right.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) problem: String,
    pub(super) help: String,
    /// Options of the command that reads the file.
    options: Option<String>,
    /// Whether the options have names that stand in the file.
    names: bool,
    /// The field that is wrong.
    field: Option<usize>,
}

pub(super) fn wrong(problem: impl Into<String>, help: impl Into<String>) -> Wrong {
    Wrong { problem: problem.into(), help: help.into(), options: None, names: false, field: None }
}

pub(super) fn too_long() -> Wrong {
    wrong("the time is more than 106 days, longer than any run", "check the unit of the time")
}

impl Wrong {
    pub(super) fn in_field(self, index: usize) -> Wrong {
        Wrong { field: Some(index), ..self }
    }

    /// The help ends with the command that reads the file.
    pub(super) fn command(self, options: impl Into<String>) -> Wrong {
        Wrong { options: Some(options.into()), ..self }
    }

    /// The command's options name columns of the file.
    pub(super) fn with_names(self) -> Wrong {
        Wrong { names: true, ..self }
    }

    /// The error at a row, which quotes the row or, where that is more than numbers, its field.
    pub(super) fn at(self, blame: Blame<'_>, place: Place, record: &ByteRecord, separator: u8) -> TraceError {
        let mut shown = record.iter().collect::<Vec<_>>().join(&separator);
        if !is_numbers(&shown) {
            shown = self.field.and_then(|index| record.get(index)).unwrap_or_default().to_vec();
        }
        let command = |options: &str| {
            let plain =
                blame.file.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte));
            let file = if plain { blame.file.to_owned() } else { format!("'{}'", blame.file) };
            format!("{} tidegate traces info {file} {options}", self.help)
        };
        let help = self.options.as_deref().map_or_else(|| self.help.clone(), command);
        let error = match place {
            Place::Line(line) => blame.line(line, &shown, &*self.problem, help),
            Place::Item(0) => blame.whole(&*self.problem, help),
            Place::Item(item) => {
                let quoted = blame.line(0, &shown, format!("item {item}: {}", self.problem), help);
                TraceError { line: None, ..quoted }
            }
        };
        if self.names {
            error.with_names(format!("{} tidegate traces info FILE --help", self.help))
        } else {
            error
        }
    }
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Its line, from 1.
    Line(u64),
    /// In JSON: its number among the items, from 1; 0 for the whole.
    Item(u64),
}

impl Place {
    /// The number of the line or of the item.
    pub(super) fn number(self) -> u64 {
        match self {
            Place::Line(number) | Place::Item(number) => number,
        }
    }
}
