//! Descriptions and conversions keep every bit of capacity.

use proptest::prelude::*;
use tidegate_core::plan::{OpportunityTrace, RateTrace};
use tidegate_core::units::{FASTEST, Rate, Span, Time};

use crate::trace::convert::{ConvertError, ConvertOptions, convert, to_opportunities, to_rates};
use crate::trace::info::{InfoOptions, info, mean_rate};
use crate::trace::*;

fn opportunities(millis: &[u64]) -> LoadedTrace {
    LoadedTrace::Opportunities(OpportunityTrace {
        at: millis.iter().map(|&ms| Time::ZERO + Span::from_millis(ms)).collect(),
        period: Span::from_millis(*millis.last().expect("not empty")),
        bytes: 1500,
    })
}

/// `(ms, bit/s)` points and the end in ms.
fn rates(points: &[(u64, u64)], end: u64) -> LoadedTrace {
    let points = points.iter().map(|&(ms, bps)| (Time::ZERO + Span::from_millis(ms), Rate::from_bps(bps)));
    LoadedTrace::Rates(RateTrace { points: points.collect(), period: Span::from_millis(end) })
}

fn again(text: &str, format: Format) -> LoadedTrace {
    parse(text.as_bytes(), "t", Some(format), &TraceOptions::default()).expect("own output is read")
}

#[test]
fn the_known_rates_of_small_files() {
    assert_eq!(mean_rate(&opportunities(&[1])), Rate::from_bps(12_000_000));
    assert_eq!(mean_rate(&opportunities(&[0, 1, 2, 3, 4, 5])), Rate::from_bps(14_400_000));
    assert_eq!(deliverable_bytes(&opportunities(&[0, 1, 2, 3, 4, 5])), 9000);
}

/// 8 Mbit/s for 100 ms, an outage of 300 ms, 16 Mbit/s for 100 ms: 24 Mbit in 10, 300 000 bytes.
#[test]
fn info_of_a_small_rate_trace() {
    let trace = rates(&[(0, 8_000_000), (100, 0), (250, 0), (400, 16_000_000)], 500);
    let info = info(&trace, &InfoOptions::default());
    assert_eq!((info.kind, info.points, info.opportunities), ("rates", Some(4), None));
    assert_eq!((info.duration_s, info.mean_bps, info.deliverable_bytes), (0.5, 4_800_000.0, 300_000));
    assert_eq!((info.min_bps, info.p5_bps, info.p50_bps), (0.0, 0.0, 0.0));
    assert_eq!((info.p95_bps, info.max_bps), (16_000_000.0, 16_000_000.0));
    assert_eq!((info.outages, info.outage_longest_s, info.outage_share), (1, 0.3, 0.6));
}

#[test]
fn info_of_a_small_opportunity_trace() {
    let info = info(&opportunities(&[0, 100, 100, 350, 400]), &InfoOptions::default());
    assert_eq!((info.kind, info.points, info.opportunities), ("opportunities", None, Some(5)));
    assert_eq!((info.outages, info.outage_longest_s, info.outage_share), (1, 0.25, 0.625));
    assert_eq!((info.min_bps, info.p50_bps, info.max_bps), (0.0, 0.0, 360_000.0));
    let json = serde_json::to_value(&info).expect("plain numbers");
    assert_eq!((json.get("points"), json["opportunity_bytes"].as_u64()), (None, Some(1500)));
}

#[test]
fn a_recording_shorter_than_a_window_is_one_window() {
    let info = info(&opportunities(&[1]), &InfoOptions::default());
    assert_eq!((info.min_bps, info.max_bps, info.variation), (12e6, 12e6, 0.0));
}

/// The example of the module's text.
#[test]
fn rates_fill_opportunities_at_the_next_millisecond() {
    let trace = to_opportunities(&rates(&[(0, 6_000_000)], 5), 1500).expect("fits");
    assert_eq!(LoadedTrace::Opportunities(trace), opportunities(&[2, 5]));
}

#[test]
fn conversions_that_make_no_sense_are_refused() {
    let slow = rates(&[(0, 8)], 1000);
    assert_eq!(to_opportunities(&slow, 1500), Err(ConvertError::LessThanOne(1500)));
    assert_eq!(to_opportunities(&slow, 0), Err(ConvertError::Nothing));
    assert_eq!(to_rates(&slow, Span::ZERO), Err(ConvertError::Nothing));
    assert_eq!(to_rates(&slow, Span::from_picos(1)), Err(ConvertError::TooMany(1_000_000_000_000)));
    let third = ConvertOptions { window: Some(Span::from_picos(333)), ..ConvertOptions::default() };
    assert!(convert(&rates(&[(0, 8)], 1), Format::Drp, &third).is_err());
    let fast = rates(&[(0, FASTEST.bps())], 1000);
    assert!(matches!(to_opportunities(&fast, 1), Err(ConvertError::TooMany(_))));
}

