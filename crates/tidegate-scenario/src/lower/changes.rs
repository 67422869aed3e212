//! How often rates and sources change by themselves in a run, before it begins. A scenario that would never
//! end is refused.

use tidegate_core::plan::{HoldingPlan, MarkovPlan};
use tidegate_core::units::{PICOS_PER_SECOND, Rate, Span};

use super::limits::limits;
use super::notes::Notes;
use crate::check::{Form, Item};

/// What [`check_changes`] calls a changing rate.
pub(crate) const RATE_CHANGES: &str = "on average the rate changes";

/// How often one rate or source may change in a run unless `limits.events` says otherwise: some ten seconds
/// of work.
const MOST_CHANGES: u64 = 1_000_000_000;

/// The bits of a usual packet: the gate looks this far ahead, even past the end of the run.
const PACKET_BITS: f64 = 12_000.0;

/// Refuses what changes too often. `mean` is the picoseconds from one change to the next, `horizon` those
/// that are looked through if they are more than the run's.
pub(crate) fn check_changes(
    root: &Form,
    item: Option<&Item>,
    what: &str,
    mean: f64,
    horizon: f64,
    notes: &mut Notes,
) {
    let (Some(item), Some(duration)) = (item, root.span("duration")) else { return };
    let most = limits(root).events;
    let looked = (duration.picos() as f64).max(horizon);
    let changes = looked / mean.max(1.0);
    if changes <= most.unwrap_or(MOST_CHANGES) as f64 {
        return;
    }
    let mean = Span::from_picos(mean.max(1.0) as u64);
    let most = most.unwrap_or(MOST_CHANGES);
    let problem = format!(
        "{what} every {mean}, which is {} times in {}: more than the limit of {}",
        grouped(changes as u64),
        Span::from_picos(looked as u64),
        grouped(most)
    );
    let help = "make it happen less often, or raise limits.events";
    notes.wrong(item, problem, help);
}

/// A count as people read it: 1,000,000.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Refuses what happens too often at a fixed interval.
pub(crate) fn check_clock(root: &Form, item: Option<&Item>, what: &str, notes: &mut Notes) {
    if let Some(every) = item.and_then(Item::span) {
        check_changes(root, item, what, every.picos() as f64, 0.0, notes);
    }
}

/// The mean of a length of time, in picoseconds.
pub(crate) fn mean(holding: HoldingPlan) -> f64 {
    match holding {
        HoldingPlan::Constant(span) | HoldingPlan::Exponential(span) => span.picos() as f64,
    }
}

/// The time that a packet takes at this rate: how far ahead a gate may have to look.
pub(crate) fn packet_time(highest: Option<Rate>) -> f64 {
    match highest {
        Some(rate) if rate > Rate::ZERO => PACKET_BITS * PICOS_PER_SECOND as f64 / rate.bps() as f64,
        _ => 0.0,
    }
}

/// The mean time in a state of a Markov chain, over the visits, in picoseconds.
pub(crate) fn mean_visit(plan: &MarkovPlan) -> f64 {
    let visits = plan.visits();
    let total: f64 = visits.iter().sum();
    let time: f64 =
        visits.iter().zip(&plan.mean_holding).map(|(share, mean)| share * mean.picos().max(1) as f64).sum();
    time / total
}

/// Refuses on-off periods that change too often; `bytes` are written or sent at a time while it is on.
pub(crate) fn check_periods(
    root: &Form,
    form: &Form,
    (on, off): (HoldingPlan, HoldingPlan),
    bytes: u32,
    notes: &mut Notes,
) {
    let (on, off) = (mean(on), mean(off));
    let seconds = form
        .rate("rate")
        .filter(|rate| *rate > Rate::ZERO)
        .map_or(0.0, |rate| f64::from(bytes) * 8.0 / rate.bps() as f64);
    // On periods are drawn until they hold the time that one packet takes.
    let horizon = seconds * PICOS_PER_SECOND as f64 * (on + off) / on.max(1.0);
    check_changes(
        root,
        form.get("on"),
        "on average this source switches on and off",
        on + off,
        horizon,
        notes,
    );
}
