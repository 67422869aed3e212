//! Admission: who gets how much of which pool, and who waits. A plain object: it knows
//! neither gates nor packets, and time is an argument.
//!
//! A call asks for all that it needs at once and gets all of it or nothing. One that waits
//! holds nothing, so calls cannot lock each other, in whatever order their pools are named.
//!
//! Call order: [`Admission::ask`], [`Admission::give_back`], [`Admission::withdraw`] and
//! [`Admission::abandon`] as it happens, at times that never decrease; after the last three
//! [`Admission::take_granted`] until it has no more.

use std::collections::VecDeque;

use crate::gate::{Precision, Quantiles};
use crate::plan::{Demand, PoolOrder, PoolPlan};
use crate::units::{Measured, Rate, Time};

/// What a call of one kind asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallClass {
    /// One for each pool.
    pub demands: Vec<Demand>,
    /// It waits where it does not fit; otherwise it is refused.
    pub waits: bool,
}

/// What comes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It has all that it asked for.
    Granted,
    /// It stands in line.
    Waits,
    /// It gets nothing.
    Refused,
}

/// A call that waited and now has what it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its class.
    pub class: usize,
    /// The caller's own name for it.
    pub caller: u64,
}

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
    /// Left the line because their patience was over.
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

/// The pools and everyone who has, or wants, something of them.
#[derive(Debug)]
pub struct Admission {
    pools: Vec<Pool>,
    classes: Vec<Class>,
    /// In the order of asking.
    line: VecDeque<Waiting>,
    granted: VecDeque<Grant>,
    measured: Measured,
}

#[derive(Debug)]
struct Pool {
    capacity: u64,
    order: PoolOrder,
    reserved: u64,
    waiting: u64,
    /// The two above hold since.
    since: Time,
    reserved_area: u128,
    waiting_area: u128,
    reserved_max: u64,
    waiting_max: u64,
    counts: CallCounts,
}

#[derive(Debug)]
struct Class {
    demands: Vec<Demand>,
    waits: bool,
    /// Even alone it would not fit.
    hopeless: bool,
    /// Calls that have what they asked for.
    held: u64,
    counts: CallCounts,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    class: usize,
    caller: u64,
    asked: Time,
}

impl CallCounts {
    fn new(precision: Precision) -> CallCounts {
        let waits = Quantiles::new(precision);
        CallCounts { offered: 0, carried: 0, refused: 0, waited: 0, withdrawn: 0, abandoned: 0, waits }
    }

    /// Share of the calls that did not get at once what they asked for; `None`: there were none.
    #[must_use]
    pub fn blocked(&self) -> Option<f64> {
        (self.offered > 0).then(|| (self.refused + self.waited) as f64 / self.offered as f64)
    }

    /// Share of the calls that left the line because their patience was over; `None`: there were none.
    #[must_use]
    pub fn abandoned_share(&self) -> Option<f64> {
        (self.offered > 0).then(|| self.abandoned as f64 / self.offered as f64)
    }

    fn ask(&mut self, answer: Answer) {
        self.offered += 1;
        match answer {
            Answer::Granted => {
                self.carried += 1;
                self.waits.record(crate::units::Span::ZERO);
            }
            Answer::Waits => self.waited += 1,
            Answer::Refused => self.refused += 1,
        }
    }
}

impl Pool {
    fn free(&self) -> u64 {
        self.capacity - self.reserved
    }

    /// What has been so until `at` is booked.
    fn book(&mut self, at: Time, measured: Measured) {
        let span = u128::from(measured.overlap(self.since, at));
        self.reserved_area += span * u128::from(self.reserved);
        self.waiting_area += span * u128::from(self.waiting);
        if span > 0 {
            self.reserved_max = self.reserved_max.max(self.reserved);
            self.waiting_max = self.waiting_max.max(self.waiting);
        }
        self.since = self.since.max(at);
    }
}

