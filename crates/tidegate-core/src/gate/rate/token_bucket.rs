//! A token bucket: tokens arrive at `rate` until there are `burst` of them. A unit starts when its tokens are there and
//! is then sent at `peak`, or at once where there is no peak. The bucket is full at the start, unless it is told what it holds.
//!
//! With a burst of its own, the peak is a second bucket: a unit starts when its tokens are in both, takes them from both,
//! and leaves at once (a dual-rate shaper).
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
    /// Units leave at this rate; `None`: at once.
    peak: Option<Serializer>,
    /// The bucket of the peak rate, as of the same instant.
    second: Option<Second>,
    free: Time,
    measured: Measured,
    /// Tokens in the bucket, and in that of the peak rate, when the measured time began.
    at_opening: Option<(i128, i128)>,
}

/// A bucket of the peak rate.
#[derive(Clone, Debug)]
struct Second {
    rate: u64,
    burst: i128,
    tokens: i128,
}

impl Second {
    fn new(rate: Rate, burst_bytes: u64) -> Second {
        let burst = 8 * tokens_of(burst_bytes);
        Second { rate: rate.bps(), burst, tokens: burst }
    }

    /// Tokens `elapsed` picoseconds later, if none are taken before.
    fn tokens_after(&self, elapsed: u64) -> i128 {
        (self.tokens + i128::from(elapsed) * i128::from(self.rate)).min(self.burst)
    }

    /// Picoseconds until `need` tokens are there, `elapsed` from now; rounded down.
    fn wait_after(&self, elapsed: u64, need: i128) -> i128 {
        (need - self.tokens_after(elapsed)).max(0) / i128::from(self.rate)
    }
}

/// The tokens of so many bits.
fn tokens_of(bits: u64) -> i128 {
    i128::from(bits) * i128::from(PICOS_PER_SECOND)
}

impl TokenBucket {
    /// A bucket of `burst_bytes` with `initial_bytes` in it (`None`: it is full), counted in `measured`; `rate` > 0.
    /// `peak` comes with the depth of its own bucket, if it has one.
    #[must_use]
    pub fn new(
        rate: Rate,
        burst_bytes: u64,
        initial_bytes: Option<u64>,
        peak: Option<(Rate, Option<u64>)>,
        measured: Measured,
    ) -> TokenBucket {
        let burst = 8 * tokens_of(burst_bytes);
        let (peak, second) = match peak {
            None => (None, None),
            Some((peak, None)) => (Some(Serializer::new(peak.bps())), None),
            Some((peak, Some(bytes))) => (None, Some(Second::new(peak, bytes))),
        };
        TokenBucket {
            rate: rate.bps(),
            burst,
            tokens: initial_bytes.map_or(burst, |bytes| 8 * tokens_of(bytes)).min(burst),
            as_of: Time::ZERO,
            peak,
            second,
            free: Time::ZERO,
            measured,
            at_opening: None,
        }
    }

    pub(super) fn admits(&self, wire_bytes: u32) -> bool {
        let need = 8 * tokens_of(u64::from(wire_bytes));
        need <= self.burst && self.second.as_ref().is_none_or(|second| need <= second.burst)
    }

    /// Whether a unit that arrives at the idle server finds its tokens, rounded as its wait would be.
    pub(super) fn begins_at(&self, arrival: Time, bits: u64) -> bool {
        self.wait_at(arrival, tokens_of(bits)) == 0
    }

    /// When a unit would begin, as [`TokenBucket::transmit`] says.
    pub(super) fn next_start(&self, arrival: Time, bits: u64) -> Time {
        let ready = arrival.max(self.free);
        Time::from_picos(ready.picos().saturating_add(self.wait_at(ready, tokens_of(bits)) as u64))
    }

    pub(super) fn transmit(&mut self, arrival: Time, bits: u64) -> Service {
        let ready = arrival.max(self.free);
        if self.at_opening.is_none() && ready >= self.measured.from {
            self.at_opening = Some(self.both_at(self.measured.from));
        }
        let need = tokens_of(bits);
        let wait = self.wait_at(ready, need);
        let start = Time::from_picos(ready.picos().saturating_add(wait as u64));
        // Where another bucket makes it wait longer, this one may become full meanwhile.
        self.tokens = (self.tokens_at(ready) + wait * i128::from(self.rate)).min(self.burst.max(need)) - need;
        if let Some(second) = &mut self.second {
            let waited = start.saturating_since(self.as_of).picos();
            second.tokens = second.tokens_after(waited) - need;
        }
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

    /// Tokens in both buckets at `at`, if none are taken before; none in the second where there is none.
    fn both_at(&self, at: Time) -> (i128, i128) {
        let elapsed = at.saturating_since(self.as_of).picos();
        (self.tokens_at(at), self.second.as_ref().map_or(0, |second| second.tokens_after(elapsed)))
    }

    /// Picoseconds from `ready` until `need` tokens are there. Rounded down: a bucket may go below zero by less than a
    /// picosecond's tokens.
    fn wait_at(&self, ready: Time, need: i128) -> i128 {
        let wait = (need - self.tokens_at(ready)).max(0) / i128::from(self.rate);
        let elapsed = ready.saturating_since(self.as_of).picos();
        self.second.as_ref().map_or(wait, |second| wait.max(second.wait_after(elapsed, need)))
    }

    /// The tokens of the measured time, and those in the bucket when it began; no more than the peak lets through.
    pub(super) fn capacity(&self, measured: Measured) -> Capacity {
        let span = u128::from(measured.overlap(Time::ZERO, Time::NEVER));
        let opening = self.at_opening.unwrap_or_else(|| self.both_at(self.measured.from));
        let passes = |rate: u64, held: i128| span * u128::from(rate) + held.max(0).unsigned_abs();
        let mut offered = passes(self.rate, opening.0);
        if let Some(server) = &self.peak {
            offered = offered.min(passes(server.speed(), 0));
        }
        if let Some(second) = &self.second {
            offered = offered.min(passes(second.rate, opening.1));
        }
        Capacity { offered, unused: None, in_transit: 0 }
    }
}
