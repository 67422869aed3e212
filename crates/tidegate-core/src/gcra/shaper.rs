//! GCRA as a shaper: a unit that comes too early waits until it conforms.

use super::{Gcra, Interval, Limit};

/// When a unit that is early by more than τ may leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Release {
    /// At TAT: rule 3 of §II of I. Koçyiğit, "TCP Traffic Shaping in ATM Networks". For τ
    /// above T − spacing it sends repeated bursts.
    #[default]
    Tat,
    /// At TAT − τ, as soon as it conforms.
    Earliest,
}

/// Delays units so that they conform, first in, first out.
///
/// A unit is available at the later of its arrival and the end of the spacing after the
/// departure before it; without that, order could break when τ > T.
///
/// Example, T = 10, τ = 3, spacing 1, cells at 0, 6 and 13. The first leaves at 0. The
/// second comes before 10 − 3: it leaves at 10 (`Tat`) or at 7 (`Earliest`). TAT is now 20;
/// the third waits until 20, or 17.
#[derive(Clone, Debug)]
pub struct Shaper {
    gcra: Gcra,
    release: Release,
    spacing: Interval,
    /// When the link is free for the next unit.
    free: Interval,
}

impl Shaper {
    /// A shaper at rest; departures are at least `spacing` apart (the link's time for one
    /// unit, its remainder carried; of no length where the link is not the limit).
    #[must_use]
    pub fn new(limit: Limit, release: Release, spacing: Interval) -> Shaper {
        Shaper { gcra: Gcra::new(limit), release, spacing, free: spacing.in_parts(0) }
    }

    /// The policer whose conformance departures keep.
    #[must_use]
    pub fn gcra(&self) -> &Gcra {
        &self.gcra
    }

    /// Whether a unit that arrives at `arrival`, after those before it, leaves the moment it comes.
    #[must_use]
    pub fn releases_at_once(&self, arrival: u64) -> bool {
        arrival >= self.free.whole() && self.gcra.conforms(arrival)
    }

    /// When a unit that arrives at `arrival`, after those before it, leaves. Beyond 64 bits:
    /// the last instant.
    #[inline]
    pub fn release(&mut self, arrival: u64) -> u64 {
        let available = arrival.max(self.free.whole());
        let leaves = if self.gcra.conforms(available) {
            available
        } else {
            match self.release {
                Release::Tat => self.gcra.theoretical_arrival(),
                Release::Earliest => self.gcra.tat.whole_minus(&self.gcra.limit.tolerance),
            }
        };
        self.gcra.count(leaves);
        self.free.raise(leaves);
        self.free.add(&self.spacing);
        leaves
    }

    /// No unit leaves before this behind `others` that have not left.
    #[must_use]
    pub fn earliest_behind(&self, others: u64) -> u64 {
        self.gcra.limit.increment.times(others).map_or(0, |lead| self.gcra.conforming_behind(&lead))
    }

    /// When `units` leave that came at once (a packet's bytes), which leave together when they
    /// conform; `None`, and nothing changed, if they are more than the limit's burst. The
    /// spacing is for each packet.
    pub fn release_units(&mut self, arrival: u64, units: u64) -> Option<u64> {
        let available = arrival.max(self.free.whole());
        let earliest = self.gcra.earliest(available, units)?;
        let leaves = match self.release {
            Release::Tat if earliest > available => available.max(self.gcra.theoretical_arrival()),
            Release::Tat | Release::Earliest => earliest,
        };
        self.gcra.count_units(leaves, units);
        self.free.raise(leaves);
        self.free.add(&self.spacing);
        Some(leaves)
    }
}
