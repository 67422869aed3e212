//! The queue of a gate: which units may join it, and which leave it for the server.
//!
//! Both ways of driving a gate ask [`Queue::admit`] about each arrival. Where a gate is driven step by step,
//! [`Waiting::pop`] says which unit is served next.

use std::collections::VecDeque;

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
}

impl Queue {
    pub(super) fn new(plan: &QueuePlan) -> Queue {
        let QueuePlan { discipline, limit, counts, tagged } = *plan;
        Queue { discipline, limit, counts, tagged }
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
        if self.is_full(found, unit.bytes) && !at_once() {
            return Err(DropReason::QueueFull);
        }
        match self.discipline {
            Discipline::DropTail => Ok(false),
            Discipline::Step(threshold) => step::judge(threshold, found, unit.ecn()),
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

/// The units that wait at a gate that is driven step by step, without the one in service.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Each with its arrival.
    units: VecDeque<(Time, Unit)>,
    bytes: u64,
}

impl Waiting {
    pub(super) fn push(&mut self, at: Time, unit: Unit) {
        self.units.push_back((at, unit));
        self.bytes += u64::from(unit.bytes);
    }

    /// The unit that is served next, with its arrival.
    pub(super) fn pop(&mut self) -> Option<(Time, Unit)> {
        let (arrival, unit) = self.units.pop_front()?;
        self.bytes -= u64::from(unit.bytes);
        Some((arrival, unit))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    pub(super) fn backlog(&self) -> Backlog {
        Backlog { units: self.units.len() as u64, bytes: self.bytes }
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        (self.units.capacity() * size_of::<(Time, Unit)>()) as u64
    }
}
