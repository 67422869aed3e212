use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};
use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::units::Rate;

mod golden;

#[derive(Deserialize)]
struct Vectors {
    vectors: Vec<Single>,
    dual_vectors: Vec<Both>,
}

#[derive(Deserialize)]
#[expect(non_snake_case, reason = "the names in the file")]
struct Single {
    name: String,
    T: u64,
    tau: u64,
    delta: u64,
    arrivals: Vec<u64>,
    verdicts: Vec<u8>,
    TAT_after: Vec<u64>,
    X_after: Vec<u64>,
    LCT_after: Vec<u64>,
    shaped_paper: Vec<u64>,
    shaped_earliest: Vec<u64>,
    nonconforming: usize,
}

#[derive(Deserialize)]
#[expect(non_snake_case, reason = "the names in the file")]
struct Both {
    name: String,
    mode: String,
    T_pcr: u64,
    tau_pcr: u64,
    T_scr: u64,
    tau_scr: u64,
    cells: Vec<(u64, u8)>,
    verdicts: Vec<String>,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../../../tests/vectors/gcra.json")).expect("the file is JSON")
}

fn of(units: u64) -> Interval {
    Interval::of(units).expect("short")
}

fn limit(increment: u64, tolerance: u64) -> Limit {
    Limit::new(of(increment), tolerance).expect("a limit")
}

fn shaped(limit: Limit, release: Release, spacing: u64, arrivals: &[u64]) -> Vec<u64> {
    let mut shaper = Shaper::new(limit, release, of(spacing));
    arrivals.iter().map(|&at| shaper.release(at)).collect()
}

#[test]
fn the_vectors_exactly() {
    let all = vectors().vectors;
    assert!(all.len() >= 10);
    for v in all {
        let mut gcra = Gcra::new(limit(v.T, v.tau));
        let mut bucket = LeakyBucket::new(limit(v.T, v.tau));
        for (i, &at) in v.arrivals.iter().enumerate() {
            assert_eq!(u8::from(gcra.police(at)), v.verdicts[i], "{} cell {i}", v.name);
            assert_eq!(gcra.theoretical_arrival(), v.TAT_after[i], "{} cell {i}", v.name);
            assert_eq!(u8::from(bucket.police(at)), v.verdicts[i], "{} cell {i}", v.name);
            let state = (bucket.content(), bucket.last_conforming());
            assert_eq!(state, (v.X_after[i], v.LCT_after[i]), "{} cell {i}", v.name);
        }
        assert_eq!(v.verdicts.iter().filter(|&&verdict| verdict == 0).count(), v.nonconforming);
        let shape = |release| shaped(limit(v.T, v.tau), release, v.delta, &v.arrivals);
        assert_eq!(shape(Release::Tat), v.shaped_paper, "{}", v.name);
        assert_eq!(shape(Release::Earliest), v.shaped_earliest, "{}", v.name);
    }
}

#[test]
fn the_dual_vectors_exactly() {
    let all = vectors().dual_vectors;
    assert!(all.len() >= 6);
    for v in all {
        let conformance = match v.mode.as_str() {
            "VBR1" => Conformance::Vbr1,
            "VBR2" => Conformance::Vbr2,
            "VBR3" => Conformance::Vbr3,
            other => panic!("{}: {other}", v.name),
        };
        let mut dual = Dual::new(limit(v.T_pcr, v.tau_pcr), limit(v.T_scr, v.tau_scr), conformance);
        for (i, (&(at, clp), verdict)) in v.cells.iter().zip(&v.verdicts).enumerate() {
            let said = match dual.police(at, clp == 1) {
                Verdict::Pass => "pass",
                Verdict::Tag => "tag",
                Verdict::Discard => "discard",
            };
            assert_eq!(said, verdict, "{} cell {i}", v.name);
        }
    }
}

/// The worked examples of the documentation.
#[test]
fn examples() {
    let mut gcra = Gcra::new(limit(10, 3));
    let told = [0, 7, 14, 21].map(|at| (gcra.police(at), gcra.theoretical_arrival()));
    assert_eq!(told, [(true, 10), (true, 20), (false, 20), (true, 31)]);
    assert_eq!(shaped(limit(10, 3), Release::Tat, 1, &[0, 6, 13]), [0, 10, 20]);
    assert_eq!(shaped(limit(10, 3), Release::Earliest, 1, &[0, 6, 13]), [0, 7, 17]);
    // Sustained 1/6, peak 1/2, bursts of 5 cells: (5 − 1)·(6 − 2).
    assert_eq!(burst_tolerance(5, of(6), of(2)), Ok(16));
    assert_eq!(max_burst_size(16, of(6), of(2)), Ok(5));
    assert_eq!(max_burst_size(15, of(6), of(2)), Ok(4));
}

