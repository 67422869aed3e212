//! An event source and when it wakes, as one number that sorts by time, then by source.

use crate::net::sources::EventSource;
use crate::units::Time;

/// The number of a source that wakes at `at`.
#[inline(always)]
pub(super) fn entry(at: Time, source: EventSource) -> u128 {
    u128::from(at.picos()) << 32 | u128::from(source)
}

/// The source that a number stands for, and when it wakes.
#[inline(always)]
pub(super) fn source_of(entry: u128) -> (Time, EventSource) {
    (Time::from_picos((entry >> 32) as u64), entry as EventSource)
}
