//! The rate in force at a gate over time. The rate law itself cannot be asked: it may already be ahead of that time.

use crate::gate::rate::{Cursor, Profile};
use crate::plan::{Course, RatePlan, RecordLevel};
use crate::random::Stream;
use crate::units::{Span, Time};

/// The rate in force, read at times that never decrease.
#[derive(Clone, Debug)]
pub(super) enum RateInForce {
    /// Constant until it is set anew.
    Fixed(f64),
    /// Piecewise constant.
    Profile(Box<Profile>),
    /// Bits of the delivery opportunities in the present interval of length `every`, per second.
    Opportunities {
        cursor: Cursor,
        every: Span,
        /// When the present interval began.
        begin: Time,
        bps: f64,
    },
}

/// The shortest interval over which opportunities are averaged.
const OPPORTUNITY_INTERVAL: Span = Span::from_millis(100);

impl RateInForce {
    /// `stream` is a copy of the rate law's own.
    pub(super) fn new(plan: &RatePlan, level: RecordLevel, stream: Stream) -> RateInForce {
        if plan.counts_packets() {
            return RateInForce::Fixed(f64::NAN);
        }
        match plan.course() {
            Course::Unlimited => RateInForce::Fixed(f64::NAN),
            Course::Constant(bps) => RateInForce::Fixed(bps as f64),
            Course::Set(initial) => RateInForce::Fixed(initial.bps() as f64),
            Course::Pieces => RateInForce::Profile(Box::new(Profile::new(plan, stream))),
            Course::Opportunities(trace, at_end) => RateInForce::Opportunities {
                cursor: Cursor::new(trace.clone(), at_end),
                every: match level {
                    RecordLevel::Every(every) => every.max(OPPORTUNITY_INTERVAL),
                    _ => OPPORTUNITY_INTERVAL,
                },
                begin: Time::NEVER,
                bps: 0.0,
            },
        }
    }

    pub(super) fn next_change(&self) -> Time {
        match self {
            RateInForce::Profile(profile) => profile.now().until,
            _ => Time::NEVER,
        }
    }

    /// Bits per second at `at`.
    #[inline(always)]
    pub(super) fn at(&mut self, at: Time) -> f64 {
        if let RateInForce::Fixed(bps) = self { *bps } else { self.varying_at(at) }
    }

    #[inline(never)]
    fn varying_at(&mut self, at: Time) -> f64 {
        match self {
            RateInForce::Fixed(bps) => *bps,
            RateInForce::Profile(profile) => {
                profile.seek(at);
                profile.now().speed as f64
            }
            RateInForce::Opportunities { cursor, every, begin, bps } => {
                let interval = Time::from_picos(at.picos() / every.picos() * every.picos());
                if *begin != interval {
                    let mut bytes = 0u64;
                    while cursor.at() < interval.saturating_add(*every) {
                        if cursor.at() >= interval {
                            bytes += u64::from(cursor.bytes());
                        }
                        cursor.step();
                    }
                    *begin = interval;
                    *bps = bytes as f64 * 8.0 / every.as_secs_f64();
                }
                *bps
            }
        }
    }
}
