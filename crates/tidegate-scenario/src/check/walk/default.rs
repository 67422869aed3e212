//! Defaults as values, read from the table like everything else.

use tidegate_core::plan::TcpBase;

use super::Checker;
use crate::check::value::{Item, Value};
use crate::document::{Data, Node, Place};
use crate::table::{Key, Literal, WhenAbsent};

/// The default of a key as a value, if it has one that depends on no other key but `tcp.base`; without a base, if it
/// depends on none.
pub(crate) fn default_item(row: &Key, table: &str, at: Place, base: Option<TcpBase>) -> Option<Item> {
    let literal = match row.default {
        WhenAbsent::Is(literal) => literal,
        WhenAbsent::ByBase { rfc, bsd44, linux } => match base? {
            TcpBase::Rfc => rfc,
            TcpBase::Bsd44 => bsd44,
            TcpBase::Linux => linux,
        },
        WhenAbsent::Required(_) | WhenAbsent::Words(_) => return None,
    };
    let data = match literal {
        Literal::Text(text) => Data::Text(text.to_owned()),
        Literal::Whole(number) => Data::Whole(number),
        Literal::Flag(flag) => Data::Flag(flag),
    };
    let key = if table.is_empty() { row.name.to_owned() } else { format!("{table}.{}", row.name) };
    let mut checker = Checker::default();
    let mut item = checker.item(row.kind, &Node { data, at }, &key)?;
    not_given(&mut item);
    Some(item)
}

fn not_given(item: &mut Item) {
    item.given = false;
    if let Value::Table(form) = &mut item.value {
        form.items.iter_mut().for_each(|named| not_given(&mut named.item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Kind, ROOT, Section};

    /// Every section of the language, once.
    fn sections(section: &'static Section, seen: &mut Vec<&'static Section>) {
        if seen.contains(&section) {
            return;
        }
        seen.push(section);
        let kinds = section.keys.iter().map(|row| row.kind).chain(section.others);
        for kind in kinds {
            let below = match kind {
                Kind::List { of, .. } => of.section(),
                kind => kind.section(),
            };
            if let Some(below) = below {
                sections(below, seen);
            }
        }
    }

    #[test]
    fn every_default_is_a_right_value_and_every_key_says_what_it_means() {
        let mut all = Vec::new();
        sections(&ROOT, &mut all);
        assert!(all.len() > 15, "the walk found only {} sections", all.len());
        for row in all.iter().flat_map(|section| section.keys) {
            assert!(!row.about.is_empty(), "{} has no description", row.name);
            for base in [None, Some(TcpBase::Rfc), Some(TcpBase::Bsd44), Some(TcpBase::Linux)] {
                let has_default = match row.default {
                    WhenAbsent::Is(_) => true,
                    WhenAbsent::ByBase { .. } => base.is_some(),
                    WhenAbsent::Required(_) | WhenAbsent::Words(_) => false,
                };
                assert_eq!(
                    default_item(row, "", Place::default(), base).is_some(),
                    has_default,
                    "{}",
                    row.name
                );
            }
        }
    }

    #[test]
    fn every_example_of_a_required_key_is_right() {
        let mut all = Vec::new();
        sections(&ROOT, &mut all);
        for row in all.iter().flat_map(|section| section.keys) {
            let WhenAbsent::Required(example) = row.default else { continue };
            let node =
                crate::document::parse_toml(&format!("{} = {example}", row.name), 0).expect("it is TOML");
            let entry = node.entry(row.name).expect("it is one key");
            let mut checker = Checker::default();
            assert!(
                checker.item(row.kind, &entry.node, row.name).is_some(),
                "{}: {:?}",
                row.name,
                checker.problems
            );
        }
    }
}
