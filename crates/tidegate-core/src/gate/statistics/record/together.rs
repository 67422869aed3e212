//! Units of one size that come together to a server of a constant distance, noted once for all of them.

use crate::gate::rate::Service;
use crate::gate::statistics::count::less;
use crate::gate::statistics::{ExactPicos, GateRow, Progression, Served};
use crate::units::{Span, Time};

/// They are in the queue until their service begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Together {
    /// When they come.
    pub arrival: Time,
    /// When their services begin, in picoseconds.
    pub starts: Progression,
    /// How long each service is; `None`: until the next begins.
    pub each: Option<Span>,
    /// The size of each, in IP bytes and on the wire.
    pub bytes: u32,
}

impl Together {
    /// A single one.
    pub(super) fn one(served: &Served) -> Together {
        let Served { arrival, service, bytes, .. } = *served;
        let zero = ExactPicos { whole: 0, part: 0 };
        let first = ExactPicos { whole: service.start.picos(), part: 0 };
        let starts = Progression { first, gap: zero, parts: 1, terms: 1 };
        Together { arrival, starts, each: Some(service.end.saturating_since(service.start)), bytes }
    }

    pub(super) fn is_over(&self) -> bool {
        self.starts.terms == 0
    }

    /// Those that join the queue: of those that come together, the first may find the server idle.
    pub(super) fn joining(&self) -> u64 {
        self.starts.terms
            - u64::from(self.starts.terms > 0 && self.starts.first.whole <= self.arrival.picos())
    }

    /// Takes those off whose service is over at `at`; returns how many.
    pub(super) fn end(&mut self, at: Time, now: &mut GateRow) -> u64 {
        let over = self.over_by(at);
        if over > 0 {
            let rest = Together { starts: self.starts.after(over), ..*self };
            let left = less(self.joining(), rest.joining());
            now.queue_packets = less(now.queue_packets, left);
            now.queue_bytes = less(now.queue_bytes, left * u64::from(self.bytes));
            now.delivered_bytes += over * u64::from(self.bytes);
            let last = Time::from_picos(self.starts.after(over - 1).first.whole);
            now.wait = last.saturating_since(self.arrival);
            *self = rest;
        }
        over
    }

    fn over_by(&self, at: Time) -> u64 {
        match self.each {
            Some(each) => at.picos().checked_sub(each.picos()).map_or(0, |start| self.starts.up_to(start)),
            None => {
                let and_next = Progression { terms: self.starts.terms + 1, ..self.starts };
                and_next.up_to(at.picos()).saturating_sub(1)
            }
        }
    }

    /// Takes the first off if its service begins by `at`.
    pub(super) fn begin(&mut self, at: Time) -> Option<Served> {
        let start = Time::from_picos(self.starts.first.whole);
        if self.is_over() || start > at {
            return None;
        }
        let end = match self.each {
            Some(each) => start.saturating_add(each),
            None => Time::from_picos(Progression { terms: 2, ..self.starts }.after(1).first.whole),
        };
        let Together { arrival, bytes, .. } = *self;
        self.starts = self.starts.after(1);
        Some(Served { arrival, service: Service { start, end }, leaves: start, bytes, wire: bytes })
    }
}
