//! Policers before the queue.

use tidegate_core::aal5::CELL_BITS;
use tidegate_core::gcra::{self, Conformance, Interval, Limit, LimitError};
use tidegate_core::plan::{Framing, PolicePlan};
use tidegate_core::units::{Rate, Span};

use super::marker::MARKERS;
use crate::check::{Form, Item, Value};
use crate::error::Problem;
use crate::lower::notes::Notes;
use crate::lower::values::choice;
use crate::units::Amount;

/// The names that a contract is written with: they say the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// `rate` and `burst`.
    Plain,
    /// `cir`, `cbs`, `pir` and `pbs`.
    Rfc,
    /// `pcr`, `burst` or `cdvt`, `scr` and `mbs`.
    Atm,
}

/// The keys of one of a contract's rates and of its burst.
#[derive(Clone, Copy)]
struct Keys {
    rate: &'static str,
    burst: &'static str,
}

impl Names {
    const CHOICE: &str =
        "write rate and burst; or cir and cbs (and pir, pbs); or pcr and burst (and scr, mbs)";

    fn own(self) -> &'static [&'static str] {
        match self {
            Names::Plain => &["rate"],
            Names::Rfc => &["cir", "pir", "cbs", "pbs"],
            Names::Atm => &["pcr", "scr", "mbs"],
        }
    }

    /// The set that was used, or a note on what does not go together.
    fn used(form: &Form, notes: &mut Notes) -> Option<Names> {
        let mut used = None;
        for names in [Names::Plain, Names::Rfc, Names::Atm] {
            let Some((name, item)) = given(form, names.own()) else { continue };
            if let Some((_, first)) = used {
                let problem = format!("{name} and {first} belong to different sets of names for a contract");
                notes.wrong(item, problem, Names::CHOICE);
                return None;
            }
            used = Some((names, name));
        }
        let Some((names, _)) = used else {
            let problem = Problem::new(form.at, &form.key, "rate is missing");
            notes.problems.push(problem.help("add rate = \"10 Mbit/s\"").missing());
            return None;
        };
        if names == Names::Rfc
            && let Some(item) = form.given("burst")
        {
            let problem = "burst belongs to rate or pcr, but this contract has cir or pir";
            notes.wrong(item, problem, "write cbs for the burst of cir, pbs for that of pir");
            return None;
        }
        Some(names)
    }

    /// The keys of the peak or only rate, and of the sustained one.
    fn keys(self, form: &Form) -> (Keys, Option<Keys>) {
        const CIR: Keys = Keys { rate: "cir", burst: "cbs" };
        const PIR: Keys = Keys { rate: "pir", burst: "pbs" };
        const SCR: Keys = Keys { rate: "scr", burst: "mbs" };
        let is = |name| form.get(name).is_some();
        match self {
            Names::Plain => (Keys { rate: "rate", burst: "burst" }, None),
            Names::Atm => (Keys { rate: "pcr", burst: "burst" }, is("scr").then_some(SCR)),
            Names::Rfc if is("pir") => (PIR, is("cir").then_some(CIR)),
            Names::Rfc => (CIR, None),
        }
    }

    /// The second rate, as a help names it.
    fn second(self) -> &'static str {
        match self {
            Names::Plain => "write two rates as cir, cbs, pir and pbs",
            Names::Rfc => "add cir and pir",
            Names::Atm => "add scr",
        }
    }
}

/// The first of these keys that was written.
fn given<'a>(form: &'a Form, names: &[&'static str]) -> Option<(&'static str, &'a Item)> {
    names.iter().find_map(|name| Some((*name, form.given(name)?)))
}

