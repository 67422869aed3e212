//! Policers and token buckets in words, and what their bursts mean for TCP.

use tidegate_core::gcra::{Conformance, Limit};
use tidegate_core::plan::{
    AppPlan, ColourAction, FlowPlan, GatePlan, MarkerPlan, MeterPlan, Plan, RatePlan, TcpBase, TransportPlan,
};
use tidegate_core::units::Rate;

use super::text::{rate_text, seconds_text, three_digits};
use crate::table::codepoints;
use crate::units::bytes_text;

/// What a gate's policer does with packets of one size.
pub(super) fn lines(gate: &GatePlan, packet: u32) -> Vec<String> {
    if let Some(marker) = &gate.marker {
        return marker_lines(marker, packet);
    }
    let Some(police) = &gate.police else { return Vec::new() };
    let Some((sustained, conformance)) = &police.sustained else {
        let above = if police.tags { "tagged" } else { "dropped" };
        let whole = format!("policed to {}; the excess is {above}", contract(gate, &police.peak, packet));
        let each = police.per_flow.as_ref().map(|limit| each_line(gate, limit, packet, police.tags_excess()));
        return [Some(whole), each].into_iter().flatten().collect();
    };
    let above = match conformance {
        Conformance::Vbr1 => "dropped",
        Conformance::Vbr2 => "dropped, unless it arrived tagged",
        Conformance::Vbr3 => "tagged",
    };
    let each = police.per_flow.as_ref().map(|limit| each_line(gate, limit, packet, police.tags_excess()));
    let mut lines = vec![
        format!("policed to {}; the excess is {above}", contract(gate, sustained, packet)),
        format!("and to a peak of {}; the excess is dropped", contract(gate, &police.peak, packet)),
    ];
    lines.extend(each);
    lines
}

fn each_line(gate: &GatePlan, limit: &Limit, packet: u32, tags: bool) -> String {
    let above = if tags { "tagged" } else { "dropped" };
    format!("inside that each flow is policed to {}; the excess is {above}", contract(gate, limit, packet))
}

/// What a three-colour marker does with packets of one size.
fn marker_lines(marker: &MarkerPlan, packet: u32) -> Vec<String> {
    let bucket = |rate: Rate, burst: u64| {
        let packets = burst / u64::from(packet.max(1));
        format!("{rate}, and after a pause {packets} packets of {packet} B at once")
    };
    let (green, yellow) = match marker.meter {
        MeterPlan::SingleRate { cir, cbs, ebs } => {
            (bucket(cir, cbs), format!("up to {} packets more at once", ebs / u64::from(packet.max(1))))
        }
        MeterPlan::TwoRate { cir, cbs, pir, pbs } => {
            (bucket(cir, cbs), format!("up to {}", bucket(pir, pbs)))
        }
    };
    let becomes = |colour: usize| match (marker.actions[colour], marker.codepoints[colour]) {
        (ColourAction::Remark, None) => "are coloured so for later gates".to_owned(),
        (ColourAction::Remark, Some(codepoint)) => {
            format!("are coloured so for later gates and get the codepoint {}", codepoints::text(codepoint))
        }
        (ColourAction::Pass, _) => "keep the colour that they came with".to_owned(),
        (ColourAction::Drop, _) => "are dropped".to_owned(),
    };
    let [first, second, third] = [0, 1, 2].map(becomes);
    let mut lines = vec![
        format!("green packets, up to {green}, {first}"),
        format!("yellow ones, {yellow}, {second}"),
        format!("red ones, beyond that, {third}"),
    ];
    if marker.colour_aware {
        lines.push("a packet that came yellow or red never gets a better colour".to_owned());
    }
    lines
}

/// "20 Mbit/s: after a rest 33 packets of 1500 B conform at once, then one every 600 us".
fn contract(gate: &GatePlan, limit: &Limit, packet: u32) -> String {
    let unit = f64::from(gate.policed_unit());
    let rate = limit.bits_per_second(u64::from(gate.policed_unit()) * 8) as f64;
    let wire = f64::from(gate.wire_bytes(packet));
    let depth = limit.depth() * unit;
    let every = seconds_text(8.0 * wire / rate.max(1.0));
    let rate = rate_text(rate);
    if depth < wire && unit > 1.0 {
        let cells = limit.depth().floor();
        return format!(
            "{rate}: after a pause {cells} cells conform at once, then a packet of {packet} B every {every}"
        );
    }
    let packets = (depth / wire).floor();
    format!("{rate}: after a pause {packets} packets of {packet} B conform at once, then one every {every}")
}

/// Packets per second of one size that the contract lets through in the long run; `None` where nothing is
/// dropped.
pub(super) fn packet_rate(gate: &GatePlan, packet: u32) -> Option<f64> {
    gate.police.as_ref().filter(|police| !police.tags_excess())?;
    let rate = gate.contract()?.bits_per_second;
    Some(rate as f64 / (8.0 * f64::from(gate.wire_bytes(packet))))
}

/// What the bursts of the buckets on a flow's path are for its round trip.
pub(super) fn burst_lines(flow: &FlowPlan, gates: &[GatePlan], packet: u32, rtt: f64) -> Vec<String> {
    let on_path = flow.path.iter().map(|gate| &gates[*gate]);
    on_path.filter_map(|gate| burst_line(flow, gate, packet, rtt)).collect()
}

