//! What can be resolved only when servers and routes are known: which server a gate's name means, and the
//! round trips through a server.

use tidegate_core::plan::{FlowPlan, GatePlan, RatePlan, TrafficPlan};
use tidegate_core::units::Span;

use super::wiring::{Server, Wiring};
use crate::check::{Form, Item};
use crate::lower::draft::{Gate, User};
use crate::lower::notes::Notes;

/// A scenario whose servers and routes are known.
pub(crate) struct Placed<'a> {
    pub(crate) gates: &'a [Gate<'a>],
    pub(crate) users: &'a [User<'a>],
    pub(crate) wiring: &'a Wiring,
    pub(crate) flows: &'a [FlowPlan],
    pub(crate) traffic: &'a [TrafficPlan],
}

impl Placed<'_> {
    /// Calls `fill` for each server whose rate law is `law`, with its number and the law's keys. A problem that
    /// several copies of a gate have is reported once.
    pub(crate) fn each(
        &self,
        law: &str,
        notes: &mut Notes,
        mut fill: impl FnMut(Server, usize, &Form, &mut Notes),
    ) {
        let mut said: Vec<usize> = Vec::new();
        for (server, index) in self.wiring {
            let rate = self.gates[server.0].form.table("rate");
            let Some(form) =
                rate.filter(|rate| rate.section.find(law).is_some()).and_then(|rate| rate.table(law))
            else {
                continue;
            };
            let before = notes.problems.len();
            fill(*server, *index, form, notes);
            if notes.problems.len() > before {
                if said.contains(&server.0) {
                    notes.problems.truncate(before);
                }
                said.push(server.0);
            }
        }
    }

    /// The server that a gate as written means to another, which has a capacity in bit/s.
    pub(crate) fn leader(
        &self,
        server: Server,
        leader: usize,
        item: &Item,
        notes: &mut Notes,
    ) -> Option<usize> {
        let named = self.gates.get(leader)?;
        if server.0 == leader {
            notes.wrong(item, "the gate would follow itself", "name the gate that limits the rate");
            return None;
        }
        if let Some((problem, help)) = without_capacity(named) {
            notes.wrong(item, problem, help);
            return None;
        }
        let copy = server.1.filter(|_| named.per_flow);
        let found = self.wiring.get(&(leader, copy, false));
        if found.is_none() {
            let name = named.name;
            let (problem, help) = match server.1 {
                Some((user, instance)) => (
                    format!("{} does not pass gate {name}", self.users[user].instances[instance]),
                    format!("add \"{name}\" to its path"),
                ),
                None if named.per_flow => (
                    format!("each flow has its own copy of gate {name}, so this name is ambiguous"),
                    format!(
                        "add per = \"flow\" to gate.{} too, or remove it from gate.{name}",
                        self.gates[server.0].name
                    ),
                ),
                None => {
                    (format!("no flow or traffic passes gate {name}"), format!("add \"{name}\" to a path"))
                }
            };
            notes.wrong(item, problem, help);
        }
        found.copied()
    }
}

/// Why a gate has no capacity in bit/s to follow.
fn without_capacity(gate: &Gate<'_>) -> Option<(String, String)> {
    let name = gate.name;
    match &gate.plan.rate {
        RatePlan::Unlimited => Some((
            format!("gate {name} has no rate: there is no capacity to follow"),
            format!("give gate.{name} a rate, or name the gate that limits the rate"),
        )),
        rate if rate.counts_packets() => Some((
            format!("the rate of gate {name} is in packets, not in bits"),
            format!("write the rate of gate.{name} in bit/s"),
        )),
        _ => None,
    }
}

/// The round trips of the flows that pass a server, each once, with a flow that has it.
pub(crate) fn round_trips<'a>(
    server: usize,
    flows: &'a [FlowPlan],
    planned: &[GatePlan],
) -> Vec<(Span, &'a str)> {
    let mut found: Vec<(Span, &str)> = Vec::new();
    for flow in flows.iter().filter(|flow| flow.path.contains(&server) || flow.back.contains(&server)) {
        let delays = flow.round_trip_delay(planned);
        if found.iter().all(|(other, _)| *other != delays) {
            found.push((delays, &flow.name));
        }
    }
    found
}

/// A law's `lag` as written, or the one round trip of the flows that pass.
pub(crate) fn lag(form: &Form, gate: &Item, round_trips: &[(Span, &str)], notes: &mut Notes) -> Option<Span> {
    form.span("lag").or_else(|| one_of(round_trips, gate, "lag", "add lag = \"40 ms\"", notes))
}

/// The one round trip that there is. Several, or none, are a problem.
pub(crate) fn one_of(
    round_trips: &[(Span, &str)],
    item: &Item,
    what: &str,
    help: &str,
    notes: &mut Notes,
) -> Option<Span> {
    let problem = match round_trips {
        [(only, _)] => return Some(*only),
        [] => format!("no flow passes this gate, so there is no round trip from which to compute {what}"),
        [(one, first), (other, second), ..] => format!(
            "{what} cannot be computed here: flow {first} has a round trip of {one}, flow {second} one of {other}"
        ),
    };
    notes.wrong(item, problem, help);
    None
}
