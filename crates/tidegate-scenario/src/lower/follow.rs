//! `gate.x.rate.follow` to [`FollowPlan`]: first what it says by itself, then, when there are
//! servers and routes, whom it follows and how long the way is.

use tidegate_core::effcap::{self, Blocks};
use tidegate_core::plan::{FollowPlan, GatePlan, RatePlan, Share};
use tidegate_core::units::{PICOS_PER_SECOND, Rate, Span};

use super::laid::{Laid, one_of, round_trips};
use super::names::gate_of;
use super::notes::Notes;
use super::wiring::Server;
use super::work;
use crate::check::Form;

/// What stands for itself; the gate is counted as written, and lag and blocks may be filled in
/// later.
pub(super) fn law(root: &Form, form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let min = form.rate("min")?;
    let peak = form.rate("peak");
    let initial = form.rate("initial");
    check_limits(min, peak, initial, form, notes);
    check_blocks(form, notes);
    work::check_clock(root, form.get("every"), "the rate is updated", notes);
    Some(RatePlan::Follow(FollowPlan {
        gate: gate_of(root, form.get("gate")?, notes)?,
        every: form.span("every")?,
        lag: form.span("lag").unwrap_or(Span::ZERO),
        blocks: written_blocks(form).unwrap_or(Blocks::INSTCAP),
        share: Share::from_parts((form.real("share")? * PICOS_PER_SECOND as f64).round() as u64),
        initial: initial.unwrap_or(min),
        min,
        peak,
    }))
}

fn check_limits(min: Rate, peak: Option<Rate>, initial: Option<Rate>, form: &Form, notes: &mut Notes) {
    if let (Some(peak), Some(item)) = (peak, form.get("peak"))
        && peak < min
    {
        notes.wrong(item, format!("{peak} is less than min, {min}"), format!("write \"{min}\" or more"));
        return;
    }
    let (Some(initial), Some(item)) = (initial, form.get("initial")) else { return };
    if initial < min {
        let problem = format!("{initial} is less than min, {min}");
        notes.wrong(item, problem, format!("write \"{min}\" or more"));
    }
    if let Some(peak) = peak.filter(|peak| initial > *peak) {
        let problem = format!("{initial} is more than peak, {peak}");
        notes.wrong(item, problem, format!("write \"{peak}\" or less"));
    }
}

fn check_blocks(form: &Form, notes: &mut Notes) {
    let Some(effcap) = form.get("effcap") else { return };
    let Some(table) = effcap.table() else { return };
    let given = |name: &str| table.given(name);
    match (given("m"), given("n"), given("rtts")) {
        (Some(_), Some(_), None) | (None, None, Some(_)) => {}
        (_, _, Some(rtts)) => {
            notes.wrong(rtts, "rtts already determines m and n", "keep either rtts, or m and n");
        }
        (Some(item), None, None) => notes.wrong(item, "m needs n", "add n, such as n = 88"),
        (None, Some(item), None) => notes.wrong(item, "n needs m", "add m, such as m = 8"),
        (None, None, None) => {
            notes.wrong(effcap, "EFFCAP needs rtts, or m and n", "write { rtts = 10 }");
        }
    }
}

fn written_blocks(form: &Form) -> Option<Blocks> {
    let effcap = form.table("effcap")?;
    let count = |name: &str| effcap.whole(name).and_then(|count| u32::try_from(count).ok());
    Some(Blocks { samples: count("m")?, blocks: count("n")? })
}

/// Turns gates as written into servers, and fills in lags and blocks that depend on the route.
pub(super) fn resolve(laid: &Laid<'_>, planned: &mut [GatePlan], notes: &mut Notes) {
    laid.each("follow", notes, |server, index, form, notes| {
        let RatePlan::Follow(follow) = planned[index].rate else { return };
        if let Some(filled) = fill(follow, server, index, form, laid, planned, notes) {
            planned[index].rate = RatePlan::Follow(filled);
        }
    });
}

fn fill(
    follow: FollowPlan,
    server: Server,
    index: usize,
    form: &Form,
    laid: &Laid<'_>,
    planned: &[GatePlan],
    notes: &mut Notes,
) -> Option<FollowPlan> {
    let item = form.get("gate")?;
    let gate = laid.leader(server, follow.gate, item, notes)?;
    let mut filled = FollowPlan { gate, ..follow };
    let round_trips = round_trips(index, laid.flows, planned);
    if form.get("lag").is_none() {
        filled.lag = one_of(&round_trips, item, "lag", "add lag = \"40 ms\"", notes)?;
    }
    if let Some(rtts) = form.table("effcap").and_then(|effcap| effcap.given("rtts")) {
        let round_trip = one_of(&round_trips, rtts, "m and n", "write { m = 8, n = 88 } instead", notes)?;
        let count = rtts.whole().and_then(|count| u32::try_from(count).ok())?;
        filled.blocks = effcap::rule(round_trip, filled.every, count);
    }
    Some(filled)
}
