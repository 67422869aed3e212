//! Whether a run has reached a limit, and how much memory it holds.

use tidegate_core::net::Dropped;
use tidegate_result::PacketRecord;

use crate::checks::FIRST_REVIEW;
use crate::flow::Flow;
use crate::simulation::Simulation;
use crate::stopped::Limit;

impl Simulation {
    /// So many steps are taken before the next check: every step is an event at least.
    pub(crate) fn steps_to_review(&self) -> u64 {
        let left = self.limits.events.map(|events| events - self.wire.events_handled().min(events));
        // Sooner at first: whether alternating directions are worth it is seen early.
        let often = (self.wire.events_handled() + FIRST_REVIEW).min(self.checks.steps());
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
        if !self.checks.look_at_memory() {
            return None;
        }
        let held = self.memory_bytes();
        self.checks.note_memory(memory.saturating_sub(held));
        (held >= memory).then_some(Limit::Memory(memory))
    }

    /// Bytes that the run holds, about, what it began with included.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let flows: u64 = self.flows.iter().map(Flow::memory_bytes).sum();
        let drops = self.drops.capacity() * size_of::<Dropped>();
        let packets = self.wire.packets.as_ref().map_or(0, Vec::capacity) * size_of::<PacketRecord>();
        let segments = self.wire.segments.memory_bytes();
        self.begun_with
            + self.wire.network.memory_bytes()
            + self.wire.groups.memory_bytes(self.reached())
            + segments
            + self.cohort_threads.as_ref().map_or(0, |cohort_threads| cohort_threads.memory_bytes())
            + flows
            + (drops + packets) as u64
    }
}
