//! Rate laws: when does a unit of this size, which arrived at `arrival`, start and end?
//!
//! Most laws are known ahead: a departure can be stated at the arrival (the commitment rule). The others are
//! [`SetSpeed`] and [`Circuit`]: the network sets their rate during the run, so their gates are driven step by step.
//! docs/design/adding.md has the list of what a new law needs.

mod allocated;
mod cellreplay;
mod circuit;
mod gcra;
mod markov;
mod meter;
mod opportunities;
mod profile;
mod token_bucket;

use crate::plan::{OnChange, RatePlan};
use crate::random::Stream;
use crate::serial::Serializer;
use crate::units::{Measured, Rate, Span, Time};

pub use allocated::{Allocated, SetSpeed};
pub use cellreplay::CellReplay;
pub use circuit::Circuit;
pub use gcra::CellShaper;
pub use meter::{CapacityMeter, mean_speed};
pub use opportunities::{Cursor, Opportunities};
pub use profile::{Profile, Varying};
pub use token_bucket::TokenBucket;

/// Start and end of a unit's service. [`Time::NEVER`]: the unit is never served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// When the unit leaves the queue for the server.
    pub start: Time,
    /// When its last bit has gone.
    pub end: Time,
}

/// The capacity of a law inside the measured time, and the part of it that no unit was there to use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Capacity {
    /// Everything the law offered, in 10⁻¹² units of work.
    pub offered: u128,
    /// What the law offered while no unit was there, in 10⁻¹² units of work; `None` where a unit's service does not
    /// follow the capacity (`on_change = "keep"`).
    pub unused: Option<u128>,
    /// Work done on a unit still in service when the measured time ends.
    pub in_transit: u128,
}

/// A rate law with its state.
#[derive(Clone, Debug)]
pub enum Law {
    /// No transmission takes time.
    Unlimited,
    /// One speed.
    Constant(Constant),
    /// Piecewise constant speeds: steps, traces of rates, Markov chains.
    Varying(Box<Varying>),
    /// A token bucket.
    TokenBucket(Box<TokenBucket>),
    /// Delivery opportunities.
    Opportunities(Box<Opportunities>),
    /// A cellular link in two stages.
    CellReplay(Box<CellReplay>),
    /// A rate that the network sets during the run.
    SetSpeed(Box<SetSpeed>),
    /// A shaper of cells.
    Gcra(Box<CellShaper>),
    /// A circuit that the network opens and closes.
    Circuit(Box<Circuit>),
}

/// A constant speed and the end of the last unit.
#[derive(Clone, Debug)]
pub struct Constant {
    server: Serializer,
    free: Time,
}

impl Law {
    /// The law of `plan`. It draws random numbers from `stream` and counts inside `measured`.
    #[must_use]
    pub fn new(plan: &RatePlan, on_change: OnChange, measured: Measured, stream: Stream) -> Law {
        let set = |initial| Law::SetSpeed(Box::new(SetSpeed::new(initial, on_change, measured)));
        match plan {
            RatePlan::Unlimited => Law::Unlimited,
            RatePlan::Constant(speed) => Law::Constant(Constant::new(speed.work_per_second())),
            RatePlan::TokenBucket { rate, burst_bytes, initial_bytes, peak, peak_burst_bytes } => {
                let peak = peak.map(|peak| (peak, *peak_burst_bytes));
                Law::TokenBucket(Box::new(TokenBucket::new(
                    *rate,
                    *burst_bytes,
                    *initial_bytes,
                    peak,
                    measured,
                )))
            }
            RatePlan::Opportunities { trace, at_end } => {
                Law::Opportunities(Box::new(Opportunities::new(trace.clone(), *at_end, measured)))
            }
            RatePlan::CellReplay(link) => Law::CellReplay(Box::new(CellReplay::new(link.clone(), measured))),
            RatePlan::Gcra(gcra) => Law::Gcra(Box::new(CellShaper::new(gcra))),
            RatePlan::Reserve(circuit) => Law::Circuit(Box::new(Circuit::new(circuit.rate, measured))),
            RatePlan::Dtm(channel) => set(channel.initial),
            RatePlan::Abr(abr) => set(Rate::from_bps(abr.rates.initial as u64)),
            RatePlan::Follow(follow) => set(follow.initial),
            RatePlan::Steps { .. } | RatePlan::Markov(_) | RatePlan::RateTrace { .. } => {
                let profile = Profile::new(plan, stream);
                Law::Varying(Box::new(Varying::new(profile, on_change, measured)))
            }
        }
    }

