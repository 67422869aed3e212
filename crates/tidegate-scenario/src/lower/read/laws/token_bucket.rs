//! `gate.x.rate.token_bucket`.

use tidegate_core::plan::RatePlan;

use crate::check::Form;
use crate::lower::notes::Notes;

pub(crate) fn law(form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let rate = form.rate("rate")?;
    let peak = form.rate("peak");
    if let (Some(peak), Some(item)) = (peak, form.get("peak"))
        && peak < rate
    {
        let problem = format!(
            "the peak of {peak} is lower than the rate of {rate}, so the bucket would never \
            become empty"
        );
        notes.wrong(item, problem, format!("write \"{rate}\" or more"));
    }
    if let (None, Some(item)) = (peak, form.given("peak_burst")) {
        notes.wrong(item, "peak_burst needs peak", "add peak = \"100 Mbit/s\", or remove peak_burst");
    }
    let burst_bytes = form.bytes("burst")?;
    let initial_bytes = form.bytes("initial");
    if let (Some(bytes), Some(item)) = (initial_bytes, form.given("initial"))
        && bytes > burst_bytes
    {
        let problem = format!("{bytes} B are more than the bucket holds, {burst_bytes} B");
        notes.wrong(item, problem, format!("write \"{burst_bytes} B\" or less"));
    }
    Some(RatePlan::TokenBucket {
        rate,
        burst_bytes,
        initial_bytes,
        peak,
        peak_burst_bytes: form.bytes("peak_burst"),
    })
}
