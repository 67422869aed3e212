//! A gate in numbers.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::cells::CellCounts;
use tidegate_core::gate::Gate;
use tidegate_core::net::{DropCounts, Network, seed};
use tidegate_core::plan::{GatePlan, OnChange, Plan, RatePlan, SchedulerPlan};
use tidegate_core::units::{Measured, PICOS_PER_SECOND};

use super::classes::{self, ClassSummary};
use super::waiting::WaitingSummary;
use crate::calls::{self, CircuitSummary};
use crate::cells::{self, CellSummary, PacketsOfCells, Place};
use crate::losses::{self, ColourSummary, PoliceSummary};

/// A gate in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateSummary {
    /// Name in the scenario.
    pub name: String,
    /// Work done over work offered by its rate law; none where nothing limits. Where a policer allows less
    /// than the law offers, `contract_utilisation` in its place.
    pub utilisation: Option<f64>,
    /// Packets whose fate was decided here in the measured time, whenever they came: `delivered_packets` and
    /// `dropped_packets`. Those that were still here at the end are not part of it. At a cell gate: packets segmented before
    /// it, if some go on as cells; none where some come as cells.
    pub offered_packets: Option<u64>,
    /// Of these, packets that went on. At a cell gate: packets reassembled after it; none where some go on as cells.
    pub delivered_packets: Option<u64>,
    /// Packets dropped at their arrival or from the queue, or lost after service. At a cell gate: packets that lost their first cell there, or that AAL5 could not tell apart after it.
    pub dropped_packets: u64,
    /// `dropped_packets` by reason, as in the table of drops, so in packets at a cell gate too; its classes' are in cells there. Only reasons
    /// that occurred.
    pub drops: BTreeMap<&'static str, u64>,
    /// ACKs that an ACK filter dropped as needless: no losses, and neither in `dropped_packets` nor in `offered_packets`. A gate without CAKE
    /// has no such name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filtered_packets: Option<u64>,
    /// Packets marked CE; a gate whose queue marks none has no such name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked_packets: Option<u64>,
    /// `dropped_packets` over `offered_packets`, so never above 1; of cells at a cell gate. None where no fate was decided.
    pub loss: Option<f64>,
    /// Time average of the queue; none at a cell gate.
    pub queue_mean_packets: Option<f64>,
    /// Its largest value, what is there when the measured time begins included; none at a cell gate.
    pub queue_max_packets: Option<u64>,
    /// Its largest value in IP bytes; none at a cell gate.
    pub queue_max_bytes: Option<u64>,
    /// Mean wait for service, of a packet or cell that came in the measured time and whose service began in it.
    pub queue_delay_mean_ms: Option<f64>,
    /// Median wait.
    pub queue_delay_p50_ms: Option<f64>,
    /// 99th percentile of the wait.
    pub queue_delay_p99_ms: Option<f64>,
    /// What still waited at the end of the run, and is in no wait above.
    #[serde(flatten)]
    pub waiting: WaitingSummary,
    /// Mean of the rate in force, bits on the gate's wire.
    pub rate_mean_bps: Option<f64>,
    /// The rate that `utilisation` is of: that of the contract where a policer allows less than the law offers,
    /// else `rate_mean_bps`.
    pub limit_bps: Option<f64>,
    /// Of a token bucket the rate of its tokens, bits on the gate's wire: `rate_mean_bps` has its burst besides, so it is more in a
    /// short run. Other gates have no such name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket_bps: Option<f64>,
    /// Of a token bucket its peak rate, bits on the gate's wire. A bucket without a peak has no such name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket_peak_bps: Option<f64>,
    /// Bytes on the gate's wire that went on.
    pub delivered_bytes: u64,
    /// Bytes its rate law could have carried.
    pub capacity_bytes: Option<u64>,
    /// Bytes of that which passed with nothing to send.
    pub unused_bytes: Option<u64>,
    /// Bytes of a packet half sent at the end.
    pub in_transit_bytes: Option<u64>,
    /// What its allocator gave it; a gate without one has none of these names.
    #[serde(flatten)]
    pub allocation: Option<AllocationSummary>,
    /// What was fed back to it; a gate that follows nobody has none of these names.
    #[serde(flatten)]
    pub feedback: Option<FeedbackSummary>,
    /// Its calls; a gate that is no circuit has none of these names.
    #[serde(flatten)]
    pub circuit: Option<CircuitSummary>,
    /// Its classes, in the order of the file; a gate without classes has no such name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassSummary>,
    /// Its policer; a gate without one has none of these names.
    #[serde(flatten)]
    pub police: Option<PoliceSummary>,
    /// Its three-colour marker; a gate without one has none of these names.
    #[serde(flatten)]
    pub colours: Option<ColourSummary>,
    /// Its cells; a gate that passes packets has none of these names.
    #[serde(flatten)]
    pub cells: Option<CellSummary>,
}

