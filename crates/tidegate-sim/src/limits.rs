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
    fn memory_bytes(&self) -> u64 {
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

#[cfg(test)]
mod tests {
    use tidegate_core::plan::{AppPlan, CongestionPlan, Plan, RecordLevel};
    use tidegate_core::units::{Span, Time};

    use super::*;
    use crate::small::{one_link, tcp};

    /// A sender that knows no bound fills a queue without one.
    fn filling() -> Plan {
        let plan = one_link(None, AppPlan::Bulk, tcp(CongestionPlan::Cubic));
        Plan { duration: Time::ZERO + Span::from_secs(100), ..plan }
    }

    fn held_at_the_end(plan: &Plan) -> (bool, u64) {
        let mut simulation = Simulation::with_hosts(plan, 1, &mut |_| None).expect("no hosts");
        simulation.start();
        let limit = simulation.drive(plan.duration, &mut &mut |_: Time| true).expect("nobody interrupts");
        (limit.is_some(), simulation.memory_bytes())
    }

    #[test]
    fn a_run_holds_little_more_than_its_limit_of_memory() {
        for level in [RecordLevel::Summary, RecordLevel::Events] {
            for limit in [50_000, 200_000, 1_000_000, 5_000_000] {
                let mut plan = filling();
                plan.record.level = level;
                plan.limits.memory_bytes = Some(limit);
                let (stopped, held) = held_at_the_end(&plan);
                assert!(!stopped || held <= 2 * limit + 32_000 + 2 * 2_000, "{limit}: {held}");
                assert!(stopped || held < limit, "{limit}: {held}");
            }
        }
    }

    #[test]
    fn what_a_run_begins_with_counts() {
        let mut plan = filling();
        let copy = plan.flows[0].clone();
        plan.flows.extend((0..99).map(|_| copy.clone()));
        plan.limits.memory_bytes = Some(plan.start_bytes() / 2);
        assert!(plan.start_bytes() > 700_000 && held_at_the_end(&plan).0);
    }
}
