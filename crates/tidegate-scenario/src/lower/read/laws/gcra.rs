//! `gate.x.rate.gcra`: a shaper of cells.

use tidegate_core::aal5::CELL_BITS;
use tidegate_core::gcra::{Interval, Limit, Release};
use tidegate_core::plan::{GcraPlan, RatePlan};

use crate::check::Form;
use crate::lower::notes::Notes;
use crate::lower::values::choice;

/// A shaper; `None` where something was wrong.
pub(crate) fn law(form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let (pcr, link) = (form.rate("pcr")?, form.rate("link")?);
    if let (true, Some(item)) = (pcr > link, form.get("pcr")) {
        let problem = format!("a peak cell rate of {pcr} is higher than the rate of the link, {link}");
        notes.wrong(item, problem, format!("write \"{link}\" or less, or a faster link"));
        return None;
    }
    let increment = match choice(form.get("slots"), [("real", false), ("rounded", true)], notes) {
        true => Interval::at_rate(CELL_BITS * whole_slots(pcr.bps(), link.bps()), link),
        false => Interval::at_rate(CELL_BITS, pcr),
    };
    let tolerance = form.span("cdvt")?;
    let Some(limit) = increment.ok().and_then(|each| Limit::new(each, tolerance.picos()).ok()) else {
        notes.wrong(form.get("cdvt")?, "this is longer than 53 days", "write a shorter time");
        return None;
    };
    let release =
        choice(form.get("release"), [("tat", Release::Tat), ("earliest", Release::Earliest)], notes);
    Some(RatePlan::Gcra(GcraPlan { limit, link, release }))
}

/// The whole number of link slots nearest to one cell at the peak rate; a half counts up.
fn whole_slots(pcr: u64, link: u64) -> u64 {
    let doubled = (2 * u128::from(link) / u128::from(pcr)).div_ceil(2);
    u64::try_from(doubled).unwrap_or(u64::MAX / CELL_BITS).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// papers/README §3: 35 and 20 Mbit/s are 30/7 and 15/2 slots of 150 Mbit/s, rounded 4 and 8.
    #[test]
    fn intervals_are_rounded_to_the_nearest_slot() {
        assert_eq!(whole_slots(35_000_000, 150_000_000), 4);
        assert_eq!(whole_slots(20_000_000, 150_000_000), 8);
        assert_eq!(whole_slots(15_000_000, 150_000_000), 10);
        assert_eq!(whole_slots(150_000_000, 150_000_000), 1);
        assert_eq!(whole_slots(100_000_000, 150_000_000), 2);
        assert_eq!(whole_slots(100_000_001, 150_000_000), 1);
    }
}
