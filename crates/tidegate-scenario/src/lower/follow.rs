//! `gate.x.rate.follow` to [`FollowPlan`]: first what it says by itself, then, when there are
//! servers and routes, whom it follows and how long the way is.

use tidegate_core::effcap::{self, Blocks};
use tidegate_core::plan::{FlowPlan, FollowPlan, GatePlan, RatePlan, Share, TrafficPlan};
use tidegate_core::units::{PICOS_PER_SECOND, Rate, Span};

use super::Notes;
use super::gate::Gate;
use super::layout::{Server, Wiring};
use super::users::User;
use crate::check::{Form, Item, nearest};

/// What stands for itself; the gate is counted as written, and lag and blocks may be filled in
/// later.
pub(super) fn law(root: &Form, form: &Form, notes: &mut Notes) -> Option<RatePlan> {
    let min = form.rate("min")?;
    let peak = form.rate("peak");
    let initial = form.rate("initial");
    check_limits(min, peak, initial, form, notes);
    check_blocks(form, notes);
    Some(RatePlan::Follow(FollowPlan {
        gate: gate_of(root, form.get("gate")?, notes)?,
        every: form.span("every")?,
        lag: form.span("lag").unwrap_or(Span::ZERO),
        blocks: written_blocks(form).unwrap_or(Blocks::INSTCAP),
        share: Share::from_parts((form.real("share")? * PICOS_PER_SECOND as f64).round() as u64),
        initial: initial.unwrap_or(min),
        min,
        peak,
    }))
}

fn check_limits(min: Rate, peak: Option<Rate>, initial: Option<Rate>, form: &Form, notes: &mut Notes) {
    if let (Some(peak), Some(item)) = (peak, form.get("peak"))
        && peak < min
    {
        notes.wrong(item, format!("{peak} is less than min, {min}"), format!("write \"{min}\" or more"));
        return;
    }
    let (Some(initial), Some(item)) = (initial, form.get("initial")) else { return };
    if initial < min {
        let problem = format!("{initial} is less than min, {min}");
        notes.wrong(item, problem, format!("write \"{min}\" or more"));
    }
    if let Some(peak) = peak.filter(|peak| initial > *peak) {
        let problem = format!("{initial} is more than peak, {peak}");
        notes.wrong(item, problem, format!("write \"{peak}\" or less"));
    }
}

fn check_blocks(form: &Form, notes: &mut Notes) {
    let Some(effcap) = form.get("effcap") else { return };
    let Some(table) = effcap.table() else { return };
    let given = |name: &str| table.given(name);
    match (given("m"), given("n"), given("rtts")) {
        (Some(_), Some(_), None) | (None, None, Some(_)) => {}
        (_, _, Some(rtts)) => {
            notes.wrong(rtts, "rtts says what m and n are", "keep rtts, or m and n");
        }
        (Some(item), None, None) => notes.wrong(item, "there is no n to it", "add n, such as n = 88"),
        (None, Some(item), None) => notes.wrong(item, "there is no m to it", "add m, such as m = 8"),
        (None, None, None) => {
            notes.wrong(effcap, "neither m and n nor rtts is given", "write { rtts = 10 }");
        }
    }
}

fn written_blocks(form: &Form) -> Option<Blocks> {
    let effcap = form.table("effcap")?;
    let count = |name: &str| effcap.whole(name).and_then(|count| u32::try_from(count).ok());
    Some(Blocks { samples: count("m")?, blocks: count("n")? })
}

/// The place of a gate in the file.
pub(super) fn gate_of(root: &Form, item: &Item, notes: &mut Notes) -> Option<usize> {
    let name = item.text()?;
    let gates = root.table("gate").map_or(&[][..], |gates| gates.items.as_slice());
    let found = gates.iter().position(|gate| gate.name == name);
    if found.is_none() {
        let names = || gates.iter().map(|gate| gate.name.as_str());
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("the gates are {}", names().take(20).collect::<Vec<_>>().join(", ")),
        };
        notes.wrong(item, format!("no gate is called {name:?}"), help);
    }
    found
}

/// A scenario when servers and routes are known.
pub(super) struct Laid<'a> {
    pub(super) gates: &'a [Gate<'a>],
    pub(super) users: &'a [User<'a>],
    pub(super) wiring: &'a Wiring,
    pub(super) flows: &'a [FlowPlan],
    pub(super) traffic: &'a [TrafficPlan],
}

