//! What a picture needs to know of each gate beside its columns, as JSON: the limit of its
//! queue, the constants of a token bucket, the contract of a policer. Rates in bit/s.

use serde_json::{Value, json};
use tidegate_core::plan::{GatePlan, Plan, RatePlan};
use tidegate_core::units::Rate;

use crate::plan;

pub(crate) fn to_json(plan: &Plan) -> Value {
    plan.gates.iter().map(|gate| (gate.name.clone(), of_gate(gate))).collect()
}

fn of_gate(gate: &GatePlan) -> Value {
    let bucket = match gate.rate {
        RatePlan::TokenBucket { rate, burst_bytes, peak, .. } => json!({
            "rate_bps": rate.bps(),
            "burst_bytes": burst_bytes,
            "peak_bps": peak.map(Rate::bps),
        }),
        _ => Value::Null,
    };
    let contract =
        gate.contract().map(|contract| json!({ "rate_bps": contract.rate, "peak_bps": contract.peak }));
    json!({ "queue_limit": plan::queue_limit(gate.queue.limit), "token_bucket": bucket, "contract": contract })
}
