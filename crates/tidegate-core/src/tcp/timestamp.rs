//! The clock of RFC 7323 timestamps: milliseconds, starting at 1 because 0 means "none".

use crate::units::{Span, Time};

const MILLISECOND: u64 = 1_000_000_000;

/// The timestamp of an instant.
#[inline]
pub(super) fn at(now: Time) -> u32 {
    (now.picos() / MILLISECOND + 1) as u32
}

/// When a segment was sent whose timestamp is echoed at `now`: whole milliseconds ago, at
/// least one.
pub(super) fn sent_at(echo: u32, now: Time) -> Time {
    let millis = u64::from(at(now).wrapping_sub(echo)).max(1);
    Time::ZERO.saturating_add(now.saturating_since(Time::ZERO).saturating_sub(Span::from_millis(millis)))
}

/// Whether the echo is of an earlier timestamp than `stamp`; 0: there is none.
pub(super) fn is_before(echo: u32, stamp: u32) -> bool {
    echo != 0 && echo.wrapping_sub(stamp).cast_signed() < 0
}

/// Whether the echo is of a segment that was sent before `sent`.
pub(super) fn answers_before(echo: u32, sent: Time) -> bool {
    is_before(echo, at(sent))
}
