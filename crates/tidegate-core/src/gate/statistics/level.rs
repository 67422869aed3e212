//! The level of a gate's bucket, as a column: the tokens of a token-bucket rate law or, at a gate
//! without that law, those of its policer's contract ([`crate::gate::Policer`]).
//!
//! A state may be known ahead of its time; it is in force from its own instant on.

use std::collections::VecDeque;

use crate::gcra::{Interval, Limit};
use crate::plan::{GatePlan, RatePlan};
use crate::units::{PICOS_PER_SECOND, Time};

/// The level of one bucket.
#[derive(Clone, Debug)]
pub(super) enum Level {
    /// Tokens in 10⁻¹² bit at an instant, which grow by `rate` up to `burst`; `known` holds the states that are known ahead.
    Law { rate: i128, burst: i128, now: (Time, i128), known: VecDeque<(Time, i128)> },
    /// The theoretical arrival time of the contract; `known` holds its later values, each with the instant from which it is in force.
    /// Units have `unit` bytes.
    Policer { limit: Limit, unit: u32, now: Interval, known: VecDeque<(Time, Interval)> },
}

impl Level {
    /// The bucket at the start; `None` where the gate has none.
    pub(super) fn new(plan: &GatePlan) -> Option<Level> {
        if let RatePlan::TokenBucket { rate, burst_bytes, initial_bytes, .. } = plan.rate {
            let tokens = |bytes: u64| i128::from(bytes) * 8 * i128::from(PICOS_PER_SECOND);
            let burst = tokens(burst_bytes);
            let now = (Time::ZERO, initial_bytes.map_or(burst, tokens).min(burst));
            return Some(Level::Law { rate: i128::from(rate.bps()), burst, now, known: VecDeque::new() });
        }
        let limit = *plan.police.as_ref()?.contract();
        Some(Level::Policer {
            limit,
            unit: plan.policed_unit(),
            now: limit.at_rest(),
            known: VecDeque::new(),
        })
    }

    /// Notes the law's tokens at `at`, after a unit has taken its own.
    pub(super) fn tell_law(&mut self, at: Time, tokens: i128) {
        if let Level::Law { known, .. } = self {
            known.push_back((at, tokens));
        }
    }

    /// Notes the policer's theoretical arrival time from `at` on.
    pub(super) fn tell_policer(&mut self, at: Time, tat: Interval) {
        if let Level::Policer { known, .. } = self {
            known.push_back((at, tat));
        }
    }

    /// Bytes on the wire in the bucket at `at`, which never decreases from call to call.
    pub(super) fn bytes_at(&mut self, at: Time) -> f64 {
        match self {
            Level::Law { rate, burst, now, known } => {
                while let Some(next) = known.pop_front_if(|(since, _)| *since <= at) {
                    *now = next;
                }
                let elapsed = at.saturating_since(now.0).picos();
                let tokens = (now.1 + i128::from(elapsed) * *rate).min(*burst);
                tokens as f64 / (8 * PICOS_PER_SECOND) as f64
            }
            Level::Policer { limit, unit, now, known } => {
                while let Some((_, tat)) = known.pop_front_if(|(since, _)| *since <= at) {
                    *now = tat;
                }
                limit.level(*now, at.picos()) * f64::from(*unit)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PolicePlan;
    use crate::units::{Rate, Span};

    fn micros(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// A byte each microsecond, 2000 at most.
    fn law() -> GatePlan {
        let rate = Rate::from_bps(8_000_000);
        GatePlan {
            rate: RatePlan::TokenBucket {
                rate,
                burst_bytes: 2000,
                initial_bytes: None,
                peak: None,
                peak_burst_bytes: None,
            },
            ..GatePlan::open("link")
        }
    }

    fn policed() -> GatePlan {
        let increment = Interval::of(1_000_000).expect("a microsecond");
        let peak = Limit::tokens(increment, 2000).expect("a burst");
        let police = Some(PolicePlan { peak, sustained: None, tags: false, per_flow: None });
        GatePlan { police, ..GatePlan::open("link") }
    }

    #[test]
    fn a_gate_without_a_bucket_has_no_level() {
        assert!(Level::new(&GatePlan::open("link")).is_none());
    }

    #[test]
    fn a_state_is_in_force_from_its_instant_on() {
        let bytes = |bytes: i128| bytes * 8 * i128::from(PICOS_PER_SECOND);
        let mut law = Level::new(&law()).expect("a bucket");
        law.tell_law(micros(1000), bytes(500));
        law.tell_law(micros(1200), bytes(100));
        let mut police = Level::new(&policed()).expect("a bucket");
        // Full again when the last byte has come back: 1500 bytes after 1 ms, and 1900 after 1.2 ms.
        for (at, full) in [(1000, 2500), (1200, 3100)] {
            police.tell_policer(micros(at), Interval::of(full * 1_000_000).expect("some time"));
        }
        for level in [&mut law, &mut police] {
            let seen =
                [0, 999, 1000, 1100, 1199, 1200, 1700, 3099, 3100, 9000].map(|at| level.bytes_at(micros(at)));
            assert_eq!(seen, [2000., 2000., 500., 600., 699., 100., 600., 1999., 2000., 2000.]);
        }
    }

    /// A gate with a rate law's bucket and a policer shows the law's level. States of a bucket that is not shown change no level.
    #[test]
    fn the_law_s_bucket_goes_before_the_policer_s() {
        let plan = GatePlan { police: policed().police, ..law() };
        let mut level = Level::new(&plan).expect("a bucket");
        level.tell_policer(Time::ZERO, Interval::of(2_000_000_000).expect("2 ms"));
        assert_eq!(level.bytes_at(Time::ZERO), 2000.0);
        let mut other = Level::new(&policed()).expect("a bucket");
        other.tell_law(Time::ZERO, 0);
        assert_eq!(other.bytes_at(Time::ZERO), 2000.0);
    }
}
