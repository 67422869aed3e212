//! The sources of calls without packets: when each calls, how long it holds, how long it waits.

use std::collections::BTreeMap;

use crate::app::draw;
use crate::plan::{ArrivalPlan, Blocked, CallsPlan, HoldingPlan};
use crate::random::{Seed, Stream};
use crate::units::{Span, Time};

/// The callers of one `[calls.NAME]`.
#[derive(Debug)]
pub(super) struct Callers {
    plan: CallsPlan,
    arrivals: CallArrivals,
    made: u64,
    /// Calls that are neither over nor lost.
    open: BTreeMap<u64, OpenCall>,
}

/// The random streams of a source of calls. One draw of each kind is made for every call, so what becomes of one call
/// does not change the draws of the next.
#[derive(Debug)]
enum CallArrivals {
    Every(Box<Every>),
    /// Each of a number of sources (its users) has a stream, and draws idle time, holding time and patience in turn.
    Sources {
        idle: HoldingPlan,
        streams: Vec<Stream>,
    },
}

/// Calls that come one after the other: gaps, holding times and patience have a stream each.
#[derive(Debug)]
struct Every {
    gap: HoldingPlan,
    next: Time,
    gaps: Stream,
    holds: Stream,
    patience: Stream,
}

#[derive(Clone, Copy, Debug)]
struct OpenCall {
    /// The user who made it; 0 where users are not numbered.
    user: u32,
    /// How long it is held from its grant on.
    hold: Span,
    patience: Option<Span>,
    /// While it waits: when its patience is over.
    leaves: Option<Time>,
}

/// The end of a gap, a picosecond at least: a gap of zero would let calls come without end at one instant.
fn later(at: Time, gap: Span) -> Time {
    at.saturating_add(gap.max(Span::from_picos(1)))
}

impl Callers {
    pub(super) fn new(plan: &CallsPlan, seed: Seed) -> Callers {
        let stream = |what: &str| seed.stream(&format!("calls.{}/{what}", plan.name));
        let arrivals = match plan.arrivals {
            ArrivalPlan::Every(gap) => CallArrivals::Every(Box::new(Every {
                gap,
                next: plan.start,
                gaps: stream("gaps"),
                holds: stream("holds"),
                patience: stream("patience"),
            })),
            ArrivalPlan::Sources { count, idle } => {
                let streams = (1..=count).map(|user| stream(&format!("user.{user}"))).collect();
                CallArrivals::Sources { idle, streams }
            }
        };
        Callers { arrivals, made: 0, open: BTreeMap::new(), plan: plan.clone() }
    }

    /// When the first calls are made, and by which users. To be called once.
    pub(super) fn first_calls(&mut self) -> Vec<(Time, u32)> {
        let users = match &self.arrivals {
            CallArrivals::Every(_) => return self.next_arrival().into_iter().map(|at| (at, 0)).collect(),
            CallArrivals::Sources { streams, .. } => 0..streams.len() as u32,
        };
        users.map(|user| (self.idle_until(self.plan.start, user), user)).collect()
    }

    /// When the next call comes, where calls come whatever is under way ([`CallArrivals::Every`]).
    pub(super) fn next_arrival(&mut self) -> Option<Time> {
        let CallArrivals::Every(every) = &mut self.arrivals else { return None };
        every.next = later(every.next, draw(every.gap, &mut every.gaps));
        Some(every.next)
    }

    /// When a user that falls idle at `at` makes its next call.
    fn idle_until(&mut self, at: Time, user: u32) -> Time {
        match &mut self.arrivals {
            CallArrivals::Sources { idle, streams } => later(at, draw(*idle, &mut streams[user as usize])),
            CallArrivals::Every(_) => Time::NEVER,
        }
    }

    /// A user makes a call; says which it is.
    pub(super) fn make(&mut self, user: u32) -> u64 {
        let (held, patience) = match &mut self.arrivals {
            CallArrivals::Every(every) => {
                let patience = self.plan.patience.map(|law| draw(law, &mut every.patience));
                (draw(self.plan.hold, &mut every.holds), patience)
            }
            CallArrivals::Sources { streams, .. } => {
                let stream = &mut streams[user as usize];
                (draw(self.plan.hold, stream), self.plan.patience.map(|law| draw(law, stream)))
            }
        };
        let hold = Span::from_picos(self.plan.setup.picos().saturating_add(held.picos()));
        self.made += 1;
        self.open.insert(self.made, OpenCall { user, hold, patience, leaves: None });
        self.made
    }

    /// A call waits from `at` on; says when its patience is over, if ever.
    pub(super) fn wait(&mut self, at: Time, call: u64) -> Option<Time> {
        let open = self.open.get_mut(&call)?;
        open.leaves = open.patience.map(|patience| at.saturating_add(patience));
        open.leaves
    }

    /// A call is granted: how long it is held, and when it would have left the line.
    pub(super) fn grant(&mut self, call: u64) -> (Span, Option<Time>) {
        match self.open.get_mut(&call) {
            Some(open) => (open.hold, open.leaves.take()),
            None => (Span::ZERO, None),
        }
    }

    /// A call is over, or lost, at `at`: says when its user makes the next one, and who that is.
    pub(super) fn end(&mut self, at: Time, call: u64) -> Option<(Time, u32)> {
        let OpenCall { user, .. } = self.open.remove(&call)?;
        matches!(self.arrivals, CallArrivals::Sources { .. }).then(|| (self.idle_until(at, user), user))
    }

    pub(super) fn blocked(&self) -> Blocked {
        self.plan.blocked
    }

    /// Bytes held, about.
    pub(super) fn memory_bytes(&self) -> usize {
        let users = match &self.arrivals {
            CallArrivals::Every(_) => 0,
            CallArrivals::Sources { streams, .. } => streams.len() * size_of::<Stream>(),
        };
        users + self.open.len() * size_of::<(u64, OpenCall)>()
    }
}
