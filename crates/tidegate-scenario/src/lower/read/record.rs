//! `[record]`.

use tidegate_core::plan::{GroupPlan, Plan, RecordLevel, RecordPlan};
use tidegate_core::units::Span;
use tidegate_result::columns::{self, Gates};

use crate::check::{Form, Item, Value};
use crate::lower::draft::{Gate, User};
use crate::lower::notes::Notes;
use crate::spelling::{key_meant, value_meant};
use crate::units::Amount;

/// Columns that `[record]` may name for a gate of packets, or of cells.
fn gate_columns(of_cells: bool) -> Vec<&'static str> {
    let here = if of_cells { Gates::OfCells } else { Gates::OfPackets };
    let entries = columns::GATES.iter().filter(|entry| entry.gates == Gates::All || entry.gates == here);
    entries.filter(|entry| entry.can_be_named()).map(|entry| entry.name).collect()
}

/// Columns that `[record]` may name for a flow.
fn flow_columns() -> Vec<&'static str> {
    columns::FLOWS.iter().filter(|entry| entry.can_be_named()).map(|entry| entry.name).collect()
}

/// Reports names that are no column here. A recording holds every column, whichever are named.
fn check(items: &[Item], known: &[&str], notes: &mut Notes) {
    for item in items {
        let name = item.text().unwrap_or_default();
        if known.contains(&name) {
            continue;
        }
        let of_gate = known.contains(&"rate_bps");
        if of_gate && columns::GATES.iter().any(|entry| entry.name == name && entry.can_be_named()) {
            let (of, here) = match gate_columns(true).contains(&name) {
                true => ("cell gates", "this gate passes packets"),
                false => ("gates that pass packets", "this is a cell gate"),
            };
            let problem = format!("{name:?} is a column of {of}, and {here}");
            notes.wrong(item, problem, format!("columns here: {}", known.join(", ")));
            continue;
        }
        // "cwnd" for "cwnd_segments"
        let begun = known.iter().copied().find(|column| column.split('_').next() == Some(name));
        let meant = value_meant(begun.unwrap_or(name), known.iter().copied());
        let help = meant.unwrap_or_else(|| format!("columns here: {}", known.join(", ")));
        notes.wrong(item, format!("no column is called {name:?}"), help);
    }
}

/// How often columns are sampled when nothing is said.
const DEFAULT: Span = Span::from_millis(10);

pub(crate) fn record(
    root: &Form,
    gates: &[Gate<'_>],
    users: &[User<'_>],
    plan: &Plan,
    notes: &mut Notes,
) -> RecordPlan {
    let Some(form) = root.table("record") else { return RecordPlan::default() };
    let flows: Vec<&str> = users.iter().filter(|user| user.is_flow()).map(|user| user.name).collect();
    let mut named = Vec::new();
    for entry in form.items.iter().filter(|entry| form.section.find(&entry.name).is_none()) {
        let name = entry.name.as_str();
        let (gate, is_flow) = (gates.iter().find(|gate| gate.name == name), flows.contains(&name));
        if gate.is_some() || is_flow {
            let mut of_both = gate.map_or(vec![], |gate| gate_columns(gate.plan.is_cell_gate()));
            if is_flow {
                of_both.extend(flow_columns());
            }
            check(entry.item.list(), &of_both, notes);
            named.push(name);
            continue;
        }
        let all = || gates.iter().map(|row| row.name).chain(flows.iter().copied());
        let meant = key_meant(name, all().chain(["every", "groups", "packets"]));
        let help = meant.unwrap_or_else(|| {
            format!(
                "write every, groups, packets, or one of {}",
                all().take(20).collect::<Vec<_>>().join(", ")
            )
        });
        notes.wrong_at(entry.name_at, &entry.item.key, format!("no gate or flow is called {name:?}"), help);
    }
    let groups = groups(form, &flows, plan, notes);
    let is_any_named = !named.is_empty() || !groups.is_empty();
    let level = match form.get("every").map(|item| &item.value) {
        Some(Value::Amount(Amount::Time(span))) => RecordLevel::Every(*span),
        Some(Value::Word(_)) => RecordLevel::Events,
        _ if is_any_named => RecordLevel::Every(DEFAULT),
        _ => RecordLevel::Summary,
    };
    let chosen = |names: &mut dyn Iterator<Item = &str>, mark: char| -> Option<Vec<usize>> {
        let is_named = |full: &str| named.contains(&full.split(mark).next().unwrap_or(full));
        is_any_named
            .then(|| names.enumerate().filter(|(_, full)| is_named(full)).map(|(index, _)| index).collect())
    };
    RecordPlan {
        level,
        gates: chosen(&mut plan.gates.iter().map(|gate| gate.name.as_str()), '/'),
        flows: chosen(&mut plan.flows.iter().map(|flow| flow.name.as_str()), '.'),
        packets: form.flag("packets"),
        groups,
    }
}

/// The flows that are recorded together with their copies.
fn groups(form: &Form, flows: &[&str], plan: &Plan, notes: &mut Notes) -> Vec<GroupPlan> {
    let Some(item) = form.given("groups") else { return vec![] };
    let mut found: Vec<GroupPlan> = Vec::new();
    for entry in item.list() {
        let name = entry.text().unwrap_or_default();
        if !flows.contains(&name) {
            let meant = value_meant(name, flows.iter().copied());
            let names = || flows.iter().take(20).copied().collect::<Vec<_>>().join(", ");
            let help = meant.unwrap_or_else(|| format!("the flows are {}", names()));
            notes.wrong(entry, format!("no flow is called {name:?}"), help);
        } else if found.iter().any(|group| group.name == name) {
            notes.wrong(entry, format!("{name:?} is named twice"), "name each flow once");
        } else {
            let of_it = |full: &str| full.split('.').next() == Some(name);
            let copies = plan.flows.iter().enumerate().filter(|(_, flow)| of_it(&flow.name));
            let numbers = copies.map(|(index, _)| index).collect();
            found.push(GroupPlan { name: name.to_owned(), flows: numbers });
        }
    }
    if let Some(every) = form.get("every")
        && matches!(every.value, Value::Word(_))
        && !found.is_empty()
    {
        let help = "write a time for record.every, such as \"100 ms\", or leave record.groups out";
        notes.wrong(item, "groups are sampled at instants, and record.every is \"events\"", help);
    }
    found
}
