//! Admission: who gets how much of which pool, and who waits. A plain object: it knows
//! neither gates nor packets, and time is an argument.
//!
//! A call asks for all that it needs at once and gets all of it or nothing. One that waits
//! holds nothing, so calls cannot lock each other, in whatever order their pools are named.
//!
//! Call order: [`Admission::ask`], [`Admission::give_back`], [`Admission::withdraw`] and
//! [`Admission::abandon`] as it happens, at times that never decrease; after the last three
//! [`Admission::poll_granted`] until it has no more.

mod counts;

use std::collections::VecDeque;

pub use counts::{CallCounts, PoolUse};

use crate::gate::Precision;
use crate::plan::{Demand, PoolOrder, PoolPlan};
use crate::units::{Measured, Rate, Time};

use counts::BandwidthPool;

/// The request of calls of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallClass {
    /// One for each pool.
    pub demands: Vec<Demand>,
    /// It waits where it does not fit; otherwise it is refused.
    pub waits: bool,
}

/// The answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It has all that it asked for.
    Granted,
    /// It waits until it is granted or given up.
    Waits,
    /// It gets nothing.
    Refused,
}

/// A call that waited and now has what it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its class.
    pub class: usize,
    /// Its number, which whoever made it chose.
    pub call: u64,
}

/// The pools and everyone who has, or wants, something of them.
#[derive(Debug)]
pub struct Admission {
    pools: Vec<BandwidthPool>,
    classes: Vec<Class>,
    /// In the order of asking.
    waiting: VecDeque<WaitingCall>,
    granted: VecDeque<Grant>,
    measured: Measured,
}

#[derive(Debug)]
struct Class {
    demands: Vec<Demand>,
    waits: bool,
    /// It would not fit into the empty pool.
    hopeless: bool,
    /// Calls that have what they asked for.
    held: u64,
    counts: CallCounts,
}

#[derive(Clone, Copy, Debug)]
struct WaitingCall {
    class: usize,
    call: u64,
    asked: Time,
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
            pools: pools.iter().map(|plan| BandwidthPool::new(plan, precision)).collect(),
            classes: classes.into_iter().map(|row| class((merged(row.demands), row.waits))).collect(),
            waiting: VecDeque::new(),
            granted: VecDeque::new(),
            measured,
        }
    }

    /// A call of `class` is made at `at`. It may pass those that wait only at pools whose
    /// order is [`PoolOrder::FirstFit`]. One that could never fit is refused, whatever its
    /// class says.
    pub fn ask(&mut self, at: Time, class: usize, call: u64) -> Answer {
        let kind = &self.classes[class];
        let passes = |demand: &Demand| {
            let pool = &self.pools[demand.pool];
            pool.free() >= demand.rate.bps() && (pool.queued == 0 || pool.order == PoolOrder::FirstFit)
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
                self.waiting.push_back(WaitingCall { class, call, asked: at });
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
            pool.count_until(at, self.measured);
            pool.reserved -= demand.rate.bps();
        }
        self.serve_waiting(at);
        true
    }

    /// A call that waits is given up because nothing needs it any more; says whether it was there.
    /// Those behind it may move up.
    pub fn withdraw(&mut self, at: Time, class: usize, call: u64) -> bool {
        self.stop_waiting(at, class, call, |counts| counts.withdrawn += 1)
    }

    /// The patience of a call that waits is over; says whether it was there. Those behind it may
    /// move up.
    pub fn abandon(&mut self, at: Time, class: usize, call: u64) -> bool {
        self.stop_waiting(at, class, call, |counts| counts.abandoned += 1)
    }

    fn stop_waiting(&mut self, at: Time, class: usize, call: u64, what: impl Fn(&mut CallCounts)) -> bool {
        let is_it = |waiting: &WaitingCall| (waiting.class, waiting.call) == (class, call);
        let Some(place) = self.waiting.iter().position(is_it) else { return false };
        let Some(WaitingCall { asked, .. }) = self.waiting.remove(place) else { return false };
        self.count_waiting(at, class, false);
        self.count(class, asked, what);
        self.serve_waiting(at);
        true
    }

    /// The next call that waited and has been granted.
    pub fn poll_granted(&mut self) -> Option<Grant> {
        self.granted.pop_front()
    }

    /// Grants what can be granted, from the call that has waited longest on.
    fn serve_waiting(&mut self, at: Time) {
        let mut shut = vec![false; self.pools.len()];
        let mut place = 0;
        while place < self.waiting.len() && !shut.iter().all(|shut| *shut) {
            let WaitingCall { class, call, asked } = self.waiting[place];
            let demands = &self.classes[class].demands;
            let passes =
                |demand: &Demand| !shut[demand.pool] && self.pools[demand.pool].free() >= demand.rate.bps();
            if demands.iter().all(passes) {
                self.waiting.remove(place);
                self.count_waiting(at, class, false);
                self.reserve(at, class);
                self.count(class, asked, |counts| {
                    counts.carried += 1;
                    counts.waits.record(at.saturating_since(asked));
                });
                self.granted.push_back(Grant { class, call });
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
            pool.count_until(at, self.measured);
            pool.reserved += demand.rate.bps();
            debug_assert!(pool.reserved <= pool.capacity, "looked at before");
        }
    }

    fn count_waiting(&mut self, at: Time, class: usize, joins: bool) {
        for demand in &self.classes[class].demands {
            let pool = &mut self.pools[demand.pool];
            pool.count_until(at, self.measured);
            if joins { pool.queued += 1 } else { pool.queued -= 1 }
        }
    }

    /// Counts something of a call made at `asked`, in its class and its pools.
    fn count(&mut self, class: usize, asked: Time, what: impl Fn(&mut CallCounts)) {
        if !self.measured.holds(asked) {
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

    /// The capacity of a pool that is reserved now.
    #[must_use]
    pub fn reserved(&self, pool: usize) -> Rate {
        Rate::from_bps(self.pools[pool].reserved)
    }

    /// Calls of a class that have what they asked for.
    #[must_use]
    pub fn held(&self, class: usize) -> u64 {
        self.classes[class].held
    }

    /// How many calls wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// A pool inside the measured time, if nothing changes any more.
    #[must_use]
    pub fn pool_use(&self, pool: usize) -> PoolUse {
        self.pools[pool].in_use(self.measured)
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
