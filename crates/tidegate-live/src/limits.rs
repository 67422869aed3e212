//! Plans that cannot be honoured in real time are refused before they start; and how late
//! packets may be before that bends a result.

use std::collections::BTreeMap;

use tidegate_core::aal5::{CELL_BITS, CELL_BYTES};
use tidegate_core::plan::{AppPlan, FlowPlan, GatePlan, Plan, QueueLimit, SourcePlan, TransportPlan};
use tidegate_core::units::{PICOS_PER_SECOND, Span, Time};

use crate::LiveError;

/// Packets in both directions together that one thread takes through the network in a second,
/// with the kernel's TCP on both sides: what every machine does that the engine was tried on.
pub const MOST_PACKETS_PER_SECOND: f64 = 350_000.0;
/// At this many packets per second or more the engine hardly sleeps: throughput matters, not the time to wake up.
const MANY_PACKETS_PER_SECOND: f64 = 50_000.0;
/// Acknowledgements for each data segment: Linux sends one for two, and more now and then.
const ACKS_PER_SEGMENT: f64 = 0.6;
/// What a background packet costs, which no kernel sees, in packets that one does see.
const BACKGROUND_SHARE: f64 = 0.1;
/// Longer than this is late for any result.
const MOST_TOLERABLE: Span = Span::from_millis(1);
/// A stall of at most this share of what a queue holds, or of a round trip, is harmless.
const HARMLESS_SHARE: f64 = 0.25;
/// Less than this no machine keeps.
const LEAST_TOLERABLE: Span = Span::from_micros(5);
/// IP cannot carry more.
const LARGEST_PACKET: u32 = 65_535;

/// Looks at a plan; what it returns are warnings for the manifest.
///
/// # Errors
/// [`LiveError::Beyond`] with the reason and what would do.
pub fn check(plan: &Plan) -> Result<Vec<String>, LiveError> {
    if plan.duration == Time::ZERO {
        return Err(LiveError::Beyond("duration: a live run needs a duration above 0".to_owned()));
    }
    if plan.perturb {
        return Err(LiveError::Beyond(
            "perturb: the live engine makes no small changes, because a real machine makes its own; leave out perturb"
                .to_owned(),
        ));
    }
    if let Some(gate) = plan.gates.iter().find(|gate| gate.ack_filter().is_some()) {
        return Err(LiveError::Beyond(format!(
            "gate.{}.queue.aqm.cake.ack_filter: gates of the live engine do not look into TCP headers; write \"off\", or use engine = \"sim\"",
            gate.name
        )));
    }
    let mut warnings = Vec::new();
    for flow in &plan.flows {
        if flow.transport != TransportPlan::Tcp {
            return Err(LiveError::Beyond(format!(
                "flow.{}.transport: read {:?}; the live engine runs the kernel's TCP: write \"tcp\", or use engine = \"sim\"",
                flow.name,
                flow.transport.name()
            )));
        }
        if flow.largest_packet() > LARGEST_PACKET {
            return Err(LiveError::Beyond(format!(
                "flow.{}.tcp.mss: a segment of {} B with its headers is larger than any IP packet (65535 B)",
                flow.name, flow.tcp.mss
            )));
        }
        if is_open(plan, flow) {
            warnings.push(format!(
                "flow.{}: neither a gate on its path nor its window limits its rate, so this machine is the limit",
                flow.name
            ));
        }
    }
    let expected = packets_per_second(plan);
    if expected > MOST_PACKETS_PER_SECOND {
        return Err(LiveError::Beyond(format!(
            "the scenario passes up to {expected:.0} packets/s, data and ACKs together, but the live engine handles \
             {MOST_PACKETS_PER_SECOND:.0} packets/s: use slower gates, larger segments or engine = \"sim\""
        )));
    }
    Ok(warnings)
}

/// The latest that packets may be at the 99th percentile without bending the result: the time
/// of one full segment at the slowest gate of a path, or 1% of its shortest round trip,
/// whichever is less; between 5 us and 1 ms.
#[must_use]
pub fn tolerable_lateness(plan: &Plan) -> Span {
    let tolerable = |flow: &FlowPlan| {
        let times =
            flow.path.iter().filter_map(|gate| plan.gates[*gate].shortest_packet_time(flow.largest_packet()));
        let (longest, sum) =
            times.fold((0.0f64, 0.0), |(longest, sum), time| (longest.max(time), sum + time));
        let round_trip = sum + flow.round_trip_seconds(&plan.gates);
        let of_trip = round_trip / 100.0;
        let seconds = if longest > 0.0 { longest.min(of_trip) } else { of_trip };
        Span::from_picos((seconds * PICOS_PER_SECOND as f64) as u64)
    };
    let least = plan.flows.iter().map(tolerable).min().unwrap_or(MOST_TOLERABLE);
    least.clamp(LEAST_TOLERABLE, MOST_TOLERABLE)
}

/// How long the engine may stand still once without bending the result, and why no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarmlessStall {
    /// The longest that is harmless.
    pub span: Span,
    /// What bounds it, as a sentence without its end.
    pub because: String,
}

