//! Virtual circuits in a path as a gate: what leaves keeps the contract of its circuit and that of the path.

use std::sync::Arc;

use super::*;
use crate::aal5::CELL_BITS;
use crate::gcra::{Gcra, Release};
use crate::plan::{ClassPlan, ClassesPlan, GcraPlan, SchedulerPlan, SpacedClass, SpacerPlan};

const CIRCUITS: usize = 3;

/// A path with circuits, and the limits of the circuits.
fn path(plan: GatePlan, limits: &[Limit], release: Release, room: u64) -> GatePlan {
    let limit = if plan.is_cell_gate() { QueueLimit::Cells(room) } else { QueueLimit::Packets(room) };
    let circuit = |number: usize| ClassPlan {
        name: number.to_string(),
        queue: QueuePlan { limit, ..QueuePlan::UNLIMITED },
    };
    let class = |own: &Limit| SpacedClass { limits: vec![*own], release };
    let classes = ClassesPlan {
        scheduler: SchedulerPlan::Spacer(SpacerPlan {
            unit_bytes: plan.policed_unit(),
            classes: limits.iter().map(class).collect(),
        }),
        classes: (0..limits.len()).map(circuit).collect(),
        of_route: Arc::new([]),
        by_codepoint: None,
    };
    GatePlan { classes: Some(Arc::new(classes)), ..plan }
}

/// What leaves: when it was sent, its circuit, its bytes. `last` is how long a unit takes from there until it leaves.
fn leaves(plan: &GatePlan, came: &[(Time, u32, u32)], last: Span) -> Vec<(Time, usize, u32)> {
    let mut gate = Gate::new(plan, context(RecordLevel::Summary));
    gate.set_members((0..CIRCUITS as u16).collect());
    let mut sent = vec![];
    let take = |from: &mut Gate, list: &mut Vec<(Time, usize, u32)>| {
        while let Some(Departure { unit, fate }) = from.poll_departure() {
            let out = fate.expect("nothing is lost behind the queue");
            list.push((Time::from_picos(out.picos() - last.picos()), unit.stretch as usize, unit.bytes));
        }
    };
    for (at, circuit, bytes) in came {
        while gate.next_wakeup().is_some_and(|wakes| wakes <= *at) {
            gate.handle_wakeup();
            take(&mut gate, &mut sent);
        }
        let mut unit = Unit::new(*bytes, 0, HeldBy::Application);
        unit.stretch = *circuit;
        let _ = gate.handle_unit(*at, unit);
        take(&mut gate, &mut sent);
    }
    while gate.next_wakeup().is_some_and(|wakes| wakes < Time::NEVER) {
        gate.handle_wakeup();
        take(&mut gate, &mut sent);
    }
    sent
}

/// Units that come: after so many microseconds, circuit, bytes.
fn any_units() -> impl Strategy<Value = Vec<(Time, u32, u32)>> {
    prop::collection::vec((0u64..1000, 0..CIRCUITS as u32, 40u32..1500), 1..300).prop_map(|rows| {
        let mut at = Time::ZERO;
        let row = |(gap, circuit, bytes): (u64, u32, u32)| {
            at += Span::from_micros(gap.saturating_sub(700));
            (at, circuit, bytes)
        };
        rows.into_iter().map(row).collect()
    })
}

proptest! {
    /// Cells: GCRA of each circuit, GCRA of the path.
    #[test]
    fn cells_keep_both_contracts(
        rates in prop::collection::vec((1u64..40, 0u64..200), CIRCUITS),
        (path_rate, path_tolerance) in (1u64..60, 0u64..200),
        release in prop_oneof![Just(Release::Tat), Just(Release::Earliest)],
        room in 0u64..60,
        came in any_units(),
    ) {
        let limit = |(rate, tolerance): (u64, u64)| {
            let increment = Interval::at_rate(CELL_BITS, Rate::from_bps(rate * 100_000)).expect("a rate");
            Limit::new(increment, tolerance * 1_000_000).expect("a limit")
        };
        let whole = limit((path_rate, path_tolerance));
        let link = Rate::from_bps(20_000_000);
        let plan = GatePlan {
            rate: RatePlan::Gcra(GcraPlan { limit: whole, link, release }),
            framing: Framing::Aal5 { llc: false },
            ..GatePlan::open("path")
        };
        let limits: Vec<Limit> = rates.into_iter().map(limit).collect();
        let plan = path(plan, &limits, release, room);
        let came: Vec<_> = came.into_iter().map(|(at, circuit, _)| (at, circuit, CELL_BYTES)).collect();
        let sent = leaves(&plan, &came, plan.cell_time());
        let mut police = Gcra::new(whole);
        let mut each: Vec<Gcra> = limits.into_iter().map(Gcra::new).collect();
        for (at, circuit, _) in sent {
            prop_assert!(police.police(at.picos()), "the path at {at}");
            prop_assert!(each[circuit].police(at.picos()), "circuit {circuit} at {at}");
        }
    }

    /// Packets: a token bucket of each circuit, one of the path.
    #[test]
    fn packets_keep_both_contracts(
        rates in prop::collection::vec((1u64..40, 1500u64..9000), CIRCUITS),
        (path_rate, path_burst) in (1u64..60, 1500u64..9000),
        room in 0u64..60,
        came in any_units(),
    ) {
        let limit = |(rate, burst): (u64, u64)| {
            let increment = Interval::at_rate(8, Rate::from_bps(rate * 100_000)).expect("a rate");
            Limit::tokens(increment, burst).expect("a limit")
        };
        let plan = GatePlan {
            rate: RatePlan::TokenBucket {
                rate: Rate::from_bps(path_rate * 100_000),
                burst_bytes: path_burst,
                initial_bytes: None, peak: None,
                peak_burst_bytes: None,
            },
            ..GatePlan::open("path")
        };
        let limits: Vec<Limit> = rates.into_iter().map(limit).collect();
        let plan = path(plan, &limits, Release::Earliest, room);
        let sent = leaves(&plan, &came, Span::ZERO);
        let mut police = Gcra::new(limit((path_rate, path_burst)));
        let mut each: Vec<Gcra> = limits.into_iter().map(Gcra::new).collect();
        for (at, circuit, bytes) in sent {
            prop_assert!(police.police_units(at.picos(), u64::from(bytes)), "the path at {at}");
            prop_assert!(each[circuit].police_units(at.picos(), u64::from(bytes)), "circuit {circuit} at {at}");
        }
    }
}
