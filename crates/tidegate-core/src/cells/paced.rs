//! A server that takes cells at a constant distance, first in, first out: a link of one
//! rate, or a GCRA shaper without tolerance. Nothing but counters is kept of the cells that
//! wait, because their starts are a progression.

use super::train::{Beat, Exact};
use crate::gate::rate::Service;
use crate::units::{Span, Time};

/// A cell's way through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) start: Time,
    pub(super) end: Exact,
    /// Cells that wait now, this one included.
    pub(super) waiting: u64,
}

impl Passage {
    pub(super) fn service(&self) -> Service {
        Service { start: self.start, end: self.end.at }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Paced {
    /// From start to start while cells wait.
    beat: Beat,
    /// A cell's own time where it is not the distance to the next start (a shaper before a
    /// faster link).
    hold: Option<Span>,
    /// Cells that may wait.
    limit: u64,
    /// Earliest next start.
    free: Exact,
    /// Cells that wait, and the start of the first of them.
    waiting: u64,
    head: Exact,
}

impl Paced {
    pub(super) fn new(beat: Beat, hold: Option<Span>, limit: u64) -> Paced {
        let zero = Exact::whole(Time::ZERO);
        Paced { beat, hold, limit, free: zero, waiting: 0, head: zero }
    }

    pub(super) fn beat(&self) -> Beat {
        self.beat
    }

    /// Cells that wait at `at`; what starts then does not.
    #[inline]
    pub(super) fn waiting_at(&mut self, at: Time) -> u64 {
        while self.waiting > 0 && self.head.at <= at {
            self.waiting -= 1;
            self.head = self.head.plus(self.beat);
        }
        self.waiting
    }

    /// Whether a cell that comes at `at` would have to wait and finds no room. Call
    /// [`Paced::waiting_at`] first.
    #[inline]
    pub(super) fn is_full(&self, at: Time) -> bool {
        at < self.free.at && self.waiting >= self.limit
    }

    /// Serves a cell that comes at `at`, for which there is room.
    #[inline]
    pub(super) fn serve(&mut self, at: Time) -> Passage {
        let start = if at > self.free.at { Exact::whole(at) } else { self.free };
        self.free = start.plus(self.beat);
        let end = match self.hold {
            Some(hold) => Exact { at: start.at.saturating_add(hold), carry: start.carry },
            None => self.free,
        };
        if start.at > at {
            if self.waiting == 0 {
                self.head = start;
            }
            self.waiting += 1;
        }
        Passage { start: start.at, end, waiting: self.waiting }
    }

    /// How many of so many cells that come together at `at` find room.
    pub(super) fn room(&mut self, at: Time) -> u64 {
        let waiting = self.waiting_at(at);
        let at_once = u64::from(at >= self.free.at);
        self.limit.saturating_sub(waiting).saturating_add(at_once)
    }
}
