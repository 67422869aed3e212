//! Virtual circuits in a path: numbers by hand, contracts, shares.

use super::*;
use crate::gcra::{Gcra, Interval, Limit, Release};
use crate::plan::{SpacedClass, SpacerPlan};
use proptest::prelude::*;

const CELL: u32 = 53;

/// A contract of one cell each `micros`, and so many microseconds earlier.
fn contract(micros: u64, tolerance: u64, release: Release) -> SpacedClass {
    let interval = Interval::of(micros * 1_000_000).expect("not too long");
    let limit = Limit::new(interval, tolerance * 1_000_000).expect("a limit");
    SpacedClass { limits: vec![limit], release }
}

fn spacer(classes: Vec<SpacedClass>) -> SchedulerPlan {
    SchedulerPlan::Spacer(SpacerPlan { unit_bytes: CELL, classes })
}

/// Of cells that are all there at 0, one each `slot` microseconds: whose is sent when, in microseconds.
fn sent_of(contracts: Vec<SpacedClass>, cells: usize, slot: u64) -> Vec<(u64, usize)> {
    let count = contracts.len();
    let mut queue = classes(spacer(contracts), count);
    for class in (0..count as u32).cycle().take(cells * count) {
        push(&mut queue, Time::ZERO, class, CELL);
    }
    // A slot of the path: 53 bytes.
    let bps = 8 * u64::from(CELL) * 1_000_000 / slot;
    send(&mut queue, bps, &[], micros(1 << 30))
        .into_iter()
        .map(|(at, class, _)| (at.picos() / 1_000_000, class))
        .collect()
}

/// Two contracts of a cell each 10 µs on a path of one each 8 µs: they take turns.
#[test]
fn two_equal_circuits_alternate() {
    let equal = vec![contract(10, 0, Release::Tat); 2];
    let sent = sent_of(equal, 4, 8);
    assert_eq!(sent, [(0, 0), (8, 1), (16, 0), (24, 1), (32, 0), (40, 1), (48, 0), (56, 1)]);
}

/// Contracts of 10 and 40 µs with room for both: each has its own times, and a cell whose slot is taken has the next.
#[test]
fn circuits_that_fit_have_their_own_times() {
    let sent = sent_of(vec![contract(10, 0, Release::Tat), contract(40, 0, Release::Tat)], 4, 4);
    // Both are due at 0: the second goes at 4, and then counts from there.
    assert_eq!(sent, [(0, 0), (4, 1), (10, 0), (20, 0), (30, 0), (44, 1), (84, 1), (124, 1)]);
}

/// T = 10, τ = 5 and two circuits that fit: what had to wait for its slot makes nothing after it late.
#[test]
fn a_tolerance_catches_up() {
    let sent = sent_of(vec![contract(10, 5, Release::Tat), contract(10, 5, Release::Tat)], 4, 4);
    assert_eq!(sent, [(0, 0), (4, 1), (10, 0), (14, 1), (20, 0), (24, 1), (30, 0), (34, 1)]);
    // The second is due at 10 too: with T alone it would be sent at 14 whatever the first did.
    let later = sent_of(vec![contract(11, 5, Release::Tat), contract(10, 5, Release::Tat)], 3, 4);
    assert_eq!(later, [(0, 0), (4, 1), (10, 1), (14, 0), (20, 1), (24, 0)]);
}

/// T = 10, τ = 15: two cells at once after a pause, then one each 10 µs, from the earliest time on.
#[test]
fn a_tolerance_allows_bursts() {
    let sent = sent_of(vec![contract(10, 15, Release::Earliest)], 5, 1);
    assert_eq!(sent, [(0, 0), (1, 0), (5, 0), (15, 0), (25, 0)]);
}

