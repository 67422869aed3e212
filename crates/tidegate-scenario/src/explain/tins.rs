//! The tins of CAKE in words.

use tidegate_core::plan::{AckFilter, GatePlan, LinkLayer, SchedulerPlan, ShapedBytes, TinPlan, TinsPlan};

use super::text::{part, rate_text};
use crate::units::bytes_text;

/// The tins of a gate.
fn of_gate(gate: &GatePlan) -> Option<&TinsPlan> {
    match &gate.classes.as_ref()?.scheduler {
        SchedulerPlan::Cake(tins) => Some(tins),
        _ => None,
    }
}

/// The bits that a gate's shaper counts of a packet.
pub(super) fn counted_bits(gate: &GatePlan, packet: u32) -> Option<f64> {
    Some(8.0 * f64::from(of_gate(gate)?.bytes.of(packet)))
}

/// Packets per second of one size that a gate's shaper lets through.
pub(super) fn packet_rate(gate: &GatePlan, packet: u32) -> Option<f64> {
    Some(of_gate(gate)?.bandwidth?.bps() as f64 / counted_bits(gate, packet)?.max(1.0))
}

/// What the shaper does.
pub(super) fn rules(plan: &TinsPlan) -> Vec<String> {
    let mut lines = vec![match plan.bandwidth {
        Some(rate) => format!("packets are shaped to {}", rate_text(rate.bps() as f64)),
        None => "no shaper: the rate of the gate serves, and tins take turns".to_owned(),
    }];
    if let ShapedBytes::Beyond { overhead, least, link } = plan.bytes {
        let mut text = format!("a packet counts its IP bytes {} {}", sign(overhead), overhead.unsigned_abs());
        if least > 0 {
            text += &format!(", {least} at least");
        }
        text += match link {
            LinkLayer::Plain => "",
            LinkLayer::Atm => ", in cells of 53 bytes",
            LinkLayer::Ptm => ", and one more for each 64",
        };
        lines.push(format!("{text}: one of 1500 B counts {} B", plan.bytes.of(1500)));
    }
    let packets = if plan.limit < u64::MAX { format!("{} packets or ", plan.limit) } else { String::new() };
    lines.push(format!("more than {packets}{} drop from the longest queue", bytes_text(plan.memory)));
    lines.extend(plan.ack_filter.map(|filter| match filter {
        AckFilter::Conservative => "needless ACKs are dropped but for the last two of a flow".to_owned(),
        AckFilter::Aggressive => "needless ACKs are dropped".to_owned(),
    }));
    lines
}

fn sign(overhead: i32) -> char {
    if overhead < 0 { '-' } else { '+' }
}

/// What a tin has.
pub(super) fn share(plan: &TinsPlan, number: usize) -> String {
    if plan.bandwidth.is_some() {
        return format!(", goes first up to {}", rate_text(plan.rates[number].bps() as f64));
    }
    let sum: u64 = plan.quanta.iter().map(|quantum| u64::from(*quantum)).sum();
    let share = f64::from(plan.quanta[number]) / sum as f64;
    format!(", {} of the rate while all have packets", part(share))
}

/// What its queues are.
pub(super) fn queues(plan: &TinPlan) -> String {
    let TinPlan { cobalt, quantum, .. } = plan;
    format!(
        "; a queue for each flow with turns of {quantum} B, signals after {} of waits above {}",
        cobalt.interval, cobalt.target
    )
}
