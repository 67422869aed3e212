//! Virtual circuits in a virtual path: a shared shaper that shapers of single flows stand before has a class for each
//! route, with the contract of the route's own shaper.

use std::sync::Arc;

use tidegate_core::gcra::{Interval, Limit, Release};
use tidegate_core::plan::{
    ClassPlan, ClassesPlan, GatePlan, QueueCounts, QueuePlan, RatePlan, SchedulerPlan, SpacedClass,
    SpacerPlan,
};

use super::wiring::{Wiring, server};
use crate::check::Item;
use crate::lower::draft::{Gate, Hop, User};
use crate::lower::notes::Notes;

/// The most virtual circuits of one path: a class has a number of 16 bits.
const MOST_CIRCUITS: usize = 60_000;

/// Gives each shared shaper its virtual circuits.
pub(crate) fn resolve(
    gates: &[Gate<'_>],
    users: &[User<'_>],
    wiring: &Wiring,
    planned: &mut [GatePlan],
    notes: &mut Notes,
) {
    for (number, gate) in gates.iter().enumerate() {
        let scheduler = gate.form.given("scheduler");
        let asked = scheduler.filter(|item| item.word() == Some("spacer"));
        if gate.plan.classes.is_some() || scheduler.is_some() && asked.is_none() || gate.per_flow {
            if let Some(item) = asked.filter(|_| gate.per_flow) {
                let problem = "each flow has a copy of this gate to itself, so there is nothing to share";
                notes.wrong(item, problem, "remove per = \"flow\" here, or remove this key");
            }
            continue;
        }
        if asked.is_none() && !is_shaper(gate) {
            continue;
        }
        if let Some(item) = asked
            && let Some((problem, help)) = cannot_space(gate)
        {
            notes.wrong(item, problem, help);
            continue;
        }
        // A discipline that decides at departures stays what it was.
        if cannot_space(gate).is_none() {
            space(number, gate, (gates, users), wiring, planned, asked, notes);
        }
    }
}

/// Whether it is a shaper that several flows may share.
fn is_shaper(gate: &Gate<'_>) -> bool {
    matches!(gate.plan.rate, RatePlan::Gcra(_) | RatePlan::TokenBucket { .. })
}

/// Why a gate can have no virtual circuits.
fn cannot_space(gate: &Gate<'_>) -> Option<(&'static str, &'static str)> {
    if gate.plan.cells.slotted {
        Some((
            "cells of one slot are in random order, whosever they are",
            "remove slotted, or remove this key",
        ))
    } else if matches!(gate.plan.rate, RatePlan::Opportunities { .. }) {
        let problem =
            "virtual circuits would wait for their times where the trace has delivery opportunities";
        Some((problem, "put the trace and the shared shaper at two gates"))
    } else if matches!(gate.plan.rate, RatePlan::CellReplay(_)) {
        let problem = "rate.cellreplay states when a packet leaves at its arrival, so no virtual circuit can be served before another";
        Some((problem, "put the cellular link and the shared shaper at two gates"))
    } else if matches!(gate.plan.rate, RatePlan::Reserve(_)) {
        Some(("a circuit has no virtual circuits inside", "use another rate law, or remove this key"))
    } else if !gate.plan.queue.discipline.decides_at_arrival() {
        let problem =
            "a virtual circuit is chosen by its first packet, which this gate's aqm might replace then";
        Some((problem, "write none, step or red for queue.aqm, or remove this key"))
    } else {
        None
    }
}

/// A virtual circuit: its route, its name, its contract if it has one of its own.
type Virtual = (usize, String, Option<SpacedClass>);

fn space(
    number: usize,
    gate: &Gate<'_>,
    (gates, users): (&[Gate<'_>], &[User<'_>]),
    wiring: &Wiring,
    planned: &mut [GatePlan],
    asked: Option<&Item>,
    notes: &mut Notes,
) {
    let servers = wiring.iter().filter(|((of, ..), _)| *of == number).map(|(_, server)| *server);
    let (mut routes, mut contracts) = (0, 0);
    let mut spaced: Vec<(usize, Vec<Virtual>)> = servers.map(|server| (server, Vec::new())).collect();
    let mut add = |route: usize, (user, copy): (usize, usize), hops: &[Hop<'_>], back: bool| {
        let Some(place) = hops.iter().position(|hop| hop.gate == number) else { return };
        let Some(passed) = server(wiring, user, copy, &hops[place]) else { return };
        let Some((_, circuits)) = spaced.iter_mut().find(|(server, _)| *server == passed) else { return };
        let contract = contract(&hops[..place], gates, gate);
        contracts += usize::from(contract.is_some());
        let name = &users[user].instances[copy];
        circuits.push((route, if back { format!("{name}/back") } else { name.clone() }, contract));
    };
    for flows in [true, false] {
        for (which, user) in users.iter().enumerate().filter(|(_, user)| user.is_flow() == flows) {
            for copy in 0..user.instances.len() {
                add(routes, (which, copy), &user.path, false);
                routes += 1;
                if flows {
                    add(routes, (which, copy), &user.back, true);
                    routes += 1;
                }
            }
        }
    }
    if contracts == 0 {
        if let Some(item) = asked {
            let problem =
                "no shaper of single flows stands before this gate, so no virtual circuit has a contract";
            let help = "put a gate with per = \"flow\" and rate.gcra (cells) or rate.token_bucket (packets) before it on the path";
            notes.wrong(item, problem, help);
        }
        return;
    }
    for (server, circuits) in spaced {
        if circuits.len() > MOST_CIRCUITS {
            let problem =
                format!("{} virtual circuits: at most {MOST_CIRCUITS} share a gate", circuits.len());
            notes.wrong(
                &gate.form.items[0].item,
                problem,
                "share several gates, or write scheduler = \"fifo\"",
            );
        } else if !circuits.is_empty() {
            give(&mut planned[server], circuits, routes);
        }
    }
}

/// Makes each virtual circuit a class with a queue as the gate's.
fn give(plan: &mut GatePlan, circuits: Vec<Virtual>, routes: usize) {
    let whole = QueuePlan { counts: QueueCounts::Waiting, ..plan.queue.clone() };
    let mut of_route = vec![0_u16; routes];
    let (mut classes, mut spaced) = (Vec::new(), Vec::new());
    for (class, (route, name, contract)) in circuits.into_iter().enumerate() {
        of_route[route] = class as u16;
        classes.push(ClassPlan { name, queue: whole.clone() });
        // Without a contract of its own, it has the whole path's.
        spaced.push(contract.or_else(|| contract_of(&plan.rate)).unwrap_or_else(SpacedClass::without_limit));
    }
    let scheduler = SchedulerPlan::Spacer(SpacerPlan { unit_bytes: plan.policed_unit(), classes: spaced });
    plan.classes =
        Some(Arc::new(ClassesPlan { scheduler, classes, of_route: of_route.into(), by_codepoint: None }));
    plan.queue = QueuePlan { counts: plan.queue.counts, ..QueuePlan::UNLIMITED };
}

/// The contract of a virtual circuit that passes `before` first: that of the last shaper of single flows, if no shared gate stands
/// after it.
fn contract(before: &[Hop<'_>], gates: &[Gate<'_>], path: &Gate<'_>) -> Option<SpacedClass> {
    let own = before.iter().rev().map(|hop| &gates[hop.gate]).take_while(|gate| gate.per_flow);
    // Cells are counted beside cells, bytes beside bytes.
    own.take_while(|gate| gate.plan.is_cell_gate() == path.plan.is_cell_gate())
        .find(|gate| is_shaper(gate))
        .and_then(|gate| contract_of(&gate.plan.rate))
}

/// What leaves a gate of this law keeps this contract; `None`: it keeps none.
fn contract_of(rate: &RatePlan) -> Option<SpacedClass> {
    let bucket = |speed, burst| Limit::tokens(Interval::at_rate(8, speed).ok()?, burst).ok();
    match rate {
        RatePlan::Gcra(gcra) => Some(SpacedClass { limits: vec![gcra.limit], release: gcra.release }),
        RatePlan::TokenBucket { rate, burst_bytes, peak, peak_burst_bytes, .. } => {
            let peak = peak.zip(*peak_burst_bytes).and_then(|(peak, burst)| bucket(peak, burst));
            let limits = bucket(*rate, *burst_bytes).into_iter().chain(peak).collect();
            Some(SpacedClass { limits, release: Release::Earliest })
        }
        _ => None,
    }
}
