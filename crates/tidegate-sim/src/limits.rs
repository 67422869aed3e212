//! Limits of a run: how often they are looked at, and how much memory it holds.

use tidegate_core::net::Dropped;
use tidegate_result::PacketRecord;

use crate::flow::Flow;
use crate::simulation::Simulation;
use crate::stopped::Limit;

/// Steps, or deliveries handled ahead, between two checks of the limits and of what watches.
pub(crate) const REVIEW: u64 = 1 << 17;
const FIRST_REVIEW: u64 = 1 << 10;
/// With more flows and gates than this, memory is added up at every second check only, and so on: to look at all of
/// them must stay small beside the work between two checks. Where every step adds a row, a limit of memory is exceeded by at most
/// 2 kB for each of them.
const ADDED_AT_ONCE: usize = 1 << 13;

/// Counts checks of the limits.
#[derive(Debug)]
pub(crate) struct Checks {
    /// Since memory was added up.
    since: usize,
    /// So many from one time to the next.
    every: usize,
}

impl Checks {
    /// Of a run with so many flows and gates.
    pub(crate) fn new(things: usize) -> Checks {
        Checks { since: 0, every: 1 + things / ADDED_AT_ONCE }
    }

    /// Whether memory is to be added up at this check.
    fn look_at_memory(&mut self) -> bool {
        self.since = (self.since + 1) % self.every;
        self.since == 0
    }
}

impl Simulation {
    /// So many steps are taken before the next check: every step is an event at least.
    pub(crate) fn steps_to_review(&self) -> u64 {
        let left = self.limits.events.map(|events| events - self.wire.events_handled().min(events));
        // Sooner at first: whether turns are worth it is seen early.
        let often = (self.wire.events_handled() + FIRST_REVIEW).min(REVIEW);
        left.map_or(often, |left| left.clamp(1, often))
    }

    /// The limit that has been reached.
    pub(crate) fn limit(&mut self) -> Option<Limit> {
        if let Some(events) = self.limits.events
            && self.wire.events_handled() >= events
        {
            return Some(Limit::Events(events));
        }
        let memory = self.limits.memory_bytes?;
        (self.checks.look_at_memory() && self.memory_bytes() >= memory).then_some(Limit::Memory(memory))
    }

    /// Bytes that the run holds, apart from what it began with.
    fn memory_bytes(&self) -> u64 {
        let flows: u64 = self.flows.iter().map(Flow::memory_bytes).sum();
        let drops = self.drops.capacity() * size_of::<Dropped>();
        let packets = self.wire.packets.as_ref().map_or(0, Vec::capacity) * size_of::<PacketRecord>();
        let segments = self.wire.segments.memory_bytes();
        self.wire.network.memory_bytes()
            + self.wire.groups.memory_bytes()
            + segments
            + flows
            + (drops + packets) as u64
    }
}
