//! The plan: a scenario after every check, with every default filled in, every private
//! copy made and every name resolved to a number. Plain data; the engines read nothing else.
//!
//! What it does not hold: file positions, units as text, unresolved names. Those belong to
//! the scenario crate, which makes plans.

mod circuits;
mod request;

use std::sync::Arc;

pub use circuits::{Blocked, CallsPlan, Demand, PoolOrder, ReservationPlan, ReservePlan, groups_of_circuits};

use crate::abr::Rates;
use crate::cells::{CELL_BITS, CELL_PAYLOAD, LLC_SNAP, TRAILER};
use crate::dtm::Settings;
use crate::effcap::Blocks;
use crate::gcra::{Conformance, Limit, Release};
use crate::random::TruncatedGeometric;
use crate::units::{PICOS_PER_SECOND, Rate, Span, Speed, Time};

pub use request::{ConnectionPlan, LARGEST_MESSAGE, Pace, RequestPlan, ServerPlan, SizePlan, ThinkPlan};

/// Index of a gate in [`Plan::gates`].
pub type GateIndex = usize;

/// Everything an engine needs to know about one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// One line for people.
    pub title: String,
    /// The run ends here; summaries count `[warmup, duration)`.
    pub duration: Time,
    /// Where the summary begins to count.
    pub warmup: Time,
    /// Every random stream derives from (seed, replication, element name).
    pub seed: u64,
    /// Which replication of the scenario this is.
    pub replication: u64,
    /// Switches run-ahead off: every arrival and departure is an event. Results are equal.
    pub exact_events: bool,
    /// Every cell is handled for itself; trains of them change nothing but the time it takes.
    pub cells_one_by_one: bool,
    /// Gates with private copies and reverse directions made; the order is the tie-break.
    pub gates: Vec<GatePlan>,
    /// TCP flows.
    pub flows: Vec<FlowPlan>,
    /// Traffic without TCP.
    pub traffic: Vec<TrafficPlan>,
    /// What gates publish.
    pub signals: Vec<SignalPlan>,
    /// Capacity that several channels share, or several calls.
    pub pools: Vec<PoolPlan>,
    /// Who answers requests.
    pub servers: Vec<ServerPlan>,
    /// What the calls of circuits ask for.
    pub reservations: Vec<ReservationPlan>,
    /// Calls without packets.
    pub calls: Vec<CallsPlan>,
    /// Links that tell ABR sources what they may send.
    pub switches: Vec<SwitchPlan>,
    /// What to record beside the summary.
    pub record: RecordPlan,
    /// Where to stop early.
    pub limits: Limits,
}

impl Plan {
    /// A plan without gates or flows; tests and builders start from it.
    #[must_use]
    pub fn empty(duration: Time) -> Plan {
        Plan {
            title: String::new(),
            duration,
            warmup: Time::ZERO,
            seed: 1,
            replication: 0,
            exact_events: false,
            cells_one_by_one: false,
            gates: Vec::new(),
            flows: Vec::new(),
            traffic: Vec::new(),
            signals: Vec::new(),
            pools: Vec::new(),
            servers: Vec::new(),
            reservations: Vec::new(),
            calls: Vec::new(),
            switches: Vec::new(),
            record: RecordPlan::default(),
            limits: Limits::default(),
        }
    }
}

/// One server with its queue, loss and delay.
#[derive(Clone, Debug, PartialEq)]
pub struct GatePlan {
    /// Unique: `bottleneck`; a private copy is `access/bulk.1`, the other direction of a
    /// duplex gate `trunk/back`.
    pub name: String,
    /// The queue before the server.
    pub queue: QueuePlan,
    /// When a unit started at t ends.
    pub rate: RatePlan,
    /// What happens to a unit in transmission when the rate changes.
    pub on_change: OnChange,
    /// What a packet weighs on this gate's wire.
    pub framing: Framing,
    /// Loss after the server, before the delay.
    pub loss: LossPlan,
    /// Constant delay after service.
    pub delay: Span,
    /// Inside the sending machine: TCP hears each departure.
    pub host: bool,
    /// What only gates with AAL5 framing have.
    pub cells: CellPlan,
    /// A policer before the queue.
    pub police: Option<PolicePlan>,
}

