//! Single values: numbers, probabilities, amounts with a unit, words.

use super::value::Value;
use super::walk::Checker;
use super::words::{brief, expected, quoted, rewritten};
use crate::document::{Data, Node};
use crate::error::Problem;
use crate::spelling::value_meant;
use crate::table::{Kind, Word};
use crate::units::{self, Amount, Dim, example};

impl Checker {
    pub(super) fn whole(&mut self, number: i64, min: u64, max: u64, node: &Node, key: &str) -> Option<Value> {
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

    /// A whole number that 64 bits do not hold, so that no key takes it.
    pub(super) fn huge<T>(&mut self, number: &str, kind: Kind, node: &Node, key: &str) -> Option<T> {
        let below = number.starts_with('-');
        let problem = format!("{number} is too {}", if below { "small" } else { "large" });
        let help = match range(kind) {
            Some((least, _)) if below => format!("at least {least}"),
            Some((_, most)) => format!("at most {most}"),
            None => format!("write {}", expected(kind)),
        };
        self.push(Problem::new(node.at, key, problem).help(help));
        None
    }

    /// A whole number that may be below zero.
    pub(super) fn signed(
        &mut self,
        number: i64,
        min: i64,
        max: i64,
        node: &Node,
        key: &str,
    ) -> Option<Value> {
        if (min..=max).contains(&number) {
            return Some(Value::Real(number as f64));
        }
        let (what, bound) = if number < min { ("small", min) } else { ("large", max) };
        let help = format!("at {} {bound}", if number < min { "least" } else { "most" });
        self.push(Problem::new(node.at, key, format!("{number} is too {what}")).help(help));
        None
    }

    pub(super) fn probability(&mut self, node: &Node, key: &str) -> Option<Value> {
        let example = "write a bare number such as 0.01, or \"1%\"";
        let (number, shown) = self.part(Kind::Probability, "a probability", example, node, key)?;
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

    pub(super) fn share(&mut self, node: &Node, key: &str) -> Option<Value> {
        let example = "write a bare number such as 0.5, or \"50%\"";
        let (number, shown) = self.part(Kind::Share, "a share", example, node, key)?;
        if number > 0.0 && number <= 1.0 {
            return Some(Value::Real(number));
        }
        let problem = format!("{shown} is not a share");
        self.push(
            Problem::new(node.at, key, problem)
                .help("a share is above 0 and not above 1, or such as \"50%\""),
        );
        None
    }

    /// A part of one, and how it was written.
    fn part(
        &mut self,
        kind: Kind,
        what: &str,
        example: &str,
        node: &Node,
        key: &str,
    ) -> Option<(f64, String)> {
        Some(match &node.data {
            Data::Whole(number) => (*number as f64, number.to_string()),
            Data::Real(number) => (*number, number.to_string()),
            Data::Text(text) => {
                let number =
                    text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
                let Some(number) = number else {
                    let problem = format!("{text:?} is not {what}");
                    self.push(Problem::new(node.at, key, problem).help(example));
                    return None;
                };
                (number / 100.0, format!("{text:?}"))
            }
            _ => return self.wrong_kind(kind, node, key),
        })
    }

    /// A finite number above 0.
    pub(super) fn number(&mut self, zero: bool, node: &Node, key: &str) -> Option<Value> {
        let number = match &node.data {
            Data::Whole(number) => *number as f64,
            Data::Real(number) => *number,
            _ => return self.wrong_kind(Kind::Number { zero }, node, key),
        };
        if number.is_finite() && (number > 0.0 || (zero && number == 0.0)) {
            return Some(Value::Real(number));
        }
        let (problem, help) = if zero {
            (format!("{number} is below 0"), "write 0 or a number above it, such as 1.5")
        } else {
            (format!("{number} is not above 0"), "write a number above 0, such as 1.5")
        };
        self.push(Problem::new(node.at, key, problem).help(help));
        None
    }

    pub(super) fn quantity(
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
                let meant = value_meant(text, words.iter().map(|word| word.name));
                let is_word = meant.is_some();
                let help = meant.or(complaint.help);
                let starts_as_number = text.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
                let listed = words.iter().map(|open| format!(", or {:?}", open.name)).collect::<String>();
                let help = help.map(|help| if starts_as_number || is_word { help } else { help + &listed });
                self.push(Problem::new(node.at, key, complaint.problem).with_help(help));
                return None;
            }
        };
        if amount.is_zero() && !zero {
            let problem = format!("{text:?} is zero");
            let bytes = matches!((dim, &amount), (Dim::Queue, Amount::Bytes(_)));
            let more = example(if bytes { Dim::Burst } else { dim });
            self.push(Problem::new(node.at, key, problem).help(format!("write more, such as {more:?}")));
            return None;
        }
        Some(Value::Amount(amount))
    }

    pub(super) fn choice(
        &mut self,
        words: &'static [Word],
        others: &str,
        text: &str,
        node: &Node,
        key: &str,
    ) -> Option<Value> {
        let open = || words.iter().map(|word| word.name);
        let all = || if open().count() > 1 { format!("one of {}", quoted(open())) } else { quoted(open()) };
        match words.iter().find(|word| word.name == text) {
            Some(word) => return Some(Value::Word(word.name)),
            None => {
                let help = match value_meant(text, open()) {
                    Some(question) => format!("{question} ({}{others})", all()),
                    None => format!("write {}{others}", all()),
                };
                self.push(Problem::new(node.at, key, format!("{text:?} is not known")).help(help));
            }
        }
        None
    }

    pub(super) fn wrong_kind<T>(&mut self, kind: Kind, node: &Node, key: &str) -> Option<T> {
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

/// The smallest and the largest whole number that a key takes.
fn range(kind: Kind) -> Option<(i128, i128)> {
    match kind {
        Kind::Whole { min, max } => Some((min.into(), max.into())),
        Kind::Signed { min, max } => Some((min.into(), max.into())),
        Kind::AnyOf(kinds) => kinds.iter().find_map(|each| range(*each)),
        _ => None,
    }
}
