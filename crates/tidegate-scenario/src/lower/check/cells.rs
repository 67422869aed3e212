//! Cell gates: what only they have, what they cannot have, and what holds between them.

use std::collections::BTreeSet;

use tidegate_core::aal5::cells_of;
use tidegate_core::plan::{LossPlan, OnChange, QueueCounts, QueueLimit, RatePlan};
use tidegate_core::units::Speed;

use super::packets::largest;
use crate::lower::draft::{Gate, Hop, User};
use crate::lower::notes::Notes;
use crate::units::plural;

/// Keys of each gate against its kind.
pub(crate) fn check(gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) {
    for (gate, largest) in gates.iter().zip(largest(gates.len(), users)) {
        if gate.plan.is_cell_gate() {
            check_cell_gate(gate, largest, notes);
        } else {
            check_packet_gate(gate, notes);
        }
    }
    for user in users {
        for hops in [&user.path, &user.back] {
            check_framing(hops, gates, notes);
        }
    }
    warn_reassembly(gates, users, notes);
}

const AS_CELLS: &str = "add framing = \"aal5\" to make it a cell gate";

fn check_packet_gate(gate: &Gate<'_>, notes: &mut Notes) {
    // A circuit may have AAL5 framing and passes packets all the same.
    let is_circuit = matches!(gate.plan.rate, RatePlan::Reserve(_));
    let what = if is_circuit { "a circuit" } else { "this gate" };
    let or_cells = if is_circuit { String::new() } else { format!(", or {AS_CELLS}") };
    let queue = gate.form.table("queue");
    if let (QueueLimit::Cells(_), Some(item)) =
        (gate.plan.queue.limit, queue.and_then(|queue| queue.get("limit")))
    {
        let problem = match is_circuit {
            true => "the queue of a circuit holds whole packets, not cells",
            false => "this gate's queue holds packets, not cells",
        };
        notes.wrong(item, problem, format!("write packets or bytes{or_cells}"));
    }
    let of_queue = ["epd", "ppd"].map(|name| queue.and_then(|queue| queue.given(name)));
    let of_gate = ["slotted", "reassembly"].map(|name| gate.form.given(name));
    for item in of_queue.into_iter().chain(of_gate).flatten() {
        let name = item.key.rsplit('.').next().unwrap_or_default();
        let problem = format!("{what} passes packets; {name} is for cell gates");
        notes.wrong(item, problem, format!("remove this key{or_cells}"));
    }
    if let (RatePlan::Gcra(_), Some(item)) = (&gate.plan.rate, gate.form.get("rate")) {
        let help = format!("{AS_CELLS}, or use rate.token_bucket for packets");
        notes.wrong(item, "a GCRA shaper passes cells, but this gate passes packets", help);
    }
}

/// `packet`: the largest that passes it, and whose.
fn check_cell_gate(gate: &Gate<'_>, packet: Option<(u32, &str)>, notes: &mut Notes) {
    check_queue(gate, packet, notes);
    if let Some(item) = gate.form.get("rate") {
        let by_packet = |speed: &Speed| matches!(speed, Speed::Packets(_));
        let problem = match &gate.plan.rate {
            RatePlan::Constant(speed) if by_packet(speed) => Some("a cell gate passes cells, not packets"),
            RatePlan::Steps { steps, .. } if steps.iter().any(|(_, speed)| by_packet(speed)) => {
                Some("a cell gate passes cells, not packets")
            }
            RatePlan::Dtm(_) => Some("a DTM channel passes packets, not cells"),
            _ => None,
        };
        if let Some(problem) = problem {
            notes.wrong(
                item,
                problem,
                "write a rate in bit/s, which counts the 53 bytes of each cell, or remove framing",
            );
        }
    }
    if let (RatePlan::Follow(_) | RatePlan::Abr(_), OnChange::Rescale, Some(item)) =
        (&gate.plan.rate, gate.plan.on_change, gate.form.get("on_change"))
    {
        let problem =
            "with a fed-back rate, a cell in transmission always keeps the rate at which it started";
        notes.wrong(item, problem, "write \"keep\", or remove framing");
    }
    if gate.plan.cells.slotted {
        check_slots(gate, notes);
    }
}

