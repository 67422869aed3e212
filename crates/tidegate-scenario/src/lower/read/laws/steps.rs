//! `gate.x.rate.steps`: constant rates, one after the other.

use tidegate_core::plan::RatePlan;
use tidegate_core::units::{Speed, Time};

use crate::check::Form;
use crate::lower::changes::{RATE_CHANGES, check_changes};
use crate::lower::notes::Notes;
use crate::lower::values::{never_passes, time};

pub(crate) fn law(root: &Form, form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let mut steps: Vec<(Time, Speed)> = Vec::new();
    for point in form.list("points") {
        let [at, speed] = point.list() else { return None };
        let (from, value) = (time(at.span()), speed.speed()?);
        match steps.last() {
            None if from != Time::ZERO => {
                let help = "begin with [\"0 s\", …]: the rate at the start";
                notes.wrong(at, format!("the first step is at {from}, not at 0"), help);
            }
            Some((before, _)) if from <= *before => {
                notes.wrong(at, format!("{from} is not later than {before}"), "sort the steps by time");
            }
            Some((_, other)) if matches!(other, Speed::Bits(_)) != matches!(value, Speed::Bits(_)) => {
                let help = "write all rates in packets/s, or all in bit/s";
                notes.wrong(speed, "one gate cannot have rates in packets and rates in bits", help);
            }
            _ => {}
        }
        steps.push((from, value));
    }
    let all_zero = steps.iter().all(|(_, speed)| speed.work_per_second() == 0);
    if let (true, Some(item)) = (all_zero, form.get("points")) {
        never_passes(item, notes);
    }
    let repeat = form.span("repeat");
    if let (Some(repeat), Some((last, _)), Some(item)) = (repeat, steps.last(), form.get("repeat"))
        && repeat.picos() <= last.picos()
    {
        let problem = format!("the steps repeat after {repeat}, but the last one is at {last}");
        notes.wrong(item, problem, format!("write more than \"{last}\""));
    }
    if let Some(repeat) = repeat {
        let mean = repeat.picos() as f64 / steps.len() as f64;
        check_changes(root, form.get("repeat"), RATE_CHANGES, mean, 0.0, notes);
    }
    Some(RatePlan::Steps { steps, repeat })
}
