//! The door of a gate's queue: which units may join it. Both ways of driving a gate ask [`Queue::admit`] about each
//! arrival. Which unit leaves the queue next, and which are dropped there, is asked in [`super::waiting`].

use super::backlog::Backlog;
use super::drops::DropReason;
use super::rate::Service;
use super::step;
use crate::plan::{Discipline, QueueCounts, QueueLimit, QueuePlan};
use crate::unit::Unit;
use crate::units::Time;

/// The rules of one gate's queue.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    discipline: Discipline,
    limit: QueueLimit,
    counts: QueueCounts,
    /// A tagged unit that finds this many units is dropped.
    tagged: Option<u64>,
    /// What is too much is dropped from within.
    makes_room: bool,
}

impl Queue {
    pub(super) fn new(plan: &QueuePlan) -> Queue {
        let QueuePlan { discipline, limit, counts, tagged } = *plan;
        let makes_room = matches!(discipline, Discipline::FqCoDel(_));
        Queue { discipline, limit, counts, tagged, makes_room }
    }

    /// Whether a unit that arrives may join the queue, in which it finds `found`, and whether it is marked CE. `at_once` says whether its service
    /// begins the moment it arrives: then it needs no place.
    ///
    /// # Errors
    /// Why the unit is dropped.
    #[inline]
    pub(super) fn admit(
        &mut self,
        found: Backlog,
        unit: &Unit,
        at_once: impl FnOnce() -> bool,
    ) -> Result<bool, DropReason> {
        if unit.tagged() && self.tagged.is_some_and(|threshold| found.units >= threshold) {
            return Err(DropReason::QueueFull);
        }
        if !self.makes_room && self.is_full(found, unit.bytes) && !at_once() {
            return Err(DropReason::QueueFull);
        }
        match self.discipline {
            Discipline::DropTail => Ok(false),
            Discipline::Step(threshold) => step::judge(threshold, found, unit.ecn()),
            // It decides when the unit would be served.
            Discipline::CoDel(_) | Discipline::Pie(_) | Discipline::FqCoDel(_) | Discipline::DualPi2(_) => {
                Ok(false)
            }
        }
    }

    /// Whether a queue that holds `found` has no place for a unit of so many IP bytes.
    #[inline]
    pub(super) fn is_full(&self, found: Backlog, bytes: u32) -> bool {
        match self.limit {
            QueueLimit::Unlimited => false,
            QueueLimit::Packets(limit) | QueueLimit::Cells(limit) => found.units >= limit,
            QueueLimit::Bytes(limit) => found.bytes + u64::from(bytes) > limit,
        }
    }

    /// Until when a unit counts in the queue.
    #[inline]
    pub(super) fn leaves(&self, service: Service) -> Time {
        if self.counts_service() { service.end } else { service.start }
    }

    /// Whether the unit in service counts.
    #[inline]
    pub(super) fn counts_service(&self) -> bool {
        self.counts == QueueCounts::All
    }
}
