use proptest::prelude::*;

use super::*;
use crate::units::Span;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

const MEASURED: Measured = Measured { from: Time::ZERO, until: Time::from_picos(100_000_000_000) };

fn pool(capacity: u64, order: PoolOrder) -> PoolPlan {
    PoolPlan { name: String::new(), capacity: Rate::from_bps(capacity), order }
}

fn class(demands: &[(usize, u64)], waits: bool) -> CallClass {
    let demand = |(pool, bps): &(usize, u64)| Demand { pool: *pool, rate: Rate::from_bps(*bps) };
    CallClass { demands: demands.iter().map(demand).collect(), waits }
}

fn admission(pools: &[PoolPlan], classes: Vec<CallClass>) -> Admission {
    Admission::new(pools, classes, MEASURED, Precision::Fine)
}

fn granted(admission: &mut Admission) -> Vec<u64> {
    std::iter::from_fn(|| admission.poll_granted()).map(|grant| grant.call).collect()
}

#[test]
fn who_asked_first_is_next_or_who_fits() {
    for (order, small, after) in
        [(PoolOrder::Asked, Answer::Waits, vec![2, 3]), (PoolOrder::FirstFit, Answer::Granted, vec![2])]
    {
        let classes = vec![class(&[(0, 6)], true), class(&[(0, 2)], true)];
        let mut calls = admission(&[pool(10, order)], classes);
        assert_eq!(calls.ask(at(0), 0, 1), Answer::Granted);
        assert_eq!(calls.ask(at(1), 0, 2), Answer::Waits);
        assert_eq!(calls.ask(at(2), 1, 3), small);
        assert!(calls.give_back(at(5), 0));
        assert_eq!(granted(&mut calls), after);
        assert_eq!(calls.reserved(0).bps(), 8);
        assert_eq!((calls.waiting(), calls.held(0), calls.held(1)), (0, 1, 1));
    }
}

#[test]
fn all_or_nothing_from_several_pools() {
    // Two calls name their pools in opposite orders; a third keeps one pool for a while.
    let pools = [pool(4, PoolOrder::Asked), pool(4, PoolOrder::Asked)];
    let classes =
        vec![class(&[(0, 3), (1, 3)], true), class(&[(1, 3), (0, 3)], true), class(&[(1, 4)], true)];
    let mut calls = admission(&pools, classes);
    assert_eq!(calls.ask(at(0), 2, 1), Answer::Granted);
    assert_eq!(calls.ask(at(1), 0, 2), Answer::Waits);
    assert_eq!(calls.reserved(0).bps(), 0, "a call that waits holds nothing");
    assert_eq!(calls.ask(at(1), 1, 3), Answer::Waits);
    assert!(calls.give_back(at(2), 2));
    assert_eq!(granted(&mut calls), [2]);
    assert!(calls.give_back(at(3), 0));
    assert_eq!(granted(&mut calls), [3]);
    assert!(calls.give_back(at(4), 1));
    assert_eq!([calls.reserved(0).bps(), calls.reserved(1).bps()], [0, 0]);
    assert!(!calls.give_back(at(4), 1), "nothing is left to give back");
}

#[test]
fn who_gives_up_lets_others_pass() {
    let classes = vec![class(&[(0, 6)], true), class(&[(0, 4)], true)];
    let mut calls = admission(&[pool(10, PoolOrder::Asked)], classes);
    calls.ask(at(0), 0, 1);
    assert_eq!(calls.ask(at(1), 0, 2), Answer::Waits);
    assert_eq!(calls.ask(at(2), 1, 3), Answer::Waits);
    assert!(calls.withdraw(at(4), 0, 2));
    assert!(!calls.withdraw(at(4), 0, 2));
    assert_eq!(granted(&mut calls), [3]);
    let counts = calls.pool_counts(0);
    assert_eq!((counts.offered, counts.carried, counts.waited, counts.withdrawn), (3, 2, 2, 1));
    assert_eq!(counts.waits.mean_s(), Some(0.001));
    // 6 for 4 ms, then 10; one waits from 1 ms, two from 2 to 4 ms, none after.
    let used = calls.pool_use(0);
    assert!((used.reserved_mean_bps - (6.0 * 4.0 + 10.0 * 96.0) / 100.0).abs() < 1e-9);
    assert!((used.waiting_mean - 5.0 / 100.0).abs() < 1e-9);
    assert_eq!((used.reserved_max.bps(), used.waiting_max, used.waiting), (10, 2, 0));
}