impl Admission {
    /// Empty pools. What is counted is counted in `measured`.
    #[must_use]
    pub fn new(
        pools: &[PoolPlan],
        classes: Vec<CallClass>,
        measured: Measured,
        precision: Precision,
    ) -> Admission {
        let pool = |plan: &PoolPlan| Pool {
            capacity: plan.capacity.bps(),
            order: plan.order,
            reserved: 0,
            waiting: 0,
            since: Time::ZERO,
            reserved_area: 0,
            waiting_area: 0,
            reserved_max: 0,
            waiting_max: 0,
            counts: CallCounts::new(precision),
        };
        let class = |(demands, waits): (Vec<Demand>, bool)| Class {
            hopeless: demands.iter().any(|demand| {
                pools.get(demand.pool).is_none_or(|plan| demand.rate.bps() > plan.capacity.bps())
            }),
            demands,
            waits,
            held: 0,
            counts: CallCounts::new(precision),
        };
        Admission {
            pools: pools.iter().map(pool).collect(),
            classes: classes.into_iter().map(|row| class((merged(row.demands), row.waits))).collect(),
            line: VecDeque::new(),
            granted: VecDeque::new(),
            measured,
        }
    }

    /// A call of `class` is made at `at`. It may pass those that wait only at pools whose
    /// order is [`PoolOrder::FirstFit`]. One that could never fit is refused, whatever its
    /// class says.
    pub fn ask(&mut self, at: Time, class: usize, caller: u64) -> Answer {
        let kind = &self.classes[class];
        let passes = |demand: &Demand| {
            let pool = &self.pools[demand.pool];
            pool.free() >= demand.rate.bps() && (pool.waiting == 0 || pool.order == PoolOrder::FirstFit)
        };
        let answer = if kind.hopeless {
            Answer::Refused
        } else if kind.demands.iter().all(passes) {
            Answer::Granted
        } else if kind.waits {
            Answer::Waits
        } else {
            Answer::Refused
        };
        match answer {
            Answer::Granted => self.reserve(at, class),
            Answer::Waits => {
                self.line.push_back(Waiting { class, caller, asked: at });
                self.count_waiting(at, class, true);
            }
            Answer::Refused => {}
        }
        self.count(class, at, |counts| counts.ask(answer));
        answer
    }

    /// A call of `class` is over; says whether one had anything to give back.
    pub fn give_back(&mut self, at: Time, class: usize) -> bool {
        let Class { held, demands, .. } = &mut self.classes[class];
        if *held == 0 {
            return false;
        }
        *held -= 1;
        for demand in demands {
            let pool = &mut self.pools[demand.pool];
            pool.book(at, self.measured);
            pool.reserved -= demand.rate.bps();
        }
        self.serve_line(at);
        true
    }

    /// A call that waits is given up because nothing needs it any more; says whether it was there.
    /// Those behind it may move up.
    pub fn withdraw(&mut self, at: Time, class: usize, caller: u64) -> bool {
        self.leave_line(at, class, caller, |counts| counts.withdrawn += 1)
    }

    /// The patience of a call that waits is over; says whether it was there. Those behind it may
    /// move up.
    pub fn abandon(&mut self, at: Time, class: usize, caller: u64) -> bool {
        self.leave_line(at, class, caller, |counts| counts.abandoned += 1)
    }

    fn leave_line(&mut self, at: Time, class: usize, caller: u64, what: impl Fn(&mut CallCounts)) -> bool {
        let is_it = |waiting: &Waiting| (waiting.class, waiting.caller) == (class, caller);
        let Some(place) = self.line.iter().position(is_it) else { return false };
        let Some(Waiting { asked, .. }) = self.line.remove(place) else { return false };
        self.count_waiting(at, class, false);
        self.count(class, asked, what);
        self.serve_line(at);
        true
    }

    /// The next call that has come through since.
    pub fn take_granted(&mut self) -> Option<Grant> {
        self.granted.pop_front()
    }