/// A VBR.3 contract tags what the sustained rate does not count, and a tagged cell does not
/// bring the next one nearer to the limit.
#[test]
fn tagging() {
    let verdicts = |conformance| {
        let mut dual = Dual::new(limit(2, 0), limit(6, 4), conformance);
        [(0, false), (2, false), (4, false), (6, true), (7, true), (8, false)]
            .map(|(at, clp)| dual.police(at, clp))
    };
    use Verdict::{Discard, Pass, Tag};
    assert_eq!(verdicts(Conformance::Vbr1), [Pass, Pass, Discard, Discard, Discard, Pass]);
    assert_eq!(verdicts(Conformance::Vbr2), [Pass, Pass, Discard, Pass, Discard, Pass]);
    assert_eq!(verdicts(Conformance::Vbr3), [Pass, Pass, Tag, Pass, Discard, Pass]);
}

/// 35 Mbit/s of cells is 12114285 5/7 ps each: seven cells take exactly seven times that.
#[test]
fn an_interval_that_is_not_whole() {
    let increment = Interval::at_rate(424, Rate::from_bps(35_000_000)).expect("a rate");
    let mut shaper = Shaper::new(Limit::new(increment, 0).expect("a limit"), Release::Tat, of(0));
    let left: Vec<u64> = (0..15).map(|_| shaper.release(0)).collect();
    assert_eq!(left[1], 12_114_285);
    assert_eq!((left[7], left[14]), (84_800_000, 169_600_000));
    assert!(left.iter().zip(0..).all(|(&at, n)| at == n * 84_800_000 / 7));
}

#[test]
fn parameters_that_cannot_be() {
    let message = |wrong: Result<Limit, LimitError>| wrong.expect_err("wrong").to_string();
    assert_eq!(
        message(Limit::new(of(0), 5)),
        "T: with no time between units every one conforms; more than 0"
    );
    let long = message(Limit::new(of(1), LONGEST + 1));
    assert_eq!(long, "tau: 4611686018427387905 is too long; at most 4611686018427387904");
    assert_eq!(message(Limit::tokens(of(8), 0)), "burst: an empty bucket lets nothing through; at least 1");
    assert_eq!(Limit::tokens(of(LONGEST / 2), 4), Err(LimitError::BurstTooLong { burst: 4 }));
    assert_eq!(Interval::ratio(1, 0), Err(IntervalError::NoDenominator));
    assert_eq!(Interval::at_rate(424, Rate::ZERO), Err(IntervalError::NoRate));
    assert_eq!(Interval::of(LONGEST), Err(IntervalError::TooLong));
    assert_eq!(burst_tolerance(0, of(6), of(2)), Err(LimitError::NoCells));
    assert_eq!(burst_tolerance(3, of(2), of(2)), Err(LimitError::NotSlower));
    assert_eq!(burst_tolerance(3, of(2), Interval::ratio(5, 2).expect("short")), Err(LimitError::NotSlower));
    assert_eq!(max_burst_size(3, of(2), of(3)), Err(LimitError::NotSlower));
    assert_eq!(burst_tolerance(u64::MAX, of(9), of(2)), Err(LimitError::BurstTooLong { burst: u64::MAX }));
}

/// Departures beyond 64 bits stay at the last instant; nothing wraps.
#[test]
fn the_end_of_time() {
    let mut shaper = Shaper::new(limit(LONGEST - 1, LONGEST), Release::Tat, of(LONGEST - 1));
    let left: Vec<u64> = (0..12).map(|_| shaper.release(u64::MAX - 5)).collect();
    assert_eq!(left[0], u64::MAX - 5);
    assert!(left.is_sorted() && left[11] == u64::MAX);
}

/// Arrivals with ties, small gaps and long ones.
fn arrivals() -> impl Strategy<Value = Vec<u64>> {
    let any = prop_oneof![2 => Just(0u64), 4 => 0u64..8, 3 => 0u64..40, 1 => 0u64..400];
    prop::collection::vec(any, 1..120).prop_map(|gaps| {
        gaps.iter()
            .scan(0, |at, gap| {
                *at += gap;
                Some(*at)
            })
            .collect()
    })
}

