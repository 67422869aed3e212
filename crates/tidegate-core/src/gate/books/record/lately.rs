//! Changes between two rows that are applied together.

use super::Recorder;
use crate::gate::books::Served;
use crate::units::{Span, Time};

/// The least number of changes of a kind that are applied before a row is due.
pub(super) const MANY: usize = 64;

impl Recorder {
    /// The instant of the next row, where changes between two rows are applied together.
    #[inline]
    pub(in crate::gate::books) fn next_row(&self) -> Option<Time> {
        self.every.map(|_| self.next_sample)
    }

    /// The same when a unit comes at `at`; the rows before are written.
    #[inline]
    pub(in crate::gate::books) fn next_row_from(&mut self, at: Time) -> Option<Time> {
        if self.every.is_some() && at > self.next_sample {
            self.settle_many(at);
        }
        self.next_row()
    }

    /// A unit of `bytes` found the server idle, and its service ends by the instant of [`Recorder::next_row`].
    #[inline]
    pub(in crate::gate::books) fn pass_idle(&mut self, bytes: u64) {
        // All that waited before them has begun by then.
        self.starting.clear();
        self.now.wait = Span::ZERO;
        self.now.delivered_bytes += bytes;
    }

    /// A unit arrives and its service is known, which nothing changes any more; where [`Recorder::next_row`] is one. What has begun or
    /// ended by the next row needs no note.
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

    /// Writes the rows before `at`, and applies what is noted until then where it is much.
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
