//! Rows and columns as engines fill them: a flow's state, marks, packets.

use std::sync::Arc;

use tidegate_core::advice::RateSignal;
use tidegate_core::tcp::Segment;
use tidegate_core::units::Time;

/// A flow's state at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRow {
    /// When.
    pub at: Time,
    /// Congestion window.
    pub cwnd_segments: f64,
    /// Slow-start threshold; NaN: no limit.
    pub ssthresh_segments: f64,
    /// Sent and not acknowledged.
    pub in_flight_segments: f64,
    /// Smoothed round-trip time in ms; NaN before the first sample.
    pub srtt_ms: f64,
    /// Round trip in ms of the newest segment sent once that an ACK or a SACK reported; NaN before the first.
    pub rtt_ms: f64,
    /// From sending to arrival in ms, of the data segment that reached the receiver last; NaN before the first.
    pub one_way_ms: f64,
    /// Retransmission time-out in ms.
    pub rto_ms: f64,
    /// User bytes received since the start, each counted when it first arrives, in order or not.
    pub delivered_bytes: u64,
    /// User bytes received in order since the start: what the application could read.
    pub in_order_bytes: u64,
    /// Segments sent again since the start.
    pub retransmitted_segments: u64,
    /// 0 slow start, 1 congestion avoidance, 2 recovery, 3 after a time-out.
    pub phase: u8,
    /// 0 application, 1 congestion window, 2 receiver window, 3 pacing, 4 a window that is small because of a policer.
    pub held_by: u8,
}

/// A group of flows at an instant. A spread has the value below which 10, 50 and 90 of 100 flows are, within 6%; NaN where
/// there is nothing to count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupRow {
    /// When.
    pub at: Time,
    /// Which group.
    pub group: u32,
    /// Flows that have begun.
    pub flows: u64,
    /// Their congestion windows together.
    pub cwnd_segments: f64,
    /// Spread of the window.
    pub cwnd_spread: [f64; 3],
    /// User bytes received since the start, each counted when it first arrives, in order or not.
    pub delivered_bytes: u64,
    /// Spread of the goodput since the instant before, in bit/s.
    pub goodput_spread: [f64; 3],
    /// Spread of the round trips that were measured since the instant before, in ms.
    pub rtt_spread: [f64; 3],
    /// Segments sent again since the start.
    pub retransmitted_segments: u64,
    /// Time-outs since the start.
    pub timeouts: u64,
}

/// Throughput advice that a flow's receiver has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdviceRow {
    /// When.
    pub at: Time,
    /// By which flow.
    pub flow: u32,
    /// What.
    pub signal: RateSignal,
}

/// Something that happened to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at: Time,
    /// To which flow.
    pub flow: u32,
    /// What.
    pub kind: MarkKind,
}

/// Kinds of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MarkKind {
    /// The retransmission timer ran out.
    Timeout = 0,
    /// A fast retransmit.
    FastRetransmit = 1,
}

/// The two ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where data comes from.
    Sender,
    /// Where data goes to.
    Receiver,
}

impl Side {
    /// The opposite end.
    #[must_use]
    pub const fn other(self) -> Side {
        match self {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
        }
    }

    /// The word for it, in messages and in names.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Side::Sender => "sender",
            Side::Receiver => "receiver",
        }
    }
}

/// A packet as seen at one end of its flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// When it was sent or received there.
    pub at: Time,
    /// Whose.
    pub flow: u32,
    /// Where it was seen.
    pub seen: Side,
    /// Who sent it.
    pub from: Side,
    /// Its TCP header; of a packet of another transport only ECN counts.
    pub segment: Segment,
    /// The bytes of another transport: what UDP carries or, where they are as many as the packet has, a whole IP packet.
    pub payload: Option<Arc<[u8]>>,
    /// The codepoint of DiffServ that a gate gave it; `None`: it has its flow's.
    pub dscp: Option<u8>,
    /// IP bytes.
    pub bytes: u32,
}

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 64-bit floats.
    F64(Vec<f64>),
    /// 64-bit counts.
    U64(Vec<u64>),
    /// 32-bit indices and counts.
    U32(Vec<u32>),
    /// Small codes.
    U8(Vec<u8>),
    /// 64-bit counts, where there are any.
    MaybeU64(Vec<Option<u64>>),
}
