//! What is in a cell gate at an instant, as whole cells and as a fluid.
//!
//! A cell counts whole from its arrival to the end of its service. As a fluid it comes over the
//! time that the gate before it takes for a cell, beginning at its arrival, and goes over its
//! service: a cell that came whole at t from a link of rate h is fluid over `[t, t + 1/h)`.
//! The difference of the two is what the theorems on cell spacers speak of.

use std::collections::VecDeque;

use crate::gate::rate::Service;
use crate::units::{Span, Time};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    whole: u64,
    /// How long the cell that comes next is coming in.
    spread: Span,
    /// Begin and end of what is still coming in, by end.
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

    /// A cell comes; [`Content::serve`] follows.
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

    /// When the slope of the fluid or the number of cells changes next, by what is known.
    pub(super) fn next_change(&self) -> Time {
        let service = self.services.front().map(|first| if self.begun { first.end } else { first.start });
        let coming = self.coming.first().map(|(_, end)| *end);
        service.unwrap_or(Time::NEVER).min(coming.unwrap_or(Time::NEVER))
    }

    /// Lets everything happen that is due by `at`.
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
            self.whole -= 1;
        }
    }

    /// Cells that came and have not gone.
    pub(super) fn whole(&self) -> u64 {
        self.whole
    }

    /// The fluid at `at`, to which [`Content::apply`] has come, in cells. Never below nothing:
    /// where the gate before is the slower one, a cell would be gone before it has come.
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
