//! Turns by hand, fairness among hosts and order on random units.

use proptest::prelude::*;

use super::*;
use crate::plan::{CakePlan, Framing, LinkLayer, ShapedBytes};
use crate::random::Seed;
use crate::unit::{HeldBy, Unit};
use crate::units::Span;

fn tin(isolation: Isolation) -> TinPlan {
    CakePlan { isolation, ..CakePlan::default_for(Framing::Ip) }.tin(None)
}

fn queue(plan: TinPlan) -> TinQueue {
    TinQueue::new(plan, Seed { seed: 1, replication: 0 }.stream("gate.link/aqm.bulk"))
}

fn push(queue: &mut TinQueue, at: Time, stretch: u32, bytes: u32) {
    let mut unit = Unit::new(bytes, 0, HeldBy::Application);
    unit.stretch = stretch;
    queue.push(Waiter { arrival: at, unit });
}

/// The flows of the next units, all served at `at`.
fn flows(queue: &mut TinQueue, at: Time, count: usize) -> Vec<u32> {
    let next = |_| queue.pop(at, &mut vec![]).map(|leaver| leaver.waiter.unit.stretch);
    (0..count).filter_map(next).collect()
}

/// A turn is 1514 bytes: flow 1 with units of 1500, flow 2 with units of 500. A new flow goes first, and once it has had its
/// turn it waits with the others.
#[test]
fn turns_are_by_bytes_and_sparse_flows_go_first() {
    let mut queue = queue(tin(Isolation::Triple));
    (0..4).for_each(|_| push(&mut queue, Time::ZERO, 1, 1500));
    (0..8).for_each(|_| push(&mut queue, Time::ZERO, 2, 500));
    // 14 bytes are left after the first unit of flow 1, so another may go; 1486 are owed then.
    assert_eq!(flows(&mut queue, Time::ZERO, 6), [1, 1, 2, 2, 2, 2]);
    push(&mut queue, Time::ZERO, 7, 40);
    assert_eq!(flows(&mut queue, Time::ZERO, 1), [7]);
    // Flow 1 has 28 bytes, flow 2 has 1028, and flow 7, whose queue is empty, is visited before them.
    assert_eq!(flows(&mut queue, Time::ZERO, 6), [1, 2, 2, 2, 1, 2]);
    assert_eq!(queue.backlog(), Backlog::default());
}

/// Turns count what the shaper counts: two units of 53 bytes in two cells are 212, one of 200 bytes in 5 cells is 265.
#[test]
fn turns_count_the_bytes_of_the_shaper() {
    let bytes = ShapedBytes::Beyond { overhead: 0, least: 0, link: LinkLayer::Atm };
    let mut queue = queue(TinPlan { quantum: 265, bytes, ..tin(Isolation::Flows) });
    (0..6).for_each(|_| push(&mut queue, Time::ZERO, 1, 53));
    (0..3).for_each(|_| push(&mut queue, Time::ZERO, 2, 200));
    // Flow 1 owes 318 - 265 = 53 after three, has 212 in its next turn, and then 265 again.
    assert_eq!(flows(&mut queue, Time::ZERO, 9), [1, 1, 1, 2, 1, 1, 2, 1, 2]);
}