impl Laid<'_> {
    /// Each server with a rate law of this name, with its number and what is written of it. A
    /// problem of several copies is told once.
    pub(super) fn each(
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
    pub(super) fn leader(
        &self,
        server: Server,
        leader: usize,
        item: &Item,
        notes: &mut Notes,
    ) -> Option<usize> {
        let named = self.gates.get(leader)?;
        if server.0 == leader {
            notes.wrong(item, "the gate would follow itself", "name the gate whose capacity limits");
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
                    format!("{} does not pass {name}", self.users[user].instances[instance]),
                    format!("add \"{name}\" to its path"),
                ),
                None if named.per_flow => (
                    format!("each flow has its own {name}: which one?"),
                    format!(
                        "add per = \"flow\" to gate.{} too, or take it out of gate.{name}",
                        self.gates[server.0].name
                    ),
                ),
                None => (format!("nothing passes {name}"), format!("add \"{name}\" to a path")),
            };
            notes.wrong(item, problem, help);
        }
        found.copied()
    }
}

/// Turns gates as written into servers, and fills in lags and blocks that depend on the route.
pub(super) fn resolve(laid: &Laid<'_>, planned: &mut [GatePlan], notes: &mut Notes) {
    laid.each("follow", notes, |server, index, form, notes| {
        let RatePlan::Follow(follow) = planned[index].rate else { return };
        if let Some(filled) = fill(follow, server, index, form, laid, planned, notes) {
            planned[index].rate = RatePlan::Follow(filled);
        }
    });
}

fn fill(
    follow: FollowPlan,
    server: Server,
    index: usize,
    form: &Form,
    laid: &Laid<'_>,
    planned: &[GatePlan],
    notes: &mut Notes,
) -> Option<FollowPlan> {
    let item = form.get("gate")?;
    let gate = laid.leader(server, follow.gate, item, notes)?;
    let mut filled = FollowPlan { gate, ..follow };
    let round_trips = round_trips(index, laid.flows, planned);
    if form.get("lag").is_none() {
        filled.lag = one_of(&round_trips, item, "lag", "add lag = \"40 ms\"", notes)?;
    }
    if let Some(rtts) = form.table("effcap").and_then(|effcap| effcap.given("rtts")) {
        let round_trip = one_of(&round_trips, rtts, "m and n", "write { m = 8, n = 88 } instead", notes)?;
        let count = rtts.whole().and_then(|count| u32::try_from(count).ok())?;
        filled.blocks = effcap::rule(round_trip, filled.every, count);
    }
    Some(filled)
}

/// Why a gate has no capacity in bit/s to follow.
fn without_capacity(gate: &Gate<'_>) -> Option<(String, String)> {
    let name = gate.name;
    match &gate.plan.rate {
        RatePlan::Unlimited => Some((
            format!("gate {name} has no rate: there is no capacity to follow"),
            format!("give gate.{name} a rate, or name the gate that limits"),
        )),
        rate if tidegate_core::gate::rate::counts_packets(rate) => Some((
            format!("the rate of gate {name} is in packets, not in bits"),
            format!("write the rate of gate.{name} in bit/s"),
        )),
        _ => None,
    }
}

/// The round trips of the flows that pass a server, each once, with a flow that has it.
pub(super) fn round_trips<'a>(
    server: usize,
    flows: &'a [FlowPlan],
    planned: &[GatePlan],
) -> Vec<(Span, &'a str)> {
    let mut found: Vec<(Span, &str)> = Vec::new();
    for flow in flows.iter().filter(|flow| flow.path.contains(&server) || flow.back.contains(&server)) {
        let gates = flow.path.iter().chain(&flow.back);
        let delays = gates.fold(flow.back_delay, |sum, gate| sum + planned[*gate].delay);
        if found.iter().all(|(other, _)| *other != delays) {
            found.push((delays, &flow.name));
        }
    }
    found
}

/// The one round trip that there is.
pub(super) fn one_of(
    round_trips: &[(Span, &str)],
    item: &Item,
    what: &str,
    help: &str,
    notes: &mut Notes,
) -> Option<Span> {
    let problem = match round_trips {
        [(only, _)] => return Some(*only),
        [] => format!("no flow passes this gate, so no round trip says what {what} should be"),
        [(one, first), (other, second), ..] => format!(
            "flow {first} has a round trip of {one} and flow {second} one of {other}: which says what {what} should be?"
        ),
    };
    notes.wrong(item, problem, help);
    None
}
