//! The classes of a gate in numbers.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::gate::{ClassCounters, Gate};
use tidegate_core::plan::{ClassPlan, GatePlan};

use super::waiting::WaitingSummary;

/// A class of a gate in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassSummary {
    /// Name in the scenario.
    pub name: String,
    /// Its packets whose fate was decided in the measured time, whenever they came: `delivered_packets` and `dropped_packets`;
    /// a class of cells has no such name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_packets: Option<u64>,
    /// Of these, packets that went on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_packets: Option<u64>,
    /// At a cell gate: its cells, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_cells: Option<u64>,
    /// Of these, cells that went on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_cells: Option<u64>,
    /// Their bytes on the gate's wire.
    pub delivered_bytes: u64,
    /// Packets dropped at their arrival or from its queue, or lost after service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_packets: Option<u64>,
    /// At a cell gate: cells, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_cells: Option<u64>,
    /// `dropped_packets` by reason, as in the table of drops; at a cell gate `dropped_cells`, where the gate's own `drops` are packets. Only
    /// reasons that occurred.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets marked CE; a class whose queue marks none has no such name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked_packets: Option<u64>,
    /// Time average of its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_mean_packets: Option<f64>,
    /// Its largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_max_packets: Option<u64>,
    /// At a cell gate: time average of its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_mean_cells: Option<f64>,
    /// Its largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_max_cells: Option<u64>,
    /// Its largest value in IP bytes, at a cell gate in bytes of cells.
    pub queue_max_bytes: u64,
    /// Mean wait for service, of those that came in the measured time and whose service began in it.
    pub queue_delay_mean_ms: Option<f64>,
    /// Median wait.
    pub queue_delay_p50_ms: Option<f64>,
    /// 99th percentile of the wait.
    pub queue_delay_p99_ms: Option<f64>,
    /// The longest wait.
    pub queue_delay_max_ms: Option<f64>,
    /// What still waited at the end of the run, and is in no wait above.
    #[serde(flatten)]
    pub waiting: WaitingSummary,
}

pub(super) fn rows(plan: &GatePlan, gate: &Gate) -> Vec<ClassSummary> {
    let plans = plan.classes.iter().flat_map(|classes| &classes.classes);
    plans
        .zip(gate.class_counters())
        .map(|(class, counted)| row(class, counted, plan.is_cell_gate()))
        .collect()
}

fn row(plan: &ClassPlan, counted: &ClassCounters, is_cell: bool) -> ClassSummary {
    let counters = &counted.counters;
    let delivered = counters.delivered().measured();
    let waits = counters.waits();
    let [offered, passed, dropped] =
        [counters.offered().packets, delivered.packets, counters.dropped().packets];
    let packets = |units: u64| (!is_cell).then_some(units);
    let cells = |units: u64| is_cell.then_some(units);
    let millis = |seconds: Option<f64>| seconds.map(|seconds| seconds * 1e3);
    ClassSummary {
        name: plan.name.clone(),
        offered_packets: packets(offered),
        delivered_packets: packets(passed),
        offered_cells: cells(offered),
        delivered_cells: cells(passed),
        delivered_bytes: delivered.bytes,
        dropped_packets: packets(dropped),
        dropped_cells: cells(dropped),
        drops: counted.drops().map(|(reason, count)| (reason.name(), count)).collect(),
        marked_packets: plan.queue.discipline.marks().then(|| counters.marked().measured().packets),
        queue_mean_packets: (!is_cell).then(|| counters.queue_mean()),
        queue_max_packets: packets(counters.queue_max()),
        queue_mean_cells: is_cell.then(|| counters.queue_mean()),
        queue_max_cells: cells(counters.queue_max()),
        queue_max_bytes: counters.queue_max_bytes(),
        queue_delay_mean_ms: millis(waits.mean_s()),
        queue_delay_p50_ms: millis(waits.quantile_s(0.5)),
        queue_delay_p99_ms: millis(waits.quantile_s(0.99)),
        queue_delay_max_ms: millis(waits.max_s()),
        waiting: WaitingSummary::new(counters, is_cell),
    }
}
