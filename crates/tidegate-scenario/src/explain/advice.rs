//! Throughput advice in words.

use tidegate_core::advice::RateSignal;
use tidegate_core::plan::{AdviceSource, FlowPlan, GatePlan, Plan, PresentPlan};
use tidegate_core::units::Rate;

use super::text::rate_text;

/// What a gate tells flows.
pub(super) fn gate_lines(gate: &GatePlan) -> Vec<String> {
    let Some(advice) = &gate.advice else { return Vec::new() };
    let what = match (advice.constant(&gate.rate), advice.source, advice.among) {
        (Some(told), _, None) => signal_text(told),
        (Some(told), _, Some(_)) => told.to_string(),
        (None, AdviceSource::Estimate { every, blocks }, _) => format!(
            "what can be counted on of its law, the smallest of {} moving averages over {} slots of {every},",
            blocks.blocks, blocks.samples
        ),
        (None, ..) => "the rate of its law at that instant".to_owned(),
    };
    let among = advice.among.map_or_else(String::new, |PresentPlan { within, signalled }| {
        let packet = if signalled { "rate signal" } else { "packet" };
        format!(", divided by the number of flows of which a {packet} came within {within}")
    });
    vec![format!("advice: flows are told {}{among}", what.trim_end_matches(','))]
}

/// A rate as a rate signal says it.
fn signal_text(rate: Rate) -> String {
    let signal = RateSignal::not_above(rate);
    let said = signal.rate().map_or_else(|| "nothing".to_owned(), |said| rate_text(said.bps() as f64));
    format!("{said} (rate signal {})", signal.bits())
}

/// Which gates advise a flow whose packets carry rate signals.
pub(super) fn flow_lines(flow: &FlowPlan, plan: &Plan) -> Vec<String> {
    let Some(scone) = &flow.scone else { return Vec::new() };
    let advise = flow.path.iter().map(|gate| &plan.gates[*gate]).filter(|gate| gate.advice.is_some());
    let names: Vec<&str> = advise.map(|gate| gate.name.as_str()).collect();
    let from = match names.as_slice() {
        [] => "but no gate on its path gives advice".to_owned(),
        [one] => format!("and gate {one} gives advice"),
        several => format!("and gates {} give advice; the lowest counts", several.join(", ")),
    };
    vec![format!("a data packet carries a rate signal every {}, {from}", scone.every)]
}
