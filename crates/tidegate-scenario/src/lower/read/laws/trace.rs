//! `gate.x.rate.trace`: a rate, or delivery opportunities, from a file.

use tidegate_core::plan::{AtEnd, RatePlan};
use tidegate_core::units::Rate;

use crate::check::Form;
use crate::inputs::Library;
use crate::inputs::Loaded;
use crate::lower::changes::{RATE_CHANGES, check_changes};
use crate::lower::notes::Notes;
use crate::lower::values::{LARGEST_PACKET, bytes_u32, choice, never_passes, unreadable};
use crate::trace::{ColumnOptions, Format, OPPORTUNITY_BYTES, TraceOptions};

pub(crate) fn law(root: &Form, form: &Form, library: &mut Library, notes: &mut Notes) -> Option<RatePlan> {
    let file = form.get("file")?;
    let format = form.word("format").and_then(|name| name.parse::<Format>().ok());
    let opportunity = form.get("opportunity");
    let opportunity_bytes = match opportunity {
        Some(item) => bytes_u32(Some(item), LARGEST_PACKET, notes),
        None => OPPORTUNITY_BYTES,
    };
    let mut columns = ColumnOptions::default();
    for item in ColumnOptions::KEYS.iter().filter_map(|key| form.get(key)) {
        let key = item.key.rsplit('.').next().unwrap_or(&item.key);
        if let Err(wrong) = columns.set(key, item.text()?) {
            let (problem, help) = wrong.split_once("; ").unwrap_or((&wrong, ""));
            notes.wrong(item, problem, help);
            return None;
        }
    }
    let options = TraceOptions { opportunity_bytes, step: form.span("step"), columns };
    let at_end = choice(form.get("at_end"), [("repeat", AtEnd::Repeat), ("stop", AtEnd::Stop)], notes);
    let (loaded, remarks) = match library.trace(file.text()?, format, options) {
        Ok(heard) => heard,
        Err(error) => {
            unreadable(file, &error, notes);
            return None;
        }
    };
    for remark in remarks {
        notes.warn(file.at, &file.key, remark, "tidegate traces info FILE says what was read");
    }
    match loaded {
        Loaded::Rates(trace) => {
            if let Some(item) = opportunity {
                notes.wrong(item, "this trace holds rates, not delivery opportunities", "take the key out");
            }
            if trace.points.iter().all(|(_, rate)| *rate == Rate::ZERO) {
                never_passes(file, notes);
            }
            let mean = trace.period.picos() as f64 / trace.points.len() as f64;
            if at_end == AtEnd::Repeat {
                check_changes(root, Some(file), RATE_CHANGES, mean, 0.0, notes);
            }
            Some(RatePlan::RateTrace { trace, at_end })
        }
        Loaded::Opportunities(trace) => Some(RatePlan::Opportunities { trace, at_end }),
    }
}
