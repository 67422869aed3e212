//! `gate.x.rate.reserve` and `[calls.x]`: who calls for what, and which circuits one call opens.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::plan::{
    ArrivalPlan, Blocked, CallsPlan, Demand, Framing, GatePlan, RatePlan, ReservationPlan, ReservePlan,
    groups_of_circuits,
};
use tidegate_core::units::{Rate, Span};

use super::names::pool_of;
use super::notes::Notes;
use super::values::{holding, time};
use super::wiring::{Server, Wiring, server};
use super::work;
use super::written::{Gate, Hop, User};
use crate::check::{Form, Item, Named, Value};

/// A circuit that nobody has given a reservation yet; `None` where something was wrong.
pub(super) fn circuit(form: &Form) -> Option<RatePlan> {
    Some(RatePlan::Reserve(ReservePlan { reservation: usize::MAX, rate: form.rate("rate")? }))
}

/// Packets weigh their cells on a circuit, and are never taken apart: no cell comes between.
pub(super) fn framing(rate: &RatePlan, framing: Framing) -> Framing {
    match (rate, framing) {
        (RatePlan::Reserve(_), Framing::Aal5 { llc }) => Framing::CellPackets { llc },
        _ => framing,
    }
}

/// Everybody who calls for capacity.
pub(super) struct Calls<'a> {
    pub(super) reservations: Vec<ReservationPlan>,
    pub(super) sources: Vec<CallsPlan>,
    /// Who it is, in words, and where its rate is written, in the same order.
    callers: Vec<(String, &'a Item)>,
}

impl Calls<'_> {
    /// Who takes from a pool, if anybody does.
    pub(super) fn first_caller(&self, pool: usize) -> Option<&str> {
        let takes = |demands: &[Demand]| demands.iter().any(|demand| demand.pool == pool);
        let mut all = self.demands().zip(&self.callers);
        all.find(|(demands, _)| takes(demands)).map(|(_, (name, _))| name.as_str())
    }

    fn demands(&self) -> impl Iterator<Item = &[Demand]> {
        let of_sources = self.sources.iter().map(|source| source.demands.as_slice());
        self.reservations.iter().map(|row| row.demands.as_slice()).chain(of_sources)
    }

    /// Each call must fit when nobody else is there.
    pub(super) fn check_fit(&self, pool: usize, name: &str, capacity: Rate, notes: &mut Notes) {
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
struct Manners {
    hold: Option<Span>,
    setup: Span,
    blocked: Blocked,
}

const MANNERS: [&str; 4] = ["hold", "setup", "blocked", "retry"];

fn law<'a>(gate: &Gate<'a>) -> Option<&'a Form> {
    gate.form.table("rate").and_then(|laws| laws.table("reserve"))
}

fn manners(form: &Form) -> Manners {
    let hold = match form.get("hold").map(|item| &item.value) {
        Some(Value::Word(_)) => None,
        Some(Value::Time(span)) => Some(*span),
        _ => Some(Span::ZERO),
    };
    Manners { hold, setup: form.span("setup").unwrap_or(Span::ZERO), blocked: blocked(form) }
}

fn blocked(form: &Form) -> Blocked {
    match (form.word("blocked"), form.span("retry")) {
        (Some("refuse"), None) => Blocked::Refuse,
        (Some("refuse"), Some(after)) => Blocked::Retry(after),
        _ => Blocked::Wait,
    }
}

/// `retry` needs a call that is refused.
fn check_retry(form: &Form, notes: &mut Notes) {
    if let (Some(item), true) = (form.given("retry"), form.word("blocked") != Some("refuse")) {
        let problem = "retry is for refused calls, but a call that does not fit waits here";
        notes.wrong(item, problem, "add blocked = \"refuse\", or remove retry");
    }
}

