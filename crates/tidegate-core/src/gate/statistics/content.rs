//! The content of a cell gate over time, in whole cells and as a fluid.
//!
//! A whole cell counts from its arrival to the end of its service. As a fluid, a cell arrives during the time that the
//! gate before it takes for a cell, beginning at its arrival, and leaves during its service: a cell that arrives at t
//! from a link of rate h arrives as a fluid over `[t, t + 1/h)`. The theorems on cell spacers are about the difference of
//! the two.

use std::collections::VecDeque;

use super::count::less;
use crate::gate::rate::Service;
use crate::units::{Span, Time};

/// The content of one cell gate.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    whole: u64,
    /// How long the next cell takes to arrive.
    spread: Span,
    /// Begin and end of the arrivals that are not over, in the order of their ends.
    coming: VecDeque<(Time, Time)>,
}

impl Content {
    pub(super) fn spread(&mut self, spread: Span) {
        self.spread = spread;
    }

    /// Cells arrive together. Nobody asks for the fluid before `next`.
    #[inline]
    pub(super) fn arrive(&mut self, at: Time, cells: u64, next: Time) {
        self.whole += cells;
        let end = at.saturating_add(self.spread);
        if self.spread > Span::ZERO && end > next {
            let before = self.coming.iter().rev().take_while(|(_, other)| *other > end).count();
            for _ in 0..cells {
                self.coming.insert(self.coming.len() - before, (at, end));
            }
        }
    }

    /// When a cell has arrived next, as far as it is known.
    pub(super) fn next_change(&self) -> Time {
        self.coming.front().map_or(Time::NEVER, |(_, end)| *end)
    }

    /// Applies every change until `at`, and at that instant; `ended` services end.
    pub(super) fn apply(&mut self, at: Time, ended: u64) {
        while self.coming.pop_front_if(|(_, end)| *end <= at).is_some() {}
        self.end(ended);
    }

    /// So many services end.
    #[inline]
    pub(super) fn end(&mut self, services: u64) {
        self.whole = less(self.whole, services);
    }

    /// Cells that have arrived and not left.
    pub(super) fn whole(&self) -> u64 {
        self.whole
    }

    /// The fluid at `at` in cells, after [`Content::apply`] until `at`; `first` is the first service that is not over. Never below
    /// zero: where the gate before is the slower one, a cell would leave before it has arrived.
    pub(super) fn fluid(&self, at: Time, first: Option<Service>) -> f64 {
        let share = |from: Time, now: Time, to: Time| {
            let whole = to.saturating_since(from).picos();
            if whole == 0 { 0.0 } else { now.saturating_since(from).picos() as f64 / whole as f64 }
        };
        let missing: f64 = self.coming.iter().map(|(begin, end)| 1.0 - share(*begin, at, *end)).sum();
        let gone = first.map_or(0.0, |first| share(first.start, at, first.end));
        (self.whole as f64 - missing - gone).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// Two cells come 10 us apart from a link that takes 10 us for each, and are served in 20:
    /// the fluid rises at half a cell in 10 us to 1 at 20 us, and falls to nothing at 40.
    #[test]
    fn the_fluid_is_between_the_whole_cells() {
        let mut content = Content::default();
        content.spread(Span::from_micros(10));
        let service = |n| Service { start: at(20 * n), end: at(20 * n + 20) };
        for n in 0..2 {
            content.arrive(at(10 * n), 1, Time::ZERO);
            content.apply(at(10 * n), 0);
        }
        let mut seen = Vec::new();
        for micros in [10, 15, 20, 30, 40] {
            content.apply(at(micros), u64::from(micros % 20 == 0));
            let first = Some(micros / 20).filter(|n| *n < 2).map(service);
            seen.push((content.whole(), content.fluid(at(micros), first)));
        }
        assert_eq!(seen, [(2, 0.5), (2, 0.75), (1, 1.0), (1, 0.5), (0, 0.0)]);
    }

    /// Of two cells that come together, the one that comes from the faster link has arrived sooner.
    #[test]
    fn changes_come_in_order() {
        let mut content = Content::default();
        for micros in [30, 10] {
            content.spread(Span::from_micros(micros));
            content.arrive(at(0), 1, Time::ZERO);
        }
        let mut changes = Vec::new();
        while content.next_change() != Time::NEVER {
            changes.push(content.next_change());
            content.apply(content.next_change(), 1);
        }
        assert_eq!(changes, [10, 30].map(at));
        assert_eq!(content.whole(), 0);
    }
}
