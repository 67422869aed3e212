//! The plan: a scenario after every check, with every default filled in, every private
//! copy made and every name resolved to a number. Plain data; the engines read nothing else.
//!
//! What it does not hold: file positions, units as text, unresolved names. Those belong to
//! the scenario crate, which makes plans.

mod advice;
mod cake;
mod chance;
mod circuits;
mod classes;
mod cohorts;
mod congestion;
mod diffserv;
mod discipline;
mod feedback;
mod framing;
mod gate;
mod groups;
mod holding;
mod idle;
mod laws;
mod marker;
mod media;
mod own_code;
mod perturb;
mod python;
mod queue;
mod rate;
mod recording;
mod request;
mod tcp;
mod tcp_rules;
mod tins;
mod traffic;
mod transport;
mod video;

pub use advice::{AdvicePlan, AdviceSource, PresentPlan, SconePlan};
pub use cake::CakePlan;
pub use circuits::{ArrivalPlan, Blocked, CallsPlan, Demand, PoolOrder, ReservationPlan, ReservePlan};
pub(crate) use classes::NAMED;
pub use classes::{
    ByCodepoint, ClassPlan, ClassesPlan, CreditPlan, HtbNode, HtbPlan, MOST_CLASSES, OpeningsPlan,
    SchedulerPlan, SpacedClass, SpacerPlan, StrictPlan, WfqPlan,
};
pub use cohorts::CohortPlan;
pub use congestion::{CONTROLLERS, CongestionPlan, ControllerRow};
pub use diffserv::Diffserv;
pub use discipline::{
    CoDelPlan, Discipline, DualPi2Plan, FqCoDelPlan, PiePlan, RedAdaptivePlan, RedCurve, RedPlan,
    StepThreshold,
};
pub use feedback::{
    AbrPlan, DtmPlan, Estimators, FollowPlan, PoolPlan, Share, SignalKind, SignalPlan, SwitchPlan,
};
pub use framing::Framing;
pub use gate::{CellPlan, Contract, GatePlan, JitterPlan, LossPlan, PolicePlan, Reassembly};
pub use groups::groups_of_circuits;
pub use holding::HoldingPlan;
pub use laws::{
    AtEnd, CellReplayPlan, GcraPlan, LightTrace, MarkovPlan, OnChange, OpportunityTrace, RateTrace, TrainRow,
};
pub use marker::{ColourAction, MarkerPlan, MeterPlan};
pub use media::{KeyFramesPlan, LARGEST_MEDIA_FRAME, MediaPlan};
pub use perturb::SMALL_CHANGES;
pub use python::{PythonClass, PythonSource};
pub use queue::{QueueCounts, QueueLimit, QueuePlan};
pub use rate::{Course, RatePlan};
pub use recording::{DEFAULT_MEMORY, GROUP_ROW_BYTES, Population, ROW_BYTES};
pub use request::{ConnectionPlan, RequestLoop, RequestPlan, ServerPlan, SizePlan, ThinkPlan};
pub use tcp::{
    DelayedAckPlan, Increase, LARGEST_WINDOW, ReadPlan, RtoPlan, RtoRestart, RttTiming, SsthreshRounding,
    TcpBase, TcpPlan, TickPhase,
};
pub use tcp_rules::{
    AckRule, Arithmetic, EcnPlan, LeastRto, LossDetection, Reduction, Segmentation, SlowStart, TcpRules,
};
pub(crate) use tins::time_of;
pub use tins::{AckFilter, CobaltPlan, Isolation, LinkLayer, ShapedBytes, TinPlan, TinsPlan};
pub use traffic::{AppPlan, MessageLength, MessagePlan, SourcePlan, TrafficPlan};
pub use transport::{QuicControl, QuicPlan, TransportPlan};
pub use video::{QoePlan, VideoPlan, VideoRule};

use crate::units::{Span, Time};

/// Index of a gate in [`Plan::gates`].
pub type GateIndex = usize;

