//! Policers before the queue.

use tidegate_core::cells::CELL_BITS;
use tidegate_core::gcra::{self, Conformance, Interval, Limit, LimitError};
use tidegate_core::plan::{Framing, PolicePlan};
use tidegate_core::units::{Rate, Span};

use super::notes::Notes;
use crate::check::{Form, Item, Value};

/// The policer of a gate; `None` where there is none, or something was wrong.
pub(super) fn police(gate: &Form, framing: Framing, notes: &mut Notes) -> Option<PolicePlan> {
    let form = gate.table("police")?;
    let cells = matches!(framing, Framing::Aal5 { .. });
    let pcr = form.rate("pcr")?;
    let peak = peak(form, pcr, cells, notes)?;
    let sustained = match form.rate("scr") {
        Some(scr) => Some(sustained(form, pcr, scr, cells, notes)?),
        None => {
            for item in ["mbs", "cdvt_scr", "conformance"].into_iter().filter_map(|name| form.given(name)) {
                notes.wrong(
                    item,
                    "there is no sustained rate that it could be of",
                    "add scr, or take it out",
                );
            }
            None
        }
    };
    let tags = form.word("action") == Some("tag");
    if let (true, true, Some(item)) = (tags, sustained.is_some(), form.given("action")) {
        let help =
            "write conformance = \"vbr3\" to tag what is above the sustained rate, and take action out";
        notes.wrong(item, "with two rates the conformance says what is tagged", help);
    }
    Some(PolicePlan { peak, sustained, tags })
}

/// A tolerance in picoseconds.
fn cdvt(form: &Form, key: &str) -> u64 {
    form.span(key).map_or(0, Span::picos)
}

/// The time of a cell, or of a byte.
fn unit(rate: Rate, cells: bool) -> Option<Interval> {
    Interval::at_rate(if cells { CELL_BITS } else { 8 }, rate).ok()
}

/// The limit, or a note on `key` that it cannot be counted.
fn counted(
    limit: Option<Result<Limit, LimitError>>,
    form: &Form,
    key: &str,
    notes: &mut Notes,
) -> Option<Limit> {
    if let Some(Ok(limit)) = limit {
        return Some(limit);
    }
    let problem = "at this rate what may come early is worth more than 53 days";
    notes.wrong(form.get(key)?, problem, "choose a higher rate or less of it");
    None
}

fn peak(form: &Form, pcr: Rate, cells: bool, notes: &mut Notes) -> Option<Limit> {
    if cells {
        if let Some(item) = form.given("burst") {
            let problem = "a burst is in bytes, and this gate passes cells";
            notes.wrong(item, problem, "write cdvt, a time; mbs is for the sustained rate");
            return None;
        }
        let tolerance = cdvt(form, "cdvt");
        return counted(unit(pcr, cells).map(|unit| Limit::new(unit, tolerance)), form, "pcr", notes);
    }
    if let Some(item) = ["cdvt", "cdvt_scr"].into_iter().find_map(|name| form.given(name)) {
        let problem = "a cell delay variation tolerance is for cells, and this gate passes packets";
        notes.wrong(item, problem, "write burst, such as \"15 kB\"");
        return None;
    }
    let Some(item) = form.get("burst") else {
        let item = form.get("pcr")?;
        let help = "add police.burst = \"15 kB\": at least one packet";
        notes.wrong(item, "a policer of packets needs to know how much may come at once", help);
        return None;
    };
    let burst = item.bytes()?;
    counted(unit(pcr, cells).map(|unit| Limit::tokens(unit, burst)), form, "pcr", notes)
}

fn sustained(
    form: &Form,
    pcr: Rate,
    scr: Rate,
    cells: bool,
    notes: &mut Notes,
) -> Option<(Limit, Conformance)> {
    if let (true, Some(item)) = (scr >= pcr, form.get("scr")) {
        let problem = format!("a sustained rate of {scr} is not below the peak rate of {pcr}");
        notes.wrong(item, problem, format!("write less than \"{pcr}\", or take scr and mbs out"));
        return None;
    }
    let Some(item) = form.get("mbs") else {
        let item = form.get("scr")?;
        let example = if cells { "100 cells" } else { "15 kB" };
        let problem = "a sustained rate needs the burst that may come at the peak rate";
        notes.wrong(item, problem, format!("add police.mbs = \"{example}\""));
        return None;
    };
    let limit = match (&item.value, cells) {
        (Value::Cells(mbs), true) => {
            // ATM Forum TM 4.0, VBR.1 to VBR.3: GCRA(1/SCR, BT + CDVT).
            let variation = cdvt(form, if form.given("cdvt_scr").is_some() { "cdvt_scr" } else { "cdvt" });
            let tolerance = burst_tolerance(*mbs, scr, pcr, item, notes)?.saturating_add(variation);
            unit(scr, cells).map(|unit| Limit::new(unit, tolerance))
        }
        (Value::Bytes(mbs), false) => unit(scr, cells).map(|unit| Limit::tokens(unit, *mbs)),
        (_, true) => {
            notes.wrong(item, "this gate passes cells", "write such as \"100 cells\"");
            return None;
        }
        (_, false) => {
            notes.wrong(item, "this gate weighs bytes", "write such as \"15 kB\"");
            return None;
        }
    };
    let conformance = match form.word("conformance") {
        Some("vbr2") => Conformance::Vbr2,
        Some("vbr3") => Conformance::Vbr3,
        _ => Conformance::Vbr1,
    };
    Some((counted(limit, form, "scr", notes)?, conformance))
}

/// τ in picoseconds for bursts of so many cells at the peak rate.
fn burst_tolerance(cells: u64, scr: Rate, pcr: Rate, item: &Item, notes: &mut Notes) -> Option<u64> {
    match gcra::burst_tolerance(cells, unit(scr, true)?, unit(pcr, true)?) {
        Ok(picos) => Some(picos),
        Err(error) => {
            notes.wrong(item, error.to_string(), "write fewer cells, at least 1");
            None
        }
    }
}
