//! A token bucket: tokens arrive at `rate` until there are `burst` of them. A unit starts when its tokens are there and
//! is then sent at `peak`, or at once where there is no peak. The bucket is full at the start.
//!
//! Example: 1 Mbit/s, burst 1500 bytes, three 1500-byte packets at time 0, no peak. The
//! first leaves at 0, the second when 12000 bits have come, at 12 ms, the third at 24 ms.

use crate::gate::rate::{Capacity, Service};
use crate::serial::Serializer;
use crate::units::{Measured, PICOS_PER_SECOND, Rate, Time};

/// State of a token bucket. Tokens are counted in 10⁻¹² bit, so that a picosecond at any
/// whole rate is a whole number of them.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: u64,
    burst: i128,
    tokens: i128,
    as_of: Time,
    peak: Option<Serializer>,
    free: Time,
    measured: Measured,
    /// Tokens in the bucket when the measured time began.
    at_opening: Option<i128>,
}

impl TokenBucket {
    /// A full bucket of `burst_bytes`, counted in `measured`; `rate` > 0.
    #[must_use]
    pub fn new(rate: Rate, burst_bytes: u64, peak: Option<Rate>, measured: Measured) -> TokenBucket {
        let burst = i128::from(burst_bytes) * 8 * i128::from(PICOS_PER_SECOND);
        TokenBucket {
            rate: rate.bps(),
            burst,
            tokens: burst,
            as_of: Time::ZERO,
            peak: peak.map(|peak| Serializer::new(peak.bps())),
            free: Time::ZERO,
            measured,
            at_opening: None,
        }
    }

    pub(super) fn admits(&self, wire_bytes: u32) -> bool {
        i128::from(wire_bytes) * 8 * i128::from(PICOS_PER_SECOND) <= self.burst
    }

    /// Whether a unit that arrives at the idle server finds its tokens, rounded as its wait would be.
    pub(super) fn begins_at(&self, arrival: Time, bits: u64) -> bool {
        let need = i128::from(bits) * i128::from(PICOS_PER_SECOND);
        need - self.tokens_at(arrival) < i128::from(self.rate)
    }

    /// When a unit would begin, as [`TokenBucket::transmit`] says.
    pub(super) fn next_start(&self, arrival: Time, bits: u64) -> Time {
        let ready = arrival.max(self.free);
        let need = i128::from(bits) * i128::from(PICOS_PER_SECOND);
        let wait = (need - self.tokens_at(ready)).max(0) / i128::from(self.rate);
        Time::from_picos(ready.picos().saturating_add(wait as u64))
    }

    pub(super) fn transmit(&mut self, arrival: Time, bits: u64) -> Service {
        let ready = arrival.max(self.free);
        if self.at_opening.is_none() && ready >= self.measured.from {
            self.at_opening = Some(self.tokens_at(self.measured.from));
        }
        self.tokens = self.tokens_at(ready);
        let need = i128::from(bits) * i128::from(PICOS_PER_SECOND);
        // Rounded down: the bucket may go below zero by less than a picosecond's tokens.
        let wait = (need - self.tokens).max(0) / i128::from(self.rate);
        let start = Time::from_picos(ready.picos().saturating_add(wait as u64));
        self.tokens += wait * i128::from(self.rate) - need;
        self.as_of = start;
        let end = match &mut self.peak {
            None => start,
            Some(server) => {
                if start > self.free {
                    server.reset();
                }
                start.saturating_add(server.take(bits))
            }
        };
        self.free = end;
        Service { start, end }
    }

    /// Tokens left when the last unit had taken its own, in 10⁻¹² bit.
    pub(super) fn tokens(&self) -> i128 {
        self.tokens
    }

    /// Tokens in the bucket at `at`, if none are taken before.
    fn tokens_at(&self, at: Time) -> i128 {
        let elapsed = at.saturating_since(self.as_of).picos();
        (self.tokens + i128::from(elapsed) * i128::from(self.rate)).min(self.burst)
    }

    /// The tokens of the measured time, and those in the bucket when it began.
    pub(super) fn capacity(&self, measured: Measured) -> Capacity {
        let span = measured.overlap(Time::ZERO, Time::NEVER);
        let first = self.at_opening.unwrap_or_else(|| self.tokens_at(self.measured.from)).max(0);
        let offered = u128::from(span) * u128::from(self.rate) + first.unsigned_abs();
        Capacity { offered, unused: None, in_transit: 0 }
    }
}
