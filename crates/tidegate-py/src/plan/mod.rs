//! The plan as JSON, for theories and advice. What it holds is declared in [`objects`], from which Python's types are made.

mod objects;
mod typed;

use pyo3::PyResult;
use serde_json::{Value, json};
use tidegate_core::plan::{
    AppPlan, Arithmetic, ArrivalPlan, Blocked, CallsPlan, ClassesPlan, CoDelPlan, CongestionPlan, Demand,
    Discipline, FlowPlan, Framing, GatePlan, HoldingPlan, Increase, JitterPlan, LinkLayer, LossPlan, Plan,
    PoolOrder, PoolPlan, QueueCounts, QueueLimit, RatePlan, ReadPlan, RtoPlan, SchedulerPlan, ShapedBytes,
    StartPlan, StepThreshold, TcpPlan, TransportPlan,
};
use tidegate_core::units::{Rate, Span, Speed};

use crate::error;
use objects as to;
pub(crate) use objects::python;
use typed::there;

pub(crate) fn to_json(plan: &Plan) -> PyResult<String> {
    let plan = to::Plan {
        title: plan.title.clone(),
        duration_ps: plan.duration.picos(),
        warmup_ps: plan.warmup.picos(),
        gates: plan.gates.iter().map(gate).collect(),
        flows: plan.flows.iter().map(flow).collect(),
        pools: plan.pools.iter().map(pool).collect(),
        reservations: plan
            .reservations
            .iter()
            .map(|row| to::Reservation { name: row.name.clone(), demands: demands(&row.demands) })
            .collect(),
        calls: plan.calls.iter().map(calls).collect(),
        traffic: plan.traffic.iter().map(|traffic| traffic.name.clone()).collect(),
    };
    error::to_json("the plan", &plan)
}

fn demands(demands: &[Demand]) -> Vec<to::Demand> {
    demands.iter().map(|demand| to::Demand { pool: demand.pool, bps: demand.rate.bps() }).collect()
}

fn pool(pool: &PoolPlan) -> to::Pool {
    let order = match pool.order {
        PoolOrder::Asked => to::Order::Asked,
        PoolOrder::FirstFit => to::Order::FirstFit,
    };
    to::Pool { name: pool.name.clone(), capacity_bps: pool.capacity.bps(), order }
}

fn length(holding: HoldingPlan) -> to::Length {
    let (kind, mean) = match holding {
        HoldingPlan::Constant(span) => (to::LengthKind::Constant, span),
        HoldingPlan::Exponential(mean) => (to::LengthKind::Exponential, mean),
    };
    to::Length { kind, mean_ps: mean.picos() }
}

fn calls(calls: &CallsPlan) -> to::Calls {
    let (blocked, retry_ps) = match calls.blocked {
        Blocked::Wait => (to::BlockedKind::Wait, None),
        Blocked::Refuse => (to::BlockedKind::Refuse, None),
        Blocked::Retry(after) => (to::BlockedKind::Refuse, Some(after.picos())),
    };
    let (every, sources, idle) = match calls.arrivals {
        ArrivalPlan::Every(gap) => (Some(length(gap)), None, None),
        ArrivalPlan::Sources { count, idle } => (None, Some(count), Some(length(idle))),
    };
    to::Calls {
        name: calls.name.clone(),
        start_ps: calls.start.picos(),
        every,
        sources,
        idle,
        patience: calls.patience.map(length),
        hold: length(calls.hold),
        setup_ps: calls.setup.picos(),
        demands: demands(&calls.demands),
        blocked,
        retry_ps,
    }
}

fn framing(framing: Framing) -> to::Framing {
    let of = |kind| to::Framing { kind, ..to::Framing::default() };
    match framing {
        Framing::Ip => of(to::FramingKind::Ip),
        Framing::Overhead { overhead, minimum } => to::Framing {
            overhead: there(overhead),
            minimum: there(minimum),
            ..of(to::FramingKind::Overhead)
        },
        Framing::Aal5 { llc } | Framing::CellPackets { llc } => {
            to::Framing { llc: there(llc), ..of(to::FramingKind::Aal5) }
        }
    }
}

fn queue_limit(limit: QueueLimit) -> Option<to::QueueLimit> {
    let (unit, count) = match limit {
        QueueLimit::Unlimited => return None,
        QueueLimit::Packets(count) => (to::LimitUnit::Packets, count),
        QueueLimit::Bytes(count) => (to::LimitUnit::Bytes, count),
        QueueLimit::Cells(count) => (to::LimitUnit::Cells, count),
    };
    Some(to::QueueLimit { unit, count })
}

