//! How much a queue holds, and by which discipline.

use super::Discipline;

/// The queue of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct QueuePlan {
    /// Which units are dropped, beside those that exceed the limit.
    pub discipline: Discipline,
    /// How much may wait.
    pub limit: QueueLimit,
    /// Whether the unit in service counts.
    pub counts: QueueCounts,
    /// A tagged unit that finds as many units waiting is dropped; 0: every tagged unit.
    pub tagged: Option<u64>,
    /// A green, yellow or red unit for which so much waits already is dropped.
    pub colours: [QueueLimit; 3],
}

impl QueuePlan {
    /// A queue that drops nothing.
    pub const UNLIMITED: QueuePlan = QueuePlan {
        discipline: Discipline::DropTail,
        limit: QueueLimit::Unlimited,
        counts: QueueCounts::Waiting,
        tagged: None,
        colours: [QueueLimit::Unlimited; 3],
    };
}

/// The size of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// No limit; runs report how large it got.
    Unlimited,
    /// Whole packets.
    Packets(u64),
    /// IP bytes.
    Bytes(u64),
    /// Cells, at a cell gate.
    Cells(u64),
}

/// What the queue's limit and statistics count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueCounts {
    /// Units that wait; the one in service is extra.
    Waiting,
    /// Units that wait and the one in service.
    All,
}
