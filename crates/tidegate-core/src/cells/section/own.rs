//! How long a packet's cells take through a gate if no other packet comes there: that is the packet's own service, as at a gate that
//! passes packets whole. Only what its last cell waits beyond it is queueing delay.

use crate::aal5::CELL_BITS;
use crate::cells::train::{Exact, Spacing, Train};
use crate::gate::rate::{Law, Service};
use crate::plan::{GatePlan, RatePlan};
use crate::random::Stream;
use crate::units::{Measured, Span, Speed, Time};

/// When a gate would serve a packet's next cell if no other packet came.
#[derive(Debug)]
pub(super) enum OwnService {
    /// One spacing after the cell before.
    Spacing(Spacing),
    /// As this law does, at rest before the packet's first cell: a bucket that is full.
    Law(Box<Law>),
    /// As it did: what passes between two of its cells without one of another packet is service.
    Served,
}

impl OwnService {
    pub(super) fn new(plan: &GatePlan, measured: Measured, stream: Stream) -> OwnService {
        match &plan.rate {
            RatePlan::Constant(Speed::Bits(rate)) => OwnService::Spacing(Spacing::of(CELL_BITS, rate.bps())),
            RatePlan::Gcra(gcra) if gcra.limit.tolerance() == 0 => {
                OwnService::Spacing(Spacing::from(gcra.limit.increment()))
            }
            RatePlan::Gcra(_) | RatePlan::TokenBucket { .. } => {
                OwnService::Law(Box::new(Law::new(&plan.rate, plan.on_change, measured, stream)))
            }
            _ => OwnService::Served,
        }
    }
}

/// The packet of one crossing whose cells are coming to a gate, as if no other came there. Every packet that passes
/// whole has all its cells here, so its first one begins anew; of others nobody asks.
#[derive(Debug)]
pub(super) struct Own {
    /// When the gate would be free for the next cell.
    free: Exact,
    /// The first slot that would be, at a slotted gate.
    slot: u64,
    /// When the last cell's service ended.
    end: Time,
    law: Option<Box<Law>>,
}

impl Own {
    pub(super) fn new() -> Own {
        Own { free: Exact::whole(Time::ZERO), slot: 0, end: Time::ZERO, law: None }
    }

    /// A cell comes: when its service would start at a server of one distance.
    #[inline]
    pub(super) fn start(&mut self, spacing: Spacing, at: Time, begins: bool) -> Exact {
        let start = if begins || at > self.free.at { Exact::whole(at) } else { self.free };
        self.free = start.plus(spacing);
        start
    }

    /// So many cells come together at `at`: when the service of the last of them would start.
    pub(super) fn start_of_last(
        &mut self,
        spacing: Spacing,
        (at, cells): (Time, u32),
        begins: bool,
    ) -> Exact {
        let last = self.start(spacing, at, begins).plus_times(spacing, u64::from(cells) - 1);
        self.free = last.plus(spacing);
        last
    }

    /// The cells of a train come, the packet's last of which is not among them.
    pub(super) fn take(&mut self, spacing: Spacing, train: &Train) {
        let mut rest = *train;
        while rest.left > 0 {
            self.start(spacing, rest.next.at, rest.begins);
            rest.skip(1);
        }
    }

    /// A cell comes in a slot: how many slots it would wait after that slot's end.
    #[inline]
    pub(super) fn slots(&mut self, slot: u64, begins: bool, ends: bool) -> u32 {
        let next = slot + 1;
        let start = if begins { next } else { self.slot.max(next) };
        self.slot = if ends { 0 } else { start + 1 };
        (start - next) as u32
    }

    /// Whether a cell that comes in this slot or later, and each after it in a slot of its own, would not wait.
    #[inline]
    pub(super) fn is_clear(&self, slot: u64) -> bool {
        self.slot <= slot + 1
    }

    /// A cell that came at `at` has been served: how much longer it waited than it would have. `follows`: no other
    /// crossing's cell was served after the packet's cell before it.
    pub(super) fn excess(
        &mut self,
        pace: &OwnService,
        (at, service): (Time, Service),
        begins: bool,
        follows: bool,
    ) -> Span {
        match pace {
            OwnService::Spacing(spacing) => {
                service.start.saturating_since(self.start(*spacing, at, begins).at)
            }
            OwnService::Law(fresh) => {
                if begins || self.law.is_none() {
                    self.law = Some(fresh.clone());
                }
                let unshared = self.law.as_mut().map(|law| law.transmit(at, CELL_BITS));
                unshared.map_or(Span::ZERO, |unshared| service.start.saturating_since(unshared.start))
            }
            OwnService::Served => {
                let unshared = if begins { at } else { at.max(self.free.at) };
                // Between two of its cells nothing but cells of others is waited for.
                let start = if follows && !begins { at.max(self.end) } else { service.start };
                let excess = start.saturating_since(unshared);
                self.end = service.end;
                self.free = Exact::whole(unshared.saturating_add(service.end.saturating_since(start)));
                excess
            }
        }
    }
}
