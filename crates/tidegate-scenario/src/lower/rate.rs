//! `gate.x.rate` to [`RatePlan`].

use tidegate_core::plan::{AtEnd, MarkovPlan, RatePlan};
use tidegate_core::units::{Rate, Span, Speed, Time};

use super::notes::Notes;
use super::values::{LARGEST_PACKET, small, time, unreadable};
use super::{abr, dtm, follow, gcra, reserve, work};
use crate::check::{Form, Item, Value};
use crate::inputs::{Library, Loaded};
use crate::trace::{Format, OPPORTUNITY_BYTES, TraceOptions};

pub(super) fn rate(root: &Form, gate: &Form, library: &mut Library, notes: &mut Notes) -> RatePlan {
    let Some(item) = gate.get("rate") else { return RatePlan::Unlimited };
    let plan = match &item.value {
        Value::Speed(speed) => {
            if speed.work_per_second() == 0 {
                never_passes(item, notes);
            }
            Some(RatePlan::Constant(*speed))
        }
        Value::Table(laws) => match laws.only() {
            Some(("steps", law)) => law.table().and_then(|form| steps(root, form, notes)),
            Some(("token_bucket", law)) => law.table().and_then(|form| token_bucket(form, notes)),
            Some(("markov", law)) => law.table().and_then(|form| markov(root, form, notes)),
            Some(("dtm", law)) => law.table().and_then(|form| dtm::channel(root, form, notes)),
            Some(("abr", law)) => law.table().and_then(|form| abr::law(root, form, notes)),
            Some(("follow", law)) => law.table().and_then(|form| follow::law(root, form, notes)),
            Some(("reserve", law)) => law.table().and_then(reserve::circuit),
            Some(("gcra", law)) => law.table().and_then(|form| gcra::law(form, notes)),
            Some(("trace", law)) => law.table().and_then(|form| trace(root, form, library, notes)),
            Some((name, law)) => {
                let problem = format!("the law {name:?} has a key, but nothing here makes a plan of it");
                notes.wrong(law, problem, "this is a mistake in Tidegate; use another law");
                None
            }
            None => None,
        },
        _ => None,
    };
    plan.unwrap_or(RatePlan::Unlimited)
}

fn never_passes(item: &Item, notes: &mut Notes) {
    notes.wrong(
        item,
        "the rate is always 0: no packet would ever pass",
        "write a rate above zero; an outage is a step, such as rate.steps = [[\"0 s\", \"10 Mbit/s\"], [\"6 s\", \
         \"0 bit/s\"]]",
    );
}

fn steps(root: &Form, form: &Form, notes: &mut Notes) -> Option<RatePlan> {
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
        work::check_changes(root, form.get("repeat"), CHANGES, mean, 0.0, notes);
    }
    Some(RatePlan::Steps { steps, repeat })
}

fn token_bucket(form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let rate = form.rate("rate")?;
    let peak = form.rate("peak");
    if let (Some(peak), Some(item)) = (peak, form.get("peak"))
        && peak < rate
    {
        let problem = format!(
            "the peak of {peak} is lower than the rate of {rate}, so the bucket would never \
            become empty"
        );
        notes.wrong(item, problem, format!("write \"{rate}\" or more"));
    }
    Some(RatePlan::TokenBucket { rate, burst_bytes: form.bytes("burst")?, peak })
}

fn markov(root: &Form, form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let rates: Vec<Rate> = form.list("rates").iter().filter_map(Item::rate).collect();
    let mean_holding: Vec<Span> = form.list("mean_holding").iter().filter_map(Item::span).collect();
    if rates.is_empty() || mean_holding.is_empty() {
        return None;
    }
    let (states, known) = (rates.len(), notes.problems.len());
    if let (true, Some(item)) = (states > MOST_STATES, form.get("rates")) {
        let problem = format!("{states} states: a chain has at most {MOST_STATES}");
        notes.wrong(item, problem, "merge states with similar rates");
        return None;
    }
    if let Some(item) = form.get("mean_holding")
        && mean_holding.len() != states
    {
        let problem = format!("{} mean holding times for {states} rates", mean_holding.len());
        notes.wrong(item, problem, "give one for each rate");
    }
    if let (true, Some(item)) = (rates.iter().all(|rate| *rate == Rate::ZERO), form.get("rates")) {
        never_passes(item, notes);
    }
    let step = form.span("step");
    if let (Some(step), Some(item), Some(least)) = (step, form.get("step"), mean_holding.iter().min())
        && step > *least
    {
        let problem = format!("the step of {step} is longer than the mean holding time of {least}");
        let help = format!("write \"{least}\" or less: step / mean holding is a probability");
        notes.wrong(item, problem, help);
    }
    let transitions = form.get("transitions").map(|item| matrix(item, states, notes));
    let initial = form.whole("initial").map(|state| usize::try_from(state).unwrap_or(usize::MAX));
    if let (Some(state), Some(item)) = (initial, form.get("initial"))
        && state >= states
    {
        let problem = format!("there is no state {state}: {states} rates are given");
        notes.wrong(item, problem, format!("write 0 to {}; 0 is the first", states - 1));
    }
    let before = notes.problems.len() > known;
    let plan = MarkovPlan { rates, mean_holding, transitions, step, initial };
    if !before {
        let horizon = work::packet_time(plan.rates.iter().max().copied());
        work::check_changes(root, form.get("mean_holding"), CHANGES, work::mean_visit(&plan), horizon, notes);
    }
    Some(RatePlan::Markov(plan))
}

