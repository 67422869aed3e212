//! The trains of one crossing that have not been served by a gate yet.

use std::collections::VecDeque;

use super::NEVER;
use super::own::Own;
use crate::cells::train::{Exact, Spacing, Train};
use crate::units::Time;

/// The cells of one crossing before a gate.
#[derive(Debug)]
pub(super) struct Input {
    /// The train whose cells come next; none where nothing is left of it.
    pub(super) head: Train,
    /// Those after it.
    pub(super) trains: VecDeque<Train>,
    pub(super) to: To,
    pub(super) discard: Discard,
    /// The packet whose cells are coming, as if no other came.
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

    /// Takes the whole head off.
    #[inline]
    pub(super) fn skip_head(&mut self) {
        self.head.left = 0;
        self.refill();
    }

    /// Takes the next cell off.
    #[inline]
    pub(super) fn take(&mut self) -> Cell {
        let ends = self.head.ends && self.head.left == 1;
        let cell = Cell::of(&self.head, self.head.begins, ends);
        if self.head.left == 1 {
            self.skip_head();
        } else {
            self.head.skip(1);
        }
        cell
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
    /// When it came; in a block of slots that is not known.
    pub(super) at: Time,
    pub(super) frame: u32,
    pub(super) begins: bool,
    pub(super) ends: bool,
    pub(super) tagged: bool,
    /// At a slotted gate: slots that it would wait for its packet's own cells.
    pub(super) own: u32,
}

impl Cell {
    /// A cell of a train.
    #[inline]
    pub(super) fn of(train: &Train, begins: bool, ends: bool) -> Cell {
        Cell { at: train.next.at, frame: train.frame, begins, ends, tagged: train.tagged, own: 0 }
    }

    /// A train of this cell, which comes at `at`.
    #[inline(always)]
    pub(super) fn as_train(self, at: Time) -> Train {
        let Cell { frame, begins, ends, tagged, .. } = self;
        Train { next: Exact::whole(at), spacing: Spacing::NONE, left: 1, frame, begins, ends, tagged }
    }
}
