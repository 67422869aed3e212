//! A server that takes cells at a constant distance, first in, first out: a link of one
//! rate, or a GCRA shaper without tolerance. Nothing but counters is kept of the cells that
//! wait, because their starts are a progression.

use super::CELL_BYTES;
use super::train::{Beat, Exact};
use crate::gate::Counters;
use crate::gate::rate::{Service, Window};
use crate::units::{Span, Time};

/// A cell's way through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) start: Exact,
    pub(super) end: Exact,
    /// Cells that wait now, this one included.
    pub(super) waiting: u64,
}

impl Passage {
    pub(super) fn service(&self) -> Service {
        Service { start: self.start.at, end: self.end.at }
    }

    /// Books it for a cell that came at `at`.
    #[inline]
    pub(super) fn count(&self, counters: &mut Counters, at: Time) {
        let bytes = u64::from(CELL_BYTES);
        if self.start.at > at {
            counters.pass_waiting(at, self.service(), bytes, (self.waiting, self.waiting * bytes));
        } else {
            counters.pass(at, self.end.at, bytes);
        }
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
        let end = self.end_of(start);
        if start.at > at {
            if self.waiting == 0 {
                self.head = start;
            }
            self.waiting += 1;
        }
        Passage { start, end, waiting: self.waiting }
    }

    /// Serves and books `cells` > 0 that come together at `at` and find room: the first and
    /// the last passage.
    pub(super) fn serve_together(
        &mut self,
        at: Time,
        cells: u32,
        counters: &mut Counters,
        window: Window,
    ) -> (Passage, Passage) {
        let first = self.serve(at);
        first.count(counters, at);
        let mut last = first;
        if at < window.from || first.end.plus_times(self.beat, u64::from(cells)).at >= window.until {
            for _ in 1..cells {
                last = self.serve(at);
                last.count(counters, at);
            }
            return (first, last);
        }
        let (beat, mut start) = (self.beat, first.start);
        if self.waiting == 0 {
            self.head = start.plus(beat);
        }
        self.waiting += u64::from(cells) - 1;
        let waits = (1..cells).map(|_| {
            start = start.plus(beat);
            start.at.picos() - at.picos()
        });
        let bytes = u64::from(CELL_BYTES);
        counters.pass_waiting_together(waits, bytes, (self.waiting, self.waiting * bytes));
        self.free = start.plus(beat);
        (first, Passage { start, end: self.end_of(start), waiting: self.waiting })
    }

    /// The end of a service; where there is no hold, `free` follows it.
    #[inline]
    fn end_of(&self, start: Exact) -> Exact {
        match self.hold {
            Some(hold) => Exact { at: start.at.saturating_add(hold), carry: start.carry },
            None => self.free,
        }
    }

    /// How many of so many cells that come together at `at` find room.
    pub(super) fn room(&mut self, at: Time) -> u64 {
        let waiting = self.waiting_at(at);
        let at_once = u64::from(at >= self.free.at);
        self.limit.saturating_sub(waiting).saturating_add(at_once)
    }
}
