//! Who is of which class, once flows and background sources have their numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidegate_core::plan::{ByCodepoint, ClassesPlan, GatePlan, SchedulerPlan, StrictPlan};

use super::tins;
use super::wiring::Wiring;
use crate::check::{Form, Item};
use crate::lower::draft::{Gate, Hop, User};
use crate::lower::notes::Notes;
use crate::lower::read::classes::with_packets;
use crate::lower::values::dscp;
use crate::spelling::value_meant;
use crate::table::codepoints;

/// Gives the classes of every gate their members.
pub(crate) fn resolve(
    gates: &[Gate<'_>],
    users: &[User<'_>],
    wiring: &Wiring,
    planned: &mut [GatePlan],
    notes: &mut Notes,
) {
    let hosts = tins::hosts(users);
    for (number, gate) in gates.iter().enumerate() {
        if let Some(plan) = &gate.plan.classes
            && let SchedulerPlan::Cake(cake) = &plan.scheduler
        {
            let plan = Arc::new(tins::with_members((plan, cake), &hosts, (gates, number), users));
            let servers = wiring.iter().filter(|((of, ..), _)| *of == number);
            servers.for_each(|(_, server)| planned[*server].classes = Some(Arc::clone(&plan)));
            continue;
        }
        let (Some(plan), Some(form)) = (&gate.plan.classes, gate.form.table("classes")) else { continue };
        let servers = || wiring.iter().filter(|((of, ..), _)| *of == number).map(|(_, server)| *server);
        if servers().next().is_none() {
            continue;
        }
        let Some((of_route, by_codepoint)) = of_route((gates, number), form, users, notes) else { continue };
        let of_route = of_route.into();
        let plan = Arc::new(ClassesPlan { of_route, by_codepoint, ..ClassesPlan::clone(plan) });
        if let SchedulerPlan::Strict(strict) = &plan.scheduler {
            warn_shut((gates, number), strict, &plan.of_route, users, notes);
        }
        servers().for_each(|server| planned[server].classes = Some(Arc::clone(&plan)));
    }
}

/// A class whose gate is never open for as long as a packet of its members takes drops this packet.
fn warn_shut(
    (gates, number): (&[Gate<'_>], usize),
    strict: &StrictPlan,
    of_route: &[u16],
    users: &[User<'_>],
    notes: &mut Notes,
) {
    let gate = &gates[number];
    let Some(states) = gate.form.table("tas").and_then(|tas| tas.get("states")) else { return };
    let (flows, sources): (Vec<_>, Vec<_>) = users.iter().partition(|user| user.is_flow());
    let directions = flows.into_iter().chain(sources).flat_map(|user| {
        let ways = [Some(&user.path), user.is_flow().then_some(&user.back)];
        let ways = ways.into_iter().flatten().zip(user.load.largest_packets());
        user.instances.iter().flat_map(move |_| ways.clone()).map(move |(hops, bytes)| (user, hops, bytes))
    });
    let mut warned = BTreeSet::new();
    for ((user, hops, bytes), class) in directions.zip(of_route) {
        let class = usize::from(*class);
        let (Some(Some(open)), Some(link)) = (strict.open.get(class), strict.link) else { continue };
        let wire = gate.plan.wire_bytes(bytes);
        let (takes, longest) = (link.span_of(wire), open.longest());
        let passes = hops.iter().any(|hop| hop.gate == number);
        if passes && takes > longest && warned.insert((class, &user.key)) {
            let problem = format!(
                "a packet of {wire} B of {} takes {takes}, and its class is open for at most {longest}: it is dropped",
                user.key
            );
            notes.warn(states.at, &states.key, problem, "make a state with this class longer");
        }
    }
}

/// Names and codepoints of all classes of a gate, with the class of each.
#[derive(Default)]
struct Members<'a> {
    names: BTreeMap<&'a str, u16>,
    codepoints: BTreeMap<u8, u16>,
    rest: Option<u16>,
}

/// The class of each route in the order of their numbers, and classes by the codepoint of each packet where there are any.
fn of_route(
    (gates, number): (&[Gate<'_>], usize),
    form: &Form,
    users: &[User<'_>],
    notes: &mut Notes,
) -> Option<(Vec<u16>, Option<Arc<ByCodepoint>>)> {
    let gate = &gates[number];
    let before = notes.problems.len();
    let members = members(form, users, notes);
    check_names(number, gate, form, users, notes);
    if notes.problems.len() > before {
        return None;
    }
    let (mut flows, mut sources) = (Vec::new(), Vec::new());
    for user in users {
        let passes = [&user.path, &user.back].map(|hops| hops.iter().any(|hop| hop.gate == number));
        for name in &user.instances {
            let mut found = [0; 2];
            for (way, class) in found.iter_mut().enumerate() {
                let may_have = tins::codepoints(user, gates, number, way == 1);
                let class_of = |codepoint: u8| members.class(user, name, codepoint, way == 1);
                if let (true, Some(lost)) =
                    (passes[way], may_have.iter().copied().find(|codepoint| class_of(*codepoint).is_none()))
                {
                    let mut problem = format!("no class takes the packets of {name}");
                    if lost != user.dscp {
                        problem +=
                            &format!(" that get the codepoint {} on their way", codepoints::text(lost));
                    }
                    let help = "name it in the members of a class, or add a class without members and dscp for the rest";
                    notes.wrong(gate.form.get("classes")?, problem, help);
                    return None;
                }
                *class = class_of(may_have[0]).unwrap_or(0);
            }
            let [class, back] = found;
            if user.is_flow() {
                flows.extend([class, back]);
            } else {
                sources.push(class);
            }
        }
    }
    flows.extend(sources);
    let by_codepoint = (!members.codepoints.is_empty()).then(|| Arc::new(members.by_codepoint(users)));
    Some((flows, by_codepoint))
}

fn members<'a>(form: &'a Form, users: &[User<'_>], notes: &mut Notes) -> Members<'a> {
    let mut members = Members::default();
    let known: BTreeSet<&str> =
        users.iter().flat_map(|user| user.instances.iter().map(String::as_str).chain([user.name])).collect();
    let sends_back: BTreeSet<&str> = users
        .iter()
        .filter(|user| user.is_flow())
        .flat_map(|user| user.instances.iter().map(String::as_str).chain([user.name]))
        .collect();
    for (class, (named, below)) in (0..).zip(with_packets(form)) {
        let (names, codepoints) = (below.list("members"), below.list("dscp"));
        for item in names {
            let Some(text) = item.text() else { continue };
            let (name, back) = text.strip_suffix("/back").map_or((text, false), |name| (name, true));
            if !known.contains(name) {
                let help = value_meant(name, known.iter().copied())
                    .unwrap_or_else(|| format!("add [flow.{name}] or [traffic.{name}]"));
                notes.wrong(item, format!("no flow or traffic is called {name:?}"), help);
            } else if back && !sends_back.contains(name) {
                notes.wrong(item, "nothing comes back to a background source", "remove /back");
            } else if members.names.insert(text, class).is_some_and(|other| other != class) {
                twice(item, text, notes);
            }
        }
        for item in codepoints {
            let codepoint = dscp(Some(item));
            if members.codepoints.insert(codepoint, class).is_some_and(|other| other != class) {
                twice(item, &format!("codepoint {codepoint}"), notes);
            }
        }
        if names.is_empty() && codepoints.is_empty() && members.rest.replace(class).is_some() {
            let problem = "two classes have neither members nor dscp, and only one can take the rest";
            notes.wrong(&named.item, problem, "add members = [\"NAME\"] to one of them");
        }
    }
    members
}

fn twice(item: &Item, what: &str, notes: &mut Notes) {
    notes.wrong(item, format!("{what} is in two classes"), "remove it from one of them");
}

/// A name of somebody who does not pass the gate is a mistake.
fn check_names(number: usize, gate: &Gate<'_>, form: &Form, users: &[User<'_>], notes: &mut Notes) {
    for item in with_packets(form).flat_map(|(_, below)| below.list("members")) {
        let Some(text) = item.text() else { continue };
        let (name, back) = text.strip_suffix("/back").map_or((text, false), |name| (name, true));
        let is_user = |user: &&User<'_>| user.name == name || user.instances.iter().any(|one| one == name);
        let Some(user) = users.iter().find(is_user) else { continue };
        let hops = if back { &user.back } else { &user.path };
        let passes = |list: &[Hop<'_>]| list.iter().any(|hop| hop.gate == number);
        if !(passes(hops) || !back && passes(&user.back)) {
            let which = if back { "back" } else { "path" };
            let problem = format!("{name} does not pass gate {}", gate.name);
            notes.wrong(item, problem, format!("remove it, or add \"{}\" to its {which}", gate.name));
        }
    }
}

impl Members<'_> {
    /// The class of each packet that carries a codepoint of its own.
    fn by_codepoint(&self, users: &[User<'_>]) -> ByCodepoint {
        let of = |user: &User<'_>, back: bool| {
            let named = |name: &String| self.by_name(user, name, back).is_some();
            user.instances.iter().map(named).collect::<Vec<bool>>()
        };
        let both = |user: &User<'_>| of(user, false).into_iter().zip(of(user, true)).collect::<Vec<_>>();
        let flows = users.iter().filter(|user| user.is_flow()).flat_map(both);
        let mut named: Vec<bool> = flows.flat_map(|(data, back)| [data, back]).collect();
        named.extend(users.iter().filter(|user| !user.is_flow()).flat_map(|user| of(user, false)));
        ByCodepoint {
            classes: std::array::from_fn(|codepoint| {
                self.codepoints.get(&(codepoint as u8)).copied().or(self.rest)
            }),
            named: named.into(),
        }
    }

    /// The class of a copy's packets, or of what comes back to it. Names go before codepoints.
    fn class(&self, user: &User<'_>, copy: &str, codepoint: u8, back: bool) -> Option<u16> {
        let of_codepoint = || self.codepoints.get(&codepoint).copied();
        self.by_name(user, copy, back).or_else(of_codepoint).or(self.rest)
    }

    /// The class that names a copy. The longer name holds.
    fn by_name(&self, user: &User<'_>, copy: &str, back: bool) -> Option<u16> {
        let named = |name: &str| {
            let of_back = || self.names.get(format!("{name}/back").as_str());
            (if back { of_back() } else { None }).copied()
        };
        named(copy)
            .or_else(|| named(user.name))
            .or_else(|| self.names.get(copy).copied())
            .or_else(|| self.names.get(user.name).copied())
    }
}