/// Everything an engine needs to know about one run. The default ends at once: begin with [`Plan::empty`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// One line for people.
    pub title: String,
    /// The run ends here; summaries count `[warmup, duration)`.
    pub duration: Time,
    /// The run ends before `duration`, when every finite transfer and every request workload with a count is done.
    pub until_done: bool,
    /// Where the summary begins to count.
    pub warmup: Time,
    /// Every random stream derives from (seed, replication, element name).
    pub seed: u64,
    /// Which replication of the scenario this is.
    pub replication: u64,
    /// Replication i has small change i ([`Plan::perturbed`]). Who makes the plan makes the change; here it says that
    /// replications differ.
    pub perturb: bool,
    /// No fast path is taken, in the network, at gates, at endpoints or in controllers: every arrival and departure is an event, every
    /// segment has a whole header, every ACK takes the general steps. Results are equal; tests compare each fast path with this.
    pub exact: bool,
    /// Every cell is handled for itself; trains of them change nothing but the time it takes.
    pub cells_one_by_one: bool,
    /// How the flows of a large run are parted among threads.
    pub cohorts: CohortPlan,
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
        Plan { duration, seed: 1, ..Plan::default() }
    }
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
    /// Whose transport carries it.
    pub transport: TransportPlan,
    /// How it is sent.
    pub tcp: TcpPlan,
    /// The differentiated services codepoint of its packets (RFC 2474 §3), in both directions: in captures, and on the
    /// packets of the live engine. Below 64. Who is of which class at a gate is in the plan of the gate.
    pub dscp: u8,
    /// Which of its data packets carry a rate signal; `None`: none does.
    pub scone: Option<SconePlan>,
}

impl FlowPlan {
    /// Whether it comes to an end by itself: a finite transfer, or requests with a count.
    #[must_use]
    pub fn ends(&self) -> bool {
        match &self.app {
            AppPlan::Transfer { .. } => true,
            AppPlan::Request(requests) => requests.count.is_some(),
            AppPlan::Bulk | AppPlan::Source(_) => false,
        }
    }

    /// What carries its data, in a few words: `cubic, linux-6.18`.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.transport {
            TransportPlan::Tcp => self.tcp.label(),
            TransportPlan::Quic(quic) => quic.label(&self.tcp),
        }
    }

    /// All constant delays of both directions: the round trip without transmission, queueing and jitter.
    #[must_use]
    pub fn round_trip_delay(&self, gates: &[GatePlan]) -> Span {
        let passed = self.path.iter().chain(&self.back);
        passed.fold(self.back_delay, |sum, gate| sum + gates[*gate].least_delay())
    }

    /// [`FlowPlan::round_trip_delay`] in seconds, added up as floating-point numbers. It may differ from the exact sum in the last
    /// digit, which explanations show where they round a tie.
    #[must_use]
    pub fn round_trip_seconds(&self, gates: &[GatePlan]) -> f64 {
        let of = |path: &[GateIndex]| {
            path.iter().map(|gate| gates[*gate].least_delay().as_secs_f64()).sum::<f64>()
        };
        of(&self.path) + of(&self.back) + self.back_delay.as_secs_f64()
    }

    /// IP bytes of its largest packet on the way there.
    #[must_use]
    pub fn largest_packet(&self) -> u32 {
        self.tcp.largest_packet()
    }

    /// IP bytes of its largest packet on the way back: an ACK, or a segment of a request.
    #[must_use]
    pub fn largest_packet_back(&self) -> u32 {
        self.app.largest_packet_back(&self.tcp)
    }
}

/// When something begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartPlan {
    /// At an instant.
    At(Time),
    /// Drawn uniformly from `[from, to)` for each replication.
    Uniform(Time, Time),
}

/// What a run keeps beside its summary.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RecordPlan {
    /// How often.
    pub level: RecordLevel,
    /// Gates to record by index, in order; `None`: all.
    pub gates: Option<Vec<GateIndex>>,
    /// Flows to record by index, in order; `None`: all.
    pub flows: Option<Vec<usize>>,
    /// Flows that are recorded together, where columns are sampled every so often.
    pub groups: Vec<GroupPlan>,
    /// Keep every packet at both endpoints of every flow, for a pcap.
    pub packets: bool,
}

/// Flows that are recorded together: their sums and their spread. No flow is in two groups.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPlan {
    /// What the scenario calls it.
    pub name: String,
    /// The flows by index, in order.
    pub flows: Vec<usize>,
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
