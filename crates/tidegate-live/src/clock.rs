//! The one real clock: nanoseconds of `CLOCK_MONOTONIC` since a run's time zero.

use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use tidegate_core::units::{Span, Time};

pub(crate) const NANOS_PER_SECOND: i64 = 1_000_000_000;
pub(crate) const PICOS_PER_NANO: u64 = 1_000;

/// The time of a run; every thread of the run reads the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Time zero on `CLOCK_MONOTONIC`, in nanoseconds.
    zero: i64,
}

impl Clock {
    /// A clock whose time zero is so far ahead.
    #[must_use]
    pub fn starting_in(lead: Duration) -> Clock {
        let lead = i64::try_from(lead.as_nanos()).unwrap_or(i64::MAX / 4);
        Clock { zero: monotonic_nanos() + lead }
    }

    /// The time of the run, zero before it has begun.
    #[must_use]
    #[inline]
    pub fn now(self) -> Time {
        let since = (monotonic_nanos() - self.zero).max(0) as u64;
        Time::from_picos(since * PICOS_PER_NANO)
    }

    /// Whether time zero has come: until then [`Clock::now`] says zero, and nothing is due.
    #[must_use]
    #[inline]
    pub fn has_begun(self) -> bool {
        monotonic_nanos() >= self.zero
    }

    /// Nanoseconds of `CLOCK_MONOTONIC` at `at`, rounded up: never before.
    #[must_use]
    #[inline]
    pub fn monotonic(self, at: Time) -> i64 {
        let nanos = i64::try_from(at.picos().div_ceil(PICOS_PER_NANO)).unwrap_or(i64::MAX / 4);
        self.zero.saturating_add(nanos)
    }

    /// Sleeps until `at`, and not at all if that is over.
    pub fn sleep_until(self, at: Time) {
        let until = time_spec(self.monotonic(at));
        // Interrupted by a signal it goes on: the instant is absolute.
        while clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &until)
            == Err(nix::errno::Errno::EINTR)
        {}
    }

    /// How long it is from now to `at`; zero if that is over.
    #[must_use]
    pub fn until(self, at: Time) -> Span {
        at.saturating_since(self.now())
    }
}

/// Nanoseconds as the kernel takes them.
pub(crate) fn time_spec(nanos: i64) -> TimeSpec {
    TimeSpec::new(nanos / NANOS_PER_SECOND, nanos % NANOS_PER_SECOND)
}

#[inline]
pub(crate) fn monotonic_nanos() -> i64 {
    match clock_gettime(ClockId::CLOCK_MONOTONIC) {
        Ok(now) => now.tv_sec() * NANOS_PER_SECOND + now.tv_nsec(),
        // The call cannot fail with this clock and a valid place to write to.
        Err(error) => unreachable!("CLOCK_MONOTONIC: {error}"),
    }
}

/// A stamp older than this means that the clock was set, not that a packet waited.
const OLDEST: i64 = 10_000_000;

/// How long ago it was `stamp` on `CLOCK_REALTIME`, in nanoseconds; zero where the stamp makes
/// no sense.
#[inline]
pub(crate) fn age(stamp: i64) -> Span {
    let Ok(now) = clock_gettime(ClockId::CLOCK_REALTIME) else { return Span::ZERO };
    let age = now.tv_sec() * NANOS_PER_SECOND + now.tv_nsec() - stamp;
    if (0..OLDEST).contains(&age) { Span::from_picos(age as u64 * PICOS_PER_NANO) } else { Span::ZERO }
}

/// What happens at `at` is before it.
pub(crate) fn after(at: Time) -> Time {
    at.saturating_add(Span::from_picos(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_time_zero_the_clock_says_zero_and_the_run_has_not_begun() {
        let clock = Clock::starting_in(Duration::from_millis(50));
        assert_eq!((clock.now(), clock.has_begun()), (Time::ZERO, false));
        clock.sleep_until(Time::ZERO);
        assert!(clock.has_begun());
    }
}
