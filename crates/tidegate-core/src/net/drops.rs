//! Drops by gate, by owner and by reason: always counted, inside the measured time.

use crate::gate::DropReason;
use crate::net::map::Owner;
use crate::unit::Unit;
use crate::units::{Measured, Time};

/// A unit that will not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// When.
    pub at: Time,
    /// Where: index of the gate.
    pub gate: usize,
    /// Whose.
    pub owner: Owner,
    /// Why.
    pub reason: DropReason,
    /// The unit.
    pub unit: Unit,
}

impl Dropped {
    /// Sort key in a recording: drops are reported out of order, and those with equal keys look alike.
    #[must_use]
    pub fn place(&self) -> (Time, usize, Owner, u32, DropReason) {
        (self.at, self.gate, self.owner, self.unit.bytes, self.reason)
    }
}

/// Packets lost for each [`DropReason`] that is a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCounts([u64; DropReason::LOSSES]);

impl DropCounts {
    /// Packets lost for this reason.
    #[must_use]
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0.get(reason as usize).copied().unwrap_or(0)
    }

    /// Packets lost, for any reason.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, packets)| packets).sum()
    }

    /// The reasons of losses that ever occurred, in the order of their codes.
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
        if !measured.holds(dropped.at) || !dropped.reason.is_loss() {
            return;
        }
        let of_route = (!dropped.unit.is_without_data()).then_some((&mut self.routes, route as usize));
        for (rows, place) in [Some((&mut self.gates, dropped.gate)), of_route].into_iter().flatten() {
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
