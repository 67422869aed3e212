//! Which tin of CAKE each route is in, and which hosts it connects, once flows and background sources have their numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::plan::{ByCodepoint, ClassesPlan, SchedulerPlan, TinsPlan};

use crate::lower::draft::{Gate, User};

/// The plan with everybody in it.
pub(super) fn with_members(
    (plan, cake): (&ClassesPlan, &TinsPlan),
    hosts: &Arc<[[u32; 2]]>,
    (gates, number): (&[Gate<'_>], usize),
    users: &[User<'_>],
) -> ClassesPlan {
    let (mut flows, mut sources) = (Vec::new(), Vec::new());
    for user in users {
        let tin = |back: bool| cake.diffserv.tin_of(codepoint(user, gates, number, back));
        for _ in &user.instances {
            if user.is_flow() {
                flows.extend([tin(false), tin(true)]);
            } else {
                sources.push(tin(false));
            }
        }
    }
    flows.extend(sources);
    let scheduler = SchedulerPlan::Cake(TinsPlan { hosts: Arc::clone(hosts), ..cake.clone() });
    let by_codepoint = ByCodepoint {
        classes: std::array::from_fn(|codepoint| Some(cake.diffserv.tin_of(codepoint as u8))),
        named: [].into(),
    };
    let by_codepoint = Some(Arc::new(by_codepoint));
    ClassesPlan { scheduler, of_route: flows.into(), by_codepoint, ..ClassesPlan::clone(plan) }
}

/// The hosts that the packets of each route come from and go to. A copy that names none has hosts of its own.
pub(super) fn hosts(users: &[User<'_>]) -> Arc<[[u32; 2]]> {
    let mut names: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut flows, mut sources, mut next) = (Vec::new(), Vec::new(), 0);
    for user in users {
        for _ in &user.instances {
            let [from, to] = [user.from, user.to].map(|name| {
                let number = name.map_or(next, |name| *names.entry(name).or_insert(next));
                next += u32::from(number == next);
                number
            });
            if user.is_flow() {
                flows.extend([[from, to], [to, from]]);
            } else {
                sources.push([from, to]);
            }
        }
    }
    flows.extend(sources);
    flows.into()
}

/// The codepoint of a user's packets at a gate: a gate before it may have washed it away.
pub(super) fn codepoint(user: &User<'_>, gates: &[Gate<'_>], number: usize, back: bool) -> u8 {
    let hops = if back { &user.back } else { &user.path };
    let washes = |gate: usize| {
        let scheduler = gates[gate].plan.classes.as_ref().map(|plan| &plan.scheduler);
        matches!(scheduler, Some(SchedulerPlan::Cake(TinsPlan { wash: true, .. })))
    };
    let is_washed = hops.iter().take_while(|hop| hop.gate != number).any(|hop| washes(hop.gate));
    if is_washed { 0 } else { user.dscp }
}
