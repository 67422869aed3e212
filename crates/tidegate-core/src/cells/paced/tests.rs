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

/// A server that has served up to three cells, and when how many more come.
fn any_case() -> impl Strategy<Value = (Paced, Time, u32)> {
    let speed = prop_oneof![Just(150_000_000u64), 1_000_000u64..1_000_000_000, 1u64..1000];
    let phase = prop_oneof![Just(0u64), 0u64..3, 0u64..1 << 32];
    let hold = prop::option::of(0u64..1 << 20);
    (speed, phase, 1u32..300, 0u32..4, hold).prop_map(|(speed, phase, cells, burst, hold)| {
        let server = Spacing::of(424, speed);
        let mut paced = Paced::new(server, hold.map(Span::from_picos), u64::MAX);
        for _ in 0..burst {
            paced.serve(Time::from_picos(PICOS_PER_SECOND / 1_000_000));
        }
        let at = paced.free.at.saturating_add(Span::from_picos(phase));
        (paced, at, cells)
    })
}

proptest! {
    /// A train of which no cell waits leaves the server as its cells one by one do.
    #[test]
    fn cells_apart_do_not_wait(
        (mut paced, first, cells) in any_case(),
        (slower, carry) in (prop_oneof![3 => Just(0u64), 1 => 0u64..3], any::<u32>()),
    ) {
        let spacing = Spacing { picos: paced.spacing.picos + slower, ..paced.spacing };
        let next = Exact { at: first, carry: u64::from(carry) % spacing.whole };
        let train = Train { next, spacing, left: cells, ..Train::NONE };
        let mut single = paced.clone();
        let found = paced.serve_apart(&train);
        let mut rest = train;
        let mut last = None;
        while rest.left > 0 {
            single.waiting_at(rest.next.at);
            let service = single.serve(rest.next.at);
            if service.start.at != rest.next.at {
                prop_assert!(found.is_none());
                return Ok(());
            }
            last = Some((service.start, service.end));
            rest.skip(1);
        }
        let Some(found) = found else { return Ok(()) };
        prop_assert_eq!(last, Some((found.start, found.end)));
        prop_assert_eq!((single.free, single.waiting), (paced.free, paced.waiting));
        prop_assert!(found.end.at <= paced.end_after(train.last()));
    }

    /// Cells together leave the server and its counters as cells one by one do.
    #[test]
    fn cells_together_are_cells_one_by_one(
        (mut paced, first, cells) in any_case(),
        again in 0u64..1 << 40,
        edges in any_window(),
    ) {
        let mut single = paced.clone();
        let measured = measured(first, edges);
        let mut counters = [0; 2].map(|_| Counters::new(measured, Precision::Fine));
        for at in [first, first.saturating_add(Span::from_picos(again))] {
            paced.waiting_at(at);
            single.waiting_at(at);
            paced.serve_together(at, cells, &mut counters[0], measured);
            (0..cells).for_each(|_| single.serve(at).count(&mut counters[1], at));
            prop_assert_eq!((single.free, single.waiting), (paced.free, paced.waiting));
            // Of nobody who waits it says nothing.
            prop_assert!(paced.waiting == 0 || single.first_start == paced.first_start);
        }
        paced.tell(&mut counters[0]);
        prop_assert_eq!(format!("{:?}", counters[0]), format!("{:?}", counters[1]));
    }
}
