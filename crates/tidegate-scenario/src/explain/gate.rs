//! A gate in words.

use tidegate_core::aal5::cells_of;
use tidegate_core::plan::{FlowPlan, Framing, GatePlan, JitterPlan, OnChange, Plan, QueueLimit, RatePlan};
use tidegate_core::units::{Rate, Speed};

use super::passing::passing;
use super::text::{rate_text, seconds_text, three_digits};
use super::{advice, calls, cells, classes, consequence, dtm, follow, police, queues, rows_of, write_rows};
use crate::check::Form;
use crate::copies::servers;

pub(super) fn explain(name: &str, form: &Form, plan: &Plan, out: &mut String) {
    let mut rows = Vec::new();
    rows_of(form, "", &classes::hidden(form), &mut rows);
    let copies: Vec<usize> = servers(name, plan).map(|(index, _)| index).collect();
    if let (Some(first), Some(row)) = (copies.first(), rows.iter_mut().find(|row| row.key == "on_change"))
        && row.default
    {
        row.text = default_change(&plan.gates[*first]).to_owned();
    }
    // Of a policer's many names only those that were used.
    rows.retain(|row| !row.default || !row.key.starts_with("police.") || row.key == "police.action");
    cells::keep_rows(copies.first().map(|first| &plan.gates[*first]), &mut rows);
    write_rows(&format!("gate {name}"), &rows, out);
    let Some(first) = copies.first() else {
        consequence("no flow or traffic passes it", out);
        return;
    };
    let gate = &plan.gates[*first];
    if copies.len() > 1 || gate.name != name {
        let last = &plan.gates[copies[copies.len() - 1]].name;
        match copies.len() {
            1 => consequence(&format!("one copy of this gate: {}", gate.name), out),
            count => consequence(&format!("{count} copies of this gate: {} to {last}", gate.name), out),
        }
    }
    let packet = largest_packet(plan, &copies);
    let in_cells = gate.is_cell_gate();
    let packet = cells::packet_of_flows(plan, &copies).filter(|_| in_cells).unwrap_or(packet);
    for line in cells::lines(gate, packet) {
        consequence(&line, out);
    }
    let own = police::lines(gate, packet).into_iter().chain(rate_lines(gate, packet, plan));
    for line in own.chain(advice::gate_lines(gate)) {
        consequence(&line, out);
    }
    if let Some(length) = jitter_text(gate.jitter) {
        let unit = if in_cells { "cell" } else { "packet" };
        consequence(
            &format!(
                "after transmission each {unit} is delayed at random, {length}; the order of {unit}s is kept"
            ),
            out,
        );
    }
    if !in_cells {
        queue_lines(gate, packet).iter().for_each(|line| consequence(line, out));
    }
    for line in classes::lines(gate, form, plan) {
        consequence(&line, out);
    }
}

/// How long a random delay is.
pub(super) fn jitter_text(jitter: JitterPlan) -> Option<String> {
    let mean = jitter.mean();
    match jitter {
        JitterPlan::None => None,
        JitterPlan::Uniform { most } => Some(format!("uniformly by 0 s to {most}, {mean} on average")),
        JitterPlan::Exponential { .. } => Some(format!("exponentially, by {mean} on average")),
        JitterPlan::Wakeup { latency, pause } => Some(format!("by {latency} after a pause of {pause}")),
    }
}

/// What is shown for `on_change` when it is left out.
fn default_change(gate: &GatePlan) -> &'static str {
    match (gate.rate.default_on_change(), gate.on_change) {
        (None, _) => "not used: the rate never changes",
        (Some(_), OnChange::Keep) => "keep",
        (Some(_), OnChange::Rescale) => "rescale",
    }
}

/// The largest IP packet that passes any of these servers.
fn largest_packet(plan: &Plan, gates: &[usize]) -> u32 {
    let passes = passing(plan, gates);
    let data = plan.flows.iter().filter(|flow| passes(&flow.path)).map(FlowPlan::largest_packet);
    let acks = plan.flows.iter().filter(|flow| passes(&flow.back)).map(FlowPlan::largest_packet_back);
    let traffic =
        plan.traffic.iter().filter(|traffic| passes(&traffic.path)).map(|traffic| traffic.source.largest());
    data.chain(acks).chain(traffic).max().unwrap_or(1500)
}

