//! What an endpoint tells about itself.

use std::fmt;

use crate::unit::HeldBy;
use crate::units::{Rate, Span};

/// Totals since the start of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Counters {
    /// Data segments sent again.
    pub segments_retransmitted: u64,
    /// Retransmission time-outs, those of SYNs included.
    pub timeouts: u64,
    /// Recoveries that duplicate ACKs or SACK started.
    pub fast_retransmits: u64,
    /// Data segments that bring nothing new.
    pub duplicates_received: u64,
    /// Data segments dropped because they lay outside the receive window.
    pub outside_window: u64,
    /// Reductions of the window because of marks.
    pub ecn_reductions: u64,
    /// Data segments received that were marked CE.
    pub ce_received: u64,
    // What a sender counts, then what a receiver does.
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// User bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// User bytes sent and cumulatively acknowledged.
    pub acked_bytes: u64,
    /// User bytes received, each counted when it first arrives, in order or not.
    pub delivered_bytes: u64,
    /// Data segments received that bring at least one byte for the first time.
    pub delivered_segments: u64,
    /// ACKs sent without data.
    pub acks_sent: u64,
}

/// What a sender is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The window is below the threshold and doubles each round trip.
    SlowStart,
    /// The window grows by a segment each round trip, or as its controller has it.
    CongestionAvoidance,
    /// Fast recovery (RFC 5681, 6582 or 6675).
    Recovery,
    /// What was outstanding at a time-out is being sent again.
    Loss,
}

/// The state of congestion control as Linux names it (`tcpi_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// Nothing is in disorder.
    Open,
    /// Segments are SACKed, or sent again, and nothing is being repaired.
    Disorder,
    /// The window is being reduced because of marks.
    Cwr,
    /// A loss is repaired by fast recovery.
    Recovery,
    /// A time-out is repaired.
    Loss,
}

impl fmt::Display for CaState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CaState::Open => "Open",
            CaState::Disorder => "Disorder",
            CaState::Cwr => "CWR",
            CaState::Recovery => "Recovery",
            CaState::Loss => "Loss",
        })
    }
}

/// What a row of a flow shows of its sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// As in [`Snapshot::cwnd`].
    pub cwnd: f64,
    /// As in [`Snapshot::ssthresh`].
    pub ssthresh: Option<u64>,
    /// As in [`Snapshot::in_flight`].
    pub in_flight: u64,
    /// As in [`Snapshot::srtt`].
    pub srtt: Option<Span>,
    /// As in [`Snapshot::rto`].
    pub rto: Span,
    /// As in [`Snapshot::phase`].
    pub phase: Phase,
    /// As in [`Snapshot::held_by`].
    pub held_by: HeldBy,
    /// As in [`Counters::segments_retransmitted`].
    pub segments_retransmitted: u64,
}

/// The state that plots show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// Congestion window in bytes, fractions included; without the inflation by duplicate ACKs.
    pub cwnd: f64,
    /// Slow-start threshold in bytes; `None`: no limit.
    pub ssthresh: Option<u64>,
    /// Bytes in flight: FlightSize, or RFC 6675's pipe.
    pub in_flight: u64,
    /// Bytes sent and not cumulatively acknowledged.
    pub outstanding: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Span>,
    /// Retransmission time-out in force, back-off included.
    pub rto: Span,
    /// What the sender is doing.
    pub phase: Phase,
    /// What holds the sender back now.
    pub held_by: HeldBy,
    /// Data leave no faster than this; `None`: they are not paced.
    pub pacing_rate: Option<Rate>,
    /// A number of the controller's own, and its name ([`crate::cc::CongestionControl::detail`]).
    pub detail: Option<(&'static str, f64)>,
}