impl GatePlan {
    /// An unlimited gate without delay: passes everything at once.
    #[must_use]
    pub fn open(name: &str) -> GatePlan {
        GatePlan {
            name: name.to_owned(),
            queue: QueuePlan { limit: QueueLimit::Unlimited, counts: QueueCounts::Waiting, tagged: None },
            rate: RatePlan::Unlimited,
            on_change: OnChange::Keep,
            framing: Framing::Ip,
            loss: LossPlan::None,
            delay: Span::ZERO,
            host: false,
            cells: CellPlan::default(),
            police: None,
        }
    }
}

impl GatePlan {
    /// How long a cell is on the wire of this gate; none where it is not always the same.
    #[must_use]
    pub fn cell_time(&self) -> Span {
        let rate = match &self.rate {
            RatePlan::Constant(Speed::Bits(rate)) => rate.bps(),
            RatePlan::Gcra(gcra) => gcra.link.bps(),
            _ => 0,
        };
        let picos = u128::from(CELL_BITS) * u128::from(PICOS_PER_SECOND);
        Span::from_picos(picos.checked_div(u128::from(rate)).map_or(0, |picos| picos as u64))
    }
}

/// A policer: units are cells at a cell gate, elsewhere bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicePlan {
    /// The peak rate, or the only one.
    pub peak: Limit,
    /// The sustained rate, and which units it counts.
    pub sustained: Option<(Limit, Conformance)>,
    /// With one rate: what does not conform is tagged and goes on, instead of being dropped.
    pub tags: bool,
}

/// Choices of a cell gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CellPlan {
    /// Cells leave in slots of one cell, in random order where several came in one; the rate
    /// is constant.
    pub slotted: bool,
    /// Early packet discard: a packet whose first cell finds so many cells waiting loses all.
    pub epd: Option<u64>,
    /// Partial packet discard: a packet that lost a cell loses the rest but the last.
    pub ppd: bool,
    /// How packets are told apart after this gate, where the section ends.
    pub reassembly: Reassembly,
}

/// What becomes of a packet that follows one whose last cell was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reassembly {
    /// AAL5: the two are taken for one and fail (ITU-T I.363.5).
    #[default]
    Aal5,
    /// Nothing.
    Simple,
}

/// How much may wait.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuePlan {
    /// The limit; a unit that would pass it is dropped at the tail.
    pub limit: QueueLimit,
    /// Whether the unit in service counts.
    pub counts: QueueCounts,
    /// A tagged unit that finds as many units waiting is dropped.
    pub tagged: Option<u64>,
}

/// The size of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// No limit; runs report how large it got.
    Unlimited,
    /// Whole packets.
    Packets(u64),
    /// IP bytes.
    Bytes(u64),
    /// Cells, at a cell gate.
    Cells(u64),
}

/// What the queue's limit and statistics count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueCounts {
    /// Units that wait; the one in service is extra.
    Waiting,
    /// Units that wait and the one in service.
    All,
}

