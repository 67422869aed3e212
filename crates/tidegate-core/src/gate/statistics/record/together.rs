//! Units of one size that come together to a server of a constant distance, noted once for all of them.

use crate::gate::rate::Service;
use crate::gate::statistics::Progression;
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

/// How far units that come together are at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reached {
    /// So many have left the queue.
    pub(super) left: u64,
    /// The services of so many have begun.
    pub(super) begun: u64,
    /// The services of so many have ended.
    pub(super) ended: u64,
}

impl Together {
    /// Those that join the queue: of those that come together, the first may find the server idle.
    pub(super) fn joining(&self) -> u64 {
        self.starts.terms - u64::from(self.starts.terms > 0 && self.finds_idle())
    }

    fn finds_idle(&self) -> bool {
        self.starts.first.whole <= self.arrival.picos()
    }

    /// How far they are at `at`.
    pub(super) fn reached(&self, at: Time) -> Reached {
        let begun = self.starts.up_to(at.picos());
        let ended = match self.each {
            Some(each) => at.picos().checked_sub(each.picos()).map_or(0, |start| self.starts.up_to(start)),
            None => {
                let and_next = Progression { terms: self.starts.terms + 1, ..self.starts };
                and_next.up_to(at.picos()).saturating_sub(1)
            }
        };
        Reached { left: begun - u64::from(begun > 0 && self.finds_idle()), begun, ended }
    }

    /// The service of the one after so many others, and the wait before it.
    pub(super) fn service(&self, before: u64) -> (Service, Span) {
        let start = Time::from_picos(self.starts.term(before).whole);
        let end = match self.each {
            Some(each) => start.saturating_add(each),
            None => Time::from_picos(self.starts.term(before + 1).whole),
        };
        (Service { start, end }, start.saturating_since(self.arrival))
    }
}
