//! Throughput advice (SCONE): what a gate tells, and how a flow listens.

use crate::effcap::Blocks;
use crate::plan::{Course, RatePlan, Share};
use crate::units::{Rate, Span};

/// The rate that a gate tells the flows that pass it, in the packets that carry a rate signal ([`crate::advice`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvicePlan {
    /// Where the rate comes from.
    pub source: AdviceSource,
    /// The part of it that is told.
    pub share: Share,
    /// Among whom it is divided; `None`: each flow is told all of it.
    pub among: Option<PresentPlan>,
}

impl AdvicePlan {
    /// What each flow is told that passes alone, where it is the same throughout, before it is made a rate signal.
    #[must_use]
    pub fn constant(&self, law: &RatePlan) -> Option<Rate> {
        let rate = match (self.source, law.course()) {
            (AdviceSource::Rate(rate), _) => rate,
            (AdviceSource::Law, Course::Constant(speed)) => Rate::from_bps(speed),
            _ => return None,
        };
        Some(self.share.of(u128::from(rate.bps()), 1))
    }
}

/// The flows that are present at a gate: those of which a packet came within some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresentPlan {
    /// The time.
    pub within: Span,
    /// Only a packet counts that carries a rate signal.
    pub signalled: bool,
}

/// Where the rate comes from that a gate tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdviceSource {
    /// It is written, or a contract's.
    Rate(Rate),
    /// The gate's rate law as it is at that instant; not of opportunities, and of bits.
    Law,
    /// What can be counted on of the gate's own law, from its means over slots of time ([`crate::effcap`]). Nothing is told before the
    /// first slot is over.
    Estimate {
        /// Length of the slots, the first from 0; above zero.
        every: Span,
        /// What is made of the means.
        blocks: Blocks,
    },
}

/// Which data packets of a flow carry a rate signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SconePlan {
    /// So many at the start, one after the other.
    pub first: u32,
    /// Then the first that leaves this long after the last one that did.
    pub every: Span,
}

impl SconePlan {
    /// The first few, and then often enough that advice does not expire (sections "Applying Throughput Advice Signals" and "Providing
    /// Opportunities to Apply Throughput Advice Signals" of draft-ietf-scone-protocol).
    pub const DEFAULT: SconePlan = SconePlan { first: 3, every: Span::from_secs(20) };
}
