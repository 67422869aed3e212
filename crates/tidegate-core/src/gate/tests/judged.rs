//! Gates whose discipline decides when a unit would be served.

use super::*;

/// A unit that left a gate, or that it dropped.
struct Gone {
    handle: u32,
    ecn: Ecn,
    fate: Fate,
}

fn millis(at: u64) -> Time {
    Time::ZERO + Span::from_millis(at)
}

/// What leaves a gate until `until`, that instant included.
fn wake(gate: &mut Gate, until: Time, gone: &mut Vec<Gone>) {
    while gate.next_wakeup().is_some_and(|at| at <= until) {
        gate.handle_wakeup();
        while let Some(Departure { unit, fate }) = gate.poll_departure() {
            gone.push(Gone { handle: unit.handle, ecn: unit.ecn(), fate });
        }
    }
}

/// What becomes of units of 1000 bytes with these codepoints that come at these instants.
fn drive(gate: &mut Gate, arrivals: &[(Time, Ecn)], until: Time) -> Vec<Gone> {
    let mut gone = vec![];
    for (n, (at, ecn)) in arrivals.iter().enumerate() {
        wake(gate, *at, &mut gone);
        let mut unit = Unit::new(1000, n as u32, HeldBy::Application);
        unit.set_ecn(*ecn);
        if let Err(drop) = gate.handle_unit(*at, unit) {
            gone.push(Gone { handle: unit.handle, ecn: unit.ecn(), fate: Err(drop) });
        }
    }
    wake(gate, until, &mut gone);
    gone
}

fn codel(rate: RatePlan) -> GatePlan {
    let mut plan = GatePlan { rate, ..link(1, QueueLimit::Unlimited) };
    plan.queue.discipline = Discipline::CoDel(CoDelPlan::DEFAULT);
    plan
}

/// The instants of drops in milliseconds, and how many units went on.
fn drops(gone: &[Gone]) -> (Vec<u64>, usize) {
    let at = |one: &Gone| one.fate.err().map(|drop| drop.at.picos() / 1_000_000_000);
    (gone.iter().filter_map(at).collect(), gone.iter().filter(|gone| gone.fate.is_ok()).count())
}

/// 40 units come at 0 to a server that takes a millisecond for each. Nothing passes from 1 ms to 200 ms. The second unit
/// is judged when it begins, at 200 ms, not at 1 ms when the server could have taken it: its wait was above the target then
/// for the first time, and the first drop is at 300 ms. Judged too early, the state would begin at 6 ms.
#[test]
fn a_unit_is_judged_when_it_begins() {
    let mbps = |mbps: u64| Speed::Bits(Rate::from_bps(mbps * 1_000_000));
    let steps = vec![(Time::ZERO, mbps(8)), (millis(1), mbps(0)), (millis(200), mbps(8))];
    let mut gate = Gate::new(&codel(RatePlan::Steps { steps, repeat: None }), context(RecordLevel::Events));
    let units: Vec<(Time, Ecn)> = (0..400).map(|_| (Time::ZERO, Ecn::NotEct)).collect();
    let gone = drive(&mut gate, &units, millis(450));
    let (dropped, passed) = drops(&gone);
    // 300 ms, then 100 ms later.
    assert_eq!((dropped, passed), (vec![300, 400], 251));
    let second = gone[1].fate.expect("it passes");
    assert_eq!(second, millis(201));
}

/// A unit that waits for tokens, one each millisecond, or for opportunities of a trace is judged when its service begins.
#[test]
fn tokens_and_opportunities_are_waited_for_first() {
    let tokens = Rate::from_bps(8_000_000);
    let bucket = RatePlan::TokenBucket {
        rate: tokens,
        burst_bytes: 1000,
        initial_bytes: None,
        peak: None,
        peak_burst_bytes: None,
    };
    let trace = OpportunityTrace { at: vec![millis(50)], period: Span::from_millis(50), bytes: 1000 };
    let trace = RatePlan::Opportunities { trace: trace.into(), at_end: AtEnd::Repeat };
    for (rate, dropped, passed) in [
        // Above the target at 5 ms.
        (bucket, vec![105, 205], 218),
        // Above it at 50 ms; 150 ms, 250 ms.
        (trace, vec![150, 250], 5),
    ] {
        let mut gate = Gate::new(&codel(rate), context(RecordLevel::Summary));
        let units: Vec<(Time, Ecn)> = (0..400).map(|_| (Time::ZERO, Ecn::NotEct)).collect();
        let gone = drive(&mut gate, &units, millis(if passed > 100 { 217 } else { 299 }));
        assert_eq!(drops(&gone), (dropped, passed));
    }
}

