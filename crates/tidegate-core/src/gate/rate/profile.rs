//! Piecewise constant speeds: steps, traces of rates and Markov chains, and how a unit is
//! served under them.
//!
//! Example (`rescale`): 1000 bytes at 1 Mbit/s need 8 ms. At 2 ms the rate becomes 4 Mbit/s:
//! 6000 bits are left and take 1.5 ms more, so service ends at 3.5 ms. With `keep` it ends at 8 ms.

use std::sync::Arc;

use crate::gate::rate::markov::Chain;
use crate::gate::rate::{Capacity, Service};
use crate::plan::{AtEnd, OnChange, RatePlan};
use crate::random::Stream;
use crate::serial::Serializer;
use crate::units::{Measured, PICOS_PER_SECOND, Span, Time};

/// A time of constant speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its first instant.
    pub from: Time,
    /// Its end, which does not belong to it.
    pub until: Time,
    /// Units of work per second.
    pub speed: u64,
}

/// A walk over the pieces of a speed that changes with time.
#[derive(Clone, Debug)]
pub struct Profile {
    source: RateSteps,
    now: Piece,
}

#[derive(Clone, Debug)]
enum RateSteps {
    List { points: Arc<[(Time, u64)]>, index: usize, cycle: u64, period: Option<Span>, at_end: AtEnd },
    Chain(Box<Chain>),
}

impl Profile {
    /// The speeds of a plan. Panics if the speed of its law is not piecewise constant.
    #[must_use]
    pub fn new(plan: &RatePlan, stream: Stream) -> Profile {
        let source = match plan {
            RatePlan::Steps { steps, repeat } => RateSteps::list(
                steps.iter().map(|(from, speed)| (*from, speed.work_per_second())).collect(),
                *repeat,
                AtEnd::Repeat,
            ),
            RatePlan::RateTrace { trace, at_end } => RateSteps::list(
                trace.points.iter().map(|(from, rate)| (*from, rate.bps())).collect(),
                Some(trace.period),
                *at_end,
            ),
            RatePlan::Markov(markov) => RateSteps::Chain(Box::new(Chain::new(markov, stream))),
            other => unreachable!("{other:?} has no pieces of constant speed"),
        };
        let mut profile = Profile { source, now: Piece { from: Time::ZERO, until: Time::ZERO, speed: 0 } };
        profile.advance();
        profile
    }

    /// The present piece.
    #[must_use]
    pub fn now(&self) -> Piece {
        self.now
    }

    /// Moves to the next piece; the last one has no end.
    pub fn advance(&mut self) {
        let from = self.now.until;
        let (speed, until) = self.source.next(from);
        self.now = Piece { from, until, speed };
    }

    /// Moves forward to the piece that `at` lies in.
    #[inline]
    pub fn seek(&mut self, at: Time) {
        while at >= self.now.until && self.now.until != Time::NEVER {
            self.advance();
        }
    }
}

impl RateSteps {
    fn list(points: Arc<[(Time, u64)]>, period: Option<Span>, at_end: AtEnd) -> RateSteps {
        // No unit ever passes: one endless piece, or a search for a speed above zero would not end.
        let period = if points.iter().all(|(_, speed)| *speed == 0) { None } else { period };
        RateSteps::List { points, index: 0, cycle: 0, period, at_end }
    }

    fn next(&mut self, from: Time) -> (u64, Time) {
        match self {
            RateSteps::Chain(chain) => {
                let (speed, holding) = chain.next();
                (speed, from.saturating_add(holding))
            }
            RateSteps::List { points, index, cycle, period, at_end } => {
                if *index == points.len() {
                    if *at_end == AtEnd::Stop {
                        return (0, Time::NEVER);
                    }
                    *index = 0;
                    *cycle = from.picos();
                }
                let speed = points[*index].1;
                *index += 1;
                let until = match (points.get(*index), *period) {
                    (Some((next, _)), _) => Time::from_picos(cycle.saturating_add(next.picos())),
                    (None, Some(period)) => Time::from_picos(cycle.saturating_add(period.picos())),
                    (None, None) => Time::NEVER,
                };
                (speed, until)
            }
        }
    }
}

/// A server whose speed follows a profile.
#[derive(Clone, Debug)]
pub struct Varying {
    profile: Profile,
    server: Option<Serializer>,
    on_change: OnChange,
    free: Time,
    measured: Measured,
    unused: u128,
    in_transit: u128,
}