    /// The service of the next unit, which arrived at `arrival` and needs `work`. Arrivals never decrease.
    #[inline(always)]
    pub fn transmit(&mut self, arrival: Time, work: u64) -> Service {
        match self {
            Law::Unlimited => Service { start: arrival, end: arrival },
            Law::Constant(constant) => constant.transmit(arrival, work),
            Law::Varying(varying) => varying.transmit(arrival, work),
            Law::TokenBucket(bucket) => bucket.transmit(arrival, work),
            Law::Opportunities(opportunities) => opportunities.transmit(arrival, work),
            Law::CellReplay(link) => link.transmit(arrival, work),
            Law::SetSpeed(server) => server.transmit(arrival, work),
            Law::Gcra(shaper) => shaper.transmit(arrival),
            Law::Circuit(circuit) => circuit.transmit(arrival, work),
        }
    }

    /// When the service of the next unit would begin, which arrived at `arrival` and needs `work`: what
    /// [`Law::transmit`] would say, and nothing is served. [`Time::NEVER`] where that is not known.
    #[inline(always)]
    #[must_use]
    pub fn next_start(&mut self, arrival: Time, work: u64) -> Time {
        match self {
            Law::Unlimited => arrival,
            Law::Constant(constant) => arrival.max(constant.free),
            Law::Varying(varying) => varying.next_start(arrival),
            Law::TokenBucket(bucket) => bucket.next_start(arrival, work),
            Law::Opportunities(opportunities) => opportunities.next_start(arrival),
            Law::CellReplay(link) => link.preview(arrival, work).start,
            Law::SetSpeed(server) => server.next_start(arrival),
            Law::Gcra(shaper) => shaper.next_start(arrival),
            Law::Circuit(circuit) => circuit.next_start(arrival),
        }
    }

    /// Whether a service of any unit that has come by `now` begins at once, for certain.
    #[inline]
    pub(super) fn is_ready(&self, now: Time) -> bool {
        match self {
            Law::Unlimited => true,
            Law::Constant(constant) => constant.free <= now,
            _ => false,
        }
    }

    /// [`Law::next_start`] for a unit that was chosen at `now`, however long before it came.
    pub(super) fn next_start_chosen(&mut self, now: Time, arrival: Time, work: u64) -> Time {
        match self {
            Law::Opportunities(opportunities) => opportunities.next_start(arrival),
            Law::CellReplay(link) => link.preview(arrival, work).start,
            _ => self.next_start(arrival.max(now), work),
        }
    }

    /// [`Law::transmit`] for a unit that was chosen at `now`, when [`Law::next_start`] had said that a service may begin.
    #[inline]
    pub(super) fn transmit_chosen(&mut self, now: Time, arrival: Time, work: u64) -> Service {
        match self {
            // The usual one is not asked which it is twice.
            Law::Constant(constant) => constant.transmit(arrival.max(now), work),
            // A unit that comes at an opportunity is too late for it; one that was chosen then is not.
            Law::Opportunities(opportunities) => opportunities.transmit(arrival, work),
            Law::CellReplay(link) => link.transmit_chosen(now, arrival, work),
            _ => self.transmit(arrival.max(now), work),
        }
    }