/// With eight flows and queues for three, the fourth shares with the first.
#[test]
fn flows_share_queues_where_there_are_too_few() {
    let mut queue = queue(TinPlan { queues: 3, ..tin(Isolation::Flows) });
    (0..8).for_each(|stretch| push(&mut queue, Time::ZERO, stretch, 1514));
    assert_eq!(queue.each.queues.len(), 3);
    assert_eq!(flows(&mut queue, Time::ZERO, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// Without flows, hosts have queues: 1 → 2 and 1 → 3 are two destinations, one source, two pairs.
#[test]
fn hosts_have_queues_of_their_own() {
    for (isolation, queues) in [
        (Isolation::SourceHosts, 2),
        (Isolation::DestinationHosts, 2),
        (Isolation::HostPairs, 3),
        (Isolation::Flows, 4),
    ] {
        let mut queue = queue(tin(isolation));
        queue.set_hosts(Arc::new([[1, 2], [1, 3], [4, 2], [1, 2]]));
        (0..4).for_each(|stretch| push(&mut queue, Time::ZERO, stretch, 100));
        assert_eq!(queue.each.queues.len(), queues, "{isolation:?}");
    }
}

/// The longest queue pays, from its head, and BLUE hears of it.
#[test]
fn the_longest_queue_is_dropped_from() {
    let mut queue = queue(tin(Isolation::Triple));
    (0..3).for_each(|_| push(&mut queue, Time::ZERO, 1, 1000));
    (0..5).for_each(|_| push(&mut queue, Time::ZERO, 2, 700));
    assert_eq!(queue.longest(), 3500);
    let now = Time::ZERO + Span::from_millis(1);
    let mut dropped = |_| queue.drop_from_longest(now).map(|waiter| waiter.unit.stretch);
    // 3500, 2800 against 3000, 2800 against 2000, 2100 against 2000.
    let stretches: Vec<_> = (0..4).filter_map(&mut dropped).collect();
    assert_eq!(stretches, [2, 1, 2, 2]);
    assert_eq!(queue.each.queues[1].state.cobalt.probability(), 3_906_250_000_000_000);
    assert_eq!(queue.backlog(), Backlog { units: 4, bytes: 2 * 1000 + 2 * 700 });
}

/// A queue that was dropped from is kept until COBALT has forgotten, and is looked at once in each service.
#[test]
fn signals_are_forgotten_while_others_are_served() {
    let mut queue = queue(tin(Isolation::Triple));
    let ms = |ms: u64| Time::ZERO + Span::from_millis(ms);
    push(&mut queue, ms(0), 1, 1000);
    push(&mut queue, ms(0), 1, 1000);
    queue.drop_from_longest(ms(0));
    push(&mut queue, ms(0), 2, 1000);
    assert_eq!(flows(&mut queue, ms(0), 2).len(), 2);
    assert_eq!(queue.each.queues[0].state.set, Set::Decaying);
    // 16 steps of 1/4096, more than a target apart; then the interval of CoDel's last signal has to pass.
    for n in 1..=40 {
        push(&mut queue, ms(6 * n), 2, 1000);
        assert_eq!(flows(&mut queue, ms(6 * n), 1), [2]);
        let expected = 3_906_250_000_000_000u64.saturating_sub(n * 244_140_625_000_000);
        let set = if n <= 16 { Set::Decaying } else { Set::Idle };
        assert_eq!(
            (queue.each.queues[0].state.set, queue.each.queues[0].state.cobalt.probability()),
            (set, expected),
            "{n}"
        );
    }
}

/// What is sent while all flows of two hosts always have units: host A has one flow, host B nine.
fn bytes_by_host(isolation: Isolation, sizes: &[u32], packets: usize, far: bool) -> [u64; 2] {
    let mut queue = queue(tin(isolation));
    let hosts = |stretch: u32| {
        if far { [50 + stretch, u32::from(stretch > 0)] } else { [u32::from(stretch > 0), 50 + stretch] }
    };
    queue.set_hosts((0..10).map(hosts).collect());
    let size = |stretch: u32, n: usize| sizes[(n * 7 + stretch as usize) % sizes.len()];
    (0..3).for_each(|n| (0..10).for_each(|stretch| push(&mut queue, Time::ZERO, stretch, size(stretch, n))));
    // Every flow has had its first turn.
    let mut sent = [0; 2];
    for n in 0..packets {
        let leaver = queue.pop(Time::ZERO, &mut vec![]).expect("a unit");
        let unit = leaver.waiter.unit;
        sent[usize::from(unit.stretch > 0)] += u64::from(unit.bytes);
        push(&mut queue, Time::ZERO, unit.stretch, size(unit.stretch, n));
    }
    sent
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// One flow of host A against nine of host B get half each, within two turns and a packet, whatever their packets: of
    /// hosts that send, and of hosts that receive. Without hosts it is a tenth.
    #[test]
    fn hosts_have_equal_shares(sizes in prop::collection::vec(40u32..1500, 1..9), packets in 3000usize..6000) {
        let near = [Isolation::DualSource, Isolation::Triple];
        let far = [Isolation::DualDestination, Isolation::Triple];
        // While queues become busy one after the other, each has a first turn: of nine flows, eight more.
        let first = 10 * (1514 + 1500);
        for (isolation, is_far) in near.map(|one| (one, false)).into_iter().chain(far.map(|one| (one, true))) {
            let [a, b] = bytes_by_host(isolation, &sizes, packets, is_far);
            prop_assert!(a.abs_diff(b) <= first, "{isolation:?}: {a} {b}");
            // And it does not drift.
            let [c, d] = bytes_by_host(isolation, &sizes, 2 * packets, is_far);
            let (before, after) = (a as i64 - b as i64, c as i64 - d as i64);
            prop_assert!((after - before).abs() <= 1514 + 9 * 1500, "{isolation:?}: {before} {after}");
        }
        let [a, b] = bytes_by_host(Isolation::Flows, &sizes, packets, false);
        prop_assert!((9 * a).abs_diff(b) <= 10 * first, "{a} {b}");
    }

    /// Every unit has one fate, units of a flow keep their order, and what is held is what was given less what left.
    #[test]
    fn units_are_conserved_in_order(
        steps in prop::collection::vec((0u32..6, 40u32..1500, 0u64..8_000, 0u8..4), 1..400),
        which in 0usize..7,
    ) {
        let isolations = [
            Isolation::Flows, Isolation::SourceHosts, Isolation::DestinationHosts, Isolation::HostPairs,
            Isolation::DualSource, Isolation::DualDestination, Isolation::Triple,
        ];
        let mut queue = queue(TinPlan { queues: 4, ..tin(isolations[which]) });
        queue.set_hosts((0..4).map(|stretch| [stretch % 2, stretch % 3]).collect());
        let (mut now, mut came, mut left) = (Time::ZERO, vec![], vec![]);
        let mut gone = vec![];
        for (handle, (stretch, bytes, micros, action)) in (0..).zip(steps) {
            now += Span::from_micros(micros);
            match action {
                0 => {
                    let leaver = queue.pop(now, &mut gone);
                    left.append(&mut gone);
                    left.extend(leaver.map(|leaver| leaver.waiter));
                }
                1 if handle % 3 == 0 => left.extend(queue.drop_from_longest(now)),
                _ => {
                    let mut unit = Unit::new(bytes, handle, HeldBy::Application);
                    unit.stretch = stretch;
                    queue.push(Waiter { arrival: now, unit });
                    came.push(unit);
                    prop_assert!(queue.holds(stretch));
                }
            }
            let held = came.iter().map(|unit| u64::from(unit.bytes)).sum::<u64>()
                - left.iter().map(|waiter| u64::from(waiter.unit.bytes)).sum::<u64>();
            let units = (came.len() - left.len()) as u64;
            prop_assert_eq!(queue.backlog(), Backlog { units, bytes: held });
        }
        while let Some(leaver) = queue.pop(now, &mut gone) {
            left.append(&mut gone);
            left.push(leaver.waiter);
        }
        prop_assert_eq!(left.len(), came.len());
        for stretch in 0..6 {
            let of = |waiters: &[Waiter]| -> Vec<u32> {
                waiters.iter().filter(|waiter| waiter.unit.stretch == stretch).map(|waiter| waiter.unit.handle).collect()
            };
            prop_assert!(of(&left).is_sorted());
        }
    }
}