/// Rate laws: when does a unit of this size, started at t, end?
#[derive(Clone, Debug, PartialEq)]
pub enum RatePlan {
    /// At once.
    Unlimited,
    /// One speed for ever.
    Constant(Speed),
    /// Speeds in force from given instants; the first is at 0 and all are of one kind.
    Steps {
        /// `(from, speed)`, strictly increasing.
        steps: Vec<(Time, Speed)>,
        /// The steps begin again after this long.
        repeat: Option<Span>,
    },
    /// Tokens of `rate` up to `burst`; a unit leaves when its tokens are there and is then
    /// sent at `peak` (at once when there is none).
    TokenBucket {
        /// Long-term rate.
        rate: Rate,
        /// Bucket depth in bytes on the wire; full at the start.
        burst_bytes: u64,
        /// Speed of transmission.
        peak: Option<Rate>,
    },
    /// A Markov chain of rates.
    Markov(MarkovPlan),
    /// A recorded rate.
    RateTrace {
        /// The recording.
        trace: Arc<RateTrace>,
        /// What comes after its end.
        at_end: AtEnd,
    },
    /// A recording of delivery opportunities (Mahimahi).
    Opportunities {
        /// The recording.
        trace: Arc<OpportunityTrace>,
        /// What comes after its end.
        at_end: AtEnd,
    },
    /// Slots that follow the rate measured at the gate's door.
    Dtm(DtmPlan),
    /// A GCRA shaper of cells.
    Gcra(GcraPlan),
    /// A rate fed back from another gate.
    Follow(FollowPlan),
    /// A circuit: closed until its call is up.
    Reserve(ReservePlan),
    /// A source of ATM's available bit rate.
    Abr(AbrPlan),
}

impl RatePlan {
    /// Whether departures can be stated at arrivals; otherwise they wait for their time.
    #[must_use]
    pub fn is_known_ahead(&self) -> bool {
        !matches!(self, RatePlan::Dtm(_) | RatePlan::Follow(_) | RatePlan::Abr(_) | RatePlan::Reserve(_))
    }
}

/// A shaper by the generic cell rate algorithm (ITU-T I.371).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcraPlan {
    /// T, the time of a cell at the peak rate in picoseconds, and τ.
    pub limit: Limit,
    /// The link behind it, which a cell takes its time on.
    pub link: Rate,
    /// When a cell that comes too early leaves.
    pub release: Release,
}

impl GcraPlan {
    /// Cells' bits in a second, rounded down.
    #[must_use]
    pub fn bits_per_second(&self) -> u64 {
        let increment = self.limit.increment();
        let parts = u128::from(increment.parts());
        let exact = u128::from(increment.whole()) * parts + u128::from(increment.part());
        let bits = u128::from(CELL_BITS) * u128::from(PICOS_PER_SECOND) * parts / exact;
        u64::try_from(bits).unwrap_or(u64::MAX)
    }
}

/// A rate fed back: the capacity of another gate, averaged over slots, comes back after a lag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowPlan {
    /// Whose capacity is followed, in bits on its own wire; not an unlimited gate, nor one that
    /// counts packets.
    pub gate: GateIndex,
    /// Length of the slots, the first from 0; above zero.
    pub every: Span,
    /// From the end of a slot to the instant that its value is known here.
    pub lag: Span,
    /// What is made of the values ([`crate::effcap`]).
    pub blocks: Blocks,
    /// The part of it that this gate takes.
    pub share: Share,
    /// The rate before the first value comes; zero: nothing leaves.
    pub initial: Rate,
    /// The least rate.
    pub min: Rate,
    /// The largest.
    pub peak: Option<Rate>,
}

/// An ABR source: its rate is what RM cells bring back from a switch ([`crate::abr`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AbrPlan {
    /// Index of the switch in [`Plan::switches`].
    pub switch: usize,
    /// PCR, MCR, ICR, RIF and RDF.
    pub rates: Rates,
    /// Nrm: an RM cell for so many cells' bits on the wire.
    pub cells_per_rm: u32,
    /// Trm: an RM cell leaves after so long even if fewer have gone; above zero.
    pub rm_within: Span,
    /// From the source to the switch.
    pub there: Span,
    /// From an RM cell's departure to the instant that it is back.
    pub lag: Span,
}

/// A link that measures its load and tells ABR sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwitchPlan {
    /// The link, with a capacity in bit/s.
    pub gate: GateIndex,
    /// Averaging interval, the first from 0; above zero.
    pub every: Span,
    /// The part of the capacity that is aimed at.
    pub utilisation: f64,
    /// Tells overload by a bit, instead of an explicit rate.
    pub binary: bool,
}

