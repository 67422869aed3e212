use proptest::prelude::*;

use super::*;
use crate::units::FASTEST;

mod golden;

const SLOT: u64 = 512_000;

fn paper(settings: Settings) -> BandwidthEstimator {
    BandwidthEstimator::new(settings, 0, Rate::from_bps(10_000_000), 10).expect("the paper's settings")
}

/// Measures each rate for one second; the estimate and the rate in force after each.
fn seconds(estimator: &mut BandwidthEstimator, rates: &[u64]) -> Vec<(u64, u64)> {
    let second = |rate: &u64| {
        for _ in 0..10 {
            estimator.measure(*rate, false);
        }
        (estimator.current(), estimator.rate().bps())
    };
    rates.iter().map(second).collect()
}

#[test]
fn five_megabits() {
    let told = seconds(&mut paper(Settings::default()), &[5_000_000; 3]);
    assert_eq!(told, [(3_684_620, 4_580_620), (4_653_954, 5_549_954), (4_908_961, 5_549_954)]);
    let up = Settings { rounding: Rounding::Up, ..Settings::default() };
    assert_eq!(slots(&seconds(&mut paper(up), &[5_000_000; 3])), [9, 11, 11]);
}

/// Whole slots of the allocations that [`seconds`] tells of.
fn slots(told: &[(u64, u64)]) -> Vec<u64> {
    told.iter().map(|(_, bps)| bps / SLOT).collect()
}

#[test]
fn a_negative_difference_is_not_shifted() {
    // 7 below: nothing left of the difference. An arithmetic shift of −7 would give −1.
    let mut estimate = Estimate::new(1007);
    estimate.measure(1000, false, &Settings::default());
    assert_eq!(estimate.current(), 1007);
    estimate.measure(999, false, &Settings::default());
    assert_eq!(estimate.current(), 1006);
}

#[test]
fn the_bounds_themselves_are_inside() {
    let settings = Settings::default();
    let allocation = Allocation { in_force: Bandwidth::of(Rate::from_bps(4_580_620)), undecided: false };
    for (current, inside) in [(3_172_619, false), (3_172_620, true), (4_196_620, true), (4_196_621, false)] {
        assert_eq!(allocation.covers(current, &settings), inside, "{current}");
    }
}

#[test]
fn limits_in_slots() {
    let settings = Settings { min: 3, max: Some(8), ..Settings::default() };
    let told = seconds(&mut paper(settings), &[0, 20_000_000, 20_000_000, 0, 0, 0]);
    assert_eq!(slots(&told), [3, 8, 8, 8, 4, 3]);
    // At the limit the estimate stays above its bound: every update decides, nothing changes.
    let mut estimator = paper(settings);
    let decided: Vec<u32> = (1..=30).filter(|_| estimator.measure(20_000_000, false)).collect();
    assert_eq!(decided, [10, 20, 30]);
}

#[test]
fn what_a_drop_holds() {
    // One second of 8 Mbit/s, then one of 2 Mbit/s with a drop in its first measurement.
    let told = |on_loss| {
        let mut estimator = paper(Settings { on_loss, ..Settings::default() });
        seconds(&mut estimator, &[8_000_000; 3]);
        let before = (estimator.current(), estimator.rate());
        let mut fell = 0;
        for n in 0..10 {
            let was = estimator.current();
            estimator.measure(2_000_000, n == 0);
            fell += u32::from(estimator.current() < was);
        }
        (fell, estimator.rate() < before.1)
    };
    assert_eq!(told(OnLoss::Nothing), (10, true));
    assert_eq!(told(OnLoss::HoldTick), (9, true));
    assert_eq!(told(OnLoss::HoldSecond), (0, false));
    assert_eq!(told(OnLoss::HoldLink), (10, false));
    // The next update without a drop lowers it.
    let mut estimator = paper(Settings { on_loss: OnLoss::HoldLink, ..Settings::default() });
    seconds(&mut estimator, &[8_000_000; 3]);
    for _ in 0..10 {
        estimator.measure(2_000_000, true);
    }
    let held = estimator.rate();
    seconds(&mut estimator, &[2_000_000]);
    assert!(estimator.rate() < held);
}

#[test]
fn a_channel_gets_what_is_left() {
    let mbps = |mbps: u64| Bandwidth::of(Rate::from_bps(mbps * 1_000_000));
    for (rounding, granted) in [(Rounding::Exact, 12_000_000), (Rounding::Up, 23 * SLOT)] {
        let settings = Settings { rounding, ..Settings::default() };
        let mut allocation = Allocation::new(Rate::from_bps(10_000_000));
        allocation.grant(mbps(20), Some(mbps(2)), &settings);
        assert_eq!(allocation.in_force().rate().bps(), granted);
    }
}

