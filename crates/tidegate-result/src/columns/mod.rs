//! The recorded columns: one table of names, meanings, words and values.
//!
//! Everything about a column stands in its entry: the tables of a run are made of it, `[record]` checks
//! names against it, and Python reads names, meanings and words from it. A new column is one entry here
//! and the field that holds its value.

mod entries;
mod entry;
mod messages;
mod words;

pub use entries::{CLASSES, DROPS, FLOWS, GATES, GROUPS, MARKS};
pub use entry::{Description, Entry, Gates, Names, Of, Value};
pub use messages::{ADVICE, REQUESTS, SEGMENTS};
pub use words::{DROP_REASONS, HELD_BY, HELD_BY_POLICER, MARK_KINDS, PHASES};

/// Every table with its columns, in order.
#[must_use]
pub fn tables() -> Vec<(&'static str, Vec<Description>)> {
    fn of<R>(entries: &[Entry<R>]) -> Vec<Description> {
        entries.iter().map(Entry::described).collect()
    }
    vec![
        ("flows", of(FLOWS)),
        ("gates", of(GATES)),
        ("groups", of(GROUPS)),
        ("classes", of(CLASSES)),
        ("drops", of(DROPS)),
        ("marks", of(MARKS)),
        ("requests", of(REQUESTS)),
        ("segments", of(SEGMENTS)),
        ("advice", of(ADVICE)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_say_their_unit() {
        for (table, columns) in tables() {
            for (place, column) in columns.iter().enumerate() {
                assert!(
                    columns[..place].iter().all(|before| before.name != column.name),
                    "{table}.{}",
                    column.name
                );
                assert!(
                    !column.meaning.is_empty() && !column.meaning.contains("  "),
                    "{table}.{}",
                    column.name
                );
            }
        }
    }
}
