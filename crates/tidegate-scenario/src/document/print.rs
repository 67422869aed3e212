//! The tree printed as TOML, and edits made in TOML text so that comments stay.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::{Data, Entry, Node, Op, Step};

/// `text` with `ops` done to it. The text has been parsed before, so it can be again.
pub(crate) fn edited(text: &str, ops: &[Op]) -> String {
    if ops.is_empty() {
        return text.to_owned();
    }
    let Ok(mut document) = text.parse::<DocumentMut>() else { return text.to_owned() };
    for op in ops {
        match op {
            Op::Put(path, node) => put(document.as_table_mut(), path, node, true),
            Op::Drop(path) => remove(document.as_table_mut(), path),
        }
    }
    document.to_string()
}

fn put(table: &mut dyn TableLike, path: &[Step], node: &Node, headers: bool) {
    let Some((step, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        replace(table, &step.key, node, headers);
        return;
    }
    let found = table.get(&step.key).filter(|item| !item.is_none());
    let headers = headers && found.as_ref().is_none_or(|item| item.is_table());
    if found.is_none_or(|item| !item.is_table_like()) {
        table.insert(&step.key, new_table(headers && rest.len() > 1));
    }
    if let Some(below) = table.get_mut(&step.key).and_then(Item::as_table_like_mut) {
        put(below, rest, node, headers);
    }
}

/// Puts the value of `key`; what stands around the old one stays. A new table gets a header
/// where its neighbours have one, so that it comes after them.
fn replace(table: &mut dyn TableLike, key: &str, node: &Node, headers: bool) {
    let neighbours = table.iter().any(|(_, item)| item.is_table());
    if let (Data::Table(entries), true, true) = (&node.data, headers, neighbours) {
        let mut inner = Table::new();
        fill(&mut inner, entries, 0);
        table.remove(key);
        table.insert(key, Item::Table(inner));
        return;
    }
    let Some(mut value) = value_of(node) else {
        table.remove(key);
        return;
    };
    if let Some(Item::Value(old)) = table.get_mut(key) {
        *value.decor_mut() = old.decor().clone();
        *old = value;
    } else {
        table.remove(key);
        table.insert(key, Item::Value(value));
    }
}

/// A table on the way to a new key: without a header of its own where it can be.
fn new_table(header: bool) -> Item {
    if header {
        let mut table = Table::new();
        table.set_implicit(true);
        return Item::Table(table);
    }
    let mut table = InlineTable::new();
    table.set_dotted(true);
    Item::Value(Value::InlineTable(table))
}

fn remove(table: &mut dyn TableLike, path: &[Step]) {
    let Some((step, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        table.remove(&step.key);
    } else if let Some(below) = table.get_mut(&step.key).and_then(Item::as_table_like_mut) {
        remove(below, rest);
    }
}

/// The tree as TOML text: `[gate.link]` headers for the first two levels, values below.
pub(crate) fn from_tree(root: &Node) -> String {
    let mut document = DocumentMut::new();
    if let Data::Table(entries) = &root.data {
        fill(document.as_table_mut(), entries, 2);
    }
    document.to_string()
}

fn fill(table: &mut Table, entries: &[Entry], headers: usize) {
    for entry in entries {
        let item = match &entry.node.data {
            Data::Table(below) if headers > 0 => {
                let mut inner = Table::new();
                inner.set_implicit(
                    below.iter().all(|each| matches!(each.node.data, Data::Table(_))) && headers > 1,
                );
                fill(&mut inner, below, headers - 1);
                Some(Item::Table(inner))
            }
            _ => value_of(&entry.node).map(Item::Value),
        };
        if let Some(item) = item {
            table.insert(&entry.key, item);
        }
    }
}

/// A value as TOML text, such as the right side of `--set`.
pub(crate) fn literal(node: &Node) -> String {
    value_of(node).map_or_else(String::new, |value| value.to_string().trim().to_owned())
}

fn value_of(node: &Node) -> Option<Value> {
    Some(match &node.data {
        Data::Table(entries) => {
            let pairs = entries.iter().filter_map(|entry| Some((entry.key.as_str(), value_of(&entry.node)?)));
            Value::InlineTable(pairs.collect::<InlineTable>())
        }
        Data::List(items) => Value::Array(items.iter().filter_map(value_of).collect::<Array>()),
        Data::Text(text) => Value::from(text.as_str()),
        Data::Whole(number) => Value::from(*number),
        Data::Real(number) => Value::from(*number),
        Data::Flag(flag) => Value::from(*flag),
        Data::Huge(other) | Data::Date(other) => Value::from(other.as_str()),
        Data::Null => return None,
    })
}
