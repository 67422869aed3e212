//! A DTM channel in words.

use tidegate_core::dtm::{NANOS_PER_SLOT, Rounding};
use tidegate_core::plan::{DtmPlan, Estimators, Plan};

use super::text::{rate_text, three_digits};

/// What a channel's settings amount to.
pub(super) fn lines(channel: &DtmPlan, plan: &Plan) -> Vec<String> {
    let settings = &channel.settings;
    let update = channel.measure.saturating_mul(u64::from(channel.update_every));
    let slot = settings.slot.bps() as f64;
    let bps = |nanos: u64| nanos as f64 / NANOS_PER_SLOT as f64 * slot;
    let half = bps(settings.corridor.nanos()) / 2.0;
    let whose = match channel.estimators {
        Estimators::Channel => "all arriving traffic,",
        Estimators::Flow => "the sum of the estimates of all flows,",
    };
    let rounded = match settings.rounding {
        Rounding::Exact => "",
        Rounding::Up => ", rounded up to whole slots",
    };
    let step = |shift: u32| {
        let left = (1.0 - 0.5_f64.powf(f64::from(shift))).powf(f64::from(channel.update_every));
        three_digits(100.0 * (1.0 - left))
    };
    let mut lines = vec![
        format!(
            "{} until {update}; then a number of slots of {} that follows {whose} measured every {}",
            channel.initial, settings.slot, channel.measure
        ),
        format!(
            "the allocation is the estimate plus {}{rounded}; it changes when the estimate leaves a corridor of {}",
            rate_text(bps(settings.margin.nanos()) + half),
            rate_text(2.0 * half)
        ),
        format!(
            "in {update} the estimate covers {}% of a step up and {}% of a step down",
            step(settings.shift_inc),
            step(settings.shift_dec)
        ),
    ];
    if let Some(pool) = channel.pool.and_then(|pool| plan.pools.get(pool)) {
        lines.push(format!(
            "the gate gets the slots that the other gates leave of {}, pool {}",
            pool.capacity, pool.name
        ));
    }
    lines
}
