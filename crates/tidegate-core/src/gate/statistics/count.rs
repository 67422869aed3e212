//! Units and bytes, before and inside the measured time.

use crate::units::{Measured, Time};

/// Units and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Units.
    pub packets: u64,
    /// Bytes on the gate's wire.
    pub bytes: u64,
}

impl Count {
    #[inline]
    pub(in crate::gate) fn add(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }

    /// These and others.
    pub(super) fn and(self, other: Count) -> Count {
        Count { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// The message of the panic where a difference would be below zero: a unit was counted twice, or not at all.
pub(super) const BELOW_ZERO: &str = "no number of a gate's statistics is below zero";

/// `all` − `some`.
///
/// # Panics
/// There are not so many, in release builds too.
#[inline]
pub(super) fn less(all: u64, some: u64) -> u64 {
    all.checked_sub(some).expect(BELOW_ZERO)
}

/// Counts before and inside the measured time. Events after the end of the run are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases([Count; 2]);

impl Phases {
    pub(super) fn add(&mut self, measured: Measured, at: Time, bytes: u64) {
        if at < measured.until {
            self.0[usize::from(at >= measured.from)].add(bytes);
        }
    }

    pub(super) fn with(self, inside: Count) -> Phases {
        let [before, measured] = self.0;
        Phases([before, measured.and(inside)])
    }

    /// Inside the measured time.
    #[must_use]
    pub fn measured(&self) -> Count {
        self.0[1]
    }

    /// From the start to the end of the run.
    #[must_use]
    pub fn total(&self) -> Count {
        let [before, inside] = self.0;
        before.and(inside)
    }
}
