//! The event sources of a network, and what comes first at one instant.
//!
//! An event source is anything with a next instant of its own: the head of a delay line, a timer of the
//! engine's, a gate that is driven step by step. Every source has a number, and of two events at one instant
//! that of the lower number is handled first. So the order of [`SourceKind`]'s variants, and within a kind the
//! order of its sources, is the order that docs/design/order.md describes.

use std::ops::Range;

/// The number of an event source: its rank at one instant.
pub type EventSource = u32;

/// What an event source belongs to, in the order in which things happen at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SourceKind {
    /// A gate: a service ends, or TCP is to be informed of a departure. None where no gate ever wakes.
    Gate,
    /// A group of channels: a measuring interval ends.
    Channel,
    /// A follower: a slot ends at the gate that it follows, or a value arrives.
    Follower,
    /// A switch with its ABR sources: an interval ends, or an RM cell arrives.
    Abr,
    /// All circuits and calls together.
    Circuits,
    /// A signal: its slot ends.
    SlotEnd,
    /// A signal: a value arrives.
    SignalValue,
    /// A delay line: the first unit on it arrives.
    Line,
    /// A timer of the engine's.
    Alarm,
    /// A background source: its next packet.
    Traffic,
    /// Circuits and calls again: what is handled after everything else at the same instant.
    LateEvent,
}

impl SourceKind {
    /// Every kind, in order.
    const ALL: [SourceKind; 11] = [
        SourceKind::Gate,
        SourceKind::Channel,
        SourceKind::Follower,
        SourceKind::Abr,
        SourceKind::Circuits,
        SourceKind::SlotEnd,
        SourceKind::SignalValue,
        SourceKind::Line,
        SourceKind::Alarm,
        SourceKind::Traffic,
        SourceKind::LateEvent,
    ];
}

/// Which number is which source.
#[derive(Clone, Debug)]
pub(super) struct SourceTable {
    /// The first number of each kind, and behind the last kind the number of all sources.
    first: [EventSource; SourceKind::ALL.len() + 1],
}

impl SourceTable {
    /// `count` says how many sources there are of each kind.
    pub(super) fn new(count: impl Fn(SourceKind) -> usize) -> SourceTable {
        let mut first = [0; SourceKind::ALL.len() + 1];
        for kind in SourceKind::ALL {
            first[kind as usize + 1] = first[kind as usize] + count(kind) as EventSource;
        }
        SourceTable { first }
    }

    /// How many sources there are.
    pub(super) fn len(&self) -> usize {
        self.first[SourceKind::ALL.len()] as usize
    }

    /// The number of a kind's source.
    #[inline(always)]
    pub(super) fn number(&self, kind: SourceKind, index: usize) -> EventSource {
        self.first[kind as usize] + index as EventSource
    }

    /// The numbers of a kind's sources.
    #[inline(always)]
    pub(super) fn numbers(&self, kind: SourceKind) -> Range<EventSource> {
        self.first[kind as usize]..self.first[kind as usize + 1]
    }

    /// The index among a kind's sources; `None`: it is of another kind.
    #[inline(always)]
    pub(super) fn index_of(&self, kind: SourceKind, source: EventSource) -> Option<usize> {
        self.numbers(kind).contains(&source).then(|| (source - self.first[kind as usize]) as usize)
    }

    /// The kind and index of the source with a number.
    #[inline(always)]
    pub(super) fn source(&self, source: EventSource) -> (SourceKind, usize) {
        // Gates that are driven step by step wake most often.
        if source < self.first[SourceKind::Channel as usize] {
            return (SourceKind::Gate, source as usize);
        }
        let later = &self.first[1..SourceKind::ALL.len()];
        let kind = later.iter().filter(|first| **first <= source).count();
        (SourceKind::ALL[kind], (source - self.first[kind]) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sources_are_one_to_one_and_in_order() {
        let counts = [3, 0, 2, 0, 0, 1, 1, 4, 5, 0, 1];
        let table = SourceTable::new(|kind| counts[kind as usize]);
        assert_eq!(table.len(), counts.iter().sum::<usize>());
        let sources: Vec<(SourceKind, usize)> =
            (0..table.len()).map(|number| table.source(number as EventSource)).collect();
        assert!(sources.is_sorted());
        for (number, (kind, index)) in (0..).zip(sources) {
            assert!(index < counts[kind as usize]);
            assert_eq!(table.number(kind, index), number);
            assert_eq!(table.index_of(kind, number), Some(index));
        }
        assert!(SourceKind::ALL.is_sorted());
    }
}
