//! The summary of a run: one row per flow, gate and background source, over the measured
//! time `[warmup, duration)`. The names are an interface: other programs read them.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::cells::CellCounts;
use tidegate_core::gate::Gate;
use tidegate_core::net::{DropCounts, Network, Owner, measured, precision, seed};
use tidegate_core::plan::{GatePlan, Plan, RatePlan};
use tidegate_core::unit::{Cause, HeldBy, Limiter};
use tidegate_core::units::{Measured, PICOS_PER_SECOND};

use crate::calls::{self, CallsSummary, CircuitSummary, PoolSummary};
use crate::cells::{self, CellSummary, PacketsOfCells, Place};
use crate::losses::{self, LossSummary, PoliceSummary};
use crate::request_summary::RequestSummary;

/// A run in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// `sim` or `live`.
    pub engine: &'static str,
    /// The scenario's title.
    pub scenario: String,
    /// The run's seed.
    pub seed: u64,
    /// Which replication.
    pub replication: u64,
    /// End of the run.
    pub duration_s: f64,
    /// Where counting began.
    pub measured_from_s: f64,
    /// One row per flow.
    pub flows: Vec<FlowSummary>,
    /// One row per gate.
    pub gates: Vec<GateSummary>,
    /// One row per background source.
    pub traffic: Vec<TrafficSummary>,
    /// One row per flow with requests, then one of all together; without such a flow, none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestSummary>,
    /// One row per pool; none of them, no such name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolSummary>,
    /// One row per source of calls; none of them, no such name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallsSummary>,
    /// What to know before trusting the numbers.
    pub warnings: Vec<String>,
    /// Relative precision of the quantiles.
    pub quantile_precision: f64,
    /// Events handled by the engine.
    pub events: u64,
}

/// A flow in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSummary {
    /// Name in the scenario.
    pub name: String,
    /// Congestion controller.
    pub cc: &'static str,
    /// User bits that reached the receiver, each counted when it first arrives, in order or not, per second.
    pub goodput_bps: f64,
    /// User bits that became readable in order, per second. A gap that is filled makes all that waited
    /// behind it readable at once, so over a short time this can exceed goodput and the link's rate.
    pub in_order_bps: f64,
    /// IP bits of data segments that reached the receiver, headers and repeats included, per second.
    pub throughput_bps: f64,
    /// Goodput over what entered the network: distinct segments received / segments sent.
    pub efficiency: Option<f64>,
    /// Data segments sent, repeats included.
    pub segments_sent: u64,
    /// Distinct data segments received: those that brought at least one byte for the first time.
    pub segments_delivered: u64,
    /// Data segments sent again.
    pub segments_retransmitted: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Recoveries started by duplicate ACKs.
    pub fast_retransmits: u64,
    /// What gates dropped and tagged of its data; [`summarise`] fills it in.
    #[serde(flatten)]
    pub losses: LossSummary,
    /// What gates dropped on its way back, by reason; only reasons that occurred.
    pub back_drops: BTreeMap<&'static str, u64>,
    /// Mean round-trip time of segments sent once.
    pub rtt_mean_ms: Option<f64>,
    /// Median.
    pub rtt_p50_ms: Option<f64>,
    /// 99th percentile.
    pub rtt_p99_ms: Option<f64>,
    /// Time average of the congestion window.
    pub cwnd_mean_segments: f64,
    /// Its largest value.
    pub cwnd_max_segments: f64,
    /// Shares of the measured time since the flow's start by what limited it.
    pub limited_by: BTreeMap<String, f64>,
    /// From the start to the last byte in order, for a finite transfer that ended.
    pub completion_s: Option<f64>,
}

/// A gate in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateSummary {
    /// Name in the scenario.
    pub name: String,
    /// Work done over work offered by its rate law; none where nothing limits. Where a policer allows less
    /// than the law offers, `contract_utilisation` in its place.
    pub utilisation: Option<f64>,
    /// Packets that came. At a cell gate: packets segmented before it; none where some come as cells.
    pub offered_packets: Option<u64>,
    /// Packets that went on. At a cell gate: packets reassembled after it; none where some go on as cells.
    pub delivered_packets: Option<u64>,
    /// Packets dropped at the door or lost after service. At a cell gate: packets that lost their first cell there, or that AAL5 could not tell apart after it.
    pub dropped_packets: u64,
    /// `dropped_packets` by reason, as in the table of drops; only reasons that occurred.
    pub drops: BTreeMap<&'static str, u64>,
    /// Dropped over offered; of cells at a cell gate.
    pub loss: Option<f64>,
    /// Time average of the queue; none at a cell gate.
    pub queue_mean_packets: Option<f64>,
    /// Its largest value; none at a cell gate.
    pub queue_max_packets: Option<u64>,
    /// Its largest value in IP bytes; none at a cell gate.
    pub queue_max_bytes: Option<u64>,
    /// Mean wait for service, of a packet or cell.
    pub queue_delay_mean_ms: Option<f64>,
    /// Median wait.
    pub queue_delay_p50_ms: Option<f64>,
    /// 99th percentile of the wait.
    pub queue_delay_p99_ms: Option<f64>,
    /// Mean of the rate in force, bits on the gate's wire.
    pub rate_mean_bps: Option<f64>,
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
    /// Its policer; a gate without one has none of these names.
    #[serde(flatten)]
    pub police: Option<PoliceSummary>,
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
    /// That less the mean rate of all that came to the gate's door, on its wire, dropped packets included.
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

