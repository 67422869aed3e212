use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::abr::Rates;
use crate::effcap::Blocks;
use crate::plan::{
    AbrPlan, AtEnd, DtmPlan, Estimators, FollowPlan, MarkovPlan, OpportunityTrace, RateTrace, Share,
};
use crate::random::Seed;
use crate::units::{Rate, Span, Speed};

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn law(plan: &RatePlan, on_change: OnChange) -> Law {
    let measured = Measured { from: Time::ZERO, until: ms(1_000_000) };
    Law::new(plan, on_change, measured, Seed { seed: 1, replication: 0 }.stream("rate"))
}

fn steps(list: &[(u64, u64)]) -> RatePlan {
    let steps = list.iter().map(|(at, bps)| (ms(*at), Speed::Bits(Rate::from_bps(*bps)))).collect();
    RatePlan::Steps { steps, repeat: None }
}

#[test]
fn a_rate_change_under_a_packet() {
    let plan = steps(&[(0, 1_000_000), (2, 4_000_000)]);
    let mut rescale = law(&plan, OnChange::Rescale);
    assert_eq!(rescale.transmit(ms(0), 8000).end, Time::from_picos(3_500_000_000));
    let mut keep = law(&plan, OnChange::Keep);
    assert_eq!(keep.transmit(ms(0), 8000).end, ms(8));
    assert_eq!(keep.transmit(ms(0), 8000), Service { start: ms(8), end: ms(10) });
}

#[test]
fn an_outage_is_waited_out() {
    let plan = steps(&[(0, 1_000_000), (4, 0), (10, 2_000_000)]);
    let mut rescale = law(&plan, OnChange::Rescale);
    assert_eq!(rescale.transmit(ms(0), 8000), Service { start: ms(0), end: ms(12) });
    let mut keep = law(&plan, OnChange::Keep);
    assert_eq!(keep.transmit(ms(5), 8000), Service { start: ms(10), end: ms(14) });
}

#[test]
fn a_stopped_trace_holds_what_comes_later() {
    let trace = Arc::new(RateTrace {
        points: vec![(Time::ZERO, Rate::from_bps(1_000_000))],
        period: Span::from_millis(10),
    });
    let plan = RatePlan::RateTrace { trace, at_end: AtEnd::Stop };
    let mut stopped = law(&plan, OnChange::Rescale);
    assert_eq!(stopped.transmit(ms(0), 8000).end, ms(8));
    assert_eq!(stopped.transmit(ms(0), 8000), Service { start: ms(8), end: Time::NEVER });
    assert_eq!(stopped.transmit(ms(0), 8000).start, Time::NEVER);
}

#[test]
fn tokens_of_one_packet() {
    let mut bucket = law(
        &RatePlan::TokenBucket {
            rate: Rate::from_bps(1_000_000),
            burst_bytes: 1500,
            initial_bytes: None,
            peak: None,
            peak_burst_bytes: None,
        },
        OnChange::Keep,
    );
    let starts: Vec<Time> = (0..3).map(|_| bucket.transmit(ms(0), 12_000).start).collect();
    assert_eq!(starts, [ms(0), ms(12), ms(24)]);
    // Full again 12 ms after the last, and no fuller ever.
    assert_eq!(bucket.transmit(ms(1000), 12_000).start, ms(1000));
    assert_eq!(bucket.transmit(ms(1000), 12_000).start, ms(1012));
}

/// 1 Mbit/s: tokens of a packet come in 12 ms. What the bucket holds at the start counts for the capacity as well.
#[test]
fn tokens_at_the_start() {
    let bucket = |initial_bytes| RatePlan::TokenBucket {
        rate: Rate::from_bps(1_000_000),
        burst_bytes: 4500,
        initial_bytes,
        peak: None,
        peak_burst_bytes: None,
    };
    for (initial, first) in
        [(Some(0), [12, 24, 36]), (Some(750), [6, 18, 30]), (Some(3000), [0, 0, 12]), (None, [0, 0, 0])]
    {
        let plan = bucket(initial);
        let mut law = law(&plan, OnChange::Keep);
        assert_eq!([0; 3].map(|_| law.transmit(ms(0), 12_000).start), first.map(ms), "{initial:?}");
        let measured = Measured { from: ms(0), until: ms(1000) };
        let offered =
            law.capacity(&plan, measured, Seed { seed: 1, replication: 0 }.stream("rate")).unwrap().offered;
        let held = u128::from(initial.unwrap_or(4500)) * 8;
        assert_eq!(offered, (1_000_000 + held) * u128::from(crate::units::PICOS_PER_SECOND), "{initial:?}");
    }
}

