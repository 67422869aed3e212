//! A cell gate and messages of cells in words.

use tidegate_core::aal5::{CELL_BITS, CELL_BYTES, cells_of};
use tidegate_core::gcra::Release;
use tidegate_core::plan::{
    FlowPlan, GatePlan, GcraPlan, MessageLength, MessagePlan, Plan, QueueLimit, RatePlan,
};
use tidegate_core::units::{Rate, Speed};

use super::Row;
use super::passing::passing;
use super::text::{rate_text, seconds_text, three_digits};
use crate::units::plural;

/// Keys that have no meaning at this kind of gate are left out.
pub(super) fn keep_rows(gate: Option<&GatePlan>, rows: &mut Vec<Row>) {
    let of_cells = ["slotted", "reassembly", "queue.epd", "queue.ppd", "framing.aal5", "framing.aal5.llc"];
    let of_packets = ["framing.overhead", "framing.minimum"];
    let out = if gate.is_some_and(GatePlan::is_cell_gate) { &of_packets[..] } else { &of_cells[..] };
    rows.retain(|row| !out.contains(&row.key.as_str()));
}

/// The packet for which a gate's numbers are given: the largest that TCP sends through it, else
/// the largest there is.
pub(super) fn packet_of_flows(plan: &Plan, gates: &[usize]) -> Option<u32> {
    let passes = passing(plan, gates);
    let data = plan.flows.iter().filter(|flow| passes(&flow.path));
    data.map(FlowPlan::largest_packet).max()
}

/// What segmentation makes of a packet, and what the rate is then worth.
pub(super) fn lines(gate: &GatePlan, packet: u32) -> Vec<String> {
    let Some(llc) = gate.framing.cell_gate() else { return Vec::new() };
    let cells = cells_of(packet, llc);
    let wire = f64::from(cells) * f64::from(CELL_BYTES);
    let mut lines = vec![format!(
        "a packet of {packet} B is {}, {wire} B on the wire: an efficiency of {}%",
        plural(u64::from(cells), "cell"),
        three_digits(100.0 * f64::from(packet) / wire)
    )];
    let worth = |bps: f64| {
        format!(
            "{} of cells = {} of IP for {packet}-byte packets",
            Rate::from_bps(bps as u64),
            rate_text(bps * f64::from(packet) / wire)
        )
    };
    match &gate.rate {
        RatePlan::Constant(Speed::Bits(rate)) => {
            let bps = rate.bps() as f64;
            lines.push(worth(bps));
            lines.push(format!(
                "a cell takes {}, a packet {}",
                seconds_text(CELL_BITS as f64 / bps),
                seconds_text(8.0 * wire / bps)
            ));
        }
        RatePlan::Gcra(gcra) => {
            lines.push(worth(gcra.bits_per_second() as f64));
            lines.extend(shaper(gcra));
        }
        _ => {}
    }
    if gate.cells.slotted {
        lines.push("cells that arrive in the same slot join the queue in random order".to_owned());
    }
    lines.extend(queue(gate, packet, cells));
    lines
}

fn shaper(gcra: &GcraPlan) -> Vec<String> {
    let link = gcra.link.bps() as f64;
    let increment = gcra.limit.increment();
    let interval = (increment.whole() as f64 + increment.part() as f64 / increment.parts() as f64) / 1e12;
    let cell = CELL_BITS as f64 / link;
    let mut lines = vec![format!(
        "T is {}, {} cell times of the link; a cell takes {}",
        seconds_text(interval),
        (interval / cell * 1e3).round() / 1e3,
        seconds_text(cell)
    )];
    if gcra.limit.tolerance() > 0 {
        let tolerance = gcra.limit.tolerance() as f64 / 1e12;
        lines.push(format!("τ is {} cell times of the link", three_digits(tolerance / cell)));
        if gcra.release == Release::Tat && tolerance > interval - cell {
            lines.push(
                "τ is more than T minus one cell time, so cells that wait for their TAT leave in bursts; release = \
                 \"earliest\" spaces them"
                    .to_owned(),
            );
        }
    }
    lines
}

fn queue(gate: &GatePlan, packet: u32, cells: u32) -> Vec<String> {
    let mut lines = Vec::new();
    if let QueueLimit::Cells(limit) = gate.queue.limit
        && let Some(bps) = cell_rate(gate)
    {
        lines.push(format!(
            "a full queue of {} ({} packets of {packet} B) takes {} to empty",
            plural(limit, "cell"),
            three_digits(limit as f64 / f64::from(cells)),
            seconds_text(limit as f64 * CELL_BITS as f64 / bps)
        ));
    }
    if let Some(epd) = gate.cells.epd {
        lines.push(format!("a packet that arrives when {} wait is dropped whole", plural(epd, "cell")));
    }
    if gate.cells.ppd {
        lines.push(
            "once a packet has lost a cell, its remaining cells are dropped, except the last".to_owned(),
        );
    }
    lines
}

/// Bits of cells per second, where the gate has one rate.
fn cell_rate(gate: &GatePlan) -> Option<f64> {
    match &gate.rate {
        RatePlan::Constant(Speed::Bits(rate)) => Some(rate.bps() as f64),
        RatePlan::Gcra(gcra) => Some(gcra.bits_per_second() as f64),
        _ => None,
    }
}

/// Messages in words.
pub(super) fn messages(messages: &MessagePlan) -> Vec<String> {
    let mean = f64::from(messages.mean());
    let gap = mean * CELL_BITS as f64 / messages.load.bps() as f64;
    let lengths = match &messages.length {
        MessageLength::Constant(_) => String::new(),
        MessageLength::Geometric(lengths) => {
            format!(" on average, {} at most", plural(u64::from(lengths.most()), "cell"))
        }
    };
    let often = if messages.exponential { "one every {} on average" } else { "one every {}" };
    vec![format!(
        "messages of {}{lengths}, {}: {} per second",
        plural(u64::from(messages.mean()), "cell"),
        often.replace("{}", &seconds_text(gap)),
        three_digits(1.0 / gap)
    )]
}
