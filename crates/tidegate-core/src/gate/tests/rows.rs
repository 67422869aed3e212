//! The rows of a gate's history.

use super::*;

#[test]
fn rows_tell_the_rate_in_force() {
    let plan = GatePlan {
        rate: RatePlan::Steps {
            steps: vec![
                (Time::ZERO, Speed::Bits(Rate::from_bps(8_000_000))),
                (Time::from_picos(5_000_000_000), Speed::Bits(Rate::from_bps(2_000_000))),
            ],
            repeat: None,
        },
        ..link(8_000_000, QueueLimit::Unlimited)
    };
    let mut gate = Gate::new(&plan, context(RecordLevel::Events));
    for millis in [0, 10, 30] {
        let at = Time::ZERO + Span::from_millis(millis);
        gate.pass(at, &mut unit(1000, 0), &MEASURED).expect("no drops");
    }
    let rows = gate.take_history().expect("it is recorded");
    let change = Time::ZERO + Span::from_millis(5);
    let rates = |after: bool| -> Vec<f64> {
        rows.iter().filter(|row| (row.at >= change) == after).map(|row| row.rate_bps).collect()
    };
    for (after, bps) in [(false, 8_000_000.0), (true, 2_000_000.0)] {
        assert!(
            !rates(after).is_empty() && rates(after).iter().all(|rate| *rate == bps),
            "{:?}",
            rates(after)
        );
    }
}

/// A bucket of 2000 bytes, of which one comes back each microsecond.
#[test]
fn rows_tell_what_is_in_the_bucket() {
    let increment = Interval::at_rate(8, Rate::from_bps(8_000_000)).expect("a rate");
    let peak = Limit::tokens(increment, 2000).expect("a burst");
    let police = Some(PolicePlan { peak, sustained: None, tags: false, per_flow: None });
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    let plan = GatePlan { police, ..link(8_000_000_000, QueueLimit::Unlimited) };
    let mut gate = Gate::new(&plan, context(RecordLevel::Every(Span::from_millis(1))));
    for millis in [2, 10] {
        gate.pass(at(millis), &mut unit(1500, 0), &MEASURED).expect("it conforms");
    }
    let rows = gate.take_history().expect("it is recorded");
    let seen: Vec<(Time, f64)> = rows.iter().take(5).map(|row| (row.at, row.tokens)).collect();
    assert_eq!(seen, [(at(0), 2000.), (at(1), 2000.), (at(2), 500.), (at(3), 1500.), (at(4), 2000.)]);
    assert!(rows.iter().all(|row| row.cells.is_none()));
}

/// Two come at once, and are in service for a millisecond each.
#[test]
fn rows_of_a_cell_gate_tell_its_cells() {
    let at = Time::ZERO + Span::from_millis(1);
    let plan = GatePlan { framing: Framing::Aal5 { llc: false }, ..link(424_000, QueueLimit::Unlimited) };
    let mut gate = Gate::new(&plan, context(RecordLevel::Events));
    for handle in [0, 1] {
        gate.pass(at, &mut unit(CELL_BYTES, handle), &MEASURED).expect("no drops");
    }
    let rows = gate.take_history().expect("it is recorded");
    let seen: Vec<(Time, Option<u64>)> =
        rows.iter().map(|row| (row.at, row.cells.map(|cells| cells.whole))).collect();
    assert!(seen.contains(&(at, Some(2))), "{seen:?}");
    assert!(rows.iter().all(|row| row.tokens.is_nan()));
}

/// The mean over each 100 ms: an opportunity at the end of one belongs to the next.
#[test]
fn rows_tell_the_mean_rate_of_opportunities() {
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    let trace =
        OpportunityTrace { at: [30, 100, 130].map(at).to_vec(), period: Span::from_millis(200), bytes: 1500 };
    let rate = RatePlan::Opportunities { trace: trace.into(), at_end: AtEnd::Repeat };
    let plan = GatePlan { rate, ..GatePlan::open("link") };
    let mut gate = Gate::new(&plan, context(RecordLevel::Every(Span::from_millis(50))));
    let rows = gate.take_history().expect("it is recorded");
    let rates: Vec<(Time, f64)> = rows.iter().map(|row| (row.at, row.rate_bps)).collect();
    assert_eq!(rates, [(at(0), 120_000.0), (at(50), 120_000.0), (at(100), 240_000.0)]);
}

