//! `gate.x.rate` to [`RatePlan`].

use tidegate_core::plan::RatePlan;

use super::laws::{abr, cellreplay, dtm, follow, gcra, markov, reserve, steps, token_bucket, trace};
use crate::check::{Form, Value};
use crate::inputs::Library;
use crate::lower::notes::Notes;
use crate::lower::values::{never_passes, no_meaning};
use crate::units::Amount;

pub(super) fn rate(root: &Form, gate: &Form, library: &mut Library, notes: &mut Notes) -> RatePlan {
    let Some(item) = gate.get("rate") else { return RatePlan::Unlimited };
    let plan = match &item.value {
        Value::Amount(Amount::Speed(speed)) => {
            if speed.work_per_second() == 0 {
                never_passes(item, notes);
            }
            Some(RatePlan::Constant(*speed))
        }
        Value::Table(laws) => law(root, laws, library, notes),
        _ => None,
    };
    plan.unwrap_or(RatePlan::Unlimited)
}

/// The one law that the table holds; `None` where something was wrong.
fn law(root: &Form, laws: &Form, library: &mut Library, notes: &mut Notes) -> Option<RatePlan> {
    let (name, item) = laws.only()?;
    let form = item.table()?;
    match name {
        "steps" => steps::law(root, form, notes),
        "token_bucket" => token_bucket::law(form, notes),
        "markov" => markov::law(root, form, notes),
        "dtm" => dtm::law(root, form, notes),
        "abr" => abr::law(root, form, notes),
        "follow" => follow::law(root, form, notes),
        "reserve" => reserve::law(form),
        "gcra" => gcra::law(form, notes),
        "cellreplay" => cellreplay::law(form, library, notes),
        "trace" => trace::law(root, form, library, notes),
        _ => {
            no_meaning(item, name, notes);
            None
        }
    }
}
