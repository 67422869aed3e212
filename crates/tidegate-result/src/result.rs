//! What comes out of a run: a summary and columns.

use tidegate_core::app::Exchange;
use tidegate_core::app::video::Download;
use tidegate_core::gate::{ClassRow, Gate, GateRow};
use tidegate_core::net::Dropped;
use tidegate_core::plan::{GatePlan, Plan, RatePlan};

use crate::columns::{self, Entry, Of};
use crate::rows::{AdviceRow, Column, FlowRow, GroupRow, Mark, PacketRecord};
use crate::summary::Summary;

/// A finished run.
#[derive(Debug)]
pub struct RunResult {
    /// One row per flow, gate and traffic, over the measured time.
    pub summary: Summary,
    /// Each gate's history, by gate; empty where it was not recorded.
    pub gates: Vec<Vec<GateRow>>,
    /// The history of each gate's classes, by gate; empty where there are none, or it was not recorded. A class has the
    /// number of its name ([`class_histories`]).
    pub classes: Vec<Vec<ClassRow>>,
    /// Bit rate of one slot, by gate; NaN where it has none.
    pub slot_bps: Vec<f64>,
    /// Each flow's history, by flow.
    pub flows: Vec<Vec<FlowRow>>,
    /// The history of each group of flows that is recorded together, one after the other.
    pub groups: Vec<GroupRow>,
    /// Every drop, in order of time.
    pub drops: Vec<Dropped>,
    /// Time-outs and fast retransmits.
    pub marks: Vec<Mark>,
    /// Each recorded flow's requests, in order of asking, by flow; those without an end last.
    pub requests: Vec<Vec<Exchange>>,
    /// Each recorded flow's segments of video, in order of asking, by flow.
    pub segments: Vec<Vec<Download>>,
    /// The advice that recorded flows have heard, in order of time; `None`: no packet carries a rate signal.
    pub advice: Option<Vec<AdviceRow>>,
    /// Every packet at both ends, if the plan asked for them.
    pub packets: Vec<PacketRecord>,
}

/// A named table of named columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// `flows`, `gates`, `drops`, `marks` or, where there are any, `groups`, `classes`, `requests`, `segments` and `advice`.
    pub name: &'static str,
    /// Name (with its unit) and values.
    pub columns: Vec<(&'static str, Column)>,
}

/// Bit rate of one slot; NaN where the gate has none.
#[must_use]
pub fn slot_bps(gate: &GatePlan) -> f64 {
    match &gate.rate {
        RatePlan::Dtm(channel) => channel.settings.slot.bps() as f64,
        _ => f64::NAN,
    }
}

/// Takes the histories of the classes of all gates. The classes are numbered by their names, each name once, in the order of
/// the plan.
pub fn class_histories(plan: &Plan, gates: &mut [Gate]) -> Vec<Vec<ClassRow>> {
    let mut names: Vec<&str> = Vec::new();
    let mut number = |name| {
        names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        }) as u32
    };
    let mut histories = Vec::new();
    for (row, gate) in plan.gates.iter().zip(gates) {
        let classes = row.classes.iter().flat_map(|classes| &classes.classes);
        let numbers: Vec<u32> = classes.map(|class| number(class.name.as_str())).collect();
        let mut rows = gate.take_class_history().unwrap_or_default();
        rows.iter_mut().for_each(|each| each.class = numbers[each.class as usize]);
        histories.push(rows);
    }
    histories
}

impl RunResult {
    /// Every recorded table in long form; index columns count the plan's flows, gates and background sources.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = flow_and_gate_tables(&self.flows, &self.gates, &self.slot_bps);
        tables.push(table("drops", columns::DROPS, &events(&self.drops)));
        tables.push(table("marks", columns::MARKS, &events(&self.marks)));
        if !self.groups.is_empty() {
            tables.push(table("groups", columns::GROUPS, &events(&self.groups)));
        }
        if self.summary.gates.iter().any(|gate| !gate.classes.is_empty()) {
            tables.push(table("classes", columns::CLASSES, &owned(&self.classes, |_| f64::NAN)));
        }
        if !self.summary.requests.is_empty() {
            tables.push(table("requests", columns::REQUESTS, &owned(&self.requests, |_| f64::NAN)));
        }
        if !self.summary.videos.is_empty() {
            tables.push(table("segments", columns::SEGMENTS, &owned(&self.segments, |_| f64::NAN)));
        }
        if let Some(advice) = &self.advice {
            tables.push(table("advice", columns::ADVICE, &events(advice)));
        }
        tables
    }
}

/// The tables `flows` and `gates` of these histories, by flow and by gate.
#[must_use]
pub fn flow_and_gate_tables(flows: &[Vec<FlowRow>], gates: &[Vec<GateRow>], slot_bps: &[f64]) -> Vec<Table> {
    vec![
        table("flows", columns::FLOWS, &owned(flows, |_| f64::NAN)),
        table("gates", columns::GATES, &owned(gates, |gate| slot_bps[gate as usize])),
    ]
}

/// A table of the entries' columns over these rows.
fn table<R>(name: &'static str, entries: &[Entry<R>], rows: &[Of<'_, R>]) -> Table {
    Table { name, columns: entries.iter().map(|entry| (entry.name, entry.of_rows(rows))).collect() }
}

/// Rows by whose they are.
fn owned<R>(rows: &[Vec<R>], slot_bps: impl Fn(u32) -> f64) -> Vec<Of<'_, R>> {
    let mut all = Vec::with_capacity(rows.iter().map(Vec::len).sum());
    for (index, own) in (0..).zip(rows) {
        let slot = slot_bps(index);
        all.extend(own.iter().map(|row| Of { index, row, slot_bps: slot }));
    }
    all
}

/// Rows that say themselves whose they are.
fn events<R>(rows: &[R]) -> Vec<Of<'_, R>> {
    rows.iter().map(|row| Of { index: 0, row, slot_bps: f64::NAN }).collect()
}