/// The policer of a gate; `None` where there is none, or something was wrong.
pub(crate) fn police(gate: &Form, framing: Framing, notes: &mut Notes) -> Option<PolicePlan> {
    let form = gate.table("police")?;
    if MARKERS.iter().any(|name| form.given(name).is_some()) {
        return None;
    }
    let cells = framing.is_cells();
    let names = Names::used(form, notes)?;
    let (first, second) = names.keys(form);
    let Some(rate) = form.rate(first.rate) else {
        let problem = Problem::new(form.at, &form.key, format!("{} is missing", first.rate));
        notes.problems.push(problem.help(format!("add {} = \"10 Mbit/s\"", first.rate)).missing());
        return None;
    };
    let peak = peak(form, first, rate, cells, notes)?;
    let sustained = match second {
        Some(keys) => Some(sustained(form, names, keys, (&peak, rate), cells, notes)?),
        None => {
            let unused = ["mbs", "cdvt_scr", "cbs", "pbs", "conformance"].into_iter();
            let unused = unused.filter(|name| *name != first.burst);
            for (name, item) in unused.filter_map(|name| Some((name, form.given(name)?))) {
                let (problem, help) = match name {
                    "cbs" => ("cbs needs cir", "add cir, or remove cbs"),
                    "pbs" => ("pbs needs pir", "add pir, or remove pbs"),
                    _ => {
                        let help = format!("{}, or take it out", names.second());
                        notes.wrong(
                            item,
                            "this key needs a sustained rate, and the contract has only one rate",
                            help,
                        );
                        continue;
                    }
                };
                notes.wrong(item, problem, help);
            }
            None
        }
    };
    let tags = choice(form.get("action"), [("drop", false), ("tag", true)], notes);
    if let (true, true, Some(item)) = (tags, sustained.is_some(), form.given("action")) {
        let help = "write conformance = \"vbr3\" to tag traffic above the sustained rate, and remove action";
        notes.wrong(item, "with two rates, conformance decides what is tagged", help);
    }
    let per_flow = match form.table("per_flow") {
        Some(each) => Some(per_flow(each, cells, notes)?),
        None => None,
    };
    Some(PolicePlan { peak, sustained, tags, per_flow })
}

/// The limit of each flow.
fn per_flow(form: &Form, cells: bool, notes: &mut Notes) -> Option<Limit> {
    let burst = burst_units(form.get("burst")?, cells, notes)?;
    counted(unit(form.rate("rate")?, cells).map(|unit| Limit::tokens(unit, burst)), form, "rate", notes)
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
    let problem = "at this rate the burst or tolerance is longer than 53 days";
    notes.wrong(form.get(key)?, problem, "choose a higher rate or a smaller value");
    None
}

/// A burst as it is weighed here: in cells at a cell gate, elsewhere in bytes.
fn burst_units(item: &Item, cells: bool, notes: &mut Notes) -> Option<u64> {
    match (&item.value, cells) {
        (Value::Amount(Amount::Cells(0)), true) | (Value::Amount(Amount::Bytes(0)), false) => notes.wrong(
            item,
            format!("at this rate the burst is less than a {}", if cells { "cell" } else { "byte" }),
            "write a longer time, or how much may come at once",
        ),
        (Value::Amount(Amount::Cells(cells)), true) => return Some(*cells),
        (Value::Amount(Amount::Bytes(bytes)), false) => return Some(*bytes),
        (_, true) => notes.wrong(
            item,
            "this gate passes cells, so its bursts are counted in cells",
            "write a \
            number of cells, such as \"100 cells\"",
        ),
        (_, false) => notes.wrong(
            item,
            "this gate passes packets, so its bursts are counted in bytes",
            "write a \
            size, such as \"15 kB\"",
        ),
    }
    None
}

