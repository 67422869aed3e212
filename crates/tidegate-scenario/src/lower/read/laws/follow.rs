//! `gate.x.rate.follow` to [`FollowPlan`]. Which server it follows is resolved when servers are known.

use tidegate_core::effcap::Blocks;
use tidegate_core::plan::{FollowPlan, RatePlan};
use tidegate_core::units::{Rate, Span};

use crate::check::Form;
use crate::lower::changes::check_clock;
use crate::lower::names::{GATE, index_of};
use crate::lower::notes::Notes;
use crate::lower::read::advice::share;
use crate::lower::values::check_between;

/// What the table alone determines. The gate is a number in the order of the file; lag and blocks may be filled in
/// when the routes are known.
pub(crate) fn law(root: &Form, form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let min = form.rate("min")?;
    let peak = form.rate("peak");
    let initial = form.rate("initial");
    check_limits(min, peak, initial, form, notes);
    check_blocks(form, notes);
    check_clock(root, form.get("every"), "the rate is updated", notes);
    Some(RatePlan::Follow(FollowPlan {
        gate: index_of(root, &GATE, form.get("gate")?, notes)?,
        every: form.span("every")?,
        lag: form.span("lag").unwrap_or(Span::ZERO),
        blocks: written_blocks(form).unwrap_or(Blocks::INSTCAP),
        share: share(form, "share"),
        initial: initial.unwrap_or(min),
        min,
        peak,
    }))
}

fn check_limits(min: Rate, peak: Option<Rate>, initial: Option<Rate>, form: &Form, notes: &mut Notes) {
    if let Some(peak) = peak.filter(|peak| *peak < min) {
        check_between(form.given("peak"), peak, Some(("min", min)), None, notes);
    } else if let Some(initial) = initial {
        let most = peak.map(|peak| ("peak", peak));
        check_between(form.given("initial"), initial, Some(("min", min)), most, notes);
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
