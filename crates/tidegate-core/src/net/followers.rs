//! Gates whose rate is fed back: the capacity of another gate, published at the end of each
//! slot, arrives after a lag and sets the rate. Gates hold no references to each other: the
//! network carries the values.
//!
//! A value that arrives at an instant comes before any service that begins then. Cycles do no
//! harm: a slot's value counts the time before its end only, and is complete when that comes.

use crate::effcap::Estimator;
use crate::gate::Gate;
use crate::net::signals::Signal;
use crate::net::{Seed, seed};
use crate::plan::{FollowPlan, Plan, RatePlan, SignalKind, SignalPlan};
use crate::units::{Rate, Time};

/// Marks a gate that follows nobody.
const NONE: u32 = u32::MAX;

/// All gates that follow others.
#[derive(Debug, Default)]
pub(super) struct Followers {
    rows: Vec<Follower>,
    /// The follower that each gate is; empty where none is.
    places: Vec<u32>,
}

#[derive(Debug)]
struct Follower {
    gate: usize,
    plan: FollowPlan,
    signal: Signal,
    estimator: Estimator<u128>,
}

impl Followers {
    pub(super) fn new(plan: &Plan, gates: &mut [Gate]) -> Followers {
        let mut followers = Followers::default();
        for (gate, row) in plan.gates.iter().enumerate() {
            let RatePlan::Follow(follow) = &row.rate else { continue };
            followers.places.resize(plan.gates.len(), NONE);
            followers.places[gate] = followers.rows.len() as u32;
            followers.rows.push(Follower::new(gate, *follow, plan, seed(plan), gates));
        }
        followers
    }

    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// The follower that a gate is.
    #[inline]
    pub(super) fn of_gate(&self, gate: usize) -> Option<usize> {
        let place = *self.places.get(gate)?;
        (place != NONE).then_some(place as usize)
    }

    /// The gate that a follower is.
    pub(super) fn gate(&self, follower: usize) -> usize {
        self.rows[follower].gate
    }

    /// When a slot ends for a follower, or a value arrives.
    pub(super) fn next(&self, follower: usize) -> Time {
        let signal = &self.rows[follower].signal;
        signal.slot_end().min(signal.arrives())
    }

    /// Everything of a follower that is due by `at`, which is now: nothing else happens before.
    pub(super) fn advance(&mut self, follower: usize, at: Time, gates: &mut [Gate]) {
        while self.next(follower) <= at {
            self.rows[follower].step(gates);
        }
    }
}

impl Follower {
    fn new(gate: usize, follow: FollowPlan, plan: &Plan, seed: Seed, gates: &mut [Gate]) -> Follower {
        let FollowPlan { gate: source, every, lag, .. } = follow;
        let published = SignalPlan { gate: source, kind: SignalKind::Capacity, every, lag };
        Follower {
            gate,
            signal: Signal::new(&published, plan, seed, gates),
            estimator: Estimator::new(follow.blocks),
            plan: follow,
        }
    }

    /// A slot ends, or the first value under way arrives.
    fn step(&mut self, gates: &mut [Gate]) {
        if self.signal.slot_end() <= self.signal.arrives() {
            self.signal.publish(gates);
        } else if let Some((at, value, _)) = self.signal.arrive() {
            let rate = self.rate(value);
            gates[self.gate].set_rate(at, rate);
        }
    }

    fn rate(&mut self, sample: u64) -> Rate {
        let mean = self.estimator.push(u128::from(sample));
        let share = self.plan.share.of(mean.sum, mean.count);
        // A peak below the least rate is refused before.
        share.max(self.plan.min).min(self.plan.peak.unwrap_or(Rate::from_bps(u64::MAX)))
    }
}
