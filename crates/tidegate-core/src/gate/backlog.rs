//! How much a queue holds.

/// The content of a queue at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Units.
    pub units: u64,
    /// Their IP bytes.
    pub bytes: u64,
}

impl Backlog {
    /// The backlog after a unit of so many IP bytes has left the queue.
    #[inline]
    pub(super) fn without(self, bytes: u32) -> Backlog {
        Backlog { units: self.units - 1, bytes: self.bytes - u64::from(bytes) }
    }

    /// The backlog after a unit of so many IP bytes has joined the queue.
    #[inline]
    pub(super) fn with(self, bytes: u32) -> Backlog {
        Backlog { units: self.units + 1, bytes: self.bytes + u64::from(bytes) }
    }

    /// The sum of two backlogs.
    #[inline]
    pub(super) fn and(self, other: Backlog) -> Backlog {
        Backlog { units: self.units + other.units, bytes: self.bytes + other.bytes }
    }

    /// How many units of `bytes` may join before it is larger than `most` in units or in bytes.
    #[inline]
    pub(super) fn spare(self, bytes: u32, most: Backlog) -> u64 {
        let (units, rest) = (most.units.saturating_sub(self.units), most.bytes.saturating_sub(self.bytes));
        if units == 0 { 0 } else { units.min(rest / u64::from(bytes.max(1))) }
    }
}
