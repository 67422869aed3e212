//! An application that reads no faster than a rate, in a simulation and at a real socket.

use crate::units::{PICOS_PER_SECOND, Rate, Span, Time};

/// A reading takes as much as this takes, and a segment at least.
const ONE_READING: Span = Span::from_millis(1);

/// How fast an application reads, and when it may read again.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    rate: Rate,
    most: u64,
    ready_at: Time,
}

impl Pace {
    /// It reads at `rate` what comes in segments of `mss` bytes.
    #[must_use]
    pub fn new(rate: Rate, mss: u32) -> Pace {
        let bits = u128::from(rate.bps()) * u128::from(ONE_READING.picos()) / u128::from(PICOS_PER_SECOND);
        let most = u64::try_from(bits / 8).unwrap_or(u64::MAX).max(u64::from(mss));
        Pace { rate, most, ready_at: Time::ZERO }
    }

    /// Bytes of one reading at most.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// It does not read before this.
    #[must_use]
    pub fn ready_at(&self) -> Time {
        self.ready_at
    }

    /// It has read `bytes` at `now`, and reads on when they would have come at its rate.
    pub fn handle_read(&mut self, now: Time, bytes: u64) {
        let bits = u128::from(bytes) * 8 * u128::from(PICOS_PER_SECOND);
        let picos = bits.div_ceil(u128::from(self.rate.bps().max(1)));
        self.ready_at = now.saturating_add(Span::from_picos(u64::try_from(picos).unwrap_or(u64::MAX)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_as_far_apart_as_the_rate_has_it() {
        let mut slow = Pace::new(Rate::from_bps(1_000_000), 1000);
        // 125 bytes come in a millisecond: less than a segment.
        assert_eq!((slow.most(), slow.ready_at()), (1000, Time::ZERO));
        slow.handle_read(Time::from_picos(5), 1000);
        assert_eq!(slow.ready_at(), Time::from_picos(5) + Span::from_millis(8));
        assert_eq!(Pace::new(Rate::from_bps(1_000_000_000), 1000).most(), 125_000);
    }
}
