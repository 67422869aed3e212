//! What still waits at a gate when a run ends.

use serde::Serialize;
use tidegate_core::gate::Counters;

/// What still waited for service when the run ended, whenever it had come. No other number of waits counts it, because
/// nobody knows for how long it would have waited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitingSummary {
    /// Packets that still waited at the end; a cell gate has no such name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_packets: Option<u64>,
    /// At a cell gate: cells that still waited at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_cells: Option<u64>,
    /// For how long they had waited by then, on average; none where nothing waited.
    pub waiting_mean_ms: Option<f64>,
    /// For how long the one had waited that had waited longest.
    pub waiting_max_ms: Option<f64>,
}

impl WaitingSummary {
    pub(super) fn new(counters: &Counters, is_cell: bool) -> WaitingSummary {
        let waiting = counters.waiting();
        WaitingSummary {
            waiting_packets: (!is_cell).then(|| waiting.units()),
            waiting_cells: is_cell.then(|| waiting.units()),
            waiting_mean_ms: waiting.mean_s().map(|seconds| seconds * 1e3),
            waiting_max_ms: waiting.max_s().map(|seconds| seconds * 1e3),
        }
    }
}
