//! Plans of circuits: what a call asks of its pools, and when it is made and given back.

use super::HoldingPlan;
use crate::units::{Rate, Span, Time};

/// A circuit: a gate that passes packets only while its call is up, then at a fixed rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservePlan {
    /// Index in [`Plan::reservations`](crate::plan::Plan::reservations). Circuits of one
    /// reservation are opened by one call: the directions of a duplex gate, and circuits in
    /// series on one path.
    pub reservation: usize,
    /// Speed while it is open, above zero, in bits on the gate's wire.
    pub rate: Rate,
}

/// What a call for circuits asks for, and how long it keeps it. A call asks all its pools at
/// once and gets all or nothing, so calls that wait hold nothing and cannot lock each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationPlan {
    /// Name of its first circuit.
    pub name: String,
    /// One for each pool, pools increasing; at least one, none more than its pool has.
    pub demands: Vec<Demand>,
    /// From the grant to the instant packets pass.
    pub setup: Span,
    /// Kept so long after it fell idle: no transfer, no packet in its circuits. `None`: for ever.
    pub hold: Option<Span>,
    /// What becomes of a call that does not fit.
    pub blocked: Blocked,
}

/// So much of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Index in [`Plan::pools`](crate::plan::Plan::pools).
    pub pool: usize,
    /// How much, above zero.
    pub rate: Rate,
}

/// What becomes of a call that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Blocked {
    /// It waits for its turn.
    #[default]
    Wait,
    /// It is lost. The packet that asked is dropped; the next one asks again.
    Refuse,
    /// It is refused and made again after this long; packets wait.
    Retry(Span),
}

/// Who of those that wait is next when a pool has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PoolOrder {
    /// The one that asked first; nobody passes it.
    #[default]
    Asked,
    /// The first that fits.
    FirstFit,
}

/// Calls without packets: they come by chance, hold capacity of pools, and go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallsPlan {
    /// Unique.
    pub name: String,
    /// Arrivals begin here.
    pub start: Time,
    /// When calls come.
    pub arrivals: ArrivalPlan,
    /// From the end of its set-up to its end.
    pub hold: HoldingPlan,
    /// What each call asks for, as in [`ReservationPlan::demands`].
    pub demands: Vec<Demand>,
    /// Capacity is held so long before the holding time begins.
    pub setup: Span,
    /// What becomes of a call that does not fit.
    pub blocked: Blocked,
    /// How long a call waits before it leaves the line without having been served; `None`: it waits
    /// for as long as it takes. Only for calls that wait.
    pub patience: Option<HoldingPlan>,
}

/// When calls without packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalPlan {
    /// One after the other with this gap, however many calls are under way: a very large number of
    /// users. The first comes one gap after the start.
    Every(HoldingPlan),
    /// From a fixed number of sources, each with one call at a time: it is idle for so long, from the start
    /// or from the end of its last call (over, refused for good, or abandoned), then it calls again.
    Sources {
        /// How many, at least one.
        count: u32,
        /// How long each is idle between two calls.
        idle: HoldingPlan,
    },
}