fn increments() -> impl Strategy<Value = Interval> {
    prop_oneof![
        (1u64..30).prop_map(of),
        (1u64..300, 1u64..12).prop_map(|(n, d)| Interval::ratio(n, d).expect("short")),
    ]
}

fn releases() -> impl Strategy<Value = Release> {
    prop_oneof![Just(Release::Tat), Just(Release::Earliest)]
}

proptest! {
    /// Both algorithms, and exact arithmetic on one scale: never another verdict.
    #[test]
    fn never_another_verdict(increment in increments(), tolerance in 0u64..60, arrivals in arrivals()) {
        let limit = Limit::new(increment, tolerance).unwrap();
        let (mut gcra, mut bucket) = (Gcra::new(limit), LeakyBucket::new(limit));
        let parts = i128::from(increment.parts());
        let step = i128::from(increment.whole()) * parts + i128::from(increment.part());
        let mut tat: i128 = 0;
        for at in arrivals {
            let now = i128::from(at) * parts;
            let conforms = i128::from(at) >= tat.div_euclid(parts) - i128::from(tolerance);
            if conforms {
                tat = now.max(tat) + step;
            }
            prop_assert_eq!(gcra.police(at), conforms);
            prop_assert_eq!(bucket.police(at), conforms);
            prop_assert_eq!(i128::from(gcra.theoretical_arrival()), tat.div_euclid(parts));
            prop_assert_eq!(bucket.content() + bucket.last_conforming(), gcra.theoretical_arrival());
        }
    }

    /// What a shaper lets out passes the policer, in order, never before it came, at least
    /// the spacing apart; what conforms already and is apart is not delayed.
    #[test]
    fn what_is_shaped_conforms(
        increment in increments(),
        tolerance in 0u64..60,
        spacing in increments(),
        release in releases(),
        arrivals in arrivals(),
    ) {
        let limit = Limit::new(increment, tolerance).unwrap();
        let mut shaper = Shaper::new(limit, release, spacing);
        let left: Vec<u64> = arrivals.iter().map(|&at| shaper.release(at)).collect();
        let mut gcra = Gcra::new(limit);
        for (&came, &went) in arrivals.iter().zip(&left) {
            prop_assert!(went >= came);
            prop_assert!(gcra.police(went));
        }
        let apart = |pair: &[u64]| pair[1] >= pair[0] + spacing.whole();
        prop_assert!(left.windows(2).all(apart));
        if release == Release::Earliest {
            let mut again = Shaper::new(limit, release, spacing);
            let once_more: Vec<u64> = left.iter().map(|&at| again.release(at)).collect();
            prop_assert_eq!(once_more, left);
        }
    }

    /// The first reading waits at least as long as the second, and they agree for τ = 0.
    #[test]
    fn the_two_readings(increment in increments(), tolerance in 0u64..60, arrivals in arrivals()) {
        let left = |tau, release| shaped(Limit::new(increment, tau).unwrap(), release, 0, &arrivals);
        prop_assert_eq!(left(0, Release::Tat), left(0, Release::Earliest));
        let pairs = left(tolerance, Release::Tat).into_iter().zip(left(tolerance, Release::Earliest));
        prop_assert!(pairs.into_iter().all(|(tat, earliest)| tat >= earliest));
    }

    /// Bytes: a token bucket counted the usual way, in tokens that come back.
    #[test]
    fn a_token_bucket(
        increment in increments(),
        burst in 1u64..40,
        packets in prop::collection::vec((0u64..60, 1u64..50), 1..80),
        release in releases(),
    ) {
        let limit = Limit::tokens(increment, burst).unwrap();
        prop_assert_eq!(limit.burst(), burst);
        let (mut gcra, mut shaper) = (Gcra::new(limit), Shaper::new(limit, release, of(0)));
        let mut again = Gcra::new(limit);
        // Missing time: what is not in the bucket, as time; one part less than a unit is nothing.
        let parts = u128::from(increment.parts());
        let byte = u128::from(increment.whole()) * parts + u128::from(increment.part());
        let (mut missing, mut last, mut now) = (0u128, 0, 0);
        for (gap, bytes) in packets {
            now += gap;
            missing = missing.saturating_sub(u128::from(now - last) * parts);
            last = now;
            let after = missing + u128::from(bytes) * byte;
            // With the rounding of times: less than one unit of time early is in time.
            let conforms = bytes <= burst && after < u128::from(burst) * byte + parts;
            if conforms {
                missing = after;
            }
            prop_assert_eq!(gcra.police_units(now, bytes), conforms);
            match shaper.release_units(now, bytes) {
                None => prop_assert!(bytes > burst),
                Some(left) => prop_assert!(left >= now && again.police_units(left, bytes)),
            }
        }
    }

    /// A single unit is a unit.
    #[test]
    fn one_unit_at_a_time(increment in increments(), tolerance in 0u64..60, arrivals in arrivals(), release in releases()) {
        let limit = Limit::new(increment, tolerance).unwrap();
        let (mut cells, mut units) = (Gcra::new(limit), Gcra::new(limit));
        let (mut early, mut packets) = (Shaper::new(limit, release, of(2)), Shaper::new(limit, release, of(2)));
        for at in arrivals {
            prop_assert_eq!(cells.police(at), units.police_units(at, 1));
            prop_assert_eq!(Some(early.release(at)), packets.release_units(at, 1));
        }
    }

    /// A burst of MBS cells at the peak rate just conforms, whatever the rounding, and where
    /// times are whole one more does not.
    #[test]
    fn bursts_at_the_peak_rate(sustained in increments(), peak in increments(), mbs in 1u64..60) {
        let Ok(tolerance) = burst_tolerance(mbs, sustained, peak) else {
            prop_assert!(sustained.excess(&peak, 1).is_none_or(|more| more == 0));
            return Ok(());
        };
        let longest = max_burst_size(tolerance, sustained, peak).unwrap();
        prop_assert!(longest >= mbs);
        let conforming = |limit: Limit| {
            let mut link = Shaper::new(Limit::new(peak, 0).unwrap(), Release::Tat, of(0));
            let mut gcra = Gcra::new(limit);
            (0..400u64).take_while(|_| gcra.police(link.release(0))).count() as u64
        };
        let conform = conforming(Limit::new(sustained, tolerance).unwrap());
        prop_assert!(conform >= longest.min(400), "{} of {}", conform, longest);
        if sustained.part() == 0 && peak.part() == 0 {
            prop_assert_eq!(conform, longest.min(400));
            prop_assert_eq!(longest, mbs);
        }
    }

    /// An independent limiter, `governor`, never says anything else. Its quotas are whole
    /// numbers of units that return one by one: τ = (burst − 1)·T.
    #[test]
    fn as_another_limiter(period in 1u64..50, burst in 1u32..12, gaps in prop::collection::vec((0u64..60, 1u32..14), 1..100)) {
        let quota = Quota::with_period(Duration::from_nanos(period)).unwrap().allow_burst(NonZeroU32::new(burst).unwrap());
        let clock = FakeRelativeClock::default();
        let (single, batch) = (RateLimiter::direct_with_clock(quota, clock.clone()), RateLimiter::direct_with_clock(quota, clock.clone()));
        let limit = Limit::tokens(of(period), u64::from(burst)).unwrap();
        prop_assert_eq!(limit, self::limit(period, u64::from(burst - 1) * period));
        let (mut cells, mut packets) = (Gcra::new(limit), Gcra::new(limit));
        let mut now = 0;
        for (gap, units) in gaps {
            clock.advance(Duration::from_nanos(gap));
            now += gap;
            prop_assert_eq!(cells.police(now), single.check().is_ok());
            let theirs = batch.check_n(NonZeroU32::new(units).unwrap());
            prop_assert_eq!(packets.police_units(now, u64::from(units)), matches!(theirs, Ok(Ok(()))));
        }
    }
}

#[test]
fn a_limit_says_what_it_was_made_of() {
    let increment = Interval::of(6).expect("a time");
    for tolerance in [0, 1, 5, 6, 35] {
        let limit = Limit::new(increment, tolerance).expect("a limit");
        assert_eq!((limit.increment(), limit.tolerance()), (increment, tolerance));
        assert_eq!(limit.burst(), 1 + tolerance / 6);
    }
    let limit = Limit::tokens(increment, 4).expect("a limit");
    assert_eq!((limit.tolerance(), limit.burst()), (18, 4));
}
