//! Runs beside their slow twins: each run of these tests is made again without any fast path ([`Plan::exact`]), and must give the same.

#![allow(dead_code, reason = "each program of tests needs some of it")]

use tidegate_core::plan::Plan;
use tidegate_core::units::Time;
use tidegate_result::Summary;
use tidegate_sim::{Column, RunResult, Table, run_watched};

/// A whole run, which its slow twin has confirmed.
pub(crate) fn whole(plan: &Plan) -> RunResult {
    whole_on(1, plan)
}

/// The same on so many threads.
pub(crate) fn whole_on(threads: usize, plan: &Plan) -> RunResult {
    let result = alone(threads, plan);
    // The twin handles more events, and is at another place when their number ends a run.
    let ends_early = plan.limits.events.is_some() || plan.limits.memory_bytes.is_some();
    if !plan.exact && !ends_early {
        let twin = alone(1, &Plan { exact: true, ..plan.clone() });
        assert_eq!(differs(&result, &twin), None, "the slow twin differs");
    }
    result
}

/// A whole run, without its twin.
pub(crate) fn alone(threads: usize, plan: &Plan) -> RunResult {
    let mut go_on = |_: Time| true;
    run_watched(plan, threads, &mut |_| None, &mut &mut go_on).expect("nobody interrupts")
}

/// Where two runs differ in summary or tables, but for the count of events.
pub(crate) fn differs(one: &RunResult, other: &RunResult) -> Option<String> {
    summaries_differ(&one.summary, &other.summary).or_else(|| tables_differ(one, other).map(str::to_owned))
}

/// Where two summaries differ, but for the count of events.
pub(crate) fn summaries_differ(one: &Summary, other: &Summary) -> Option<String> {
    let text = |summary: &Summary| format!("{:#?}", Summary { events: 0, ..summary.clone() });
    let texts = [text(one), text(other)];
    let lines: Vec<(&str, &str)> =
        texts[0].lines().map(str::trim).zip(texts[1].lines().map(str::trim)).collect();
    match lines.iter().position(|(here, there)| here != there) {
        // What it is a number of stands before it.
        Some(first) => Some(format!("{:?}", &lines[first.saturating_sub(3)..=first])),
        None => (texts[0].len() != texts[1].len()).then(|| "the length".to_owned()),
    }
}

/// Equal to the bit: NaN stands for "none" and is never equal to itself.
pub(crate) fn same(one: &Table, other: &Table) -> bool {
    let bits = |column: &Column| match column {
        Column::F64(values) => values.iter().map(|value| value.to_bits()).collect(),
        Column::U64(values) => values.clone(),
        Column::MaybeU64(values) => {
            values.iter().flat_map(|value| [u64::from(value.is_some()), value.unwrap_or(0)]).collect()
        }
        Column::U32(values) => values.iter().map(|value| u64::from(*value)).collect(),
        Column::U8(values) => values.iter().map(|value| u64::from(*value)).collect(),
    };
    let pairs = one.columns.iter().zip(&other.columns);
    pairs.into_iter().all(|(left, right)| left.0 == right.0 && bits(&left.1) == bits(&right.1))
}

/// The first table in which two runs differ.
pub(crate) fn tables_differ(one: &RunResult, other: &RunResult) -> Option<&'static str> {
    let (one, other) = (one.tables(), other.tables());
    one.iter().zip(&other).find(|(one, other)| !same(one, other)).map(|(one, _)| one.name)
}
