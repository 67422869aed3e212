//! How a call is made, at a circuit and in `[calls.x]`.

use tidegate_core::plan::{ArrivalPlan, Blocked, CallsPlan, Demand};
use tidegate_core::units::{Rate, Span};

use crate::check::{Form, Item, Named, Value};
use crate::lower::changes;
use crate::lower::names::{POOL, index_of};
use crate::lower::notes::Notes;
use crate::lower::values::{choice, holding, time};

/// What happens to a call that does not fit.
pub(crate) fn blocked(form: &Form, notes: &mut Notes) -> Blocked {
    let refuses = choice(form.get("blocked"), [("wait", false), ("refuse", true)], notes);
    match (refuses, form.span("retry")) {
        (true, None) => Blocked::Refuse,
        (true, Some(after)) => Blocked::Retry(after),
        (false, _) => Blocked::Wait,
    }
}

/// `retry` needs a call that is refused.
pub(crate) fn check_retry(form: &Form, notes: &mut Notes) {
    if let (Some(item), true) = (form.given("retry"), form.word("blocked") != Some("refuse")) {
        let problem = "retry is for refused calls, but a call that does not fit waits here";
        notes.wrong(item, problem, "add blocked = \"refuse\", or remove retry");
    }
}

/// What a call of `rate` asks for; empty where something was wrong.
pub(crate) fn demands(root: &Form, form: &Form, rate: Rate, notes: &mut Notes) -> Vec<Demand> {
    let Some(item) = form.get("pool") else { return Vec::new() };
    let names = match &item.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    let mut found: Vec<Demand> = Vec::new();
    for name in names {
        let Some(pool) = index_of(root, &POOL, name, notes) else { continue };
        if found.iter().any(|demand| demand.pool == pool) {
            let problem = format!("pool {} is in this list twice", name.text().unwrap_or_default());
            notes.wrong(name, problem, "a call requests capacity of a pool once; remove one of them");
        } else {
            found.push(Demand { pool, rate });
        }
    }
    found.sort_by_key(|demand| demand.pool);
    found
}

/// `patience` needs a call that waits.
fn check_patience(form: &Form, notes: &mut Notes) {
    if let (Some(item), Some("refuse")) = (form.given("patience"), form.word("blocked")) {
        let problem = "patience is for calls that wait, but a call that does not fit is refused here";
        notes.wrong(item, problem, "write blocked = \"wait\", or remove patience");
    }
}

/// When calls come: `every`, or `sources` and `idle`.
fn arrivals(named: &Named, form: &Form, notes: &mut Notes) -> Option<ArrivalPlan> {
    const IDLE: &str = "idle = { exponential = \"1 min\" }";
    match (form.given("every"), form.given("sources"), form.given("idle")) {
        (Some(_), None, None) => return Some(ArrivalPlan::Every(holding(form, "every"))),
        (None, Some(count), Some(_)) => {
            let count = count.whole().and_then(|count| u32::try_from(count).ok())?;
            return Some(ArrivalPlan::Sources { count, idle: holding(form, "idle") });
        }
        (Some(item), Some(_), _) => notes.wrong(
            item,
            "every and sources exclude each other: with sources, idle determines when the next call arrives",
            "remove every, or remove sources and idle",
        ),
        (None, Some(item), None) => {
            notes.wrong(
                item,
                "sources needs idle: how long a source is idle between two calls",
                format!(
                    "add \
                {IDLE}"
                ),
            );
        }
        (_, None, Some(item)) => {
            notes.wrong(item, "idle needs sources", "add sources = 20, or write every instead of idle")
        }
        (None, None, None) => {
            let help = format!("add every = {{ exponential = \"2 s\" }}, or sources = 20 and {IDLE}");
            notes.wrong_at(named.name_at, &form.key, "every is missing", help);
        }
    }
    None
}

/// Each `[calls.x]`, with the item that gives its rate.
pub(crate) fn sources<'a>(root: &'a Form, notes: &mut Notes) -> Vec<(CallsPlan, &'a Item)> {
    let mut sources = Vec::new();
    for named in root.table("calls").map_or(&[][..], |table| table.items.as_slice()) {
        let Some(form) = named.item.table() else { continue };
        let (Some(rate), Some(item)) = (form.rate("rate"), form.get("rate")) else { continue };
        check_retry(form, notes);
        check_patience(form, notes);
        let Some(arrivals) = arrivals(named, form, notes) else { continue };
        let (key, what, mean) = match arrivals {
            ArrivalPlan::Every(gap) => ("every", "on average a call arrives", changes::mean(gap)),
            ArrivalPlan::Sources { count, idle } => {
                ("idle", "on average a source makes a call", changes::mean(idle) / f64::from(count))
            }
        };
        changes::check_changes(root, form.get(key), what, mean, 0.0, notes);
        let demands = demands(root, form, rate, notes);
        let plan = CallsPlan {
            name: named.name.clone(),
            start: time(form.span("start")),
            arrivals,
            hold: holding(form, "hold"),
            demands,
            setup: form.span("setup").unwrap_or(Span::ZERO),
            blocked: blocked(form, notes),
            patience: form.given("patience").map(|_| holding(form, "patience")),
        };
        sources.push((plan, item));
    }
    sources
}