#[test]
fn what_can_never_fit_is_refused() {
    let classes = vec![class(&[(0, 6), (0, 5)], true), class(&[(7, 1)], true), class(&[(0, 10)], false)];
    let mut calls = admission(&[pool(10, PoolOrder::Asked)], classes);
    assert_eq!(calls.ask(at(0), 0, 1), Answer::Refused);
    assert_eq!(calls.ask(at(0), 1, 2), Answer::Refused);
    assert_eq!(calls.ask(at(0), 2, 3), Answer::Granted);
    assert_eq!(calls.ask(at(0), 2, 4), Answer::Refused);
    assert_eq!(calls.pool_counts(0).blocked(), Some(2.0 / 3.0));
}

/// One thing that happens: (what, class, caller).
fn happenings() -> impl Strategy<Value = Vec<(u8, usize, u64)>> {
    prop::collection::vec((0u8..6, 0usize..5, 0u64..6), 1..200)
}

proptest! {
    /// Random calls, ends, ends of what was never granted, calls given up or out of patience: what is reserved
    /// is what those that were granted asked for, never more than there is; nobody waits who
    /// could go; in the end everything is back.
    #[test]
    fn pools_are_never_over_committed_and_everything_is_returned(
        capacities in prop::collection::vec((1u64..12, any::<bool>()), 3),
        kinds in prop::collection::vec((prop::collection::vec((0usize..3, 1u64..6), 1..4), any::<bool>()), 5),
        happenings in happenings(),
    ) {
        let order = |first_fit| if first_fit { PoolOrder::FirstFit } else { PoolOrder::Asked };
        let pools: Vec<PoolPlan> = capacities.iter().map(|(bps, fit)| pool(*bps, order(*fit))).collect();
        let classes: Vec<CallClass> = kinds.iter().map(|(demands, waits)| class(demands, *waits)).collect();
        let mut calls = admission(&pools, classes);
        let needs = |kind: usize, of_pool: usize| -> u64 {
            kinds[kind].0.iter().filter(|(of, _)| *of == of_pool).map(|(_, bps)| bps).sum()
        };
        let mut held: Vec<u64> = vec![0; kinds.len()];
        let mut waiting: Vec<(usize, u64)> = vec![];
        for (millis, (what, class, caller)) in (0..).zip(happenings) {
            match what {
                0..=2 => match calls.ask(at(millis), class, caller) {
                    Answer::Granted => held[class] += 1,
                    Answer::Waits => waiting.push((class, caller)),
                    Answer::Refused => {}
                },
                3 => {
                    let had = held[class] > 0;
                    prop_assert_eq!(calls.give_back(at(millis), class), had);
                    held[class] -= u64::from(had);
                }
                _ => {
                    let place = waiting.iter().position(|call| *call == (class, caller));
                    let left = match what {
                        4 => calls.withdraw(at(millis), class, caller),
                        _ => calls.abandon(at(millis), class, caller),
                    };
                    prop_assert_eq!(left, place.is_some());
                    place.map(|found| waiting.remove(found));
                }
            }
            while let Some(grant) = calls.poll_granted() {
                let place = waiting.iter().position(|call| *call == (grant.class, grant.call));
                prop_assert!(place.is_some(), "who was granted waited");
                place.map(|found| waiting.remove(found));
                held[grant.class] += 1;
            }
            for (number, plan) in pools.iter().enumerate() {
                let sum: u64 = (0..kinds.len()).map(|kind| held[kind] * needs(kind, number)).sum();
                prop_assert_eq!(calls.reserved(number).bps(), sum);
                prop_assert!(sum <= plan.capacity.bps());
            }
            prop_assert_eq!(calls.waiting(), waiting.len());
            if let Some((first, _)) = waiting.first() {
                let stuck = (0..pools.len()).any(|number| {
                    calls.reserved(number).bps() + needs(*first, number) > pools[number].capacity.bps()
                });
                prop_assert!(stuck, "the first in line could go");
            }
        }
        // Everyone goes home, those who come through as well.
        while let Some(class) = (0..held.len()).find(|kind| held[*kind] > 0) {
            calls.give_back(at(1000), class);
            held[class] -= 1;
            while let Some(grant) = calls.poll_granted() {
                held[grant.class] += 1;
                waiting.pop();
            }
        }
        prop_assert!(waiting.is_empty() && calls.waiting() == 0);
        for (number, plan) in pools.iter().enumerate() {
            prop_assert_eq!(calls.reserved(number).bps(), 0);
            let counts = calls.pool_counts(number);
            let settled = counts.carried + counts.refused + counts.withdrawn + counts.abandoned;
            prop_assert!(counts.offered == settled && plan.capacity.bps() > 0);
        }
    }
}
