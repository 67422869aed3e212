//! `[[sweep]]`: the axes of a study.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::Form;
use crate::document::{self, Data, Entry, Node, Op, Place, Step};
use crate::error::Problem;
use crate::inputs::Library;
use crate::planned;
use crate::table::ROOT;
use crate::units::plural;

/// One axis: keys that move together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Dotted keys.
    pub keys: Vec<String>,
    /// One row for each step of the axis: a value for each key, as `--set` takes it.
    pub steps: Vec<Vec<String>>,
}

/// The most combinations of a study.
const MOST_COMBINATIONS: usize = 1_000_000;

/// Reads the axes; with `library`, checks every step of each against the scenario.
pub(crate) fn read(tree: &Node, library: Option<&mut Library>) -> Result<Vec<Sweep>, Vec<Problem>> {
    let Some((entry, Data::List(axes))) = tree.entry("sweep").map(|entry| (entry, &entry.node.data)) else {
        return Ok(Vec::new());
    };
    // A step is tried without the axes themselves, which may have very many values.
    let mut tried = library.filter(|_| !axes.is_empty()).map(|library| {
        let mut bare = tree.clone();
        bare.apply(&gone(entry));
        (bare, library)
    });
    let mut sweeps = Vec::new();
    let mut total: usize = 1;
    let mut swept = BTreeSet::new();
    for axis in axes {
        let keys = keys_of(axis, "sweep")?;
        if let Some(again) = keys.iter().find(|key| !swept.insert(key.name.clone())) {
            let problem = Problem::new(again.at, &again.name, "the key is swept twice");
            return Err(vec![problem.help("give one list with all its values")]);
        }
        let mut sweep = Sweep { keys: keys.iter().map(|key| key.name.clone()).collect(), steps: Vec::new() };
        let length = keys.first().map_or(0, |key| key.values.len());
        total = total.saturating_mul(length.max(1));
        if total > MOST_COMBINATIONS {
            let problem = format!("the axes make more than {MOST_COMBINATIONS} combinations");
            return Err(vec![Problem::new(axis.at, "sweep", problem).help("give fewer values")]);
        }
        let mut readings = Vec::new();
        for step in 0..length {
            let written: Vec<String> = keys.iter().map(|key| document::literal(&key.values[step])).collect();
            readings.push(match &mut tried {
                Some((bare, files)) => {
                    let root = try_step(bare, &keys, step, files)?;
                    let read = |key: &SweepKey<'_>| reading(&root, &key.path);
                    keys.iter()
                        .zip(&written)
                        .map(|(key, text)| read(key).unwrap_or_else(|| text.clone()))
                        .collect()
                }
                None => written.clone(),
            });
            sweep.steps.push(written);
        }
        if let Some(problem) = repeated(&sweep, &readings, &keys) {
            return Err(vec![problem]);
        }
        sweeps.push(sweep);
    }
    Ok(sweeps)
}

/// What a scenario has at a key, in one spelling; none where it is no value of the table of keys.
pub(crate) fn reading(root: &Form, path: &[Step]) -> Option<String> {
    root.at(path.iter().map(|step| step.key.as_str()))?.reading()
}

/// That an axis has a value twice, if it does: written alike, or read as the same.
fn repeated(sweep: &Sweep, readings: &[Vec<String>], keys: &[SweepKey<'_>]) -> Option<Problem> {
    let mut seen = BTreeMap::new();
    let (first, again) = readings
        .iter()
        .enumerate()
        .find_map(|(step, reading)| seen.insert(reading, step).map(|first| (first, step)))?;
    let (value, before) = (sweep.steps[again].join(", "), sweep.steps[first].join(", "));
    let problem = if value == before {
        format!("the value {value} is there twice")
    } else {
        format!("the value {value} is {before} again")
    };
    let at = keys.first()?.values[again].at;
    Some(
        Problem::new(at, &sweep.keys.join(", "), problem)
            .help("each value makes a point of its own: write it once"),
    )
}

/// What takes the sweep away.
fn gone(sweep: &Entry) -> Op {
    Op::Drop(vec![Step { key: sweep.key.clone(), at: sweep.key_at }])
}

/// The text that a tree was read from, with every list of an axis empty: what a point of the study is read from, as if the axes had
/// no values. All else stays on its line.
pub(crate) fn without_values(text: &str, tree: &Node) -> String {
    let mut lists = Vec::new();
    if let Some(entry) = tree.entry("sweep")
        && let Data::List(axes) = &entry.node.data
    {
        axes.iter().for_each(|axis| lists_in(axis, &mut lists));
    }
    lists.sort_unstable();
    let (mut short, mut written) = (String::new(), 0);
    for at in lists {
        let Some(list) = text.get(at.start..at.end).filter(|_| at.start >= written) else { continue };
        if let Some(values) = list.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
            short.push_str(&text[written..=at.start]);
            short.extend(values.chars().filter(|letter| *letter == '\n'));
            written = at.end - 1;
        }
    }
    short.push_str(&text[written..]);
    short
}