#[test]
fn drp_output_has_a_whole_number_of_steps() {
    let text = convert(&opportunities(&[10, 100, 110]), Format::Drp, &ConvertOptions::default());
    let text = text.expect("100 ms is 10 per second");
    assert_eq!(text, "# :recommended_freqeuncy=10\n240\n120\n");
}

prop_compose! {
    fn some_opportunities()(mut at in prop::collection::vec(0_u64..3000, 1..200)) -> LoadedTrace {
        at.push(1);
        at.sort_unstable();
        opportunities(&at)
    }
}

prop_compose! {
    fn some_rates()(lengths in prop::collection::vec((1_u64..500, 0_u64..50_000_000), 1..50), extra in 1_u64..9)
        -> LoadedTrace
    {
        let mut at = 0;
        let mut points = Vec::new();
        for (length, bps) in lengths {
            points.push((at, bps));
            at += length;
        }
        points[0].1 += 200_000_000; // more than one opportunity in all
        rates(&points, at + extra)
    }
}

proptest! {
    #[test]
    fn mahimahi_round_trip(trace in some_opportunities()) {
        let text = convert(&trace, Format::Mahimahi, &ConvertOptions::default()).expect("is Mahimahi");
        prop_assert_eq!(again(&text, Format::Mahimahi), trace);
    }

    #[test]
    fn csv_round_trip(trace in some_rates()) {
        let text = convert(&trace, Format::Csv, &ConvertOptions::default()).expect("is CSV");
        prop_assert_eq!(again(&text, Format::Csv), trace);
    }

    #[test]
    fn drp_round_trip(values in prop::collection::vec(1_u64..1_000_000_000, 1..100)) {
        let points: Vec<_> = (0..).map(|i| i * 100).zip(values).collect();
        let trace = rates(&points, points.len() as u64 * 100);
        let text = convert(&trace, Format::Drp, &ConvertOptions::default()).expect("is DRP");
        prop_assert_eq!(again(&text, Format::Drp), trace);
    }

    /// Whole opportunities come out: the floor of the capacity, in order, none early.
    #[test]
    fn opportunities_keep_the_capacity_of_rates(trace in some_rates(), bytes in 40_u32..9000) {
        let made = to_opportunities(&trace, bytes).expect("fits");
        prop_assert_eq!(made.at.len() as u64, deliverable_bytes(&trace) / u64::from(bytes));
        prop_assert_eq!(made.period, trace.period());
        prop_assert!(made.at.is_sorted());
        let LoadedTrace::Rates(rates) = &trace else { unreachable!() };
        for (index, at) in made.at.iter().enumerate() {
            let until = |(from, to, bps): (u64, u64, u64)| {
                u128::from(to.min(at.picos()).saturating_sub(from)) * u128::from(bps)
            };
            let had: u128 = rates.segments().map(until).sum();
            prop_assert!(had >= (index as u128 + 1) * u128::from(bytes) * 8 * windows::BIT);
        }
    }

    #[test]
    fn rates_keep_the_capacity_of_opportunities(trace in some_opportunities(), width in 1_u64..1000) {
        let made = LoadedTrace::Rates(to_rates(&trace, Span::from_millis(width)).expect("few windows"));
        prop_assert_eq!(made.period(), trace.period());
        let (before, after) = (deliverable_bytes(&trace), deliverable_bytes(&made));
        prop_assert!(before - after <= 1, "{} became {}", before, after);
    }

    /// 1500 bytes in 100 ms are a whole number of bit/s, so nothing at all is lost.
    #[test]
    fn to_rates_and_back_in_whole_windows(trace in some_opportunities(), width in 1_u64..6) {
        let made = LoadedTrace::Rates(to_rates(&trace, Span::from_millis(width)).expect("few windows"));
        let back = to_opportunities(&made, 1500).expect("fits");
        prop_assert!(deliverable_bytes(&trace) / 1500 - back.at.len() as u64 <= 1);
        prop_assert_eq!(back.period, trace.period());
    }

    #[test]
    fn info_agrees_with_itself(trace in prop_oneof![some_rates(), some_opportunities()], width in 1_u64..500) {
        let options = InfoOptions { window: Span::from_millis(width), ..InfoOptions::default() };
        let info = info(&trace, &options);
        prop_assert!(info.min_bps <= info.p5_bps && info.p5_bps <= info.p50_bps);
        prop_assert!(info.p50_bps <= info.p95_bps && info.p95_bps <= info.max_bps);
        prop_assert!((0.0..=1.0).contains(&info.outage_share));
        prop_assert_eq!(info.outages == 0, info.outage_longest_s == 0.0);
        let bytes = info.mean_bps * info.duration_s / 8.0;
        prop_assert!((bytes - info.deliverable_bytes as f64).abs() < 1.0 + bytes * 1e-12);
    }
}