fn check_queue(gate: &Gate<'_>, packet: Option<(u32, &str)>, notes: &mut Notes) {
    let Some(queue) = gate.form.table("queue") else { return };
    let Some(limit) = queue.get("limit") else { return };
    let llc = gate.plan.framing.cell_gate().unwrap_or(false);
    let cells = |bytes: u32| u64::from(cells_of(bytes, llc));
    let in_cells = match (gate.plan.queue.limit, packet) {
        (QueueLimit::Packets(packets), Some((bytes, _))) => Some(packets.saturating_mul(cells(bytes))),
        (QueueLimit::Packets(packets), None) => Some(packets),
        (QueueLimit::Bytes(bytes), Some((packet, _))) => {
            Some((bytes / u64::from(packet.max(1))).saturating_mul(cells(packet)))
        }
        (QueueLimit::Bytes(bytes), None) => Some(bytes / 48),
        _ => None,
    };
    if let Some(count) = in_cells {
        let of = packet.map_or(String::new(), |(bytes, _)| {
            format!(": a packet of {bytes} B is {}", plural(cells(bytes), "cell"))
        });
        notes.wrong(
            limit,
            "the queue of a cell gate is counted in cells",
            format!("write \"{}\"{of}", plural(count, "cell")),
        );
    }
    let (QueueLimit::Cells(most), Some(epd)) = (gate.plan.queue.limit, queue.given("epd")) else { return };
    if let Some(threshold) = epd.cells().filter(|threshold| *threshold > most) {
        let problem = format!(
            "a threshold of {} can never be reached in a queue of {}",
            plural(threshold, "cell"),
            plural(most, "cell")
        );
        notes.wrong(epd, problem, format!("write \"{}\" or less, or remove this key", plural(most, "cell")));
    }
}

fn check_slots(gate: &Gate<'_>, notes: &mut Notes) {
    let Some(item) = gate.form.get("slotted") else { return };
    if !matches!(gate.plan.rate, RatePlan::Constant(Speed::Bits(_))) {
        notes.wrong(
            item,
            "a slotted gate needs a constant rate, so that all slots have the same length",
            "write rate = \"150 Mbit/s\", or remove slotted",
        );
    }
    if let (true, Some(loss)) = (gate.plan.loss != LossPlan::None, gate.form.get("loss")) {
        notes.wrong(loss, "a slotted gate cannot lose cells", "put the loss on a gate after it");
    }
    let counts = gate.form.table("queue").and_then(|queue| queue.get("counts"));
    if let (QueueCounts::All, Some(counts)) = (gate.plan.queue.counts, counts) {
        notes.wrong(
            counts,
            "the queue of a slotted gate counts only waiting cells",
            "write \"waiting\", and make the limit one cell smaller",
        );
    }
}

/// Segmentation and reassembly of one section must agree.
fn check_framing(hops: &[Hop<'_>], gates: &[Gate<'_>], notes: &mut Notes) {
    for pair in hops.windows(2) {
        let [before, gate] = [&gates[pair[0].gate], &gates[pair[1].gate]];
        if let (Some(one), Some(other)) = (before.plan.framing.cell_gate(), gate.plan.framing.cell_gate())
            && one != other
        {
            let with = |llc: bool| if llc { "with" } else { "without" };
            let problem = format!(
                "gate {} has cells {} LLC/SNAP, but gate {} before it has the same cells {} it",
                gate.name,
                with(other),
                before.name,
                with(one)
            );
            notes.wrong(pair[1].item, problem, "write the same framing for both");
        }
    }
}

/// `reassembly` acts where a section ends.
fn warn_reassembly(gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) {
    let is_cell = |hop: &Hop<'_>| gates[hop.gate].plan.framing.cell_gate().is_some();
    let mut last = BTreeSet::new();
    for hops in users.iter().flat_map(|user| [&user.path, &user.back]) {
        for (place, hop) in hops.iter().enumerate() {
            if is_cell(hop) && hops.get(place + 1).is_none_or(|next| !is_cell(next)) {
                last.insert(hop.gate);
            }
        }
    }
    for (index, gate) in gates.iter().enumerate() {
        if let Some(item) = gate.form.given("reassembly")
            && gate.plan.framing.cell_gate().is_some()
            && !last.contains(&index)
        {
            let help = "write it at the last cell gate of the path";
            notes.warn(item.at, &item.key, "no packet is reassembled after this gate", help);
        }
    }
}
