//! Rates that follow what is measured or signalled.

use super::{GateIndex, PoolOrder};
use crate::abr::Rates;
use crate::dtm::Settings;
use crate::effcap::Blocks;
use crate::units::{PICOS_PER_SECOND, Rate, Span};

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
    /// Index of the switch in [`super::Plan::switches`].
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
    /// Bytes that come to the gate are counted over intervals of this length, the first from 0.
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
    /// Bytes on the gate's wire that came to it, dropped ones included.
    Arrivals,
    /// Units dropped when they came.
    Drops,
}
