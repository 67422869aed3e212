//! Changes between two rows that are applied together.

use super::{Recorder, Together};
use crate::gate::statistics::Served;
use crate::units::Time;

/// The least number of changes that are applied before a row is due.
pub(super) const MANY: usize = 64;

impl Recorder {
    /// Whether rows are written at fixed times.
    #[inline]
    pub(in crate::gate::statistics) fn is_sampled(&self) -> bool {
        self.every.is_some()
    }

    /// Records an arrival whose service is known and final, where [`Recorder::is_sampled`]. One whose service is over by the
    /// next row is applied at once, others are noted.
    #[inline]
    pub(in crate::gate) fn pass(&mut self, served: &Served) {
        let arrival = served.arrival;
        self.settle(arrival);
        if let Some(content) = &mut self.content {
            content.arrive(arrival, 1, self.next_sample);
        }
        if served.service.end <= self.next_sample && self.services.is_empty() {
            self.now.wait = served.wait();
            self.now.delivered_bytes += u64::from(served.wire);
            if let Some(content) = &mut self.content {
                content.end(1);
            }
            return;
        }
        if served.joins() {
            self.now.queue_packets += 1;
            self.now.queue_bytes += u64::from(served.bytes);
        }
        self.services.push(served);
    }

    /// [`Recorder::pass`] for units that come together.
    pub(in crate::gate) fn pass_together(&mut self, together: &Together) {
        self.settle(together.arrival);
        if let Some(content) = &mut self.content {
            content.arrive(together.arrival, together.starts.terms, self.next_sample);
        }
        let joining = together.joining();
        self.now.queue_packets += joining;
        self.now.queue_bytes += joining * u64::from(together.bytes);
        self.services.push_together(together);
    }

    /// Writes the rows before `at`; when the next is due.
    pub(in crate::gate::statistics) fn next_row(&mut self, at: Time) -> Time {
        self.settle(at);
        if self.next_sample < self.until { self.next_sample } else { Time::NEVER }
    }

    /// Units of so many bytes come, are served and are gone before the next row; what it shows of single ones, others show that are gone
    /// later.
    pub(in crate::gate::statistics) fn gone(&mut self, bytes: u64) {
        self.now.delivered_bytes += bytes;
    }

    /// Writes the rows before `at`, and applies the changes noted until then if they are many.
    #[inline(never)]
    pub(super) fn settle_many(&mut self, at: Time) {
        self.advance(at);
        if self.services.len() >= self.many {
            // The next row is at `at` at the earliest.
            self.apply(at);
            self.many = MANY.max(2 * self.services.len());
        }
    }
}