/// The limit of the peak rate, or of the only one.
fn peak(form: &Form, keys: Keys, rate: Rate, cells: bool, notes: &mut Notes) -> Option<Limit> {
    let written = form.get(keys.burst);
    match (form.given("cdvt"), cells) {
        (Some(item), false) => {
            let problem = "a cell delay variation tolerance is for cell gates, but this gate passes packets";
            notes.wrong(item, problem, format!("write {}, such as \"15 kB\"", keys.burst));
            return None;
        }
        (Some(item), true) if written.is_some() => {
            let problem = format!(
                "cdvt and {} exclude each other: both determine how early a cell may arrive",
                keys.burst
            );
            notes.wrong(item, problem, "keep one of the two");
            return None;
        }
        _ => {}
    }
    let Some(item) = written else {
        if cells {
            let tolerance = form.span("cdvt")?.picos();
            let limit = unit(rate, cells).map(|unit| Limit::new(unit, tolerance));
            return counted(limit, form, keys.rate, notes);
        }
        let item = form.get(keys.rate)?;
        let help = format!("add police.{} = \"15 kB\": at least one packet", keys.burst);
        notes.wrong(item, "a policer of packets needs a burst", help);
        return None;
    };
    let burst = burst_units(item, cells, notes)?;
    counted(unit(rate, cells).map(|unit| Limit::tokens(unit, burst)), form, keys.rate, notes)
}

/// The limit of the lower of two rates; `peak`: the limit and the value of the higher one.
fn sustained(
    form: &Form,
    names: Names,
    keys: Keys,
    peak: (&Limit, Rate),
    cells: bool,
    notes: &mut Notes,
) -> Option<(Limit, Conformance)> {
    let rate = form.rate(keys.rate)?;
    let item = form.get(keys.rate)?;
    // RFC 2698 §2: the PIR is equal to the CIR or greater.
    if rate > peak.1 || (rate == peak.1 && names == Names::Atm) {
        let (what, least) = match names {
            Names::Rfc => {
                (format!("a committed rate of {rate} is higher than the peak rate of {}", peak.1), "at most")
            }
            _ => (
                format!("a sustained rate of {rate} is not lower than the peak rate of {}", peak.1),
                "less than",
            ),
        };
        let out = if names == Names::Rfc { "pir and pbs" } else { "scr and mbs" };
        notes.wrong(item, what, format!("write {least} \"{}\", or remove {out}", peak.1));
        return None;
    }
    let Some(burst) = form.get(keys.burst) else {
        let example = if cells { "100 cells" } else { "15 kB" };
        let problem = match names {
            Names::Rfc => "a committed rate needs a burst",
            _ => "a sustained rate needs a burst",
        };
        notes.wrong(item, problem, format!("add police.{} = \"{example}\"", keys.burst));
        return None;
    };
    let units = burst_units(burst, cells, notes)?;
    let in_time = cells && names == Names::Atm;
    if let (false, Some(variation)) = (in_time, form.given("cdvt_scr")) {
        let problem = "cdvt_scr is for cell gates with pcr and scr";
        notes.wrong(variation, problem, format!("write {}, and remove cdvt_scr", keys.burst));
        return None;
    }
    let limit = if in_time {
        // ATM Forum TM 4.0, VBR.1 to VBR.3: GCRA(1/SCR, BT + CDVT).
        let variation = form.given("cdvt_scr").and_then(|_| form.span("cdvt_scr"));
        let variation = variation.map_or(peak.0.tolerance(), Span::picos);
        let tolerance = burst_tolerance(units, rate, peak.1, burst, notes)?.saturating_add(variation);
        unit(rate, cells).map(|unit| Limit::new(unit, tolerance))
    } else {
        // RFC 2698 §3: the bucket holds CBS at most, however fast the burst comes.
        unit(rate, cells).map(|unit| Limit::tokens(unit, units))
    };
    let conformance = choice(
        form.get("conformance"),
        [("vbr1", Conformance::Vbr1), ("vbr2", Conformance::Vbr2), ("vbr3", Conformance::Vbr3)],
        notes,
    );
    Some((counted(limit, form, keys.rate, notes)?, conformance))
}

/// τ in picoseconds for bursts of `cells` cells at the peak rate.
fn burst_tolerance(cells: u64, scr: Rate, pcr: Rate, item: &Item, notes: &mut Notes) -> Option<u64> {
    match gcra::burst_tolerance(cells, unit(scr, true)?, unit(pcr, true)?) {
        Ok(picos) => Some(picos),
        Err(error) => {
            notes.wrong(item, error.to_string(), "write fewer cells, at least 1");
            None
        }
    }
}