/// 1 Mbit/s with a burst of 6000 bytes, and 3 Mbit/s with one of 3000: packets of 12 ms and of 4 ms. After a pause two
/// leave at once; then the peak rate lets one leave each 4 ms until the burst is gone, and then one each 12 ms.
#[test]
fn tokens_of_two_buckets() {
    let mbps = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
    let plan = RatePlan::TokenBucket {
        rate: mbps(1),
        burst_bytes: 6000,
        initial_bytes: None,
        peak: Some(mbps(3)),
        peak_burst_bytes: Some(3000),
    };
    let mut bucket = law(&plan, OnChange::Keep);
    let packet = 12_000;
    assert!(bucket.begins_at(ms(0), packet) && bucket.admits(3000) && !bucket.admits(3001));
    // Sustained: 4 packets' tokens at 0, of which 2, 1.33 and 0.67 are left at 0, 4 and 8 ms: the fifth waits until 12 ms,
    // those after it 12 ms each.
    let mut starts = vec![];
    for _ in 0..8 {
        let said = bucket.next_start(ms(0), packet);
        let Service { start, end } = bucket.transmit(ms(0), packet);
        assert_eq!((said, start), (start, end));
        starts.push(start);
    }
    assert_eq!(starts, [0, 0, 4, 8, 12, 24, 36, 48].map(ms));
    // 2 packets' tokens of the peak rate are there after 8 ms, all of the sustained after 48 ms.
    assert!(!bucket.begins_at(ms(56), packet));
    let again = [ms(1000); 5].map(|at| bucket.transmit(at, packet).start);
    assert_eq!(again, [1000, 1000, 1004, 1008, 1012].map(ms));
}

#[test]
fn opportunities_are_shared_and_spanned() {
    let trace = Arc::new(OpportunityTrace {
        at: vec![ms(1), ms(2), ms(3)],
        period: Span::from_millis(3),
        bytes: 1500,
    });
    let plan = RatePlan::Opportunities { trace, at_end: AtEnd::Repeat };
    let mut law = law(&plan, OnChange::Keep);
    let ends: Vec<Time> = [1000, 1000, 500].map(|bytes| law.transmit(ms(0), bytes * 8).end).to_vec();
    assert_eq!(ends, [ms(1), ms(2), ms(2)]);
    // 500 bytes of the opportunity at 2 ms are lost, the one at 3 ms comes too early for an
    // arrival at 3 ms, the next cycle begins at 4 ms.
    assert_eq!(law.transmit(ms(3), 100 * 8).end, ms(4));
}

#[test]
fn a_speed_set_under_a_packet() {
    let measured = Measured { from: ms(1), until: ms(20) };
    let server = |on_change| SetSpeed::new(Rate::from_bps(1_000_000), on_change, measured);
    let mut keep = server(OnChange::Keep);
    assert_eq!(keep.transmit(ms(0), 8000).end, ms(8));
    assert_eq!(keep.set(ms(2), Rate::from_bps(4_000_000)), None);
    assert_eq!(keep.transmit(ms(1), 8000), Service { start: ms(8), end: ms(10) });
    let mut rescale = server(OnChange::Rescale);
    rescale.transmit(ms(0), 8000);
    assert_eq!(rescale.set(ms(2), Rate::from_bps(4_000_000)), Some(Time::from_picos(3_500_000_000)));
    // Down again when 2000 bits are left; the same rate is no change.
    assert_eq!(rescale.set(ms(3), Rate::from_bps(1_000_000)), Some(ms(5)));
    assert_eq!(rescale.set(ms(4), Rate::from_bps(1_000_000)), None);
    assert_eq!(rescale.transmit(ms(1), 8000), Service { start: ms(5), end: ms(13) });
    // From 1 to 20 ms: 18 ms at 1 Mbit/s, 1 ms at 4.
    let given = rescale.inside();
    assert_eq!(given.offered, 22_000 * u128::from(crate::units::PICOS_PER_SECOND));
    assert_eq!((given.least.bps(), given.most.bps(), given.changes), (1_000_000, 4_000_000, 2));
}

