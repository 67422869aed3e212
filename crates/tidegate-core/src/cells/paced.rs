//! A server that takes cells at a constant distance, first in, first out: a link of one
//! rate, or a GCRA shaper without tolerance. Nothing but counters is kept of the cells that
//! wait, because their starts are a progression.

use super::train::{Exact, Spacing, Train};
use crate::aal5::CELL_BYTES;
use crate::gate::rate::Service;
use crate::gate::{Backlog, Counters, ExactPicos, Progression, Together};
use crate::units::{Measured, Span, Time};

/// The service of one cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellService {
    pub(super) start: Exact,
    pub(super) end: Exact,
    /// Cells that wait now, this one included.
    pub(super) waiting: u64,
}

impl CellService {
    pub(super) fn service(&self) -> Service {
        Service { start: self.start.at, end: self.end.at }
    }

    /// Statistics it for a cell that came at `at`.
    #[inline]
    pub(super) fn count(&self, counters: &mut Counters, at: Time) {
        let bytes = u64::from(CELL_BYTES);
        counters.pass(at, self.service(), bytes, cells_in_queue(self.waiting));
    }
}

/// A queue of this many cells.
#[inline]
fn cells_in_queue(units: u64) -> Backlog {
    Backlog { units, bytes: units * u64::from(CELL_BYTES) }
}

/// A server of constant spacing with its first-in, first-out queue.
#[derive(Clone, Debug)]
pub(super) struct Paced {
    /// From start to start while cells wait.
    spacing: Spacing,
    /// Transmission time of a cell where it is shorter than the spacing (a shaper before a faster link).
    cell_time: Option<Span>,
    /// Cells that may wait.
    limit: u64,
    /// Earliest next start.
    free: Exact,
    /// Cells that wait, and when the service of the first of them starts.
    waiting: u64,
    first_start: Exact,
    /// Cells that came together, the server being idle: how often so many. Their waits are
    /// always the same.
    bursts: Vec<u64>,
}

/// Longer bursts are counted at once.
const LONGEST_BURST: u32 = 4096;

impl Paced {
    pub(super) fn new(spacing: Spacing, cell_time: Option<Span>, limit: u64) -> Paced {
        let zero = Exact::whole(Time::ZERO);
        Paced { spacing, cell_time, limit, free: zero, waiting: 0, first_start: zero, bursts: vec![] }
    }

    pub(super) fn spacing(&self) -> Spacing {
        self.spacing
    }

    /// Cells that wait at `at`; what starts then does not.
    #[inline]
    pub(super) fn waiting_at(&mut self, at: Time) -> u64 {
        if self.waiting > 0 && self.first_start.at <= at {
            self.start_until(at);
        }
        self.waiting
    }