/// A part of a whole, in 10⁻¹².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u64);

impl Share {
    /// The whole.
    pub const ALL: Share = Share(PICOS_PER_SECOND);

    /// So many parts in 10¹².
    #[must_use]
    pub const fn from_parts(parts: u64) -> Share {
        Share(parts)
    }

    /// How many parts in 10¹².
    #[must_use]
    pub const fn parts(self) -> u64 {
        self.0
    }

    /// This share of `sum` / `count`, rounded down.
    #[must_use]
    pub fn of(self, sum: u128, count: u32) -> Rate {
        let bps = sum.saturating_mul(u128::from(self.0))
            / (u128::from(PICOS_PER_SECOND) * u128::from(count.max(1)));
        Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
    }
}

/// A DTM channel: see [`crate::dtm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DtmPlan {
    /// The constants of the estimator.
    pub settings: Settings,
    /// The rate before the first update, above zero.
    pub initial: Rate,
    /// Bytes at the door are counted over intervals of this length, the first from 0.
    pub measure: Span,
    /// Measurements from one update to the next; at least one.
    pub update_every: u32,
    /// Whose rate is estimated.
    pub estimators: Estimators,
    /// Index of the pool that the slots come from; `None`: there are always enough.
    pub pool: Option<usize>,
}

/// Whose rate is estimated on a channel that several share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimators {
    /// All arrivals together.
    Channel,
    /// One estimate for each flow, each direction and each background source; their sum is
    /// compared with the channel's bounds.
    Flow,
}

/// Capacity that DTM channels share, where each gets what is left, or that calls share, where
/// each gets all that it asks for or nothing. Not both from one pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolPlan {
    /// Unique.
    pub name: String,
    /// What the rates may add up to; at least the sum of the channels' initial rates.
    pub capacity: Rate,
    /// Which call that waits is next.
    pub order: PoolOrder,
}

/// A rate that is a function of a finite Markov chain.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkovPlan {
    /// Rate in each state.
    pub rates: Vec<Rate>,
    /// Mean time in each state.
    pub mean_holding: Vec<Span>,
    /// Where a state goes when it is left: row-stochastic, zero diagonal. `None`: a ring.
    pub transitions: Option<Vec<Vec<f64>>>,
    /// `Some(s)`: constant inside slots of s, left at a slot's end with probability
    /// s / mean holding. `None`: exponential holding times.
    pub step: Option<Span>,
    /// State at time 0; `None` draws it from the stationary distribution.
    pub initial: Option<usize>,
}

/// A rate recorded over time.
#[derive(Clone, Debug, PartialEq)]
pub struct RateTrace {
    /// `(from, rate)`, strictly increasing, the first at 0.
    pub points: Vec<(Time, Rate)>,
    /// Length of the recording; later than the last point.
    pub period: Span,
}

/// Delivery opportunities: at each instant so many bytes may leave.
#[derive(Clone, Debug, PartialEq)]
pub struct OpportunityTrace {
    /// Non-decreasing instants; repeats are several opportunities at once.
    pub at: Vec<Time>,
    /// The recording's length, its last instant.
    pub period: Span,
    /// Bytes of one opportunity: 1500, or 1504 as Mahimahi's code charges it.
    pub bytes: u32,
}

/// What a recording does after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// Begin again.
    Repeat,
    /// Nothing passes any more.
    Stop,
}

/// What becomes of a unit in transmission when the rate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnChange {
    /// It keeps the speed it started with.
    Keep,
    /// Its remaining bits go at the new speed.
    Rescale,
}

