//! What a run would cost, before it begins: how often rates and sources change by themselves, and how much
//! memory the gates and flows take. A scenario that would never end, or never fit, is refused in words.

use tidegate_core::plan::{HoldingPlan, JitterPlan, MarkovPlan, Plan, RecordLevel};
use tidegate_core::units::{PICOS_PER_SECOND, Rate, Span};

use super::notes::Notes;
use super::written::{Gate, Hop, User};
use super::{MOST_MEMORY, limits};
use crate::check::{Form, Item};
use crate::units::plural;

/// How often one rate or source may change in a run unless `limits.events` says otherwise: some ten seconds
/// of work.
const MOST_CHANGES: u64 = 1_000_000_000;

/// The bits of a usual packet: the gate looks this far ahead, even past the end of the run.
const PACKET_BITS: f64 = 12_000.0;

/// Refuses what changes too often. `mean` is the picoseconds from one change to the next, `horizon` those
/// that are looked through if they are more than the run's.
pub(super) fn check_changes(
    root: &Form,
    item: Option<&Item>,
    what: &str,
    mean: f64,
    horizon: f64,
    notes: &mut Notes,
) {
    let (Some(item), Some(duration)) = (item, root.span("duration")) else { return };
    let most = limits(root).events;
    let looked = (duration.picos() as f64).max(horizon);
    let changes = looked / mean.max(1.0);
    if changes <= most.unwrap_or(MOST_CHANGES) as f64 {
        return;
    }
    let mean = Span::from_picos(mean.max(1.0) as u64);
    let most = most.unwrap_or(MOST_CHANGES);
    let problem = format!(
        "{what} every {mean}, which is {} times in {}: more than the limit of {}",
        grouped(changes as u64),
        Span::from_picos(looked as u64),
        grouped(most)
    );
    let help = "make it happen less often, or raise limits.events";
    notes.wrong(item, problem, help);
}

/// A count as people read it: 1,000,000.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Refuses what happens too often at a fixed interval.
pub(super) fn check_clock(root: &Form, item: Option<&Item>, what: &str, notes: &mut Notes) {
    if let Some(every) = item.and_then(Item::span) {
        check_changes(root, item, what, every.picos() as f64, 0.0, notes);
    }
}

/// The mean of a length of time, in picoseconds.
pub(super) fn mean(holding: HoldingPlan) -> f64 {
    match holding {
        HoldingPlan::Constant(span) | HoldingPlan::Exponential(span) => span.picos() as f64,
    }
}

/// The time that a packet takes at this rate: how far ahead a gate may have to look.
pub(super) fn packet_time(highest: Option<Rate>) -> f64 {
    match highest {
        Some(rate) if rate > Rate::ZERO => PACKET_BITS * PICOS_PER_SECOND as f64 / rate.bps() as f64,
        _ => 0.0,
    }
}

/// The mean time in a state of a Markov chain, over the visits, in picoseconds.
pub(super) fn mean_visit(plan: &MarkovPlan) -> f64 {
    let visits = plan.visits();
    let total: f64 = visits.iter().sum();
    let time: f64 =
        visits.iter().zip(&plan.mean_holding).map(|(share, mean)| share * mean.picos().max(1) as f64).sum();
    time / total
}

/// Refuses on-off periods that change too often; `bytes` are written or sent at a time while it is on.
pub(super) fn check_periods(
    root: &Form,
    form: &Form,
    (on, off): (HoldingPlan, HoldingPlan),
    bytes: u32,
    notes: &mut Notes,
) {
    let (on, off) = (mean(on), mean(off));
    let seconds = form
        .rate("rate")
        .filter(|rate| *rate > Rate::ZERO)
        .map_or(0.0, |rate| f64::from(bytes) * 8.0 / rate.bps() as f64);
    // On periods are drawn until they hold the time that one packet takes.
    let horizon = seconds * PICOS_PER_SECOND as f64 * (on + off) / on.max(1.0);
    check_changes(
        root,
        form.get("on"),
        "on average this source switches on and off",
        on + off,
        horizon,
        notes,
    );
}

/// The bytes of one row of a recording, about.
const ROW: u64 = 100;

/// Whether the rows that a plan records at fixed intervals fit into `limits.memory`.
///
/// # Errors
/// What is wrong, in words.
pub fn check_recording(plan: &Plan) -> Result<(), String> {
    let RecordLevel::Every(every) = plan.record.level else { return Ok(()) };
    let count = |chosen: &Option<Vec<usize>>, all: usize| chosen.as_ref().map_or(all, Vec::len) as u64;
    let things = count(&plan.record.gates, plan.gates.len()) + count(&plan.record.flows, plan.flows.len());
    let rows = (plan.duration.picos() / every.picos().max(1)).saturating_mul(things);
    let most = plan.limits.memory_bytes.unwrap_or(MOST_MEMORY).max(MOST_MEMORY);
    if rows.saturating_mul(ROW) <= most {
        return Ok(());
    }
    Err(format!(
        "recording a row every {every} gives {rows} rows in {}, about {} MB: more than limits.memory, {} MB",
        plan.duration,
        rows.saturating_mul(ROW) / 1_000_000,
        most / 1_000_000
    ))
}

/// What one server, one flow or source, and one place on a path take in memory, in bytes, about.
const SERVER: u64 = 3_000;
const FLOW: u64 = 3_000;
const PLACE: u64 = 100;

/// Whether all copies of gates and flows fit into `limits.memory`; otherwise it is told.
pub(super) fn fits(root: &Form, gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) -> bool {
    let own = |hops: &[Hop<'_>]| hops.iter().filter(|hop| gates[hop.gate].per_flow).count() as u64;
    let (mut servers, mut flows, mut places) = (gates.len() as u64, 0_u64, 0_u64);
    for user in users {
        let copies = user.count;
        flows = flows.saturating_add(copies);
        let hops = (user.path.len() + user.back.len()) as u64;
        places = places.saturating_add(copies.saturating_mul(hops));
        // A sender's random delay is a gate of its own.
        let delays = u64::from(user.jitter != JitterPlan::None);
        servers = servers.saturating_add(copies.saturating_mul(own(&user.path) + own(&user.back) + delays));
    }
    let need = servers
        .saturating_mul(SERVER)
        .saturating_add(flows.saturating_mul(FLOW))
        .saturating_add(places.saturating_mul(PLACE));
    let most = limits(root).memory_bytes.unwrap_or(MOST_MEMORY);
    let written = root.table("limits").and_then(|limits| limits.given("memory"));
    // A small limit is about what the run collects: it stops there with a word.
    if need <= most.max(MOST_MEMORY) {
        return true;
    }
    let problem = format!(
        "{}, {} and {} on their paths need about {} MB of memory before the run begins: more than limits.memory, {} \
         MB",
        plural(flows, "flow"),
        plural(servers, "gate"),
        plural(places, "place"),
        need / 1_000_000,
        most / 1_000_000
    );
    let help = "make fewer copies, or shorter paths; or raise limits.memory";
    match written {
        Some(item) => notes.wrong(item, problem, help),
        None => match users.iter().max_by_key(|user| user.count.saturating_mul(user.path.len() as u64)) {
            Some(user) => notes.wrong_at(user.at, &user.key, problem, help),
            None => notes.wrong_at(root.at, "", problem, help),
        },
    }
    false
}
