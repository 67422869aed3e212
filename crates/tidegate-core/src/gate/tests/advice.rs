//! Gates that tell flows their rate.

use super::*;
use crate::advice::RateSignal;
use crate::effcap::Blocks;
use crate::plan::{AdvicePlan, AdviceSource, FollowPlan, PresentPlan, Share};

const SECOND: u64 = PICOS_PER_SECOND;

fn at(millis: u64) -> Time {
    Time::from_picos(millis * SECOND / 1000)
}

fn mbps(number: u64) -> Rate {
    Rate::from_bps(number * 1_000_000)
}

fn told(source: AdviceSource) -> AdvicePlan {
    AdvicePlan { source, share: Share::ALL, among: None }
}

/// What a packet's signal is behind the gate.
fn signal(gate: &mut Gate, at: Time, stretch: u32, carried: Option<u8>) -> Option<u8> {
    let mut unit = unit(1500, 0);
    unit.stretch = stretch;
    if let Some(carried) = carried {
        unit.set_rate_signal(RateSignal::from_bits(carried));
    }
    gate.handle_ingress(at, &mut unit).expect("nothing polices");
    unit.rate_signal().map(RateSignal::bits)
}

fn advising(advice: AdvicePlan, rate: RatePlan) -> Gate {
    let plan = GatePlan { advice: Some(advice), rate, ..GatePlan::open("link") };
    Gate::new(&plan, context(RecordLevel::Summary))
}

#[test]
fn a_signal_is_only_lowered() {
    let mut gate = advising(told(AdviceSource::Rate(mbps(2))), RatePlan::Unlimited);
    assert!(!gate.admits_all(), "fast paths must not pass it by");
    assert_eq!(signal(&mut gate, at(0), 0, Some(127)), Some(26));
    assert_eq!(signal(&mut gate, at(0), 0, Some(30)), Some(26));
    assert_eq!(signal(&mut gate, at(0), 0, Some(10)), Some(10));
    assert_eq!(signal(&mut gate, at(0), 0, None), None);
}

#[test]
fn the_law_is_told_as_it_is_then() {
    let steps = vec![
        (at(0), Speed::Bits(mbps(1))),
        (at(10), Speed::Bits(mbps(10))),
        (at(20), Speed::Bits(Rate::ZERO)),
    ];
    let mut gate = advising(told(AdviceSource::Law), RatePlan::Steps { steps, repeat: None });
    let signals = [0, 9, 10, 19, 20].map(|millis| signal(&mut gate, at(millis), 0, Some(127)));
    assert_eq!(signals, [20, 20, 40, 40, 0].map(Some));
}

#[test]
fn a_rate_that_the_network_sets_is_told() {
    let follow = FollowPlan {
        gate: 0,
        every: Span::from_millis(1),
        lag: Span::ZERO,
        blocks: Blocks::INSTCAP,
        share: Share::ALL,
        initial: mbps(1),
        min: Rate::ZERO,
        peak: None,
    };
    let mut gate = advising(told(AdviceSource::Law), RatePlan::Follow(follow));
    assert_eq!(signal(&mut gate, at(1), 0, Some(127)), Some(20));
    gate.set_rate(at(2), mbps(10));
    assert_eq!(signal(&mut gate, at(2), 0, Some(127)), Some(40));
}

/// Slots of 10 ms at 10, 1, 1 and 10 Mbit/s: means of two are 10 (one slot alone), 5.5, 1 and 5.5; of two means the least counts.
#[test]
fn an_estimate_is_of_the_slots_that_are_over() {
    let steps =
        vec![(at(0), Speed::Bits(mbps(10))), (at(10), Speed::Bits(mbps(1))), (at(30), Speed::Bits(mbps(10)))];
    let blocks = Blocks { samples: 2, blocks: 2 };
    let source = AdviceSource::Estimate { every: Span::from_millis(10), blocks };
    let mut gate = advising(told(source), RatePlan::Steps { steps, repeat: None });
    let signals = [9, 10, 20, 30, 40, 50].map(|millis| signal(&mut gate, at(millis), 0, Some(127)));
    // Of 5.5 Mbit/s: 34, which is 5.01 Mbit/s.
    assert_eq!(signals, [127, 40, 34, 20, 20, 34].map(Some));
}

fn among(signalled: bool) -> PresentPlan {
    PresentPlan { within: Span::from_millis(100), signalled }
}

#[test]
fn flows_that_are_present_share_it() {
    let advice = AdvicePlan { among: Some(among(false)), ..told(AdviceSource::Rate(mbps(10))) };
    let mut gate = advising(advice, RatePlan::Unlimited);
    assert_eq!(signal(&mut gate, at(0), 0, Some(127)), Some(40));
    // Of 5 Mbit/s: 33, which is 4.47 Mbit/s.
    assert_eq!(signal(&mut gate, at(50), 1, Some(127)), Some(33));
    assert_eq!(signal(&mut gate, at(60), 0, None), None);
    assert_eq!(signal(&mut gate, at(150), 1, Some(127)), Some(33));
    assert_eq!(signal(&mut gate, at(161), 1, Some(127)), Some(40));
}

#[test]
fn only_flows_that_listen_may_share_it() {
    let advice = AdvicePlan { among: Some(among(true)), ..told(AdviceSource::Rate(mbps(10))) };
    let mut gate = advising(advice, RatePlan::Unlimited);
    assert_eq!(signal(&mut gate, at(0), 0, None), None);
    assert_eq!(signal(&mut gate, at(1), 1, Some(127)), Some(40));
    assert_eq!(signal(&mut gate, at(2), 0, Some(127)), Some(33));
    assert_eq!(signal(&mut gate, at(102), 1, Some(127)), Some(33));
    assert_eq!(signal(&mut gate, at(103), 1, Some(127)), Some(40));
}
