//! TOML text to the tree.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, TomlError, Value};

use super::{Data, Entry, Node, Place};
use crate::error::Problem;

/// Reads a TOML document; every place has `source`.
pub(crate) fn parse(text: &str, source: usize) -> Result<Node, Problem> {
    with_huge(text, MOST_HUGE, &|smaller, huge| {
        let document = Document::parse(smaller)?;
        let root = Place { source, start: 0, end: 0 };
        Ok(Node { data: Reader { source, huge }.table(document.as_table(), root), at: root })
    })
    .map_err(|error| syntax(text, source, &error))
}

/// So many numbers of one text may be too large for 64 bits until it is said that it is no TOML.
const MOST_HUGE: usize = 8;

/// Numbers that 64 bits do not hold: where each stands, and how it is written.
type Huge = [(Range<usize>, String)];

/// Reads a text, also where whole numbers in it are too large for TOML: whoever knows the key says its range.
/// Such a number is read again as a 0 and spaces, so that everything keeps its place.
fn with_huge(
    text: &str,
    most: usize,
    read: &dyn Fn(&str, &Huge) -> Result<Node, TomlError>,
) -> Result<Node, TomlError> {
    let mut smaller = text.to_owned();
    let mut huge = Vec::new();
    loop {
        let error = match read(&smaller, &huge) {
            Err(error) if error.message().contains("integer number overflowed") => error,
            done => return done,
        };
        let Some(span) = error.span().filter(|span| huge.len() < most && !span.is_empty()) else {
            return Err(error);
        };
        let Some(written) = smaller.get(span.clone()).map(str::to_owned) else { return Err(error) };
        smaller.replace_range(span.clone(), &format!("{:<1$}", 0, span.len()));
        huge.push((span, written));
    }
}

/// A syntax error in the words of this program, where it knows better ones.
fn syntax(text: &str, source: usize, error: &TomlError) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let read = text.get(span.clone()).unwrap_or_default().trim();
    let message = error.message().lines().next().unwrap_or("syntax error").trim();
    let quoted = format!("write \"{}\"", read.trim_matches(['"', '\'']));
    let (problem, help) = if message.contains("must be quoted") && read.is_empty() {
        ("the value is missing".to_owned(), "write text in quotes, a number, true, false, a list or a table")
    } else if message.contains("must be quoted") {
        ("text stands in quotes".to_owned(), quoted.as_str())
    } else if message == "duplicate key" {
        (format!("the key {read} is there twice"), "keep one of the two")
    } else if message.contains("cannot extend value") {
        (format!("{read} is a value already and cannot have keys"), "keep the value or the keys below it")
    } else if message.starts_with("invalid basic string") {
        ("the text does not end".to_owned(), "close it with \"")
    } else if message.contains("number overflowed") {
        (format!("the number {read} is too large"), "write a number of at most 64 bits")
    } else {
        (message.to_owned(), "")
    };
    let place = Place { source, start: span.start, end: span.end };
    let help = (!help.is_empty()).then(|| help.to_owned());
    Problem::new(place, "", format!("this is not TOML: {problem}")).with_help(help)
}

/// Reads one TOML value, such as the right side of `--set`; places count from `offset`.
pub(super) fn value(text: &str, source: usize, offset: usize) -> Result<Node, String> {
    // A document of one key, so that the value keeps its span.
    let wrapped = format!("v={text}");
    let whole = Place { source, start: offset, end: offset + text.len() };
    let table = with_huge(&wrapped, 1, &|smaller, huge| {
        let document = Document::parse(smaller)?;
        Ok(Node { data: Reader { source, huge }.table(document.as_table(), whole), at: whole })
    })
    .map_err(|error| error.message().to_owned())?;
    let Data::Table(entries) = table.data else { return Err("no value".to_owned()) };
    let [entry] = <[Entry; 1]>::try_from(entries).map_err(|_| "more than one line".to_owned())?;
    let mut node = entry.node;
    shift(&mut node, offset, whole);
    Ok(node)
}

/// Moves places from the wrapped text to the source's own: `v=` is two bytes.
fn shift(node: &mut Node, offset: usize, whole: Place) {
    let moved = |place: Place| Place {
        start: (place.start + offset).saturating_sub(2).clamp(whole.start, whole.end),
        end: (place.end + offset).saturating_sub(2).clamp(whole.start, whole.end),
        ..place
    };
    node.at = moved(node.at);
    match &mut node.data {
        Data::Table(entries) => {
            for entry in entries {
                entry.key_at = moved(entry.key_at);
                shift(&mut entry.node, offset, whole);
            }
        }
        Data::List(items) => items.iter_mut().for_each(|item| shift(item, offset, whole)),
        _ => {}
    }
}

struct Reader<'a> {
    source: usize,
    huge: &'a Huge,
}

impl Reader<'_> {
    fn place(&self, span: Option<Range<usize>>, otherwise: Place) -> Place {
        span.map_or(otherwise, |span| Place { source: self.source, start: span.start, end: span.end })
    }

    fn table(&self, table: &dyn TableLike, at: Place) -> Data {
        let entries = table
            .iter()
            .map(|(name, item)| {
                let key_at = self.place(table.key(name).and_then(toml_edit::Key::span), at);
                Entry { key: name.to_owned(), key_at, node: self.item(item, key_at) }
            })
            .collect();
        Data::Table(entries)
    }

    /// A table written as a header or by dotted keys is placed at its key.
    fn item(&self, item: &Item, key_at: Place) -> Node {
        match item {
            Item::None => Node { data: Data::Null, at: key_at },
            Item::Value(value) => self.value(value, key_at),
            Item::Table(table) => Node { data: self.table(table, key_at), at: key_at },
            Item::ArrayOfTables(tables) => {
                let list = tables.iter().map(|table| {
                    let at = self.place(table.span(), key_at);
                    Node { data: self.table(table, at), at }
                });
                Node { data: Data::List(list.collect()), at: key_at }
            }
        }
    }

    fn value(&self, value: &Value, key_at: Place) -> Node {
        let at = self.place(value.span(), key_at);
        let data = match value {
            Value::String(text) => Data::Text(text.value().clone()),
            Value::Integer(number) => {
                let huge = self.huge.iter().find(|(place, _)| place.start == at.start);
                let Some((place, written)) = huge else {
                    return Node { data: Data::Whole(*number.value()), at };
                };
                return Node { data: Data::Huge(written.clone()), at: Place { end: place.end, ..at } };
            }
            Value::Float(number) => Data::Real(*number.value()),
            Value::Boolean(flag) => Data::Flag(*flag.value()),
            Value::Datetime(date) => Data::Date(date.value().to_string()),
            Value::Array(list) => Data::List(list.iter().map(|item| self.value(item, at)).collect()),
            Value::InlineTable(table) if table.is_dotted() => {
                return Node { data: self.table(table, key_at), at: key_at };
            }
            Value::InlineTable(table) => self.table(table, at),
        };
        Node { data, at }
    }
}
