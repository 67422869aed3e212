//! `queue.aqm` to [`Discipline`].

use tidegate_core::plan::{Discipline, Framing, RatePlan, StepThreshold};
use tidegate_core::units::{PICOS_PER_SECOND, Span, Speed};

use crate::check::{Form, Item, Value};
use crate::lower::notes::Notes;
use crate::units::Amount;

/// The threshold of `aqm = "step"`.
const STEP: Span = Span::from_millis(1);

pub(super) fn aqm(queue: &Form, rate: &RatePlan, framing: Framing, notes: &mut Notes) -> Discipline {
    let Some(item) = queue.given("aqm") else { return Discipline::DropTail };
    if item.word() == Some("none") {
        return Discipline::DropTail;
    }
    if framing.is_cells() {
        notes.wrong(item, "a cell gate has no active queue management", "remove this key, or remove framing");
        return Discipline::DropTail;
    }
    let law = item.table().and_then(|law| law.table("step"));
    let threshold = law.and_then(|step| step.get("threshold"));
    let threshold = match threshold.map(|given| &given.value) {
        Some(Value::Amount(Amount::Packets(packets))) => Some(StepThreshold::Packets(*packets)),
        Some(Value::Amount(Amount::Bytes(bytes))) => Some(StepThreshold::Bytes(*bytes)),
        Some(Value::Amount(Amount::Time(time))) => as_bytes(threshold.unwrap_or(item), *time, rate, notes),
        Some(Value::Amount(Amount::Cells(_))) => {
            let help = "write packets, bytes or a time, such as \"30 packets\"";
            notes.wrong(threshold.unwrap_or(item), "this gate's queue holds packets, not cells", help);
            None
        }
        _ => as_bytes(item, STEP, rate, notes),
    };
    threshold.map_or(Discipline::DropTail, Discipline::Step)
}

/// The bytes that a gate sends in a time.
fn as_bytes(item: &Item, time: Span, rate: &RatePlan, notes: &mut Notes) -> Option<StepThreshold> {
    if let RatePlan::Constant(Speed::Bits(rate)) = rate {
        let bits = u128::from(rate.bps()) * u128::from(time.picos()) / u128::from(PICOS_PER_SECOND);
        return Some(StepThreshold::Bytes(u64::try_from(bits / 8).unwrap_or(u64::MAX)));
    }
    let problem = "a threshold in time needs a constant rate in bit/s";
    notes.wrong(item, problem, "write packets or bytes, such as aqm.step.threshold = \"30 packets\"");
    None
}