/// Background traffic in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficSummary {
    /// Name in the scenario.
    pub name: String,
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets that came to the end of their path.
    pub packets_delivered: u64,
    /// What gates dropped and tagged of them.
    #[serde(flatten)]
    pub losses: LossSummary,
    /// IP bits delivered per second.
    pub throughput_bps: f64,
}

/// The summary of a run that has ended, with the rows of its flows and of their requests; `network`
/// is finished.
#[must_use]
pub fn summarise(
    engine: &'static str,
    plan: &Plan,
    network: &Network,
    mut flows: Vec<FlowSummary>,
    requests: Vec<RequestSummary>,
    events: u64,
) -> Summary {
    let measured = measured(plan);
    let places = cells::places(plan);
    for (number, flow) in flows.iter_mut().enumerate() {
        flow.losses = losses::losses(network, Owner::Data(number));
        flow.back_drops = losses::by_reason(network.drops_of(Owner::Back(number)));
    }
    Summary {
        engine,
        scenario: plan.title.clone(),
        seed: plan.seed,
        replication: plan.replication,
        duration_s: plan.duration.as_secs_f64(),
        measured_from_s: measured.from.as_secs_f64(),
        flows,
        gates: network
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
                GateSummary { circuit, drops, police, ..gate_row(plan, n, gate, measured, cells) }
            })
            .collect(),
        traffic: traffic_rows(plan, network, measured),
        requests,
        pools: calls::pools(plan, network, measured),
        calls: calls::sources(plan, network),
        warnings: warnings(plan, network),
        quantile_precision: precision(plan).relative(),
        events,
    }
}

fn seconds(measured: Measured) -> f64 {
    measured.until.saturating_since(measured.from).as_secs_f64()
}