/// Bytes of a packet on a gate's wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The IP packet's own bytes.
    Ip,
    /// max(IP bytes + overhead, minimum).
    Overhead {
        /// Bytes added to each packet.
        overhead: u32,
        /// The least a packet takes, overhead included.
        minimum: u32,
    },
    /// Cells of 53 bytes (ITU-T I.363.5): this is a cell gate.
    Aal5 {
        /// With eight bytes of LLC/SNAP (RFC 2684).
        llc: bool,
    },
    /// Whole packets that weigh 53 bytes for each of their cells: a circuit, where no other
    /// cell ever comes between.
    CellPackets {
        /// With eight bytes of LLC/SNAP.
        llc: bool,
    },
}

/// Random loss, drawn once per unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossPlan {
    /// None.
    None,
    /// Each unit with the same probability.
    Independent {
        /// In [0, 1].
        probability: f64,
    },
    /// Two states; the state moves after each unit.
    GilbertElliott {
        /// Probability to leave the good state after a unit.
        good_to_bad: f64,
        /// Probability to leave the bad state after a unit.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
}

/// Two TCP endpoints, an application and two lists of gates.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPlan {
    /// Unique: `bulk`, or `client.3`.
    pub name: String,
    /// Gates of the data direction, in order.
    pub path: Vec<GateIndex>,
    /// Gates of the other direction.
    pub back: Vec<GateIndex>,
    /// Pure delay after the last gate of `back`.
    pub back_delay: Span,
    /// When the application begins.
    pub start: StartPlan,
    /// What is sent.
    pub app: AppPlan,
    /// How it is sent.
    pub tcp: TcpPlan,
}

/// When something begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartPlan {
    /// At an instant.
    At(Time),
    /// Drawn uniformly from `[from, to)` for each replication.
    Uniform(Time, Time),
}

/// Applications over TCP.
#[derive(Clone, Debug, PartialEq)]
pub enum AppPlan {
    /// Always something to send.
    Bulk,
    /// So many bytes, then nothing.
    Transfer {
        /// User bytes.
        bytes: u64,
    },
    /// Writes of a fixed size at a constant rate.
    Source(SourcePlan),
    /// The other end asks, this one answers.
    Request(Box<RequestPlan>),
}

/// A process that brings bytes: written into TCP by an application, or sent as packets by
/// background traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum SourcePlan {
    /// `bytes` at a time, evenly spaced at `rate`.
    Constant {
        /// User bytes (application) or IP bytes (traffic) per second.
        rate: Rate,
        /// Size of each write or packet.
        bytes: u32,
    },
    /// Constant rate during on periods, silent in between.
    OnOff {
        /// Rate during an on period.
        rate: Rate,
        /// Size of each write or packet.
        bytes: u32,
        /// Length of on periods.
        on: HoldingPlan,
        /// Length of off periods.
        off: HoldingPlan,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean rate.
        rate: Rate,
        /// Size of each write or packet.
        bytes: u32,
    },
    /// Messages of whole cells, each one packet.
    Messages(MessagePlan),
}

impl SourcePlan {
    /// Bytes of the largest write or packet.
    #[must_use]
    pub fn largest(&self) -> u32 {
        match self {
            SourcePlan::Constant { bytes, .. }
            | SourcePlan::OnOff { bytes, .. }
            | SourcePlan::Poisson { bytes, .. } => *bytes,
            SourcePlan::Messages(messages) => messages.bytes(messages.most()),
        }
    }
}

/// Messages that AAL5 makes whole cells of.
#[derive(Clone, Debug, PartialEq)]
pub struct MessagePlan {
    /// Mean rate in bits of 53-byte cells, above zero.
    pub load: Rate,
    /// Exponential gaps from start to start; otherwise they are all alike.
    pub exponential: bool,
    /// Cells of a message.
    pub length: MessageLength,
    /// Leave room for LLC/SNAP in the cells.
    pub llc: bool,
}

/// Cells of a message: at least one.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageLength {
    /// Always so many.
    Constant(u32),
    /// Drawn for each.
    Geometric(Arc<TruncatedGeometric>),
}

