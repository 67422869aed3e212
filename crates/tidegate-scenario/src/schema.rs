//! The JSON Schema of a scenario, from the table of keys.

use serde_json::{Map, Value, json};

use crate::table::{Key, Kind, Literal, ROOT, Section, WhenAbsent, Word};
use crate::units::{PRODUCT, example, unit_names};

/// The JSON Schema (draft 2020-12) of a scenario, with a description on every key. It
/// describes shapes and units; what needs more than one key is checked by loading.
#[must_use]
pub fn schema() -> Value {
    let mut schema = section(&ROOT);
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("Tidegate scenario"));
    Value::Object(schema)
}

fn section(section: &Section) -> Map<String, Value> {
    let rows = section.keys.iter().filter(|row| row.kind != Kind::Later);
    let mut properties: Map<String, Value> =
        rows.clone().map(|row| (row.name.to_owned(), Value::Object(property(row)))).collect();
    for alias in section.aliases {
        let mut other = section.find(alias.of).map(property).unwrap_or_default();
        other.insert("description".to_owned(), json!(alias.about));
        properties.insert(alias.name.to_owned(), Value::Object(other));
    }
    let required = rows.filter(|row| matches!(row.default, WhenAbsent::Required(_)));
    // One of its names will do.
    let (named, required): (Vec<&Key>, Vec<&Key>) =
        required.partition(|row| section.aliases_of(row.name).next().is_some());
    let required: Vec<&str> = required.into_iter().map(|row| row.name).collect();
    let one_name = |row: &&Key| {
        let names = [row.name].into_iter().chain(section.aliases_of(row.name));
        json!({ "anyOf": names.map(|name| json!({ "required": [name] })).collect::<Vec<_>>() })
    };
    let named: Vec<Value> = named.iter().map(one_name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    if !section.about.is_empty() {
        schema.insert("description".to_owned(), json!(section.about));
    }
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    if section.one_of {
        schema.insert("minProperties".to_owned(), json!(1));
        schema.insert("maxProperties".to_owned(), json!(1 + section.beside.len()));
    } else if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    if !named.is_empty() {
        schema.insert("allOf".to_owned(), json!(named));
    }
    if section.names.is_some() {
        schema.insert("propertyNames".to_owned(), json!({ "pattern": "^[A-Za-z0-9_-]{1,64}$" }));
    }
    let others = section.others.map_or(json!(false), kind);
    schema.insert("additionalProperties".to_owned(), others);
    schema
}

fn property(row: &Key) -> Map<String, Value> {
    let mut schema = match kind(row.kind) {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let mut about = row.about.to_owned();
    match row.default {
        WhenAbsent::Required(_) => {}
        WhenAbsent::Is(literal) => {
            schema.insert("default".to_owned(), value(literal));
        }
        WhenAbsent::ByBase { rfc, bsd44, linux } => {
            about += &format!(
                " Default by base: rfc {}, bsd44 {}, linux {}.",
                value(rfc),
                value(bsd44),
                value(linux)
            );
        }
        WhenAbsent::Words(words) => about += &format!(" Default: {words}."),
    }
    schema.insert("description".to_owned(), json!(about));
    schema
}

fn value(literal: Literal) -> Value {
    match literal {
        Literal::Text(text) => json!(text),
        Literal::Whole(number) => json!(number),
        Literal::Flag(flag) => json!(flag),
    }
}

/// A word that a key takes; `"engine": "live"`: only that engine does.
fn form(word: &Word) -> Value {
    let mut form = json!({ "const": word.name, "description": word.about });
    if word.live_only {
        form["engine"] = json!("live");
    }
    form
}

fn kind(of: Kind) -> Value {
    match of {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Python => json!({ "type": "string", "pattern": "^python:.+:[A-Za-z_][A-Za-z0-9_]*$" }),
        Kind::Whole { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Signed { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { zero: true } => json!({ "type": "number", "minimum": 0 }),
        Kind::Number { zero: false } => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::Probability => json!({ "anyOf": [
            { "type": "number", "minimum": 0, "maximum": 1 },
            { "type": "string", "pattern": "^\\s*[0-9.]+([eE][+-]?[0-9]+)?\\s*%\\s*$", "examples": ["1%"] },
        ] }),
        Kind::Share => json!({ "anyOf": [
            { "type": "number", "exclusiveMinimum": 0, "maximum": 1 },
            { "type": "string", "pattern": "^\\s*[0-9.]+([eE][+-]?[0-9]+)?\\s*%\\s*$", "examples": ["50%"] },
        ] }),
        Kind::Quantity { dim, words, .. } => {
            // Editors check by this pattern; the unit may be in small letters too.
            let spelling = |unit: &str| match unit {
                PRODUCT => "[Bb][Dd][Pp]".to_owned(),
                _ => unit.to_owned(),
            };
            let units = unit_names(dim).map(spelling).collect::<Vec<_>>().join("|");
            let number = json!({
                "type": "string",
                "pattern": format!("^\\s*\\+?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?\\s*({units})\\s*$"),
                "examples": [example(dim)],
            });
            if words.is_empty() {
                return number;
            }
            let mut forms = vec![number];
            forms.extend(words.iter().map(form));
            json!({ "anyOf": forms })
        }
        Kind::Choice(words) => {
            json!({ "anyOf": words.iter().map(form).collect::<Vec<_>>() })
        }
        Kind::List { of, min } => json!({ "type": "array", "items": kind(*of), "minItems": min }),
        Kind::Tuple(kinds) => {
            let items: Vec<_> = kinds.iter().map(|each| kind(*each)).collect();
            json!({ "type": "array", "prefixItems": items, "minItems": items.len(), "maxItems": items.len() })
        }
        Kind::Form(form) => {
            let table = Value::Object(section(form));
            match form.short.and_then(|short| form.find(short)) {
                Some(row) => json!({ "anyOf": [kind(row.kind), table] }),
                None => table,
            }
        }
        Kind::AnyOf(kinds) => {
            json!({ "anyOf": kinds.iter().map(|each| kind(*each)).collect::<Vec<_>>() })
        }
        Kind::Free => json!({}),
        Kind::Later => json!(false),
    }
}
