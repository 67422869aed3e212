//! The trains of one crossing that have not been served by a gate yet.

use std::collections::VecDeque;

use super::NEVER;
use super::own::Own;
use crate::cells::train::Train;

/// The cells of one crossing before a gate.
#[derive(Debug)]
pub(super) struct Input {
    /// The train whose cells come next; none where nothing is left of it.
    pub(super) head: Train,
    /// Those after it.
    pub(super) trains: VecDeque<Train>,
    pub(super) to: To,
    pub(super) discard: Discard,
    /// The packet whose cells are coming, as if it were alone.
    pub(super) own: Own,
}

impl Input {
    pub(super) fn new(to: To) -> Input {
        Input { head: Train::NONE, trains: VecDeque::new(), to, discard: Discard::Undecided, own: Own::new() }
    }

    /// Arrival of the next cell in picoseconds.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        if self.head.left > 0 { self.head.next.at.picos() } else { NEVER }
    }

    pub(super) fn push(&mut self, train: Train) {
        if self.head.left == 0 { self.head = train } else { self.trains.push_back(train) }
    }

    /// Goes on to the next train when the head is used up.
    #[inline]
    pub(super) fn refill(&mut self) {
        if self.head.left == 0
            && let Some(train) = self.trains.pop_front()
        {
            self.head = train;
        }
    }

    /// Takes the next cell off.
    #[inline]
    pub(super) fn take(&mut self) -> Cell {
        let Train { frame, tagged, begins: first, ends: last, left, .. } = self.head;
        if left == 1 {
            match self.trains.pop_front() {
                Some(train) => self.head = train,
                None => self.head.left = 0,
            }
            return Cell { frame, begins: first, ends: last, tagged, own: 0 };
        }
        let (begins, ends) = self.head.take();
        self.refill();
        Cell { frame, begins, ends, tagged, own: 0 }
    }
}

/// Where cells go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Gate { gate: u32, input: u32 },
    End,
}

/// What is thrown away of the packet whose cells are coming. As a switch knows packets: one ends with a last cell,
/// and what comes after that is the first cell of the next, whatever was lost before it came here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discard {
    /// No cell of it has come.
    Undecided,
    Nothing,
    /// All but the last cell (partial packet discard).
    Rest,
    /// Every cell (early packet discard).
    All,
}

/// A cell on its way out of a gate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) frame: u32,
    pub(super) begins: bool,
    pub(super) ends: bool,
    pub(super) tagged: bool,
    /// At a slotted gate: slots that it would wait for its packet's own cells.
    pub(super) own: u32,
}
