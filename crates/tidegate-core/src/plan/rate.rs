//! Rate laws.

use std::sync::Arc;

use super::{AbrPlan, DtmPlan, FollowPlan, ReservePlan};
use crate::aal5::CELL_BITS;
use crate::gcra::{Limit, Release};
use crate::units::{Rate, Span, Speed, Time};

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
        self.limit.bits_per_second(CELL_BITS)
    }
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
