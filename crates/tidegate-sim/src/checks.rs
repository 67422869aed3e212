//! How often the limits of a run are looked at.

/// Steps, or deliveries handled ahead, between two checks of the limits and of what watches.
pub(crate) const REVIEW: u64 = 1 << 17;
/// Steps before the first check.
pub(crate) const FIRST_REVIEW: u64 = 1 << 10;
/// With more flows and gates than this, memory is added up at every second check only, and so on: to look at all of
/// them must stay small beside the work between two checks. Where every step adds a row, a limit of memory is exceeded by at most
/// 2 kB for each of them.
const ADDED_AT_ONCE: usize = 1 << 13;

/// Counts checks of the limits.
#[derive(Debug)]
pub(crate) struct Checks {
    /// Since memory was added up.
    since: usize,
    /// So many from one time to the next.
    every: usize,
}

impl Checks {
    /// Of a run with so many flows and gates.
    pub(crate) fn new(things: usize) -> Checks {
        Checks { since: 0, every: 1 + things / ADDED_AT_ONCE }
    }

    /// Whether memory is to be added up at this check.
    pub(crate) fn look_at_memory(&mut self) -> bool {
        self.since = (self.since + 1) % self.every;
        self.since == 0
    }
}
