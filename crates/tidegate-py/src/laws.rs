//! What a picture needs to know of each gate beside its columns, as JSON: the limit of its
//! queue, the constants of a token bucket, the contract of a policer. Rates in bit/s.

use serde_json::{Value, json};
use tidegate_core::aal5::CELL_BITS;
use tidegate_core::gcra::Limit;
use tidegate_core::plan::{Framing, GatePlan, Plan, QueueLimit, RatePlan};
use tidegate_core::units::{PICOS_PER_SECOND, Rate};

pub(crate) fn to_json(plan: &Plan) -> Value {
    plan.gates.iter().map(|gate| (gate.name.clone(), of_gate(gate))).collect()
}

fn of_gate(gate: &GatePlan) -> Value {
    let limit = match gate.queue.limit {
        QueueLimit::Unlimited => Value::Null,
        QueueLimit::Packets(packets) => json!({ "unit": "packets", "count": packets }),
        QueueLimit::Bytes(bytes) => json!({ "unit": "bytes", "count": bytes }),
        QueueLimit::Cells(cells) => json!({ "unit": "cells", "count": cells }),
    };
    let bucket = match gate.rate {
        RatePlan::TokenBucket { rate, burst_bytes, peak } => json!({
            "rate_bps": rate.bps(),
            "burst_bytes": burst_bytes,
            "peak_bps": peak.map(Rate::bps),
        }),
        _ => Value::Null,
    };
    // A policer counts cells at a cell gate, elsewhere bytes.
    let bits = if matches!(gate.framing, Framing::Aal5 { .. }) { CELL_BITS } else { 8 };
    let contract = gate.police.map(|police| {
        let peak = bits_per_second(&police.peak, bits);
        let sustained = police.sustained.as_ref().map(|(rate, _)| bits_per_second(rate, bits));
        json!({ "rate_bps": sustained.unwrap_or(peak), "peak_bps": sustained.map(|_| peak) })
    });
    json!({ "queue_limit": limit, "token_bucket": bucket, "contract": contract })
}

/// One unit of so many bits for each increment of the limit.
fn bits_per_second(limit: &Limit, bits: u64) -> f64 {
    let increment = limit.increment();
    let picos = increment.whole() as f64 + increment.part() as f64 / increment.parts() as f64;
    bits as f64 * PICOS_PER_SECOND as f64 / picos
}