/// A stopped server begins nothing; what is in service keeps its speed, or waits with what is left.
#[test]
fn a_speed_of_zero() {
    let measured = Measured { from: ms(0), until: ms(20) };
    let mut keep = SetSpeed::new(Rate::ZERO, OnChange::Keep, measured);
    assert_eq!(keep.transmit(ms(0), 8000).start, Time::NEVER);
    assert_eq!(keep.set(ms(3), Rate::from_bps(1_000_000)), None);
    assert_eq!(keep.transmit(ms(0), 8000), Service { start: ms(3), end: ms(11) });
    assert_eq!(keep.set(ms(4), Rate::ZERO), None);
    assert_eq!(keep.set(ms(15), Rate::from_bps(4_000_000)), None);
    assert_eq!(keep.transmit(ms(5), 8000), Service { start: ms(15), end: ms(17) });
    let mut rescale = SetSpeed::new(Rate::from_bps(1_000_000), OnChange::Rescale, measured);
    assert_eq!(rescale.transmit(ms(0), 8000).end, ms(8));
    assert_eq!(rescale.set(ms(4), Rate::ZERO), Some(Time::NEVER));
    // Half of it is left.
    assert_eq!(rescale.set(ms(10), Rate::from_bps(2_000_000)), Some(ms(12)));
    assert_eq!(rescale.inside().least, Rate::ZERO);
}

pub(crate) fn any_channel() -> BoxedStrategy<DtmPlan> {
    let estimators = prop_oneof![Just(Estimators::Channel), Just(Estimators::Flow)];
    (crate::dtm::tests::any_settings(), 1u64..20_000_000, 1u64..20, 1u32..5, estimators)
        .prop_map(|(settings, initial, measure, update_every, estimators)| DtmPlan {
            settings,
            initial: Rate::from_bps(initial.max(settings.min * settings.slot.bps())),
            measure: Span::from_millis(measure),
            update_every,
            estimators,
            pool: None,
        })
        .boxed()
}

/// Any part of the capacity of the first gate; some begin with nothing.
pub(crate) fn any_follow() -> BoxedStrategy<FollowPlan> {
    let share = prop_oneof![Just(Share::ALL), (0u64..2_000_000_000_000).prop_map(Share::from_parts)];
    let blocks = (1u32..5, 1u32..5).prop_map(|(samples, blocks)| Blocks { samples, blocks });
    let rates = (0u64..3, 0u64..3, prop::option::of(4u64..20));
    (0u64..40, 0u64..40, blocks, share, rates)
        .prop_map(|(every, lag, blocks, share, (initial, min, peak))| {
            let mbps = |mbps: u64| Rate::from_bps(mbps * 1_000_000);
            FollowPlan {
                gate: 0,
                every: Span::from_millis(every + 1),
                lag: Span::from_millis(lag),
                blocks,
                share,
                initial: mbps(initial),
                min: mbps(min),
                peak: peak.map(mbps),
            }
        })
        .boxed()
}

/// A source of the first switch.
pub(crate) fn any_abr() -> BoxedStrategy<AbrPlan> {
    let rates = (1u32..20, 0u32..2, 1u32..20, 0u32..3, 0u32..3);
    (rates, 1u32..60, 1u64..100, 0u64..30, 0u64..40)
        .prop_map(|((peak, min, initial, increase, decrease), cells_per_rm, rm_within, there, lag)| {
            let mbps = |mbps: u32| f64::from(mbps) * 1e6;
            AbrPlan {
                switch: 0,
                rates: Rates {
                    peak: mbps(peak),
                    min: mbps(min.min(peak)),
                    initial: mbps(initial.min(peak)),
                    increase: f64::from(increase) / 16.0,
                    decrease: f64::from(decrease) / 16.0,
                },
                cells_per_rm,
                rm_within: Span::from_millis(rm_within),
                there: Span::from_millis(there),
                lag: Span::from_millis(lag),
            }
        })
        .boxed()
}