fn rate_lines(gate: &GatePlan, packet: u32, plan: &Plan) -> Vec<String> {
    let wire = f64::from(gate.wire_bytes(packet));
    let heavy = if wire > f64::from(packet) { format!(" ({wire} B on the wire)") } else { String::new() };
    let takes = |rate: Rate| seconds_text(8.0 * wire / rate.bps().max(1) as f64);
    let in_cells = gate.is_cell_gate();
    let unit = if in_cells { "cell" } else { "packet" };
    let change = match gate.on_change {
        OnChange::Keep => format!(
            "when the rate changes, a {unit} in transmission keeps the rate at which it \
            started"
        ),
        OnChange::Rescale => format!(
            "when the rate changes, the rest of a {unit} in transmission is sent at the \
            new rate"
        ),
    };
    let mean = gate.packets_per_second(packet).map_or(String::new(), |rate| rate_text(rate * 8.0 * wire));
    match &gate.rate {
        RatePlan::Unlimited => vec![format!("no transmission time: every {unit} passes at once")],
        RatePlan::Gcra(_) => Vec::new(),
        RatePlan::Constant(_) if in_cells => Vec::new(),
        RatePlan::Constant(Speed::Bits(rate)) => {
            vec![format!("a packet of {packet} B{heavy} takes {}", takes(*rate))]
        }
        RatePlan::Reserve(circuit) => {
            let mut lines = vec![format!("a packet of {packet} B{heavy} takes {}", takes(circuit.rate))];
            if matches!(gate.framing, Framing::CellPackets { .. }) {
                lines.push("packets pass whole and take 53 bytes for each of their cells".to_owned());
            }
            lines.extend(calls::lines(circuit, plan));
            lines
        }
        RatePlan::Constant(Speed::Packets(micro)) => {
            vec![format!("a packet takes {}, whatever its size", seconds_text(1e6 / *micro as f64))]
        }
        RatePlan::Steps { repeat, .. } => vec![
            match repeat {
                Some(repeat) => format!("mean rate {mean}; the steps repeat every {repeat}"),
                None => "the last rate holds to the end of the run".to_owned(),
            },
            change,
        ],
        RatePlan::TokenBucket { rate, burst_bytes, peak, peak_burst_bytes, initial_bytes } => {
            let holds = |bytes: u64| (bytes as f64 / wire).floor();
            let (all, each) = (holds(*burst_bytes), takes(*rate));
            let packets = format!("packets of {packet} B{heavy}");
            let mut lines = vec![match (peak, peak_burst_bytes) {
                (None, _) => format!("after a pause {all} {packets} pass at once, then one every {each}"),
                (Some(peak), None) => format!(
                    "after a pause {packets} pass one every {} until the bucket of {all} is empty, then one every \
                     {each}",
                    takes(*peak)
                ),
                (Some(peak), Some(bytes)) => format!(
                    "after a pause {} {packets} pass at once, then one every {} until the bucket of {all} is \
                     empty, then one every {each}",
                    holds(*bytes),
                    takes(*peak)
                ),
            }];
            if let Some(bytes) = initial_bytes {
                lines.push(match peak {
                    None => format!("at the start {} packets pass at once", holds(*bytes)),
                    Some(_) => format!("at the start the bucket holds {} packets", holds(*bytes)),
                });
            }
            lines
        }
        RatePlan::Markov(markov) => {
            let range = (markov.rates.iter().min(), markov.rates.iter().max());
            let (Some(least), Some(most)) = range else { return Vec::new() };
            let mean = if mean.is_empty() { String::new() } else { format!("mean rate {mean}, ") };
            vec![format!("{mean}from {least} to {most}"), change]
        }
        RatePlan::Dtm(channel) => {
            let mut lines = dtm::lines(channel, plan);
            lines.push(change);
            lines
        }
        RatePlan::Abr(abr) => {
            let mut lines = follow::abr_lines(abr, plan);
            lines.push(change);
            lines
        }
        RatePlan::Follow(rule) => {
            let mut lines = follow::lines(rule, plan);
            lines.push(change);
            lines
        }
        RatePlan::RateTrace { trace, .. } => {
            vec![format!("the trace lasts {}; mean rate {mean}", trace.period), change]
        }
        RatePlan::CellReplay(link) => {
            let trains = &link.light.trains;
            vec![
                format!(
                    "{} trains in {} after a pause, base delay at least {}; one goes on through a pause of {}",
                    trains.len() - 1,
                    link.light.period(),
                    link.light.least_delay(),
                    link.timer
                ),
                format!(
                    "then {} delivery opportunities of {} B in {}; mean rate {mean}",
                    link.heavy.at.len(),
                    link.heavy.bytes,
                    link.heavy.period
                ),
            ]
        }
        RatePlan::Opportunities { trace, .. } => {
            vec![format!(
                "{} delivery opportunities of {} B in {}; mean rate {mean}",
                trace.at.len(),
                trace.bytes,
                trace.period
            )]
        }
    }
}

/// Which of a law's rates stands for it, where it has several whatever arrives.
pub(super) fn varying(gate: &GatePlan) -> Option<&'static str> {
    match &gate.rate {
        RatePlan::Steps { steps, .. } if steps.len() < 2 => None,
        RatePlan::Steps { repeat: None, .. } => Some("last"),
        RatePlan::Steps { .. }
        | RatePlan::Markov(_)
        | RatePlan::RateTrace { .. }
        | RatePlan::CellReplay(_)
        | RatePlan::Opportunities { .. } => Some("mean"),
        RatePlan::Unlimited
        | RatePlan::Constant(_)
        | RatePlan::TokenBucket { .. }
        | RatePlan::Gcra(_)
        | RatePlan::Dtm(_)
        | RatePlan::Follow(_)
        | RatePlan::Abr(_)
        | RatePlan::Reserve(_) => None,
    }
}

/// The queue's limit in packets, as a number for ratios; `None`: unlimited.
pub(super) fn queue_packets(gate: &GatePlan, packet: u32) -> Option<f64> {
    match gate.queue.limit {
        QueueLimit::Unlimited => None,
        QueueLimit::Packets(packets) => Some(packets as f64),
        QueueLimit::Bytes(bytes) => Some(bytes as f64 / f64::from(packet.max(1))),
        QueueLimit::Cells(cells) => {
            let each = cells_of(packet, gate.framing.cell_gate().unwrap_or(false));
            Some(cells as f64 / f64::from(each))
        }
    }
}

fn queue_lines(gate: &GatePlan, packet: u32) -> Vec<String> {
    let mut lines = full_queue(gate, packet);
    lines.extend(queues::lines(gate.queue.discipline));
    lines
}

fn full_queue(gate: &GatePlan, packet: u32) -> Vec<String> {
    let Some(packets) = queue_packets(gate, packet) else { return Vec::new() };
    match gate.packets_per_second(packet) {
        Some(rate) if rate > 0.0 => {
            let count = three_digits(packets);
            vec![format!(
                "a full queue of {count} packets of {packet} B takes {} to empty{}",
                seconds_text(packets / rate),
                varying(gate).map_or(String::new(), |which| format!(" at its {which} rate"))
            )]
        }
        _ => Vec::new(),
    }
}