#[test]
fn settings_that_cannot_be() {
    let default = Settings::default();
    let wrong = |settings: Settings| settings.check().expect_err("wrong").to_string();
    assert_eq!(wrong(Settings { shift_inc: 64, ..default }), "shift_inc: 64 is too large; at most 63");
    assert!(wrong(Settings { slot: Rate::ZERO, ..default }).starts_with("slot: "));
    assert!(wrong(Settings { min: 0, ..default }).starts_with("min: "));
    assert_eq!(wrong(Settings { min: 3, max: Some(2), ..default }), "min: 3 slots is more than max, 2 slots");
    assert!(wrong(Settings { corridor: Slots::whole(u64::MAX), ..default }).starts_with("corridor: "));
    assert_eq!(default.check(), Ok(()));
}

#[test]
fn the_largest_settings_can_be() {
    let default = Settings::default();
    let shifts = Settings { shift_inc: 63, shift_dec: 63, ..default };
    let slot = Settings {
        slot: FASTEST,
        min: 1,
        max: Some(1),
        margin: Slots::whole(0),
        corridor: Slots::whole(1),
        ..default
    };
    let most = Settings { slot: Rate::from_bps(1_000_000_000), max: Some(1_000_000), ..default };
    let equal = Settings { min: 7, max: Some(7), ..default };
    for settings in [shifts, slot, most, equal] {
        assert_eq!(settings.check(), Ok(()), "{settings:?}");
    }
    for settings in [
        Settings { slot: Rate::from_bps(FASTEST.bps() + 1), ..slot },
        Settings { max: Some(1_000_001), ..most },
        Settings { min: 8, ..equal },
    ] {
        assert!(settings.check().is_err(), "{settings:?}");
    }
}

#[test]
fn whole_slots_above_and_below() {
    let slot = Rate::from_bps(SLOT);
    for (bps, below, above) in
        [(0, 0, 0), (1, 0, 1), (SLOT - 1, 0, 1), (SLOT, 1, 1), (SLOT + 1, 1, 2), (5 * SLOT, 5, 5)]
    {
        let bandwidth = Bandwidth::of(Rate::from_bps(bps));
        let slots = |rounded: Bandwidth| rounded.rate().bps() / SLOT;
        assert_eq!(
            (slots(bandwidth.rounded_down(slot)), slots(bandwidth.rounded_up(slot))),
            (below, above),
            "{bps}"
        );
        assert_eq!(bandwidth.rounded_up(slot).rate().bps() % SLOT, 0);
    }
}

#[test]
fn slots_in_words() {
    assert_eq!(Slots::from_nanos(750_000_000).to_string(), "0.75 slots");
    assert_eq!(Slots::whole(1).to_string(), "1 slot");
    assert_eq!(Slots::whole(40).to_string(), "40 slots");
}

pub(crate) fn any_settings() -> impl Strategy<Value = Settings> {
    let on_loss = prop_oneof![
        Just(OnLoss::Nothing),
        Just(OnLoss::HoldTick),
        Just(OnLoss::HoldSecond),
        Just(OnLoss::HoldLink),
    ];
    let slots = || (0u64..5_000_000_000).prop_map(Slots::from_nanos);
    let rounding = prop_oneof![Just(Rounding::Exact), Just(Rounding::Up)];
    let limits = (1u64..5, prop::option::of(0u64..40));
    (1_000u64..2_000_000, 0u32..6, 0u32..64, slots(), slots(), rounding, on_loss, limits).prop_map(
        |(slot, shift_inc, shift_dec, margin, corridor, rounding, on_loss, (min, more))| Settings {
            slot: Rate::from_bps(slot),
            shift_inc,
            shift_dec,
            margin,
            corridor,
            rounding,
            on_loss,
            min,
            max: more.map(|more| min + more),
        },
    )
}

proptest! {
    /// Whatever is measured: at least a slot and within the limits, no change inside a second,
    /// none while the estimate stays inside its bounds, and an estimate among what was measured.
    #[test]
    fn any_sequence_of_rates(
        settings in any_settings(),
        rates in prop::collection::vec((0u64..30_000_000, any::<bool>()), 1..300),
        update_every in 1u32..12,
        initial in 1u64..20_000_000,
    ) {
        let mut estimator = BandwidthEstimator::new(settings, 0, Rate::from_bps(initial), update_every).unwrap();
        let mut most = 0;
        for (number, (rate, lost)) in (1u32..).zip(rates) {
            let before = estimator.clone();
            let decided = estimator.measure(rate, lost);
            most = most.max(rate);
            prop_assert!(estimator.current() <= most);
            let whole = number % update_every == 0;
            prop_assert!(whole || !decided);
            prop_assert!(decided || estimator.rate() == before.rate());
            let covered = before.allocation().covers(estimator.current(), &settings);
            prop_assert_eq!(decided, whole && !covered);
            if decided {
                let bps = estimator.rate().bps();
                let slot = settings.slot.bps();
                let held = settings.on_loss == OnLoss::HoldLink && estimator.rate() == before.rate();
                prop_assert!(held || bps >= settings.min * slot);
                prop_assert!(held || settings.max.is_none_or(|max| bps <= max * slot));
                prop_assert!(held || settings.rounding == Rounding::Exact || bps.is_multiple_of(slot));
            }
        }
    }
}
