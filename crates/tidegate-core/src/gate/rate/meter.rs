//! The capacity of a rate law over slots of time, walked apart from the server, which may be ahead.

use crate::gate::rate::{Cursor, Profile};
use crate::plan::{Course, RatePlan};
use crate::random::Stream;
use crate::units::{Measured, PICOS_PER_SECOND, Time};

/// A walk over the capacity of a law that the network does not set.
#[derive(Clone, Debug)]
pub enum CapacityMeter {
    /// So much work per second.
    Constant(u64),
    /// Piecewise constant speeds.
    Profile(Box<Profile>),
    /// Delivery opportunities.
    Opportunities(Cursor),
}

impl CapacityMeter {
    /// At the start of the law of `plan`, which draws from `stream`; `None`: the network sets its rate. A law without
    /// limit counts as the largest speed.
    #[must_use]
    pub fn new(plan: &RatePlan, stream: Stream) -> Option<CapacityMeter> {
        Some(match plan.course() {
            Course::Unlimited => CapacityMeter::Constant(u64::MAX),
            Course::Constant(speed) => CapacityMeter::Constant(speed),
            Course::Pieces => CapacityMeter::Profile(Box::new(Profile::new(plan, stream))),
            Course::Opportunities(trace, at_end) => {
                CapacityMeter::Opportunities(Cursor::new(trace.clone(), at_end))
            }
            Course::Set(_) => return None,
        })
    }

    /// What the law offers over `[from, until)`, in 10⁻¹² units of work; slots follow each other.
    pub fn offered(&mut self, from: Time, until: Time) -> u128 {
        let slot = Measured { from, until };
        let overlap = |begin, end| u128::from(slot.overlap(begin, end));
        match self {
            CapacityMeter::Constant(speed) => overlap(from, until) * u128::from(*speed),
            CapacityMeter::Profile(profile) => {
                let mut work = 0;
                loop {
                    let stretch = profile.now();
                    work += overlap(stretch.from, stretch.until) * u128::from(stretch.speed);
                    if stretch.until >= until {
                        break work;
                    }
                    profile.advance();
                }
            }
            CapacityMeter::Opportunities(cursor) => {
                let mut bytes = 0u128;
                while cursor.at() < until {
                    bytes += u128::from(cursor.bytes());
                    cursor.step();
                }
                bytes * 8 * u128::from(PICOS_PER_SECOND)
            }
        }
    }
}

/// Work per second of so much work in 10⁻¹² units over `[from, until)`, rounded down.
#[must_use]
pub fn mean_speed(offered: u128, from: Time, until: Time) -> u64 {
    let span = u128::from(until.saturating_since(from).picos().max(1));
    u64::try_from(offered / span).unwrap_or(u64::MAX)
}
