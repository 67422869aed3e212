//! What the recorder of a plain gate hears of units: once for all that change the same rows.
//!
//! Where rows are written at fixed times, units that come between two rows and are gone between the same two, or two later ones, are only
//! counted as they pass. They are noted when one comes that is not like them: after the next row, or gone only after the row that shows
//! the others gone. Then of that unit's service the beginning is noted with them, and the end with those that follow.

use super::UnitRow;
use crate::gate::ahead::Waited;
use crate::gate::rate::Service;
use crate::gate::{Gate, Parts};
use crate::units::Time;

impl<const RECORDED: bool, const LOSSY: bool> UnitRow<'_, RECORDED, LOSSY> {
    /// Whether rows are due before a unit comes at `at`.
    #[inline(always)]
    pub(super) fn has_rows_before(&self, at: Time) -> bool {
        RECORDED && at > self.alike_until.0
    }

    /// Notes the units that have passed, and writes the rows that are due before one comes at `at`.
    #[inline(always)]
    pub(super) fn write_rows(&mut self, at: Time) {
        self.store();
        let next = self.stats.note_and_write(self.stored, &mut self.ahead.waited, at);
        self.alike_until = (next, next.max(self.alike_until.1));
    }

    /// A unit arrives at `at` and begins its service before a row that does not show its end, but shows those before it: all of that is
    /// noted. Answers whether its end is, too: no other unit is noted together with it.
    #[inline(always)]
    pub(super) fn note_start(&mut self, at: Time, service: Service) -> bool {
        if self.alike_until.1 == Time::ZERO {
            self.ahead.waited = Waited::default();
            self.stats.record_passage(at, service, self.server.bytes as u32);
            return true;
        }
        self.store();
        self.alike_until = self.stats.note_start(self.stored, &mut self.ahead.waited, (at, service));
        self.alike_until.1 == Time::ZERO
    }

    /// Until when the service of a unit that finds the server idle must end to be like those before it.
    #[inline(always)]
    pub(super) fn idle_until(&self) -> Time {
        let (next, shown) = self.alike_until;
        if RECORDED { self.until.min(next).min(shown) } else { self.until }
    }
}

impl Gate {
    /// A recorder is told of the units that have passed since it was told last.
    #[inline]
    pub(in crate::gate) fn note_passed(&mut self) {
        let Parts { stats, ahead, .. } = &mut *self.parts;
        stats.note_passed(&mut self.plain, &mut ahead.waited);
    }
}
