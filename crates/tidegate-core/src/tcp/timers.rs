//! What a sender waits for: one timer with four purposes, as in Linux (`icsk_pending`), and the pacer. The timer of delayed ACKs
//! is the receiving half's ([`super::receiver`]).

use crate::units::{KERNEL_TICK, Span, Time};

/// `TCP_TIMEOUT_MIN_US` in Linux 6.18.
const LEAST: Span = Span::from_millis(2);

/// Until the next tick, in the mean.
pub(super) const HALF_TICK: Span = Span::from_picos(KERNEL_TICK.picos() / 2);

/// What a timer set for any time, and [`LEAST`], takes longer in the mean.
pub(super) const LATE: Span = Span::from_picos(LEAST.picos() + KERNEL_TICK.picos());

/// How long a timer of Linux takes that is set for `wait` and the least time (`usecs_to_jiffies`, `calc_index` of its timers): so many
/// whole ticks, and what is left of the tick in which it is set. DEVIATION: that is half a tick, for hosts whose clocks are not known.
pub(super) fn on_ticks(wait: Span) -> Span {
    let ticks = (wait + LEAST).picos().div_ceil(KERNEL_TICK.picos());
    KERNEL_TICK.saturating_mul(ticks) + HALF_TICK
}

/// A time in ticks as the kernel's clock counts it in the mean, which it reads at both its ends.
pub(super) fn nearest_ticks(time: Span) -> u64 {
    (time + HALF_TICK).picos() / KERNEL_TICK.picos()
}

/// What the timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The retransmission time-out (RFC 6298).
    TimeOut,
    /// A tail loss probe (RFC 8985 §7.2).
    Probe,
    /// A probe of the receiver's window, which lets nothing go (RFC 9293 §3.8.6.1).
    Persist,
    /// Segments that may be reordered are lost if they have not come by then (RFC 8985 §6.2 step 5).
    Reorder,
}

/// The timers of a sender. Setting the one for another purpose ends what it was set for.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Timers {
    /// When the timer expires; `NEVER`: it is off.
    expires: Time,
    /// When the pacer lets the next data go; `NEVER`: it holds nothing back.
    paced: Time,
    purpose: Purpose,
}

impl Timers {
    /// None is set.
    pub(super) fn new() -> Timers {
        Timers { expires: Time::NEVER, paced: Time::NEVER, purpose: Purpose::TimeOut }
    }

    /// The earliest of them.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.expires.min(self.paced)
    }

    /// When the timer expires; `NEVER`: it is off.
    #[inline]
    pub(super) fn expires(&self) -> Time {
        self.expires
    }

    #[inline]
    pub(super) fn purpose(&self) -> Purpose {
        self.purpose
    }

    #[inline]
    pub(super) fn is_off(&self) -> bool {
        self.expires == Time::NEVER
    }

    /// Sets the timer.
    #[inline]
    pub(super) fn set(&mut self, purpose: Purpose, expires: Time) {
        self.purpose = purpose;
        self.expires = expires;
    }

    /// It expires then, for the purpose that it has; `NEVER`: it does not.
    #[inline]
    pub(super) fn move_to(&mut self, expires: Time) {
        self.expires = expires;
    }

    /// None of them runs any more.
    pub(super) fn stop(&mut self) {
        *self = Timers::new();
    }

    /// Data wait for the pacer until then.
    #[inline]
    pub(super) fn pace(&mut self, until: Time) {
        self.paced = until;
    }

    /// Whether they wait until then.
    #[inline]
    pub(super) fn paces_until(&self, until: Time) -> bool {
        self.paced == until
    }

    /// When the pacer lets the next data go, where the timer does not expire by then.
    #[inline]
    pub(super) fn paced_alone(&self) -> Option<Time> {
        (self.paced < self.expires).then_some(self.paced)
    }

    /// Whether what the pacer held back may go at `now`: said once.
    #[inline]
    pub(super) fn take_paced(&mut self, now: Time) -> bool {
        let due = now >= self.paced;
        if due {
            self.paced = Time::NEVER;
        }
        due
    }
}
