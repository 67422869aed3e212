//! What is done in a run until all is done whose hosts are answered from outside, so that it can be done again: its results are those
//! of a run whose length is known, and the caller answers once.

use tidegate_core::units::{Span, Time};
use tidegate_result::Side;

use crate::host::{Ends, Outgoing, Report};
use crate::simulation::Simulation;

/// What a caller does at an end.
#[derive(Clone, Debug)]
pub(crate) enum Done {
    Sent(Outgoing),
    Wakes(Option<Time>),
    /// A round trip, and all that the end has reported so far.
    Reported(Option<Span>, Report),
}

/// Everything that a caller does, kept until its run is over: the bytes of its packets, too.
#[derive(Default)]
pub(crate) struct Rehearsal {
    /// The hosts of the other flows that have any, for the run that counts.
    pub(crate) hosts: Vec<Option<Ends>>,
    /// What was done after so many turns, at which end.
    pub(crate) done: Vec<(u64, usize, Side, Done)>,
    turns: u64,
}

impl Rehearsal {
    pub(crate) fn new(hosts: Vec<Option<Ends>>) -> Rehearsal {
        Rehearsal { hosts, ..Rehearsal::default() }
    }

    pub(crate) fn note(&mut self, flow: usize, side: Side, done: Done) {
        self.done.push((self.turns, flow, side, done));
    }

    pub(crate) fn note_turn(&mut self) {
        self.turns += 1;
    }
}

impl Simulation {
    /// Where a run ends: when all is done, in a run until then, and at `latest`.
    pub(crate) fn end(&self, latest: Time) -> Time {
        self.done_at().map_or(latest, |at| latest.min(at.saturating_add(Span::from_picos(1))))
    }
}
