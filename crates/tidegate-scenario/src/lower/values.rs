//! Values that several keys have in common.

use tidegate_core::plan::{HoldingPlan, JitterPlan};
use tidegate_core::units::{Rate, Span, Time};

use super::notes::Notes;
use crate::check::{Form, Item, Value};
use crate::table::codepoints::named;
use crate::trace::TraceError;
use crate::units::Amount;

/// The largest IP packet.
pub(crate) const LARGEST_PACKET: u32 = 65_535;
/// A larger quantum makes turns of seconds, at no rate that anybody shares.
pub(crate) const LARGEST_QUANTUM: u32 = 1_000_000;

/// The colours of packets, in the order of plans.
pub(crate) const COLOURS: [&str; 3] = ["green", "yellow", "red"];

/// A time in a file counts from the start of the run.
pub(crate) fn time(span: Option<Span>) -> Time {
    Time::from_picos(span.unwrap_or(Span::ZERO).picos())
}

/// The bytes that a key gives, at most `most`. Reports a problem and clamps.
pub(crate) fn bytes_u32(item: Option<&Item>, most: u32, notes: &mut Notes) -> u32 {
    let Some(item) = item else { return 0 };
    match u32::try_from(item.bytes().unwrap_or(0)) {
        Ok(bytes) if bytes <= most => bytes,
        _ => {
            notes.wrong(item, format!("this is more than {most} B"), format!("write \"{most} B\" or less"));
            most
        }
    }
}

/// A probability or a share in 10⁻¹⁸, exact to a millionth of a millionth.
pub(crate) fn probability(form: &Form, name: &str, default: u64) -> u64 {
    form.real(name).map_or(default, |share| (share * 1e12).round() as u64 * 1_000_000)
}

/// How long something lasts each time.
pub(crate) fn holding(form: &Form, name: &str) -> HoldingPlan {
    match form.get(name).map(|item| &item.value) {
        Some(Value::Amount(Amount::Time(span))) => HoldingPlan::Constant(*span),
        Some(Value::Table(law)) => HoldingPlan::Exponential(law.span("exponential").unwrap_or(Span::ZERO)),
        _ => HoldingPlan::Constant(Span::ZERO),
    }
}

/// A delay that varies; a length of zero is none.
pub(crate) fn jitter(form: &Form) -> JitterPlan {
    let law = match form.get("jitter").map(|item| &item.value) {
        Some(Value::Amount(Amount::Time(most))) => return uniform(*most),
        Some(Value::Table(law)) => law,
        _ => return JitterPlan::None,
    };
    let span = |of: &Form, key| of.span(key).filter(|span| *span > Span::ZERO);
    if let Some(wakeup) = law.table("wakeup") {
        let pause = wakeup.span("pause").unwrap_or(Span::ZERO);
        return span(wakeup, "latency")
            .map_or(JitterPlan::None, |latency| JitterPlan::Wakeup { latency, pause });
    }
    span(law, "exponential").map_or_else(
        || uniform(law.span("uniform").unwrap_or(Span::ZERO)),
        |mean| JitterPlan::Exponential { mean },
    )
}

fn uniform(most: Span) -> JitterPlan {
    if most > Span::ZERO { JitterPlan::Uniform { most } } else { JitterPlan::None }
}

/// A differentiated services codepoint by number or name; default forwarding, 0, where none is written.
pub(crate) fn dscp(item: Option<&Item>) -> u8 {
    let Some(item) = item else { return 0 };
    match &item.value {
        Value::Whole(number) => *number as u8,
        Value::Word(name) => named(name).expect("the words that a codepoint may have are those of the table"),
        other => unreachable!("a codepoint is a number or a word, and not {other:?}"),
    }
}

/// What is wrong with a file that a key names.
pub(crate) fn unreadable(item: &Item, error: &TraceError, notes: &mut Notes) {
    notes.wrong(item, error.what(), &*error.help);
}

/// A rate that is zero throughout is a problem.
pub(crate) fn never_passes(item: &Item, notes: &mut Notes) {
    notes.wrong(
        item,
        "the rate is always 0: no packet would ever pass",
        "write a rate above zero; an outage is a step, such as rate.steps = [[\"0 s\", \"10 Mbit/s\"], [\"6 s\", \
         \"0 bit/s\"]]",
    );
}

/// A rate outside its limits is a problem. A limit is given with the key that sets it; without `item`, the rate
/// was not written and needs no check.
pub(crate) fn check_between(
    item: Option<&Item>,
    rate: Rate,
    least: Option<(&str, Rate)>,
    most: Option<(&str, Rate)>,
    notes: &mut Notes,
) {
    let Some(item) = item else { return };
    if let Some((name, most)) = most.filter(|(_, most)| rate > *most) {
        notes.wrong(item, format!("{rate} is more than {name}, {most}"), format!("write \"{most}\" or less"));
    } else if let Some((name, least)) = least.filter(|(_, least)| rate < *least) {
        notes.wrong(
            item,
            format!("{rate} is less than {name}, {least}"),
            format!("write \"{least}\" or more"),
        );
    }
}

/// What a key's word means: one of `meanings`, of which the first holds where the key is absent. A word that has
/// a row in the table of keys but no meaning here is reported.
pub(crate) fn choice<T: Copy, const N: usize>(
    item: Option<&Item>,
    meanings: [(&str, T); N],
    notes: &mut Notes,
) -> T {
    let default = meanings[0].1;
    let Some((item, word)) = item.and_then(|item| Some((item, item.word()?))) else { return default };
    let known = meanings.iter().find(|(name, _)| *name == word);
    known.map_or_else(
        || {
            no_meaning(item, word, notes);
            default
        },
        |(_, meaning)| *meaning,
    )
}

/// Reports a name that the table of keys has, but that makes no part of the plan.
pub(crate) fn no_meaning(item: &Item, name: &str, notes: &mut Notes) {
    let problem = format!("{name:?} has a row in the table of keys, but nothing here makes a plan of it");
    notes.wrong(item, problem, "this is a mistake in Tidegate; use another value");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Place;

    #[test]
    fn a_word_without_a_meaning_is_reported() {
        let item = |word| Item {
            value: Value::Word(word),
            at: Place::default(),
            key: "a".to_owned(),
            given: true,
            computed: None,
        };
        let mut notes = Notes::default();
        let meanings = [("one", 1), ("two", 2)];
        assert_eq!(choice(None, meanings, &mut notes), 1);
        assert_eq!(choice(Some(&item("two")), meanings, &mut notes), 2);
        assert_eq!(notes.problems.len(), 0);
        assert_eq!(choice(Some(&item("three")), meanings, &mut notes), 1);
        assert_eq!(notes.problems.len(), 1);
    }
}
