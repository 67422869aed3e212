//! One walk over the tree, with the table in hand.

use tidegate_core::plan::TcpBase;

use super::value::{Form, Item, Named, Value};
use super::{name_complaint, nearest};
use crate::document::{Data, Node, Place, literal};
use crate::error::Problem;
use crate::table::{Default, Key, Kind, Literal, Section, Word};
use crate::units::{self, Amount, Dim, example};

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
        let mut items: Vec<Named> = Vec::new();
        for entry in entries.iter().filter(|entry| !matches!(entry.node.data, Data::Null)) {
            let below = if key.is_empty() { entry.key.clone() } else { format!("{key}.{}", entry.key) };
            let row = section.find(&entry.key);
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
                items.push(Named { name: entry.key.clone(), name_at: entry.key_at, item });
            }
        }
        self.complete(section, node, key, &mut items);
        Some(Form { section, at: node.at, key: key.to_owned(), items })
    }

    /// Required keys, alternatives and defaults.
    fn complete(&mut self, section: &'static Section, node: &Node, key: &str, items: &mut Vec<Named>) {
        let written =
            |name: &str| node.entry(name).is_some_and(|entry| !matches!(entry.node.data, Data::Null));
        let choices = || section.keys.iter().filter(|row| row.kind != Kind::Later).map(|row| row.name);
        let list = || choices().collect::<Vec<_>>().join(", ");
        if section.one_of {
            let given: Vec<&Key> = section.keys.iter().filter(|row| written(row.name)).collect();
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
                    self.push(Problem::new(at, key, problem).help("keep one of the two"));
                }
                _ => {}
            }
            return;
        }
        for row in section.keys.iter().filter(|row| !written(row.name)) {
            if let Default::Required(example) = row.default {
                let problem = format!("{} is missing", row.name);
                let help = format!("add {} = {example}", row.name);
                self.push(Problem::new(node.at, key, problem).help(help).missing());
            } else if let Some(item) = default_item(row, key, node.at, TcpBase::Rfc)
                && !matches!(row.default, Default::ByBase { .. })
            {
                items.push(Named { name: row.name.to_owned(), name_at: node.at, item });
            }
        }
    }

    fn push(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn item(&mut self, kind: Kind, node: &Node, key: &str) -> Option<Item> {
        let value = self.value(kind, node, key)?;
        Some(Item { value, at: node.at, key: key.to_owned(), given: true })
    }

    fn value(&mut self, kind: Kind, node: &Node, key: &str) -> Option<Value> {
        match (kind, &node.data) {
            (Kind::AnyOf(kinds), _) => {
                let Some(kind) = kinds.iter().find(|kind| takes(**kind, node)) else {
                    return self.wrong_kind(kind, node, key);
                };
                if let Kind::Choice(words) = *kind
                    && let Data::Text(text) = &node.data
                {
                    let others = kinds.iter().filter(|other| !matches!(other, Kind::Choice(_)));
                    let others: String = others.map(|other| format!(", or {}", expected(*other))).collect();
                    return self.choice(words, &others, text, node, key);
                }
                self.value(*kind, node, key)
            }
            (Kind::Flag, Data::Flag(flag)) => Some(Value::Flag(*flag)),
            (Kind::Text, Data::Text(text)) => Some(Value::Text(text.clone())),
            (Kind::Whole { min, max }, Data::Whole(number)) => self.whole(*number, min, max, node, key),
            (Kind::Whole { max, .. }, Data::Real(number)) if number.fract() == 0.0 && *number > 1e15 => {
                let problem = format!("{number:.0} is too large");
                self.push(Problem::new(node.at, key, problem).help(format!("at most {max}")));
                None
            }
            (Kind::Probability, _) => self.probability(node, key),
            (Kind::Quantity { dim, zero, words }, _) => self.quantity(dim, zero, words, node, key),
            (Kind::Choice(words), Data::Text(text)) => self.choice(words, "", text, node, key),
            (Kind::List { of, min }, Data::List(nodes)) => self.list(*of, min, nodes, node, key),
            (Kind::Tuple(kinds), Data::List(nodes)) if kinds.len() == nodes.len() => {
                let items = kinds.iter().zip(nodes).map(|(kind, node)| self.item(*kind, node, key));
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
            let item = default_item(other, key, node.at, TcpBase::Rfc)?;
            Some(Named { name: other.name.to_owned(), name_at: node.at, item })
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

    fn whole(&mut self, number: i64, min: u64, max: u64, node: &Node, key: &str) -> Option<Value> {
        match u64::try_from(number) {
            Ok(value) if (min..=max).contains(&value) => return Some(Value::Whole(value)),
            Ok(value) if value < min => {
                self.push(
                    Problem::new(node.at, key, format!("{number} is too small"))
                        .help(format!("at least {min}")),
                );
            }
            Ok(_) => {
                self.push(
                    Problem::new(node.at, key, format!("{number} is too large"))
                        .help(format!("at most {max}")),
                );
            }
            Err(_) => {
                self.push(
                    Problem::new(node.at, key, format!("{number} is negative"))
                        .help(format!("at least {min}")),
                );
            }
        }
        None
    }

    fn probability(&mut self, node: &Node, key: &str) -> Option<Value> {
        let (number, shown) = match &node.data {
            Data::Whole(number) => (*number as f64, number.to_string()),
            Data::Real(number) => (*number, number.to_string()),
            Data::Text(text) => {
                let number =
                    text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
                let Some(number) = number else {
                    let problem = format!("{text:?} is not a probability");
                    self.push(
                        Problem::new(node.at, key, problem)
                            .help("write a bare number such as 0.01, or \"1%\""),
                    );
                    return None;
                };
                (number / 100.0, format!("{text:?}"))
            }
            _ => return self.wrong_kind(Kind::Probability, node, key),
        };
        if (0.0..=1.0).contains(&number) {
            return Some(Value::Real(number));
        }
        let problem = format!("{shown} is not a probability");
        self.push(
            Problem::new(node.at, key, problem)
                .help("a probability is from 0 to 1, or from \"0%\" to \"100%\""),
        );
        None
    }

    fn quantity(
        &mut self,
        dim: Dim,
        zero: bool,
        words: &'static [Word],
        node: &Node,
        key: &str,
    ) -> Option<Value> {
        let text = match &node.data {
            Data::Text(text) => text,
            Data::Whole(_) | Data::Real(_) => {
                let number = match node.data {
                    Data::Whole(number) => number.to_string(),
                    Data::Real(number) => number.to_string(),
                    _ => String::new(),
                };
                let complaint = match units::read(&number, dim) {
                    Err(complaint) => complaint,
                    Ok(_) => units::Complaint { problem: format!("{number} has no unit"), help: None },
                };
                self.push(Problem::new(node.at, key, complaint.problem).with_help(complaint.help));
                return None;
            }
            _ => return self.wrong_kind(Kind::Quantity { dim, zero, words }, node, key),
        };
        if let Some(word) = words.iter().find(|word| word.name == text) {
            return Some(Value::Word(word.name));
        }
        let amount = match units::read(text, dim) {
            Ok(amount) => amount,
            Err(complaint) => {
                let word = nearest(text, words.iter().map(|word| word.name));
                let help = word.map(|word| format!("did you mean {word:?}?")).or(complaint.help);
                let starts_as_number = text.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
                let listed = words.iter().map(|word| format!(", or {:?}", word.name)).collect::<String>();
                let help =
                    help.map(|help| if starts_as_number || word.is_some() { help } else { help + &listed });
                self.push(Problem::new(node.at, key, complaint.problem).with_help(help));
                return None;
            }
        };
        if amount.is_zero() && !zero {
            let problem = format!("{text:?} is zero");
            self.push(
                Problem::new(node.at, key, problem).help(format!("write more, such as {:?}", example(dim))),
            );
            return None;
        }
        Some(match amount {
            Amount::Time(span) => Value::Time(span),
            Amount::Speed(speed) => Value::Speed(speed),
            Amount::Bytes(bytes) => Value::Bytes(bytes),
            Amount::Packets(packets) => Value::Packets(packets),
            Amount::Segments(segments) => Value::Segments(segments),
        })
    }

    fn choice(
        &mut self,
        words: &'static [Word],
        others: &str,
        text: &str,
        node: &Node,
        key: &str,
    ) -> Option<Value> {
        let open = || words.iter().filter(|word| !word.later).map(|word| word.name);
        let all = || if open().count() > 1 { format!("one of {}", quoted(open())) } else { quoted(open()) };
        match words.iter().find(|word| word.name == text) {
            Some(word) if !word.later => return Some(Value::Word(word.name)),
            Some(word) => {
                let problem = format!("{text:?} ({}) is not supported yet", word.about);
                self.push(Problem::new(node.at, key, problem).help(format!("write {}{others}", all())));
            }
            None => {
                let help = match nearest(text, open()) {
                    Some(word) => format!("did you mean {word:?}? ({}{others})", all()),
                    None => format!("write {}{others}", all()),
                };
                self.push(Problem::new(node.at, key, format!("{text:?} is not known")).help(help));
            }
        }
        None
    }

    fn later(&mut self, at: Place, key: &str, row: Option<&Key>) {
        let about = row.map_or("", |row| row.about).trim_end_matches('.');
        let problem = format!("not supported yet ({})", lower_first(about));
        self.push(Problem::new(at, key, problem).help("take the key out"));
    }

    fn unknown_key(&mut self, section: &'static Section, at: Place, key: &str, name: &str) {
        let names = || section.keys.iter().filter(|row| row.kind != Kind::Later).map(|row| row.name);
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("keys here: {}", names().collect::<Vec<_>>().join(", ")),
        };
        self.push(Problem::new(at, key, "unknown key").help(help));
    }

    fn wrong_kind<T>(&mut self, kind: Kind, node: &Node, key: &str) -> Option<T> {
        let found = match &node.data {
            Data::Whole(number) => format!("the number {number}"),
            Data::Real(number) => format!("the number {number}"),
            Data::Flag(flag) => flag.to_string(),
            Data::List(list) => format!("a list of {}", units::plural(list.len() as u64, "value")),
            Data::Text(text) if text.chars().count() <= 40 => format!("the text {text:?}"),
            _ => node.kind_name().to_owned(),
        };
        let expected = expected(kind);
        let problem = format!("this is {found}, not {}", brief(&expected));
        let help = rewritten(kind, node).unwrap_or(expected);
        self.push(Problem::new(node.at, key, problem).help(format!("write {help}")));
        None
    }
}

/// The same value in the form that was meant, if that is plain.
fn rewritten(kind: Kind, node: &Node) -> Option<String> {
    match (kind, &node.data) {
        (Kind::Whole { .. }, Data::Text(text)) => {
            text.trim().parse::<u64>().ok().map(|number| number.to_string())
        }
        (Kind::Whole { .. }, Data::Real(number)) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Some(format!("{number:.0}"))
        }
        (Kind::Flag, Data::Text(text)) if matches!(text.as_str(), "true" | "false") => Some(text.clone()),
        (Kind::Flag, Data::Whole(0)) => Some("false".to_owned()),
        (Kind::Flag, Data::Whole(1)) => Some("true".to_owned()),
        (Kind::Text, Data::Whole(_) | Data::Flag(_)) => Some(format!("\"{}\"", literal(node))),
        (Kind::List { of, .. }, _) if takes(*of, node) => Some(format!("[{}]", literal(node))),
        _ => None,
    }
}

/// The first half of a message needs no examples.
fn brief(expected: &str) -> &str {
    let end = [" such as ", ", each "].iter().filter_map(|mark| expected.find(mark)).min();
    end.map_or(expected, |end| &expected[..end])
}

/// Whether a node has the shape that a kind reads (its content may still be wrong).
fn takes(kind: Kind, node: &Node) -> bool {
    match (kind, &node.data) {
        (Kind::AnyOf(kinds), _) => kinds.iter().any(|kind| takes(*kind, node)),
        (Kind::Flag, Data::Flag(_))
        | (Kind::Text | Kind::Choice(_), Data::Text(_))
        | (Kind::Whole { .. }, Data::Whole(_))
        | (Kind::Probability | Kind::Quantity { .. }, Data::Whole(_) | Data::Real(_) | Data::Text(_))
        | (Kind::List { .. } | Kind::Tuple(_), Data::List(_))
        | (Kind::Form(_), Data::Table(_))
        | (Kind::Free, _) => true,
        (Kind::Form(section), _) => {
            section.short.and_then(|short| section.find(short)).is_some_and(|row| takes(row.kind, node))
        }
        _ => false,
    }
}

/// What a kind takes, in words, with an example.
fn expected(kind: Kind) -> String {
    match kind {
        Kind::Flag => "true or false".to_owned(),
        Kind::Text => "text in quotes".to_owned(),
        Kind::Whole { min, .. } => format!("a whole number such as {}", min.max(1)),
        Kind::Probability => "a probability such as 0.01 or \"1%\"".to_owned(),
        Kind::Quantity { dim, words, .. } => {
            let words: String = words.iter().map(|word| format!(" or {:?}", word.name)).collect();
            format!("text with a unit such as {:?}{words}", example(dim))
        }
        Kind::Choice(words) => quoted(words.iter().filter(|word| !word.later).map(|word| word.name)),
        Kind::List { of, .. } => format!("a list, each value {}", expected(*of)),
        Kind::Tuple(kinds) => {
            let parts: Vec<_> = kinds.iter().map(|kind| expected(*kind)).collect();
            format!("a list of {}: {}", kinds.len(), parts.join(", then "))
        }
        Kind::Form(section) => match section.short.and_then(|short| section.find(short)) {
            Some(row) => expected(row.kind),
            None if section.keys.is_empty() => match section.names {
                Some(what) => format!("a table such as [{what}.NAME]"),
                None => "a table such as { \"gate.link.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"] }".to_owned(),
            },
            None => {
                let names = section.keys.iter().filter(|row| row.kind != Kind::Later).map(|row| row.name);
                format!("a table with {}", names.collect::<Vec<_>>().join(", "))
            }
        },
        Kind::AnyOf(kinds) => kinds.iter().map(|kind| expected(*kind)).collect::<Vec<_>>().join(", or "),
        Kind::Free => "a value".to_owned(),
        Kind::Later => "nothing".to_owned(),
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The default of a key as a value, if it has one that does not depend on other keys.
pub(crate) fn default_item(row: &Key, table: &str, at: Place, base: TcpBase) -> Option<Item> {
    let literal = match row.default {
        Default::Is(literal) => literal,
        Default::ByBase { rfc, bsd44, linux } => match base {
            TcpBase::Rfc => rfc,
            TcpBase::Bsd44 => bsd44,
            TcpBase::Linux => linux,
        },
        Default::Required(_) | Default::Words(_) => return None,
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
    use crate::table::ROOT;

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
            for base in [TcpBase::Rfc, TcpBase::Bsd44, TcpBase::Linux] {
                let has_default = matches!(row.default, Default::Is(_) | Default::ByBase { .. });
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
            let Default::Required(example) = row.default else { continue };
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
