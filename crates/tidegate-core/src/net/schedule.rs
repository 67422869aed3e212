//! The wake-up time of each event source of a network, and the time of the last event handled.

use crate::net::events::{EventQueue, Next};
use crate::net::sources::{EventSource, SourceKind, SourceTable};
use crate::units::{Span, Time};

/// The wake-up time of every event source, and the present time of the network.
#[derive(Debug)]
pub(super) struct Schedule {
    pub(super) sources: SourceTable,
    pub(super) queue: EventQueue,
    /// When the event happened that was handled last.
    pub(super) now: Time,
    /// When the last event of the run happened that the engine is taking ([`crate::net::Network::poll_run`]).
    pub(super) run_ends: Time,
    /// The engine has polled for events before this.
    pub(super) until: Time,
    /// Events handled.
    pub(super) handled: u64,
    /// Events handled, and when, as alternation was reviewed last.
    pub(super) reviewed: (u64, Time),
}

impl Schedule {
    /// All sources sleep.
    pub(super) fn new(sources: SourceTable) -> Schedule {
        let queue = EventQueue::new(sources.len());
        Schedule {
            sources,
            queue,
            now: Time::ZERO,
            run_ends: Time::ZERO,
            until: Time::ZERO,
            handled: 0,
            reviewed: (0, Time::ZERO),
        }
    }

    /// Wakes a source at `at`, unless it wakes earlier anyway; a source that is woken early finds
    /// nothing to do and asks again.
    #[inline]
    pub(super) fn wake(&mut self, kind: SourceKind, index: usize, at: Time) {
        self.queue.wake(self.sources.number(kind, index), at);
    }

    /// When a source wakes; [`Time::NEVER`] when it sleeps.
    pub(super) fn due(&self, kind: SourceKind, index: usize) -> Time {
        self.queue.due(self.sources.number(kind, index))
    }

    /// The next event before `until`, which is now.
    #[inline(always)]
    pub(super) fn pop_before(&mut self, until: Time) -> Option<Next> {
        self.until = until;
        let next = self.queue.pop_before(until)?;
        let (Next::Arrival(at, _) | Next::Source(at, _)) = next;
        debug_assert!(self.may_happen(at), "{at} comes after {}", self.now);
        self.now = at;
        self.handled += 1;
        Some(next)
    }

    /// Whether an event or an arrival at `at` is allowed. How far time may go back is the contract of [`crate::net`]: by less than both
    /// leads where directions alternate or have just stopped doing so; by a picosecond behind a section of cell gates.
    pub(super) fn may_happen(&self, at: Time) -> bool {
        let leads = self.queue.alternation().map_or(Span::ZERO, |([one, other], _)| one + other);
        at.saturating_add(leads.max(Span::from_picos(1))) >= self.now
    }

    /// The numbers of a kind's sources.
    pub(super) fn numbers(&self, kind: SourceKind) -> std::ops::Range<EventSource> {
        self.sources.numbers(kind)
    }
}
