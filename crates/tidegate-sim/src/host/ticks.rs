//! The clock of a stack that counts in ticks, beside ours, which counts picoseconds.

use tidegate_core::units::{Span, Time};

/// What the clock of a stack with this tick shows at `now`, rounded up: a stack that asked to be woken at a tick finds that tick reached,
/// and never wakes before its own timer.
///
/// ```
/// use tidegate_sim::host::{Span, Time, tick_at, time_of_tick};
/// let nanosecond = Span::from_picos(1_000);
/// assert_eq!(tick_at(Time::from_picos(1_001), nanosecond), 2);
/// assert_eq!(tick_at(time_of_tick(2, nanosecond), nanosecond), 2);
/// ```
#[must_use]
pub fn tick_at(now: Time, tick: Span) -> u64 {
    now.picos().div_ceil(tick.picos())
}

/// When the clock of a stack shows so many ticks; [`Time::NEVER`] where that is beyond our time.
#[must_use]
pub fn time_of_tick(ticks: u64, tick: Span) -> Time {
    ticks.checked_mul(tick.picos()).map_or(Time::NEVER, Time::from_picos)
}
