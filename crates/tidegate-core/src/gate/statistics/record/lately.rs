//! Changes between two rows that are applied together.

use super::Recorder;
use crate::gate::statistics::Served;
use crate::units::Time;

/// The least number of changes of a kind that are applied before a row is due.
pub(super) const MANY: usize = 64;

impl Recorder {
    /// The instant of the next row, where changes between two rows are applied together.
    #[inline]
    pub(in crate::gate::statistics) fn next_row(&self) -> Option<Time> {
        self.every.map(|_| self.next_sample)
    }

    /// Records an arrival whose service is known and final, where [`Recorder::next_row`] is known. Changes up to the next row are applied
    /// at once; later ones are noted.
    #[inline]
    pub(in crate::gate) fn pass(&mut self, served: &Served) {
        let Served { arrival, service, leaves, bytes, wire } = *served;
        self.settle(arrival);
        let row = self.next_sample;
        if leaves > row {
            self.now.queue_packets += 1;
            self.now.queue_bytes += u64::from(bytes);
            self.leaving.push_back((leaves, u64::from(bytes)));
        }
        let wait = service.start.saturating_since(arrival);
        if service.start <= row && self.starting.is_empty() {
            self.now.wait = wait;
        } else {
            self.starting.push_back((service.start, wait));
        }
        if service.end <= row {
            self.now.delivered_bytes += u64::from(wire);
        } else {
            self.departing.push_back((service.end, u64::from(wire)));
        }
    }

    /// Writes the rows before `at`, and applies the changes noted until then if they are many.
    #[inline(never)]
    pub(super) fn settle_many(&mut self, at: Time) {
        self.advance(at);
        if self.departing.len() >= self.many {
            // The next row is at `at` at the earliest.
            self.apply(at);
            self.begin(at);
            self.many = MANY.max(2 * self.departing.len());
        }
    }
}
