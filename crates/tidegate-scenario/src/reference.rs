//! The reference of the language in Markdown, from the table of keys.

use std::fmt::Write as _;

use crate::table::{Key, Kind, Literal, ROOT, Section, WhenAbsent};
use crate::units::{Dim, PRODUCT, example, noun, unit_names};

/// Every key of a scenario: what it takes, its default, what it means.
#[must_use]
pub fn reference() -> String {
    let mut out = String::from(
        "# The scenario language\n\n\
         A value with a dimension is text with a unit, such as `\"10 Mbit/s\"`; counts and ratios are bare numbers. \
         k is 1000, Ki is 1024, B is bytes, bit is bits. `Mbps` is accepted for `Mbit/s`; a bare `m` is not accepted. A \
         conversion that would lose precision is an error.\n",
    );
    out.push_str("\n| what | units |\n|---|---|\n");
    for dim in [Dim::Time, Dim::Speed, Dim::Size, Dim::Cells, Dim::Slots] {
        let _ = writeln!(out, "| {} | {} |", noun(dim), unit_names(dim).collect::<Vec<_>>().join(", "));
    }
    let _ = writeln!(
        out,
        "| a bandwidth–delay product, where a queue, burst or receive window is asked | {PRODUCT} |"
    );
    let mut seen = Vec::new();
    describe(&ROOT, "", &mut seen, &mut out);
    out
}

/// One section and, after it, the ones below it that have not been described yet.
fn describe(section: &'static Section, path: &str, seen: &mut Vec<&'static str>, out: &mut String) {
    if seen.contains(&section.title) {
        return;
    }
    seen.push(section.title);
    if section.names.is_none() {
        heading(section, path, out);
    }
    for row in section.keys {
        if let Some(below) = below(row.kind) {
            describe(below, &join(path, row.name), seen, out);
        }
    }
    if let Some(below) = section.others.and_then(below) {
        describe(below, &join(path, "NAME"), seen, out);
    }
}

fn below(kind: Kind) -> Option<&'static Section> {
    match kind {
        Kind::List { of, .. } => below(*of),
        kind => kind.section(),
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn heading(section: &Section, path: &str, out: &mut String) {
    let _ = match path {
        "" => write!(out, "\n## {}\n", section.title),
        _ => write!(out, "\n## {}: `{path}`\n", section.title),
    };
    if !section.about.is_empty() {
        let _ = write!(out, "\n{}\n", section.about);
    }
    let rows: Vec<_> = section.keys.iter().filter(|row| row.kind != Kind::Later).collect();
    if !rows.is_empty() {
        out.push_str("\n| key | takes | default | meaning |\n|---|---|---|---|\n");
        for row in rows {
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} |",
                row.name,
                takes(row.kind),
                default(row),
                meaning(row)
            );
        }
        for alias in section.aliases {
            let _ = writeln!(out, "| `{}` | as `{}` | | {} |", alias.name, alias.of, alias.about);
        }
    }
    let later: Vec<_> =
        section.keys.iter().filter(|row| row.kind == Kind::Later).map(|row| row.name).collect();
    if !later.is_empty() {
        let _ = write!(out, "\nNot supported yet: `{}`.\n", later.join("`, `"));
    }
}

fn default(row: &Key) -> String {
    match row.default {
        WhenAbsent::Required(_) => "required".to_owned(),
        WhenAbsent::Is(value) => literal(value),
        WhenAbsent::ByBase { rfc, bsd44, linux } => {
            format!("rfc {}, bsd44 {}, linux {}", literal(rfc), literal(bsd44), literal(linux))
        }
        WhenAbsent::Words(words) => words.replace('|', "\\|"),
    }
}

fn literal(value: Literal) -> String {
    match value {
        Literal::Text(text) => format!("`\"{text}\"`"),
        Literal::Whole(number) => format!("`{number}`"),
        Literal::Flag(flag) => format!("`{flag}`"),
    }
}

/// What a key means, with its words and an example of a required one.
fn meaning(row: &Key) -> String {
    let mut text = row.about.to_owned();
    for word in words(row.kind) {
        let _ = write!(text, " `\"{}\"`: {}.", word.0, word.1);
    }
    if let WhenAbsent::Required(example) = row.default {
        let _ = write!(text, " Such as `{example}`.");
    }
    text.replace('|', "\\|")
}

fn words(kind: Kind) -> Vec<(&'static str, &'static str)> {
    match kind {
        Kind::Quantity { words, .. } | Kind::Choice(words) => {
            words.iter().map(|word| (word.name, word.about)).collect()
        }
        Kind::AnyOf(kinds) => kinds.iter().flat_map(|each| words(*each)).collect(),
        _ => Vec::new(),
    }
}

fn takes(kind: Kind) -> String {
    match kind {
        Kind::Flag => "true or false".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Python => "`\"python:FILE:CLASS\"`".to_owned(),
        Kind::Whole { min, max } if max < 1_000_000_000 => format!("{min} to {max}"),
        Kind::Whole { min, .. } => format!("{min} or more"),
        Kind::Signed { min, max } => format!("{min} to {max}"),
        Kind::Number { zero } => if zero { "a number of 0 or more" } else { "a number above 0" }.to_owned(),
        Kind::Probability => "0 to 1, or `\"1%\"`".to_owned(),
        Kind::Share => "above 0 and up to 1, or `\"50%\"`".to_owned(),
        Kind::Quantity { dim, words, .. } => {
            let words: String = words.iter().map(|word| format!(", or `\"{}\"`", word.name)).collect();
            let relative = if dim.is_relative() { ", a time, or `\"1 BDP\"`" } else { "" };
            format!("{} such as `\"{}\"`{relative}{words}", noun(dim), example(dim))
        }
        Kind::Choice(words) => {
            let open = words.iter().map(|word| format!("`\"{}\"`", word.name));
            open.collect::<Vec<_>>().join(", ")
        }
        Kind::List { of, .. } => format!("a list: {}", takes(*of)),
        Kind::Tuple(kinds) => {
            format!(
                "a list of {}: {}",
                kinds.len(),
                kinds.iter().map(|each| takes(*each)).collect::<Vec<_>>().join("; ")
            )
        }
        Kind::Form(section) => match section.short.and_then(|short| section.find(short)) {
            Some(row) => format!("{}, or a table", takes(row.kind)),
            None if section.names.is_some() => "named tables".to_owned(),
            None => "a table".to_owned(),
        },
        Kind::AnyOf(kinds) => kinds.iter().map(|each| takes(*each)).collect::<Vec<_>>().join(", or "),
        Kind::Free => "anything".to_owned(),
        Kind::Later => "not supported yet".to_owned(),
    }
}
