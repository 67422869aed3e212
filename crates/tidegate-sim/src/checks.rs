//! How often the limits of a run are looked at.

/// Steps, or deliveries handled ahead, between two checks of the limits and of what watches.
pub(crate) const REVIEW: u64 = 1 << 17;
/// Steps before the first check.
pub(crate) const FIRST_REVIEW: u64 = 1 << 10;
/// With more flows and gates than this, memory is added up at every second check only, and so on, while it is far from its limit: to
/// look at all of them must stay small beside the work between two checks.
const ADDED_AT_ONCE: usize = 1 << 13;
/// A step adds fewer bytes than this, mostly: a row, or some packets.
const STEP_BYTES: u64 = 2_000;
/// So near its limit memory is not looked at more often than after so many steps, and one more for each flow and gate.
const LEAST: u64 = 16;

/// Counts checks of the limits.
#[derive(Debug)]
pub(crate) struct Checks {
    /// Since memory was added up.
    since: u64,
    /// So many from one time to the next.
    every: u64,
    /// Memory is not looked at more often than after so many steps.
    least: u64,
    /// After so many steps it may have reached its limit.
    until_full: u64,
}

impl Checks {
    /// Of a run with so many flows and gates, and so many bytes to its limit of memory.
    pub(crate) fn new(things: usize, left: u64) -> Checks {
        let mut checks = Checks {
            since: 0,
            every: 1 + (things / ADDED_AT_ONCE) as u64,
            least: LEAST + things as u64,
            until_full: 0,
        };
        checks.note_memory(left);
        checks
    }

    /// So many bytes are left of the limit of memory.
    pub(crate) fn note_memory(&mut self, left: u64) {
        self.until_full = (left / STEP_BYTES).max(self.least);
    }

    /// The most steps to the next check that leave the limit of memory where it is.
    pub(crate) fn steps(&self) -> u64 {
        self.until_full.min(REVIEW)
    }

    /// Whether memory is to be added up at this check.
    pub(crate) fn look_at_memory(&mut self) -> bool {
        self.since = (self.since + 1) % self.every;
        self.since == 0 || self.until_full < self.every * REVIEW
    }
}
