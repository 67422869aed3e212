//! A flow in words.

use tidegate_core::plan::{
    FlowPlan, Plan, QuicControl, ReadPlan, RtoPlan, RtoRestart, TcpPlan, TickPhase, TransportPlan,
};
use tidegate_core::units::Span;

use super::gate::{jitter_text, queue_packets, varying};
use super::text::{item_text, rate_text, seconds_text, three_digits};
use super::{Row, advice, consequence, copies, police, request, rows_of, tins, write_rows};
use crate::check::Form;
use crate::lower::TcpLayers;
use crate::table::{Kind, TCP};
use crate::units::bytes_text;

pub(super) fn explain(name: &str, form: &Form, root: &Form, plan: &Plan, out: &mut String) {
    let mut rows = Vec::new();
    let Some(flow) = plan.flows.iter().find(|flow| flow.name.split('.').next() == Some(name)) else { return };
    let other = if flow.transport == TransportPlan::Tcp { "quic" } else { "tcp" };
    rows_of(form, "", &["tcp", other], &mut rows);
    rows.retain(|row| !row.default || !["dscp", "from", "to", "transport"].contains(&row.key.as_str()));
    match &flow.transport {
        TransportPlan::Tcp => tcp_rows(&TcpLayers::new(root, form), flow, &mut rows),
        // Of `tcp` only the controller counts.
        TransportPlan::Quic(quic) if quic.cc == QuicControl::Tcp => {
            let mut all = Vec::new();
            tcp_rows(&TcpLayers::new(root, form), flow, &mut all);
            rows.extend(all.into_iter().filter(|row| row.key == "tcp.cc"));
        }
        TransportPlan::Quic(_) => {}
    }
    write_rows(&format!("flow {name}"), &rows, out);
    copies(name, plan.flows.iter().map(|each| each.name.as_str()), out);
    for line in
        lines(flow, plan).into_iter().chain(request::lines(flow, plan)).chain(advice::flow_lines(flow, plan))
    {
        consequence(&line, out);
    }
}

fn tcp_rows(layers: &TcpLayers<'_>, flow: &FlowPlan, rows: &mut Vec<Row>) {
    for row in TCP.keys.iter().filter(|row| row.kind != Kind::Later) {
        let mut default = layers.given(row.name).is_none();
        let text = match row.name {
            "use" => match layers.given("use") {
                Some(item) => item_text(row.kind, item),
                None => continue,
            },
            "fast_retransmit"
                if !matches!(flow.tcp.cc, tidegate_core::plan::CongestionPlan::Tahoe { .. }) =>
            {
                continue;
            }
            "headers" => bytes_text(u64::from(flow.tcp.headers)),
            "initial_window" => bytes_text(flow.tcp.initial_window),
            "go_back_n" => (if flow.tcp.go_back_n { "yes" } else { "no" }).to_owned(),
            "rto" => rto_text(&flow.tcp),
            "delayed_ack" => delayed_ack_text(&flow.tcp),
            _ => {
                let Some(item) = layers.item(row.name) else { continue };
                item_text(row.kind, &item)
            }
        };
        let mut text = text;
        if let Some(set) = layers.set_of(row.name) {
            text = format!("{text} (from [tcp.{set}])");
            default = false;
        }
        rows.push(Row { key: format!("tcp.{}", row.name), text, default });
    }
}

fn rto_text(tcp: &TcpPlan) -> String {
    match &tcp.rto {
        RtoPlan::Estimated { min, max, initial, tick } => {
            let clock = match tcp.phase {
                _ if *tick == Span::ZERO => "exact clock".to_owned(),
                TickPhase::Own => format!("ticks of {tick}, each host's clock with a phase of its own"),
                TickPhase::Common => format!("ticks of {tick}, the same clock at all hosts"),
            };
            format!("estimated: from {min} to {max}, initially {initial}, {clock}")
        }
        RtoPlan::Fixed { rto, restart } => {
            let from = match restart {
                RtoRestart::Ack => "an ACK of new data",
                RtoRestart::Departure => "an ACK of new data and by every segment sent",
            };
            format!("always {rto}, restarted by {from}")
        }
    }
}

fn delayed_ack_text(tcp: &TcpPlan) -> String {
    let Some(delayed) = &tcp.delayed_ack else { return "one ACK for each segment".to_owned() };
    let late = match delayed.timeout {
        None => "without a time limit".to_owned(),
        Some(_) if delayed.tick.picos() > 0 => {
            format!("at the latest at the next tick (every {})", delayed.tick)
        }
        Some(timeout) if tcp.ack_delay_follows_data() => {
            format!("at the latest after {timeout}, or later where data come less often")
        }
        Some(timeout) => format!("at the latest after {timeout}"),
    };
    format!("one ACK for {} segments, {late}", delayed.every)
}

