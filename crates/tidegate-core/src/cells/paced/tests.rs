use proptest::prelude::*;

use super::*;
use crate::gate::Precision;
use crate::units::PICOS_PER_SECOND;

/// Windows that begin and end near the cells of a case.
fn any_window() -> impl Strategy<Value = (u64, u64)> {
    let edge = || prop_oneof![Just(0u64), 0u64..1 << 24, 0u64..1 << 41];
    prop_oneof![Just((0, 1 << 60)), (edge(), edge())]
}

fn measured(at: Time, (from, length): (u64, u64)) -> Measured {
    let from = at.saturating_add(Span::from_picos(from));
    Measured { from, until: from.saturating_add(Span::from_picos(length)) }
}

/// A train and a burst before it, through a server of nearly the same rate.
fn any_case() -> impl Strategy<Value = (Paced, Train)> {
    let speed = prop_oneof![Just(150_000_000u64), 1_000_000u64..1_000_000_000, 1u64..1000];
    let offset = prop_oneof![3 => Just(0u64), 1 => 0u64..3];
    let phase = prop_oneof![Just(0u64), 0u64..3, 0u64..1 << 32];
    let hold = prop::option::of(0u64..1 << 20);
    (speed, offset, phase, any::<u32>(), 1u32..300, (0u32..4, hold)).prop_map(
        |(speed, offset, phase, carry, left, (burst, hold))| {
            let server = Spacing::of(424, speed);
            let spacing = Spacing::of(424, (speed - offset.min(speed - 1)).max(1));
            let mut paced = Paced::new(server, hold.map(Span::from_picos), u64::MAX);
            for _ in 0..burst {
                paced.serve(Time::from_picos(PICOS_PER_SECOND / 1_000_000));
            }
            let at = paced.free.at.saturating_add(Span::from_picos(phase));
            let next = Exact { at, carry: u64::from(carry) % spacing.whole };
            (paced, Train { next, spacing, left, ..Train::NONE })
        },
    )
}

/// Which trains are served at once: those that come slower than they leave, to a free server, or in its step.
#[test]
fn trains_that_come_slowly_are_served_at_once() {
    let spacing = |picos| Spacing { picos, part: 0, whole: 1 };
    let last = |left, picos, at| {
        let mut paced = Paced::new(spacing(10), None, 5);
        paced.serve(Time::from_picos(90));
        let next = Exact::whole(Time::from_picos(at));
        let train = Train { next, spacing: spacing(picos), left, ..Train::NONE };
        paced.serve_apart(&train).map(|cell_service| cell_service.end.at.picos())
    };
    assert_eq!([12, 10].map(|picos| last(3, picos, 100)), [Some(134), Some(130)]);
    assert_eq!(last(3, 9, 100), None);
    // A picosecond too early.
    assert_eq!(last(3, 12, 99), None);
}

proptest! {
    /// A train at once leaves the server as its cells one by one do, and none waits.
    #[test]
    fn cells_apart_do_not_wait((mut paced, train) in any_case()) {
        let mut single = paced.clone();
        let Some(last) = paced.serve_apart(&train) else { return Ok(()) };
        let mut rest = train;
        let mut cell_service = last;
        while rest.left > 0 {
            single.waiting_at(rest.next.at);
            cell_service = single.serve(rest.next.at);
            prop_assert_eq!(cell_service.start.at, rest.next.at);
            rest.take();
        }
        prop_assert_eq!((cell_service.start, cell_service.end), (last.start, last.end));
        prop_assert_eq!((single.free, single.waiting), (paced.free, paced.waiting));
        prop_assert!(last.end.at <= paced.end_after(train.last()));
    }

    /// Cells together leave the server and its counters as cells one by one do.
    #[test]
    fn cells_together_are_cells_one_by_one(
        (mut paced, train) in any_case(),
        again in 0u64..1 << 40,
        edges in any_window(),
    ) {
        let mut single = paced.clone();
        let measured = measured(train.next.at, edges);
        let mut counters = [0; 2].map(|_| Counters::new(measured, Precision::Fine));
        for at in [train.next.at, train.next.at.saturating_add(Span::from_picos(again))] {
            paced.waiting_at(at);
            single.waiting_at(at);
            paced.serve_together(at, train.left, &mut counters[0], measured);
            (0..train.left).for_each(|_| single.serve(at).count(&mut counters[1], at));
            prop_assert_eq!((single.free, single.waiting), (paced.free, paced.waiting));
            // Of nobody who waits it says nothing.
            prop_assert!(paced.waiting == 0 || single.first_start == paced.first_start);
        }
        paced.tell(&mut counters[0]);
        prop_assert_eq!(format!("{:?}", counters[0]), format!("{:?}", counters[1]));
    }
}