    fn start_until(&mut self, at: Time) {
        crate::work::step();
        // At least so many start after the first, because each distance may be a picosecond longer.
        let more = (at.picos() - self.first_start.at.picos()) / (self.spacing.picos + 1);
        let started = self.waiting.min(more + 1);
        self.waiting -= started;
        self.first_start = self.first_start.plus_times(self.spacing, started);
        while self.waiting > 0 && self.first_start.at <= at {
            self.waiting -= 1;
            self.first_start = self.first_start.plus(self.spacing);
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
    pub(super) fn serve(&mut self, at: Time) -> CellService {
        crate::work::step();
        let start = if at > self.free.at { Exact::whole(at) } else { self.free };
        self.free = start.plus(self.spacing);
        let end = self.end_of(start);
        if start.at > at {
            if self.waiting == 0 {
                self.first_start = start;
            }
            self.waiting += 1;
        }
        CellService { start, end, waiting: self.waiting }
    }

    /// No cell that comes at `at` and is served at once leaves after this.
    pub(super) fn end_after(&self, at: Time) -> Time {
        let longest = self.cell_time.unwrap_or(self.spacing.span());
        at.saturating_add(longest).saturating_add(Span::from_picos(1))
    }

    /// Serves a train if none of its cells waits: the last service. `None`: some may wait, and nothing has been done.
    pub(super) fn serve_apart(&mut self, train: &Train) -> Option<CellService> {
        crate::work::step();
        let (mut next, mut free) = (train.next, self.free);
        if next.at < free.at || self.waiting_at(next.at) > 0 {
            return None;
        }
        let mut start = free;
        for left in (0..train.left).rev() {
            start = if next.at > free.at { Exact::whole(next.at) } else { free };
            if start.at > next.at {
                return None;
            }
            if start == next && train.spacing == self.spacing {
                // All that come after it start when they come, too.
                start = next.plus_times(train.spacing, u64::from(left));
                break;
            }
            free = start.plus(self.spacing);
            next = next.plus(train.spacing);
        }
        self.free = start.plus(self.spacing);
        Some(CellService { start, end: self.end_of(start), waiting: 0 })
    }

    /// Serves and counts `cells` > 0 that come together at `at` and find room: the first and
    /// the last cell_service.
    pub(super) fn serve_together(
        &mut self,
        at: Time,
        cells: u32,
        counters: &mut Counters,
        measured: Measured,
    ) -> (CellService, CellService) {
        crate::work::step();
        let first = self.serve(at);
        let (spacing, mut start) = (self.spacing, first.start);
        let longest = Span::from_picos((spacing.picos + 1).saturating_mul(u64::from(cells)));
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
            self.first_start = start.plus(spacing);
        }
        self.waiting += u64::from(cells) - 1;
        let bytes = u64::from(CELL_BYTES);
        if idle && cells < LONGEST_BURST {
            counters.pass_alike(1, bytes, Span::ZERO, 0);
            self.note_burst(cells);
        } else {
            // One that starts at once does not wait.
            let at_once = start.at <= at;
            counters.pass_alike(u64::from(at_once), bytes, Span::ZERO, 0);
            let waiting = u64::from(cells) - u64::from(at_once);
            let from = if at_once { start.plus(spacing) } else { start };
            if waiting > 0 {
                let waits = self.progression(from, from.at.picos() - at.picos(), waiting);
                counters.pass_waiting_evenly(&waits, bytes, cells_in_queue(self.waiting));
            }
        }
        start = start.plus_times(spacing, u64::from(cells) - 1);
        self.free = start.plus(spacing);
        (first, CellService { start, end: self.end_of(start), waiting: self.waiting })
    }

    /// Cells that came together at `at`, so many of them, the first of which had this service.
    pub(super) fn together(&self, at: Time, first: CellService, cells: u32) -> Together {
        Together {
            arrival: at,
            starts: self.progression(first.start, first.start.at.picos(), u64::from(cells)),
            each: self.cell_time,
            bytes: CELL_BYTES,
        }
    }

    /// So many instants from one on; the first of them is given as so many picoseconds.
    fn progression(&self, from: Exact, whole: u64, terms: u64) -> Progression {
        let spacing = self.spacing;
        Progression {
            first: ExactPicos { whole, part: from.carry },
            gap: ExactPicos { whole: spacing.picos, part: spacing.part },
            parts: spacing.whole,
            terms,
        }
    }

    fn note_burst(&mut self, cells: u32) {
        let cells = cells as usize;
        if cells >= self.bursts.len() {
            self.bursts.resize(cells + 1, 0);
        }
        self.bursts[cells] += 1;
    }

    /// Reports the waits of all bursts; those of their first cells, which did not wait, have been.
    pub(super) fn tell(&mut self, counters: &mut Counters) {
        let mut bursts = 0;
        // The n-th cell after the first is in every longer burst.
        for (cells, exactly) in self.bursts.drain(..).enumerate().skip(2).rev() {
            bursts += exactly;
            let place = cells as u64 - 1;
            let wait = Exact::whole(Time::ZERO).plus_times(self.spacing, place).at;
            counters.pass_alike(bursts, u64::from(CELL_BYTES), wait.saturating_since(Time::ZERO), place);
        }
    }

    /// The end of a service; where there is no `cell_time`, `free` follows it.
    #[inline]
    fn end_of(&self, start: Exact) -> Exact {
        match self.cell_time {
            Some(cell_time) => Exact { at: start.at.saturating_add(cell_time), carry: start.carry },
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
