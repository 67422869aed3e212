//! Arrival processes and applications.

use super::*;
use std::sync::Arc;

use crate::plan::{HoldingPlan, MessageLength, MessagePlan, SourcePlan};
use crate::random::{Seed, TruncatedGeometric};
use crate::units::{PICOS_PER_SECOND, Rate, Span};

fn rng() -> Stream {
    Seed { seed: 1, replication: 0 }.stream("app")
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// 1000 bytes at 3 Mbit/s: 2.666… ms apart. The third of a picosecond is carried.
#[test]
fn a_constant_rate_never_drifts() {
    let plan = SourcePlan::Constant { rate: Rate::from_bps(3_000_000), bytes: 1000 };
    let mut arrivals = ArrivalProcess::new(&plan, at(5), rng());
    for n in 0..100_000_u128 {
        let expected =
            at(5) + Span::from_picos((n * 8_000 * u128::from(PICOS_PER_SECOND) / 3_000_000) as u64);
        assert_eq!(arrivals.next(), Some((expected, 1000)));
    }
}

#[test]
fn no_rate_no_end() {
    let plan = SourcePlan::Constant { rate: Rate::ZERO, bytes: 1000 };
    let mut arrivals = ArrivalProcess::new(&plan, at(5), rng());
    assert_eq!(arrivals.next(), Some((at(5), 1000)));
    assert_eq!(arrivals.peek(), Time::NEVER);
    assert_eq!(arrivals.next(), None);
    let mut poisson =
        ArrivalProcess::new(&SourcePlan::Poisson { rate: Rate::ZERO, bytes: 1000 }, at(5), rng());
    assert_eq!(poisson.next(), None);
}

/// On for 10 ms, off for 30: every 4 ms of on time.
#[test]
fn on_off_keeps_its_place_over_the_pauses() {
    let plan = SourcePlan::OnOff {
        rate: Rate::from_bps(2_000_000),
        bytes: 1000,
        on: HoldingPlan::Constant(Span::from_millis(10)),
        off: HoldingPlan::Constant(Span::from_millis(30)),
    };
    let mut arrivals = ArrivalProcess::new(&plan, at(0), rng());
    let times: Vec<Time> = (0..9).filter_map(|_| arrivals.next()).map(|(time, _)| time).collect();
    // On time 0 4 8 | 12 16 | 20 24 28 | 32: the fifth second-period arrival falls on its start.
    assert_eq!(times, [0, 4, 8, 42, 46, 80, 84, 88, 122].map(at));
}

/// The mean rate is the on rate times the share of on time, however short the periods.
#[test]
fn on_off_has_the_right_mean_even_with_periods_shorter_than_a_gap() {
    let plan = SourcePlan::OnOff {
        rate: Rate::from_bps(8_000_000),
        bytes: 1000,
        on: HoldingPlan::Exponential(Span::from_micros(300)),
        off: HoldingPlan::Exponential(Span::from_micros(900)),
    };
    let mut arrivals = ArrivalProcess::new(&plan, at(0), rng());
    let mut count = 0_u32;
    while arrivals.next().is_some_and(|(time, _)| time < at(100_000)) {
        count += 1;
    }
    // 1 per ms while on, on a quarter of 100 s.
    assert!((f64::from(count) / 25_000.0 - 1.0).abs() < 0.02, "{count}");
}

#[test]
fn poisson_has_the_right_mean_and_spread() {
    let plan = SourcePlan::Poisson { rate: Rate::from_bps(8_000_000), bytes: 1000 };
    let mut arrivals = ArrivalProcess::new(&plan, at(0), rng());
    let (mut last, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let n = 100_000;
    for _ in 0..n {
        let now = arrivals.next().map_or(0.0, |(time, _)| time.as_secs_f64() * 1e3);
        sum += now - last;
        squares += (now - last) * (now - last);
        last = now;
    }
    let mean = sum / f64::from(n);
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    assert!((squares / f64::from(n) - 2.0).abs() < 0.1, "second moment of an exponential");
}

#[test]
fn a_pause_of_no_length_is_no_trap() {
    let zero = HoldingPlan::Constant(Span::ZERO);
    let rate = Rate::from_bps(8_000_000);
    let plan = SourcePlan::OnOff { rate, bytes: 1000, on: zero, off: zero };
    let mut arrivals = ArrivalProcess::new(&plan, at(0), rng());
    assert_eq!(arrivals.next(), Some((at(0), 1000)));
    assert_eq!(arrivals.next(), None);
}

#[test]
fn bulk_and_transfers_write_once() {
    for (plan, bytes) in [(AppPlan::Bulk, u64::MAX), (AppPlan::Transfer { bytes: 5000 }, 5000)] {
        let mut application = Application::new(&plan, at(3), rng());
        assert_eq!(application.next_wakeup(), at(3));
        assert_eq!(application.handle_wakeup(at(2)), 0);
        assert_eq!(application.handle_wakeup(at(3)), bytes);
        assert_eq!(application.next_wakeup(), Time::NEVER);
        assert_eq!(application.handle_wakeup(at(4)), 0);
    }
}

#[test]
fn a_source_writes_all_that_is_due() {
    let plan = AppPlan::Source(SourcePlan::Constant { rate: Rate::from_bps(8_000_000), bytes: 1000 });
    let mut application = Application::new(&plan, at(10), rng());
    assert_eq!(application.handle_wakeup(at(9)), 0);
    assert_eq!(application.handle_wakeup(at(10)), 1000);
    assert_eq!(application.next_wakeup(), at(11));
    assert_eq!(application.handle_wakeup(at(13)), 3000);
}

/// papers/README §3 of the traffic-shaping paper: a geometric length of mean 25 cut at 200,
/// renormalised to mean 25.
#[test]
fn lengths_are_geometric_below_the_cut_and_have_their_mean() {
    let lengths = TruncatedGeometric::new(25, 200).expect("it has one");
    let chance: Vec<f64> = (1..=200).map(|n| lengths.probability(n)).collect();
    assert!((chance.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let mean: f64 = chance.iter().zip(1..).map(|(chance, n)| chance * f64::from(n)).sum();
    assert!((mean - 25.0).abs() < 1e-9, "{mean}");
    // One ratio throughout.
    let ratio = chance[1] / chance[0];
    assert!(ratio < 1.0);
    assert!(chance.windows(2).all(|pair| (pair[1] / pair[0] - ratio).abs() < 1e-9));
    // Hardly cut at all: the plain geometric law.
    let plain = TruncatedGeometric::new(4, 1365).expect("it has one");
    assert!((plain.probability(3) - 0.75 * 0.75 * 0.25).abs() < 1e-12);
}

#[test]
fn lengths_without_a_falling_law_are_refused() {
    assert_eq!(TruncatedGeometric::new(0, 200), None);
    assert_eq!(TruncatedGeometric::new(25, 48), None);
    let alike = TruncatedGeometric::new(25, 49).expect("all alike");
    assert!((alike.probability(1) - alike.probability(49)).abs() < 1e-9);
    let one = TruncatedGeometric::new(1, 1).expect("always one");
    assert_eq!((one.most(), one.probability(1)), (1, 1.0));
}

fn messages(exponential: bool, length: MessageLength) -> SourcePlan {
    SourcePlan::Messages(MessagePlan { load: Rate::from_bps(12_500_000), exponential, length, llc: false })
}

/// Three cells at 12.5 Mbit/s: 101.76 us apart, 136 bytes each.
#[test]
fn messages_of_one_length_are_evenly_spaced() {
    let mut arrivals = ArrivalProcess::new(&messages(false, MessageLength::Constant(3)), at(5), rng());
    for n in 0..1000 {
        let expected = at(5) + Span::from_picos(n * 101_760_000);
        assert_eq!(arrivals.next(), Some((expected, 136)));
    }
}

/// 53 bytes for each cell are the load, and each length comes as often as it should.
#[test]
fn random_messages_have_their_load_and_lengths() {
    let lengths = Arc::new(TruncatedGeometric::new(25, 200).expect("it has one"));
    let mut arrivals =
        ArrivalProcess::new(&messages(true, MessageLength::Geometric(Arc::clone(&lengths))), at(0), rng());
    let (mut cells, mut counts, count) = (0_u64, vec![0_u32; 201], 200_000);
    let mut last = at(0);
    for _ in 0..count {
        let (time, bytes) = arrivals.next().expect("there is no end");
        let n = crate::aal5::cells_of(bytes, false);
        assert_eq!(bytes, n * 48 - 8);
        cells += u64::from(n);
        counts[n as usize] += 1;
        last = time;
    }
    let load = cells as f64 * 424.0 / last.as_secs_f64();
    assert!((load / 12.5e6 - 1.0).abs() < 0.01, "{load}");
    // χ² over 200 cells of the table: mean 199, deviation 20.
    let chi: f64 = (1..=200)
        .map(|n| {
            let expected = lengths.probability(n) * f64::from(count);
            (f64::from(counts[n as usize]) - expected).powi(2) / expected
        })
        .sum();
    assert!((120.0..290.0).contains(&chi), "{chi}");
}
