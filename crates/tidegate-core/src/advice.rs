//! Throughput advice: the rate that a network tells a flow, as SCONE carries it (draft-ietf-scone-protocol).
//!
//! Some packets of a flow carry a rate signal of seven bits. Its sender writes [`RateSignal::UNKNOWN`]; each gate on the way that gives
//! advice lowers it ([`crate::plan::AdvicePlan`]); the receiver notes what comes ([`AdviceHeard`]).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::units::{Rate, Span, Time};

/// The monitoring period: advice expires when nothing was heard for so long, and of what was heard within it the lowest applies
/// (section "Monitoring Period" of the draft).
pub const MONITORING_PERIOD: Span = Span::from_picos(67_000_000_000_000);

/// A rate signal: 0 to 126 are rates, 127 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RateSignal(u8);

/// 10^(k/20) for k from 0 to 19, in 10⁻¹⁵.
const STEPS: [u64; 20] = [
    1_000_000_000_000_000,
    1_122_018_454_301_963,
    1_258_925_411_794_167,
    1_412_537_544_622_754,
    1_584_893_192_461_113,
    1_778_279_410_038_923,
    1_995_262_314_968_880,
    2_238_721_138_568_340,
    2_511_886_431_509_580,
    2_818_382_931_264_454,
    3_162_277_660_168_379,
    3_548_133_892_335_755,
    3_981_071_705_534_973,
    4_466_835_921_509_631,
    5_011_872_336_272_723,
    5_623_413_251_903_491,
    6_309_573_444_801_932,
    7_079_457_843_841_379,
    7_943_282_347_242_815,
    8_912_509_381_337_455,
];

impl RateSignal {
    /// No advice: what a sender writes.
    pub const UNKNOWN: RateSignal = RateSignal(127);

    /// Of the low seven bits.
    #[must_use]
    pub const fn from_bits(bits: u8) -> RateSignal {
        RateSignal(bits & 127)
    }

    /// The number in the packet, 0 to 127.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// 100 kbit/s × 10^(n/20), rounded to a whole bit/s (section "Rate Signals" of the draft); `None`: unknown.
    #[must_use]
    pub fn rate(self) -> Option<Rate> {
        if self == RateSignal::UNKNOWN {
            return None;
        }
        let (decades, step) = (u32::from(self.0) / 20, usize::from(self.0) % 20);
        let exact = u128::from(STEPS[step]) * 10u128.pow(5 + decades);
        let unit = 10u128.pow(15);
        Some(Rate::from_bps(((exact + unit / 2) / unit) as u64))
    }

    /// The highest that is not above `rate`; 0 where `rate` is below the least that can be said.
    #[must_use]
    pub fn not_above(rate: Rate) -> RateSignal {
        let above = (0..127u8).find(|n| RateSignal(*n).rate().is_some_and(|each| each > rate));
        RateSignal(above.unwrap_or(127).saturating_sub(1))
    }
}

/// The advice that an endpoint has heard, as far as it still matters.
#[derive(Clone, Debug, Default)]
pub struct AdviceHeard {
    /// When each came. They rise from front to back: what a later and lower one outlived is gone.
    heard: VecDeque<(Time, RateSignal)>,
}

impl AdviceHeard {
    /// A rate signal came at `at`, not before the one before it. An unknown one says nothing.
    pub fn note(&mut self, at: Time, signal: RateSignal) {
        if signal == RateSignal::UNKNOWN {
            return;
        }
        while self.heard.back().is_some_and(|(_, before)| *before >= signal) {
            self.heard.pop_back();
        }
        self.heard.push_back((at, signal));
    }

    /// The lowest advice heard in the monitoring period before `at`, not before the last call; unknown: there was none.
    pub fn in_force(&mut self, at: Time) -> RateSignal {
        while self.heard.front().is_some_and(|(since, _)| at.saturating_since(*since) >= MONITORING_PERIOD) {
            self.heard.pop_front();
        }
        self.heard.front().map_or(RateSignal::UNKNOWN, |(_, signal)| *signal)
    }
}
