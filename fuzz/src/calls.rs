//! The admission of calls under a list of operations: ask, give back, withdraw, abandon. Whatever the
//! list, no pool is over-committed, what is reserved is what the granted calls asked for, the first
//! in line could not have gone, and in the end everything is back and nobody waits.

use tidegate_core::gate::Precision;
use tidegate_core::net::{Admission, Answer, CallClass, Grant};
use tidegate_core::plan::{Demand, PoolOrder, PoolPlan};
use tidegate_core::units::{Measured, Rate, Span, Time};

/// Bytes of an input that choose the pools and the classes.
const HEADER: usize = POOLS + CLASSES;
const POOLS: usize = 3;
const CLASSES: usize = 4;

/// The automaton, and what must be true of it.
struct Calls {
    admission: Admission,
    pools: Vec<PoolPlan>,
    classes: Vec<CallClass>,
    /// Granted and not given back, by class.
    held: Vec<u64>,
    waiting: Vec<(usize, u64)>,
}

/// Any bytes: pools and classes, then operations.
pub fn run(data: &[u8]) {
    let Some((header, ops)) = data.split_at_checked(HEADER) else { return };
    let pools: Vec<PoolPlan> = header[..POOLS].iter().map(|byte| pool(*byte)).collect();
    let classes: Vec<CallClass> = header[POOLS..].iter().map(|byte| class(*byte)).collect();
    let measured = Measured { from: Time::ZERO, until: Time::ZERO + Span::from_secs(1) };
    let mut calls = Calls {
        admission: Admission::new(&pools, classes.clone(), measured, Precision::Coarse),
        held: vec![0; classes.len()],
        waiting: vec![],
        pools,
        classes,
    };
    let mut now = Time::ZERO;
    for op in ops {
        now = now.saturating_add(Span::from_millis(u64::from(op & 1)));
        calls.step(now, *op);
        calls.check();
    }
    calls.drain(now);
}

/// Up to 31 bit/s, in either order.
fn pool(byte: u8) -> PoolPlan {
    let order = if byte & 0x80 == 0 { PoolOrder::Asked } else { PoolOrder::FirstFit };
    PoolPlan { name: String::new(), capacity: Rate::from_bps(u64::from(byte & 31) + 1), order }
}

/// Up to 16 bit/s of one pool, of all, or of one twice; some could never fit.
fn class(byte: u8) -> CallClass {
    let rate = Rate::from_bps(u64::from(byte & 15) + 1);
    let pools: &[usize] =
        [&[0][..], &[1], &[2], &[0, 1, 2], &[2, 0], &[1, 1], &[0, 1], &[7]][usize::from(byte >> 4 & 7)];
    CallClass {
        demands: pools.iter().map(|pool| Demand { pool: *pool, rate }).collect(),
        waits: byte & 0x80 == 0,
    }
}

impl Calls {
    fn step(&mut self, now: Time, op: u8) {
        let class = usize::from(op >> 1) % CLASSES;
        let caller = u64::from(op >> 5);
        match op >> 3 & 3 {
            0 | 1 => match self.admission.ask(now, class, caller) {
                Answer::Granted => self.held[class] += 1,
                Answer::Waits => self.waiting.push((class, caller)),
                Answer::Refused => {}
            },
            2 => {
                let had = self.held[class] > 0;
                assert_eq!(self.admission.give_back(now, class), had);
                self.held[class] -= u64::from(had);
            }
            _ => {
                let place = self.waiting.iter().position(|call| *call == (class, caller));
                let left = match op & 1 {
                    0 => self.admission.withdraw(now, class, caller),
                    _ => self.admission.abandon(now, class, caller),
                };
                assert_eq!(left, place.is_some());
                if let Some(place) = place {
                    self.waiting.remove(place);
                }
            }
        }
        self.hear();
    }

    /// Calls that waited and have come through.
    fn hear(&mut self) {
        while let Some(Grant { class, call: caller }) = self.admission.poll_granted() {
            let place = self.waiting.iter().position(|call| *call == (class, caller));
            self.waiting.remove(place.expect("who was granted waited"));
            self.held[class] += 1;
        }
    }

    /// What a call of a class asks of a pool.
    fn needs(&self, class: usize, pool: usize) -> u64 {
        self.classes[class]
            .demands
            .iter()
            .filter(|demand| demand.pool == pool)
            .map(|demand| demand.rate.bps())
            .sum()
    }

    fn check(&self) {
        for (number, pool) in self.pools.iter().enumerate() {
            let sum: u64 = (0..CLASSES).map(|class| self.held[class] * self.needs(class, number)).sum();
            assert_eq!(self.admission.reserved(number).bps(), sum);
            assert!(sum <= pool.capacity.bps(), "over-committed");
        }
        assert_eq!(self.admission.waiting(), self.waiting.len());
        if let Some((first, _)) = self.waiting.first() {
            let stuck = |(number, pool): (usize, &PoolPlan)| {
                self.admission.reserved(number).bps() + self.needs(*first, number) > pool.capacity.bps()
            };
            assert!(self.pools.iter().enumerate().any(stuck), "the first in line could go");
        }
    }

    fn drain(&mut self, now: Time) {
        while let Some(class) = (0..CLASSES).find(|class| self.held[*class] > 0) {
            assert!(self.admission.give_back(now, class));
            self.held[class] -= 1;
            self.hear();
        }
        assert!(self.waiting.is_empty(), "everyone had a turn");
        assert!((0..POOLS).all(|pool| self.admission.reserved(pool) == Rate::ZERO), "everything is back");
        for class in 0..CLASSES {
            let counts = self.admission.class_counts(class);
            let left = counts.withdrawn + counts.abandoned;
            assert_eq!(counts.offered, counts.carried + counts.refused + left);
        }
    }
}
