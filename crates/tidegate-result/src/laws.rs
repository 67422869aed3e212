//! What a picture needs to know of each gate beside its columns: the limit of its queue, the constants of a token bucket, the
//! contract of a policer. Rates in bit/s.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::plan::{GatePlan, Plan, QueueLimit, RatePlan};
use tidegate_core::units::Rate;

/// What a picture shows of a gate beside its columns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GateLaw {
    queue_limit: Option<LimitOfQueue>,
    token_bucket: Option<Bucket>,
    contract: Option<Contracted>,
}

/// How many units a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LimitOfQueue {
    unit: &'static str,
    count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Bucket {
    rate_bps: u64,
    burst_bytes: u64,
    peak_bps: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Contracted {
    rate_bps: f64,
    peak_bps: Option<f64>,
}

/// Each gate's, by its name.
#[must_use]
pub fn laws(plan: &Plan) -> BTreeMap<&str, GateLaw> {
    plan.gates.iter().map(|gate| (gate.name.as_str(), of_gate(gate))).collect()
}

fn of_gate(gate: &GatePlan) -> GateLaw {
    let token_bucket = match gate.rate {
        RatePlan::TokenBucket { rate, burst_bytes, peak, .. } => {
            Some(Bucket { rate_bps: rate.bps(), burst_bytes, peak_bps: peak.map(Rate::bps) })
        }
        _ => None,
    };
    let contract =
        gate.contract().map(|contract| Contracted { rate_bps: contract.rate, peak_bps: contract.peak });
    GateLaw { queue_limit: queue_limit(gate.queue.limit), token_bucket, contract }
}

/// The limit of a queue; `None`: it has none.
#[must_use]
pub fn queue_limit(limit: QueueLimit) -> Option<LimitOfQueue> {
    let (unit, count) = match limit {
        QueueLimit::Unlimited => return None,
        QueueLimit::Packets(packets) => ("packets", packets),
        QueueLimit::Bytes(bytes) => ("bytes", bytes),
        QueueLimit::Cells(cells) => ("cells", cells),
    };
    Some(LimitOfQueue { unit, count })
}
