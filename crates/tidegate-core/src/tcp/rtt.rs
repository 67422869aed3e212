//! The round-trip estimator and the retransmission time-out (RFC 6298).
//!
//! Four kinds: exact (picoseconds), the same with Linux's bound of the variance, in ticks of a coarse clock, and a constant.
//!
//! **Ticks.** With a clock of granularity G = `tick` > 0 there is one free-running clock. It ticks at the
//! multiples of G, or as long before them as [`Estimator::start_clock`] says. A sample is the number of ticks between sending and
//! acknowledgement, at least 1; the estimator keeps eighths and quarters of a tick in
//! integers, as 4.4BSD and ns-2 do (their truncation keeps the variance above zero, which matters when
//! the round trip is shorter than a tick); the time-out is a whole number of ticks n, and it
//! expires on the n-th tick after it was started, as BSD's slow timer does: up to one tick
//! early. ns-2 rounds samples in the same way and expires n ticks later to the dot; with
//! its 10 ms tick the difference is below 10 ms.

use crate::plan::RtoPlan;
use crate::units::{Span, Time};

/// What time-outs are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpiryRule {
    /// A time-out that never changes.
    Fixed,
    /// An estimator in picoseconds.
    Exact,
    /// An estimator in picoseconds whose least time-out bounds the variance that is added to the smoothed round trip: Linux's
    /// `tcp_rtt_estimator`. `mean` and `largest` are mdev and mdev_max.
    Variance { mean: i64, largest: i64 },
    /// An estimator in eighths (srtt) and quarters (rttvar) of `tick` picoseconds. The clock has done
    /// `phase` / 2³² of a tick at time 0.
    Ticks { phase: u32, tick: u64 },
}

/// The part of a tick that has passed at time 0, in 2⁻³² ticks, on a host that had been up for
/// `uptime` then.
pub(super) fn phase_of(uptime: Span, tick: u64) -> u32 {
    // Below 2³², because the remainder is below the tick.
    ((u128::from(uptime.picos() % tick) << 32) / u128::from(tick)) as u32
}

/// Picoseconds of a tick that have passed at time 0, by [`phase_of`].
pub(super) fn passed(phase: u32, tick: u64) -> u64 {
    ((u128::from(phase) * u128::from(tick)) >> 32) as u64
}

/// Smoothed round-trip time, its variation and the time-out that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Estimator {
    min: Span,
    max: Span,
    // What samples and timers touch.
    kind: ExpiryRule,
    /// With ticks: timers started before this, since the last one was, expire at `on_tick`.
    tick_ends: Time,
    on_tick: Time,
    /// Picoseconds, or eighths of a tick; 0 before the first sample.
    srtt: i64,
    /// Picoseconds, or quarters of a tick.
    rttvar: i64,
    /// Before back-off.
    base: Span,
    /// In force: `base` doubled at each time-out, at most `max`.
    rto: Span,
}

impl Estimator {
    pub(super) fn new(plan: &RtoPlan, bounds_variance: bool) -> Estimator {
        let (kind, min, max, initial) = match *plan {
            RtoPlan::Fixed { rto, .. } => (ExpiryRule::Fixed, rto, rto, rto),
            RtoPlan::Estimated { min, max, initial, tick } if tick == Span::ZERO => {
                let kind = if bounds_variance {
                    ExpiryRule::Variance { mean: 0, largest: 0 }
                } else {
                    ExpiryRule::Exact
                };
                (kind, min, max, initial)
            }
            RtoPlan::Estimated { min, max, initial, tick } => {
                (ExpiryRule::Ticks { phase: 0, tick: tick.picos() }, min, max, initial)
            }
        };
        Estimator {
            kind,
            srtt: 0,
            rttvar: 0,
            min,
            max,
            base: initial,
            rto: initial,
            tick_ends: Time::ZERO,
            on_tick: Time::ZERO,
        }
    }

    /// The host had been up for `uptime` at time 0. Before any timer is started.
    pub(super) fn start_clock(&mut self, uptime: Span) {
        if let ExpiryRule::Ticks { phase, tick } = &mut self.kind {
            *phase = phase_of(uptime, *tick);
        }
    }

