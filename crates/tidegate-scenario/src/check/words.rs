//! What a key takes, in words, for the second half of a message.

use crate::document::{Data, Node, literal};
use crate::table::Kind;
use crate::units::example;

/// A value in the form that was meant, if that is plain.
pub(super) fn rewritten(kind: Kind, node: &Node) -> Option<String> {
    match (kind, &node.data) {
        (Kind::Whole { .. }, Data::Text(text)) => {
            text.trim().parse::<u64>().ok().map(|number| number.to_string())
        }
        (Kind::Whole { .. }, Data::Real(number)) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Some(format!("{number:.0}"))
        }
        (Kind::Flag, Data::Text(text)) if matches!(text.as_str(), "true" | "false") => Some(text.clone()),
        (Kind::Flag, Data::Whole(0)) => Some("false".to_owned()),
        (Kind::Flag, Data::Whole(1)) => Some("true".to_owned()),
        (Kind::Text, Data::Whole(_) | Data::Flag(_)) => Some(format!("\"{}\"", literal(node))),
        (Kind::List { of, .. }, _) if takes(*of, node) => Some(format!("[{}]", literal(node))),
        _ => None,
    }
}

/// The first half of a message needs no examples.
pub(super) fn brief(expected: &str) -> &str {
    let end = [" such as ", ", each ", " with keys "].iter().filter_map(|mark| expected.find(mark)).min();
    end.map_or(expected, |end| &expected[..end])
}

/// Whether a node has the shape that a kind reads (its content may still be wrong).
pub(super) fn takes(kind: Kind, node: &Node) -> bool {
    match (kind, &node.data) {
        (Kind::AnyOf(kinds), _) => kinds.iter().any(|any| takes(*any, node)),
        (Kind::Flag, Data::Flag(_))
        | (Kind::Text | Kind::Choice(_), Data::Text(_))
        | (Kind::Whole { .. } | Kind::Signed { .. }, Data::Whole(_))
        | (
            Kind::Probability | Kind::Share | Kind::Quantity { .. },
            Data::Whole(_) | Data::Real(_) | Data::Text(_),
        )
        | (Kind::Number { .. }, Data::Whole(_) | Data::Real(_))
        | (Kind::List { .. } | Kind::Tuple(_), Data::List(_))
        | (Kind::Form(_), Data::Table(_))
        | (Kind::Free, _) => true,
        (Kind::Python, Data::Text(text)) => text.starts_with("python:"),
        (Kind::Form(section), _) => {
            section.short.and_then(|short| section.find(short)).is_some_and(|row| takes(row.kind, node))
        }
        _ => false,
    }
}

/// Whether a text is a quantity in a unit of a kind, or a percentage of a share.
pub(super) fn reads(kind: Kind, node: &Node) -> bool {
    match (kind, &node.data) {
        (Kind::Quantity { dim, .. }, Data::Text(text)) => crate::units::read(text, dim).is_ok(),
        (Kind::Share | Kind::Probability, Data::Text(text)) => text.trim_end().ends_with('%'),
        _ => false,
    }
}

/// What a kind takes, in words, with an example.
pub(super) fn expected(kind: Kind) -> String {
    match kind {
        Kind::Flag => "true or false".to_owned(),
        Kind::Text => "text in quotes".to_owned(),
        Kind::Python => "a class of yours such as \"python:mine.py:Mine\"".to_owned(),
        Kind::Whole { min, .. } => format!("a whole number such as {}", min.max(1)),
        Kind::Signed { max, .. } => format!("a whole number such as {}", max.min(44)),
        Kind::Number { zero: false } => "a number above 0 such as 1.5".to_owned(),
        Kind::Number { zero: true } => "a number such as 1.5".to_owned(),
        Kind::Probability => "a probability such as 0.01 or \"1%\"".to_owned(),
        Kind::Share => "a share such as 0.5 or \"50%\"".to_owned(),
        Kind::Quantity { dim, words, .. } => {
            let words: String = words.iter().map(|word| format!(" or {:?}", word.name)).collect();
            format!("text with a unit such as {:?}{words}", example(dim))
        }
        Kind::Choice(words) => quoted(words.iter().map(|word| word.name)),
        Kind::List { of, .. } => format!("a list, each value {}", expected(*of)),
        Kind::Tuple(kinds) => {
            let parts: Vec<_> = kinds.iter().map(|each| expected(*each)).collect();
            format!("a list of {}: {}", kinds.len(), parts.join(", then "))
        }
        Kind::Form(section) => match section.short.and_then(|short| section.find(short)) {
            Some(row) => expected(row.kind),
            None if section.keys.is_empty() => match section.names {
                Some(what) => format!("a table such as [{what}.NAME]"),
                None => "a table such as { \"gate.link.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"] }".to_owned(),
            },
            None => {
                let names = section.keys.iter().filter(|row| row.kind != Kind::Later).map(|row| row.name);
                format!("a table with keys {}", names.collect::<Vec<_>>().join(", "))
            }
        },
        Kind::AnyOf(kinds) => kinds.iter().map(|each| expected(*each)).collect::<Vec<_>>().join(", or "),
        Kind::Free => "a value".to_owned(),
        Kind::Later => "nothing".to_owned(),
    }
}

pub(super) fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

pub(super) fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
