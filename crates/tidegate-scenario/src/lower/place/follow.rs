//! Followers, once servers and routes are known: which server each follows, and how long the way is.

use tidegate_core::effcap;
use tidegate_core::plan::{FollowPlan, GatePlan, RatePlan};

use super::resolve::{Placed, lag, one_of, round_trips};
use super::wiring::Server;
use crate::check::Form;
use crate::lower::notes::Notes;

/// Turns gates as written into servers, and fills in lags and blocks that depend on the route.
pub(crate) fn resolve(placed: &Placed<'_>, planned: &mut [GatePlan], notes: &mut Notes) {
    placed.each("follow", notes, |server, index, form, notes| {
        let RatePlan::Follow(follow) = planned[index].rate else { return };
        if let Some(filled) = fill(follow, server, index, form, placed, planned, notes) {
            planned[index].rate = RatePlan::Follow(filled);
        }
    });
}

fn fill(
    follow: FollowPlan,
    server: Server,
    index: usize,
    form: &Form,
    placed: &Placed<'_>,
    planned: &[GatePlan],
    notes: &mut Notes,
) -> Option<FollowPlan> {
    let item = form.get("gate")?;
    let gate = placed.leader(server, follow.gate, item, notes)?;
    let mut filled = FollowPlan { gate, ..follow };
    let round_trips = round_trips(index, placed.flows, planned);
    filled.lag = lag(form, item, &round_trips, notes)?;
    if let Some(rtts) = form.table("effcap").and_then(|effcap| effcap.given("rtts")) {
        let round_trip = one_of(&round_trips, rtts, "m and n", "write { m = 8, n = 88 } instead", notes)?;
        let count = rtts.whole().and_then(|count| u32::try_from(count).ok())?;
        filled.blocks = effcap::rule(round_trip, filled.every, count);
    }
    Some(filled)
}