    /// A segment sent at `sent` was acknowledged at `now`.
    #[inline]
    pub(super) fn sample(&mut self, sent: Time, now: Time) {
        let estimate = match self.kind {
            ExpiryRule::Fixed => return,
            ExpiryRule::Exact => self.sample_exact(now.saturating_since(sent)),
            ExpiryRule::Variance { .. } => return self.sample_of_round(sent, now, true),
            ExpiryRule::Ticks { phase, tick } => {
                let passed = passed(phase, tick);
                let ticks = |at: Time| at.picos().saturating_add(passed) / tick;
                self.sample_ticks(ticks(now) - ticks(sent), tick)
            }
        };
        // RFC 6298 §2.4, §2.5.
        self.base = estimate.max(self.min).min(self.max);
        // RFC 6298 §5 (last note): a sample ends the back-off.
        self.set_rto(self.base);
    }

    /// A segment sent at `sent` was acknowledged at `now`; with `round_over` all is acknowledged that was out when the
    /// last round of samples began.
    #[inline]
    pub(super) fn sample_of_round(&mut self, sent: Time, now: Time, round_over: bool) {
        let ExpiryRule::Variance { mean, largest } = &mut self.kind else { return self.sample(sent, now) };
        let rtt = now.saturating_since(sent).picos().max(1).cast_signed();
        let least = self.min.picos().cast_signed();
        if self.srtt == 0 {
            self.srtt = rtt;
            *mean = rtt / 2;
            self.rttvar = (2 * rtt).max(least);
            *largest = self.rttvar;
        } else {
            let error = rtt - self.srtt;
            self.srtt = (self.srtt + (error >> 3)).max(1);
            let mut change = error.abs() - *mean;
            // A round trip that falls widens the deviation by an eighth of what one that rises does (the kernel's Eifel).
            if error < 0 && change > 0 {
                change >>= 3;
            }
            *mean += change >> 2;
            if 4 * *mean > *largest {
                *largest = 4 * *mean;
                self.rttvar = self.rttvar.max(*largest);
            }
            if round_over {
                if *largest < self.rttvar {
                    self.rttvar -= (self.rttvar - *largest) >> 2;
                }
                *largest = least;
            }
        }
        self.base = Span::from_picos((self.srtt + self.rttvar).cast_unsigned()).min(self.max);
        self.rto = self.base;
    }

    #[inline]
    fn set_rto(&mut self, rto: Span) {
        if rto != self.rto {
            self.rto = rto;
            self.tick_ends = Time::ZERO;
        }
    }

    #[inline]
    fn sample_exact(&mut self, rtt: Span) -> Span {
        // At least 1 ps, so that zero goes on meaning "no sample yet".
        let rtt = rtt.picos().max(1).cast_signed();
        if self.srtt == 0 {
            // RFC 6298 §2.2.
            self.srtt = rtt;
            self.rttvar = rtt / 2;
        } else {
            // RFC 6298 §2.3, variance first: alpha = 1/8, beta = 1/4.
            self.rttvar += ((self.srtt - rtt).abs() - self.rttvar) >> 2;
            self.srtt = (self.srtt + ((rtt - self.srtt) >> 3)).max(1);
        }
        Span::from_picos((self.srtt + 4 * self.rttvar).unsigned_abs())
    }

    #[inline(never)]
    fn sample_ticks(&mut self, ticks: u64, tick: u64) -> Span {
        let ticks = ticks.max(1).cast_signed();
        if self.srtt == 0 {
            self.srtt = ticks << 3;
            self.rttvar = ticks << 1;
        } else {
            let error = ticks - (self.srtt >> 3);
            self.srtt = (self.srtt + error).max(1);
            self.rttvar = (self.rttvar + error.abs() - (self.rttvar >> 2)).max(1);
        }
        // srtt + 4 rttvar in whole ticks: rttvar counts quarters.
        let whole = ((self.srtt >> 3) + self.rttvar).unsigned_abs();
        Span::from_picos(whole.saturating_mul(tick))
    }

    /// The largest time-out.
    pub(super) fn most(&self) -> Span {
        self.max
    }

    /// The time-out in force.
    #[inline]
    pub(super) fn rto(&self) -> Span {
        self.rto
    }