/// What a call of `rate` asks for; empty where something was wrong.
fn demands(root: &Form, form: &Form, rate: Rate, notes: &mut Notes) -> Vec<Demand> {
    let Some(item) = form.get("pool") else { return Vec::new() };
    let names = match &item.value {
        Value::List(items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    let mut found: Vec<Demand> = Vec::new();
    for name in names {
        let Some(pool) = pool_of(root, name, notes) else { continue };
        if found.iter().any(|demand| demand.pool == pool) {
            let problem = format!("pool {} is in this list twice", name.text().unwrap_or_default());
            notes.wrong(name, problem, "a call requests capacity of a pool once; remove one of them");
        } else {
            found.push(Demand { pool, rate });
        }
    }
    found.sort_by_key(|demand| demand.pool);
    found
}

/// Gives every circuit its reservation, and finds all who call.
pub(super) fn calls<'a>(
    root: &'a Form,
    gates: &[Gate<'a>],
    users: &[User<'_>],
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
    check_cells_beside(gates, users, notes);
    let servers: BTreeMap<usize, &Server> = wiring.iter().map(|(server, index)| (*index, server)).collect();
    let together = together(users, wiring);
    check_shared(gates, users, wiring, planned, notes);
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
        let Manners { hold, setup, blocked } = manners(form);
        check_manners(gates, &written, notes);
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
    sources(root, &mut calls, notes);
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
fn check_manners(gates: &[Gate<'_>], written: &[usize], notes: &mut Notes) {
    let [first, others @ ..] = written else { return };
    let Some(one) = law(&gates[*first]) else { return };
    for other in others {
        let Some(form) = law(&gates[*other]) else { continue };
        if manners(form) == manners(one) {
            continue;
        }
        let differs = |name: &&&str| {
            let text = |law: &Form| law.get(name).map(|item| format!("{:?}", item.value));
            text(form) != text(one)
        };
        let Some(name) = MANNERS.iter().find(differs) else { continue };
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

/// A gate as written and whose copy of it, both directions together.
type Circuit = (usize, Option<(usize, usize)>);

/// The circuits that somebody passes, and where in the lists they stand.
type Passed = BTreeMap<Circuit, usize>;

/// Flows that share a circuit must share all of theirs: a transfer that held one circuit while
/// another waits for the rest of its own could shut others out for ever.
fn check_shared(
    gates: &[Gate<'_>],
    users: &[User<'_>],
    wiring: &Wiring,
    planned: &[GatePlan],
    notes: &mut Notes,
) {
    let mut first: BTreeMap<Circuit, (String, Passed)> = BTreeMap::new();
    for (number, user) in users.iter().enumerate() {
        for (copy, name) in user.instances.iter().enumerate() {
            let hops: Vec<&Hop<'_>> = user.path.iter().chain(&user.back).collect();
            let mut passed = Passed::new();
            for (place, hop) in hops.iter().enumerate() {
                let Some(index) = server(wiring, number, copy, hop) else { continue };
                if matches!(planned[index].rate, RatePlan::Reserve(_)) {
                    let own = gates[hop.gate].per_flow.then_some((number, copy));
                    passed.entry((hop.gate, own)).or_insert(place);
                }
            }
            for (circuit, place) in &passed {
                let (other, theirs) = first.entry(*circuit).or_insert_with(|| (name.clone(), passed.clone()));
                if theirs.keys().eq(passed.keys()) {
                    continue;
                }
                let only = passed.keys().find(|key| !theirs.contains_key(key));
                let only = only.or_else(|| theirs.keys().find(|key| !passed.contains_key(key)));
                let only = only.map_or("", |(gate, _)| gates[*gate].name);
                let shared = gates[circuit.0].name;
                let problem = format!(
                    "{other} and {name} share circuit {shared}, but not circuit {only}: transfers that hold one \
                     circuit and wait for another can deadlock"
                );
                let help = format!(
                    "give each flow one circuit (per = \"flow\") that takes from a pool for each link, such as pool = \
                     [\"{only}\", \"{shared}\"]"
                );
                notes.wrong(hops[*place].item, problem, help);
                return;
            }
        }
    }
}

/// A circuit's packets are whole before and after it.
fn check_cells_beside(gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) {
    let is_circuit = |hop: &Hop<'_>| matches!(gates[hop.gate].plan.framing, Framing::CellPackets { .. });
    let is_cell = |hop: &Hop<'_>| gates[hop.gate].plan.is_cell_gate();
    let mut told = BTreeSet::new();
    for hops in users.iter().flat_map(|user| [&user.path, &user.back]) {
        for pair in hops.windows(2) {
            let (circuit, cell) = match pair {
                [one, other] if is_circuit(one) && is_cell(other) => (one, other),
                [one, other] if is_cell(one) && is_circuit(other) => (other, one),
                _ => continue,
            };
            if told.insert((circuit.gate, cell.gate)) {
                let (circuit, other) = (gates[circuit.gate].name, gates[cell.gate].name);
                let problem = format!(
                    "gate {other} passes cells, but circuit {circuit} next to it passes whole packets"
                );
                let help =
                    "remove framing from one of the two, or put a gate that passes packets between them";
                notes.wrong(cell.item, problem, help);
            }
        }
    }
}

/// `patience` needs a call that waits.
fn check_patience(form: &Form, notes: &mut Notes) {
    if let (Some(item), Some("refuse")) = (form.given("patience"), form.word("blocked")) {
        let problem = "patience is for calls that wait, but a call that does not fit is refused here";
        notes.wrong(item, problem, "write blocked = \"wait\", or remove patience");
    }
}

/// When calls come: `every`, or `sources` and `idle`.
fn arrivals(named: &Named, form: &Form, notes: &mut Notes) -> Option<ArrivalPlan> {
    const IDLE: &str = "idle = { exponential = \"1 min\" }";
    match (form.given("every"), form.given("sources"), form.given("idle")) {
        (Some(_), None, None) => return Some(ArrivalPlan::Every(holding(form, "every"))),
        (None, Some(count), Some(_)) => {
            let count = count.whole().and_then(|count| u32::try_from(count).ok())?;
            return Some(ArrivalPlan::Sources { count, idle: holding(form, "idle") });
        }
        (Some(item), Some(_), _) => notes.wrong(
            item,
            "every and sources exclude each other: with sources, idle determines when the next call arrives",
            "remove every, or remove sources and idle",
        ),
        (None, Some(item), None) => {
            notes.wrong(
                item,
                "sources needs idle: how long a source is idle between two calls",
                format!(
                    "add \
                {IDLE}"
                ),
            );
        }
        (_, None, Some(item)) => {
            notes.wrong(item, "idle needs sources", "add sources = 20, or write every instead of idle")
        }
        (None, None, None) => {
            let help = format!("add every = {{ exponential = \"2 s\" }}, or sources = 20 and {IDLE}");
            notes.wrong_at(named.name_at, &form.key, "every is missing", help);
        }
    }
    None
}

/// `[calls.x]`.
fn sources<'a>(root: &'a Form, calls: &mut Calls<'a>, notes: &mut Notes) {
    for named in root.table("calls").map_or(&[][..], |table| table.items.as_slice()) {
        let Some(form) = named.item.table() else { continue };
        let (Some(rate), Some(item)) = (form.rate("rate"), form.get("rate")) else { continue };
        check_retry(form, notes);
        check_patience(form, notes);
        let Some(arrivals) = arrivals(named, form, notes) else { continue };
        let (key, what, mean) = match arrivals {
            ArrivalPlan::Every(gap) => ("every", "on average a call arrives", work::mean(gap)),
            ArrivalPlan::Sources { count, idle } => {
                ("idle", "on average a source makes a call", work::mean(idle) / f64::from(count))
            }
        };
        work::check_changes(root, form.get(key), what, mean, 0.0, notes);
        let demands = demands(root, form, rate, notes);
        calls.callers.push((format!("a call of calls.{}", named.name), item));
        calls.sources.push(CallsPlan {
            name: named.name.clone(),
            start: time(form.span("start")),
            arrivals,
            hold: holding(form, "hold"),
            demands,
            setup: form.span("setup").unwrap_or(Span::ZERO),
            blocked: blocked(form),
            patience: form.given("patience").map(|_| holding(form, "patience")),
        });
    }
}
