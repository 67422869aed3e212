//! `gate.x.rate.reserve`.

use tidegate_core::plan::{Framing, RatePlan, ReservePlan};

use crate::check::Form;

/// A circuit without its reservation, which follows from the routes; `None` where something was wrong.
pub(crate) fn law(form: &Form) -> Option<RatePlan> {
    Some(RatePlan::Reserve(ReservePlan { reservation: usize::MAX, rate: form.rate("rate")? }))
}

/// Packets weigh their cells on a circuit, and are never taken apart: no cell comes between.
pub(crate) fn framing(rate: &RatePlan, framing: Framing) -> Framing {
    match (rate, framing) {
        (RatePlan::Reserve(_), Framing::Aal5 { llc }) => Framing::CellPackets { llc },
        _ => framing,
    }
}
