//! Arrival buckets beside a sorted list.

use proptest::prelude::*;

use super::*;
use crate::unit::HeldBy;

const RANKS: [EventSource; 5] = [3, 0, 4, 1, 0];

/// What is to come: time, rank, and number of entry.
type Expected = Vec<(Time, EventSource, u32)>;

/// All that is due before `until` comes, in order.
fn come_before(arrivals: &mut Arrivals, expected: &mut Expected, until: Time) -> Result<(), TestCaseError> {
    expected.sort_unstable();
    let mut due = expected.drain(..expected.partition_point(|(at, ..)| *at < until));
    loop {
        let next = due.next();
        prop_assert!(next.is_none_or(|(at, ..)| arrivals.from() <= at));
        arrivals.open_before(until, &RANKS);
        let head = arrivals.head().filter(|(at, _)| *at < until);
        prop_assert_eq!(head.map(|(at, unit)| (at, RANKS[unit.stretch as usize], unit.handle)), next);
        if next.is_none() {
            return Ok(());
        }
        arrivals.take();
    }
}

proptest! {
    /// They come in order of time, rank, and entry, whenever they are put in and looked for.
    #[test]
    fn in_order_whatever_the_buckets(
        width in prop_oneof![0u64..10, 0u64..5000],
        steps in prop::collection::vec((0u64..2000, 0u32..5, 0u32..14, 0u32..12), 1..600),
    ) {
        let (mut arrivals, mut expected) = (Arrivals::new(Span::from_picos(width)), Expected::new());
        let mut now = 0;
        for (number, (span, stretch, shift, step)) in (0..).zip(steps) {
            // Often together, sometimes far beyond all buckets.
            let at = Time::from_picos((now + (span << shift) / 8).next_multiple_of(1 << shift));
            let mut unit = Unit::new(40, number, HeldBy::Application);
            unit.stretch = stretch;
            arrivals.push(at, unit, &RANKS);
            expected.push((at, RANKS[stretch as usize], number));
            if step == 0 {
                now += 50 + span;
                come_before(&mut arrivals, &mut expected, Time::from_picos(now))?;
            }
        }
        come_before(&mut arrivals, &mut expected, Time::NEVER)?;
    }
}

#[test]
fn what_comes_while_a_bucket_is_lent_has_its_place() {
    let push = |buckets: &mut Arrivals, at: u64, handle: u32| {
        let unit = Unit::new(40, handle, HeldBy::Application);
        buckets.push(Time::from_picos(at), unit, &RANKS);
    };
    let mut arrivals = Arrivals::new(Span::from_picos(1 << 20));
    for (at, number) in [(20, 1), (10, 0), (40, 3)] {
        push(&mut arrivals, at, number);
    }
    arrivals.open_before(Time::from_picos(100), &RANKS);
    let mut lent = Vec::new();
    assert_eq!(arrivals.lend(&mut lent), 0);
    arrivals.remove_lent(2);
    assert_eq!(lent.len(), 3);
    push(&mut arrivals, 50, 4);
    push(&mut arrivals, 30, 2);
    arrivals.give_back(&mut lent, &RANKS);
    let handles: Vec<u32> = arrivals.take_all(&RANKS).iter().map(|(_, unit)| unit.handle).collect();
    assert_eq!(handles, [2, 3, 4]);
}