    /// Grants what can be granted, from the first in line on.
    fn serve_line(&mut self, at: Time) {
        let mut shut = vec![false; self.pools.len()];
        let mut place = 0;
        while place < self.line.len() && !shut.iter().all(|shut| *shut) {
            let Waiting { class, caller, asked } = self.line[place];
            let demands = &self.classes[class].demands;
            let passes =
                |demand: &Demand| !shut[demand.pool] && self.pools[demand.pool].free() >= demand.rate.bps();
            if demands.iter().all(passes) {
                self.line.remove(place);
                self.count_waiting(at, class, false);
                self.reserve(at, class);
                self.count(class, asked, |counts| {
                    counts.carried += 1;
                    counts.waits.record(at.saturating_since(asked));
                });
                self.granted.push_back(Grant { class, caller });
                continue;
            }
            for demand in demands {
                let pool = &self.pools[demand.pool];
                // Nobody passes it here, or there is nothing left to pass for.
                shut[demand.pool] |= pool.order == PoolOrder::Asked || pool.free() == 0;
            }
            place += 1;
        }
    }

    fn reserve(&mut self, at: Time, class: usize) {
        let Class { held, demands, .. } = &mut self.classes[class];
        *held += 1;
        for demand in demands {
            let pool = &mut self.pools[demand.pool];
            pool.book(at, self.measured);
            pool.reserved += demand.rate.bps();
            debug_assert!(pool.reserved <= pool.capacity, "looked at before");
        }
    }

    fn count_waiting(&mut self, at: Time, class: usize, joins: bool) {
        for demand in &self.classes[class].demands {
            let pool = &mut self.pools[demand.pool];
            pool.book(at, self.measured);
            if joins { pool.waiting += 1 } else { pool.waiting -= 1 }
        }
    }

    /// Counts something of a call made at `asked`, in its class and its pools.
    fn count(&mut self, class: usize, asked: Time, what: impl Fn(&mut CallCounts)) {
        if asked < self.measured.from || asked >= self.measured.until {
            return;
        }
        let Class { counts, demands, .. } = &mut self.classes[class];
        what(counts);
        for demand in demands {
            if let Some(pool) = self.pools.get_mut(demand.pool) {
                what(&mut pool.counts);
            }
        }
    }

    /// What is reserved of a pool now.
    #[must_use]
    pub fn reserved(&self, pool: usize) -> Rate {
        Rate::from_bps(self.pools[pool].reserved)
    }

    /// Calls of a class that have what they asked for.
    #[must_use]
    pub fn held(&self, class: usize) -> u64 {
        self.classes[class].held
    }

    /// How many calls stand in line.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.line.len()
    }

    /// A pool inside the measured time, if nothing changes any more.
    #[must_use]
    pub fn pool_use(&self, pool: usize) -> PoolUse {
        let Pool { since, reserved, waiting, .. } = self.pools[pool];
        let rest = u128::from(self.measured.overlap(since, Time::NEVER));
        let span = self.measured.overlap(Time::ZERO, Time::NEVER).max(1) as f64;
        let lasts = |now: u64, most: u64| if rest > 0 { most.max(now) } else { most };
        let pool = &self.pools[pool];
        PoolUse {
            reserved_mean_bps: (pool.reserved_area + rest * u128::from(reserved)) as f64 / span,
            reserved_max: Rate::from_bps(lasts(reserved, pool.reserved_max)),
            waiting_mean: (pool.waiting_area + rest * u128::from(waiting)) as f64 / span,
            waiting_max: lasts(waiting, pool.waiting_max),
            waiting,
        }
    }

    /// The calls for a pool.
    #[must_use]
    pub fn pool_counts(&self, pool: usize) -> &CallCounts {
        &self.pools[pool].counts
    }

    /// The calls of a class.
    #[must_use]
    pub fn class_counts(&self, class: usize) -> &CallCounts {
        &self.classes[class].counts
    }
}

/// One demand for each pool.
fn merged(demands: Vec<Demand>) -> Vec<Demand> {
    let mut sums: Vec<Demand> = Vec::new();
    for Demand { pool, rate } in demands {
        match sums.iter_mut().find(|sum| sum.pool == pool) {
            Some(sum) => sum.rate = Rate::from_bps(sum.rate.bps().saturating_add(rate.bps())),
            None => sums.push(Demand { pool, rate }),
        }
    }
    sums
}

#[cfg(test)]
mod tests;
