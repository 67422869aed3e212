//! Who calls for what, and which circuits one call opens.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::plan::{
    Blocked, CallsPlan, Demand, GatePlan, RatePlan, ReservationPlan, groups_of_circuits,
};
use tidegate_core::units::{Rate, Span};

use super::wiring::{Server, Wiring, server};
use crate::check::{Form, Item, Value};
use crate::lower::draft::{Gate, User};
use crate::lower::notes::Notes;
use crate::lower::read::calls::{blocked, check_retry, demands};
use crate::units::Amount;

/// Everybody who calls for capacity.
pub(crate) struct Calls<'a> {
    pub(crate) reservations: Vec<ReservationPlan>,
    pub(crate) sources: Vec<CallsPlan>,
    /// Who it is, in words, and where its rate is written, in the same order.
    callers: Vec<(String, &'a Item)>,
}

impl Calls<'_> {
    /// Who takes from a pool, if anybody does.
    pub(crate) fn first_caller(&self, pool: usize) -> Option<&str> {
        let takes = |demands: &[Demand]| demands.iter().any(|demand| demand.pool == pool);
        let mut all = self.demands().zip(&self.callers);
        all.find(|(demands, _)| takes(demands)).map(|(_, (name, _))| name.as_str())
    }

    fn demands(&self) -> impl Iterator<Item = &[Demand]> {
        let of_sources = self.sources.iter().map(|source| source.demands.as_slice());
        self.reservations.iter().map(|row| row.demands.as_slice()).chain(of_sources)
    }

    /// Each call must fit into the empty pool.
    pub(crate) fn check_fit(&self, pool: usize, name: &str, capacity: Rate, notes: &mut Notes) {
        let mut told = BTreeSet::new();
        for (demands, (caller, item)) in self.demands().zip(&self.callers) {
            let Some(demand) = demands.iter().find(|demand| demand.pool == pool) else { continue };
            if demand.rate > capacity && told.insert(item.key.as_str()) {
                let alone = item.rate() == Some(demand.rate);
                let together = if alone { "" } else { " at once" };
                let problem = format!(
                    "{caller} requests {}{together} of pool {name}, which has only {capacity}: it can never be \
                     granted",
                    demand.rate
                );
                let help = match alone {
                    true => format!("write \"{capacity}\" or less, or make the pool larger"),
                    false => "make its circuits slower, or the pool larger".to_owned(),
                };
                notes.wrong(item, problem, help);
            }
        }
    }
}

/// How a call is made: what circuits of one call must agree on.
#[derive(Clone, Copy, PartialEq)]
struct Terms {
    hold: Option<Span>,
    setup: Span,
    blocked: Blocked,
}

const TERMS: [&str; 4] = ["hold", "setup", "blocked", "retry"];

fn law<'a>(gate: &Gate<'a>) -> Option<&'a Form> {
    gate.form.table("rate").and_then(|laws| laws.table("reserve"))
}

fn terms(form: &Form, notes: &mut Notes) -> Terms {
    let hold = match form.get("hold").map(|item| &item.value) {
        Some(Value::Word(_)) => None,
        Some(Value::Amount(Amount::Time(span))) => Some(*span),
        _ => Some(Span::ZERO),
    };
    Terms { hold, setup: form.span("setup").unwrap_or(Span::ZERO), blocked: blocked(form, notes) }
}

/// Gives every circuit its reservation, and finds all who call.
pub(crate) fn calls<'a>(
    root: &'a Form,
    gates: &[Gate<'a>],
    users: &[User<'_>],
    sources: Vec<(CallsPlan, &'a Item)>,
    planned: &mut [GatePlan],
    wiring: &Wiring,
    notes: &mut Notes,
) -> Calls<'a> {
    let mut calls = Calls { reservations: vec![], sources: vec![], callers: vec![] };
    let mut asked: BTreeMap<usize, Vec<Demand>> = BTreeMap::new();
    for (index, gate) in gates.iter().enumerate() {
        let (RatePlan::Reserve(circuit), Some(form)) = (&gate.plan.rate, law(gate)) else { continue };
        check_retry(form, notes);
        asked.insert(index, demands(root, form, circuit.rate, notes));
    }
    let servers: BTreeMap<usize, &Server> = wiring.iter().map(|(server, index)| (*index, server)).collect();
    let together = together(users, wiring);
    for group in groups_of_circuits(planned, &together) {
        let mut sums: BTreeMap<usize, u64> = BTreeMap::new();
        let mut counted = BTreeSet::new();
        let mut written: Vec<usize> = Vec::new();
        for index in &group {
            let (gate, copy, _) = *servers[index];
            if let RatePlan::Reserve(circuit) = &mut planned[*index].rate {
                circuit.reservation = calls.reservations.len();
            }
            // The two directions of a duplex gate count once.
            if counted.insert((gate, copy)) {
                for demand in asked.get(&gate).into_iter().flatten() {
                    *sums.entry(demand.pool).or_default() += demand.rate.bps();
                }
            }
            if !written.contains(&gate) {
                written.push(gate);
            }
        }
        let Some(form) = law(&gates[written[0]]) else { continue };
        let Terms { hold, setup, blocked } = terms(form, notes);
        check_terms(gates, &written, notes);
        let name = planned[group[0]].name.trim_end_matches("/back").to_owned();
        let Some(item) = form.get("rate") else { continue };
        let names: Vec<&str> = written.iter().map(|gate| gates[*gate].name).collect();
        let who = if names.len() > 1 { "one call for circuits" } else { "a call for circuit" };
        calls.callers.push((format!("{who} {}", names.join(" and ")), item));
        calls.reservations.push(ReservationPlan {
            name,
            demands: sums.into_iter().map(|(pool, bps)| Demand { pool, rate: Rate::from_bps(bps) }).collect(),
            setup,
            hold,
            blocked,
        });
    }
    for (source, item) in sources {
        calls.callers.push((format!("a call of calls.{}", source.name), item));
        calls.sources.push(source);
    }
    calls
}

/// The servers of each flow and of each background source, and the directions of each gate.
fn together(users: &[User<'_>], wiring: &Wiring) -> Vec<Vec<usize>> {
    let mut lists = Vec::new();
    for (number, user) in users.iter().enumerate() {
        for copy in 0..user.instances.len() {
            let hops = user.path.iter().chain(&user.back);
            lists.push(hops.filter_map(|hop| server(wiring, number, copy, hop)).collect());
        }
    }
    for ((gate, copy, reverse), index) in wiring {
        if let (true, Some(other)) = (reverse, wiring.get(&(*gate, *copy, false))) {
            lists.push(vec![*index, *other]);
        }
    }
    lists
}

/// Circuits of one call are kept and made alike.
fn check_terms(gates: &[Gate<'_>], written: &[usize], notes: &mut Notes) {
    let [first, others @ ..] = written else { return };
    let Some(one) = law(&gates[*first]) else { return };
    for other in others {
        let Some(form) = law(&gates[*other]) else { continue };
        if terms(form, notes) == terms(one, notes) {
            continue;
        }
        let differs = |name: &&&str| {
            let text = |law: &Form| law.get(name).map(|item| format!("{:?}", item.value));
            text(form) != text(one)
        };
        let Some(name) = TERMS.iter().find(differs) else { continue };
        let (here, there) = (gates[*other].name, gates[*first].name);
        let problem = format!(
            "a flow passes circuits {there} and {here}: one call requests both, but they differ in {name}"
        );
        let at = form.given(name).or_else(|| form.get("rate"));
        if let Some(item) = at {
            notes.wrong(item, problem, format!("write the same {name} at both"));
        }
    }
}
