//! `queue.aqm` to [`Discipline`].

use tidegate_core::plan::{
    CoDelPlan, Discipline, DualPi2Plan, FqCoDelPlan, Framing, PiePlan, RatePlan, StepThreshold,
};
use tidegate_core::units::Span;

use super::red::red;
use super::threshold::{as_bytes, interval, threshold};
use crate::check::{Form, Item, Value};
use crate::lower::notes::Notes;
use crate::lower::values::{LARGEST_QUANTUM, bytes_u32, probability};
use crate::units::Amount;

/// The threshold of `aqm = "step"`.
const STEP: Span = Span::from_millis(1);

pub(super) fn aqm(queue: &Form, rate: &RatePlan, framing: Framing, notes: &mut Notes) -> Discipline {
    let Some(item) = queue.given("aqm") else { return Discipline::DropTail };
    // The name alone, or the table below the name.
    let (name, form) = match item.table().and_then(Form::only) {
        Some((name, below)) => (name, below.table()),
        None => (item.word().unwrap_or("none"), None),
    };
    if name == "none" {
        return Discipline::DropTail;
    }
    if framing.is_cells() {
        notes.wrong(item, "a cell gate has no active queue management", "remove this key, or remove framing");
        return Discipline::DropTail;
    }
    match name {
        "step" => step(item, form, rate, notes).map_or(Discipline::DropTail, Discipline::Step),
        "codel" => Discipline::CoDel(codel(form)),
        "red" => red(item, form, rate, notes).map_or(Discipline::DropTail, Discipline::Red),
        "pie" => Discipline::Pie(form.map_or(PiePlan::DEFAULT, |form| pie(form, notes))),
        "fq_codel" => Discipline::FqCoDel(form.map_or(FqCoDelPlan::DEFAULT, |form| fq_codel(form, notes))),
        "dualpi2" => Discipline::DualPi2(form.map_or(DualPi2Plan::DEFAULT, |form| dualpi2(form, notes))),
        _ => Discipline::DropTail,
    }
}

fn step(item: &Item, form: Option<&Form>, rate: &RatePlan, notes: &mut Notes) -> Option<StepThreshold> {
    match form.and_then(|step| step.given("threshold")) {
        Some(given) => threshold(given, rate, "aqm.step.threshold", notes),
        None => as_bytes(item, STEP, rate, "aqm.step.threshold", notes),
    }
}

/// CoDel's keys; `None`: all at their defaults.
fn codel(form: Option<&Form>) -> CoDelPlan {
    let of = |key: &str, default: Span| form.and_then(|form| form.span(key)).unwrap_or(default);
    let default = CoDelPlan::DEFAULT;
    CoDelPlan {
        target: of("target", default.target),
        interval: of("interval", default.interval),
        ce_threshold: form.and_then(|form| form.span("ce_threshold")),
    }
}

fn fq_codel(form: &Form, notes: &mut Notes) -> FqCoDelPlan {
    let default = FqCoDelPlan::DEFAULT;
    let memory = form.bytes("memory").unwrap_or(default.memory);
    let limits = match form.get("limit").map(|item| (item, &item.value)) {
        Some((_, Value::Amount(Amount::Packets(packets)))) => (*packets, memory),
        Some((_, Value::Amount(Amount::Bytes(bytes)))) => (u64::MAX, memory.min(*bytes)),
        Some((item, Value::Amount(Amount::Cells(_)))) => {
            let help = "write packets or bytes, such as \"1000 packets\"";
            notes.wrong(item, "this gate's queue holds packets, not cells", help);
            (default.limit, memory)
        }
        _ => (default.limit, memory),
    };
    FqCoDelPlan {
        codel: codel(Some(form)),
        queues: form.whole("queues").map_or(default.queues, |queues| queues as u32),
        quantum: bytes_u32(form.get("quantum"), LARGEST_QUANTUM, notes).max(1),
        limit: limits.0,
        memory: limits.1,
    }
}

fn pie(form: &Form, notes: &mut Notes) -> PiePlan {
    let default = PiePlan::DEFAULT;
    let of = |key: &str, left_out: Span| form.span(key).unwrap_or(left_out);
    PiePlan {
        target: of("target", default.target),
        update: interval(form, default.update, notes),
        alpha: millionths(form, "alpha", default.alpha, notes),
        beta: millionths(form, "beta", default.beta, notes),
        max_burst: of("max_burst", default.max_burst),
        mark_below: probability(form, "mark_below", default.mark_below),
        derandomize: form.flag("derandomize"),
        cap: form.flag("cap"),
    }
}

fn dualpi2(form: &Form, notes: &mut Notes) -> DualPi2Plan {
    let default = DualPi2Plan::DEFAULT;
    let of = |key: &str, left_out: Span| form.span(key).unwrap_or(left_out);
    DualPi2Plan {
        target: of("target", default.target),
        update: interval(form, default.update, notes),
        alpha: millionths(form, "alpha", default.alpha, notes),
        beta: millionths(form, "beta", default.beta, notes),
        coupling: millionths(form, "coupling", default.coupling, notes),
        step: of("step", default.step),
        step_units: form.whole("step_packets"),
        step_spares: form.whole("min_qlen_step").unwrap_or(default.step_spares),
        range: of("range", default.range),
        classic_share: millionths(form, "classic_share", default.classic_share, notes),
    }
}

/// A number of a key in millionths, from one to a thousand million.
fn millionths(form: &Form, key: &str, default: u32, notes: &mut Notes) -> u32 {
    let Some((item, number)) = form.get(key).and_then(|item| Some((item, item.real()?))) else {
        return default;
    };
    let millionths = (number * 1e6).round();
    if (1.0..=1e9).contains(&millionths) {
        return millionths as u32;
    }
    notes.wrong(item, format!("{number} is out of range"), "write a number from 0.000001 to 1000");
    default
}
