//! The credit-based shaper (IEEE 802.1Q 8.6.8.2): a class sends while its credit is not below zero.
//!
//! Credit is counted in 10⁻¹² bit, so that a picosecond at any whole slope is a whole number. It rises at the idle slope
//! while packets of the class wait, and up to zero while none do; while one is sent it changes by the idle slope less the
//! rate of the link (the send slope). Credit above zero is lost when no packet waits (8.6.8.2 d).
//!
//! DEVIATION: where the class has a time gate too, the standard scales the idle slope by the share of the cycle in which
//! the gate is open; here the slope is as written, while the gate is open, and the credit stands still while it is closed.

use super::openings::Openings;
use crate::plan::CreditPlan;
use crate::units::{PICOS_PER_SECOND, Span, Time};

/// The credit of one class.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    idle_slope: i128,
    most: i128,
    least: i128,
    credit: i128,
    /// The credit is that of this instant: of the end of a transmission, where that is later than now.
    as_of: Time,
    waits: bool,
}

fn of_bytes(bytes: u64) -> i128 {
    i128::from(bytes) * 8 * i128::from(PICOS_PER_SECOND)
}

impl Credit {
    pub(super) fn new(plan: &CreditPlan) -> Credit {
        Credit {
            idle_slope: i128::from(plan.idle_slope.bps()),
            most: plan.most.map_or(i128::MAX, of_bytes),
            least: plan.least.map_or(i128::MIN, |bytes| -of_bytes(bytes)),
            credit: 0,
            as_of: Time::ZERO,
            waits: false,
        }
    }

    /// Brings the credit to `now`. Packets have waited since it was brought to an instant last, or none has; `waits` says
    /// whether any does from now on.
    pub(super) fn advance(&mut self, now: Time, waits: bool, openings: Option<&Openings>) {
        if now >= self.as_of {
            let open = match openings {
                None => now.saturating_since(self.as_of).picos(),
                Some(openings) => openings.open_between(self.as_of, now),
            };
            let grown = self.credit + i128::from(open) * self.idle_slope;
            self.credit = grown.min(if self.waits { self.most } else { 0 });
            self.as_of = now;
        }
        self.waits = waits;
    }

    /// When the credit is not below zero, from `now` on, if packets wait and none is sent.
    pub(super) fn ready(&self, now: Time, openings: Option<&Openings>) -> Time {
        let from = now.max(self.as_of);
        if self.credit >= 0 {
            return from;
        }
        let picos = (-self.credit + self.idle_slope - 1) / self.idle_slope;
        let picos = u64::try_from(picos).unwrap_or(u64::MAX);
        match openings {
            None => self.as_of.saturating_add(Span::from_picos(picos)).max(from),
            Some(openings) => openings.after_open(self.as_of, picos).max(from),
        }
    }

    /// A transmission of so many bits begins, which ends at `end`.
    pub(super) fn sends(&mut self, now: Time, end: Time, bits: u64) {
        let gained = i128::from(end.saturating_since(now).picos()) * self.idle_slope;
        let sent = i128::from(bits) * i128::from(PICOS_PER_SECOND);
        self.credit = (self.credit + gained - sent).max(self.least).min(self.most);
        self.as_of = end;
    }

    #[cfg(test)]
    pub(super) fn bits(&self) -> f64 {
        self.credit as f64 / 1e12
    }
}
