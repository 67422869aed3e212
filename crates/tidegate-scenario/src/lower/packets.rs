//! Packets against the gates they must fit: queues in bytes and token buckets.

use tidegate_core::aal5::{CELL_BYTES, cells_of};
use tidegate_core::plan::{AppPlan, CongestionPlan, Framing, QueueLimit, RatePlan};

use super::notes::Notes;
use super::written::{Gate, Hop, Load, User};

pub(super) fn check(gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) {
    for (gate, largest) in gates.iter().zip(largest(gates.len(), users)) {
        let Some((largest, whose)) = largest else { continue };
        check_queue(gate, largest, whose, notes);
        check_burst(gate, largest, whose, notes);
        warn_policed(gate, largest, whose, notes);
    }
    for user in users {
        warn_unbounded(gates, user, notes);
    }
}

/// A flow that nothing slows down sends ever more at once, until the memory is full.
fn warn_unbounded(gates: &[Gate<'_>], user: &User<'_>, notes: &mut Notes) {
    let Load::Flow { app: AppPlan::Bulk, tcp } = &user.load else { return };
    let Some(first) = user.path.first() else { return };
    let rated = |hop: &Hop<'_>| {
        let plan = &gates[hop.gate].plan;
        let drops = plan.police.is_some_and(|police| police.sustained.is_some() || !police.tags);
        plan.rate != RatePlan::Unlimited || drops
    };
    let fixed = matches!(tcp.cc, CongestionPlan::Fixed { .. });
    if tcp.window.is_none() && !fixed && !user.path.iter().any(rated) {
        let problem = "nothing limits this flow: no gate on its path has a rate, and its window is unlimited";
        notes.warn(first.item.at, &user.key, problem, "give a gate a rate, or set tcp.window");
    }
}

/// The largest IP packet that passes each gate, and who sends it.
pub(super) fn largest<'a>(gates: usize, users: &'a [User<'_>]) -> Vec<Option<(u64, &'a str)>> {
    let mut best: Vec<Option<(u64, &str)>> = vec![None; gates];
    for user in users {
        let (data, answer) = match &user.load {
            Load::Flow { tcp, app } => {
                // What comes back is ACKs, and requests where there are any.
                let request = match app {
                    AppPlan::Request(plan) => plan.request.most().min(u64::from(tcp.mss)),
                    _ => 0,
                };
                let headers = u64::from(tcp.headers);
                (u64::from(tcp.mss) + headers, request + headers)
            }
            Load::Traffic(source) => (u64::from(source.largest()), 0),
        };
        for (hops, bytes) in [(&user.path, data), (&user.back, answer)] {
            for hop in hops {
                let most = &mut best[hop.gate];
                if most.is_none_or(|(before, _)| before < bytes) {
                    *most = Some((bytes, user.key.as_str()));
                }
            }
        }
    }
    best
}

fn check_queue(gate: &Gate<'_>, largest: u64, whose: &str, notes: &mut Notes) {
    let QueueLimit::Bytes(limit) = gate.plan.queue.limit else { return };
    let Some(item) = gate.form.table("queue").and_then(|queue| queue.get("limit")) else { return };
    if limit < largest {
        let problem = format!("a queue of {limit} B cannot hold a packet of {largest} B of {whose}");
        notes.wrong(
            item,
            problem,
            format!("write \"{largest} B\" or more; for a gate without a queue write \"0 packets\""),
        );
    }
}

/// A packet that is larger than the bucket never conforms.
fn warn_policed(gate: &Gate<'_>, largest: u64, whose: &str, notes: &mut Notes) {
    let Some(form) = gate.form.table("police") else { return };
    let (Some(police), false) = (gate.plan.police, matches!(gate.plan.framing, Framing::Aal5 { .. })) else {
        return;
    };
    let wire = on_wire(gate.plan.framing, largest);
    let limits = [Some(police.peak), police.sustained.map(|(limit, _)| limit)];
    for limit in limits.into_iter().flatten().filter(|limit| limit.burst() < wire) {
        let problem =
            format!("with a burst of {} B, a packet of {wire} B of {whose} never conforms", limit.burst());
        notes.warn(form.at, &form.key, problem, format!("write \"{wire} B\" or more"));
    }
}

/// Bytes of a packet on a wire that does not carry cells.
fn on_wire(framing: Framing, largest: u64) -> u64 {
    match framing {
        Framing::Ip | Framing::Aal5 { .. } => largest,
        Framing::Overhead { overhead, minimum } => (largest + u64::from(overhead)).max(u64::from(minimum)),
        Framing::CellPackets { llc } => {
            let packet = u32::try_from(largest).unwrap_or(u32::MAX);
            u64::from(cells_of(packet, llc)) * u64::from(CELL_BYTES)
        }
    }
}

fn check_burst(gate: &Gate<'_>, largest: u64, whose: &str, notes: &mut Notes) {
    let RatePlan::TokenBucket { burst_bytes, .. } = gate.plan.rate else { return };
    let law = gate.form.table("rate").and_then(|laws| laws.table("token_bucket"));
    let Some(item) = law.and_then(|law| law.get("burst")) else { return };
    let wire = match gate.plan.framing {
        Framing::Aal5 { .. } => u64::from(CELL_BYTES),
        framing => on_wire(framing, largest),
    };
    if burst_bytes < wire {
        let what = match gate.plan.framing {
            Framing::Aal5 { .. } => format!("a cell of {wire} B"),
            _ => format!("a packet of {wire} B of {whose}"),
        };
        let problem = format!("a burst of {burst_bytes} B never lets {what} pass");
        notes.wrong(item, problem, format!("write \"{wire} B\" or more"));
    }
}