/// A share of what a queue of the path holds at the rate of the path's slowest gate, or of the shortest round trip,
/// whichever is less. After a stall what was due comes in one burst, which finds room in the queue or is dropped; and ACKs that are
/// late let the queue run empty, and the round trip seem longer.
#[must_use]
pub fn harmless_stall(plan: &Plan) -> HarmlessStall {
    let mut bounds: Vec<(f64, String)> = Vec::new();
    for flow in &plan.flows {
        let packet = flow.largest_packet();
        let times = flow.path.iter().filter_map(|gate| plan.gates[*gate].shortest_packet_time(packet));
        let slowest = times.fold(0.0, f64::max);
        let trip = slowest + flow.round_trip_seconds(&plan.gates);
        bounds.push((
            trip * HARMLESS_SHARE,
            format!("The round trip of flow.{} is {:.3} ms without queues", flow.name, trip * 1e3),
        ));
        for gate in flow.path.iter().map(|gate| &plan.gates[*gate]) {
            let Some(room) = room_in_packets(gate, packet).filter(|_| slowest > 0.0) else { continue };
            let holds = room * slowest;
            let because = format!(
                "The queue of gate.{} holds {:.3} ms at the rate of the path",
                gate.name,
                holds * 1e3
            );
            bounds.push((holds * HARMLESS_SHARE, because));
        }
    }
    let least = bounds.into_iter().min_by(|(one, _), (other, _)| one.total_cmp(other));
    let (seconds, because) = least.unwrap_or_default();
    let span = Span::from_picos((seconds * PICOS_PER_SECOND as f64) as u64);
    HarmlessStall { span: span.max(tolerable_lateness(plan)), because }
}

/// Packets of this size that the gate's queue holds, at least one; `None`: no limit.
fn room_in_packets(gate: &GatePlan, packet: u32) -> Option<f64> {
    let bytes = f64::from(gate.wire_bytes(packet));
    let room = match gate.queue.limit {
        QueueLimit::Unlimited => return None,
        QueueLimit::Packets(packets) => packets as f64,
        QueueLimit::Bytes(room) => room as f64 / f64::from(packet),
        QueueLimit::Cells(cells) => cells as f64 * f64::from(CELL_BYTES) / bytes,
    };
    Some(room.max(1.0))
}

/// Packets that the kernel and the engine exchange in a second at the most, as far as the
/// plan bounds them.
#[must_use]
pub fn packets_per_second(plan: &Plan) -> f64 {
    // Flows that share a bottleneck share its rate.
    let mut groups: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    let mut alone = 0.0;
    for flow in &plan.flows {
        let own = own_bound(plan, flow);
        match bottleneck(plan, flow) {
            Some((gate, most)) => {
                let group = groups.entry(gate).or_insert((0.0, 0.0));
                group.0 = most.max(group.0);
                group.1 += own.unwrap_or(f64::INFINITY);
            }
            None => alone += own.unwrap_or(0.0),
        }
    }
    let data = alone + groups.values().map(|(gate, own)| gate.min(*own)).sum::<f64>();
    let background: f64 = plan.traffic.iter().map(|row| source_rate(&row.source)).sum();
    data * (1.0 + ACKS_PER_SEGMENT) + background * BACKGROUND_SHARE
}

/// Whether the plan lets so many packets through, or bounds them so little, that the machine's
/// throughput decides.
#[must_use]
pub fn is_fast(plan: &Plan) -> bool {
    plan.flows.iter().any(|flow| is_open(plan, flow)) || packets_per_second(plan) > MANY_PACKETS_PER_SECOND
}

/// Whether neither a gate of its path nor its window nor its application bounds a flow.
fn is_open(plan: &Plan, flow: &FlowPlan) -> bool {
    own_bound(plan, flow).is_none() && bottleneck(plan, flow).is_none()
}

