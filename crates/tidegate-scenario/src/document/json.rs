//! Reads JSON text into the tree that TOML is read into.
//!
//! serde_json keeps no places, but a borrowed [`RawValue`] is a slice of the text, so its
//! address is its place.

use std::collections::BTreeSet;
use std::fmt;
use std::num::IntErrorKind;

use serde::Deserializer as _;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Data, Entry, Node, Place};
use crate::error::Problem;

/// Deeper nesting than this is refused.
const DEEPEST: usize = 64;

/// Reads a JSON document; every place has `source`.
pub(crate) fn parse(text: &str, source: usize) -> Result<Node, Problem> {
    let reader = Reader { text, source };
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| reader.syntax(text, &error))?;
    let node = reader.node(raw, 0)?;
    match node.data {
        Data::Table(_) => Ok(node),
        _ => Err(Problem::new(
            node.at,
            "",
            format!("a scenario must be a table, but this is {}", node.kind_name()),
        )
        .help("write { \"duration\": \"10 s\", \"gate\": { … }, \"flow\": { … } }")),
    }
}

struct Reader<'a> {
    text: &'a str,
    source: usize,
}

impl Reader<'_> {
    fn place(&self, part: &str) -> Place {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        Place { source: self.source, start, end: start + part.len() }
    }

    /// serde_json counts lines and columns (in bytes) from 1 inside the text it was given.
    fn syntax(&self, part: &str, error: &serde_json::Error) -> Problem {
        let before: usize =
            part.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let within = (before + error.column().saturating_sub(1)).min(part.len());
        let start = self.place(part).start + within;
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let message = message.replace("EOF while parsing", "the text ends inside");
        let place = Place { source: self.source, start, end: (start + 1).min(self.text.len()) };
        Problem::new(place, "", format!("this is not JSON: {message}"))
    }

    fn node(&self, raw: &RawValue, depth: usize) -> Result<Node, Problem> {
        let part = raw.get();
        let at = self.place(part);
        if depth > DEEPEST {
            return Err(Problem::new(at, "", format!("nested deeper than {DEEPEST} levels")));
        }
        let wrong = |error: serde_json::Error| self.syntax(part, &error);
        let data = match part.as_bytes().first() {
            Some(b'{') => self.table(part, depth)?,
            Some(b'[') => {
                let mut json = serde_json::Deserializer::from_str(part);
                let items = json.deserialize_seq(Items).map_err(wrong)?;
                Data::List(
                    items.into_iter().map(|item| self.node(item, depth + 1)).collect::<Result<_, _>>()?,
                )
            }
            Some(b'"') => Data::Text(serde_json::from_str(part).map_err(wrong)?),
            Some(b't') => Data::Flag(true),
            Some(b'f') => Data::Flag(false),
            Some(b'n') => Data::Null,
            _ => match part.parse::<i64>() {
                Ok(whole) => Data::Whole(whole),
                Err(error) => match error.kind() {
                    IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Data::Huge(part.to_owned()),
                    _ => Data::Real(part.parse().unwrap_or(f64::NAN)),
                },
            },
        };
        Ok(Node { data, at })
    }

    fn table(&self, part: &str, depth: usize) -> Result<Data, Problem> {
        let mut json = serde_json::Deserializer::from_str(part);
        let pairs = json.deserialize_map(Pairs).map_err(|error| self.syntax(part, &error))?;
        let mut seen = BTreeSet::new();
        let mut entries = Vec::new();
        for (key, value) in pairs {
            let key_at = self.place(key.get());
            let name: String =
                serde_json::from_str(key.get()).map_err(|error| self.syntax(key.get(), &error))?;
            if !seen.insert(name.clone()) {
                return Err(Problem::new(key_at, "", format!("the key {name:?} is there twice"))
                    .help("keep one of the two"));
            }
            entries.push(Entry { key: name, key_at, node: self.node(value, depth + 1)? });
        }
        Ok(Data::Table(entries))
    }
}

struct Items;

impl<'de> Visitor<'de> for Items {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(items)
    }
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(&'de RawValue, &'de RawValue)>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}