    /// When a timer started now expires; `now` never goes back.
    #[inline(always)]
    pub(super) fn expiry(&mut self, now: Time) -> Time {
        match self.kind {
            ExpiryRule::Fixed | ExpiryRule::Exact | ExpiryRule::Variance { .. } => {
                now.saturating_add(self.rto)
            }
            ExpiryRule::Ticks { .. } if now < self.tick_ends => self.on_tick,
            ExpiryRule::Ticks { phase, tick } => self.expiry_on_tick(now, passed(phase, tick), tick),
        }
    }

    #[inline(never)]
    fn expiry_on_tick(&mut self, now: Time, passed: u64, tick: u64) -> Time {
        if self.tick_ends != Time::ZERO {
            // At most a tick longer than the time since then, so it does not overflow.
            let ticks = (now.picos() - self.tick_ends.picos()) / tick + 1;
            let since = Span::from_picos(ticks * tick);
            self.tick_ends = self.tick_ends.saturating_add(since);
            self.on_tick = self.on_tick.saturating_add(since);
            return self.on_tick;
        }
        let ticks = (self.rto.picos() / tick).max(1);
        let current = now.picos().saturating_add(passed) / tick;
        let at = |number: u64| Time::from_picos(number.saturating_mul(tick).saturating_sub(passed));
        self.tick_ends = at(current.saturating_add(1));
        self.on_tick = at(current.saturating_add(ticks));
        self.on_tick
    }

    /// RFC 6298 §5.5: doubles the time-out; a fixed one stays.
    pub(super) fn back_off(&mut self) {
        self.set_rto(self.rto.saturating_mul(2).min(self.max));
    }

    /// How often the time-out has doubled since it was measured last.
    pub(super) fn doublings(&self) -> u8 {
        (self.rto.picos() / self.base.picos().max(1)).max(1).ilog2() as u8
    }

    /// RFC 6298 §5.7: the SYN timed out and no sample followed from it; data begin with 3 s
    /// at least.
    pub(super) fn after_lost_syn(&mut self) {
        if self.kind != ExpiryRule::Fixed && self.srtt == 0 {
            self.base = self.base.max(Span::from_secs(3)).min(self.max);
            self.set_rto(self.base);
        }
    }

    /// Smoothed round-trip time; zero before the first sample.
    #[inline]
    pub(super) fn smoothed(&self) -> Span {
        // Never below zero.
        let srtt = self.srtt.cast_unsigned();
        match self.kind {
            ExpiryRule::Ticks { tick, .. } => Span::from_picos(srtt.saturating_mul(tick) / 8),
            ExpiryRule::Fixed | ExpiryRule::Exact | ExpiryRule::Variance { .. } => Span::from_picos(srtt),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The n-th tick after `now`, where n ticks are the time-out, counted from the beginning.
    fn nth_tick(estimator: &Estimator, now: Time) -> Time {
        let ExpiryRule::Ticks { phase, tick } = estimator.kind else { panic!("it has ticks") };
        let passed = passed(phase, tick);
        let ticks = (estimator.rto().picos() / tick).max(1);
        Time::from_picos(((now.picos() + passed) / tick + ticks) * tick - passed)
    }

    proptest! {
        /// Whatever was asked before, and however long ago.
        #[test]
        fn a_timer_expires_on_the_nth_tick(
            tick in prop_oneof![Just(10_000_000_000_u64), Just(500_000_000_000), 1..2_000_000_000_000_u64],
            uptime in 0..10_000_000_000_000_u64,
            min in 0..3_000_000_000_000_u64,
            steps in prop::collection::vec((0..6_u32, 0..1_000_000_000_000_u64, 0..8_u32), 1..200),
        ) {
            let plan = RtoPlan::Estimated {
                min: Span::from_picos(min),
                max: Span::from_secs(60),
                initial: Span::from_secs(3),
                tick: Span::from_picos(tick),
            };
            let mut estimator = Estimator::new(&plan, false);
            estimator.start_clock(Span::from_picos(uptime));
            let mut now = Time::ZERO;
            for (scale, gap, what) in steps {
                let sent = now;
                now += Span::from_picos(gap >> (6 * scale));
                match what {
                    0 => estimator.sample(sent, now),
                    1 => estimator.back_off(),
                    _ => {}
                }
                prop_assert_eq!(estimator.expiry(now), nth_tick(&estimator, now));
            }
        }
    }
}
