//! `gate.x.rate.dtm` to [`DtmPlan`].

use tidegate_core::dtm::{NANOS_PER_SLOT, OnLoss, Rounding, Settings, SettingsError, Slots};
use tidegate_core::plan::{DtmPlan, Estimators, RatePlan};
use tidegate_core::units::{FASTEST, Rate, Span};

use crate::check::{Form, Item};
use crate::lower::changes::check_clock;
use crate::lower::names::{POOL, index_of};
use crate::lower::notes::Notes;
use crate::lower::values::choice;

/// A channel; `None` where something was wrong.
pub(crate) fn law(root: &Form, form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let settings = settings(form, notes)?;
    let initial = form.rate("initial")?;
    check_initial(initial, &settings, form, notes);
    check_clock(root, form.get("measure"), "the arrival rate is measured", notes);
    Some(RatePlan::Dtm(DtmPlan {
        settings,
        initial,
        measure: form.span("measure")?,
        update_every: update_every(form, notes)?,
        estimators: choice(
            form.get("estimator"),
            [("channel", Estimators::Channel), ("flow", Estimators::Flow)],
            notes,
        ),
        pool: match form.get("pool") {
            Some(item) => Some(index_of(root, &POOL, item, notes)?),
            None => None,
        },
    }))
}

fn settings(form: &Form, notes: &mut Notes) -> Option<Settings> {
    let shift = |name: &str| form.whole(name).and_then(|shift| u32::try_from(shift).ok());
    let settings = Settings {
        slot: form.rate("slot")?,
        shift_inc: shift("shift_inc")?,
        shift_dec: shift("shift_dec")?,
        margin: form.slots("margin")?,
        corridor: form.slots("corridor")?,
        rounding: choice(form.get("rounding"), [("exact", Rounding::Exact), ("up", Rounding::Up)], notes),
        on_loss: choice(
            form.get("on_loss"),
            [
                ("nothing", OnLoss::Nothing),
                ("hold tick", OnLoss::HoldTick),
                ("hold second", OnLoss::HoldSecond),
                ("hold link", OnLoss::HoldLink),
            ],
            notes,
        ),
        min: whole(form.get("min")?, notes)?,
        max: match form.get("max") {
            Some(item) => Some(whole(item, notes)?),
            None => None,
        },
    };
    let Err(error) = settings.check() else { return Some(settings) };
    let (name, problem, help) = match error {
        SettingsError::MinAboveMax { min, max } => {
            let [min, max] = [min, max].map(Slots::whole);
            ("min", format!("{min} is more than max, {max}"), format!("write \"{max}\" or less"))
        }
        SettingsError::TooFast { name } => {
            (name, format!("this is more than {FASTEST}"), "write less, or a smaller slot".to_owned())
        }
        // The table of keys refuses these before.
        SettingsError::Shift { name, .. } => (name, error.to_string(), "write 3".to_owned()),
        SettingsError::NoSlot => ("slot", error.to_string(), "write \"512 kbit/s\"".to_owned()),
        SettingsError::NoMin => ("min", error.to_string(), "write \"1 slot\"".to_owned()),
    };
    // The one that was written, where the other is a default.
    let item = form.given(name).or_else(|| form.given("max")).or_else(|| form.get(name))?;
    notes.wrong(item, problem, help);
    None
}

/// A limit in whole slots.
fn whole(item: &Item, notes: &mut Notes) -> Option<u64> {
    let nanos = item.slots()?.nanos();
    if nanos.is_multiple_of(NANOS_PER_SLOT) {
        return Some(nanos / NANOS_PER_SLOT);
    }
    let floor = nanos / NANOS_PER_SLOT;
    let near = if floor == 0 { Slots::whole(1) } else { Slots::whole(floor) };
    let problem = format!("{} is not a whole number of slots", Slots::from_nanos(nanos));
    notes.wrong(item, problem, format!("write a whole number of slots, such as \"{near}\""));
    None
}

/// The rate at the start lies within the limits.
fn check_initial(initial: Rate, settings: &Settings, form: &Form, notes: &mut Notes) {
    let rate = |slots: u64| Rate::from_bps(slots.saturating_mul(settings.slot.bps()));
    let limits = [
        ("min", Some(settings.min).filter(|min| initial < rate(*min)), "less"),
        ("max", settings.max.filter(|max| initial > rate(*max)), "more"),
    ];
    for (name, slots, how) in limits {
        let (Some(slots), Some(limit)) = (slots, form.get(name)) else { continue };
        let bound = rate(slots);
        let stated = Slots::whole(slots);
        match form.given("initial") {
            Some(item) => notes.wrong(
                item,
                format!("{initial} is {how} than {name}, {stated} = {bound}"),
                format!("write \"{bound}\", or change {name}"),
            ),
            None => notes.wrong(
                limit,
                format!("the default initial rate of {initial} is {how} than {stated} = {bound}"),
                format!("add initial = \"{bound}\""),
            ),
        }
    }
}

fn update_every(form: &Form, notes: &mut Notes) -> Option<u32> {
    let (measure, update) = (form.span("measure")?, form.span("update")?);
    let (count, rest) = (update.picos() / measure.picos(), update.picos() % measure.picos());
    let item = form.given("update").or_else(|| form.given("measure")).or_else(|| form.get("update"))?;
    if rest != 0 || count == 0 {
        let problem = format!(
            "the update interval of {update} is not a multiple of the measurement interval of {measure}"
        );
        let near = Span::from_picos(count.max(1).saturating_mul(measure.picos()));
        notes.wrong(item, problem, format!("write update = \"{near}\", or another multiple of {measure}"));
        return None;
    }
    let Ok(count) = u32::try_from(count) else {
        let problem =
            format!("an update interval of {update} has {count} measurements of {measure}: too many");
        notes.wrong(item, problem, "measure less often");
        return None;
    };
    Some(count)
}
