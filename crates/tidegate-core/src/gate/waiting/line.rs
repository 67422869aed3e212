//! Units that wait, first in, first out.

use std::collections::VecDeque;

use crate::gate::backlog::Backlog;
use crate::unit::Unit;
use crate::units::{Span, Time};

/// A unit that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gate) struct Waiter {
    /// When it came.
    pub(in crate::gate) arrival: Time,
    /// The unit.
    pub(in crate::gate) unit: Unit,
}

/// A unit that leaves the queue for the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gate) struct Leaver {
    /// The unit.
    pub(in crate::gate) waiter: Waiter,
    /// It is to be marked CE; it is ECN-capable.
    pub(in crate::gate) marked: bool,
}

/// A line of units.
#[derive(Clone, Debug, Default)]
pub(in crate::gate) struct Line {
    units: VecDeque<Waiter>,
    bytes: u64,
}

impl Waiter {
    /// How long it has waited at `now`.
    #[inline]
    pub(super) fn sojourn(&self, now: Time) -> Span {
        now.saturating_since(self.arrival)
    }
}

impl Line {
    #[inline]
    pub(super) fn push(&mut self, waiter: Waiter) {
        self.bytes += u64::from(waiter.unit.bytes);
        self.units.push_back(waiter);
    }

    /// The first unit, which leaves the line.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Waiter> {
        let first = self.units.pop_front()?;
        self.bytes -= u64::from(first.unit.bytes);
        Some(first)
    }

    /// The last unit, and those before it from the first on; `None`: there are none before it.
    pub(super) fn last_and_before(&self) -> Option<(&Waiter, impl Iterator<Item = &Waiter>)> {
        let last = self.units.back().filter(|_| self.units.len() > 1)?;
        Some((last, self.units.iter().take(self.units.len() - 1)))
    }

    /// Takes out the unit that has `place` units before it.
    pub(super) fn take(&mut self, place: usize) -> Option<Waiter> {
        let waiter = self.units.remove(place)?;
        self.bytes -= u64::from(waiter.unit.bytes);
        Some(waiter)
    }

    /// The first unit.
    #[inline]
    pub(super) fn first(&self) -> Option<&Waiter> {
        self.units.front()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    #[inline]
    pub(super) fn backlog(&self) -> Backlog {
        Backlog { units: self.units.len() as u64, bytes: self.bytes }
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        (self.units.capacity() * size_of::<Waiter>()) as u64
    }
}
