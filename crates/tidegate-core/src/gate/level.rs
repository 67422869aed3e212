//! What is in a gate's bucket, as a column: the tokens of a token-bucket rate law or, at a gate
//! without that law, those of its policer's contract ([`super::Policer`]).
//!
//! A state may be told ahead of its time; it is in force from its own instant on.

use std::collections::VecDeque;

use crate::gcra::{Interval, Limit};
use crate::plan::{GatePlan, RatePlan};
use crate::units::{PICOS_PER_SECOND, Time};

/// See the module.
#[derive(Clone, Debug)]
pub(super) enum Level {
    /// Tokens in 10⁻¹² bit since an instant, growing by `rate` up to `burst`.
    Law { rate: i128, burst: i128, now: (Time, i128), told: VecDeque<(Time, i128)> },
    /// TAT since an instant; units of so many bytes.
    Policer { limit: Limit, unit: u32, now: Interval, told: VecDeque<(Time, Interval)> },
}

impl Level {
    /// A full bucket; `None` where the gate has none.
    pub(super) fn new(plan: &GatePlan) -> Option<Level> {
        if let RatePlan::TokenBucket { rate, burst_bytes, .. } = plan.rate {
            let burst = i128::from(burst_bytes) * 8 * i128::from(PICOS_PER_SECOND);
            let now = (Time::ZERO, burst);
            return Some(Level::Law { rate: i128::from(rate.bps()), burst, now, told: VecDeque::new() });
        }
        let limit = *plan.police.as_ref()?.contract();
        Some(Level::Policer { limit, unit: plan.policed_unit(), now: limit.at_rest(), told: VecDeque::new() })
    }

    /// The law's tokens at `at`, after a unit has taken its own.
    pub(super) fn tell_law(&mut self, at: Time, tokens: i128) {
        if let Level::Law { told, .. } = self {
            told.push_back((at, tokens));
        }
    }

    /// The policer's TAT since `at`.
    pub(super) fn tell_policer(&mut self, at: Time, tat: Interval) {
        if let Level::Policer { told, .. } = self {
            told.push_back((at, tat));
        }
    }

    /// Bytes on the wire in the bucket at `at`, asked in order of time.
    pub(super) fn bytes_at(&mut self, at: Time) -> f64 {
        match self {
            Level::Law { rate, burst, now, told } => {
                while let Some(next) = told.pop_front_if(|(since, _)| *since <= at) {
                    *now = next;
                }
                let elapsed = at.saturating_since(now.0).picos();
                let tokens = (now.1 + i128::from(elapsed) * *rate).min(*burst);
                tokens as f64 / (8 * PICOS_PER_SECOND) as f64
            }
            Level::Policer { limit, unit, now, told } => {
                while let Some((_, tat)) = told.pop_front_if(|(since, _)| *since <= at) {
                    *now = tat;
                }
                limit.level(*now, at.picos()) * f64::from(*unit)
            }
        }
    }
}
