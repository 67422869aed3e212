//! The arguments of a controller's methods, such as an ACK or a loss, and its answers besides windows.

use crate::units::{PICOS_PER_SECOND, Rate, Span, Time};

/// A round trip was measured: told as soon as an ACK has been read, before what follows from it. By endpoints whose
/// rules account for each ACK ([`crate::plan::TcpRules::account`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredTrip {
    /// When the ACK arrived.
    pub at: Time,
    /// The round trip of the newest segment that it newly reported.
    pub rtt: Span,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Span,
    /// Offset of the oldest byte not acknowledged (SND.UNA): a round is over when `una` reaches what `max` was at its start.
    pub una: u64,
    /// Offset behind the newest byte sent (SND.NXT).
    pub max: u64,
    /// Congestion window in bytes to which a reduction under way has come, where it is made in proportion to what arrives
    /// ([`crate::plan::Reduction`]).
    pub reduced: Option<u64>,
}

/// All that is known after an ACK: what it brought, what it proved lost, how fast data arrive. Told on every ACK, last, to
/// controllers that ask for it ([`super::CongestionControl::hears_acks`]); SACK is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When.
    pub at: Time,
    /// Bytes that it newly reported as arrived, in order or not.
    pub delivered: u64,
    /// Segments that it newly reported as arrived.
    pub segments: u32,
    /// Of the segments that arrived, those newly reported as marked CE. Segments and not bytes, because Accurate ECN counts
    /// packets (RFC 9768 §3.2.2); by the echoes of RFC 3168 and RFC 8257 all that an ACK with ECE newly reported.
    pub ecn_marked: u32,
    /// Their user bytes, if the ACK has the AccECN Option (RFC 9768 §3.2.3), which counts bytes.
    pub ecn_marked_bytes: Option<u64>,
    /// Bytes newly taken to be lost.
    pub lost: u64,
    /// Bytes ever taken to be lost, by ACKs and by timers.
    pub total_lost: u64,
    /// Bytes in flight before it.
    pub in_flight_before: u64,
    /// Bytes in flight after it, without what is taken to be lost.
    pub in_flight: u64,
    /// The round trip of the newest segment that it newly reported, unless one of them was sent twice.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Span,
    /// Offset of the oldest byte not acknowledged (SND.UNA).
    pub una: u64,
    /// Offset behind the newest byte sent (SND.NXT).
    pub max: u64,
    /// What the endpoint is doing after it.
    pub repair: Repair,
    /// The congestion window stopped the sender in the flight that this ACK belongs to.
    pub window_limited: bool,
    /// Round trips counted by packets since the connection began: one is over when a segment is reported that was sent
    /// after the one before it was over.
    pub round: u64,
    /// When the pacer lets the next data go; an instant that has passed: now.
    pub next_departure: Time,
    /// How fast data arrived; `None`: the ACK reported nothing, or too short a time.
    pub rate: Option<RateSample>,
}

/// An ACK after which nothing is repaired and which proved nothing lost; its sample is of the network, not of the application,
/// and was sent once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InOrderAck {
    /// See [`Ack`].
    pub(crate) at: Time,
    pub(crate) delivered: u64,
    pub(crate) segments: u64,
    pub(crate) total_lost: u64,
    pub(crate) in_flight_before: u64,
    pub(crate) rtt: Span,
    pub(crate) next_departure: Time,
    /// See [`RateSample`].
    pub(crate) sampled: u64,
    pub(crate) interval: Span,
    pub(crate) prior_delivered: u64,
}

/// What an endpoint repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    #[default]
    Nothing,
    /// A loss that ACKs showed (fast recovery).
    Recovery,
    /// What was outstanding at a time-out.
    TimeOut,
}

/// A sample of the delivery rate (draft-ietf-ccwg-bbr §4.1, as `tcp_rate.c` of Linux 6.18 takes it): from the newest
/// segment that an ACK newly reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes that arrived since that segment was sent.
    pub delivered: u64,
    /// Bytes taken to be lost since then.
    pub lost: u64,
    /// The time they took: that of sending or that of acknowledging, whichever was longer.
    pub interval: Span,
    /// Bytes that had arrived when the segment was sent, since the connection began.
    pub prior_delivered: u64,
    /// Bytes that have arrived now, since the connection began.
    pub total_delivered: u64,
    /// Bytes in flight when it had been sent, itself included.
    pub sent_in_flight: u64,
    /// The application had nothing more to send when it was sent, so that the rate may be too low.
    pub app_limited: bool,
    /// The segment had been sent before.
    pub retransmitted: bool,
}

impl RateSample {
    /// Bytes a second, rounded down.
    #[must_use]
    pub fn bytes_per_second(&self) -> u64 {
        let interval = u128::from(self.interval.picos().max(1));
        u64::try_from(u128::from(self.delivered) * u128::from(PICOS_PER_SECOND) / interval)
            .unwrap_or(u64::MAX)
    }
}

