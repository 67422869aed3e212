//! The objects of the plan's JSON: the one statement of their keys. Times in picoseconds, rates in bit/s, sizes in bytes; gates and
//! pools are named by their number in the plan.

use serde::Serialize;
use serde_json::Value;

use super::typed::{Sometimes, Typed, objects, words};

words! {
    /// Rate laws by their keys in a scenario; `packets`: a constant number of packets a second.
    RateKind {
        Unlimited = "unlimited",
        Constant = "constant",
        Packets = "packets",
        Steps = "steps",
        TokenBucket = "token_bucket",
        Markov = "markov",
        Trace = "trace",
        CellReplay = "cellreplay",
        Gcra = "gcra",
        Dtm = "dtm",
        Abr = "abr",
        Follow = "follow",
        Reserve = "reserve",
    }

    /// What a queue's limit counts.
    LimitUnit { Packets = "packets", Bytes = "bytes", Cells = "cells" }

    /// What a packet is on the wire.
    FramingKind { Ip = "ip", Overhead = "overhead", Aal5 = "aal5" }

    /// Whose arithmetic a window has.
    ArithmeticKind { Rfc = "rfc", Linux = "linux" }

    /// How a window grows in congestion avoidance.
    IncreaseKind { PerWindow = "per window", PerAck = "per ack", Random = "random" }

    /// What writes a flow's data.
    App { Bulk = "bulk", Transfer = "transfer", Source = "source", Requests = "requests" }

    /// What carries a flow's data.
    Transport { Tcp = "tcp", Quic = "quic" }

    /// In which order a pool serves those that wait.
    Order { Asked = "asked", FirstFit = "first fit" }

    /// How a time is drawn.
    LengthKind { Constant = "constant", Exponential = "exponential" }

    /// What a call does that finds no capacity.
    BlockedKind { Wait = "wait", Refuse = "refuse" }
}

