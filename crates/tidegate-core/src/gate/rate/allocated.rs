//! A rate that the network sets during the run: the slots of a DTM channel, or what is fed back to a follower or an ABR
//! source. The server does not know where rates come from; it keeps account of them. While the rate is zero no service
//! begins; the first unit that waits begins when a rate is set again.
//!
//! Example: 1000 bytes at 1 Mbit/s need 8 ms. At 2 ms the speed becomes 4 Mbit/s. With `keep`
//! the unit ends at 8 ms and the next one takes 2 ms; with `rescale` it ends at 3.5 ms.

use crate::gate::rate::{Capacity, Constant, Service};
use crate::plan::OnChange;
use crate::serial::Serializer;
use crate::units::{Measured, PICOS_PER_SECOND, Rate, Span, Time};

/// Statistics of the rates of one gate inside the measured time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    /// Bits that could have passed, in 10⁻¹² bit.
    pub offered: u128,
    /// The least rate in force.
    pub least: Rate,
    /// The largest.
    pub most: Rate,
    /// How often the rate changed.
    pub changes: u64,
}

/// A server whose rate is set.
#[derive(Clone, Debug)]
pub struct SetSpeed {
    /// Serves at the last rate above zero.
    server: Constant,
    rate: Rate,
    on_change: OnChange,
    /// When the rate of the last unit changed last, and the work that was left then in 10⁻¹² bit.
    start: Time,
    left: u128,
    /// The present rate is in force since then.
    since: Time,
    /// The capacity from the start of the run until then, in 10⁻¹² bit.
    before: u128,
    measured: Measured,
    /// The account of the rates before the present one.
    inside: Allocated,
}

impl SetSpeed {
    /// A server that begins at `initial`. If that is zero, no service begins before a rate is set.
    #[must_use]
    pub fn new(initial: Rate, on_change: OnChange, measured: Measured) -> SetSpeed {
        SetSpeed {
            server: Constant::new(initial.bps().max(1)),
            rate: initial,
            on_change,
            start: Time::ZERO,
            left: 0,
            since: Time::ZERO,
            before: 0,
            measured,
            inside: Allocated { offered: 0, least: Rate::from_bps(u64::MAX), most: Rate::ZERO, changes: 0 },
        }
    }

    /// Whether the rate is zero.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.rate == Rate::ZERO
    }

    /// When a unit would begin.
    pub(super) fn next_start(&self, arrival: Time) -> Time {
        if self.is_stopped() { Time::NEVER } else { arrival.max(self.server.free) }
    }

    pub(super) fn transmit(&mut self, arrival: Time, bits: u64) -> Service {
        if self.is_stopped() {
            return Service { start: Time::NEVER, end: Time::NEVER };
        }
        self.start = self.server.begin(arrival);
        self.left = u128::from(bits) * u128::from(PICOS_PER_SECOND) + u128::from(self.server.server.carry());
        self.server.transmit(arrival, bits)
    }

    /// The rate in force.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Sets the rate from `at` on. Returns the new end of the unit in service, if that changes. Units that start at this
    /// instant have the new rate.
    pub fn set(&mut self, at: Time, rate: Rate) -> Option<Time> {
        if rate == self.rate {
            return None;
        }
        self.inside = self.inside_until(at);
        self.inside.changes += u64::from(self.measured.holds(at));
        self.before = self.offered_until(at);
        self.since = at;
        let old = u128::from(std::mem::replace(&mut self.rate, rate).bps());
        // The carry is dropped at a change of rate.
        self.server.server = Serializer::new(rate.bps().max(1));
        if old == 0 {
            // The first unit that waits begins now.
            self.server.free = self.server.free.max(at);
        }
        if self.on_change == OnChange::Keep || at < self.start || at >= self.server.free {
            return None;
        }
        let speed = u128::from(rate.bps());
        self.left -= u128::from(at.saturating_since(self.start).picos()) * old;
        self.start = at;
        self.server.free = match self.left.checked_div(speed) {
            Some(picos) => {
                self.server.server.set_carry((self.left % speed) as u64);
                at.saturating_add(Span::from_picos(u64::try_from(picos).unwrap_or(u64::MAX / 2)))
            }
            None => Time::NEVER,
        };
        Some(self.server.free)
    }

    /// The capacity from the start of the run to `at`, in 10⁻¹² bit.
    #[must_use]
    pub fn offered_until(&self, at: Time) -> u128 {
        let span = at.saturating_since(self.since).picos();
        self.before + u128::from(span) * u128::from(self.rate.bps())
    }

    /// The account of the measured time up to `at`.
    fn inside_until(&self, at: Time) -> Allocated {
        let span = self.measured.overlap(self.since, at);
        let mut inside = self.inside;
        if span > 0 {
            inside.offered += u128::from(span) * u128::from(self.rate.bps());
            inside.least = inside.least.min(self.rate);
            inside.most = inside.most.max(self.rate);
        }
        inside
    }

    /// The account of the measured time, if the present rate holds to its end.
    #[must_use]
    pub fn inside(&self) -> Allocated {
        self.inside_until(Time::NEVER)
    }

    pub(super) fn capacity(&self) -> Capacity {
        Capacity { offered: self.inside().offered, unused: None, in_transit: 0 }
    }
}