fn gate(gate: &GatePlan) -> to::Gate {
    let discipline = gate.queue.discipline;
    to::Gate {
        name: gate.name.clone(),
        rate: rate(&gate.rate),
        queue_limit: queue_limit(gate.queue.limit),
        discipline: gate.classes.as_ref().map_or(discipline.name(), |classes| classes.scheduler.name()),
        aqm: gate.classes.as_deref().and_then(cake).or_else(|| aqm(discipline)),
        queue_counts_all: gate.queue.counts == QueueCounts::All,
        framing: framing(gate.framing),
        loses: gate.loss != LossPlan::None,
        slotted: gate.cells.slotted,
        epd: gate.cells.epd,
        polices: gate.police.is_some() || gate.marker.is_some(),
        contract: contract(gate),
        loss: match gate.loss {
            LossPlan::None => Some(0.0),
            LossPlan::Independent { probability } => Some(probability),
            LossPlan::GilbertElliott { .. } | LossPlan::Every { .. } => None,
        },
        gilbert_elliott: match gate.loss {
            LossPlan::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                Some(to::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad })
            }
            _ => None,
        },
        delay_ps: gate.least_delay().picos(),
        jitters: gate.jitter != JitterPlan::None,
    }
}

/// What CAKE counts, shapes and holds; null at other schedulers of classes.
fn cake(classes: &ClassesPlan) -> Option<Value> {
    let SchedulerPlan::Cake(tins) = &classes.scheduler else { return None };
    let (overhead, mpu, link) = match tins.bytes {
        ShapedBytes::Wire(Framing::Overhead { overhead, minimum }) => {
            (i64::from(overhead), minimum, LinkLayer::Plain)
        }
        ShapedBytes::Wire(_) => (0, 0, LinkLayer::Plain),
        ShapedBytes::Beyond { overhead, least, link } => (i64::from(overhead), least, link),
    };
    let compensation = match link {
        LinkLayer::Plain => "none",
        LinkLayer::Atm => "atm",
        LinkLayer::Ptm => "ptm",
    };
    Some(json!({
        "bandwidth_bps": tins.bandwidth.map(Rate::bps), "overhead": overhead, "mpu": mpu, "compensation": compensation,
        "memory": tins.memory,
    }))
}

/// The constants of a discipline that stand in its plan; null where it has none, or where they stand in classes.
fn aqm(discipline: Discipline) -> Option<Value> {
    let codel = |plan: CoDelPlan| {
        json!({
            "target_ps": plan.target.picos(), "interval_ps": plan.interval.picos(),
            "ce_threshold_ps": plan.ce_threshold.map(Span::picos),
        })
    };
    let millionths = |value: u32| f64::from(value) / 1e6;
    Some(match discipline {
        Discipline::DropTail | Discipline::Cake(_) => return None,
        Discipline::Step(threshold) => match threshold {
            StepThreshold::Packets(count) => json!({ "unit": "packets", "count": count }),
            StepThreshold::Bytes(count) => json!({ "unit": "bytes", "count": count }),
        },
        Discipline::Red(red) => json!({
            "unit": if red.in_bytes { "bytes" } else { "packets" },
            "min": red.min, "max": red.max, "max_p": red.max_p as f64 / 1e18, "weight": f64::from(red.weight) / 1e9,
            "packet_time_ps": red.packet_time.picos(), "hard_drop": red.hard_drop,
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
            "step_packets": plan.step_units, "min_qlen_step": plan.step_spares,
            "classic_share": millionths(plan.classic_share),
        }),
    })
}

/// What a policer of one rate that drops allows; `None` where none polices, or in another way.
fn contract(gate: &GatePlan) -> Option<to::Contract> {
    let police = gate.police.as_ref()?;
    let plain =
        police.sustained.is_none() && police.per_flow.is_none() && !police.tags && gate.marker.is_none();
    let contract = gate.contract().filter(|_| plain)?;
    Some(to::Contract { bps: contract.rate, burst_bytes: contract.burst_bytes })
}