#[test]
fn a_rate_that_is_set_is_in_force_counted_and_recorded() {
    let follow = crate::plan::FollowPlan {
        gate: 1,
        every: Span::from_millis(5),
        lag: Span::ZERO,
        blocks: crate::effcap::Blocks::INSTCAP,
        share: crate::plan::Share::from_parts(PICOS_PER_SECOND),
        initial: Rate::from_bps(1_000_000),
        min: Rate::from_bps(1),
        peak: None,
    };
    let plan = GatePlan { rate: RatePlan::Follow(follow), ..GatePlan::open("set") };
    let mut gate = Gate::new(&plan, context(RecordLevel::Events));
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    gate.set_rate(at(2), Rate::from_bps(3_000_000));
    gate.set_rate(at(4), Rate::from_bps(3_000_000));
    assert_eq!(gate.rate_set(), Some(Rate::from_bps(3_000_000)));
    // 1 Mbit/s for 2 ms and 3 Mbit/s for 5 ms: 2000 and 15000 bits.
    assert_eq!(gate.offered_until(at(7)), 17_000 * u128::from(PICOS_PER_SECOND));
    let rows = gate.take_history().expect("it is recorded");
    let set: Vec<(Time, u64)> = rows.iter().map(|row| (row.at, row.rate_bps as u64)).collect();
    assert!(set.contains(&(at(2), 3_000_000)), "{set:?}");
    assert!(set.iter().all(|(when, bps)| *bps == if *when < at(2) { 1_000_000 } else { 3_000_000 }));
}

/// One in service, and then three that find 0, 1 and 2 packets: between thresholds of 0 and 4, with an average that is the
/// queue, p is 0, 0.25 and 0.5. The first three are not struck (p of 0 at the first, ECN at the others).
#[test]
fn rows_tell_the_probability_of_red() {
    let red = RedPlan {
        min: 0,
        max: 4,
        max_p: 1_000_000_000_000_000_000,
        weight: 1_000_000_000,
        ..RedPlan::default_for(Span::from_millis(1))
    };
    let mut plan = link(8_000_000, QueueLimit::Unlimited);
    plan.queue.discipline = Discipline::Red(red);
    let mut gate = Gate::new(&plan, context(RecordLevel::Every(Span::from_millis(1))));
    let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
    for micros in [500, 600, 700, 1400] {
        gate.pass(at(micros), &mut unit(1000, 2), &MEASURED).expect("marked at most");
    }
    let rows = gate.take_history().expect("it is recorded");
    let seen: Vec<f64> = rows.iter().take(4).map(|row| row.drop_probability).collect();
    // 600 us: the queue is empty, one is in service; 700 us: one waits; 1400 us: two wait.
    assert_eq!(seen, [0.0, 0.25, 0.5, 0.5]);
    let mut plain = Gate::new(&link(8_000_000, QueueLimit::Unlimited), context(RecordLevel::Events));
    plain.pass(at(1), &mut unit(1000, 0), &MEASURED).expect("no drops");
    assert!(plain.take_history().expect("it is recorded").iter().all(|row| row.drop_probability.is_nan()));
}

/// PIE and DualPI2: from an update on, as the next packet shows.
#[test]
fn rows_tell_the_probability_of_controllers() {
    let pie =
        PiePlan { target: Span::from_micros(1), alpha: 1_000_000, beta: 1_000_000_000, ..PiePlan::DEFAULT };
    let dual = DualPi2Plan {
        target: Span::from_micros(1),
        alpha: 1_000_000,
        beta: 20_000_000,
        ..DualPi2Plan::DEFAULT
    };
    for discipline in [Discipline::Pie(pie), Discipline::DualPi2(dual)] {
        let mut plan = link(800_000, QueueLimit::Unlimited);
        plan.queue.discipline = discipline;
        let mut gate = Gate::new(&plan, context(RecordLevel::Events));
        for _ in 0..5 {
            gate.handle_unit(Time::ZERO, unit(1000, 2)).expect("no drops");
        }
        // The first of the queue has waited since 0 when p is updated at 15 or 16 ms; the next leaves at 20 ms.
        gate.handle_wakeup();
        gate.handle_wakeup();
        let rows = gate.take_history().expect("it is recorded");
        let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
        let of = |from: u64, to: u64| {
            let rows = rows.iter().filter(|row| row.at >= at(from) && row.at < at(to));
            rows.map(|row| row.drop_probability).collect::<Vec<f64>>()
        };
        assert!(of(0, 15).iter().all(|seen| *seen == 0.0), "{:?}", of(0, 15));
        let expected = match discipline {
            // 1 × 14.999 ms + 1000 × 15 ms = 15.014999, over 2048.
            Discipline::Pie(_) => 15.014_999 / 2048.0,
            // p' = 1 × 15.999 ms + 20 × 16 ms = 0.335999; p'².
            _ => 0.335_999 * 0.335_999,
        };
        let last = *of(20, 21).last().expect("a row");
        assert!((last - expected).abs() < 1e-9, "{last} and {expected}");
    }
}

/// Of two units that come at once before the measured time, one waits; the first one inside it finds the server idle.
#[test]
fn a_wait_before_the_measured_time_is_no_later_ones() {
    let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
    let every = Span::from_millis(5);
    let mut gate = Gate::new(&link(8_000_000_000, QueueLimit::Unlimited), context(RecordLevel::Every(every)));
    for micros in [0, 0, 2000] {
        gate.pass(at(micros), &mut unit(1500, 0), &MEASURED).expect("no drops");
    }
    let rows = gate.take_history().expect("it is recorded");
    assert_eq!((rows[1].at, rows[1].wait, rows[1].delivered_bytes), (at(5000), Span::ZERO, 4500));
}