impl Varying {
    /// A server at the beginning of its profile.
    #[must_use]
    pub fn new(profile: Profile, on_change: OnChange, measured: Measured) -> Varying {
        Varying { profile, server: None, on_change, free: Time::ZERO, measured, unused: 0, in_transit: 0 }
    }

    /// Counts idle time until `arrival`, if the last service ended before.
    #[inline]
    fn stand_until(&mut self, arrival: Time) {
        if arrival > self.free {
            self.pass_idle(arrival);
            if let Some(server) = &mut self.server {
                server.reset();
            }
            self.free = arrival;
        }
        self.profile.seek(self.free);
    }

    /// Whether the service of a unit that arrives at an idle server starts at once: not at a rate of zero.
    pub(super) fn begins_at(&mut self, arrival: Time) -> bool {
        self.stand_until(arrival);
        self.profile.now().speed > 0
    }

    /// When a unit begins: at a rate of zero it waits.
    #[inline]
    pub(super) fn next_start(&mut self, arrival: Time) -> Time {
        self.stand_until(arrival);
        while self.profile.now().speed == 0 {
            if self.profile.now().until == Time::NEVER {
                self.free = Time::NEVER;
                break;
            }
            self.profile.advance();
            self.free = self.profile.now().from;
        }
        self.free
    }

    pub(super) fn transmit(&mut self, arrival: Time, work: u64) -> Service {
        let start = self.next_start(arrival);
        if start == Time::NEVER {
            return Service { start, end: start };
        }
        let piece = self.profile.now();
        let server = match &mut self.server {
            Some(server) if server.speed() == piece.speed => server,
            // The carry is dropped at a change of rate.
            slot => slot.insert(Serializer::new(piece.speed)),
        };
        let carry = server.carry();
        let mut end = start.saturating_add(server.take(work));
        if self.on_change == OnChange::Rescale && end > piece.until {
            end = self.cross(start, u128::from(work) * u128::from(PICOS_PER_SECOND) + u128::from(carry));
        } else if start < self.measured.until && end >= self.measured.until {
            self.in_transit = u128::from(self.measured.overlap(start, end)) * u128::from(piece.speed);
        }
        self.free = end;
        Service { start, end }
    }

    /// Serves `left` (10⁻¹² units of work) from `start` across changes of speed.
    fn cross(&mut self, start: Time, mut left: u128) -> Time {
        let mut at = start;
        let mut inside = 0;
        let end = loop {
            let piece = self.profile.now();
            let speed = u128::from(piece.speed);
            let room = u128::from(piece.until.saturating_since(at).picos()) * speed;
            // A unit that ends at the very end of a piece ends in it.
            if piece.speed > 0 && left < room + speed {
                let end = at.saturating_add(Span::from_picos((left / speed) as u64));
                let mut server = Serializer::new(piece.speed);
                server.set_carry((left % speed) as u64);
                self.server = Some(server);
                inside += u128::from(self.measured.overlap(at, end)) * speed;
                break end;
            }
            if piece.until == Time::NEVER {
                inside += u128::from(self.measured.overlap(at, Time::NEVER)) * speed;
                break Time::NEVER;
            }
            inside += u128::from(self.measured.overlap(at, piece.until)) * speed;
            left -= room;
            self.profile.advance();
            at = piece.until;
        };
        if start < self.measured.until && end >= self.measured.until {
            self.in_transit = inside;
        }
        end
    }

    /// Counts the capacity of an idle time that ends at `until`.
    fn pass_idle(&mut self, until: Time) {
        let mut from = self.free;
        loop {
            self.profile.seek(from);
            let piece = self.profile.now();
            let to = until.min(piece.until);
            self.unused += u128::from(self.measured.overlap(from, to)) * u128::from(piece.speed);
            if to == until {
                return;
            }
            from = to;
        }
    }

    /// Capacity inside the measured time; `whole` is the profile from its beginning.
    pub(super) fn capacity(&self, mut whole: Profile, measured: Measured) -> Capacity {
        let mut offered = 0;
        while whole.now().from < measured.until {
            let piece = whole.now();
            let span = measured.overlap(piece.from, piece.until);
            offered += u128::from(span) * u128::from(piece.speed);
            if piece.until == Time::NEVER {
                break;
            }
            whole.advance();
        }
        let mut rest = self.clone();
        if rest.free < measured.until {
            rest.pass_idle(measured.until);
        }
        let unused = (self.on_change == OnChange::Rescale).then_some(rest.unused);
        Capacity { offered, unused, in_transit: self.in_transit }
    }
}