/// Marks are counted once, drops with their reason, and the rows show both.
#[test]
fn books_are_kept() {
    let rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(8_000_000)));
    for (ecn, marks, culled) in [(Ecn::NotEct, 0, 2), (Ecn::Ect0, 2, 0)] {
        let mut gate = Gate::new(&codel(rate.clone()), context(RecordLevel::Events));
        let units: Vec<(Time, Ecn)> = (0..400).map(|_| (Time::ZERO, ecn)).collect();
        let gone = drive(&mut gate, &units, millis(210));
        let early = gone.iter().filter(|gone| gone.fate.is_err_and(|drop| drop.reason == DropReason::Early));
        let marked = gone.iter().filter(|gone| gone.ecn == Ecn::Ce);
        assert_eq!((marked.count() as u64, early.count() as u64), (marks, culled));
        gate.settle();
        let counters = gate.counters();
        // Inside the 150 ms that are measured, one of two.
        assert_eq!(counters.marked().total().packets, marks / 2);
        assert_eq!(counters.culled().total().packets, culled / 2);
        assert_eq!(counters.arrived().total().packets, 400);
        assert_eq!(counters.waits().count(), 0, "what came at 0 came before the measured time");
        let rows = gate.take_history().expect("rows");
        let last = rows.last().expect("a row");
        assert_eq!((last.marked_packets, last.dropped_packets), (marks / 2, culled / 2));
        assert_eq!(last.queue_packets, 400 - 1 - 149 - culled / 2);
    }
}

proptest! {
    /// Every unit has one fate, those of one flow leave in the order in which they came, only ECN-capable units are marked,
    /// and the counters agree, whatever the discipline and the law.
    #[test]
    fn units_are_conserved(
        plan in any_judged_gate(),
        gaps in prop::collection::vec((0u64..2_000_000_000, 40u32..1500, 0u32..4), 1..300),
        record in prop_oneof![
            Just(RecordLevel::Summary),
            Just(RecordLevel::Every(Span::from_millis(1))),
            Just(RecordLevel::Events),
        ],
    ) {
        let mut gate = Gate::new(&plan, context(record));
        let (mut at, mut gone, mut came) = (Time::ZERO, vec![], vec![]);
        for (handle, (gap, bytes, stretch)) in (0..).zip(gaps) {
            at += Span::from_picos(gap / 1000 * 1000);
            wake(&mut gate, at, &mut gone);
            let mut unit = unit(bytes, handle);
            unit.stretch = stretch;
            came.push(unit);
            if let Err(drop) = gate.handle_unit(at, unit) {
                gone.push(Gone { handle, ecn: unit.ecn(), fate: Err(drop) });
            }
            while let Some(left) = gate.poll_departure() {
                prop_assert!(left.fate.is_err());
                gone.push(Gone { handle: left.unit.handle, ecn: left.unit.ecn(), fate: left.fate });
            }
        }
        wake(&mut gate, MEASURED.until, &mut gone);
        let mut seen = vec![false; came.len()];
        let mut last = [None; 8];
        let class = |unit: &Unit| usize::from(matches!(unit.ecn(), Ecn::Ect1 | Ecn::Ce));
        let mut last_out = Time::ZERO;
        for Gone { handle, ecn, fate } in &gone {
            let unit = came[*handle as usize];
            prop_assert!(!std::mem::replace(&mut seen[*handle as usize], true), "{} twice", handle);
            prop_assert!(*ecn == unit.ecn() || (*ecn == Ecn::Ce && unit.ecn() != Ecn::NotEct));
            match fate {
                Ok(out) => {
                    prop_assert!(*out >= last_out);
                    last_out = *out;
                    // DualPI2 has a queue for each class.
                    let last = &mut last[2 * unit.stretch as usize + class(&unit)];
                    prop_assert!(last.replace(*handle).is_none_or(|last| last < *handle));
                }
                Err(drop) => prop_assert!(drop.at <= MEASURED.until.max(at)),
            }
        }
        gate.settle();
        let counters = gate.counters();
        let before = |fate: &Fate| fate.err().is_none_or(|drop| drop.at < MEASURED.until);
        let of = |reasons: &[DropReason]| {
            let counted = |one: &&Gone| one.fate.err().is_some_and(|drop| reasons.contains(&drop.reason));
            gone.iter().filter(|one| before(&one.fate)).filter(counted).count() as u64
        };
        let [refused, culled, lost] =
            [counters.refused(), counters.culled(), counters.lost()].map(|count| count.total().packets);
        let dropped = of(&[DropReason::QueueFull, DropReason::TooLarge, DropReason::Policed, DropReason::Early]);
        prop_assert_eq!(refused + culled, dropped);
        prop_assert_eq!(lost, of(&[DropReason::Loss, DropReason::Counted]));
        prop_assert!(counters.held().packets <= came.len() as u64);
        prop_assert!(counters.waits().count() <= came.len() as u64);
        if let Some(rows) = gate.take_history() {
            for pair in rows.windows(2) {
                prop_assert!(pair[0].at <= pair[1].at);
                prop_assert!(pair[0].dropped_packets <= pair[1].dropped_packets);
            }
        }
    }
}