/// What an allocator gave a gate, in numbers: only on gates with `rate.dtm`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AllocationSummary {
    /// Time average of the slots in force: the rate over that of one slot, not rounded.
    pub slots_mean: f64,
    /// The fewest in force at any time.
    pub slots_min: f64,
    /// The most.
    pub slots_max: f64,
    /// How often the rate changed; a decision that leaves it as it is does not count.
    pub allocation_changes: u64,
    /// Time average of the rate in force.
    pub allocated_bps_mean: f64,
    /// That less the mean rate of all that came to the gate, on its wire, dropped packets included.
    pub overallocation_bps_mean: f64,
}

/// A rate fed back to a gate, in numbers: only on gates with `rate.follow` or `rate.abr`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FeedbackSummary {
    /// The least rate in force at any time.
    pub rate_min_bps: f64,
    /// The largest.
    pub rate_max_bps: f64,
    /// How often the rate changed; a value that leaves it as it is does not count.
    pub rate_changes: u64,
}

/// One row per gate; `network` is finished.
pub(super) fn rows(plan: &Plan, network: &Network, measured: Measured) -> Vec<GateSummary> {
    let places = cells::places(plan);
    network
        .gates()
        .iter()
        .enumerate()
        .map(|(n, gate)| {
            let is_cell = plan.gates[n].is_cell_gate();
            let cells = is_cell.then(|| (places[n], network.cell_counts(n).unwrap_or_default()));
            let circuit = calls::circuit(&plan.gates[n], gate, network, measured);
            let dropped = network.drops_at(n);
            let police = losses::police(gate, dropped, cells.map(|(_, counts)| counts));
            let drops = losses::by_reason(dropped);
            GateSummary {
                circuit,
                drops,
                police,
                colours: losses::colours(gate),
                ..gate_row(plan, n, gate, measured, cells)
            }
        })
        .collect()
}

