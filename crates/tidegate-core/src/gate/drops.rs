//! When and why a gate drops a unit.

use crate::units::Time;

/// A unit that a gate will not pass on: when it was dropped, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateDrop {
    /// The arrival of a unit that is refused, the instant at which one is dropped from the queue, or the end of service of
    /// a unit that is lost at random.
    pub at: Time,
    /// Why.
    pub reason: DropReason,
}

/// Why a unit was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was full.
    QueueFull = 0,
    /// Random loss (`loss`).
    Loss = 1,
    /// It needs more tokens than the bucket of the rate law can hold.
    TooLarge = 2,
    /// Packet discard dropped a cell.
    Discarded = 3,
    /// All its cells arrived, but AAL5 could not tell the packet from the one before.
    Reassembly = 4,
    /// It did not conform to a policer's contract.
    Policed = 5,
    /// The call for its circuit was refused.
    Refused = 6,
    /// The queue discipline dropped it, though there was room.
    Early = 7,
    /// Loss by count: each n-th unit (`loss.every`).
    Counted = 8,
    /// A later packet in its queue made this ACK needless.
    AckFilter = 9,
}

impl DropReason {
    /// How many there are.
    pub const COUNT: usize = 10;

    /// How many of them are losses: the first ones.
    pub const LOSSES: usize = 9;

    /// All of them, in the order of their codes.
    pub const ALL: [DropReason; DropReason::COUNT] = [
        DropReason::QueueFull,
        DropReason::Loss,
        DropReason::TooLarge,
        DropReason::Discarded,
        DropReason::Reassembly,
        DropReason::Policed,
        DropReason::Refused,
        DropReason::Early,
        DropReason::Counted,
        DropReason::AckFilter,
    ];

    /// Whether `loss` took the unit, which had been served by then.
    #[must_use]
    pub const fn after_service(self) -> bool {
        matches!(self, DropReason::Loss | DropReason::Counted)
    }

    /// Whether it is a loss. An ACK that a filter drops is none: a later ACK says as much.
    #[must_use]
    pub const fn is_loss(self) -> bool {
        (self as usize) < DropReason::LOSSES
    }

    /// The word for it in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::QueueFull => "queue full",
            DropReason::Loss => "random loss",
            DropReason::TooLarge => "too large",
            DropReason::Discarded => "packet discard",
            DropReason::Reassembly => "reassembly",
            DropReason::Policed => "policed",
            DropReason::Refused => "refused",
            DropReason::Early => "early",
            DropReason::Counted => "loss by count",
            DropReason::AckFilter => "ACK filter",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_names_of_their_own() {
        let mut names = DropReason::ALL.map(DropReason::name).to_vec();
        assert_eq!((names[0], names[5]), ("queue full", "policed"));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), DropReason::COUNT);
    }
}
