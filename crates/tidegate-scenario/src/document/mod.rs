//! A document as a tree of values that know where they were written, whatever the format.
//!
//! Nothing here knows what a key means; that is [`crate::table`].

mod edit;
mod json;
mod print;
mod set;
mod toml;

pub(crate) use edit::{Op, operations};
pub(crate) use json::parse as parse_json;
pub(crate) use print::{edited, from_tree, literal};
pub(crate) use set::{parse_path, parse_set};
pub(crate) use toml::parse as parse_toml;

pub(crate) use crate::place::{Place, Source, Sources};

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) data: Data,
    pub(crate) at: Place,
}

/// What TOML and JSON can hold.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// Keys in the order of the text.
    Table(Vec<Entry>),
    List(Vec<Node>),
    Text(String),
    Whole(i64),
    /// A whole number that 64 bits do not hold, as it is written: no key takes one.
    Huge(String),
    Real(f64),
    Flag(bool),
    /// A TOML date or time: no key takes one.
    Date(String),
    /// JSON only: the key counts as left out.
    Null,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Place,
    pub(crate) node: Node,
}

/// One step of a dotted key.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) key: String,
    pub(crate) at: Place,
}

/// A dotted key as it is written.
pub(crate) fn dotted(path: &[Step]) -> String {
    path.iter().map(|step| step.key.as_str()).collect::<Vec<_>>().join(".")
}

impl Node {
    /// An empty table.
    pub(crate) fn table(at: Place) -> Node {
        Node { data: Data::Table(Vec::new()), at }
    }

    /// The entry `key`, if this is a table that has it.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.data {
            Data::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// What kind of value this is, for messages.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.data {
            Data::Table(_) => "a table",
            Data::List(_) => "a list",
            Data::Text(_) => "text",
            Data::Whole(_) | Data::Huge(_) | Data::Real(_) => "a number",
            Data::Flag(_) => "true or false",
            Data::Date(_) => "a date",
            Data::Null => "null",
        }
    }
}