pub(crate) fn any_plan() -> BoxedStrategy<RatePlan> {
    let rate = 1_000u64..100_000_000;
    prop_oneof![
        rate.clone().prop_map(|bps| RatePlan::Constant(Speed::Bits(Rate::from_bps(bps)))),
        prop::collection::vec((1u64..50, prop_oneof![Just(0u64), rate.clone()]), 1..8).prop_map(|gaps| {
            let mut at = 0;
            let mut list = vec![(Time::ZERO, Speed::Bits(Rate::from_bps(5_000_000)))];
            for (gap, bps) in gaps {
                at += gap;
                list.push((ms(at), Speed::Bits(Rate::from_bps(bps))));
            }
            RatePlan::Steps { steps: list, repeat: Some(Span::from_millis(at + 7)) }
        }),
        (rate.clone(), 1500u64..20_000, prop::option::of(rate.clone())).prop_map(
            |(bps, burst_bytes, peak)| {
                RatePlan::TokenBucket {
                    rate: Rate::from_bps(bps),
                    burst_bytes,
                    initial_bytes: None,
                    peak: peak.map(Rate::from_bps),
                    peak_burst_bytes: None,
                }
            }
        ),
        (rate, 1u64..20, any::<bool>()).prop_map(|(bps, mean, slotted)| {
            RatePlan::Markov(MarkovPlan {
                rates: vec![Rate::from_bps(bps), Rate::from_bps(bps / 2), Rate::ZERO],
                mean_holding: vec![Span::from_millis(mean); 3],
                transitions: None,
                step: slotted.then(|| Span::from_micros(500)),
                initial: None,
            })
        }),
        prop::collection::vec(0u64..9, 1..30).prop_map(|gaps| {
            let at: Vec<Time> = gaps
                .iter()
                .scan(1, |at, gap| {
                    *at += gap;
                    Some(ms(*at))
                })
                .collect();
            let period = Span::from_picos(at.last().map_or(1, |last| last.picos()));
            let trace = Arc::new(OpportunityTrace { at, period, bytes: 1500 });
            RatePlan::Opportunities { trace, at_end: AtEnd::Repeat }
        }),
        super::cellreplay::tests::any_link().prop_map(RatePlan::CellReplay),
        any_channel().prop_map(RatePlan::Dtm),
        any_abr().prop_map(RatePlan::Abr),
        // By itself nothing sets its rate.
        any_follow().prop_map(|follow| {
            let initial = follow.initial.max(Rate::from_bps(700_000));
            RatePlan::Follow(FollowPlan { initial, ..follow })
        }),
    ]
    .boxed()
}

proptest! {
    /// Whatever the law: in order, never before the arrival, and never more than it offered.
    #[test]
    fn every_law_serves_in_order_within_its_capacity(
        plan in any_plan(),
        rescale in any::<bool>(),
        arrivals in prop::collection::vec((0u64..30_000_000_000, 40u64..1500), 1..200),
    ) {
        let on_change = if rescale { OnChange::Rescale } else { OnChange::Keep };
        let stream = || Seed { seed: 1, replication: 0 }.stream("rate");
        let mut at = Time::ZERO;
        let mut free = Time::ZERO;
        let until = ms(4_000);
        let measured = Measured { from: Time::ZERO, until };
        let mut law = Law::new(&plan, on_change, measured, stream());
        let mut inside = 0u128;
        for (gap, bytes) in arrivals {
            at += Span::from_picos(gap);
            let Service { start, end } = law.transmit(at, bytes * 8);
            prop_assert!(start >= at && end >= start && end >= free);
            if !matches!(plan, RatePlan::TokenBucket { .. } | RatePlan::Opportunities { .. }) {
                prop_assert!(start >= free);
            }
            free = end;
            if end < until {
                inside += u128::from(bytes) * 8;
            }
        }
        let capacity = law.capacity(&plan, measured, stream()).unwrap();
        let work = inside * u128::from(crate::units::PICOS_PER_SECOND);
        if let Some(unused) = capacity.unused {
            // Conservation: offered = delivered + in transit + unused, up to the part of a
            // picosecond that each idle time may forgive.
            let used = work + capacity.in_transit + unused;
            let slack = capacity.offered.abs_diff(used);
            prop_assert!(slack <= 400 * 100_000_000, "off by {}", slack);
        }
    }
}