    /// Whether the service of a unit that arrives at `arrival` at an idle server starts at that instant, as
    /// [`Law::transmit`] would say.
    #[must_use]
    pub fn begins_at(&mut self, arrival: Time, work: u64) -> bool {
        match self {
            Law::Unlimited | Law::Constant(_) => true,
            Law::Varying(varying) => varying.begins_at(arrival),
            Law::TokenBucket(bucket) => bucket.begins_at(arrival, work),
            // Each unit waits for an opportunity after its arrival.
            Law::Opportunities(_) => false,
            Law::CellReplay(link) => link.preview(arrival, work).start == arrival,
            Law::Gcra(shaper) => shaper.begins_at(arrival),
            Law::SetSpeed(_) | Law::Circuit(_) => !self.is_stopped(),
        }
    }

    /// No service of a shaper of cells ends before this behind `others` that have not begun; time 0 for another law.
    pub(crate) fn earliest_end_behind(&self, others: u64) -> Time {
        match self {
            Law::Gcra(shaper) => shaper.earliest_end_behind(others),
            _ => Time::ZERO,
        }
    }

    /// Whether no service begins until a rate is set, or the circuit opened.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        match self {
            Law::SetSpeed(server) => server.is_stopped(),
            Law::Circuit(circuit) => !circuit.is_open(),
            _ => false,
        }
    }

    /// Whether a unit of so many bytes on the wire could ever pass.
    #[must_use]
    pub fn admits(&self, wire_bytes: u32) -> bool {
        match self {
            Law::TokenBucket(bucket) => bucket.admits(wire_bytes),
            _ => true,
        }
    }

    /// How long the last unit is behind the server before it comes to the gate's own delay.
    #[inline]
    pub(super) fn behind(&self) -> Span {
        match self {
            Law::CellReplay(link) => link.behind(),
            _ => Span::ZERO,
        }
    }

    /// Tokens left when the last unit began its service, in 10⁻¹² bit; `None` without a bucket.
    pub(super) fn tokens(&self) -> Option<i128> {
        match self {
            Law::TokenBucket(bucket) => Some(bucket.tokens()),
            _ => None,
        }
    }

    /// What the law offered inside `measured`; `None` where the rate is unlimited.
    #[must_use]
    pub fn capacity(&self, plan: &RatePlan, measured: Measured, stream: Stream) -> Option<Capacity> {
        match self {
            Law::Unlimited => None,
            Law::Constant(constant) => {
                let span = measured.overlap(Time::ZERO, Time::NEVER);
                Some(Capacity {
                    offered: u128::from(span) * u128::from(constant.server.speed()),
                    unused: None,
                    in_transit: 0,
                })
            }
            Law::TokenBucket(bucket) => Some(bucket.capacity(measured)),
            Law::Varying(varying) => Some(varying.capacity(Profile::new(plan, stream), measured)),
            Law::Opportunities(opportunities) => Some(opportunities.capacity(measured)),
            Law::CellReplay(link) => Some(link.capacity(measured)),
            Law::SetSpeed(server) => Some(server.capacity()),
            Law::Circuit(circuit) => Some(circuit.capacity()),
            Law::Gcra(shaper) => {
                let span = measured.overlap(Time::ZERO, Time::NEVER);
                Some(Capacity { offered: shaper.offered(span), unused: None, in_transit: 0 })
            }
        }
    }
}

impl Constant {
    fn new(speed: u64) -> Constant {
        Constant { server: Serializer::new(speed), free: Time::ZERO }
    }

    fn transmit(&mut self, arrival: Time, work: u64) -> Service {
        let start = self.begin(arrival);
        let end = start.saturating_add(self.server.take(work));
        self.free = end;
        Service { start, end }
    }

    /// When the next service begins; if that is after the last one, a busy period begins.
    fn begin(&mut self, arrival: Time) -> Time {
        if arrival > self.free {
            self.server.reset();
        }
        arrival.max(self.free)
    }
}

#[cfg(test)]
pub(crate) mod tests;