/// `cells`: the place of a cell gate and what it counted beside cells.
fn gate_row(
    plan: &Plan,
    index: usize,
    gate: &Gate,
    measured: Measured,
    cells: Option<(Place, CellCounts)>,
) -> GateSummary {
    let row = &plan.gates[index];
    let counters = gate.counters();
    let [arrived, delivered, lost] =
        [counters.arrived(), counters.delivered(), counters.lost()].map(|phases| phases.measured());
    let waits = counters.waits();
    let capacity = gate.capacity(row, seed(plan), measured);
    let by_packet = row.rate.counts_packets();
    let span = measured.seconds();
    let work = u128::from(PICOS_PER_SECOND);
    let bytes = |work_done: u128| (!by_packet).then(|| ((work_done + 4 * work) / (8 * work)) as u64);
    let of_law = capacity.filter(|capacity| capacity.offered > 0).map(|capacity| {
        let done = if by_packet {
            f64::from(1_000_000) * (delivered.packets + lost.packets) as f64
        } else {
            8.0 * (delivered.bytes + lost.bytes) as f64
        };
        let share = done / (capacity.offered as f64 / PICOS_PER_SECOND as f64);
        // The packet in service when the measured time begins counts whole when it has left.
        let keeps_its_speed = row.rate.default_on_change().is_some() && row.on_change == OnChange::Keep;
        if keeps_its_speed { share } else { share.min(1.0) }
    });
    let rate_mean_bps = capacity
        .filter(|_| !by_packet)
        .map(|capacity| capacity.offered as f64 / PICOS_PER_SECOND as f64 / span);
    let (utilisation, limit_bps) = match losses::police(gate, DropCounts::default(), None) {
        Some(police) if losses::contract_limits(gate, capacity, by_packet) => {
            (Some(police.contract_utilisation), Some(police.contract_bps))
        }
        _ => (of_law, rate_mean_bps),
    };
    let unused_bytes = capacity.and_then(|capacity| capacity.unused).and_then(bytes);
    let in_transit_bytes = unused_bytes.and_then(|unused| {
        let of = capacity?;
        let rounded = bytes(of.in_transit)?;
        // Three roundings to whole bytes: the last one takes up the difference.
        let rest = bytes(of.offered)?.checked_sub(delivered.bytes + lost.bytes + unused)?;
        Some(if rest.abs_diff(rounded) <= 1 { rest } else { rounded })
    });
    let (bucket_bps, bucket_peak_bps) = match row.rate {
        RatePlan::TokenBucket { rate, peak, .. } => {
            (Some(rate.bps() as f64), peak.map(|peak| peak.bps() as f64))
        }
        _ => (None, None),
    };
    let millis = |seconds: f64| seconds * 1e3;
    let (of_packets, is_cell) = (cells.is_none(), cells.is_some());
    let packets = match cells {
        Some((place, counts)) => place.packets(counts),
        None => PacketsOfCells {
            offered: Some(counters.offered().packets),
            delivered: Some(delivered.packets),
            dropped: counters.dropped().packets,
        },
    };
    GateSummary {
        name: row.name.clone(),
        utilisation,
        offered_packets: packets.offered,
        delivered_packets: packets.delivered,
        dropped_packets: packets.dropped,
        drops: BTreeMap::new(),
        filtered_packets: has_cake(row).then(|| counters.filtered().measured().packets),
        marked_packets: marks(row).then(|| counters.marked().measured().packets),
        loss: counters.loss(),
        queue_mean_packets: of_packets.then(|| counters.queue_mean()),
        queue_max_packets: of_packets.then(|| counters.queue_max()),
        queue_max_bytes: of_packets.then(|| counters.queue_max_bytes()),
        queue_delay_mean_ms: waits.mean_s().map(millis),
        queue_delay_p50_ms: waits.quantile_s(0.5).map(millis),
        queue_delay_p99_ms: waits.quantile_s(0.99).map(millis),
        waiting: WaitingSummary::new(&counters, is_cell),
        rate_mean_bps,
        limit_bps,
        bucket_bps,
        bucket_peak_bps,
        delivered_bytes: delivered.bytes,
        capacity_bytes: capacity.and_then(|capacity| bytes(capacity.offered)),
        unused_bytes,
        in_transit_bytes,
        allocation: allocation(row, gate, arrived.bytes, span),
        feedback: feedback(row, gate),
        circuit: None,
        classes: classes::rows(row, gate),
        police: None,
        colours: None,
        cells: cells.map(|(place, counts)| place.cells(&counters, counts)),
    }
}

/// Whether its queue may have an ACK filter.
fn has_cake(row: &GatePlan) -> bool {
    row.classes.as_ref().is_some_and(|classes| matches!(classes.scheduler, SchedulerPlan::Cake(_)))
}

/// Whether its queue marks packets, or that of a class.
fn marks(row: &GatePlan) -> bool {
    row.queue.discipline.marks() || row.classes.as_ref().is_some_and(|classes| classes.marks())
}

/// `arrived_bytes` arrived in `span` seconds.
fn allocation(row: &GatePlan, gate: &Gate, arrived_bytes: u64, span: f64) -> Option<AllocationSummary> {
    let (RatePlan::Dtm(channel), Some(given)) = (&row.rate, gate.allocated()) else { return None };
    let slot = channel.settings.slot.bps() as f64;
    let mean = given.offered as f64 / PICOS_PER_SECOND as f64 / span;
    Some(AllocationSummary {
        slots_mean: mean / slot,
        slots_min: given.least.bps() as f64 / slot,
        slots_max: given.most.bps() as f64 / slot,
        allocation_changes: given.changes,
        allocated_bps_mean: mean,
        overallocation_bps_mean: mean - arrived_bytes as f64 * 8.0 / span,
    })
}

fn feedback(row: &GatePlan, gate: &Gate) -> Option<FeedbackSummary> {
    let (RatePlan::Follow(_) | RatePlan::Abr(_), Some(given)) = (&row.rate, gate.allocated()) else {
        return None;
    };
    Some(FeedbackSummary {
        rate_min_bps: given.least.bps() as f64,
        rate_max_bps: given.most.bps() as f64,
        rate_changes: given.changes,
    })
}
