//! TOML text to the tree.

use toml_edit::{Document, Item, TableLike, TomlError, Value};

use super::{Data, Entry, Node, Place};
use crate::error::Problem;

/// Reads a TOML document; every place has `source`.
pub(crate) fn parse(text: &str, source: usize) -> Result<Node, Problem> {
    let document = Document::parse(text).map_err(|error| syntax(text, source, &error))?;
    let reader = Reader { source };
    let root = Place { source, start: 0, end: 0 };
    Ok(Node { data: reader.table(document.as_table(), root), at: root })
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
    let document = Document::parse(wrapped.as_str()).map_err(|error| error.message().to_owned())?;
    if document.as_table().len() != 1 {
        return Err("more than one line".to_owned());
    }
    let item = document.as_table().get("v").ok_or("no value")?;
    let reader = Reader { source };
    let whole = Place { source, start: offset, end: offset + text.len() };
    let mut node = reader.item(item, whole);
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

struct Reader {
    source: usize,
}

impl Reader {
    fn place(&self, span: Option<std::ops::Range<usize>>, otherwise: Place) -> Place {
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
            Value::Integer(number) => Data::Whole(*number.value()),
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
