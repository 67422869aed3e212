//! Calls without packets: they come, hold capacity and go.

use std::collections::BTreeMap;

use crate::app::draw;
use crate::plan::{Blocked, CallsPlan};
use crate::random::{Seed, Stream};
use crate::units::{Span, Time};

/// One source of calls.
#[derive(Debug)]
pub(super) struct CallSource {
    plan: CallsPlan,
    next: Time,
    made: u64,
    /// Gaps and holding times come from streams of their own, one draw for each call that is
    /// made: what becomes of a call changes nothing for the others.
    gaps: Stream,
    holds: Stream,
    /// How long each call that is not over yet is held from its grant on.
    holding: BTreeMap<u64, Span>,
}

impl CallSource {
    pub(super) fn new(plan: &CallsPlan, seed: Seed) -> CallSource {
        let stream = |what: &str| seed.stream(&format!("calls.{}/{what}", plan.name));
        let mut source = CallSource {
            next: plan.start,
            made: 0,
            gaps: stream("gaps"),
            holds: stream("holds"),
            holding: BTreeMap::new(),
            plan: plan.clone(),
        };
        source.advance();
        source
    }

    fn advance(&mut self) {
        let gap = draw(self.plan.gap, &mut self.gaps);
        // Calls never come without end at one instant.
        self.next = self.next.saturating_add(gap.max(Span::from_picos(1)));
    }

    /// When the next call is made.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Makes it, and says which it is.
    pub(super) fn make(&mut self) -> u64 {
        let held = draw(self.plan.hold, &mut self.holds);
        let total = self.plan.setup.picos().saturating_add(held.picos());
        self.made += 1;
        self.holding.insert(self.made, Span::from_picos(total));
        self.advance();
        self.made
    }

    /// How long a call keeps what it is granted.
    pub(super) fn holding(&self, call: u64) -> Span {
        self.holding.get(&call).copied().unwrap_or(Span::ZERO)
    }

    /// A call is over, or lost.
    pub(super) fn end(&mut self, call: u64) {
        self.holding.remove(&call);
    }

    pub(super) fn blocked(&self) -> Blocked {
        self.plan.blocked
    }

    /// Calls that are not over yet.
    pub(super) fn open_calls(&self) -> usize {
        self.holding.len()
    }
}