/// The rate in bit/s and the depth in bytes of a gate's bucket: its policer's, or that of its rate law.
fn bucket(gate: &GatePlan, packet: u32) -> Option<(f64, f64)> {
    match gate.rate {
        _ if packet_rate(gate, packet).is_some() => {
            gate.contract().map(|contract| (contract.bits_per_second as f64, contract.burst_bytes))
        }
        RatePlan::TokenBucket { rate, burst_bytes, .. } => Some((rate.bps() as f64, burst_bytes as f64)),
        _ => None,
    }
}

/// A bucket's rate is a bound in the long run only: what its burst adds to it in a run of the plan's length, up to the speed of
/// the line. Empty where there is no bucket.
pub(super) fn with_burst(gate: &GatePlan, plan: &Plan, packet: u32, mss: u32) -> Option<String> {
    let (rate, depth) = bucket(gate, packet)?;
    let user = f64::from(mss) / f64::from(gate.wire_bytes(packet));
    let line = match gate.rate {
        RatePlan::TokenBucket { peak, .. } => peak.map(|peak| peak.bps() as f64),
        _ => gate.shortest_packet_time(packet).map(|time| 8.0 * f64::from(gate.wire_bytes(packet)) / time),
    };
    let bound = |seconds: f64| (rate + 8.0 * depth / seconds).min(line.unwrap_or(f64::INFINITY)) * user;
    let burst = bytes_text(depth as u64);
    Some(match (plan.duration.as_secs_f64(), line) {
        (seconds, _) if !plan.until_done && seconds > 0.0 => format!(
            " in the long run; with a burst of {burst} at most {} in a run of {}",
            rate_text(bound(seconds)),
            seconds_text(seconds)
        ),
        (_, Some(line)) => {
            format!(" in the long run; while the burst of {burst} lasts, at most {}", rate_text(line * user))
        }
        _ => format!(" in the long run; the burst of {burst} goes at any speed"),
    })
}

fn burst_line(flow: &FlowPlan, gate: &GatePlan, packet: u32, rtt: f64) -> Option<String> {
    let polices = packet_rate(gate, packet).is_some();
    let (rate, depth) = bucket(gate, packet)?;
    let round_trips = depth / (rate * rtt / 8.0);
    if !round_trips.is_finite() {
        return None;
    }
    let what = if polices { "policer" } else { "bucket" };
    let says = format!(
        "{what} of {}: {} at {} is {} packets, {} × bandwidth × round trip",
        gate.name,
        bytes_text(depth as u64),
        rate_text(rate),
        three_digits(depth / f64::from(gate.wire_bytes(packet))),
        three_digits(round_trips),
    );
    let peak = matches!(gate.rate, RatePlan::TokenBucket { peak: Some(_), .. });
    let expect = match polices {
        true if is_long(flow, gate, packet, rtt) => format!(": {}", expectation(round_trips, flow.tcp.base)),
        true => String::new(),
        false if peak => {
            ": after a pause that much may leave faster than the rate, up to the peak; other packets wait"
                .to_owned()
        }
        false => ": that much may leave at once after a pause; packets above the rate wait".to_owned(),
    };
    Some(says + &expect)
}

/// Whether a flow is what [`expectation`] was measured with: of TCP, long, and with a window that does not limit.
fn is_long(flow: &FlowPlan, gate: &GatePlan, packet: u32, rtt: f64) -> bool {
    let Some((rate, depth)) = bucket(gate, packet) else { return false };
    let bytes = match flow.app {
        AppPlan::Bulk => u64::MAX,
        AppPlan::Transfer { bytes } => bytes,
        _ => return false,
    };
    let user = rate * f64::from(flow.tcp.mss) / f64::from(gate.wire_bytes(packet));
    let long = bytes as f64 >= LONG * depth.max(rate * rtt / 8.0);
    let limited = flow.tcp.window.is_some_and(|window| window as f64 * 8.0 < user * rtt);
    flow.transport == TransportPlan::Tcp && long && !limited
}

/// A transfer is long from so many times what its bucket, or a round trip, holds.
const LONG: f64 = 20.0;

/// What one long TCP flow gets of a policer's rate. Measured (`docs/guide/shape-or-police.md`) for Reno and
/// CUBIC, 5 to 100 Mbit/s, 10 to 100 ms: below one bandwidth × round trip 0.7 to 1 times the burst's share of
/// it, from there on 75 to 90%, from twice that on 80 to 100%. Linux's TCP is less sure: 0.3 to 2.8 times below 0.4,
/// at least 0.7 times from there on, and never above 95%.
fn expectation(round_trips: f64, base: TcpBase) -> String {
    match round_trips {
        share if share < 0.9 => {
            let (low, high) = match base {
                TcpBase::Linux => (if share < 0.4 { 0.3 } else { 0.7 }, (2.8_f64).min(0.95 / share)),
                TcpBase::Rfc | TcpBase::Bsd44 => (0.7, 1.0),
            };
            let percent = |part: f64| (100.0 * part * share).round().max(1.0);
            format!("expect one TCP flow below the rate, at {} to {}% of it", percent(low), percent(high))
        }
        share if share < 2.0 => "expect one TCP flow at 75 to 95% of the rate".to_owned(),
        _ => "expect one TCP flow at 80 to 100% of the rate".to_owned(),
    }
}