/// The gate of a flow's path that lets the fewest full segments through, and how many in a
/// second.
fn bottleneck(plan: &Plan, flow: &FlowPlan) -> Option<(usize, f64)> {
    let rate =
        |gate: &usize| Some((*gate, 1.0 / plan.gates[*gate].shortest_packet_time(flow.largest_packet())?));
    flow.path.iter().filter_map(rate).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Segments in a second that the flow's application or window allows.
fn own_bound(plan: &Plan, flow: &FlowPlan) -> Option<f64> {
    let app = match &flow.app {
        AppPlan::Source(source) => Some(source_rate(source).max(mean_rate(source) / f64::from(flow.tcp.mss))),
        _ => None,
    };
    let trip = flow.round_trip_seconds(&plan.gates);
    let window = flow.tcp.window.filter(|_| trip > 0.0);
    let window = window.map(|bytes| bytes as f64 / f64::from(flow.tcp.mss) / trip);
    [app, window].into_iter().flatten().min_by(f64::total_cmp)
}

/// Mean bytes in a second while the source sends.
fn mean_rate(source: &SourcePlan) -> f64 {
    match source {
        SourcePlan::Constant { rate, .. }
        | SourcePlan::OnOff { rate, .. }
        | SourcePlan::Poisson { rate, .. } => rate.bps() as f64 / 8.0,
        SourcePlan::Messages(messages) => messages.load.bps() as f64 / 8.0,
        SourcePlan::Media(media) => media.bytes_per_second(),
    }
}

/// Writes or packets in a second while the source sends.
fn source_rate(source: &SourcePlan) -> f64 {
    match source {
        SourcePlan::Constant { bytes, .. }
        | SourcePlan::OnOff { bytes, .. }
        | SourcePlan::Poisson { bytes, .. } => mean_rate(source) / f64::from(*bytes),
        SourcePlan::Messages(messages) => {
            messages.load.bps() as f64 / f64::from(messages.mean().max(1)) / CELL_BITS as f64
        }
        SourcePlan::Media(media) => media.packets_per_second(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Plan {
        let scenario = tidegate_scenario::Scenario::from_toml(text, "test.toml", None, &[]);
        scenario.unwrap_or_else(|error| panic!("{error}")).plan(Some(1), 0)
    }

    fn link(rate: &str, more: &str) -> Plan {
        plan(&format!(
            "duration = \"2 s\"\n[gate.link]\nrate = \"{rate}\"\ndelay = \"10 ms\"\n\
             [flow.bulk]\ncount = 2\npath = [\"link\"]\nrtt = \"20 ms\"\napp = \"bulk\"\n{more}"
        ))
    }

    #[test]
    fn a_shared_gate_counts_once() {
        // 12 Mbit/s is 1000 packets of 1500 B, and 600 acknowledgements.
        assert!((packets_per_second(&link("12 Mbit/s", "")) - 1600.0).abs() < 1e-9);
        assert_eq!(check(&link("12 Mbit/s", "")).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_window_bounds_what_gates_do_not() {
        let both = packets_per_second(&link("100 Gbit/s", "tcp.window = \"14480 B\"\n"));
        assert!((both - 1600.0).abs() < 1e-6, "ten segments each 20 ms, twice: {both}");
    }

    #[test]
    fn too_fast_is_refused_in_words() {
        let error = check(&link("10 Gbit/s", "")).unwrap_err().to_string();
        assert!(error.contains("1333333 packets/s") && error.contains("350000 packets/s"), "{error}");
        let open = check(&link("unlimited", "")).unwrap();
        assert!(open[0].contains("flow.bulk.1: neither a gate"), "{open:?}");
    }

    #[test]
    fn fast_is_where_throughput_counts() {
        assert!(!is_fast(&link("100 Mbit/s", "")));
        assert!(is_fast(&link("1 Gbit/s", "")));
        assert!(is_fast(&link("unlimited", "")));
        assert!(!is_fast(&link("unlimited", "tcp.window = \"14600 B\"\n")));
    }

    #[test]
    fn no_length_is_refused() {
        let nothing = Plan { duration: Time::ZERO, ..link("1 Mbit/s", "") };
        assert!(check(&nothing).unwrap_err().to_string().contains("duration"));
    }

    #[test]
    fn lateness_is_measured_against_packets_and_round_trips() {
        // A packet at 12 Mbit/s takes 1 ms; the round trip of 21 ms has the last word.
        assert_eq!(tolerable_lateness(&link("12 Mbit/s", "")), Span::from_micros(210));
        // At 100 Mbit/s the packet: 120 us.
        assert_eq!(tolerable_lateness(&link("100 Mbit/s", "")), Span::from_micros(120));
        assert_eq!(tolerable_lateness(&link("10 Gbit/s", "")), LEAST_TOLERABLE);
    }

    #[test]
    fn stalls_are_measured_against_queues_and_round_trips() {
        // Twenty packets at 12 Mbit/s are 20 ms, less than the round trip of 21 ms.
        let short = link("12 Mbit/s", "[gate.link.queue]\nlimit = \"20 packets\"\n");
        let harmless = harmless_stall(&short);
        assert_eq!(harmless.span, Span::from_millis(5));
        assert_eq!(harmless.because, "The queue of gate.link holds 20.000 ms at the rate of the path");
        let long = harmless_stall(&link("12 Mbit/s", ""));
        assert_eq!(long.span, Span::from_micros(5250));
        assert_eq!(long.because, "The round trip of flow.bulk.1 is 21.000 ms without queues");
    }

    /// A fast gate before a slow one gets what the slow one lets through while the engine stood still.
    #[test]
    fn a_queue_is_filled_at_the_rate_of_the_path() {
        let two = plan(
            "duration = \"2 s\"\n[gate.fast]\nrate = \"120 Mbit/s\"\nqueue = \"15000 B\"\n[gate.slow]\nrate = \"12 Mbit/s\"\n\
             [flow.bulk]\npath = [\"fast\", \"slow\"]\nrtt = \"200 ms\"\n",
        );
        assert_eq!(harmless_stall(&two).span, Span::from_micros(2500), "a quarter of ten packets of 1 ms");
    }
}
