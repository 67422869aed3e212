//! What the summary says of pools, circuits and calls.

use serde::Serialize;
use tidegate_core::gate::Gate;
use tidegate_core::net::{CallCounts, Network};
use tidegate_core::plan::{GatePlan, Plan, RatePlan};
use tidegate_core::units::{Measured, PICOS_PER_SECOND};

/// A pool in numbers. Calls are those made inside the measured time; a call that is refused and made again counts each time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PoolSummary {
    /// Name in the scenario.
    pub name: String,
    /// What it has.
    pub capacity_bps: f64,
    /// Time average of what is reserved, of DTM channels of what they have.
    pub reserved_mean_bps: f64,
    /// Its largest value; none for DTM channels.
    pub reserved_max_bps: Option<f64>,
    /// The mean over the capacity.
    pub utilisation: f64,
    /// Its calls; a pool of DTM channels has none of these names.
    #[serde(flatten)]
    pub calls: Option<CallSummary>,
    /// Time average of the calls that wait for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_mean_calls: Option<f64>,
    /// Their largest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_max_calls: Option<u64>,
    /// How many still wait when the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_calls: Option<u64>,
}

/// Calls in numbers: those of a pool, of a circuit's gate or of a source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CallSummary {
    /// Calls made.
    pub calls_offered: u64,
    /// Calls granted, at once or after a wait.
    pub calls_carried: u64,
    /// Calls refused.
    pub calls_refused: u64,
    /// Calls that had to wait.
    pub calls_waited: u64,
    /// Calls of circuits given up while they waited, because no packet needed them any more.
    pub calls_withdrawn: u64,
    /// Calls that left the line because their patience was over.
    pub calls_abandoned: u64,
    /// Their share of the calls made.
    pub calls_abandoned_share: Option<f64>,
    /// Share of the calls that did not get at once what they asked for: refused, or had to wait.
    pub calls_blocked: Option<f64>,
    /// Mean wait from the call to its grant, of those granted; those granted at once count with zero.
    pub call_wait_mean_s: Option<f64>,
    /// Median wait.
    pub call_wait_p50_s: Option<f64>,
    /// 99th percentile.
    pub call_wait_p99_s: Option<f64>,
}

/// A circuit in numbers: only on gates with `rate.reserve`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CircuitSummary {
    /// Share of the measured time in which it was open.
    pub open_share: f64,
    /// The calls that open it, for all its directions.
    #[serde(flatten)]
    pub calls: CallSummary,
}

/// Calls without packets in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallsSummary {
    /// Name in the scenario.
    pub name: String,
    /// What became of them.
    #[serde(flatten)]
    pub calls: CallSummary,
}

impl CallSummary {
    fn new(counts: &CallCounts) -> CallSummary {
        CallSummary {
            calls_offered: counts.offered,
            calls_carried: counts.carried,
            calls_refused: counts.refused,
            calls_waited: counts.waited,
            calls_withdrawn: counts.withdrawn,
            calls_abandoned: counts.abandoned,
            calls_abandoned_share: counts.abandoned_share(),
            calls_blocked: counts.blocked(),
            call_wait_mean_s: counts.waits.mean_s(),
            call_wait_p50_s: counts.waits.quantile_s(0.5),
            call_wait_p99_s: counts.waits.quantile_s(0.99),
        }
    }
}

fn picos(measured: Measured) -> f64 {
    measured.until.saturating_since(measured.from).picos() as f64
}

pub(crate) fn pools(plan: &Plan, network: &Network, measured: Measured) -> Vec<PoolSummary> {
    plan.pools
        .iter()
        .enumerate()
        .map(|(index, pool)| pool_row(plan, network, index, pool.capacity.bps(), measured))
        .collect()
}

fn pool_row(plan: &Plan, network: &Network, index: usize, capacity: u64, measured: Measured) -> PoolSummary {
    let gates = plan.gates.iter().zip(network.gates());
    let channels =
        gates.filter(|(row, _)| matches!(&row.rate, RatePlan::Dtm(dtm) if dtm.pool == Some(index)));
    let given: Vec<u128> =
        channels.filter_map(|(_, gate)| gate.allocated()).map(|given| given.offered).collect();
    let (used, calls) = match network.pool_use(index) {
        Some((used, counts)) if given.is_empty() => (Some(used), Some(CallSummary::new(counts))),
        _ => (None, None),
    };
    let of_channels = given.iter().sum::<u128>() as f64 / PICOS_PER_SECOND as f64;
    let seconds = picos(measured) / PICOS_PER_SECOND as f64;
    let mean = used.map_or(of_channels / seconds, |used| used.reserved_mean_bps);
    PoolSummary {
        name: plan.pools[index].name.clone(),
        capacity_bps: capacity as f64,
        reserved_mean_bps: mean,
        reserved_max_bps: used.map(|used| used.reserved_max.bps() as f64),
        utilisation: mean / capacity as f64,
        calls,
        waiting_mean_calls: used.map(|used| used.waiting_mean),
        waiting_max_calls: used.map(|used| used.waiting_max),
        waiting_calls: used.map(|used| used.waiting),
    }
}

pub(crate) fn circuit(
    row: &GatePlan,
    gate: &Gate,
    network: &Network,
    measured: Measured,
) -> Option<CircuitSummary> {
    let calls = CallSummary::new(network.circuit_calls(&row.rate)?);
    Some(CircuitSummary { open_share: gate.open_inside()? as f64 / picos(measured), calls })
}

pub(crate) fn sources(plan: &Plan, network: &Network) -> Vec<CallsSummary> {
    let rows = plan.calls.iter().zip(network.source_calls());
    rows.map(|(row, counts)| CallsSummary { name: row.name.clone(), calls: CallSummary::new(counts) })
        .collect()
}

/// Circuits that were wanted in vain.
pub(crate) fn warnings(plan: &Plan, network: &Network) -> Vec<String> {
    let gates = plan.gates.iter().zip(network.gates());
    let in_vain = gates
        .filter(|(_, gate)| gate.open_inside() == Some(0) && gate.counters().arrived().total().packets > 0);
    in_vain
        .map(|(row, _)| {
            format!("gate.{}: packets came, and the circuit was not open in the measured time", row.name)
        })
        .collect()
}
