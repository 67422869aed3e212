//! The summary of a run: one row per flow, gate and background source, over the measured
//! time `[warmup, duration)`. The names are an interface: other programs read them.

mod classes;
mod flow;
mod flow_group;
mod gate;
mod own_time;
mod traffic;
mod waiting;

use serde::Serialize;
use tidegate_core::net::{Network, Owner, measured, precision, traffic_precision};
use tidegate_core::plan::{AtEnd, Plan, RatePlan};

use crate::calls::{self, CallsSummary, PoolSummary};
use crate::losses;
use crate::request_summary::RequestSummary;
use crate::video_summary::VideoSummary;
pub use classes::ClassSummary;
pub use flow::{FlowMeasure, FlowSummary};
pub use flow_group::FlowGroupSummary;
pub use gate::{AllocationSummary, FeedbackSummary, GateSummary};
pub use own_time::{FirstData, FlowTimes};
pub use traffic::{MediaSummary, TrafficGroupSummary, TrafficSummary, TransitSummary};
pub use waiting::WaitingSummary;

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
    /// One row per flow with copies (`count`), of all its copies together; without such a flow, none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flow_groups: Vec<FlowGroupSummary>,
    /// One row per gate.
    pub gates: Vec<GateSummary>,
    /// One row per background source.
    pub traffic: Vec<TrafficSummary>,
    /// One row per group of background sources, then one of all; without traffic, none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traffic_groups: Vec<TrafficGroupSummary>,
    /// One row per flow with requests, then one of all together; without such a flow, none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestSummary>,
    /// One row per flow with a player of video; none of them, no such name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub videos: Vec<VideoSummary>,
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

/// The summary of a run that has ended, with the rows of its flows, of their requests and of their videos; `network`
/// is finished.
#[must_use]
pub fn summarise(
    engine: &'static str,
    plan: &Plan,
    network: &Network,
    mut flows: Vec<FlowSummary>,
    (requests, videos): (Vec<RequestSummary>, Vec<VideoSummary>),
    events: u64,
) -> Summary {
    let measured = measured(plan);
    for (number, flow) in flows.iter_mut().enumerate() {
        flow.set_losses(losses::losses(network, Owner::Data(number)));
        flow.back_drops = losses::by_reason(network.drops_of(Owner::Back(number)));
    }
    Summary {
        engine,
        scenario: plan.title.clone(),
        seed: plan.seed,
        replication: plan.replication,
        duration_s: plan.duration.as_secs_f64(),
        measured_from_s: measured.from.as_secs_f64(),
        flow_groups: flow_group::rows(&flows, measured.from.as_secs_f64(), plan.duration.as_secs_f64()),
        flows,
        gates: gate::rows(plan, network, measured),
        traffic: traffic::rows(plan, network, measured),
        traffic_groups: traffic::groups(plan, network, measured),
        requests,
        videos,
        pools: calls::pools(plan, network, measured),
        calls: calls::sources(plan, network),
        warnings: warnings(plan, network),
        quantile_precision: precision(plan).relative().max(traffic_precision(plan).relative()),
        events,
    }
}

/// What a run says that was to last until all is done and reached `limits.duration` before; `open` flows were not done.
#[must_use]
pub fn not_done(plan: &Plan, open: usize) -> String {
    let all = plan.flows.iter().filter(|flow| flow.ends()).count();
    format!(
        "stopped at {}, limits.duration: {open} of {all} flows that come to an end were not done; raise \
         limits.duration, or write a duration",
        plan.duration
    )
}

fn warnings(plan: &Plan, network: &Network) -> Vec<String> {
    let mut warnings = Vec::new();
    warnings.extend(calls::warnings(plan, network));
    for (row, gate) in plan.gates.iter().zip(network.gates()) {
        let stops = matches!(
            row.rate,
            RatePlan::RateTrace { at_end: AtEnd::Stop, .. }
                | RatePlan::Opportunities { at_end: AtEnd::Stop, .. }
        );
        let held = if stops { gate.counters().held().packets } else { 0 };
        if held > 0 {
            let what = if row.is_cell_gate() { "cells" } else { "packets" };
            warnings
                .push(format!("gate.{}: {held} {what} were still there when its trace had ended", row.name));
        }
    }
    warnings
}