/// Shares of time by what limited a flow: every interval between two arrivals at the
/// receiver is owed to the gate where the later segment waited longest or, where it never
/// waited, to what had held the sender back; a congestion window that is small because a policer
/// dropped a packet is that policer's.
#[must_use]
pub fn limited_by(plan: &Plan, owed: &[(Cause, u64)]) -> BTreeMap<String, f64> {
    let total: u128 = owed.iter().map(|(_, span)| u128::from(*span)).sum();
    let mut shares = BTreeMap::new();
    for name in ["application", "congestion window", "receiver window"] {
        shares.insert(name.to_owned(), 0.0);
    }
    if total == 0 {
        return shares;
    }
    for (cause, span) in owed {
        let name = match cause.limiter() {
            Limiter::Gate(gate) => format!("gate.{}", plan.gates[gate].name),
            Limiter::Policer(gate) => format!("policer of {}", plan.gates[gate].name),
            Limiter::Sender(HeldBy::Application) => "application".to_owned(),
            Limiter::Sender(HeldBy::CongestionWindow) => "congestion window".to_owned(),
            Limiter::Sender(HeldBy::ReceiverWindow) => "receiver window".to_owned(),
        };
        *shares.entry(name).or_insert(0.0) += *span as f64 / total as f64;
    }
    shares
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
    let [offered, delivered, refused, lost] =
        [counters.offered(), counters.delivered(), counters.refused(), counters.lost()]
            .map(|phases| phases.measured());
    let waits = counters.waits();
    let dropped = refused.packets + lost.packets;
    let capacity = gate.capacity(row, seed(plan), measured);
    let by_packet = row.rate.counts_packets();
    let span = seconds(measured);
    let work = u128::from(PICOS_PER_SECOND);
    let bytes = |work_done: u128| (!by_packet).then(|| ((work_done + 4 * work) / (8 * work)) as u64);
    let of_law = capacity.filter(|capacity| capacity.offered > 0).map(|capacity| {
        let done = if by_packet {
            f64::from(1_000_000) * (delivered.packets + lost.packets) as f64
        } else {
            8.0 * (delivered.bytes + lost.bytes) as f64
        };
        done / (capacity.offered as f64 / PICOS_PER_SECOND as f64)
    });
    let utilisation = match losses::police(gate, DropCounts::default(), None) {
        Some(police) if losses::contract_limits(gate, capacity, by_packet) => {
            Some(police.contract_utilisation)
        }
        _ => of_law,
    };
    let unused_bytes = capacity.and_then(|capacity| capacity.unused).and_then(bytes);
    let in_transit_bytes = unused_bytes.and_then(|unused| {
        let of = capacity?;
        let rounded = bytes(of.in_transit)?;
        // Three roundings to whole bytes: the last one takes up the difference.
        let rest = bytes(of.offered)?.checked_sub(delivered.bytes + lost.bytes + unused)?;
        Some(if rest.abs_diff(rounded) <= 1 { rest } else { rounded })
    });
    let millis = |seconds: f64| seconds * 1e3;
    let of_packets = cells.is_none();
    let packets = match cells {
        Some((place, counts)) => place.packets(counts),
        None => {
            PacketsOfCells { offered: Some(offered.packets), delivered: Some(delivered.packets), dropped }
        }
    };
    GateSummary {
        name: row.name.clone(),
        utilisation,
        offered_packets: packets.offered,
        delivered_packets: packets.delivered,
        dropped_packets: packets.dropped,
        drops: BTreeMap::new(),
        loss: (offered.packets > 0).then(|| dropped as f64 / offered.packets as f64),
        queue_mean_packets: of_packets.then(|| counters.queue_mean()),
        queue_max_packets: of_packets.then_some(counters.queue_max),
        queue_max_bytes: of_packets.then_some(counters.queue_max_bytes),
        queue_delay_mean_ms: waits.mean_s().map(millis),
        queue_delay_p50_ms: waits.quantile_s(0.5).map(millis),
        queue_delay_p99_ms: waits.quantile_s(0.99).map(millis),
        rate_mean_bps: capacity
            .filter(|_| !by_packet)
            .map(|capacity| capacity.offered as f64 / PICOS_PER_SECOND as f64 / span),
        delivered_bytes: delivered.bytes,
        capacity_bytes: capacity.and_then(|capacity| bytes(capacity.offered)),
        unused_bytes,
        in_transit_bytes,
        allocation: allocation(row, gate, offered.bytes, span),
        feedback: feedback(row, gate),
        circuit: None,
        police: None,
        cells: cells.map(|(place, counts)| place.cells(&counters, counts)),
    }
}

/// `offered_bytes` came to the door in `span` seconds.
fn allocation(row: &GatePlan, gate: &Gate, offered_bytes: u64, span: f64) -> Option<AllocationSummary> {
    let (RatePlan::Dtm(channel), Some(given)) = (&row.rate, gate.allocated()) else { return None };
    let slot = channel.settings.slot.bps() as f64;
    let mean = given.offered as f64 / PICOS_PER_SECOND as f64 / span;
    Some(AllocationSummary {
        slots_mean: mean / slot,
        slots_min: given.least.bps() as f64 / slot,
        slots_max: given.most.bps() as f64 / slot,
        allocation_changes: given.changes,
        allocated_bps_mean: mean,
        overallocation_bps_mean: mean - offered_bytes as f64 * 8.0 / span,
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

fn traffic_rows(plan: &Plan, network: &Network, measured: Measured) -> Vec<TrafficSummary> {
    plan.traffic
        .iter()
        .zip(network.traffic_counts())
        .enumerate()
        .map(|(number, (row, counts))| TrafficSummary {
            losses: losses::losses(network, Owner::Traffic(number)),
            name: row.name.clone(),
            packets_sent: counts.sent.packets,
            packets_delivered: counts.delivered.packets,
            throughput_bps: counts.delivered.bytes as f64 * 8.0 / seconds(measured),
        })
        .collect()
}

fn warnings(plan: &Plan, network: &Network) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(calls::warnings(plan, network));
    for (row, gate) in plan.gates.iter().zip(network.gates()) {
        let stops = matches!(
            row.rate,
            RatePlan::RateTrace { at_end: tidegate_core::plan::AtEnd::Stop, .. }
                | RatePlan::Opportunities { at_end: tidegate_core::plan::AtEnd::Stop, .. }
        );
        let held = gate.counters().held().packets;
        if stops && held > 0 {
            let what = if row.is_cell_gate() { "cells" } else { "packets" };
            warnings
                .push(format!("gate.{}: {held} {what} were still there when its trace had ended", row.name));
        }
    }
    warnings
}
