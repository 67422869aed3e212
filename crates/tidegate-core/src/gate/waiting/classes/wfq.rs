//! Weighted fair queueing, packet by packet (Parekh and Gallager, "A Generalized Processor Sharing Approach to Flow
//! Control", IEEE/ACM Transactions on Networking 1(3), 1993, §III): the packet is sent next that would be the first to
//! end if all classes with packets were served at once, each in proportion to its weight (the fluid reference).
//!
//! Virtual time is counted in 10⁻¹² bit for each unit of weight, divided by the least common multiple of the weights, so
//! that every finish time is a whole number (up to a multiple of 10⁹). Virtual time itself is rounded down where the set of
//! classes changes between two of its whole numbers: by less than 10⁻¹² bit each time.

use std::collections::VecDeque;

use crate::plan::WfqPlan;
use crate::units::{PICOS_PER_SECOND, Time};

/// The largest common multiple that is used; beyond it finish times are rounded down.
const MOST_PARTS: u128 = 1_000_000_000;

/// The fluid reference, and the finish time of each packet that waits.
#[derive(Clone, Debug)]
pub(super) struct Wfq {
    /// Work of a picosecond.
    rate: u128,
    /// Parts of 10⁻¹² bit.
    parts: u128,
    now: Time,
    virtual_time: u128,
    /// Work of the fluid that is less than a whole number of virtual time.
    rest: u128,
    classes: Vec<Class>,
}

#[derive(Clone, Debug)]
struct Class {
    weight: u128,
    /// It has packets in the fluid reference.
    is_busy: bool,
    /// When its last packet ends there.
    finish: u128,
    /// When each packet ends there that still waits here.
    finishes: VecDeque<u128>,
}

fn common_multiple(weights: &[u32]) -> u128 {
    fn divisor(one: u128, other: u128) -> u128 {
        if other == 0 { one } else { divisor(other, one % other) }
    }
    let multiple = weights.iter().fold(1, |so_far, weight| {
        let weight = u128::from(*weight);
        (so_far / divisor(so_far, weight) * weight).min(MOST_PARTS)
    });
    multiple.max(1)
}

impl Wfq {
    pub(super) fn new(plan: &WfqPlan) -> Wfq {
        let parts = common_multiple(&plan.weights);
        let class = |weight: &u32| Class {
            weight: u128::from(*weight),
            is_busy: false,
            finish: 0,
            finishes: VecDeque::new(),
        };
        Wfq {
            rate: u128::from(plan.link.bps()) * parts,
            parts,
            now: Time::ZERO,
            virtual_time: 0,
            rest: 0,
            classes: plan.weights.iter().map(class).collect(),
        }
    }

    /// A packet of so many bits comes.
    pub(super) fn arrive(&mut self, now: Time, class: usize, bits: u64) {
        self.advance(now);
        let work = u128::from(bits) * u128::from(PICOS_PER_SECOND) * self.parts;
        let arrives = &mut self.classes[class];
        let start = if arrives.is_busy { arrives.finish } else { arrives.finish.max(self.virtual_time) };
        arrives.finish = start + work / arrives.weight;
        arrives.is_busy = true;
        arrives.finishes.push_back(arrives.finish);
    }

    /// The class whose first packet ends first in the fluid reference; of several, the first.
    pub(super) fn choose(&self) -> Option<usize> {
        let waiting = self.classes.iter().enumerate();
        let firsts = waiting.filter_map(|(number, class)| Some((*class.finishes.front()?, number)));
        firsts.min().map(|(_, number)| number)
    }

    /// The first packet of the class waits no more.
    pub(super) fn leave(&mut self, class: usize) {
        self.classes[class].finishes.pop_front();
    }

    /// Brings the fluid to `now`.
    fn advance(&mut self, now: Time) {
        let picos = u128::from(now.saturating_since(self.now).picos());
        self.now = now;
        let mut work = self.rest;
        let mut is_first = true;
        loop {
            let busy = self.classes.iter().filter(|class| class.is_busy);
            let weight: u128 = busy.clone().map(|class| class.weight).sum();
            let Some(next) = busy.map(|class| class.finish).min() else {
                self.rest = 0;
                return;
            };
            if std::mem::take(&mut is_first) {
                work += picos * self.rate;
            }
            let need = next.saturating_sub(self.virtual_time) * weight;
            if need > work {
                self.virtual_time += work / weight;
                self.rest = work % weight;
                return;
            }
            work -= need;
            self.virtual_time = self.virtual_time.max(next);
            let ended = self.classes.iter_mut().filter(|class| class.is_busy && class.finish <= next);
            ended.for_each(|class| class.is_busy = false);
        }
    }
}
