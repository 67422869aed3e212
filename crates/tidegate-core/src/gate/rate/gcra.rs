//! A shaper by the generic cell rate algorithm (ITU-T I.371, virtual scheduling): cells that
//! come too early wait until they conform.

use crate::cells::CELL_BITS;
use crate::gate::rate::Service;
use crate::gate::serve::span_of;
use crate::plan::{GcraPlan, GcraRelease, Interval};
use crate::units::{Span, Time};

/// See the module. The increment T is exact: its part of a picosecond is carried as long as
/// cells wait.
#[derive(Clone, Debug)]
pub struct Gcra {
    plan: GcraPlan,
    increment: (u64, u64),
    cell: Span,
    /// Theoretical arrival time of the next cell, rounded down, and the part.
    tat: Time,
    carry: u64,
    /// No cell leaves before the one before it has gone.
    link_free: Time,
}

impl Gcra {
    /// No cell came yet.
    #[must_use]
    pub fn new(plan: &GcraPlan) -> Gcra {
        Gcra {
            plan: *plan,
            increment: span_of(plan.interval.work, plan.interval.speed),
            cell: Span::from_picos(span_of(CELL_BITS, plan.link.bps()).0),
            tat: Time::ZERO,
            carry: 0,
            link_free: Time::ZERO,
        }
    }

    /// What passes in `span` picoseconds at most, in 10⁻¹² bit.
    pub(super) fn offered(&self, span: u64) -> u128 {
        let Interval { work, speed } = self.plan.interval;
        u128::from(span) * u128::from(CELL_BITS) * u128::from(speed) / u128::from(work)
    }

    /// The service of the next cell, here since `arrival`.
    pub fn transmit(&mut self, arrival: Time) -> Service {
        let available = arrival.max(self.link_free);
        let earliest = Time::from_picos(self.tat.picos().saturating_sub(self.plan.tolerance.picos()));
        let start = if available > self.tat {
            (self.tat, self.carry) = (available, 0);
            available
        } else if available >= earliest {
            available
        } else {
            match self.plan.release {
                GcraRelease::Tat => self.tat,
                GcraRelease::Earliest => earliest,
            }
        };
        let (picos, part) = self.increment;
        self.carry += part;
        let extra = u64::from(self.carry >= self.plan.interval.speed);
        self.carry -= extra * self.plan.interval.speed;
        self.tat = self.tat.saturating_add(Span::from_picos(picos + extra));
        self.link_free = start.saturating_add(self.cell);
        Service { start, end: self.link_free }
    }
}
