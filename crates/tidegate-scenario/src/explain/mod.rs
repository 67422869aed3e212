//! A scenario in words: every default filled in and marked, and what the numbers amount to.
//!
//! It computes nothing that an engine reads.

mod advice;
mod calls;
mod cells;
mod classes;
mod dtm;
mod flow;
mod follow;
mod gate;
mod passing;
mod police;
mod queues;
mod request;
mod text;
mod tins;

use std::fmt::Write as _;

use tidegate_core::plan::{Plan, SourcePlan};

use crate::check::Form;
use crate::table::{Kind, WhenAbsent};
use text::item_text;

/// One line: a dotted key, its value in words, whether it is a default.
struct Row {
    key: String,
    text: String,
    default: bool,
}

impl Row {
    /// Whether the key is left out, and nothing is there without it: no loss, no delay, no policer.
    fn is_unused(&self) -> bool {
        self.default && (["no", "0", "0 s"].contains(&self.text.as_str()) || self.text.starts_with("no "))
    }
}

/// The whole explanation.
pub(crate) fn explain(root: &Form, plan: &Plan) -> String {
    let mut out = String::new();
    let mut rows = Vec::new();
    let mut skip = vec!["gate", "pool", "calls", "server", "flow", "traffic", "tcp", "sweep"];
    if plan.gates.iter().all(|gate| !gate.is_cell_gate()) {
        skip.push("cells");
    }
    rows_of(root, "", &skip, &mut rows);
    rows.retain(|row| plan.until_done || row.key != "limits.duration");
    write_rows("the run", &rows, &mut out);
    let counted = plan.duration.saturating_since(plan.warmup);
    let covers = if plan.until_done {
        let ends = plan.flows.iter().filter(|flow| flow.ends()).count();
        format!("the run ends when {} done, at {} at the latest", what_ends(ends), plan.duration)
    } else {
        format!("the summary covers {counted} of the {}", plan.duration)
    };
    consequence(&covers, &mut out);
    for named in root.table("gate").map_or(&[][..], |gates| gates.items.as_slice()) {
        let Some(form) = named.item.table() else { continue };
        gate::explain(&named.name, form, plan, &mut out);
    }
    for named in root.table("pool").map_or(&[][..], |pools| pools.items.as_slice()) {
        let Some(form) = named.item.table() else { continue };
        calls::explain_pool(&named.name, form, plan, &mut out);
    }
    for named in root.table("calls").map_or(&[][..], |calls| calls.items.as_slice()) {
        let Some(form) = named.item.table() else { continue };
        calls::explain_calls(&named.name, form, plan, &mut out);
    }
    for named in root.table("server").map_or(&[][..], |servers| servers.items.as_slice()) {
        let Some(form) = named.item.table() else { continue };
        request::explain_server(&named.name, form, plan, &mut out);
    }
    for named in root.table("flow").map_or(&[][..], |flows| flows.items.as_slice()) {
        let Some(form) = named.item.table() else { continue };
        flow::explain(&named.name, form, root, plan, &mut out);
    }
    for named in root.table("traffic").map_or(&[][..], |traffic| traffic.items.as_slice()) {
        let Some(form) = named.item.table() else { continue };
        let mut of_it = Vec::new();
        rows_of(form, "", &[], &mut of_it);
        of_it.retain(|row| !row.default || !["dscp", "from", "to"].contains(&row.key.as_str()));
        write_rows(&format!("traffic {}", named.name), &of_it, &mut out);
        copies(&named.name, plan.traffic.iter().map(|traffic| traffic.name.as_str()), &mut out);
        let is_it = |full: &str| full.split('.').next() == Some(&named.name);
        if let Some(SourcePlan::Messages(messages)) =
            plan.traffic.iter().find(|traffic| is_it(&traffic.name)).map(|traffic| &traffic.source)
        {
            cells::messages(messages).iter().for_each(|line| consequence(line, &mut out));
        }
    }
    out
}

/// The flows that come to an end.
fn what_ends(count: usize) -> String {
    match count {
        1 => "the flow that comes to an end is".to_owned(),
        count => format!("the {count} flows that come to an end are"),
    }
}

/// The rows of a table, those below it under dotted keys, but for `skip`.
fn rows_of(form: &Form, prefix: &str, skip: &[&str], rows: &mut Vec<Row>) {
    let open = form.section.keys.iter().filter(|row| row.kind != Kind::Later && !skip.contains(&row.name));
    for row in open {
        let key = format!("{prefix}{}", row.name);
        match form.get(row.name) {
            Some(item) => match item.table() {
                Some(below) => rows_of(below, &format!("{key}."), &[], rows),
                None => rows.push(Row { key, text: item_text(row.kind, item), default: !item.given }),
            },
            None if form.section.one_of => {}
            None => {
                let text = match row.default {
                    WhenAbsent::Words(words) => words.to_owned(),
                    _ => String::new(),
                };
                rows.push(Row { key, text, default: true });
            }
        }
    }
    for named in form.items.iter().filter(|named| form.section.find(&named.name).is_none()) {
        let text = named.item.list().iter().filter_map(|item| item.text()).collect::<Vec<_>>().join(", ");
        rows.push(Row { key: format!("{prefix}{}", named.name), text, default: false });
    }
}

fn write_rows(title: &str, rows: &[Row], out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    let _ = writeln!(out, "{title}");
    let (unused, shown): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_unused());
    let width = shown.iter().map(|row| row.key.len()).max().unwrap_or(0);
    for row in shown {
        let mark = match (row.default, row.text.is_empty()) {
            (true, true) => "(default: empty)",
            (true, false) => " (default)",
            _ => "",
        };
        let _ = writeln!(out, "  {:width$}  {}{mark}", row.key, row.text);
    }
    if !unused.is_empty() {
        let keys = unused.iter().map(|row| row.key.as_str()).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "  not used: {keys}");
    }
}

/// What follows from the rows above it.
fn consequence(text: &str, out: &mut String) {
    let _ = writeln!(out, "  => {text}");
}

/// Names the copies of a flow or traffic, if there is more than one.
fn copies<'a>(name: &str, all: impl Iterator<Item = &'a str>, out: &mut String) {
    let of_it: Vec<&str> = all.filter(|full| full.split('.').next() == Some(name)).collect();
    match of_it.as_slice() {
        [first, .., last] => {
            consequence(&format!("{} identical copies: {first} to {last}", of_it.len()), out)
        }
        [_] => {}
        [] => consequence("count is 0: none of it runs", out),
    }
}
