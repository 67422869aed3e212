//! One walk over the tree, with the table in hand.

use super::value::{Form, Item, Named, Value};
use super::words::{expected, lower_first, reads, takes};
use crate::document::{Data, Node, Place};
use crate::error::Problem;
use crate::spelling::{key_meant, name_complaint};
use crate::table::{Key, Kind, Section, WhenAbsent};
use crate::units;

mod default;

pub(crate) use default::default_item;

/// So many gates, or flows, may be written; each takes some kilobytes with its defaults.
const MOST_TABLES: usize = 100_000;

/// Checks trees and collects what is wrong.
#[derive(Default)]
pub(crate) struct Checker {
    pub(crate) problems: Vec<Problem>,
}

impl Checker {
    /// The typed table at `node`; problems are collected, what has one is left out.
    pub(crate) fn form(&mut self, section: &'static Section, node: &Node, key: &str) -> Option<Form> {
        let Data::Table(entries) = &node.data else {
            return self.wrong_kind(Kind::Form(section), node, key);
        };
        if section.names.is_some() && entries.len() > MOST_TABLES {
            let problem = format!("{} tables: at most {MOST_TABLES} are read", entries.len());
            self.push(
                Problem::new(node.at, key, problem).help("use count = 1000 to make many flows of one table"),
            );
            return None;
        }
        let mut items: Vec<Named> = Vec::new();
        for entry in entries.iter().filter(|entry| !matches!(entry.node.data, Data::Null)) {
            let below = if key.is_empty() { entry.key.clone() } else { format!("{key}.{}", entry.key) };
            let name = section.own_name(&entry.key);
            let row = section.find(name);
            if let Some(other) = items.iter().find(|other| row.is_some() && other.name == name) {
                let problem =
                    format!("{} and this key are two names of the same key", last_part(&other.item.key));
                self.push(Problem::new(entry.key_at, &below, problem).help("remove one of the two"));
                continue;
            }
            let Some(kind) = row.map(|row| row.kind).or(section.others) else {
                self.unknown_key(section, entry.key_at, &below, &entry.key);
                continue;
            };
            if let (Some(_), Some(complaint)) = (section.names, name_complaint(&entry.key)) {
                let problem = Problem::new(entry.key_at, &below, complaint.problem);
                self.problems.push(problem.with_help(complaint.help));
                continue;
            }
            if kind == Kind::Later {
                self.later(entry.key_at, &below, row);
                continue;
            }
            if let Some(item) = self.item(kind, &entry.node, &below) {
                items.push(Named { name: name.to_owned(), name_at: entry.key_at, item });
            }
        }
        self.complete(section, node, key, &mut items);
        Some(Form { section, at: node.at, key: key.to_owned(), items })
    }

    /// Required keys, alternatives and defaults.
    fn complete(&mut self, section: &'static Section, node: &Node, key: &str, items: &mut Vec<Named>) {
        let present =
            |name: &str| node.entry(name).is_some_and(|entry| !matches!(entry.node.data, Data::Null));
        let written = |name: &str| present(name) || section.aliases_of(name).any(present);
        let choices = || section.keys.iter().filter(|row| row.kind != Kind::Later).map(|row| row.name);
        let list = || choices().collect::<Vec<_>>().join(", ");
        if section.one_of {
            let alternative = |row: &&Key| written(row.name) && !section.beside.contains(&row.name);
            let given: Vec<&Key> = section.keys.iter().filter(alternative).collect();
            match given.as_slice() {
                [] if matches!(&node.data, Data::Table(entries) if entries.is_empty()) => {
                    self.push(
                        Problem::new(node.at, key, "the table is empty")
                            .help(format!("give one of {}", list())),
                    );
                }
                [first, second, ..] => {
                    let at = node.entry(second.name).map_or(node.at, |entry| entry.key_at);
                    let problem = format!("{} and {} exclude each other", first.name, second.name);
                    self.push(Problem::new(at, key, problem).help("remove one of the two"));
                }
                _ => {}
            }
            return;
        }
        for row in section.keys.iter().filter(|row| !written(row.name)) {
            if let WhenAbsent::Required(example) = row.default {
                let problem = format!("{} is missing", row.name);
                let help = format!("add {} = {example}", row.name);
                self.push(Problem::new(node.at, key, problem).help(help).missing());
            } else if let Some(item) = default_item(row, key, node.at, None) {
                items.push(Named { name: row.name.to_owned(), name_at: node.at, item });
            }
        }
    }

