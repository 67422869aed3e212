//! A server that takes cells at a constant distance, first in, first out: a link of one
//! rate, or a GCRA shaper without tolerance. Nothing but counters is kept of the cells that
//! wait, because their starts are a progression.

use super::train::{Beat, Exact, Train};
use crate::aal5::CELL_BYTES;
use crate::gate::rate::Service;
use crate::gate::{Backlog, Counters, ExactPicos, Progression};
use crate::units::{Measured, Span, Time};

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
            counters.pass_waiting(at, self.service(), bytes, cells_in_queue(self.waiting));
        } else {
            counters.pass(at, self.end.at, bytes);
        }
    }
}

/// A queue of this many cells.
#[inline]
fn cells_in_queue(units: u64) -> Backlog {
    Backlog { units, bytes: units * u64::from(CELL_BYTES) }
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
    /// Cells that came together, the server being idle: how often so many. Their waits are
    /// always the same.
    bursts: Vec<u64>,
}

/// Cells come and leave at one distance: how far the server's exact start lies behind its whole
/// picosecond after so many more cells, if `first` and `server` say it of the arrival and the
/// server now. A start lies behind its arrival by less than a picosecond, or there is a cell
/// that comes a whole picosecond after the server is free, which begins anew.
pub(super) fn in_step(beat: Beat, first: u64, server: u64, cells: u64) -> Option<u64> {
    let (mut arrival, mut start) = (first, server);
    if start > arrival {
        return None;
    }
    for done in 0..cells {
        if arrival == start {
            let parts = u128::from(start) + u128::from(beat.part) * u128::from(cells - done);
            return Some((parts % u128::from(beat.whole)) as u64);
        }
        arrival += beat.part;
        start += beat.part;
        let comes_over = arrival >= beat.whole;
        arrival -= if comes_over { beat.whole } else { 0 };
        if start >= beat.whole {
            start -= beat.whole;
        } else if comes_over {
            start = 0;
        }
    }
    Some(start)
}

/// Longer bursts are counted at once.
const LONGEST_BURST: u32 = 4096;

impl Paced {
    pub(super) fn new(beat: Beat, hold: Option<Span>, limit: u64) -> Paced {
        let zero = Exact::whole(Time::ZERO);
        Paced { beat, hold, limit, free: zero, waiting: 0, head: zero, bursts: vec![] }
    }

    pub(super) fn beat(&self) -> Beat {
        self.beat
    }

    /// Cells that wait at `at`; what starts then does not.
    #[inline]
    pub(super) fn waiting_at(&mut self, at: Time) -> u64 {
        if self.waiting > 0 && self.head.at <= at {
            self.start_until(at);
        }
        self.waiting
    }

    fn start_until(&mut self, at: Time) {
        crate::work::step();
        // At least so many start after the first, because each distance may be a picosecond longer.
        let more = (at.picos() - self.head.at.picos()) / (self.beat.picos + 1);
        let started = self.waiting.min(more + 1);
        self.waiting -= started;
        self.head = self.head.plus_times(self.beat, started);
        while self.waiting > 0 && self.head.at <= at {
            self.waiting -= 1;
            self.head = self.head.plus(self.beat);
        }
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
        crate::work::step();
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

    /// No cell that comes at `at` and is served at once leaves after this.
    pub(super) fn end_after(&self, at: Time) -> Time {
        let longest = self.hold.unwrap_or(self.beat.span());
        at.saturating_add(longest).saturating_add(Span::from_picos(1))
    }

    /// Serves a train none of whose cells waits, because they come no closer together than they
    /// leave: the last passage. `None`: some may wait.
    pub(super) fn serve_apart(&mut self, train: &Train) -> Option<Passage> {
        crate::work::step();
        let (beat, first) = (self.beat, train.next);
        if first.at < self.free.at || self.waiting_at(first.at) > 0 {
            return None;
        }
        let last = train.last();
        let carry = if train.left > 1 && train.beat.picos > beat.picos + 1 {
            // All but the first come after the server is free.
            0
        } else if train.beat == beat {
            let carry = if first.at > self.free.at { 0 } else { self.free.carry };
            in_step(beat, first.carry, carry, u64::from(train.left) - 1)?
        } else {
            return None;
        };
        let start = Exact { at: last, carry };
        self.free = start.plus(beat);
        Some(Passage { start, end: self.end_of(start), waiting: 0 })
    }

    /// Serves and books `cells` > 0 that come together at `at` and find room: the first and
    /// the last passage.
    pub(super) fn serve_together(
        &mut self,
        at: Time,
        cells: u32,
        counters: &mut Counters,
        measured: Measured,
    ) -> (Passage, Passage) {
        crate::work::step();
        let first = self.serve(at);
        let (beat, mut start) = (self.beat, first.start);
        let longest = Span::from_picos((beat.picos + 1).saturating_mul(u64::from(cells)));
        if at < measured.from || first.end.at.saturating_add(longest) >= measured.until {
            first.count(counters, at);
            let mut last = first;
            for _ in 1..cells {
                last = self.serve(at);
                last.count(counters, at);
            }
            return (first, last);
        }
        let idle = start == Exact::whole(at) && self.waiting == 0;
        if self.waiting == 0 {
            self.head = start.plus(beat);
        }
        self.waiting += u64::from(cells) - 1;
        let bytes = u64::from(CELL_BYTES);
        if idle && cells < LONGEST_BURST {
            counters.pass_many(1, bytes);
            self.note_burst(cells);
        } else {
            // One that starts at once does not wait.
            let at_once = start.at <= at;
            counters.pass_many(u64::from(at_once), bytes);
            let waiting = u64::from(cells) - u64::from(at_once);
            let from = if at_once { start.plus(beat) } else { start };
            if waiting > 0 {
                let waits = Progression {
                    first: ExactPicos { whole: from.at.picos() - at.picos(), part: from.carry },
                    gap: ExactPicos { whole: beat.picos, part: beat.part },
                    parts: beat.whole,
                    terms: waiting,
                };
                counters.pass_waiting_evenly(&waits, bytes, cells_in_queue(self.waiting));
            }
        }
        start = start.plus_times(beat, u64::from(cells) - 1);
        self.free = start.plus(beat);
        (first, Passage { start, end: self.end_of(start), waiting: self.waiting })
    }

    fn note_burst(&mut self, cells: u32) {
        let cells = cells as usize;
        if cells >= self.bursts.len() {
            self.bursts.resize(cells + 1, 0);
        }
        self.bursts[cells] += 1;
    }

    /// Tells the waits of all bursts; that of their first cells, who did not wait, is told.
    pub(super) fn tell(&mut self, counters: &mut Counters) {
        let mut bursts = 0;
        // The n-th cell after the first is in every longer burst.
        for (cells, exactly) in self.bursts.drain(..).enumerate().skip(2).rev() {
            bursts += exactly;
            let place = cells as u64 - 1;
            let wait = Exact::whole(Time::ZERO).plus_times(self.beat, place).at;
            counters.pass_alike(bursts, u64::from(CELL_BYTES), wait.saturating_since(Time::ZERO), place);
        }
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

#[cfg(test)]
mod tests;
