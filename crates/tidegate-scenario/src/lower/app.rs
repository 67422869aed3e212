//! `flow.x.app` and `traffic.x.source`.

use tidegate_core::plan::{AppPlan, HoldingPlan, SourcePlan};
use tidegate_core::units::{Rate, Span};

use super::gate::LARGEST_PACKET;
use super::{Notes, small};
use crate::check::{Form, Value};

pub(super) fn app(flow: &Form, notes: &mut Notes) -> AppPlan {
    let Some(Value::Table(apps)) = flow.get("app").map(|item| &item.value) else { return AppPlan::Bulk };
    match apps.only() {
        Some(("transfer", item)) => AppPlan::Transfer { bytes: item.bytes().unwrap_or(0) },
        Some((law, item)) => match item.table() {
            Some(form) => AppPlan::Source(process(law, form, "write", u32::MAX, notes)),
            None => AppPlan::Bulk,
        },
        None => AppPlan::Bulk,
    }
}

/// A packet without an IP header is none.
const SMALLEST_PACKET: u32 = 20;

pub(super) fn source(traffic: &Form, notes: &mut Notes) -> SourcePlan {
    let law = traffic.table("source").and_then(Form::only);
    let Some((law, form)) = law.and_then(|(law, item)| Some((law, item.table()?))) else {
        return SourcePlan::Constant { rate: Rate::ZERO, bytes: 0 };
    };
    let source = process(law, form, "packet", LARGEST_PACKET, notes);
    if let Some(item) = form.get("packet")
        && item.bytes().is_some_and(|bytes| bytes < u64::from(SMALLEST_PACKET))
    {
        let problem = "a packet is smaller than its own IP header";
        notes.wrong(item, problem, format!("write \"{SMALLEST_PACKET} B\" or more"));
    }
    source
}

fn process(law: &str, form: &Form, size: &str, most: u32, notes: &mut Notes) -> SourcePlan {
    let rate = form.rate("rate").unwrap_or(Rate::ZERO);
    let bytes = small(form.get(size), most, notes);
    match law {
        "on_off" => SourcePlan::OnOff { rate, bytes, on: holding(form, "on"), off: holding(form, "off") },
        "poisson" => SourcePlan::Poisson { rate, bytes },
        _ => SourcePlan::Constant { rate, bytes },
    }
}

fn holding(form: &Form, name: &str) -> HoldingPlan {
    match form.get(name).map(|item| &item.value) {
        Some(Value::Time(span)) => HoldingPlan::Constant(*span),
        Some(Value::Table(law)) => HoldingPlan::Exponential(law.span("exponential").unwrap_or(Span::ZERO)),
        _ => HoldingPlan::Constant(Span::ZERO),
    }
}
