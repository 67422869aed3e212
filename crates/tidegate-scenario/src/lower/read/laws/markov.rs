//! `gate.x.rate.markov` to [`MarkovPlan`].

use tidegate_core::plan::{MarkovPlan, RatePlan};
use tidegate_core::units::{Rate, Span};

use crate::check::{Form, Item};
use crate::lower::changes::{self, RATE_CHANGES};
use crate::lower::notes::Notes;
use crate::lower::values::never_passes;

pub(crate) fn law(root: &Form, form: &Form, notes: &mut Notes) -> Option<RatePlan> {
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
        let horizon = changes::packet_time(plan.rates.iter().max().copied());
        changes::check_changes(
            root,
            form.get("mean_holding"),
            RATE_CHANGES,
            changes::mean_visit(&plan),
            horizon,
            notes,
        );
    }
    Some(RatePlan::Markov(plan))
}

/// The most states of a chain: their long-run shares are computed in less than a second.
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
