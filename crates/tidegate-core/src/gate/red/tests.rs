//! RED's numbers by hand.

use super::*;
use crate::random::Seed;
use crate::unit::HeldBy;
use crate::units::Span;

const PERCENT: u64 = ONE / 100;

fn plan() -> RedPlan {
    RedPlan::default_for(Span::from_millis(1))
}

fn red(plan: RedPlan) -> Red {
    Red::new(plan, Seed { seed: 1, replication: 0 }.stream("gate.link/aqm"))
}

/// A red whose average is so many thousandths of a packet or byte.
fn at_average(plan: RedPlan, thousandths: i128) -> Red {
    Red { average: thousandths * WHOLE / 1000, ..red(plan) }
}

fn unit(ecn: Ecn) -> Unit {
    let mut unit = Unit::new(1000, 0, HeldBy::Application);
    unit.set_ecn(ecn);
    unit
}

fn millis(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// A quarter of the way to the queue each time: 4, 8, 0, 2 packets. In bytes it is their bytes.
#[test]
fn the_average_step_by_step() {
    let mut red = red(RedPlan { weight: 250_000_000, ..plan() });
    let mut seen = vec![];
    for units in [4, 8, 0, 2] {
        let found = Backlog { units, bytes: 999 * units };
        assert_eq!(red.judge(Time::ZERO, (found, false), &unit(Ecn::NotEct)), Ok(false));
        seen.push(red.average * 1_000_000 / WHOLE);
    }
    assert_eq!(seen, [1_000_000, 2_750_000, 2_062_500, 2_046_875]);
    let mut bytes =
        super::tests::red(RedPlan { weight: 2_000_000, in_bytes: true, min: 5000, max: 15_000, ..plan() });
    let found = Backlog { units: 2, bytes: 3000 };
    for expected in [6_000_000, 11_988_000, 17_964_024] {
        let _ = bytes.judge(Time::ZERO, (found, false), &unit(Ecn::NotEct));
        assert_eq!(bytes.average * 1_000_000 / WHOLE, expected, "0.002 × 3000, then 0.998 of it and 6 more");
    }
}

/// 3.9 ms without service: three times an empty queue and nine tenths of it, a packet's time being 1 ms. Each halves the
/// average: 64/8 × 0.55. That time counts once, also where the
/// unit that ended it was dropped; and before the first unit there is nothing to forget.
#[test]
fn the_average_falls_while_the_server_is_idle() {
    let mut red = at_average(RedPlan { weight: 500_000_000, min: 1, max: 2, ..plan() }, 64_000);
    red.note_end(millis(10));
    let idle = (Backlog::default(), true);
    let at = Time::from_picos(13_900_000_000);
    assert_eq!(red.judge(at, idle, &unit(Ecn::NotEct)), Err(DropReason::Early));
    assert_eq!(red.average, 44 * WHOLE / 10);
    assert_eq!(red.judge(at, idle, &unit(Ecn::NotEct)), Err(DropReason::Early));
    assert_eq!(red.average, 44 * WHOLE / 10);
    // 2.1 ms more: 4.4/4 × 0.95.
    let _ = red.judge(millis(16), idle, &unit(Ecn::NotEct));
    assert_eq!(red.average, 1_045 * WHOLE / 1000);
    // For ever is long enough to forget all.
    let _ = red.judge(Time::from_picos(u64::MAX / 2), idle, &unit(Ecn::NotEct));
    assert_eq!(red.average, 0);
}

#[test]
fn powers_of_shares() {
    assert_eq!([0, 1, 2, 3].map(|times| power(500_000_000, times) / PERCENT), [100, 50, 25, 12]);
    // 0.998^1000 = 0.135064522…
    assert_eq!(power(998_000_000, 1000) / (ONE / 1_000_000_000), 135_064_522);
    assert_eq!((power(0, 3), power(1_000_000_000, u64::MAX)), (0, ONE));
}

/// 0 to `max_p` between 5 and 15 packets; then to 1 at 30, or all at 15.
#[test]
fn the_probability_follows_the_average() {
    let of = |plan: RedPlan, thousandths| {
        let mut red = at_average(plan, thousandths);
        let forced = red.verdict(1000, Colour::Green) == Verdict::Forced;
        (red.probability / (ONE / 10_000), forced)
    };
    for (average, expected) in [
        (4_999, (0, false)),
        (5_000, (0, false)),
        (10_000, (500, false)),
        (14_999, (999, false)),
        (15_000, (1_000, false)),
        (22_500, (5_500, false)),
        (29_999, (9_999, false)),
        (30_000, (10_000, true)),
    ] {
        assert_eq!(of(plan(), average), expected, "{average}");
    }
    let plain = RedPlan { gentle: false, ..plan() };
    assert_eq!((of(plain, 14_999), of(plain, 15_000)), ((999, false), (10_000, true)));
}

/// How many units come from one that is struck to the next, that one included.
fn gaps(plan: RedPlan, bytes: u32) -> Vec<usize> {
    let mut red = at_average(plan, 10_000);
    red.counts[0] = Some(0);
    let mut gaps = vec![0; 40];
    let mut gap = 0;
    for _ in 0..100_000 {
        gap += 1;
        if red.verdict(bytes, Colour::Green) == Verdict::Struck {
            gaps[gap] += 1;
            gap = 0;
        }
    }
    gaps
}

/// With p = 0.1 each number of 1 to 9 is as likely as any other; with `wait`, each of 10 to 19.
#[test]
fn drops_are_spread_evenly() {
    let tenth = RedPlan { max_p: 20 * PERCENT, ..plan() };
    for (plan, range, least) in [(tenth, 1..=9, 2100), (RedPlan { wait: true, ..tenth }, 10..=19, 600)] {
        let gaps = gaps(plan, 1000);
        for (gap, count) in gaps.iter().enumerate() {
            let expected = if range.contains(&gap) { least..least + 250 } else { 0..1 };
            assert!(expected.contains(count), "{gap}: {gaps:?}");
        }
    }
}

/// Packets of twice the size are struck twice as often.
#[test]
fn the_probability_by_size() {
    let plan = RedPlan { max_p: 10 * PERCENT, by_size: Some(500), ..plan() };
    for (bytes, longest) in [(500, 19), (1000, 9)] {
        assert_eq!(gaps(plan, bytes).iter().rposition(|count| *count > 0), Some(longest));
    }
}

/// ECN-capable units are marked instead of dropped; above all thresholds only where that is asked for.
#[test]
fn marks_and_drops() {
    let busy = |units| (Backlog { units, bytes: 0 }, false);
    for (hard_drop, forced) in [(true, Err(DropReason::Early)), (false, Ok(true))] {
        // The average is the queue; at 29.99 packets the probability is almost 1.
        let plan = RedPlan { weight: WEIGHTS as u32, hard_drop, min: 0, max: 1, max_p: ONE, ..plan() };
        let mut red = red(plan);
        assert_eq!(red.judge(Time::ZERO, busy(1), &unit(Ecn::Ect0)), Ok(true));
        assert_eq!(red.judge(Time::ZERO, busy(1), &unit(Ecn::NotEct)), Err(DropReason::Early));
        assert_eq!(red.judge(Time::ZERO, busy(2), &unit(Ecn::Ect1)), forced);
        assert_eq!(red.judge(Time::ZERO, busy(2), &unit(Ecn::NotEct)), Err(DropReason::Early));
        assert_eq!(red.judge(Time::ZERO, busy(0), &unit(Ecn::NotEct)), Ok(false));
    }
}

/// Each half second: 0.01 or a quarter more above 11 packets, a tenth less below 9, nothing between; no rise above
/// 0.5, no fall below 0.01.
#[test]
fn the_greatest_probability_adapts() {
    let adaptive = RedPlan { adaptive: Some(RedAdaptivePlan::DEFAULT), ..plan() };
    let thousandths = |red: &Red| red.max_p / (ONE / 100_000);
    let after = |average, max_p: u64, until: u64| {
        let mut red = Red { max_p: max_p * (ONE / 100_000), ..at_average(adaptive, average) };
        red.adapt_until(millis(until), false);
        thousandths(&red)
    };
    assert_eq!(
        [499, 500, 999, 1000].map(|until| after(11_001, 10_000, until)),
        [10_000, 11_000, 11_000, 12_000]
    );
    assert_eq!(after(11_001, 2_000, 500), 2_500);
    assert_eq!(after(8_999, 10_000, 1500), 7_290);
    assert_eq!((after(9_000, 10_000, 5000), after(11_000, 10_000, 5000)), (10_000, 10_000));
    assert_eq!((after(20_000, 50_000, 5000), after(20_000, 50_001, 5000)), (51_000, 50_001));
    assert_eq!((after(0, 1_000, 500), after(0, 999, 5000)), (900, 999));
}

/// While the server is idle the average falls before each step: 20 packets at 0 ms are 2.7 after a thousand packets' times.
#[test]
fn it_adapts_to_an_idle_server() {
    let adaptive = RedPlan { adaptive: Some(RedAdaptivePlan::DEFAULT), ..plan() };
    let mut red = at_average(adaptive, 20_000);
    red.note_end(Time::ZERO);
    // 7.35 packets at 500 ms, 2.7 at 1 s: both below the target.
    let _ = red.judge(millis(1000), (Backlog::default(), true), &unit(Ecn::NotEct));
    assert_eq!(red.max_p, ONE / 1000 * 81);
    assert_eq!(red.average * 1000 / WHOLE, 2_701);
    // A long time later it has fallen below 0.01, and stays.
    let _ = red.judge(millis(1_000_000), (Backlog::default(), true), &unit(Ecn::NotEct));
    assert!(red.max_p < ONE / 100 && red.max_p > ONE / 1000 * 8, "{}", red.max_p);
    assert_eq!(red.next_update, millis(1_000_500));
}

/// Weighted RED: at an average of 12 packets green units (20 to 40) pass, yellow ones (10 to 30 with at most a half) are
/// struck with a probability of 0.05, and red ones (5 to 6, twice 6 is 12) are all dropped. Green units do not end the count
/// of yellow ones.
#[test]
fn each_colour_has_its_own_thresholds() {
    let curve = |min, max, percent| Some(RedCurve { min, max, max_p: percent * PERCENT });
    let colours = [curve(20, 40, 10), curve(10, 30, 50), curve(5, 6, 10)];
    let mut red = at_average(RedPlan { colours, ..plan() }, 12_000);
    let found = Backlog { units: 12, bytes: 12_000 };
    let mut fate = |colour| {
        let mut unit = unit(Ecn::NotEct);
        unit.set_colour(colour);
        (red.judge(Time::ZERO, (found, false), &unit), red.probability())
    };
    let mut between = 0;
    loop {
        assert_eq!(fate(Colour::Green), (Ok(false), 0));
        assert_eq!(fate(Colour::Red), (Err(DropReason::Early), ONE));
        let (yellow, probability) = fate(Colour::Yellow);
        assert_eq!(probability, 5 * PERCENT);
        if yellow.is_err() {
            break;
        }
        between += 1;
    }
    // At most 1/p = 20 yellow units lie between two that are struck.
    assert!(between < 20, "{between}");
}
