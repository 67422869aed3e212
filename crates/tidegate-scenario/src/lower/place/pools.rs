//! `[pool.x]` to [`PoolPlan`].

use tidegate_core::dtm::NANOS_PER_SLOT;
use tidegate_core::plan::{DtmPlan, GatePlan, PoolOrder, PoolPlan, RatePlan};
use tidegate_core::units::{FASTEST, Rate};

use super::circuits::Calls;
use crate::check::{Form, Item, Value};
use crate::lower::names::{POOL, tables};
use crate::lower::notes::Notes;
use crate::lower::values::choice;
use crate::units::Amount;

/// The pools, each large enough for what its channels begin with and for each of its calls.
pub(crate) fn pools(root: &Form, gates: &[GatePlan], calls: &Calls<'_>, notes: &mut Notes) -> Vec<PoolPlan> {
    let mut plans = Vec::new();
    for (index, named) in tables(root, &POOL).iter().enumerate() {
        let channels: Vec<(&GatePlan, &DtmPlan)> = gates
            .iter()
            .filter_map(|gate| match &gate.rate {
                RatePlan::Dtm(channel) if channel.pool == Some(index) => Some((gate, channel)),
                _ => None,
            })
            .collect();
        let Some(form) = named.item.table() else { continue };
        let Some(item) = form.get("capacity") else { continue };
        let caller = calls.first_caller(index);
        if channels.is_empty() && caller.is_none() {
            let help =
                "name it in rate.reserve.pool or rate.dtm.pool of a gate that flows pass, or remove it";
            notes.warn(named.name_at, &named.item.key, "no gate or call takes capacity from this pool", help);
        }
        if let (Some((channel, _)), Some(caller)) = (channels.first(), caller) {
            let problem = format!(
                "DTM channel {:?} and {caller} both take from this pool; a pool serves either channels or calls",
                channel.name
            );
            notes.wrong(item, problem, "give the channels and the calls separate pools");
        }
        let order = order(form, !channels.is_empty(), notes);
        let Some(capacity) = capacity(item, &channels, caller, notes) else { continue };
        let initial: u128 = channels.iter().map(|(_, channel)| u128::from(channel.initial.bps())).sum();
        if initial > u128::from(capacity.bps()) {
            let sum = Rate::from_bps(u64::try_from(initial).unwrap_or(u64::MAX));
            let problem = format!(
                "the initial rates of the {} channels of this pool add up to {sum}, more than its capacity of \
                 {capacity}",
                channels.len()
            );
            notes.wrong(item, problem, format!("write \"{sum}\" or more, or smaller initial rates"));
        }
        calls.check_fit(index, &named.name, capacity, notes);
        plans.push(PoolPlan { name: named.name.clone(), capacity, order });
    }
    plans
}

fn order(form: &Form, has_channels: bool, notes: &mut Notes) -> PoolOrder {
    if let (true, Some(item)) = (has_channels, form.given("order")) {
        let problem = "order is for calls that wait; the DTM channels of this pool never wait";
        notes.wrong(item, problem, "remove order");
    }
    choice(form.get("order"), [("asked", PoolOrder::Asked), ("first fit", PoolOrder::FirstFit)], notes)
}

fn capacity(
    item: &Item,
    channels: &[(&GatePlan, &DtmPlan)],
    caller: Option<&str>,
    notes: &mut Notes,
) -> Option<Rate> {
    let slots = match &item.value {
        Value::Amount(Amount::Slots(slots)) => *slots,
        _ => return item.rate(),
    };
    let mut sizes: Vec<Rate> = channels.iter().map(|(_, channel)| channel.settings.slot).collect();
    sizes.dedup();
    let slot = match (sizes.as_slice(), caller) {
        ([], Some(caller)) => {
            let problem = format!("a capacity in slots is for DTM channels, but {caller} requests a rate");
            notes.wrong(item, problem, "write a rate, such as \"155.52 Mbit/s\"");
            return None;
        }
        ([], None) => Rate::ZERO,
        ([slot], _) => *slot,
        ([one, other, ..], _) => {
            let problem = format!(
                "the channels of this pool have slots of {one} and of {other}, so a number of \
                slots is ambiguous"
            );
            notes.wrong(item, problem, "write a rate, such as \"20 Mbit/s\"");
            return None;
        }
    };
    let bps = u128::from(slots.nanos()) * u128::from(slot.bps()) / u128::from(NANOS_PER_SLOT);
    match u64::try_from(bps) {
        Ok(bps) if bps <= FASTEST.bps() => Some(Rate::from_bps(bps)),
        _ => {
            notes.wrong(item, format!("{slots} of {slot} are more than {FASTEST}"), "write less");
            None
        }
    }
}
