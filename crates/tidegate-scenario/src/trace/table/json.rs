//! JSON as a table: a list of objects or of lists, one object per line, an object of lists of equal length, or such a
//! thing within an object.
//!
//! The names of a table are those of all its objects, in the order of the alphabet.

use std::collections::BTreeSet;

use ::csv::ByteRecord;
use serde_json::{Map, Value};

use super::netem;
use super::wrong::{Place, Wrong, wrong};

/// The header and the rows of a table.
pub(super) struct Table {
    pub(super) header: Option<(ByteRecord, Place)>,
    pub(super) rows: Vec<ByteRecord>,
}

const HELP: &str = "give a list of objects, as in [{\"duration_ms\": 1013, \"bandwidth_kbps\": 1285}]";

/// The table in a JSON document, or in several one after another.
pub(super) fn table(bytes: &[u8]) -> Result<Table, Wrong> {
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        values.push(value.map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            wrong(format!("this begins as JSON and is none from {place} on"), "give whole JSON")
        })?);
    }
    let document = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
    if let Some(rows) = netem::pieces(&document)? {
        return Ok(Table { header: Some((netem::HEADER.to_vec().into(), Place::Item(0))), rows });
    }
    inside(&document).ok_or_else(|| wrong("this JSON holds no list of times and rates", HELP))
}

/// The table in a value, or in the only one of its members that has one.
fn inside(value: &Value) -> Option<Table> {
    let members = match value {
        Value::Array(items) => return of_list(items),
        Value::Object(members) => members,
        _ => return None,
    };
    if let Some(table) = of_lists(members) {
        return Some(table);
    }
    let mut found =
        members.values().filter(|member| member.is_array() || member.is_object()).filter_map(inside);
    if let Some(first) = found.next() {
        return found.next().is_none().then_some(first);
    }
    // One row alone.
    let has_number = members.values().any(Value::is_number);
    has_number.then(|| of_list(std::slice::from_ref(value))).flatten()
}

/// A list of objects, of lists, or of numbers.
fn of_list(items: &[Value]) -> Option<Table> {
    let first = items.first()?;
    if first.is_object() {
        let objects: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
        let plain = |object: &&Map<String, Value>| {
            object
                .iter()
                .filter(|(_, value)| !value.is_object() && !value.is_array())
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>()
        };
        let names: BTreeSet<String> = objects.iter().flat_map(plain).collect();
        let row = |object: &&Map<String, Value>| names.iter().map(|name| cell(object.get(name))).collect();
        let whole = objects.len() == items.len() && !names.is_empty();
        return whole.then(|| Table { header: header(&names), rows: objects.iter().map(row).collect() });
    }
    let row = |item: &Value| match item {
        Value::Array(cells) => Some(cells.iter().map(|value| cell(Some(value))).collect::<ByteRecord>()),
        Value::Number(_) | Value::String(_) => Some(ByteRecord::from(vec![cell(Some(item))])),
        _ => None,
    };
    let rows: Option<Vec<ByteRecord>> = items.iter().map(row).collect();
    rows.map(|rows| Table { header: None, rows })
}

/// An object of at least two lists of equal length.
fn of_lists(members: &Map<String, Value>) -> Option<Table> {
    let lists: Vec<(&String, &Vec<Value>)> =
        members.iter().filter_map(|(name, value)| Some((name, value.as_array()?))).collect();
    let count = lists.first()?.1.len();
    let plain = |list: &&Vec<Value>| list.iter().all(|value| !value.is_array() && !value.is_object());
    if lists.len() < 2 || count == 0 || lists.iter().any(|(_, list)| list.len() != count || !plain(list)) {
        return None;
    }
    let rows =
        (0..count).map(|index| lists.iter().map(|(_, list)| cell(list.get(index))).collect()).collect();
    Some(Table { header: header(lists.iter().map(|(name, _)| *name)), rows })
}

fn header<'a>(names: impl IntoIterator<Item = &'a String>) -> Option<(ByteRecord, Place)> {
    let record: ByteRecord = names.into_iter().map(|name| name.as_str()).collect::<Vec<_>>().into();
    Some((record, Place::Item(0)))
}

/// A value as the text of a cell.
fn cell(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(value)) => value.to_string(),
        _ => String::new(),
    }
}
