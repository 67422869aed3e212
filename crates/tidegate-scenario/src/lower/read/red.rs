//! `queue.aqm.red` to [`RedPlan`].

use tidegate_core::plan::{RatePlan, RedAdaptivePlan, RedCurve, RedPlan, StepThreshold};
use tidegate_core::units::Span;

use super::threshold::{interval, threshold};
use crate::check::{Form, Item, Value};
use crate::lower::notes::Notes;
use crate::lower::values::{COLOURS, LARGEST_PACKET, bytes_u32, probability};

/// IP bytes of a packet that an idle server could have sent (ns-2).
const MEAN_PACKET: u32 = 500;

/// The keys that say how `max_p` follows the average.
const ADAPTIVE: [&str; 7] =
    ["update", "increase", "decrease", "max_p_least", "max_p_most", "target_low", "target_high"];

/// RED as `form` has it, or with every key at its default; `item` is where the discipline was named.
pub(super) fn red(item: &Item, form: Option<&Form>, rate: &RatePlan, notes: &mut Notes) -> Option<RedPlan> {
    let mean_packet = match form.and_then(|form| form.get("mean_packet")) {
        Some(size) => bytes_u32(Some(size), LARGEST_PACKET, notes).max(1),
        None => MEAN_PACKET,
    };
    let per_second = packets_per_second(item, form, rate, mean_packet, notes)?;
    let default = RedPlan::default_for(Span::from_picos((1e12 / per_second).round().clamp(1.0, 1e18) as u64));
    let Some(form) = form else { return Some(default) };
    let (in_bytes, min, max) = thresholds(form, rate, default, notes)?;
    Some(RedPlan {
        in_bytes,
        min,
        max,
        max_p: probability(form, "max_p", default.max_p),
        weight: weight(form, per_second, default.weight, notes),
        by_size: form.flag("by_size").then_some(mean_packet),
        gentle: form.flag("gentle"),
        wait: form.flag("wait"),
        hard_drop: form.flag("hard_drop"),
        adaptive: adaptive(form, notes),
        colours: COLOURS.map(|colour| curve(form, colour, in_bytes, rate, default, notes)),
        ..default
    })
}

/// The thresholds of a colour; `None`: it has none of its own, or something was wrong.
fn curve(
    form: &Form,
    colour: &str,
    in_bytes: bool,
    rate: &RatePlan,
    default: RedPlan,
    notes: &mut Notes,
) -> Option<RedCurve> {
    let own = form.table(colour).filter(|_| form.given(colour).is_some())?;
    if form.flag("adaptive") {
        let problem = "max_p adapts to one average, and colours have a max_p of their own";
        notes.wrong(form.given(colour)?, problem, "remove adaptive, or remove this key");
        return None;
    }
    let mut read = |name: &str| -> Option<u64> {
        let item = own.get(name)?;
        match threshold(item, rate, &format!("aqm.red.{colour}.{name}"), notes)? {
            StepThreshold::Packets(packets) if !in_bytes => Some(packets),
            StepThreshold::Bytes(bytes) if in_bytes => Some(bytes),
            _ => {
                let unit = if in_bytes { "bytes or times" } else { "packets" };
                let problem = "thresholds of colours and of the rest have different units";
                notes.wrong(item, problem, format!("write {unit}, or min and max of aqm.red in this unit"));
                None
            }
        }
    };
    let (min, max) = (read("min")?, read("max")?);
    if min >= max {
        let problem = "max is not above min";
        notes.wrong(own.get("max")?, problem, "write a max above min, such as three times as much");
        return None;
    }
    Some(RedCurve { min, max, max_p: probability(own, "max_p", probability(form, "max_p", default.max_p)) })
}

/// How many packets of `mean_packet` a second takes.
fn packets_per_second(
    item: &Item,
    form: Option<&Form>,
    rate: &RatePlan,
    mean_packet: u32,
    notes: &mut Notes,
) -> Option<f64> {
    let bits = f64::from(mean_packet) * 8.0;
    let rate = match form.and_then(|form| form.rate("bandwidth")) {
        Some(bandwidth) => Some(bandwidth.bps() as f64 / bits),
        None => rate.mean_units_per_second(bits),
    };
    let per_second = rate.filter(|rate| *rate > 0.0);
    if per_second.is_none() {
        let problem =
            "red needs to know how fast this gate is while nothing is sent, and it has no mean rate";
        notes.wrong(item, problem, "add aqm.red.bandwidth = \"10 Mbit/s\"");
    }
    per_second
}