/// Round trip, bottleneck, bandwidth × delay, and what a window allows.
fn lines(flow: &FlowPlan, plan: &Plan) -> Vec<String> {
    let tcp = &flow.tcp;
    let packet = flow.largest_packet();
    let delays = flow.round_trip_seconds(&plan.gates);
    let rtt = flow.idle_round_trip_seconds(&plan.gates);
    let mut lines = vec![format!(
        "round trip {} from delays alone; {} with the transmission of a packet of {packet} B and its ACK, without \
         queueing",
        seconds_text(delays),
        seconds_text(rtt)
    )];
    let jitters = flow.path.iter().chain(&flow.back).map(|gate| &plan.gates[*gate]);
    for gate in jitters {
        if let Some(length) = jitter_text(gate.jitter) {
            lines.push(format!("jitter of gate {} lengthens the round trip {length}", gate.name));
        }
    }
    lines.extend(bottleneck(flow, plan, packet, rtt));
    lines.extend(police::burst_lines(flow, &plan.gates, packet, rtt));
    if let ReadPlan::AtRate(rate) = tcp.read {
        lines.push(format!("its application reads at most {} of user data", rate_text(rate.bps() as f64)));
    }
    let shortest = flow.shortest_round_trip_seconds(&plan.gates);
    if let Some(window) = tcp.window
        && shortest > 0.0
    {
        let allowed = window as f64 * 8.0 / shortest;
        let segments = three_digits(window as f64 / f64::from(tcp.mss.max(1)));
        lines.push(format!(
            "a window of {} is {segments} segments: at most {} of user data",
            bytes_text(window),
            rate_text(allowed)
        ));
    }
    lines
}

/// What at a gate bounds the rate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Law,
    Policer,
    Shaper,
}

/// The slowest of gates, policers and shapers on the way there, and its bandwidth × delay.
fn bottleneck(flow: &FlowPlan, plan: &Plan, packet: u32, rtt: f64) -> Vec<String> {
    let of = |bound| {
        flow.path.iter().filter_map(move |index| {
            let gate = &plan.gates[*index];
            let rate = match bound {
                Bound::Law => gate.packets_per_second(packet),
                Bound::Policer => police::packet_rate(gate, packet),
                Bound::Shaper => tins::packet_rate(gate, packet),
            };
            Some((gate, bound, rate?))
        })
    };
    let rates = of(Bound::Law).chain(of(Bound::Policer)).chain(of(Bound::Shaper));
    let Some((gate, bound, rate)) = rates.min_by(|one, other| one.2.total_cmp(&other.2)) else {
        return Vec::new();
    };
    let user = |packets: f64| rate_text(packets * 8.0 * f64::from(flow.tcp.mss));
    let bits = 8.0 * f64::from(gate.wire_bytes(packet));
    let (name, counted) = match bound {
        Bound::Law => ("gate", bits),
        Bound::Policer => ("the policer of gate", bits),
        Bound::Shaper => ("the shaper of gate", tins::counted_bits(gate, packet).unwrap_or(bits)),
    };
    let varying = varying(gate).filter(|_| bound == Bound::Law);
    let wire = rate_text(rate * counted);
    let is = match varying {
        Some(which) => {
            let fastest = gate
                .shortest_packet_time(packet)
                .map_or(String::new(), |time| format!("; where it is fastest, at most {}", user(1.0 / time)));
            format!("{wire} on the wire, its {which} rate, is {} of user data{fastest}", user(rate))
        }
        None => {
            let burst =
                police::with_burst(gate, plan, packet, flow.tcp.mss).filter(|_| bound != Bound::Shaper);
            format!("{wire} on the wire is at most {} of user data{}", user(rate), burst.unwrap_or_default())
        }
    };
    let bdp = rate * rtt;
    let queue = match queue_packets(gate, packet) {
        _ if bound == Bound::Policer => "; a policer has no queue".to_owned(),
        Some(queue) if bdp > 0.0 => format!("; its queue holds {} times that", three_digits(queue / bdp)),
        Some(_) => String::new(),
        None => "; its queue is unlimited".to_owned(),
    };
    let at = varying.map_or(String::new(), |which| format!(" at its {which} rate"));
    vec![
        format!("bottleneck: {name} {}; {is}", gate.name),
        format!("bandwidth × round trip is {} packets{at}{queue}", three_digits(bdp)),
    ]
}
