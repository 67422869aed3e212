//! Which tin of CAKE each route is in, and which hosts it connects, once flows and background sources have their numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::plan::{ByCodepoint, ClassesPlan, ColourAction, MarkerPlan, SchedulerPlan, TinsPlan};

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
        let tin = |back: bool| cake.diffserv.tin_of(codepoints(user, gates, number, back)[0]);
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

/// The codepoints that a user's packets may have at a gate, at least one: markers on the way rewrite them, CAKE may wash
/// them away. The first is that of packets which carry none of their own, if there are such.
pub(super) fn codepoints(user: &User<'_>, gates: &[Gate<'_>], number: usize, back: bool) -> Vec<u8> {
    let hops = if back { &user.back } else { &user.path };
    let before = hops.iter().map(|hop| hop.gate).take_while(|gate| *gate != number);
    let mut codepoints = vec![user.dscp];
    for gate in before.chain([number]) {
        let plan = &gates[gate].plan;
        if let Some(marker) = &plan.marker {
            codepoints = remarked(marker, codepoints);
        }
        let scheduler = plan.classes.as_ref().map(|plan| &plan.scheduler);
        if gate != number && matches!(scheduler, Some(SchedulerPlan::Cake(TinsPlan { wash: true, .. }))) {
            codepoints = vec![0];
        }
    }
    codepoints
}

/// What a marker makes of packets with these codepoints.
fn remarked(marker: &MarkerPlan, came: Vec<u8>) -> Vec<u8> {
    let given = |(action, codepoint): (&ColourAction, &Option<u8>)| match action {
        ColourAction::Remark => Some(*codepoint),
        ColourAction::Pass => Some(None),
        ColourAction::Drop => None,
    };
    let given: Vec<Option<u8>> = marker.actions.iter().zip(&marker.codepoints).filter_map(given).collect();
    let some_keep = given.is_empty() || given.contains(&None);
    let mut left = if some_keep { came } else { Vec::new() };
    for codepoint in given.into_iter().flatten() {
        if !left.contains(&codepoint) {
            left.push(codepoint);
        }
    }
    left
}
