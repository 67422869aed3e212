//! `gate.x.rate.abr` to [`AbrPlan`], and `gate.x.abr` to [`SwitchPlan`].

use tidegate_core::abr::Rates;
use tidegate_core::plan::{AbrPlan, RatePlan};
use tidegate_core::units::{Rate, Span};

use crate::check::Form;
use crate::lower::names::{GATE, index_of};
use crate::lower::notes::Notes;

/// What stands for itself; the switch is counted as the gates are written, and delays are filled in
/// later.
pub(crate) fn law(root: &Form, form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let (pcr, mcr) = (form.rate("pcr")?, form.rate("mcr")?);
    let icr = form.rate("icr").unwrap_or(pcr);
    let mut within = |name: &str, rate: Rate, least: Option<Rate>| {
        let Some(item) = form.given(name) else { return };
        if rate > pcr {
            notes.wrong(item, format!("{rate} is more than pcr, {pcr}"), format!("write \"{pcr}\" or less"));
        } else if let Some(least) = least.filter(|least| rate < *least) {
            notes.wrong(
                item,
                format!("{rate} is less than mcr, {least}"),
                format!("write \"{least}\" or more"),
            );
        }
    };
    within("mcr", mcr, None);
    within("icr", icr, Some(mcr));
    let bps = |rate: Rate| rate.bps() as f64;
    Some(RatePlan::Abr(AbrPlan {
        switch: index_of(root, &GATE, form.get("gate")?, notes)?,
        rates: Rates {
            peak: bps(pcr),
            min: bps(mcr),
            initial: bps(icr),
            increase: form.real("rif")?,
            decrease: form.real("rdf")?,
        },
        cells_per_rm: form.whole("nrm").and_then(|count| u32::try_from(count).ok())?,
        rm_within: form.span("trm")?,
        there: Span::ZERO,
        lag: form.span("lag").unwrap_or(Span::ZERO),
    }))
}