/// New data were acknowledged, outside fast recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// When the ACK arrived.
    pub at: Time,
    /// Bytes it acknowledged for the first time.
    pub bytes: u64,
    /// Segments that it newly reported as arrived.
    pub segments: u32,
    /// Bytes in flight just before it.
    pub in_flight: u64,
    /// The round trip that it measured, if it measured one.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time; zero before the first sample.
    pub smoothed_rtt: Span,
    /// The congestion window stopped the sender in the flight that this ACK belongs to; with
    /// `Arithmetic::Linux` also: slow start, and the window is below twice the largest flight.
    pub window_limited: bool,
}

/// How congestion was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Duplicate ACKs or SACK.
    DupAck,
    /// The other end reported CE marks. Nothing is lost; told once per window of data (RFC 3168 §6.1.2).
    Ecn,
    /// The retransmission timer.
    Timeout {
        /// No reduction of its own: the same segment has timed out before, or (accounting endpoints) the
        /// window has been reduced for this flight.
        again: bool,
    },
}

impl LossKind {
    /// Whether the retransmission timer noticed it.
    #[must_use]
    pub fn is_timeout(self) -> bool {
        matches!(self, LossKind::Timeout { again: _ })
    }
}

/// Bytes of one packet at most where Linux's segmentation offload is at work: `gso_max_size`, less the largest header
/// (`sk_setup_caps`).
pub(crate) const LARGEST_PACKET: u64 = 65_536 - 1 - 320;

/// How much may leave at once at a rate where Linux's segmentation offload is at work: in segments, 64 KB at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// As much as the rate sends in 2^-`shift` s (`sk_pacing_shift`).
    pub shift: u32,
    /// More where the least round trip is shorter than some milliseconds (`net.ipv4.tcp_tso_rtt_log`).
    pub on_short_trips: bool,
    /// Segments at least.
    pub least: u64,
    /// One segment at least below this rate.
    pub single_below: Rate,
}

impl Bursts {
    /// `tcp_tso_autosize` with `net.ipv4.tcp_min_tso_segs`, of controllers that say nothing else.
    pub const LINUX: Bursts = Bursts { shift: 10, on_short_trips: true, least: 2, single_below: Rate::ZERO };
    /// The same with `bbr_min_tso_segs`.
    pub const BBR: Bursts = Bursts { single_below: Rate::from_bps(1_200_000), ..Bursts::LINUX };
}

/// What a controller needs of Explicit Congestion Notification. Both ends of a connection ask their controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnNeed {
    /// What the plan says ([`crate::plan::TcpPlan::ecn`]): a mark means what a loss means (RFC 3168 §5).
    Plan,
    /// How much of the data was marked, of segments with ECT(0): by Accurate ECN if the plan says so, else by the
    /// receiver of DCTCP, whose ACKs follow every change of CE (RFC 8257 §3.2).
    Extent,
    /// How much of the data was marked, by Accurate ECN, of segments with ECT(1) (L4S: RFC 9331 §4.1, §4.2).
    L4s,
}

/// A loss or a mark was noticed; one fact per recovery, time-out or window with marks, not one per segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// When.
    pub at: Time,
    /// FlightSize (RFC 5681 §2) without what Limited Transmit added.
    pub in_flight: u64,
    /// The most the sender was allowed to have in flight: min(cwnd, receiver's window, limit).
    pub window: u64,
    /// How it was noticed.
    pub kind: LossKind,
    /// Bytes still in flight, without what is taken to be lost.
    pub remaining: u64,
    /// Bytes ever taken to be lost.
    pub total_lost: u64,
    /// Offset behind the newest byte sent (SND.NXT).
    pub max: u64,
}

/// A fast recovery without SACK has ended: everything sent before it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// FlightSize now.
    pub in_flight: u64,
}

/// What the endpoint does after a fast retransmit when there is no SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Slow start, as after a time-out (Tahoe).
    SlowStart,
    /// Fast recovery until the first new ACK (RFC 5681).
    UntilNewAck,
    /// Fast recovery until all that was outstanding is acknowledged (RFC 6582).
    UntilAllAcked,
}

/// What plots show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControllerSnapshot {
    /// Congestion window in bytes, fractions included.
    pub window: f64,
    /// Slow-start threshold in bytes; `None`: no limit, or no such thing.
    pub ssthresh: Option<u64>,
    /// The window is below the threshold.
    pub slow_start: bool,
}

/// A reduction has proved needless (RFC 4015 §3, `tcp_undo_cwnd_reduction` of Linux 6.18): what was in force before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Congestion window in bytes.
    pub window: u64,
    /// Slow-start threshold in bytes; `None`: no limit.
    pub ssthresh: Option<u64>,
}
