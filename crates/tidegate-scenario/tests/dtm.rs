//! What the keys of DTM channels and of their pools mean.

mod reading;

use tidegate_core::dtm::{OnLoss, Rounding, Settings, Slots};
use tidegate_core::plan::{DtmPlan, Estimators, OnChange, PoolOrder, PoolPlan, RatePlan};
use tidegate_core::units::{Rate, Span};

use reading::{load, small};

#[test]
fn a_channel_without_a_word_is_the_papers() {
    let gate = small("rate.dtm = {}", "").gates.remove(0);
    let channel = DtmPlan {
        settings: Settings::default(),
        initial: Rate::from_bps(10_000_000),
        measure: Span::from_millis(100),
        update_every: 10,
        estimators: Estimators::Channel,
        pool: None,
    };
    assert_eq!((gate.rate, gate.on_change), (RatePlan::Dtm(channel), OnChange::Keep));
}

/// Pools in the file's order; a pool of slots has its channels' slots.
const POOLS: &str = r#"
    duration = "10 s"
    [pool.spare]
    capacity = "1 Gbit/s"
    [pool.ring]
    capacity = "40.5 slots"
    [gate.channel]
    per = "flow"
    on_change = "rescale"
    rate.dtm.slot = "64 kbit/s"
    rate.dtm.initial = "1 Mbit/s"
    rate.dtm.measure = "50 ms"
    rate.dtm.update = "200 ms"
    rate.dtm.shift_inc = 0
    rate.dtm.shift_dec = 63
    rate.dtm.margin = "0 slots"
    rate.dtm.corridor = "1.5 slots"
    rate.dtm.rounding = "up"
    rate.dtm.on_loss = "hold link"
    rate.dtm.min = "2 slots"
    rate.dtm.max = "30 slots"
    rate.dtm.estimator = "flow"
    rate.dtm.pool = "ring"
    [flow.bulk]
    count = 2
    path = ["channel"]
"#;

#[test]
fn every_key_of_a_channel_and_its_pool_counts() {
    let scenario = load(POOLS);
    let plan = scenario.plan(None, 0);
    let order = PoolOrder::Asked;
    let pool = |name: &str, bps| PoolPlan { name: name.to_owned(), capacity: Rate::from_bps(bps), order };
    assert_eq!(plan.pools, [pool("spare", 1_000_000_000), pool("ring", 2_592_000)]);
    let channel = DtmPlan {
        settings: Settings {
            slot: Rate::from_bps(64_000),
            shift_inc: 0,
            shift_dec: 63,
            margin: Slots::whole(0),
            corridor: Slots::from_nanos(1_500_000_000),
            rounding: Rounding::Up,
            on_loss: OnLoss::HoldLink,
            min: 2,
            max: Some(30),
        },
        initial: Rate::from_bps(1_000_000),
        measure: Span::from_millis(50),
        update_every: 4,
        estimators: Estimators::Flow,
        pool: Some(1),
    };
    for gate in &plan.gates {
        assert_eq!((&gate.rate, gate.on_change), (&RatePlan::Dtm(channel), OnChange::Rescale));
    }
    let warnings: Vec<&str> = scenario.warnings().iter().map(|warning| warning.key.as_str()).collect();
    assert_eq!(warnings, ["pool.spare"]);
}

#[test]
fn channels_and_pools_are_explained() {
    let said = load(POOLS).explain();
    for line in [
        "pool ring\n  capacity  40.5 slots\n  => 2 channels share 2.592 Mbit/s: channel/bulk.1 to channel/bulk.2; 592 kbit/s is free at the start",
        "  => no gate takes capacity from it",
        "  => 1 Mbit/s until 200 ms; then a number of slots of 64 kbit/s that follows the sum of the estimates of all flows, measured \
         every 50 ms",
        "  => the allocation is the estimate plus 48 kbit/s, rounded up to whole slots; it changes when the estimate leaves a corridor \
         of 96 kbit/s",
        "  => in 200 ms the estimate covers 100% of a step up and 0% of a step down",
        "  => the gate gets the slots that the other gates leave of 2.592 Mbit/s, pool ring",
        "  => when the rate changes, the rest of a packet in transmission is sent at the new rate",
    ] {
        assert!(said.contains(line), "{line}\n\n{said}");
    }
}
