//! Packets against the gates they must fit: queues in bytes and token buckets.

use tidegate_core::aal5::CELL_BYTES;
use tidegate_core::plan::{
    AppPlan, CongestionPlan, Discipline, GatePlan, JitterPlan, MeterPlan, QueueLimit, RatePlan, ReadPlan,
    ThinkPlan, TransportPlan,
};
use tidegate_core::units::Span;

use crate::check::Form;
use crate::lower::draft::{Gate, Hop, Load, User};
use crate::lower::notes::Notes;

pub(crate) fn check(gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) {
    for (gate, largest) in gates.iter().zip(largest(gates.len(), users)) {
        let Some((largest, whose)) = largest else { continue };
        check_queue(gate, largest, whose, notes);
        check_burst(gate, largest, whose, notes);
        warn_policed(gate, largest, whose, notes);
        warn_step(gate, largest, whose, notes);
    }
    for user in users {
        warn_unbounded(gates, user, notes);
    }
}

/// Refuses a flow that sends as long as the run lasts over a path that takes no time. What could not be read may be what takes time, so
/// this is looked at last.
pub(crate) fn refuse_endless(gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) {
    let endless = users.iter().find(|user| is_endless(gates, user));
    let Some((user, first)) = endless.and_then(|user| Some((user, user.path.first()?))) else { return };
    if notes.problems.is_empty() {
        notes.wrong_at(
            first.item.at,
            &user.key,
            "the run would never end: this flow sends as long as it lasts, and nothing on its path takes time",
            "give a gate of the path a rate or a delay, or the flow an rtt",
        );
    }
}

/// Whether all that a flow sends would be sent at one instant.
fn is_endless(gates: &[Gate<'_>], user: &User<'_>) -> bool {
    let Load::Flow { app, tcp, .. } = &user.load else { return false };
    let goes_on = match app {
        AppPlan::Bulk => true,
        AppPlan::Request(requests) => {
            let thinks = match &requests.think {
                ThinkPlan::Constant(time) | ThinkPlan::Exponential(time) => *time > Span::ZERO,
                ThinkPlan::List(times) => times.iter().any(|time| *time > Span::ZERO),
            };
            !thinks && requests.video.is_none() && requests.count.is_none() && requests.server.is_none()
        }
        _ => false,
    };
    let takes_time = |hop: &Hop<'_>| {
        let plan = &gates[hop.gate].plan;
        plan.delay > Span::ZERO || plan.jitter != JitterPlan::None || limits(plan) || plan.classes.is_some()
    };
    goes_on
        && tcp.read == ReadPlan::AtOnce
        && !matches!(tcp.cc, CongestionPlan::FixedRate { .. })
        && user.back_delay == Span::ZERO
        && user.jitter == JitterPlan::None
        && !user.path.iter().chain(&user.back).any(takes_time)
}

/// Whether a gate limits how fast packets pass it.
fn limits(gate: &GatePlan) -> bool {
    let drops = gate.police.is_some_and(|police| police.sustained.is_some() || !police.tags)
        || gate.marker.is_some_and(|marker| marker.drops());
    gate.rate != RatePlan::Unlimited || drops
}

