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
        let packets = measured.packets + inside.packets;
        Phases([before, Count { packets, bytes: measured.bytes + inside.bytes }])
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
        Count { packets: before.packets + inside.packets, bytes: before.bytes + inside.bytes }
    }
}
