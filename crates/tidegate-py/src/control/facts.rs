//! What a controller in Python is told: an acknowledgement, or a loss.

use pyo3::prelude::*;
use tidegate_core::cc::{Ack as AckFact, LossKind, Lost, Repair};

/// What is known after an acknowledgement.
#[pyclass(frozen, module = "tidegate")]
pub(crate) struct Ack(pub(super) AckFact);

macro_rules! getters {
    ($of:ident, $($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        #[pymethods]
        impl $of {
            $($(#[$doc])*
            #[getter]
            fn $name(&self) -> $type {
                let value: fn(&$of) -> $type = $value;
                value(self)
            })*
        }
    };
}

getters! { Ack,
    /// When it arrived.
    time_s: f64 = |ack| ack.0.at.as_secs_f64();
    /// User bytes that it newly reported as arrived, in order or not.
    delivered_bytes: u64 = |ack| ack.0.delivered;
    /// Segments that it newly reported as arrived.
    delivered_segments: u32 = |ack| ack.0.segments;
    /// Segments that it newly reported as marked (ECN).
    ecn_marked_segments: u32 = |ack| ack.0.ecn_marked;
    /// Their user bytes; None: the ACK has no AccECN option (RFC 9768 §3.2.3).
    ecn_marked_bytes: Option<u64> = |ack| ack.0.ecn_marked_bytes;
    /// User bytes newly taken to be lost.
    lost_bytes: u64 = |ack| ack.0.lost;
    /// User bytes in flight before it.
    in_flight_before_bytes: u64 = |ack| ack.0.in_flight_before;
    /// User bytes in flight after it, without what is taken to be lost.
    in_flight_bytes: u64 = |ack| ack.0.in_flight;
    /// The round trip of the newest segment that it reported; None: one of them was sent twice.
    rtt_s: Option<f64> = |ack| ack.0.rtt.map(|rtt| rtt.as_secs_f64());
    /// Smoothed round-trip time (RFC 6298); 0 before the first sample.
    smoothed_rtt_s: f64 = |ack| ack.0.smoothed_rtt.as_secs_f64();
    /// User bytes acknowledged in order since the connection began (SND.UNA).
    acknowledged_bytes: u64 = |ack| ack.0.una;
    /// User bytes sent since the connection began, each counted once (SND.NXT).
    sent_bytes: u64 = |ack| ack.0.max;
    /// What the sender repairs: "recovery" after a loss that ACKs showed, "time-out", or None.
    repair: Option<&'static str> = |ack| match ack.0.repair {
        Repair::Nothing => None,
        Repair::Recovery => Some("recovery"),
        Repair::TimeOut => Some("time-out"),
    };
    /// The window stopped the sender in the flight that this ACK belongs to.
    window_limited: bool = |ack| ack.0.window_limited;
    /// Round trips so far, counted by packets.
    round: u64 = |ack| ack.0.round;
    /// Delivery rate in user bits a second (draft-ietf-ccwg-bbr §4.1); None: no sample.
    rate_bps: Option<f64> = |ack| {
        ack.0.rate.map(|rate| rate.delivered as f64 * 8.0 / rate.interval.as_secs_f64())
    };
    /// Time that the sample is over; None: no sample.
    rate_interval_s: Option<f64> = |ack| ack.0.rate.map(|rate| rate.interval.as_secs_f64());
    /// User bytes that arrived in it; None: no sample.
    rate_delivered_bytes: Option<u64> = |ack| ack.0.rate.map(|rate| rate.delivered);
    /// User bytes taken to be lost in it; None: no sample.
    rate_lost_bytes: Option<u64> = |ack| ack.0.rate.map(|rate| rate.lost);
    /// User bytes that had arrived when the sampled segment was sent; None: no sample.
    rate_prior_delivered_bytes: Option<u64> = |ack| ack.0.rate.map(|rate| rate.prior_delivered);
    /// User bytes that have arrived since the connection began; None: no sample.
    rate_total_delivered_bytes: Option<u64> = |ack| ack.0.rate.map(|rate| rate.total_delivered);
    /// User bytes in flight when the sampled segment had been sent; None: no sample.
    rate_sent_in_flight_bytes: Option<u64> = |ack| ack.0.rate.map(|rate| rate.sent_in_flight);
    /// The application had nothing more to send then; None: no sample.
    rate_app_limited: Option<bool> = |ack| ack.0.rate.map(|rate| rate.app_limited);
    /// The sampled segment had been sent before; None: no sample.
    rate_retransmitted: Option<bool> = |ack| ack.0.rate.map(|rate| rate.retransmitted);
}

/// A loss, a mark or a time-out.
#[pyclass(frozen, module = "tidegate")]
pub(crate) struct Loss(pub(super) Lost);

getters! { Loss,
    /// When.
    time_s: f64 = |loss| loss.0.at.as_secs_f64();
    /// "loss" (ACKs showed it), "time-out" or "mark" (ECN).
    kind: &'static str = |loss| match loss.0.kind {
        LossKind::DupAck => "loss",
        LossKind::Timeout { .. } => "time-out",
        LossKind::Ecn => "mark",
    };
    /// A time-out after which the window is not to be reduced once more: it was for this flight already.
    again: bool = |loss| loss.0.kind == LossKind::Timeout { again: true };
    /// User bytes outstanding (FlightSize, RFC 5681 §2).
    in_flight_bytes: u64 = |loss| loss.0.in_flight;
    /// The most that was allowed to be in flight.
    window_bytes: u64 = |loss| loss.0.window;
    /// User bytes in flight, without what is taken to be lost.
    remaining_bytes: u64 = |loss| loss.0.remaining;
    /// User bytes sent since the connection began, each counted once (SND.NXT).
    sent_bytes: u64 = |loss| loss.0.max;
}
