//! How much a queue holds.

/// What is in a queue at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Units.
    pub units: u64,
    /// Their IP bytes.
    pub bytes: u64,
}

impl Backlog {
    /// The same without a unit that is in it.
    #[inline]
    pub(super) fn without(self, bytes: u32) -> Backlog {
        Backlog { units: self.units - 1, bytes: self.bytes - u64::from(bytes) }
    }

    /// The same with one more unit.
    #[inline]
    pub(super) fn with(self, bytes: u32) -> Backlog {
        Backlog { units: self.units + 1, bytes: self.bytes + u64::from(bytes) }
    }
}
