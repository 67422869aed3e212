//! A shaper of cells as a rate law: see [`crate::gcra::Shaper`].

use crate::aal5::CELL_BITS;
use crate::gate::rate::Service;
use crate::gcra::{Interval, Shaper};
use crate::plan::GcraPlan;
use crate::units::{Span, Time};

/// A shaper of cells. The service of a cell is its time on the link behind the shaper.
#[derive(Clone, Debug)]
pub struct CellShaper {
    shaper: Shaper,
    cell: Span,
    bits_per_second: u64,
}

impl CellShaper {
    /// A shaper to which no cell has come.
    ///
    /// # Panics
    /// On a link without a rate, which no plan has.
    #[must_use]
    pub fn new(plan: &GcraPlan) -> CellShaper {
        let spacing = Interval::at_rate(CELL_BITS, plan.link).expect("a link has a rate");
        CellShaper {
            shaper: Shaper::new(plan.limit, plan.release, spacing),
            cell: Span::from_picos(spacing.whole()),
            bits_per_second: plan.bits_per_second(),
        }
    }

    /// The most that can pass in `span` picoseconds, in 10⁻¹² bit.
    pub(super) fn offered(&self, span: u64) -> u128 {
        u128::from(span) * u128::from(self.bits_per_second)
    }

    /// Whether a cell that arrives at `arrival` conforms at that instant.
    pub(super) fn begins_at(&self, arrival: Time) -> bool {
        self.shaper.releases_at_once(arrival.picos())
    }

    /// When the next cell would begin, which arrived at `arrival`; the shaper keeps cells in order, so nothing else can
    /// be chosen.
    pub(super) fn next_start(&self, arrival: Time) -> Time {
        Time::from_picos(self.shaper.clone().release(arrival.picos()))
    }

    /// No service ends before this behind `others` that have not begun.
    pub(super) fn earliest_end_behind(&self, others: u64) -> Time {
        Time::from_picos(self.shaper.earliest_behind(others)).saturating_add(self.cell)
    }

    /// The service of the next cell, which arrived at `arrival`.
    pub fn transmit(&mut self, arrival: Time) -> Service {
        let start = Time::from_picos(self.shaper.release(arrival.picos()));
        Service { start, end: start.saturating_add(self.cell) }
    }
}
