//! A fed-back rate in words.

use tidegate_core::aal5::CELL_BITS;
use tidegate_core::effcap::Blocks;
use tidegate_core::plan::{AbrPlan, FollowPlan, Plan, Share};
use tidegate_core::units::{PICOS_PER_SECOND, Rate};

use super::text::{rate_text, seconds_text, three_digits};

/// What a gate follows, and what it makes of it.
pub(super) fn lines(follow: &FollowPlan, plan: &Plan) -> Vec<String> {
    let FollowPlan { gate, every, lag, blocks, share, initial, min, peak } = follow;
    let name = plan.gates.get(*gate).map_or("", |followed| followed.name.as_str());
    let first = *every + *lag;
    let before = match *initial {
        Rate::ZERO => "nothing is sent".to_owned(),
        initial => format!("the rate is {initial}"),
    };
    let taken = match *share {
        Share::ALL => String::new(),
        share => format!("{}% of ", three_digits(share.parts() as f64 / PICOS_PER_SECOND as f64 * 100.0)),
    };
    let limits = match (*min, peak) {
        (Rate::ZERO, None) => String::new(),
        (Rate::ZERO, Some(peak)) => format!(", at most {peak}"),
        (min, None) => format!(", at least {min}"),
        (min, Some(peak)) => format!(", from {min} to {peak}"),
    };
    let estimate = match *blocks {
        Blocks::INSTCAP => "the last value (INSTCAP)".to_owned(),
        Blocks { samples, blocks } => {
            let reach = every.saturating_mul(u64::from(samples) + u64::from(blocks) - 1);
            format!(
                "the smallest of {blocks} moving averages over {samples} values of {every} each, which cover \
                 {reach} (EFFCAP)"
            )
        }
    };
    vec![
        format!(
            "the capacity of gate {name} is averaged over {every} and known here {lag} later; until {first} {before}"
        ),
        format!("the rate is {taken}{estimate}{limits}"),
    ]
}

/// What a switch reports to an ABR source, and how often.
pub(super) fn abr_lines(abr: &AbrPlan, plan: &Plan) -> Vec<String> {
    let Some(switch) = plan.switches.get(abr.switch) else { return Vec::new() };
    let name = plan.gates.get(switch.gate).map_or("", |link| link.name.as_str());
    let rates = abr.rates;
    let spacing = f64::from(abr.cells_per_rm) * CELL_BITS as f64 / rates.peak;
    let aim = three_digits(switch.utilisation * 100.0);
    let says = if switch.binary {
        "signals congestion when the load is above"
    } else {
        "signals each source its fair share \
            of"
    };
    vec![
        format!(
            "rate from {} to {}; {} until the first RM cell returns, {} after it was sent",
            rate_text(rates.min),
            rate_text(rates.peak),
            rate_text(rates.initial),
            abr.lag
        ),
        format!(
            "an RM cell is sent every {} at the peak rate, and at least every {}; gate {name} is {} away",
            seconds_text(spacing),
            abr.rm_within,
            abr.there
        ),
        format!("gate {name} measures its load every {} and {says} {aim}% of its capacity", switch.every),
    ]
}
