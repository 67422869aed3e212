//! `gate.x.rate.abr` to [`AbrPlan`].

use tidegate_core::abr::Rates;
use tidegate_core::plan::{AbrPlan, RatePlan};
use tidegate_core::units::{Rate, Span};

use crate::check::Form;
use crate::lower::names::{GATE, index_of};
use crate::lower::notes::Notes;
use crate::lower::values::check_between;

/// What the table alone determines. The switch is a gate's number in the order of the file; delays are filled in
/// when the routes are known.
pub(crate) fn law(root: &Form, form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let (pcr, mcr) = (form.rate("pcr")?, form.rate("mcr")?);
    let icr = form.rate("icr").unwrap_or(pcr);
    check_between(form.given("mcr"), mcr, None, Some(("pcr", pcr)), notes);
    check_between(form.given("icr"), icr, Some(("mcr", mcr)), Some(("pcr", pcr)), notes);
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
