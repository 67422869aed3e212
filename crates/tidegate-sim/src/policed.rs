//! Which policer a flow's small congestion window is owed to.
//!
//! Whenever the sender begins to repair a loss (a time-out, or a recovery that duplicate ACKs or SACK
//! start), its oldest outstanding segment is the one that it misses. If a policer was the last to drop
//! that segment, the policer is to blame for what the congestion window holds back from then on; if
//! anything else was, or nothing, nobody is. A fixed window is not reduced: there the blame ends with
//! the repair. See `docs/design/limited-by.md`.

use tidegate_core::gate::DropReason;
use tidegate_core::net::Dropped;
use tidegate_core::plan::{CongestionPlan, GatePlan, Plan};
use tidegate_core::tcp::{Endpoint, Phase};
use tidegate_core::unit::{Cause, HeldBy, Unit};
use tidegate_core::units::Time;

/// After this many remembered drops, those that have been acknowledged since are removed.
const ENOUGH: usize = 64;

/// When a data segment was dropped, the number of its first byte, and the gate if its policer dropped it.
type Drop = (Time, u32, Option<usize>);

/// The state of a flow that passes a policer.
#[derive(Debug)]
pub(crate) struct Policed {
    /// Its number.
    index: usize,
    /// Dropped data segments in the order of their reports.
    drops: Vec<Drop>,
    /// The number of drops at which acknowledged ones are removed next.
    forget_at: usize,
    /// Repairs begun so far.
    repairs: u64,
    /// The gate whose policer dropped the segment that the latest repair began with.
    blamed: Option<usize>,
    /// The congestion window is always the same.
    fixed: bool,
}

impl Policed {
    /// `None` where no gate on the flow's path has a policer that drops.
    pub(crate) fn new(plan: &Plan, index: usize) -> Option<Policed> {
        let flow = &plan.flows[index];
        let drops =
            |gate: &GatePlan| gate.police.is_some() || gate.marker.is_some_and(|marker| marker.drops());
        let polices = flow.path.iter().any(|gate| drops(&plan.gates[*gate]));
        polices.then(|| Policed {
            index,
            drops: Vec::new(),
            forget_at: ENOUGH,
            repairs: 0,
            blamed: None,
            fixed: matches!(flow.tcp.cc, CongestionPlan::Fixed { .. }),
        })
    }

    /// A data segment was dropped; `number` is that of its first byte. With run-ahead the report may come before the
    /// time of the drop.
    pub(crate) fn note_drop(&mut self, dropped: &Dropped, number: u32, sender: &Endpoint) {
        if self.drops.len() >= self.forget_at {
            let oldest = sender.oldest_unacknowledged();
            self.drops.retain(|(_, seq, _)| seq.wrapping_sub(oldest).cast_signed() >= 0);
            self.forget_at = (self.drops.len() * 2).max(ENOUGH);
        }
        self.drops.push(drop_of(dropped, number));
    }

    /// Whether the sender has begun a repair since the last look.
    #[inline(always)]
    pub(crate) fn begins_repair(&self, sender: &Endpoint) -> bool {
        repairs_of(sender) != self.repairs
    }

    /// The sender has begun a repair at `at`. `unreported`: drops that wait to be reported, each with the number of its first byte.
    pub(crate) fn review<'a>(
        &mut self,
        at: Time,
        sender: &Endpoint,
        unreported: impl Iterator<Item = (&'a Dropped, u32)>,
    ) {
        self.repairs = repairs_of(sender);
        let missing = sender.oldest_unacknowledged();
        let drops =
            self.drops.iter().copied().chain(unreported.map(|(dropped, number)| drop_of(dropped, number)));
        let of_it = drops.filter(|(when, seq, _)| *seq == missing && *when < at);
        self.blamed = of_it.max_by_key(|(when, ..)| *when).and_then(|(.., policer)| policer);
    }

    /// A new connection replaces this one.
    pub(crate) fn reconnect(&mut self) {
        self.drops.clear();
        (self.repairs, self.blamed) = (0, None);
    }

    /// The number of the flow.
    pub(crate) fn flow(&self) -> usize {
        self.index
    }

    /// Whether what the sender is doing must be known whenever a segment leaves, which a row of ACKs does not tell.
    pub(crate) fn asks_for_phase(&self) -> bool {
        self.fixed
    }

    fn policer(&self, sender: &Endpoint) -> Option<usize> {
        let repairs = || matches!(sender.snapshot().phase, Phase::Recovery | Phase::Loss);
        self.blamed.filter(|_| !self.fixed || repairs())
    }

    /// Whether a policer is why the congestion window is small.
    pub(crate) fn holds(&self, sender: &Endpoint) -> bool {
        self.policer(sender).is_some()
    }

    /// A segment leaves that this had held back.
    pub(crate) fn blame(&self, unit: &mut Unit, held_by: HeldBy, sender: &Endpoint) {
        if held_by == HeldBy::CongestionWindow
            && let Some(gate) = self.policer(sender)
        {
            unit.blame_policer(gate);
        }
    }

    /// What the time is owed to that a sender so held back spends.
    pub(crate) fn cause(&self, held_by: HeldBy, sender: &Endpoint) -> Cause {
        match (held_by, self.policer(sender)) {
            (HeldBy::CongestionWindow, Some(gate)) => Cause::policer(gate),
            _ => Cause::sender(held_by),
        }
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.drops.capacity() * size_of::<Drop>()) as u64
    }
}

/// Repairs that a sender has begun.
#[inline(always)]
fn repairs_of(sender: &Endpoint) -> u64 {
    let counters = sender.counters();
    counters.timeouts + counters.fast_retransmits
}

/// The drop of a data segment whose first byte has this number.
fn drop_of(dropped: &Dropped, number: u32) -> Drop {
    (dropped.at, number, (dropped.reason == DropReason::Policed).then_some(dropped.gate))
}
