//! Values that several queue disciplines have in common.

use tidegate_core::plan::{RatePlan, StepThreshold};
use tidegate_core::units::{PICOS_PER_SECOND, Span, Speed};

use crate::check::{Form, Item, Value};
use crate::lower::notes::Notes;
use crate::units::Amount;

/// A length of a queue, which the key `name` gives in packets, bytes or as a time.
pub(super) fn threshold(
    item: &Item,
    rate: &RatePlan,
    name: &str,
    notes: &mut Notes,
) -> Option<StepThreshold> {
    match &item.value {
        Value::Amount(Amount::Packets(packets)) => Some(StepThreshold::Packets(*packets)),
        Value::Amount(Amount::Bytes(bytes)) => Some(StepThreshold::Bytes(*bytes)),
        Value::Amount(Amount::Time(time)) => as_bytes(item, *time, rate, name, notes),
        _ => {
            let help = "write packets, bytes or a time, such as \"30 packets\"";
            notes.wrong(item, "this gate's queue holds packets, not cells", help);
            None
        }
    }
}

/// The bytes that a gate sends in a time.
pub(super) fn as_bytes(
    item: &Item,
    time: Span,
    rate: &RatePlan,
    name: &str,
    notes: &mut Notes,
) -> Option<StepThreshold> {
    if let RatePlan::Constant(Speed::Bits(rate)) = rate {
        let bits = u128::from(rate.bps()) * u128::from(time.picos()) / u128::from(PICOS_PER_SECOND);
        return Some(StepThreshold::Bytes(u64::try_from(bits / 8).unwrap_or(u64::MAX)));
    }
    let problem = "a threshold in time needs a constant rate in bit/s";
    notes.wrong(item, problem, format!("write packets or bytes, such as {name} = \"30 packets\""));
    None
}

/// The shortest time between two updates: the controllers take every one of them.
const SHORTEST_UPDATE: Span = Span::from_micros(100);

pub(super) fn interval(form: &Form, default: Span, notes: &mut Notes) -> Span {
    let Some((item, update)) = form.get("update").and_then(|item| Some((item, item.span()?))) else {
        return default;
    };
    if update < SHORTEST_UPDATE {
        let problem = format!("{update} is shorter than {SHORTEST_UPDATE}");
        notes.wrong(item, problem, format!("write \"{SHORTEST_UPDATE}\" or more"));
        return default;
    }
    update
}
