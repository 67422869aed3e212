//! The plan as JSON, for theories and advice. Times in picoseconds, rates in bit/s, sizes in bytes.
//! `python/tidegate/_ask/plan.py` has a type for each object here; the two change together.

use serde_json::{Value, json};
use tidegate_core::plan::{
    AppPlan, Arithmetic, ArrivalPlan, Blocked, CallsPlan, CoDelPlan, CongestionPlan, Discipline, FlowPlan,
    Framing, GatePlan, HoldingPlan, Increase, JitterPlan, LossPlan, Plan, PoolOrder, PoolPlan, QueueCounts,
    RatePlan, RtoPlan, StartPlan, StepThreshold, TcpPlan,
};
use tidegate_core::units::{Rate, Span, Speed};

pub(crate) fn to_json(plan: &Plan) -> Value {
    json!({
        "title": plan.title,
        "duration_ps": plan.duration.picos(),
        "warmup_ps": plan.warmup.picos(),
        "gates": plan.gates.iter().map(gate).collect::<Vec<_>>(),
        "flows": plan.flows.iter().map(flow).collect::<Vec<_>>(),
        "pools": plan.pools.iter().map(pool).collect::<Vec<_>>(),
        "reservations": plan.reservations.iter().map(|row| json!({
            "name": row.name,
            "demands": row.demands.iter().map(|demand| json!({ "pool": demand.pool, "bps": demand.rate.bps() })).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "calls": plan.calls.iter().map(calls).collect::<Vec<_>>(),
        "traffic": plan.traffic.iter().map(|traffic| &traffic.name).collect::<Vec<_>>(),
    })
}

fn pool(pool: &PoolPlan) -> Value {
    let order = match pool.order {
        PoolOrder::Asked => "asked",
        PoolOrder::FirstFit => "first fit",
    };
    json!({ "name": pool.name, "capacity_bps": pool.capacity.bps(), "order": order })
}

fn calls(calls: &CallsPlan) -> Value {
    let length = |holding: HoldingPlan| match holding {
        HoldingPlan::Constant(span) => json!({ "kind": "constant", "mean_ps": span.picos() }),
        HoldingPlan::Exponential(mean) => json!({ "kind": "exponential", "mean_ps": mean.picos() }),
    };
    let (blocked, retry) = match calls.blocked {
        Blocked::Wait => ("wait", None),
        Blocked::Refuse => ("refuse", None),
        Blocked::Retry(after) => ("refuse", Some(after.picos())),
    };
    let (every, sources, idle) = match calls.arrivals {
        ArrivalPlan::Every(gap) => (Some(length(gap)), None, None),
        ArrivalPlan::Sources { count, idle } => (None, Some(count), Some(length(idle))),
    };
    let demands = calls.demands.iter();
    json!({
        "name": calls.name,
        "start_ps": calls.start.picos(),
        "every": every,
        "sources": sources,
        "idle": idle,
        "patience": calls.patience.map(length),
        "hold": length(calls.hold),
        "setup_ps": calls.setup.picos(),
        "demands": demands.map(|each| json!({ "pool": each.pool, "bps": each.rate.bps() })).collect::<Vec<_>>(),
        "blocked": blocked,
        "retry_ps": retry,
    })
}

fn gate(gate: &GatePlan) -> Value {
    let framing = match gate.framing {
        Framing::Ip => json!({ "kind": "ip" }),
        Framing::Overhead { overhead, minimum } => {
            json!({ "kind": "overhead", "overhead": overhead, "minimum": minimum })
        }
        Framing::Aal5 { llc } | Framing::CellPackets { llc } => json!({ "kind": "aal5", "llc": llc }),
    };
    json!({
        "name": gate.name,
        "rate": rate(&gate.rate),
        "queue_limit": tidegate_result::queue_limit(gate.queue.limit),
        "discipline": gate.classes.as_ref().map_or(gate.queue.discipline.name(), |classes| classes.scheduler.name()),
        "aqm": aqm(gate.queue.discipline),
        "queue_counts_all": gate.queue.counts == QueueCounts::All,
        "framing": framing,
        "loses": gate.loss != LossPlan::None,
        "slotted": gate.cells.slotted,
        "epd": gate.cells.epd,
        "polices": gate.police.is_some() || gate.marker.is_some(),
        "contract": contract(gate),
        "loss": match gate.loss {
            LossPlan::None => json!(0.0),
            LossPlan::Independent { probability } => json!(probability),
            LossPlan::GilbertElliott { .. } | LossPlan::Every { .. } => json!(null),
        },
        "gilbert_elliott": match gate.loss {
            LossPlan::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => json!({
                "good_to_bad": good_to_bad, "bad_to_good": bad_to_good, "loss_good": loss_good, "loss_bad": loss_bad,
            }),
            _ => json!(null),
        },
        "delay_ps": gate.delay.picos(),
        "jitters": gate.jitter != JitterPlan::None,
    })
}

/// The constants of a discipline that stand in its plan; null where it has none, or where they stand in classes.
fn aqm(discipline: Discipline) -> Value {
    let codel = |plan: CoDelPlan| {
        json!({
            "target_ps": plan.target.picos(), "interval_ps": plan.interval.picos(),
            "ce_threshold_ps": plan.ce_threshold.map(Span::picos),
        })
    };
    let millionths = |value: u32| f64::from(value) / 1e6;
    match discipline {
        Discipline::DropTail | Discipline::Cake(_) => json!(null),
        Discipline::Step(threshold) => match threshold {
            StepThreshold::Packets(count) => json!({ "unit": "packets", "count": count }),
            StepThreshold::Bytes(count) => json!({ "unit": "bytes", "count": count }),
        },
        Discipline::Red(red) => json!({
            "unit": if red.in_bytes { "bytes" } else { "packets" },
            "min": red.min, "max": red.max, "max_p": red.max_p as f64 / 1e18, "weight": f64::from(red.weight) / 1e9,
            "gentle": red.gentle, "adaptive": red.adaptive.is_some(), "by_colour": red.colours != [None; 3],
        }),
        Discipline::CoDel(plan) => codel(plan),
        Discipline::FqCoDel(plan) => {
            let mut found = codel(plan.codel);
            found["queues"] = json!(plan.queues);
            found["quantum"] = json!(plan.quantum);
            found["limit"] = json!(plan.limit);
            found["memory"] = json!(plan.memory);
            found
        }
        Discipline::Pie(pie) => json!({
            "target_ps": pie.target.picos(), "update_ps": pie.update.picos(),
            "alpha": millionths(pie.alpha), "beta": millionths(pie.beta), "max_burst_ps": pie.max_burst.picos(),
        }),
        Discipline::DualPi2(plan) => json!({
            "target_ps": plan.target.picos(), "update_ps": plan.update.picos(),
            "alpha": millionths(plan.alpha), "beta": millionths(plan.beta),
            "coupling": millionths(plan.coupling), "step_ps": plan.step.picos(), "range_ps": plan.range.picos(),
            "classic_share": millionths(plan.classic_share),
        }),
    }
}

/// What a policer of one rate that drops allows; null where none polices, or in another way.
fn contract(gate: &GatePlan) -> Value {
    let plain = gate
        .police
        .as_ref()
        .is_some_and(|police| police.sustained.is_none() && police.per_flow.is_none() && !police.tags);
    match gate.contract() {
        Some(contract) if plain && gate.marker.is_none() => {
            json!({ "bps": contract.rate, "burst_bytes": contract.burst_bytes })
        }
        _ => json!(null),
    }
}

/// The kind of a law, with what a closed form may ask of it.
fn rate(law: &RatePlan) -> Value {
    let bps = |rate: &Option<Rate>| rate.map(Rate::bps);
    let mut found = match law {
        RatePlan::Constant(Speed::Bits(rate)) => json!({ "bps": rate.bps() }),
        RatePlan::TokenBucket { rate, burst_bytes, peak, peak_burst_bytes } => {
            json!({
                "bps": rate.bps(), "burst_bytes": burst_bytes, "peak_bps": bps(peak),
                "peak_burst_bytes": peak_burst_bytes,
            })
        }
        RatePlan::Markov(chain) => json!({
            "rates_bps": chain.rates.iter().map(|rate| rate.bps()).collect::<Vec<_>>(),
            "holding_ps": chain.mean_holding.iter().map(|span| span.picos()).collect::<Vec<_>>(),
            "step_ps": chain.step.map(Span::picos),
            "ring": chain.transitions.is_none(),
        }),
        RatePlan::Follow(follow) => json!({
            "gate": follow.gate,
            "every_ps": follow.every.picos(),
            "lag_ps": follow.lag.picos(),
            "m": follow.blocks.samples,
            "n": follow.blocks.blocks,
            "share": follow.share.parts() as f64 / 1e12,
            "initial_bps": follow.initial.bps(),
            "min_bps": follow.min.bps(),
            "peak_bps": bps(&follow.peak),
        }),
        // No theory asks more than the kind.
        _ => json!({}),
    };
    found["kind"] = json!(law.kind());
    found
}

fn flow(flow: &FlowPlan) -> Value {
    let app = match flow.app {
        AppPlan::Bulk => "bulk",
        AppPlan::Transfer { .. } => "transfer",
        AppPlan::Source(_) => "source",
        AppPlan::Request(_) => "requests",
    };
    let start = match flow.start {
        StartPlan::At(at) => Some(at.picos()),
        StartPlan::Uniform(..) => None,
    };
    json!({
        "name": flow.name,
        "path": flow.path,
        "back": flow.back,
        "back_delay_ps": flow.back_delay.picos(),
        "start_ps": start,
        "app": app,
        "tcp": tcp(&flow.tcp),
    })
}

fn tcp(tcp: &TcpPlan) -> Value {
    let increase = match tcp.increase {
        Increase::PerWindow => "per window",
        Increase::PerAck => "per ack",
        Increase::Random => "random",
    };
    let delayed = tcp.delayed_ack.map(
        |delayed| json!({ "every": delayed.every, "timeout_ps": delayed.timeout.map(|timeout| timeout.picos()) }),
    );
    let (least_timeout, fixed_rto) = match tcp.rto {
        RtoPlan::Estimated { min, .. } => (min, None),
        RtoPlan::Fixed { rto, .. } => (rto, Some(rto.picos())),
    };
    let fast_retransmit = match tcp.cc {
        CongestionPlan::Tahoe { fast_retransmit } => fast_retransmit,
        _ => tcp.dupthresh.is_some(),
    };
    json!({
        "cc": tcp.cc.name(),
        "label": tcp.label(),
        "halves": tcp.cc.halves() && tcp.rules.arithmetic == Arithmetic::Rfc,
        "mss": tcp.mss,
        "headers": tcp.headers,
        "window": tcp.window,
        "initial_window": tcp.initial_window,
        "initial_ssthresh": tcp.initial_ssthresh,
        "arithmetic": match tcp.rules.arithmetic {
            Arithmetic::Rfc => "rfc",
            Arithmetic::Linux => "linux",
        },
        "sack": tcp.sack,
        "paces": tcp.rules.paces,
        "increase": increase,
        "fast_retransmit": fast_retransmit,
        "fixed_rto_ps": fixed_rto,
        "delayed_ack": delayed,
        "quick_acks": tcp.quick_acks,
        "handshake": tcp.handshake,
        "timestamps": tcp.timestamps,
        "least_timeout_ps": least_timeout.picos(),
    })
}