/// Whether they are in bytes, and the lower and the upper one.
fn thresholds(form: &Form, rate: &RatePlan, default: RedPlan, notes: &mut Notes) -> Option<(bool, u64, u64)> {
    let mut read = |name| match form.given(name) {
        Some(item) => threshold(item, rate, &format!("aqm.red.{name}"), notes).map(Some),
        None => Some(None),
    };
    let (min, max) = (read("min")?, read("max")?);
    let (in_bytes, min, max) = match (min, max) {
        (None, None) => (default.in_bytes, default.min, default.max),
        (Some(StepThreshold::Packets(min)), None) => (false, min, min.saturating_mul(3)),
        (Some(StepThreshold::Bytes(min)), None) => (true, min, min.saturating_mul(3)),
        (None, Some(StepThreshold::Packets(max))) => (false, max / 3, max),
        (None, Some(StepThreshold::Bytes(max))) => (true, max / 3, max),
        (Some(StepThreshold::Packets(min)), Some(StepThreshold::Packets(max))) => (false, min, max),
        (Some(StepThreshold::Bytes(min)), Some(StepThreshold::Bytes(max))) => (true, min, max),
        _ => {
            let help = "write both in packets, or both in bytes or as times";
            notes.wrong(form.get("max")?, "min and max have different units", help);
            return None;
        }
    };
    if min >= max {
        let item = form.given("max").or_else(|| form.given("min"))?;
        let unit = if in_bytes { "bytes" } else { "packets" };
        let problem = format!("max, {max} {unit}, is not above min, {min} {unit}");
        notes.wrong(item, problem, "write a max above min, such as three times as much");
        return None;
    }
    Some((in_bytes, min, max))
}

/// What an arrival counts, in 10⁻⁹.
fn weight(form: &Form, per_second: f64, default: u32, notes: &mut Notes) -> u32 {
    let Some(item) = form.get("wq") else { return default };
    let share = match item.value {
        Value::Real(share) => share,
        // "auto": 1 - exp(-1/C).
        _ => -(-1.0 / per_second).exp_m1(),
    };
    let billionths = (share * 1e9).round();
    if billionths < 1.0 {
        notes.wrong(item, "this is less than 0.000000001", "write 0.000000001 or more, such as 0.002");
    }
    billionths as u32
}

fn adaptive(form: &Form, notes: &mut Notes) -> Option<RedAdaptivePlan> {
    if !form.flag("adaptive") {
        for name in ADAPTIVE {
            if let Some(item) = form.given(name) {
                let problem = "max_p does not adapt here, so this key has no effect";
                notes.wrong(item, problem, "add aqm.red.adaptive = true, or remove this key");
            }
        }
        return None;
    }
    let default = RedAdaptivePlan::DEFAULT;
    let millionths =
        |name: &str, left_out: u32| form.real(name).map_or(left_out, |part| (part * 1e6).round() as u32);
    let plan = RedAdaptivePlan {
        interval: interval(form, default.interval, notes),
        increase: probability(form, "increase", default.increase),
        decrease: probability(form, "decrease", default.decrease),
        least: probability(form, "max_p_least", default.least),
        most: probability(form, "max_p_most", default.most),
        target_low: millionths("target_low", default.target_low),
        target_high: millionths("target_high", default.target_high),
    };
    for (low, high, ordered) in [
        ("target_low", "target_high", plan.target_low <= plan.target_high),
        ("max_p_least", "max_p_most", plan.least <= plan.most),
    ] {
        if let (false, Some(item)) = (ordered, form.given(low).or_else(|| form.given(high))) {
            notes.wrong(item, format!("{low} is above {high}"), format!("write a {low} of at most {high}"));
        }
    }
    Some(plan)
}
