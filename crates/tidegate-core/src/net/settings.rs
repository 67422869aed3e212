//! What a plan says to every part of a run: its seed, its measured time, how finely it is recorded.

use crate::gate::Precision;
use crate::plan::{Plan, RecordLevel};
use crate::random::Seed;
use crate::units::Measured;

/// With more gates and flows than this, quantiles are kept coarsely.
const MANY_ELEMENTS: usize = 256;

/// The seed that a plan's streams derive from.
#[must_use]
pub fn seed(plan: &Plan) -> Seed {
    Seed { seed: plan.seed, replication: plan.replication }
}

/// What a plan's summaries count.
#[must_use]
pub fn measured(plan: &Plan) -> Measured {
    Measured { from: plan.warmup, until: plan.duration }
}

/// How finely a plan's quantiles are kept.
#[must_use]
pub fn precision(plan: &Plan) -> Precision {
    let elements = plan.gates.len() + plan.flows.len();
    if elements > MANY_ELEMENTS { Precision::Coarse } else { Precision::Fine }
}

/// How finely the delays of background traffic are kept.
#[must_use]
pub fn traffic_precision(plan: &Plan) -> Precision {
    if plan.traffic.len() > MANY_ELEMENTS { Precision::Coarse } else { precision(plan) }
}

/// What a plan records of a gate.
pub(super) fn record_level(plan: &Plan, gate: usize) -> RecordLevel {
    match &plan.record.gates {
        Some(chosen) if chosen.binary_search(&gate).is_err() => RecordLevel::Summary,
        _ => plan.record.level,
    }
}
