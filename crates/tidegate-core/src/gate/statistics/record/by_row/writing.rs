//! Rows at fixed times: what a recorder is told, and the rows that it writes.

use super::ByRow;
use crate::gate::statistics::record::{Recorder, Together};
use crate::gate::statistics::{Passed, Statistics};
use crate::units::Time;

impl Recorder {
    /// Units that find a plain gate idle, and whose service ends before, may be noted by [`Recorder::pass`].
    #[inline(always)]
    pub(in crate::gate::statistics) fn unnoted_until(&self) -> Time {
        self.by_row.as_ref().map_or(Time::ZERO, ByRow::next)
    }

    /// [`Statistics::alike_until`].
    #[inline(always)]
    pub(in crate::gate::statistics) fn alike_until(&self, end: Time) -> (Time, Time) {
        self.by_row.as_ref().map_or(Statistics::NONE_ALIKE, |by_row| (by_row.next, by_row.row_of(end)))
    }

    /// Units have passed a plain gate, none or more, and the rows before `at` are due. Returns when the next is.
    #[inline(always)]
    pub(in crate::gate::statistics) fn pass_and_write(&mut self, passed: &Passed, at: Time) -> Time {
        if passed.ended.packets > 0 {
            self.pass(passed);
        }
        self.write_rows(at);
        self.by_row.as_ref().map_or(Time::NEVER, ByRow::next)
    }

    /// Units have passed a plain gate.
    #[inline(always)]
    pub(in crate::gate::statistics) fn pass(&mut self, passed: &Passed) {
        let Passed { until, ended, joined, begun } = *passed;
        let Some(by_row) = &mut self.by_row else { return };
        self.now.queue_packets += joined.packets;
        self.now.queue_bytes += joined.bytes;
        if let Some(changes) = by_row.of(until) {
            changes.left = (changes.left.0 + joined.packets, changes.left.1 + joined.bytes);
            changes.ended = (changes.ended.0 + ended.packets, changes.ended.1 + ended.bytes);
            changes.begun = Some(begun);
        }
    }

    /// Writes every row before `at`, at fixed times.
    #[inline(never)]
    pub(in crate::gate::statistics::record) fn write_due(&mut self, at: Time) {
        self.write_rows(at);
    }

    /// [`Recorder::write_due`], as a part of what calls it.
    #[inline(always)]
    fn write_rows(&mut self, at: Time) {
        let at = at.min(self.until);
        while let Some(known) = self.by_row.as_mut().filter(|by_row| by_row.next < at) {
            let next = known.next;
            if let Some(content) = &mut self.content {
                content.apply(next, std::mem::take(&mut known.due.ended.0));
            }
            self.row(next);
            if let (Some(by_row), Some(row)) = (&mut self.by_row, self.rows.last_mut()) {
                by_row.due.show(row);
                by_row.step();
            }
        }
    }

    /// Units come together to a gate whose rows are written at fixed times.
    pub(in crate::gate::statistics) fn pass_together(&mut self, together: &Together) {
        self.settle(together.arrival);
        self.arrive(together.arrival, together.starts.terms);
        let joining = together.joining();
        self.now.queue_packets += joining;
        self.now.queue_bytes += joining * u64::from(together.bytes);
        if let Some(by_row) = &mut self.by_row {
            by_row.serve_together(together);
        }
    }

    /// Units of so many bytes come, are served and are gone before the next row; what it shows of single ones, others show that are gone
    /// later.
    pub(in crate::gate::statistics) fn gone(&mut self, bytes: u64) {
        self.now.delivered_bytes += bytes;
    }

    /// Writes the rows before `at`; when the next is due, where rows are written at fixed times.
    pub(in crate::gate::statistics) fn next_row(&mut self, at: Time) -> Time {
        self.settle(at);
        self.by_row.as_ref().map_or(Time::NEVER, ByRow::next)
    }
}