/// How a changing rate is called in messages.
const CHANGES: &str = "on average the rate changes";

/// The long-run shares of so many states are worked out in less than a second.
const MOST_STATES: usize = 1_000;

/// How far the sum of a row may be from 1.
const ROW_TOLERANCE: f64 = 1e-9;

fn matrix(item: &Item, states: usize, notes: &mut Notes) -> Vec<Vec<f64>> {
    let rows = item.list();
    if rows.len() != states {
        notes.wrong(item, format!("{} rows for {states} rates", rows.len()), "give one row for each rate");
    }
    let mut matrix: Vec<Vec<f64>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let values: Vec<f64> = row.list().iter().filter_map(Item::real).collect();
        let sum: f64 = values.iter().sum();
        if values.len() != states {
            let problem = format!("row {index} has {} values for {states} rates", values.len());
            notes.wrong(row, problem, "give one value for each rate");
        } else if values.get(index).is_some_and(|stay| *stay != 0.0) {
            let problem = format!("row {index} has a transition from state {index} to itself");
            notes.wrong(
                row,
                problem,
                "write 0 there: mean_holding already determines how long a state lasts",
            );
        } else if (sum - 1.0).abs() > ROW_TOLERANCE {
            let help = "make the probabilities of a row add up to 1";
            notes.wrong(row, format!("row {index} adds up to {sum}, not to 1"), help);
        }
        matrix.push(values);
    }
    if matrix.len() == states && matrix.iter().all(|row| row.len() == states) && !connected(&matrix) {
        let help = "connect the states, or remove the ones that are never used";
        notes.wrong(item, "not every state can be reached from every other", help);
    }
    matrix
}

/// Whether every state leads to every other.
fn connected(matrix: &[Vec<f64>]) -> bool {
    let states = matrix.len();
    let reach = |edge: &dyn Fn(usize, usize) -> bool| {
        let mut seen = vec![false; states];
        let mut open = vec![0];
        while let Some(state) = open.pop() {
            if std::mem::replace(&mut seen[state], true) {
                continue;
            }
            open.extend((0..states).filter(|next| edge(state, *next)));
        }
        seen.into_iter().all(|reached| reached)
    };
    reach(&|from, to| matrix[from][to] > 0.0) && reach(&|from, to| matrix[to][from] > 0.0)
}

fn trace(root: &Form, form: &Form, library: &mut Library, notes: &mut Notes) -> Option<RatePlan> {
    let file = form.get("file")?;
    let format = form.word("format").and_then(|name| name.parse::<Format>().ok());
    let opportunity = form.get("opportunity");
    let opportunity_bytes = match opportunity {
        Some(item) => small(Some(item), LARGEST_PACKET, notes),
        None => OPPORTUNITY_BYTES,
    };
    let options = TraceOptions { opportunity_bytes, drp_step: form.span("step") };
    let at_end = if form.word("at_end") == Some("stop") { AtEnd::Stop } else { AtEnd::Repeat };
    match library.trace(file.text()?, format, options) {
        Err(error) => {
            unreadable(file, &error, notes);
            None
        }
        Ok(Loaded::Rates(trace)) => {
            if let Some(item) = opportunity {
                notes.wrong(item, "this trace holds rates, not delivery opportunities", "take the key out");
            }
            if trace.points.iter().all(|(_, rate)| *rate == Rate::ZERO) {
                never_passes(file, notes);
            }
            let mean = trace.period.picos() as f64 / trace.points.len() as f64;
            if at_end == AtEnd::Repeat {
                work::check_changes(root, Some(file), CHANGES, mean, 0.0, notes);
            }
            Some(RatePlan::RateTrace { trace, at_end })
        }
        Ok(Loaded::Opportunities(trace)) => Some(RatePlan::Opportunities { trace, at_end }),
    }
}
