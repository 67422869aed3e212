//! `[limits]`: the events and the memory that a run may take.

use tidegate_core::plan::{DEFAULT_MEMORY, FlowPlan, Limits, Plan};
use tidegate_core::units::{Span, Time};

use super::notes::Notes;
use super::values::time;
use crate::check::Form;

/// How long a run is at most that ends when all is done; the table of keys gives the same.
const LONGEST: Span = Span::from_secs(1000);

/// The end of the run, or where it is at the latest; and whether it ends when all is done.
pub(crate) fn duration(root: &Form) -> (Time, bool) {
    match root.span("duration") {
        Some(span) => (time(Some(span)), false),
        None => {
            let most = root.table("limits").and_then(|limits| limits.span("duration"));
            (time(most.or(Some(LONGEST))), true)
        }
    }
}

/// A run until all is done needs something that ends, and counts from the start.
pub(crate) fn check_until_done(root: &Form, plan: &Plan, notes: &mut Notes) {
    let Some(item) = root.get("duration").filter(|_| plan.until_done) else {
        if let Some(item) = root.table("limits").and_then(|limits| limits.given("duration")) {
            notes.wrong(
                item,
                "this key is for duration = \"until done\"",
                "remove it, or write duration = \"until done\"",
            );
        }
        return;
    };
    if !plan.flows.iter().any(FlowPlan::ends) {
        let help = "give a flow an end, such as app.transfer = \"1 MB\" or app.request.count = 100, or write a duration such as \"60 s\"";
        notes.wrong(item, "nothing here is ever done: no flow has a size or a count of requests", help);
    }
    if let Some(warmup) = root.given("warmup").filter(|_| plan.warmup > Time::ZERO) {
        let help = "remove warmup, or write a duration such as \"60 s\"";
        notes.wrong(warmup, "a run until all is done has no warm-up: transfers count from their start", help);
    }
}

pub(crate) fn limits(root: &Form) -> Limits {
    let limits = root.table("limits");
    Limits {
        events: limits.and_then(|limits| limits.whole("events")),
        memory_bytes: limits.and_then(|limits| limits.bytes("memory")).or(Some(DEFAULT_MEMORY)),
    }
}
