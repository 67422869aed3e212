//! Arrivals at a gate in each slot of time, for the signals that publish them.

use std::collections::VecDeque;

use crate::units::{Span, Time};

/// Counts of slots, the oldest that was not taken first.
#[derive(Debug)]
pub(super) struct Tally {
    every: Span,
    /// Number of the first slot kept.
    first: u64,
    slots: VecDeque<Slot>,
}

/// The arrivals of one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Bytes on the wire that arrived, dropped ones included.
    pub arrived_bytes: u64,
    /// Units dropped at their arrival.
    pub dropped: u64,
}

impl Tally {
    pub(super) fn new(every: Span) -> Tally {
        Tally { every, first: 0, slots: VecDeque::new() }
    }

    /// The slot of an instant. Run-ahead may count in slots that have not begun.
    fn slot(&mut self, at: Time) -> &mut Slot {
        let place = (at.picos() / self.every.picos() - self.first) as usize;
        if place >= self.slots.len() {
            self.slots.resize(place + 1, Slot::default());
        }
        &mut self.slots[place]
    }

    pub(super) fn note_arrival(&mut self, at: Time, wire: u32) {
        self.slot(at).arrived_bytes += u64::from(wire);
    }

    pub(super) fn note_refusal(&mut self, at: Time) {
        self.slot(at).dropped += 1;
    }

    /// The oldest slot, which is over.
    pub(super) fn take(&mut self) -> Slot {
        self.first += 1;
        self.slots.pop_front().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_its_first_instant_and_not_its_last() {
        let at = Time::from_picos;
        let slot = |arrived_bytes, dropped| Slot { arrived_bytes, dropped };
        let mut tally = Tally::new(Span::from_picos(10));
        tally.note_arrival(at(0), 40);
        tally.note_arrival(at(9), 60);
        tally.note_refusal(at(9));
        tally.note_refusal(at(9));
        tally.note_arrival(at(10), 7);
        tally.note_arrival(at(35), 1);
        assert_eq!([tally.take(), tally.take()], [slot(100, 2), slot(7, 0)]);
        tally.note_refusal(at(29));
        assert_eq!([tally.take(), tally.take(), tally.take()], [slot(0, 1), slot(1, 0), slot(0, 0)]);
        tally.note_arrival(at(50), 3);
        assert_eq!(tally.take(), slot(3, 0));
    }
}