objects! {
    /// A rate law; what it has beside its kind depends on the kind.
    Rate {
        kind: RateKind,
        /// constant, token_bucket.
        bps: Sometimes<u64>,
        /// token_bucket.
        burst_bytes: Sometimes<u64>,
        initial_bytes: Sometimes<Option<u64>>,
        peak_burst_bytes: Sometimes<Option<u64>>,
        /// token_bucket, follow.
        peak_bps: Sometimes<Option<u64>>,
        /// markov: rates of the states, their mean holding times, the step of a chain in discrete time.
        rates_bps: Sometimes<Vec<u64>>,
        holding_ps: Sometimes<Vec<u64>>,
        step_ps: Sometimes<Option<u64>>,
        /// markov: the states follow each other in a ring.
        ring: Sometimes<bool>,
        /// follow: the gate whose capacity is signalled, how often, and how late the source knows it.
        gate: Sometimes<usize>,
        every_ps: Sometimes<u64>,
        lag_ps: Sometimes<u64>,
        /// follow: EFFCAP's M and N, the share that is used, and the bounds of the rate.
        m: Sometimes<u32>,
        n: Sometimes<u32>,
        share: Sometimes<f64>,
        initial_bps: Sometimes<u64>,
        min_bps: Sometimes<u64>,
    }

    /// The limit of a queue.
    QueueLimit {
        unit: LimitUnit,
        count: u64,
    }

    /// What a packet becomes on the wire of a gate.
    Framing {
        kind: FramingKind,
        overhead: Sometimes<u32>,
        minimum: Sometimes<u32>,
        llc: Sometimes<bool>,
    }

    /// What a policer of one rate that drops allows, in bits and bytes on the gate's wire.
    Contract {
        bps: f64,
        burst_bytes: f64,
    }

    /// Losses by two states; the probabilities are for each unit.
    GilbertElliott {
        good_to_bad: f64,
        bad_to_good: f64,
        loss_good: f64,
        loss_bad: f64,
    }

    /// A gate.
    Gate {
        name: String,
        rate: Rate,
        queue_limit: Option<QueueLimit>,
        /// What the queue drops, beside packets that find it full: `drop-tail` is nothing.
        discipline: &'static str,
        /// Constants of the discipline, of cake those of its shaper; None: it has none, or is a scheduler.
        aqm: Option<Value>,
        /// The limit counts the packet in service, too.
        queue_counts_all: bool,
        framing: Framing,
        loses: bool,
        slotted: bool,
        /// The threshold of early packet discard, in cells.
        epd: Option<u64>,
        polices: bool,
        /// None where nothing polices, or not with one rate, the same for all flows, that drops.
        contract: Option<Contract>,
        /// The probability of a loss, the same for each unit; 0: none; None: not independent.
        loss: Option<f64>,
        /// None: losses are of another kind.
        gilbert_elliott: Option<GilbertElliott>,
        delay_ps: u64,
        jitters: bool,
    }

    /// Delayed acknowledgements: for so many segments, or after this time.
    DelayedAck {
        every: u32,
        timeout_ps: Option<u64>,
    }

    /// What TCP a flow uses; sizes in bytes.
    Tcp {
        cc: String,
        label: String,
        /// The window grows by addition and shrinks by halving (Tahoe, Reno, NewReno).
        halves: bool,
        mss: u32,
        headers: u32,
        window: Option<u64>,
        /// The receiving application reads no faster than this; user bits per second.
        read_bps: Option<u64>,
        initial_window: u64,
        initial_ssthresh: Option<u64>,
        /// Whose arithmetic the window has.
        arithmetic: ArithmeticKind,
        sack: bool,
        /// Data leave at a pace although the controller names no rate.
        paces: bool,
        /// Data leave no faster than the advice of gates says.
        obeys_advice: bool,
        increase: IncreaseKind,
        fast_retransmit: bool,
        fixed_rto_ps: Option<u64>,
        delayed_ack: Option<DelayedAck>,
        quick_acks: u32,
        handshake: bool,
        timestamps: bool,
        least_timeout_ps: u64,
    }

    /// A flow: its gates there and back, and its two endpoints.
    Flow {
        name: String,
        path: Vec<usize>,
        back: Vec<usize>,
        back_delay_ps: u64,
        /// None: drawn at random.
        start_ps: Option<u64>,
        latest_start_ps: u64,
        app: App,
        transport: Transport,
        /// Of a flow of QUIC only `label`, `mss` and `headers` say something.
        tcp: Tcp,
    }

    /// A pool of capacity that circuits and calls share.
    Pool {
        name: String,
        capacity_bps: u64,
        order: Order,
    }

    /// Capacity that a call or a circuit takes from one pool.
    Demand {
        pool: usize,
        bps: u64,
    }

    /// What a circuit asks for.
    Reservation {
        name: String,
        demands: Vec<Demand>,
    }

    /// A time, always the same or random.
    Length {
        kind: LengthKind,
        mean_ps: u64,
    }

    /// Calls without packets: without end (`every`), or from `sources` that are idle between two calls.
    Calls {
        name: String,
        start_ps: u64,
        every: Option<Length>,
        sources: Option<u32>,
        idle: Option<Length>,
        patience: Option<Length>,
        hold: Length,
        setup_ps: u64,
        demands: Vec<Demand>,
        blocked: BlockedKind,
        retry_ps: Option<u64>,
    }

    /// A checked scenario with every default filled in.
    Plan {
        title: String,
        duration_ps: u64,
        warmup_ps: u64,
        gates: Vec<Gate>,
        flows: Vec<Flow>,
        pools: Vec<Pool>,
        reservations: Vec<Reservation>,
        calls: Vec<Calls>,
        /// Names of the sources of background packets.
        traffic: Vec<String>,
    }
}

/// A module of Python with a type for each object.
pub(crate) fn python() -> String {
    let head = "\"\"\"The objects of a checked plan, as the compiled part writes them.\n\n\
        Times are picoseconds, rates bit/s, sizes bytes. Gates and pools are named by their number in the plan.\n\
        Where a word that is not listed here is compared with, a type checker says so.\n\n\
        Made by docs/generate.py (make docs) from the compiled part; do not edit.\n\"\"\"\n\n\
        from __future__ import annotations\n\n\
        from typing import Any, Literal, NotRequired, TypedDict\n\n";
    let classes: Vec<String> = CLASSES.iter().map(|class| class()).collect();
    format!("{head}{}\n\n{}", WORDS.concat(), classes.join("\n\n"))
}
