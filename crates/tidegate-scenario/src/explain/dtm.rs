//! A DTM channel and a pool in words.

use tidegate_core::dtm::{NANOS_PER_SLOT, Rounding};
use tidegate_core::plan::{DtmPlan, Estimators, Plan, RatePlan};

use super::text::{rate_text, three_digits};
use super::{Row, consequence, rows_of, write_rows};
use crate::check::Form;

/// What a channel's settings amount to.
pub(super) fn lines(channel: &DtmPlan, plan: &Plan) -> Vec<String> {
    let settings = &channel.settings;
    let update = channel.measure.saturating_mul(u64::from(channel.update_every));
    let slot = settings.slot.bps() as f64;
    let bps = |nanos: u64| nanos as f64 / NANOS_PER_SLOT as f64 * slot;
    let half = bps(settings.corridor.nanos()) / 2.0;
    let whose = match channel.estimators {
        Estimators::Channel => "all that comes to the door",
        Estimators::Flow => "each flow at the door, and added up,",
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
            "{} until {update}; then slots of {} that follow {whose} measured every {}",
            channel.initial, settings.slot, channel.measure
        ),
        format!(
            "an estimate gets {} more than itself{rounded}, and may then move in a corridor of {}",
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
        lines.push(format!("it gets what the others leave of {}, pool {}", pool.capacity, pool.name));
    }
    lines
}

pub(super) fn explain_pool(name: &str, form: &Form, plan: &Plan, out: &mut String) {
    let mut rows: Vec<Row> = Vec::new();
    rows_of(form, "", &[], &mut rows);
    write_rows(&format!("pool {name}"), &rows, out);
    let Some(index) = plan.pools.iter().position(|pool| pool.name == name) else { return };
    let channels = plan.gates.iter().filter_map(|gate| match &gate.rate {
        RatePlan::Dtm(channel) if channel.pool == Some(index) => Some((gate, channel)),
        _ => None,
    });
    let initial: u64 = channels.clone().map(|(_, channel)| channel.initial.bps()).sum();
    let names: Vec<&str> = channels.map(|(gate, _)| gate.name.as_str()).collect();
    match names.as_slice() {
        [] => consequence("nothing takes from it", out),
        [one] => consequence(&format!("{one} alone takes from it"), out),
        [first, .., last] => {
            let count = names.len();
            let left = plan.pools[index].capacity.bps().saturating_sub(initial);
            consequence(
                &format!(
                    "{count} channels take from {}: {first} to {last}; {} are left at the start",
                    plan.pools[index].capacity,
                    rate_text(left as f64)
                ),
                out,
            );
        }
    }
}