/// A flow that no rate and no window limits sends ever more at once, until the memory is full.
fn warn_unbounded(gates: &[Gate<'_>], user: &User<'_>, notes: &mut Notes) {
    let Load::Flow { app: AppPlan::Bulk, tcp, transport, .. } = &user.load else { return };
    let Some(first) = user.path.first() else { return };
    let fixed = matches!(tcp.cc, CongestionPlan::Fixed { .. } | CongestionPlan::FixedRate { .. });
    if tcp.window.is_none() && !fixed && !user.path.iter().any(|hop| limits(&gates[hop.gate].plan)) {
        let (problem, help) = match transport {
            TransportPlan::Tcp => (
                "nothing limits this flow: no gate on its path has a rate, and its window is unlimited",
                "give a gate a rate, or set tcp.window",
            ),
            TransportPlan::Quic(_) => (
                "only the window of QUIC limits this flow: no gate on its path has a rate",
                "give a gate a rate",
            ),
        };
        notes.warn(first.item.at, &user.key, problem, help);
    }
}

/// The largest IP packet that passes each gate, and who sends it.
pub(crate) fn largest<'a>(gates: usize, users: &'a [User<'_>]) -> Vec<Option<(u32, &'a str)>> {
    let mut best: Vec<Option<(u32, &str)>> = vec![None; gates];
    for user in users {
        for (hops, bytes) in [&user.path, &user.back].into_iter().zip(user.load.largest_packets()) {
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

fn check_queue(gate: &Gate<'_>, largest: u32, whose: &str, notes: &mut Notes) {
    let QueueLimit::Bytes(limit) = gate.plan.queue.limit else { return };
    let Some(item) = gate.form.table("queue").and_then(|queue| queue.get("limit")) else { return };
    if limit < u64::from(largest) {
        let problem = format!("a queue of {limit} B cannot hold a packet of {largest} B of {whose}");
        notes.wrong(
            item,
            problem,
            format!("write \"{largest} B\" or more; for a gate without a queue write \"0 packets\""),
        );
    }
}

/// Where one packet takes longer than the step of DualPI2, each that waits for another is marked (RFC 9332 Appendix A.1).
fn warn_step(gate: &Gate<'_>, largest: u32, whose: &str, notes: &mut Notes) {
    let (Discipline::DualPi2(plan), RatePlan::Constant(speed)) =
        (gate.plan.queue.discipline, &gate.plan.rate)
    else {
        return;
    };
    let Some(item) = gate.form.table("queue").and_then(|queue| queue.get("aqm")) else { return };
    let wire = gate.plan.wire_bytes(largest);
    // To the microsecond, as it is shown.
    let takes = Span::from_micros((speed.unit_time(8.0 * f64::from(wire)) * 1e6).ceil() as u64);
    let step = plan.step + plan.range;
    if plan.step_units.is_none() && takes > step {
        let problem = format!(
            "a packet of {wire} B of {whose} takes {takes} at {speed}, longer than the step of dualpi2, {step}: most L4S packets \
             that wait are marked"
        );
        let help =
            format!("write dualpi2.step = \"{}\" or more, or dualpi2.step_packets", takes.saturating_mul(2));
        notes.warn(item.at, &item.key, problem, help);
    }
}

/// A packet that is larger than the bucket never conforms.
fn warn_policed(gate: &Gate<'_>, largest: u32, whose: &str, notes: &mut Notes) {
    let Some(form) = gate.form.table("police") else { return };
    warn_marked(gate, form, largest, whose, notes);
    let (Some(police), false) = (gate.plan.police, gate.plan.is_cell_gate()) else {
        return;
    };
    let wire = u64::from(gate.plan.wire_bytes(largest));
    let limits = [Some(police.peak), police.sustained.map(|(limit, _)| limit), police.per_flow];
    for limit in limits.into_iter().flatten().filter(|limit| limit.burst() < wire) {
        let problem =
            format!("with a burst of {} B, a packet of {wire} B of {whose} never conforms", limit.burst());
        notes.warn(form.at, &form.key, problem, format!("write \"{wire} B\" or more"));
    }
}

/// A packet that is larger than the committed bucket is never green (RFC 2697 §2, RFC 2698 §2).
fn warn_marked(gate: &Gate<'_>, police: &Form, largest: u32, whose: &str, notes: &mut Notes) {
    let Some(marker) = gate.plan.marker else { return };
    let (MeterPlan::SingleRate { cbs, .. } | MeterPlan::TwoRate { cbs, .. }) = marker.meter;
    if cbs < u64::from(largest) {
        let problem = format!("with a cbs of {cbs} B, a packet of {largest} B of {whose} is never green");
        notes.warn(police.at, &police.key, problem, format!("write \"{largest} B\" or more"));
    }
}

fn check_burst(gate: &Gate<'_>, largest: u32, whose: &str, notes: &mut Notes) {
    let RatePlan::TokenBucket { burst_bytes, peak_burst_bytes, .. } = gate.plan.rate else { return };
    let law = gate.form.table("rate").and_then(|laws| laws.table("token_bucket"));
    let in_cells = gate.plan.is_cell_gate();
    let wire = u64::from(if in_cells { CELL_BYTES } else { gate.plan.wire_bytes(largest) });
    for (name, bytes) in [("burst", Some(burst_bytes)), ("peak_burst", peak_burst_bytes)] {
        let Some(bytes) = bytes.filter(|bytes| *bytes < wire) else { continue };
        let Some(item) = law.and_then(|law| law.get(name)) else { continue };
        let what =
            if in_cells { format!("a cell of {wire} B") } else { format!("a packet of {wire} B of {whose}") };
        let problem = format!("a burst of {bytes} B never lets {what} pass");
        notes.wrong(item, problem, format!("write \"{wire} B\" or more"));
    }
}