/// Rate 1 bit each µs, a bucket of 1000 bytes: a packet waits for all its bytes.
#[test]
fn packets_wait_for_their_bytes() {
    let increment = Interval::of(8_000_000).expect("not too long");
    let limit = Limit::tokens(increment, 1000).expect("a burst");
    let class = SpacedClass { limits: vec![limit], release: Release::Earliest };
    let plan = SchedulerPlan::Spacer(SpacerPlan { unit_bytes: 1, classes: vec![class] });
    let mut queue = classes(plan, 1);
    for bytes in [1000, 500, 100] {
        push(&mut queue, Time::ZERO, 0, bytes);
    }
    let unit = Unit::new(1001, 0, HeldBy::Application);
    assert_eq!(queue.admit(Time::ZERO, &unit, || false), Err(DropReason::TooLarge));
    let sent = send(&mut queue, 1_000_000_000, &[], micros(1 << 30));
    let sent: Vec<_> = sent.into_iter().map(|(at, _, bytes)| (at.picos() / 1_000_000, bytes)).collect();
    assert_eq!(sent, [(0, 1000), (4000, 500), (4800, 100)]);
}

fn any_release() -> impl Strategy<Value = Release> {
    prop_oneof![Just(Release::Tat), Just(Release::Earliest)]
}

/// Cells that come: gap in microseconds, class.
fn any_cells() -> impl Strategy<Value = Vec<(Time, u32, u32)>> {
    prop::collection::vec((0u64..60, 0u32..4), 1..300).prop_map(|rows| {
        let mut at = 0;
        let row = |(gap, class): (u64, u32)| {
            at += gap.saturating_sub(45) * 3;
            (micros(at), class, CELL)
        };
        rows.into_iter().map(row).collect()
    })
}

proptest! {
    /// Whatever comes, each circuit keeps its contract, none is sent before it came, all are sent in their order, and the
    /// path is left idle only while no circuit may send.
    #[test]
    fn every_circuit_keeps_its_contract(
        contracts in prop::collection::vec((1u64..60, 0u64..90, any_release()), 4..=4),
        slot in 1u64..12,
        cells in any_cells(),
    ) {
        let contracts: Vec<_> = contracts.into_iter().map(|(t, tau, release)| contract(t, tau, release)).collect();
        let mut queue = classes(spacer(contracts.clone()), 4);
        let bps = 8 * u64::from(CELL) * 1_000_000 / slot;
        let sent = send(&mut queue, bps, &cells, Time::from_picos(1 << 60));
        prop_assert_eq!(sent.len(), cells.len());
        for (class, contract) in contracts.iter().enumerate() {
            let mut police = Gcra::new(contract.limits[0]);
            let came = cells.iter().filter(|(_, of, _)| *of as usize == class).map(|(at, ..)| *at);
            let left = sent.iter().filter(|(_, of, _)| *of == class).map(|(at, ..)| *at);
            for (arrived, at) in came.zip(left) {
                prop_assert!(at >= arrived);
                prop_assert!(police.police(at.picos()), "class {class} at {at}");
            }
        }
    }

    /// Equal circuits that always have cells are within one cell of each other, however much the path is overbooked; of
    /// unequal ones none has more than one cell less than another of a lower rate.
    #[test]
    fn equal_circuits_have_equal_shares(
        mut intervals in prop::collection::vec(5u64..80, 2..6),
        equal in any::<bool>(),
        slot in 1u64..12,
    ) {
        let first = intervals[0];
        if equal {
            intervals.iter_mut().for_each(|interval| *interval = first);
        }
        let count = intervals.len();
        let contracts = intervals.iter().map(|interval| contract(*interval, 0, Release::Tat)).collect();
        let sent = sent_of(contracts, 200, slot);
        let mut counts = vec![0_i64; count];
        for (_, class) in sent {
            counts[class] += 1;
            if counts[class] == 200 {
                break;
            }
            for (one, other) in (0..count).flat_map(|one| (0..count).map(move |other| (one, other))) {
                if intervals[one] <= intervals[other] {
                    prop_assert!(counts[one] + 1 >= counts[other], "{counts:?} of {intervals:?}");
                }
            }
        }
    }
}