impl MessagePlan {
    /// IP bytes of a message of so many cells.
    #[must_use]
    pub fn bytes(&self, cells: u32) -> u32 {
        cells * CELL_PAYLOAD - TRAILER - if self.llc { LLC_SNAP } else { 0 }
    }

    /// Cells of the longest message.
    #[must_use]
    pub fn most(&self) -> u32 {
        match &self.length {
            MessageLength::Constant(cells) => *cells,
            MessageLength::Geometric(lengths) => lengths.most(),
        }
    }

    /// Mean cells of a message, as written.
    #[must_use]
    pub fn mean(&self) -> u32 {
        match &self.length {
            MessageLength::Constant(cells) => *cells,
            MessageLength::Geometric(lengths) => lengths.mean(),
        }
    }
}

/// A length of time, fixed or drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldingPlan {
    /// Always the same.
    Constant(Span),
    /// Exponential with this mean.
    Exponential(Span),
}

/// Packets without TCP on a list of gates.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficPlan {
    /// Unique: `bg`, or `bg.2`.
    pub name: String,
    /// Gates, in order.
    pub path: Vec<GateIndex>,
    /// When it begins.
    pub start: StartPlan,
    /// What it sends.
    pub source: SourcePlan,
}

/// Every choice of a TCP connection, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpPlan {
    /// What the other keys started from.
    pub base: TcpBase,
    /// Congestion controller.
    pub cc: CongestionPlan,
    /// User bytes in a full segment.
    pub mss: u32,
    /// IP and TCP header bytes of every segment.
    pub headers: u32,
    /// Receive window and limit on bytes in flight; `None`: no limit.
    pub window: Option<u64>,
    /// First congestion window, bytes.
    pub initial_window: u64,
    /// First slow-start threshold, bytes; `None`: no limit.
    pub initial_ssthresh: Option<u64>,
    /// How congestion avoidance grows the window.
    pub increase: Increase,
    /// Duplicate ACKs that start a fast retransmit; `None`: never.
    pub dupthresh: Option<u32>,
    /// RFC 2018 options and RFC 6675 recovery.
    pub sack: bool,
    /// RFC 3042.
    pub limited_transmit: bool,
    /// How half a window becomes a threshold.
    pub ssthresh_rounding: SsthreshRounding,
    /// After a time-out send everything again from the first unacknowledged byte, as far as
    /// the window allows; `false`: skip what SACK says has arrived.
    pub go_back_n: bool,
    /// Retransmission timer.
    pub rto: RtoPlan,
    /// Delayed acknowledgements; `None`: one ACK per segment.
    pub delayed_ack: Option<DelayedAckPlan>,
    /// ACKs sent at once when a connection begins, whatever `delayed_ack` says (Linux's
    /// quick ACKs).
    pub quick_acks: u32,
    /// SYN, SYN-ACK, ACK before data.
    pub handshake: bool,
    /// RFC 7323 timestamps (12 bytes of options, which `headers` must already count).
    pub timestamps: bool,
    /// Time every segment, or one at a time as BSD did (Karn's rule holds in both).
    pub rtt_timing: RttTiming,
    /// RFC 5681 §4.1: an idle time longer than the RTO takes the window back to the initial.
    pub idle_restart: bool,
}

/// Where a TCP's defaults come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpBase {
    /// The standards.
    Rfc,
    /// 4.4BSD, as in the papers.
    Bsd44,
    /// The Linux kernel, a first approximation.
    Linux,
}

/// Congestion controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionPlan {
    /// Slow start after every loss.
    Tahoe {
        /// Retransmit at the third duplicate ACK, or only after a time-out.
        fast_retransmit: bool,
    },
    /// RFC 5681 with fast recovery that ends at the first new ACK.
    Reno,
    /// RFC 6582.
    NewReno,
    /// RFC 9438.
    Cubic,
    /// A constant window in bytes.
    Fixed {
        /// The window.
        window: u64,
    },
    /// One that only the Linux kernel has, by its name there: the live engine alone knows it.
    Kernel(&'static str),
}

