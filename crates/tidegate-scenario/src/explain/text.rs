//! Values in words.

use tidegate_core::units::Rate;

use crate::check::{Item, Value};
use crate::table::{Kind, Word};

/// A value as it would be written, and what a word means.
fn value_text(kind: Kind, value: &Value) -> String {
    match value {
        Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Whole(number) => number.to_string(),
        Value::Real(number) if matches!(kind, Kind::Number { .. } | Kind::Signed { .. }) => {
            number.to_string()
        }
        Value::Real(number) => format!("{}%", number * 100.0),
        Value::Text(text) => text.clone(),
        Value::Word(word) => match about(kind, word) {
            Some(about) => format!("{word}: {about}"),
            None => (*word).to_owned(),
        },
        Value::Amount(amount) => amount.to_string(),
        Value::List(items) => {
            let below = match kind {
                Kind::List { of, .. } => *of,
                kind => kind,
            };
            let texts: Vec<String> = items.iter().map(|item| value_text(below, &item.value)).collect();
            match items.first().map(|item| &item.value) {
                Some(Value::List(_)) => {
                    texts.iter().map(|text| format!("[{text}]")).collect::<Vec<_>>().join(" ")
                }
                _ => texts.join(", "),
            }
        }
        Value::Table(form) => {
            let named = form.items.iter().filter(|named| named.item.given);
            let texts: Vec<String> = named
                .map(|named| {
                    let of = form.section.find(&named.name).map_or(Kind::Free, |row| row.kind);
                    format!("{} {}", named.name, value_text(of, &named.item.value))
                })
                .collect();
            texts.join(", ")
        }
        Value::Free => "as written".to_owned(),
    }
}

/// The value of a key; for a size that was computed, also what was written and from what it was computed.
pub(super) fn item_text(kind: Kind, item: &Item) -> String {
    let value = value_text(kind, &item.value);
    match &item.computed {
        Some(computed) => format!("{value} ({} = {})", computed.written, computed.from),
        None => value,
    }
}

/// A share of something.
pub(super) fn part(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn about(kind: Kind, name: &str) -> Option<&'static str> {
    let find = |words: &'static [Word]| words.iter().find(|word| word.name == name).map(|word| word.about);
    match kind {
        Kind::Quantity { words, .. } | Kind::Choice(words) => find(words),
        Kind::AnyOf(kinds) => kinds.iter().find_map(|each| about(*each, name)),
        _ => None,
    }
}

/// How long `bytes` take at `rate`, to three digits, for people.
pub(super) fn seconds_text(seconds: f64) -> String {
    let (size, unit) = if seconds >= 1.0 {
        (1.0, "s")
    } else if seconds >= 1e-3 {
        (1e-3, "ms")
    } else {
        (1e-6, "us")
    };
    format!("{} {unit}", three_digits(seconds / size))
}

/// A rate to three digits.
pub(super) fn rate_text(bps: f64) -> String {
    if !bps.is_finite() || bps < 0.0 {
        return "no limit".to_owned();
    }
    let step = 10_f64.powf((bps.max(1.0).log10() - 2.0).floor().max(0.0));
    Rate::from_bps(((bps / step).round() * step) as u64).to_string()
}

/// 2.4, 16.7, 120, 1340.
pub(super) fn three_digits(number: f64) -> String {
    let places = if number >= 100.0 {
        0
    } else if number >= 10.0 {
        1
    } else {
        2
    };
    let text = format!("{number:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