/// The kind of a law, with what a closed form may ask of it.
fn rate(law: &RatePlan) -> to::Rate {
    let bps = |rate: &Option<Rate>| there(rate.map(Rate::bps));
    let of = |kind| to::Rate { kind, ..to::Rate::default() };
    // Of most laws no theory asks more than the kind.
    match law {
        RatePlan::Constant(Speed::Bits(rate)) => {
            to::Rate { bps: there(rate.bps()), ..of(to::RateKind::Constant) }
        }
        RatePlan::TokenBucket { rate, burst_bytes, initial_bytes, peak, peak_burst_bytes } => to::Rate {
            bps: there(rate.bps()),
            burst_bytes: there(*burst_bytes),
            initial_bytes: there(*initial_bytes),
            peak_bps: bps(peak),
            peak_burst_bytes: there(*peak_burst_bytes),
            ..of(to::RateKind::TokenBucket)
        },
        RatePlan::Markov(chain) => to::Rate {
            rates_bps: there(chain.rates.iter().map(|rate| rate.bps()).collect()),
            holding_ps: there(chain.mean_holding.iter().map(|span| span.picos()).collect()),
            step_ps: there(chain.step.map(Span::picos)),
            ring: there(chain.transitions.is_none()),
            ..of(to::RateKind::Markov)
        },
        RatePlan::Follow(follow) => to::Rate {
            gate: there(follow.gate),
            every_ps: there(follow.every.picos()),
            lag_ps: there(follow.lag.picos()),
            m: there(follow.blocks.samples),
            n: there(follow.blocks.blocks),
            share: there(follow.share.parts() as f64 / 1e12),
            initial_bps: there(follow.initial.bps()),
            min_bps: there(follow.min.bps()),
            peak_bps: bps(&follow.peak),
            ..of(to::RateKind::Follow)
        },
        RatePlan::Unlimited => of(to::RateKind::Unlimited),
        RatePlan::Constant(Speed::Packets(_)) => of(to::RateKind::Packets),
        RatePlan::Steps { .. } => of(to::RateKind::Steps),
        RatePlan::RateTrace { .. } | RatePlan::Opportunities { .. } => of(to::RateKind::Trace),
        RatePlan::CellReplay(_) => of(to::RateKind::CellReplay),
        RatePlan::Dtm(_) => of(to::RateKind::Dtm),
        RatePlan::Gcra(_) => of(to::RateKind::Gcra),
        RatePlan::Reserve(_) => of(to::RateKind::Reserve),
        RatePlan::Abr(_) => of(to::RateKind::Abr),
    }
}

fn flow(flow: &FlowPlan) -> to::Flow {
    to::Flow {
        name: flow.name.clone(),
        path: flow.path.clone(),
        back: flow.back.clone(),
        back_delay_ps: flow.back_delay.picos(),
        start_ps: match flow.start {
            StartPlan::At(at) => Some(at.picos()),
            StartPlan::Uniform(..) => None,
        },
        latest_start_ps: match flow.start {
            StartPlan::At(at) | StartPlan::Uniform(_, at) => at.picos(),
        },
        app: match flow.app {
            AppPlan::Bulk => to::App::Bulk,
            AppPlan::Transfer { .. } => to::App::Transfer,
            AppPlan::Source(_) => to::App::Source,
            AppPlan::Request(_) => to::App::Requests,
        },
        transport: match flow.transport {
            TransportPlan::Tcp => to::Transport::Tcp,
            TransportPlan::Quic(_) => to::Transport::Quic,
        },
        tcp: to::Tcp { label: flow.label(), ..tcp(&flow.tcp) },
    }
}

fn tcp(tcp: &TcpPlan) -> to::Tcp {
    let (least_timeout, fixed_rto) = match tcp.rto {
        RtoPlan::Estimated { min, .. } => (min, None),
        RtoPlan::Fixed { rto, .. } => (rto, Some(rto)),
    };
    to::Tcp {
        cc: tcp.cc.name().to_owned(),
        label: tcp.label(),
        halves: tcp.cc.halves() && tcp.rules.arithmetic == Arithmetic::Rfc,
        mss: tcp.mss,
        headers: tcp.headers,
        window: tcp.window,
        read_bps: match tcp.read {
            ReadPlan::AtRate(rate) => Some(rate.bps()),
            ReadPlan::AtOnce | ReadPlan::ByHand => None,
        },
        initial_window: tcp.initial_window,
        initial_ssthresh: tcp.initial_ssthresh,
        arithmetic: match tcp.rules.arithmetic {
            Arithmetic::Rfc => to::ArithmeticKind::Rfc,
            Arithmetic::Linux => to::ArithmeticKind::Linux,
        },
        sack: tcp.sack,
        paces: tcp.rules.paces,
        obeys_advice: tcp.rules.obeys_advice,
        increase: match tcp.increase {
            Increase::PerWindow => to::IncreaseKind::PerWindow,
            Increase::PerAck => to::IncreaseKind::PerAck,
            Increase::Random => to::IncreaseKind::Random,
        },
        fast_retransmit: match tcp.cc {
            CongestionPlan::Tahoe { fast_retransmit } => fast_retransmit,
            _ => tcp.dupthresh.is_some(),
        },
        fixed_rto_ps: fixed_rto.map(Span::picos),
        delayed_ack: tcp.delayed_ack.map(|delayed| to::DelayedAck {
            every: delayed.every,
            timeout_ps: delayed.timeout.map(Span::picos),
        }),
        quick_acks: tcp.quick_acks,
        handshake: tcp.handshake,
        timestamps: tcp.timestamps,
        least_timeout_ps: least_timeout.picos(),
    }
}