impl CongestionPlan {
    /// Its name as scenarios spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CongestionPlan::Tahoe { .. } => "tahoe",
            CongestionPlan::Reno => "reno",
            CongestionPlan::NewReno => "newreno",
            CongestionPlan::Cubic => "cubic",
            CongestionPlan::Fixed { .. } => "fixed",
            CongestionPlan::Kernel(name) => name,
        }
    }
}

/// How congestion avoidance grows the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increase {
    /// One segment per window of acknowledged bytes (RFC 5681 §3.1, counting bytes).
    PerWindow,
    /// MSS²/cwnd at each ACK (RFC 5681 eq. (3)).
    PerAck,
    /// One segment with probability MSS/cwnd at each ACK.
    Random,
}

/// How half a flight becomes a slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsthreshRounding {
    /// In bytes, as it is.
    Exact,
    /// Down to whole segments.
    Down,
    /// Up to whole segments.
    Up,
    /// As ns-2: down to whole segments, of the window; the window itself is halved as it is,
    /// fractions of a segment included, and is that still when recovery ends.
    Ns2,
}

/// The retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoPlan {
    /// RFC 6298.
    Estimated {
        /// Least time-out.
        min: Span,
        /// Largest time-out, back-off included.
        max: Span,
        /// Time-out before the first sample.
        initial: Span,
        /// Clock granularity G: samples and expiries are counted in whole ticks. Zero: exact.
        tick: Span,
    },
    /// A constant time-out without back-off.
    Fixed {
        /// The time-out.
        rto: Span,
        /// What starts it again.
        restart: RtoRestart,
    },
}

/// What starts a fixed time-out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoRestart {
    /// An ACK of new data.
    Ack,
    /// That, and every segment that leaves the sending machine (its `host` gates).
    Departure,
}

/// Delayed acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAckPlan {
    /// One ACK for so many full segments.
    pub every: u32,
    /// Longest delay; `None`: for ever.
    pub timeout: Option<Span>,
    /// The timer runs in ticks of this (BSD's 200 ms): an ACK leaves at the next tick. Zero:
    /// `timeout` after the segment.
    pub tick: Span,
}

/// Which segments give round-trip samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttTiming {
    /// Every acknowledged segment that was sent once.
    Every,
    /// One at a time.
    One,
}

/// A value that a gate publishes at the end of each slot and that arrives after a lag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalPlan {
    /// Who publishes.
    pub gate: GateIndex,
    /// What.
    pub kind: SignalKind,
    /// Length of the slots, the first from 0.
    pub every: Span,
    /// From the end of a slot to the arrival of its value.
    pub lag: Span,
}

/// What a signal says of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// Mean of the rate law's speed, rounded down: bit/s, or millionths of a packet per second.
    Capacity,
    /// Bytes on the gate's wire that came to its door, those dropped there included.
    Arrivals,
    /// Units dropped at its door.
    Drops,
}

/// What a run keeps beside its summary.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RecordPlan {
    /// How often.
    pub level: RecordLevel,
    /// Gates to record by index; `None`: all.
    pub gates: Option<Vec<GateIndex>>,
    /// Flows to record by index; `None`: all.
    pub flows: Option<Vec<usize>>,
    /// Keep every packet at both endpoints of every flow, for a pcap.
    pub packets: bool,
}

/// How much is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RecordLevel {
    /// Only the summary.
    #[default]
    Summary,
    /// Columns sampled every so often.
    Every(Span),
    /// A row at every change.
    Events,
}

/// Where a run stops early, with a word in its warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Limits {
    /// Events handled.
    pub events: Option<u64>,
    /// Bytes held in queues, delay lines and recordings.
    pub memory_bytes: Option<u64>,
}
