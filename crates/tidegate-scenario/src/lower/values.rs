//! Values that several keys have in common.

use tidegate_core::plan::{HoldingPlan, JitterPlan};
use tidegate_core::units::{Span, Time};

use super::notes::Notes;
use crate::check::{Form, Item, Value};
use crate::trace::TraceError;

/// The largest IP packet.
pub(super) const LARGEST_PACKET: u32 = 65_535;

/// A time in a file counts from the start of the run.
pub(super) fn time(span: Option<Span>) -> Time {
    Time::from_picos(span.unwrap_or(Span::ZERO).picos())
}

/// A size that a field of 32 bits must hold; too large ones are problems.
pub(super) fn small(item: Option<&Item>, most: u32, notes: &mut Notes) -> u32 {
    let Some(item) = item else { return 0 };
    match u32::try_from(item.bytes().unwrap_or(0)) {
        Ok(bytes) if bytes <= most => bytes,
        _ => {
            notes.wrong(item, format!("this is more than {most} B"), format!("write \"{most} B\" or less"));
            most
        }
    }
}

/// How long something lasts each time.
pub(super) fn holding(form: &Form, name: &str) -> HoldingPlan {
    match form.get(name).map(|item| &item.value) {
        Some(Value::Time(span)) => HoldingPlan::Constant(*span),
        Some(Value::Table(law)) => HoldingPlan::Exponential(law.span("exponential").unwrap_or(Span::ZERO)),
        _ => HoldingPlan::Constant(Span::ZERO),
    }
}

/// A random delay; a length of zero is none.
pub(super) fn jitter(form: &Form) -> JitterPlan {
    let (law, longest) = match form.get("jitter").map(|item| &item.value) {
        Some(Value::Time(span)) => (None, Some(*span)),
        Some(Value::Table(law)) => (law.span("exponential"), law.span("uniform")),
        _ => (None, None),
    };
    match (law, longest) {
        (Some(mean), _) if mean > Span::ZERO => JitterPlan::Exponential { mean },
        (None, Some(most)) if most > Span::ZERO => JitterPlan::Uniform { most },
        _ => JitterPlan::None,
    }
}

/// What is wrong with a file that a key names.
pub(super) fn unreadable(item: &Item, error: &TraceError, notes: &mut Notes) {
    notes.wrong(item, error.what(), &error.help);
}
