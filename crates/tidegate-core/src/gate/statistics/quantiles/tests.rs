//! Quantiles against sorted lists, and many lengths at once against the same lengths one by one.

use proptest::prelude::*;

use super::super::progression::ExactPicos;
use super::*;

#[test]
fn errors_are_below_a_tenth_of_a_percent_or_below_one() {
    assert_eq!(Precision::Fine.relative(), 1.0 / 1024.0);
    assert_eq!(Precision::Coarse.relative(), 1.0 / 128.0);
}

#[test]
fn quantiles_are_within_their_precision() {
    let mut fine = Quantiles::new(Precision::Fine);
    for millis in 0..=1000 {
        fine.record(Span::from_millis(millis));
    }
    assert_eq!(fine.quantile_s(0.0), Some(0.0));
    assert!((fine.quantile_s(0.5).unwrap() - 0.5).abs() < 0.0005);
    assert!((fine.quantile_s(0.99).unwrap() - 0.99).abs() < 0.001);
    assert_eq!(fine.mean_s(), Some(0.5));
}

#[test]
fn one_length_is_exact() {
    let mut coarse = Quantiles::new(Precision::Coarse);
    coarse.record(Span::from_picos(20_000_123));
    assert_eq!(coarse.quantile_s(0.5), Some(20_000_123e-12));
}

proptest! {
    /// Evenly spaced lengths together are the same lengths one by one.
    #[test]
    fn even_lengths_are_lengths(
        before in prop::collection::vec(1u64..1 << 50, 0..5),
        start in (1u64..1 << 50, 0u32..50, any::<u64>()),
        gap in (0u64..1 << 45, 0u32..46, any::<u64>()),
        parts in prop_oneof![1u64..10, 1u64..100_000_000, 1u64..1 << 40],
        count in 1u64..500,
        fine in any::<bool>(),
    ) {
        let mut single = Quantiles::new(if fine { Precision::Fine } else { Precision::Coarse });
        before.iter().for_each(|picos| single.record(Span::from_picos(*picos)));
        let mut together = single.clone();
        let first = ExactPicos { whole: (start.0 >> start.1).max(1), part: start.2 % parts };
        let gap = ExactPicos { whole: gap.0 >> gap.1, part: gap.2 % parts };
        let mut sum = 0;
        for n in 0..u128::from(count) {
            let part = u128::from(first.part) + n * u128::from(gap.part);
            let length = u128::from(first.whole) + n * u128::from(gap.whole) + part / u128::from(parts);
            single.record(Span::from_picos(length as u64));
            sum += length;
        }
        prop_assert_eq!(together.record_evenly(&Progression { first, gap, parts, terms: count }), sum);
        prop_assert_eq!(format!("{single:?}"), format!("{together:?}"));
    }

    /// Lengths recorded apart and then put together are the same lengths recorded together.
    #[test]
    fn merged_lengths_are_lengths(
        lengths in prop::collection::vec((0u64..1 << 50, 0u32..50, any::<bool>()), 0..60),
        fine in any::<bool>(),
    ) {
        let empty = Quantiles::new(if fine { Precision::Fine } else { Precision::Coarse });
        let (mut one, mut other, mut together) = (empty.clone(), empty.clone(), empty);
        for (length, shift, first) in lengths {
            let length = Span::from_picos(length >> shift);
            if first { one.record(length) } else { other.record(length) }
            together.record(length);
        }
        one.merge(&other);
        prop_assert_eq!(format!("{one:?}"), format!("{together:?}"));
        prop_assert_eq!(one.max_s(), one.quantile_s(1.0).map(|_| one.greatest as f64 / 1e12));
    }

    /// Against a sorted list.
    #[test]
    fn any_quantile_of_any_list(
        list in prop::collection::vec((0u64..1 << 50, 0u32..50), 1..300),
        q in 0.0f64..1.0,
        fine in any::<bool>(),
    ) {
        let precision = if fine { Precision::Fine } else { Precision::Coarse };
        let mut spans: Vec<u64> = list.iter().map(|(value, shift)| value >> shift).collect();
        let mut quantiles = Quantiles::new(precision);
        spans.iter().for_each(|picos| quantiles.record(Span::from_picos(*picos)));
        spans.sort_unstable();
        let rank = ((q * spans.len() as f64).ceil() as usize).max(1);
        let exact = spans[rank - 1] as f64 / 1e12;
        let found = quantiles.quantile_s(q).unwrap();
        let unit = f64::from(1u32 << precision.shift()) / 1e12;
        prop_assert!((found - exact).abs() <= exact * precision.relative() + unit, "{found} is not {exact}");
    }
}
