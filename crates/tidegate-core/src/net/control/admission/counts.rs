//! Counters of calls and pools.

use super::Answer;
use crate::gate::{Precision, Quantiles};
use crate::plan::{PoolOrder, PoolPlan};
use crate::units::{Measured, Rate, Span, Time};

/// Calls that were made inside the measured time, and what came of them.
#[derive(Clone, Debug)]
pub struct CallCounts {
    /// Made; one that is refused and made again counts again.
    pub offered: u64,
    /// Granted, at once or later.
    pub carried: u64,
    /// Refused.
    pub refused: u64,
    /// Had to wait.
    pub waited: u64,
    /// Given up while they waited, because nothing needed them any more.
    pub withdrawn: u64,
    /// No longer waited because their patience was over.
    pub abandoned: u64,
    /// From asking to the grant, of those granted.
    pub waits: Quantiles,
}

/// A pool inside the measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoolUse {
    /// Time average of what is reserved, bit/s.
    pub reserved_mean_bps: f64,
    /// Its largest value.
    pub reserved_max: Rate,
    /// Time average of the calls that wait for it.
    pub waiting_mean: f64,
    /// Their largest number.
    pub waiting_max: u64,
    /// How many wait when the run ends.
    pub waiting: u64,
}

/// A pool, and how it has been used.
#[derive(Debug)]
pub(super) struct BandwidthPool {
    pub(super) capacity: u64,
    pub(super) order: PoolOrder,
    pub(super) reserved: u64,
    /// Calls that wait for it.
    pub(super) queued: u64,
    /// Since when `reserved` and `queued` hold.
    since: Time,
    reserved_area: u128,
    waiting_area: u128,
    reserved_max: u64,
    waiting_max: u64,
    pub(super) counts: CallCounts,
}

impl CallCounts {
    pub(super) fn new(precision: Precision) -> CallCounts {
        let waits = Quantiles::new(precision);
        CallCounts { offered: 0, carried: 0, refused: 0, waited: 0, withdrawn: 0, abandoned: 0, waits }
    }

    /// Share of the calls that did not get at once what they asked for; `None`: there were no calls.
    #[must_use]
    pub fn blocked(&self) -> Option<f64> {
        (self.offered > 0).then(|| (self.refused + self.waited) as f64 / self.offered as f64)
    }

    /// Share of the calls that gave up because their patience was over; `None`: there were no calls.
    #[must_use]
    pub fn abandoned_share(&self) -> Option<f64> {
        (self.offered > 0).then(|| self.abandoned as f64 / self.offered as f64)
    }

    /// Counts a call that is made, and its answer.
    pub(super) fn ask(&mut self, answer: Answer) {
        self.offered += 1;
        match answer {
            Answer::Granted => {
                self.carried += 1;
                self.waits.record(Span::ZERO);
            }
            Answer::Waits => self.waited += 1,
            Answer::Refused => self.refused += 1,
        }
    }
}

impl BandwidthPool {
    pub(super) fn new(plan: &PoolPlan, precision: Precision) -> BandwidthPool {
        BandwidthPool {
            capacity: plan.capacity.bps(),
            order: plan.order,
            reserved: 0,
            queued: 0,
            since: Time::ZERO,
            reserved_area: 0,
            waiting_area: 0,
            reserved_max: 0,
            waiting_max: 0,
            counts: CallCounts::new(precision),
        }
    }

    /// The capacity that is not reserved.
    pub(super) fn free(&self) -> u64 {
        self.capacity - self.reserved
    }

    /// Adds the time until `at`, with the use in force, to the sums.
    pub(super) fn count_until(&mut self, at: Time, measured: Measured) {
        let span = u128::from(measured.overlap(self.since, at));
        self.reserved_area += span * u128::from(self.reserved);
        self.waiting_area += span * u128::from(self.queued);
        if span > 0 {
            self.reserved_max = self.reserved_max.max(self.reserved);
            self.waiting_max = self.waiting_max.max(self.queued);
        }
        self.since = self.since.max(at);
    }

    /// The pool inside the measured time, if nothing changes any more.
    pub(super) fn in_use(&self, measured: Measured) -> PoolUse {
        let BandwidthPool { since, reserved, queued, .. } = *self;
        let rest = u128::from(measured.overlap(since, Time::NEVER));
        let span = measured.overlap(Time::ZERO, Time::NEVER).max(1) as f64;
        let lasts = |now: u64, most: u64| if rest > 0 { most.max(now) } else { most };
        PoolUse {
            reserved_mean_bps: (self.reserved_area + rest * u128::from(reserved)) as f64 / span,
            reserved_max: Rate::from_bps(lasts(reserved, self.reserved_max)),
            waiting_mean: (self.waiting_area + rest * u128::from(queued)) as f64 / span,
            waiting_max: lasts(queued, self.waiting_max),
            waiting: queued,
        }
    }
}
