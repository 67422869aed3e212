//! The calls of a section of cell gates to its gates. A server that passes cells in a gate's name reports their fates here.

use crate::aal5::CELL_BYTES;
use crate::gate::backlog::Backlog;
use crate::gate::rate::Service;
use crate::gate::statistics::Counters;
use crate::gate::{Gate, Together};
use crate::gcra::Verdict;
use crate::units::{Span, Time};

impl Gate {
    /// The counters, for a server that passes cells in the gate's name.
    pub(crate) fn counters_mut(&mut self) -> &mut Counters {
        &mut self.parts.stats.counters
    }

    /// Counts and records a cell that is dropped at its arrival.
    #[cold]
    pub(crate) fn refuse_cell(&mut self, at: Time) {
        self.parts.ingress.note_arrival(at, CELL_BYTES);
        self.note_refusal(at, CELL_BYTES);
    }

    /// Asks the policer about a cell that arrives at `at` on `stretch`. Returns whether the cell goes on tagged,
    /// or `None` if it is dropped, which is counted at `counted`. A cell gate asks before anything else, so
    /// [`Gate::pass`] and [`Gate::handle_unit`] do not ask there.
    pub(crate) fn police_cell(
        &mut self,
        at: Time,
        counted: Time,
        tagged: bool,
        stretch: u32,
    ) -> Option<bool> {
        match self.parts.ingress.judge(at, CELL_BYTES, (tagged, stretch), &mut self.parts.stats) {
            Verdict::Pass => Some(tagged),
            Verdict::Tag => Some(true),
            Verdict::Discard => {
                self.refuse_cell(counted);
                None
            }
        }
    }

    /// The gate before needs `spread` for the next cell.
    pub(crate) fn spread_next(&mut self, spread: Span) {
        self.parts.stats.spread(spread);
    }

    /// Counts a cell that another server passes in the gate's name; `waiting` cells wait now, this one included.
    pub(crate) fn count_cell(&mut self, at: Time, service: Service, waiting: u64) {
        let bytes = u64::from(CELL_BYTES);
        let queue = Backlog { units: waiting, bytes: waiting * bytes };
        self.parts.stats.counters.pass(at, service, bytes, queue);
    }

    /// Writes rows for a cell that another server passes in the gate's name, and counts nothing. The gate before needs `spread` for it.
    pub(crate) fn record_cell(&mut self, at: Time, spread: Span, service: Service) {
        self.parts.ingress.note_arrival(at, CELL_BYTES);
        self.parts.stats.spread(spread);
        self.parts.stats.record_passage(at, service, CELL_BYTES);
    }

    /// Writes the rows before `at`. Returns when the next is due, at a gate whose rows are written at fixed times.
    pub(crate) fn record_until(&mut self, at: Time) -> Time {
        self.parts.stats.record_until(at)
    }

    /// Records so many cells that come, are served and are gone before the next row.
    pub(crate) fn record_gone(&mut self, cells: u64) {
        self.parts.stats.record_gone(cells * u64::from(CELL_BYTES));
    }

    /// [`Gate::record_cell`] for cells that come together, at a gate whose rows are written at fixed times.
    pub(crate) fn record_cells(&mut self, spread: Span, cells: &Together) {
        self.parts.ingress.note_arrival(cells.arrival, cells.bytes * cells.starts.terms as u32);
        self.parts.stats.spread(spread);
        self.parts.stats.record_together(cells);
    }
}
