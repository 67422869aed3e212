//! The answers to a page, as JSON.
//!
//! - A run: `{"summary": …, "warnings": […], "paths": {"bulk": {"path": ["link"], "back": []}, …}, "laws": {"link": …, …}, "groups": […], "tables":
//!   {"flows": {"time_s": {"kind": "f64", "at": 0, "rows": 1001}, …}, …}}`. `summary` is that of `tidegate run --json`; the bytes of a
//!   column begin at `at` behind the JSON, least significant byte first, 255s where a `maybe_u64` has none. `paths` are the gates
//!   that flows pass, `laws` what a picture shows of a gate beside its columns, `groups` the names of the flows
//!   whose copies are recorded together.
//! - The words: `{"flows": {"held_by": ["window", …], …}, …, "perturb": {"changes": […]}}`, those behind the codes of each table's
//!   columns, and what a small change is.
//! - A scenario that was checked: `{"title": …, "duration_s": …, "explain": …, …}`.
//! - A scenario that is wrong: `{"error": {"kind": "scenario", "message": …, "problems": [{"line": 3, "column": 8, …}, …]}}`.
//! - A run that stopped: `{"error": {"kind": "run", "message": …}}`; a question that is none: `"kind": "question"`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tidegate_core::plan::{FlowPlan, Plan, RecordLevel};
use tidegate_result::columns::Description;
use tidegate_result::{Column, GateLaw, RunResult};
use tidegate_scenario::{Report, Scenario, ScenarioError};

use crate::message::Message;

/// A run's answer. The summary is kept as it was written, so that it is the native program's to the byte.
#[derive(Serialize)]
struct Done<'a> {
    summary: &'a RawValue,
    warnings: Vec<String>,
    paths: Map<String, Value>,
    laws: BTreeMap<&'a str, GateLaw>,
    groups: Vec<&'a str>,
    tables: Map<String, Value>,
}

/// What a finished run gave.
pub(crate) fn done(scenario: &Scenario, plan: &Plan, result: &RunResult) -> Message {
    let mut bytes = Vec::new();
    let mut tables = Map::new();
    if plan.record.level != RecordLevel::Summary {
        for table in result.tables() {
            let columns = table.columns.iter();
            let columns = columns.map(|(name, column)| ((*name).to_owned(), append(&mut bytes, column)));
            tables.insert(table.name.to_owned(), Value::Object(columns.collect()));
        }
    }
    let summary = serde_json::value::to_raw_value(&result.summary);
    let json = summary.and_then(|summary| {
        let (mut warnings, paths, laws) = (warnings(scenario), paths(plan), tidegate_result::laws(plan));
        warnings.extend(scenario.sweep_warning());
        let groups = plan.record.groups.iter().map(|group| group.name.as_str()).collect();
        serde_json::to_string(&Done { summary: &summary, warnings, paths, laws, groups, tables })
    });
    match json {
        Ok(json) => Message { json, bytes },
        Err(error) => stopped(&format!("the summary is not JSON: {error}")),
    }
}

/// The gates that each flow passes, data and what comes back.
fn paths(plan: &Plan) -> Map<String, Value> {
    let names =
        |gates: &[usize]| gates.iter().map(|&gate| plan.gates[gate].name.as_str()).collect::<Vec<_>>();
    let way = |flow: &FlowPlan| json!({ "path": names(&flow.path), "back": names(&flow.back) });
    plan.flows.iter().map(|flow| (flow.name.clone(), way(flow))).collect()
}

/// The words behind the codes of each table's columns, and what a small change is.
pub(crate) fn words() -> Message {
    let of_table = |(table, columns): (&str, Vec<Description>)| {
        let with = columns.into_iter().filter_map(|column| Some((column.name, column.words?)));
        (table.to_owned(), with.map(|(name, words)| (name.to_owned(), json!(words))).collect::<Value>())
    };
    let changes = ("perturb".to_owned(), json!({ "changes": tidegate_core::plan::SMALL_CHANGES }));
    plain(tidegate_result::columns::tables().into_iter().map(of_table).chain([changes]).collect())
}

/// Adds the bytes of a column; says where they are.
fn append(bytes: &mut Vec<u8>, column: &Column) -> Value {
    let at = bytes.len();
    let (kind, rows) = match column {
        Column::F64(values) => ("f64", extend(bytes, values, |value| value.to_le_bytes())),
        Column::U64(values) => ("u64", extend(bytes, values, |value| value.to_le_bytes())),
        Column::U32(values) => ("u32", extend(bytes, values, |value| value.to_le_bytes())),
        Column::U8(values) => ("u8", extend(bytes, values, |value| [value])),
        Column::MaybeU64(values) => {
            ("maybe_u64", extend(bytes, values, |value| value.unwrap_or(u64::MAX).to_le_bytes()))
        }
    };
    json!({ "kind": kind, "at": at, "rows": rows })
}

fn extend<T: Copy, const N: usize>(bytes: &mut Vec<u8>, values: &[T], write: impl Fn(T) -> [u8; N]) -> usize {
    bytes.extend(values.iter().flat_map(|value| write(*value)));
    values.len()
}

/// What a right scenario says of itself.
pub(crate) fn checked(scenario: &Scenario) -> Message {
    let axes = scenario.sweeps().iter().map(|axis| json!({ "keys": axis.keys, "steps": axis.steps }));
    let sizes = scenario.computed_sizes();
    let sizes =
        sizes.iter().map(|size| json!({ "key": size.key, "written": size.written, "size": size.size }));
    plain(json!({
        "title": scenario.title(),
        "duration_s": scenario.duration().as_secs_f64(),
        "until_done": scenario.until_done(),
        "warmup_s": scenario.warmup().as_secs_f64(),
        "seed": scenario.seed(),
        "runs": scenario.runs(),
        "flows": scenario.flow_names(),
        "gates": scenario.gate_names(),
        "draws": scenario.unseeded_plan().draws(),
        "axes": axes.collect::<Vec<_>>(),
        "computed_sizes": sizes.collect::<Vec<_>>(),
        "warnings": warnings(scenario),
        "explain": scenario.explain(),
        "toml": scenario.to_toml(),
    }))
}

fn warnings(scenario: &Scenario) -> Vec<String> {
    let of_one = |warning: &tidegate_scenario::Warning| {
        let help = warning.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        format!("{}: {}{help}", warning.key, warning.message)
    };
    scenario.warnings().iter().map(of_one).collect()
}

/// Everything that is wrong with a scenario.
pub(crate) fn wrong_scenario(error: &ScenarioError) -> Message {
    let problems: Vec<Value> = std::iter::once(error).chain(&error.others).map(|one| problem(one)).collect();
    plain(json!({ "error": { "kind": "scenario", "message": error.to_string(), "problems": problems } }))
}

fn problem(report: &Report) -> Value {
    json!({
        "line": report.line,
        "column": report.column,
        "key": report.key,
        "read": report.read,
        "problem": report.problem,
        "help": report.help,
    })
}

/// The JSON Schema of the scenario language.
pub(crate) fn schema() -> Message {
    plain(tidegate_scenario::schema())
}

/// A run that ended without a result.
pub(crate) fn stopped(message: &str) -> Message {
    plain(json!({ "error": { "kind": "run", "message": message } }))
}

/// A question that cannot be answered.
pub(crate) fn wrong_question(message: &str) -> Message {
    plain(json!({ "error": { "kind": "question", "message": message } }))
}

fn plain(json: Value) -> Message {
    Message { json: json.to_string(), bytes: Vec::new() }
}
