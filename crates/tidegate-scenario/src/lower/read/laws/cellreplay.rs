//! `gate.x.rate.cellreplay`: a cellular link in two stages, from two files.

use std::sync::Arc;

use tidegate_core::plan::{CellReplayPlan, Framing, RatePlan};

use crate::check::{Form, Item};
use crate::inputs::{Library, Loaded};
use crate::lower::notes::Notes;
use crate::lower::values::{LARGEST_PACKET, bytes_u32, unreadable};
use crate::trace::{Format, TraceError, TraceOptions};

pub(crate) fn law(form: &Form, library: &mut Library, notes: &mut Notes) -> Option<RatePlan> {
    let (light, heavy) = (form.get("light")?, form.get("heavy")?);
    let opportunity_bytes = bytes_u32(form.get("opportunity"), LARGEST_PACKET, notes);
    let options = TraceOptions { opportunity_bytes, ..TraceOptions::default() };
    let mut read = |item: &Item, error: TraceError| unreadable(item, &error, notes);
    let trains = library.light(light.text()?).map_err(|error| read(light, error)).ok();
    let trace = library.trace(heavy.text()?, Some(Format::Mahimahi), options);
    let trace = trace.map_err(|error| read(heavy, error)).ok();
    let (Loaded::Opportunities(trace), _) = trace? else { return None };
    let timer = form.span("timer")?;
    Some(RatePlan::CellReplay(Arc::new(CellReplayPlan { light: trains?, heavy: trace, timer })))
}

/// What a gate of this law must not have: its packets keep the order of their arrivals, and each has its times with its arrival.
pub(crate) fn check(form: &Form, rate: &RatePlan, framing: Framing, notes: &mut Notes) {
    if !matches!(rate, RatePlan::CellReplay(_)) {
        return;
    }
    let mut refuse = |item: &Item, what: &str| {
        let problem = format!("rate.cellreplay states when a packet leaves at its arrival, so {what}");
        notes.wrong(item, problem, "remove this key, or give it to another gate on the path");
    };
    if let Some(item) = form.given("framing").filter(|_| framing.is_cells()) {
        refuse(item, "its packets cannot be cells");
    }
    if let Some(item) =
        form.get("classes").filter(|_| form.table("classes").is_some_and(|of| !of.items.is_empty()))
    {
        refuse(item, "no class can be served before another");
    }
    let queue = form.table("queue").and_then(|queue| queue.given("aqm"));
    let name = |item: &Item| match item.table().and_then(Form::only) {
        Some((name, _)) => name.to_owned(),
        None => item.word().unwrap_or("none").to_owned(),
    };
    if let Some(item) = queue.filter(|item| !matches!(name(item).as_str(), "none" | "step" | "red")) {
        refuse(item, &format!("{} cannot choose at departures", name(item)));
    }
}
