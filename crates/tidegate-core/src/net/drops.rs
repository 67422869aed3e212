//! What was dropped, by gate, by owner and by reason: always counted, inside the measured time.

use crate::gate::DropReason;
use crate::net::reports::Dropped;
use crate::units::Measured;

/// Packets dropped for each [`DropReason`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCounts([u64; DropReason::COUNT]);

impl DropCounts {
    /// Packets dropped for this reason.
    #[must_use]
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// Packets dropped for any reason.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The reasons that ever occurred, in the order of their codes.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> {
        DropReason::ALL.into_iter().zip(self.0).filter(|(_, packets)| *packets > 0)
    }
}

/// Rows that appear with the first drop.
#[derive(Debug, Default)]
pub(super) struct Drops {
    gates: Vec<DropCounts>,
    routes: Vec<DropCounts>,
}

impl Drops {
    pub(super) fn note(&mut self, measured: Measured, dropped: &Dropped, route: u32) {
        if dropped.at < measured.from || dropped.at >= measured.until {
            return;
        }
        for (rows, place) in [(&mut self.gates, dropped.gate), (&mut self.routes, route as usize)] {
            if rows.len() <= place {
                rows.resize(place + 1, DropCounts::default());
            }
            rows[place].0[dropped.reason as usize] += 1;
        }
    }

    pub(super) fn at(&self, gate: usize) -> DropCounts {
        self.gates.get(gate).copied().unwrap_or_default()
    }

    pub(super) fn of(&self, route: usize) -> DropCounts {
        self.routes.get(route).copied().unwrap_or_default()
    }
}
