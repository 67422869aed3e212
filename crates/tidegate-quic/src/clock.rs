//! quinn's clock: nanoseconds from the start of the run. A tick is never earlier than the simulation's time.

use std::time::{Duration, Instant};

use tidegate_sim::host::{Span, Time, tick_at, time_of_tick};

/// A tick of quinn's clock.
const TICK: Span = Span::from_picos(1000);

/// quinn's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// When the run begins.
    origin: Instant,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        #[allow(
            clippy::disallowed_methods,
            reason = "only differences from it are used, and it cannot be made otherwise"
        )]
        let origin = Instant::now();
        Clock { origin }
    }

    pub(crate) fn origin(self) -> Instant {
        self.origin
    }

    pub(crate) fn instant(self, time: Time) -> Instant {
        self.origin + Duration::from_nanos(tick_at(time, TICK))
    }

    /// The tick after the one of `time`.
    pub(crate) fn next(self, time: Time) -> Time {
        time_of_tick(tick_at(time, TICK).saturating_add(1), TICK)
    }

    pub(crate) fn time(self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.origin).as_nanos();
        time_of_tick(u64::try_from(since).unwrap_or(u64::MAX), TICK)
    }
}

/// A time of quinn's as ours.
pub(crate) fn span(duration: Duration) -> Span {
    Span::from_picos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000))
}
