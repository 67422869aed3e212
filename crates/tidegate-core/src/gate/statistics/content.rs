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
    coming: Vec<(Time, Time)>,
    /// Services that are not over, oldest first.
    services: VecDeque<Service>,
    /// The first of them has begun.
    begun: bool,
}

impl Content {
    pub(super) fn spread(&mut self, spread: Span) {
        self.spread = spread;
    }

    /// A cell arrives. [`Content::serve`] follows.
    pub(super) fn arrive(&mut self, at: Time) {
        self.whole += 1;
        if self.spread > Span::ZERO {
            let end = at.saturating_add(self.spread);
            let place = self.coming.partition_point(|(_, other)| *other <= end);
            self.coming.insert(place, (at, end));
        }
    }

    pub(super) fn serve(&mut self, service: Service) {
        self.services.push_back(service);
    }

    /// When the slope of the fluid or the number of cells changes next, as far as it is known.
    pub(super) fn next_change(&self) -> Time {
        let service = self.services.front().map(|first| if self.begun { first.end } else { first.start });
        let coming = self.coming.first().map(|(_, end)| *end);
        service.unwrap_or(Time::NEVER).min(coming.unwrap_or(Time::NEVER))
    }

    /// Applies every change until `at`, and at that instant.
    pub(super) fn apply(&mut self, at: Time) {
        let over = self.coming.partition_point(|(_, end)| *end <= at);
        self.coming.drain(..over);
        while let Some(first) = self.services.front() {
            self.begun |= first.start <= at;
            if first.end > at || !self.begun {
                return;
            }
            self.services.pop_front();
            self.begun = false;
            self.whole = less(self.whole, 1);
        }
    }

    /// Cells that have arrived and not left.
    pub(super) fn whole(&self) -> u64 {
        self.whole
    }

    /// The fluid at `at` in cells, after [`Content::apply`] until `at`. Never below zero: where the gate before is the
    /// slower one, a cell would leave before it has arrived.
    pub(super) fn fluid(&self, at: Time) -> f64 {
        let share = |from: Time, now: Time, to: Time| {
            let whole = to.saturating_since(from).picos();
            if whole == 0 { 0.0 } else { now.saturating_since(from).picos() as f64 / whole as f64 }
        };
        let missing: f64 = self.coming.iter().map(|(begin, end)| 1.0 - share(*begin, at, *end)).sum();
        let gone = match self.services.front() {
            Some(first) if self.begun => share(first.start, at, first.end),
            _ => 0.0,
        };
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
        for n in 0..2 {
            content.apply(at(10 * n));
            content.arrive(at(10 * n));
            content.serve(Service { start: at(20 * n), end: at(20 * n + 20) });
        }
        let mut seen = Vec::new();
        for micros in [10, 15, 20, 30, 40] {
            content.apply(at(micros));
            seen.push((content.whole(), content.fluid(at(micros))));
        }
        assert_eq!(seen, [(2, 0.5), (2, 0.75), (1, 1.0), (1, 0.5), (0, 0.0)]);
    }

    #[test]
    fn changes_come_in_order() {
        let mut content = Content::default();
        content.spread(Span::from_micros(30));
        content.arrive(at(0));
        content.serve(Service { start: at(5), end: at(10) });
        let mut changes = Vec::new();
        while content.next_change() != Time::NEVER {
            changes.push(content.next_change());
            content.apply(content.next_change());
        }
        assert_eq!(changes, [5, 10, 30].map(at));
        assert_eq!(content.whole(), 0);
    }
}
