//! Gates whose rate is fed back: the capacity of another gate, published at the end of each
//! slot, arrives after a lag and sets the rate. Gates hold no references to each other: the
//! network carries the values.
//!
//! A value that arrives at an instant comes before any service that begins then. Cycles do no
//! harm: a slot's value counts the time before its end only, and is complete when that comes.

use crate::effcap::CapacityEstimator;
use crate::gate::Gate;
use crate::net::control::Control;
use crate::net::settings::seed;
use crate::net::signals::Signal;
use crate::plan::{FollowPlan, Plan, RatePlan, SignalKind, SignalPlan};
use crate::random::Seed;
use crate::units::{Rate, Time};

/// All gates that follow others.
#[derive(Debug, Default)]
pub(super) struct Followers {
    rows: Vec<Follower>,
}

#[derive(Debug)]
struct Follower {
    gate: usize,
    plan: FollowPlan,
    signal: Signal,
    estimator: CapacityEstimator<u128>,
}

impl Followers {
    pub(super) fn new(plan: &Plan, gates: &mut [Gate]) -> Followers {
        let mut followers = Followers::default();
        for (gate, row) in plan.gates.iter().enumerate() {
            let RatePlan::Follow(follow) = &row.rate else { continue };
            followers.rows.push(Follower::new(gate, *follow, plan, seed(plan), gates));
        }
        followers
    }
}

/// Each follower is a group of its own.
impl Control for Followers {
    fn groups(&self) -> usize {
        self.rows.len()
    }

    /// When a slot ends for a follower, or a value arrives.
    fn next_wakeup(&self, follower: usize) -> Time {
        let signal = &self.rows[follower].signal;
        signal.slot_end().min(signal.next_value())
    }

    fn handle_wakeup(&mut self, at: Time, follower: usize, gates: &mut [Gate]) {
        while self.next_wakeup(follower) <= at {
            self.rows[follower].step(gates);
        }
    }

    fn needs(&self, follower: usize) -> &[usize] {
        std::slice::from_ref(&self.rows[follower].gate)
    }

    fn sets(&self, follower: usize) -> &[usize] {
        self.needs(follower)
    }
}

impl Follower {
    fn new(gate: usize, follow: FollowPlan, plan: &Plan, seed: Seed, gates: &mut [Gate]) -> Follower {
        let FollowPlan { gate: source, every, lag, .. } = follow;
        let published = SignalPlan { gate: source, kind: SignalKind::Capacity, every, lag };
        Follower {
            gate,
            signal: Signal::new(&published, plan, seed, gates),
            estimator: CapacityEstimator::new(follow.blocks),
            plan: follow,
        }
    }

    /// A slot ends, or the first value under way arrives.
    fn step(&mut self, gates: &mut [Gate]) {
        if self.signal.slot_end() <= self.signal.next_value() {
            self.signal.publish(gates);
        } else if let Some((at, value)) = self.signal.poll_value() {
            let rate = self.rate(value);
            gates[self.gate].set_rate(at, rate);
        }
    }

    fn rate(&mut self, sample: u64) -> Rate {
        let mean = self.estimator.push(u128::from(sample));
        let share = self.plan.share.of(mean.sum, mean.count);
        // The scenario crate refuses a peak below the least rate.
        share.max(self.plan.min).min(self.plan.peak.unwrap_or(Rate::from_bps(u64::MAX)))
    }
}