/// The places of the lists in the tables of an axis.
fn lists_in(node: &Node, lists: &mut Vec<Place>) {
    match &node.data {
        Data::Table(entries) => entries.iter().for_each(|entry| lists_in(&entry.node, lists)),
        Data::List(_) => lists.push(node.at),
        _ => {}
    }
}

/// Takes a sweep out that an edited scenario has no use for, with a word about it.
pub(crate) fn left_out(tree: &Node, problems: &[Problem]) -> Option<(Problem, Op)> {
    let entry = tree.entry("sweep")?;
    let why = problems.first()?;
    let problem = format!("the sweep is ignored, because with --set {}: {}", why.key, why.problem);
    let warning = Problem::new(entry.key_at, "sweep", problem)
        .help("a single run does not need the sweep; a study does");
    Some((warning, gone(entry)))
}

struct SweepKey<'a> {
    name: String,
    path: Vec<Step>,
    at: Place,
    values: &'a [Node],
}

fn keys_of<'a>(axis: &'a Node, key: &str) -> Result<Vec<SweepKey<'a>>, Vec<Problem>> {
    let mut keys = Vec::new();
    let Data::Table(entries) = &axis.data else { return Ok(keys) };
    for entry in entries {
        collect(entry, &[], &mut keys).map_err(|problem| vec![problem])?;
    }
    let Some(first) = keys.first() else {
        let help = "write \"flow.bulk.tcp.cc\" = [\"reno\", \"cubic\"]";
        return Err(vec![Problem::new(axis.at, key, "the axis has no keys").help(help)]);
    };
    let (length, name) = (first.values.len(), first.name.clone());
    if let Some(other) = keys.iter().find(|other| other.values.len() != length) {
        let problem =
            format!("this list has {}, but {name} has {length}", plural(other.values.len() as u64, "value"));
        let help = "keys of one axis move together: give each the same number of values, or use two axes";
        return Err(vec![Problem::new(other.at, &other.name, problem).help(help)]);
    }
    Ok(keys)
}

/// A key in quotes is dotted text; without quotes it is a tree that ends in a list.
fn collect<'a>(entry: &'a Entry, above: &[Step], keys: &mut Vec<SweepKey<'a>>) -> Result<(), Problem> {
    let mut path = above.to_vec();
    let steps = document::parse_path(&entry.key, entry.key_at.source, 0)
        .map_err(|problem| Problem { at: entry.key_at, ..problem })?;
    path.extend(steps.into_iter().map(|step| Step { at: entry.key_at, ..step }));
    let name = document::dotted(&path);
    match &entry.node.data {
        Data::Table(below) => below.iter().try_for_each(|inner| collect(inner, &path, keys)),
        Data::List(values) if values.is_empty() => {
            Err(Problem::new(entry.node.at, &name, "the list is empty").help("give the values of the axis"))
        }
        Data::List(values) => {
            if matches!(path[0].key.as_str(), "sweep" | "runs" | "seed") {
                let problem = format!("{} cannot be swept", path[0].key);
                return Err(
                    Problem::new(entry.key_at, &name, problem).help("sweep keys of gates, flows or traffic")
                );
            }
            keys.push(SweepKey { name, path, at: entry.key_at, values });
            Ok(())
        }
        _ => {
            let problem = format!("this is {}, not a list of values", entry.node.kind_name());
            Err(Problem::new(entry.node.at, &name, problem).help("write [\"first\", \"second\"]"))
        }
    }
}

fn try_step(
    tree: &Node,
    keys: &[SweepKey<'_>],
    step: usize,
    library: &mut Library,
) -> Result<Form, Vec<Problem>> {
    let mut variant = tree.clone();
    for key in keys {
        let ops = document::operations(&variant, &ROOT, &key.path, key.values[step].clone())
            .map_err(|problem| vec![problem])?;
        ops.iter().for_each(|op| variant.apply(op));
    }
    planned::check(&variant, library).map(|(root, ..)| root)
}

/// Every combination, the last axis moving fastest.
pub(crate) fn combinations(sweeps: &[Sweep]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for sweep in sweeps {
        let mut longer = Vec::new();
        for before in &all {
            for step in &sweep.steps {
                let mut now = before.clone();
                now.extend(sweep.keys.iter().cloned().zip(step.iter().cloned()));
                longer.push(now);
            }
        }
        all = longer;
    }
    all
}
