//! What the summary says of cell gates.

use serde::Serialize;
use tidegate_core::cells::CellCounts;
use tidegate_core::gate::Counters;
use tidegate_core::plan::Plan;

/// A cell gate in numbers: only on gates with AAL5 framing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CellSummary {
    /// Cells whose fate was decided here in the measured time: `delivered_cells` and `dropped_cells`.
    pub offered_cells: u64,
    /// Of these, cells that went on.
    pub delivered_cells: u64,
    /// Cells dropped at their arrival, packet discard included, or lost after service.
    pub dropped_cells: u64,
    /// Time average of the queue.
    pub queue_mean_cells: f64,
    /// Its largest value.
    pub queue_max_cells: u64,
    /// Cells that came to reassembly after this gate for nothing: others of their packet were lost. None where no path leaves its cells here.
    pub wasted_cells: Option<u64>,
    /// Padding in the cells of packets that were segmented before this gate. None where no packet is.
    pub padding_bytes: Option<u64>,
}

/// What is known of packets at a cell gate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketsOfCells {
    /// Packets whose fate was decided; known where all are segmented before this gate.
    pub(crate) offered: Option<u64>,
    /// Packets that went on; known where all are reassembled after this gate.
    pub(crate) delivered: Option<u64>,
    /// Packets that lost their first cell here, or that reassembly after this gate could not tell apart.
    pub(crate) dropped: u64,
}

/// Where a gate stands in the sections of those that pass it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    passing: u64,
    beginning: u64,
    ending: u64,
}

/// The place of every gate.
pub(crate) fn places(plan: &Plan) -> Vec<Place> {
    let mut places = vec![Place::default(); plan.gates.len()];
    let is_cell = |gate: usize| plan.gates[gate].is_cell_gate();
    let flows = plan.flows.iter().flat_map(|flow| [&flow.path, &flow.back]);
    for path in flows.chain(plan.traffic.iter().map(|traffic| &traffic.path)) {
        for (n, gate) in path.iter().copied().enumerate().filter(|(_, gate)| is_cell(*gate)) {
            let outside = |other: Option<&usize>| u64::from(other.is_none_or(|other| !is_cell(*other)));
            places[gate].passing += 1;
            places[gate].beginning += outside(n.checked_sub(1).and_then(|before| path.get(before)));
            places[gate].ending += outside(path.get(n + 1));
        }
    }
    places
}

impl Place {
    pub(crate) fn packets(self, counts: CellCounts) -> PacketsOfCells {
        let delivered = (self.ending == self.passing).then_some(counts.reassembled);
        // Where packets go on as cells nobody sees when a whole one has left.
        let decided = delivered.map_or(counts.segmented, |delivered| delivered + counts.failed);
        PacketsOfCells {
            offered: (self.beginning == self.passing).then_some(decided),
            delivered,
            dropped: counts.failed,
        }
    }

    pub(crate) fn cells(self, counters: &Counters, counts: CellCounts) -> CellSummary {
        CellSummary {
            offered_cells: counters.offered().packets,
            delivered_cells: counters.delivered().measured().packets,
            dropped_cells: counters.dropped().packets,
            queue_mean_cells: counters.queue_mean(),
            queue_max_cells: counters.queue_max(),
            wasted_cells: (self.ending > 0).then_some(counts.wasted),
            padding_bytes: (self.beginning > 0).then_some(counts.padding_bytes),
        }
    }
}