    pub(super) fn push(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(super) fn item(&mut self, kind: Kind, node: &Node, key: &str) -> Option<Item> {
        let value = self.value(kind, node, key)?;
        Some(Item { value, at: node.at, key: key.to_owned(), given: true, computed: None })
    }

    fn value(&mut self, kind: Kind, node: &Node, key: &str) -> Option<Value> {
        match (kind, &node.data) {
            (_, Data::Huge(number)) => self.huge(number, kind, node, key),
            (Kind::AnyOf(kinds), _) => {
                let mut fit = kinds.iter().filter(|any| takes(**any, node));
                // Of two kinds that a text can be, the one that reads it.
                let read = fit.clone().find(|any| reads(**any, node));
                let Some(fitting) = read.or_else(|| fit.next()) else {
                    return self.wrong_kind(kind, node, key);
                };
                if let Kind::Choice(words) = *fitting
                    && let Data::Text(text) = &node.data
                {
                    let others = kinds.iter().filter(|other| !matches!(other, Kind::Choice(_)));
                    let others: String = others.map(|other| format!(", or {}", expected(*other))).collect();
                    return self.choice(words, &others, text, node, key);
                }
                self.value(*fitting, node, key)
            }
            (Kind::Flag, Data::Flag(flag)) => Some(Value::Flag(*flag)),
            (Kind::Text | Kind::Python, Data::Text(text)) => Some(Value::Text(text.clone())),
            (Kind::Whole { min, max }, Data::Whole(number)) => self.whole(*number, min, max, node, key),
            (Kind::Whole { max, .. }, Data::Real(number)) if number.fract() == 0.0 && *number > 1e15 => {
                let problem = format!("{number:.0} is too large");
                self.push(Problem::new(node.at, key, problem).help(format!("at most {max}")));
                None
            }
            (Kind::Number { zero }, Data::Whole(_) | Data::Real(_)) => self.number(zero, node, key),
            (Kind::Signed { min, max }, Data::Whole(number)) => self.signed(*number, min, max, node, key),
            (Kind::Probability, _) => self.probability(node, key),
            (Kind::Share, _) => self.share(node, key),
            (Kind::Quantity { dim, zero, words }, _) => self.quantity(dim, zero, words, node, key),
            (Kind::Choice(words), Data::Text(text)) => self.choice(words, "", text, node, key),
            (Kind::List { of, min }, Data::List(nodes)) => self.list(*of, min, nodes, node, key),
            (Kind::Tuple(kinds), Data::List(nodes)) if kinds.len() == nodes.len() => {
                let items = kinds.iter().zip(nodes).map(|(of, part)| self.item(*of, part, key));
                items.collect::<Option<Vec<_>>>().map(Value::List)
            }
            (Kind::Form(section), Data::Table(_)) => self.form(section, node, key).map(Value::Table),
            (Kind::Form(section), _) => self.short_form(section, node, key),
            (Kind::Free, _) => Some(Value::Free),
            _ => self.wrong_kind(kind, node, key),
        }
    }

    /// `queue = X` for `queue.limit = X`.
    fn short_form(&mut self, section: &'static Section, node: &Node, key: &str) -> Option<Value> {
        let Some(row) = section.short.and_then(|short| section.find(short)) else {
            return self.wrong_kind(Kind::Form(section), node, key);
        };
        let item = self.item(row.kind, node, key)?;
        let mut items = vec![Named { name: row.name.to_owned(), name_at: node.at, item }];
        let others = section.keys.iter().filter(|other| other.name != row.name);
        items.extend(others.filter_map(|other| {
            let filled = default_item(other, key, node.at, None)?;
            Some(Named { name: other.name.to_owned(), name_at: node.at, item: filled })
        }));
        Some(Value::Table(Form { section, at: node.at, key: key.to_owned(), items }))
    }

    fn list(&mut self, of: Kind, min: usize, nodes: &[Node], whole: &Node, key: &str) -> Option<Value> {
        if nodes.len() < min {
            let problem = match nodes.len() {
                0 => "the list is empty".to_owned(),
                len => format!("the list has only {}", units::plural(len as u64, "value")),
            };
            let help = format!("write {} or more, each {}", units::plural(min as u64, "value"), expected(of));
            self.push(Problem::new(whole.at, key, problem).help(help));
            return None;
        }
        let items: Vec<_> = nodes.iter().map(|node| self.item(of, node, key)).collect();
        items.into_iter().collect::<Option<Vec<_>>>().map(Value::List)
    }

    fn later(&mut self, at: Place, key: &str, row: Option<&Key>) {
        let about = row.map_or("", |row| row.about).trim_end_matches('.');
        let problem = format!("not supported yet ({})", lower_first(about));
        self.push(Problem::new(at, key, problem).help("take the key out"));
    }

    fn unknown_key(&mut self, section: &'static Section, at: Place, key: &str, name: &str) {
        let keys = section.keys.iter().filter(|row| row.kind != Kind::Later).map(|row| row.name);
        let names = || keys.clone().chain(section.aliases.iter().map(|alias| alias.name));
        let known = section.hints.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let help = known
            .map(|(_, hint)| (*hint).to_owned())
            .or_else(|| key_meant(name, names()))
            .unwrap_or_else(|| format!("keys here: {}", names().collect::<Vec<_>>().join(", ")));
        self.push(Problem::new(at, key, "unknown key").help(help));
    }
}

/// The last of the names in a dotted key.
fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}
