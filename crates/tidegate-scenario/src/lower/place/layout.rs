//! Which servers there are: private copies, other directions, and who passes which.

use std::collections::BTreeSet;

use tidegate_core::plan::{FlowPlan, GatePlan, JitterPlan, RatePlan, TrafficPlan};

use super::wiring::{Server, Wiring, server};
use crate::lower::draft::{Gate, Hop, Load, User};
use crate::lower::notes::Notes;

/// Names every copy, when it is known that all of them fit.
pub(crate) fn name_copies(users: &mut [User<'_>]) {
    for user in users {
        user.instances = match user.count {
            1 => vec![user.name.to_owned()],
            count => (1..=count).map(|index| format!("{}.{index}", user.name)).collect(),
        };
    }
}

/// Makes every server that a flow or traffic passes, in the order of the file; copies in the order
/// of flows, each with its other direction after it.
pub(crate) fn lay_out(gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) -> (Vec<GatePlan>, Wiring) {
    let mut servers: BTreeSet<Server> = BTreeSet::new();
    for (number, user) in users.iter().enumerate() {
        for hop in user.path.iter().chain(&user.back) {
            if gates[hop.gate].per_flow {
                let copies =
                    (0..user.instances.len()).map(|copy| (hop.gate, Some((number, copy)), hop.reverse));
                servers.extend(copies);
            } else {
                servers.insert((hop.gate, None, hop.reverse));
            }
        }
    }
    add_followed(gates, &mut servers);
    warn_unused(gates, users, notes);
    let mut planned = Vec::new();
    let mut wiring = Wiring::new();
    for server in servers {
        let (gate, copy, reverse) = server;
        let mut name = gates[gate].name.to_owned();
        if let Some((user, copy)) = copy {
            name = format!("{name}/{}", users[user].instances[copy]);
        }
        if reverse {
            name.push_str("/back");
        }
        wiring.insert(server, planned.len());
        planned.push(GatePlan { name, ..gates[gate].plan.clone() });
    }
    (planned, wiring)
}

/// Adds gates that others follow, even if no flow passes them.
fn add_followed(gates: &[Gate<'_>], servers: &mut BTreeSet<Server>) {
    let mut open: Vec<usize> = servers.iter().map(|(gate, ..)| *gate).collect();
    while let Some(gate) = open.pop() {
        if let RatePlan::Follow(follow) = &gates[gate].plan.rate
            && gates.get(follow.gate).is_some_and(|followed| !followed.per_flow)
            && servers.insert((follow.gate, None, false))
        {
            open.push(follow.gate);
        }
    }
}

fn warn_unused(gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) {
    let passed: BTreeSet<(usize, bool)> = users
        .iter()
        .flat_map(|user| user.path.iter().chain(&user.back))
        .map(|hop| (hop.gate, hop.reverse))
        .collect();
    let followed: BTreeSet<usize> = gates
        .iter()
        .filter_map(
            |gate| if let RatePlan::Follow(follow) = &gate.plan.rate { Some(follow.gate) } else { None },
        )
        .collect();
    for (index, gate) in gates.iter().enumerate() {
        if !passed.contains(&(index, false)) && !passed.contains(&(index, true)) {
            if followed.contains(&index) {
                continue;
            }
            let help = "add it to a path, or remove it";
            notes.warn(gate.name_at, &gate.form.key, "no flow or traffic passes this gate", help);
        } else if gate.duplex
            && !passed.contains(&(index, true))
            && let Some(item) = gate.form.get("duplex")
        {
            let help = format!("add back = [\"{}\"] to a flow, or remove duplex", gate.name);
            notes.warn(item.at, &item.key, "no flow passes the other direction of this gate", help);
        }
    }
}

/// What the gates of senders' random delays are called: `jitter/bulk.1`.
const JITTER: &str = "jitter";

/// A gate of that name would be taken for those.
pub(crate) fn check_jitter(gates: &[Gate<'_>], users: &[User<'_>], notes: &mut Notes) {
    let Some(user) = users.iter().find(|user| user.jitter != JitterPlan::None) else { return };
    for gate in gates.iter().filter(|gate| gate.name == JITTER) {
        let problem = format!("the jitter of {} is a gate with this name", user.name);
        notes.wrong_at(gate.name_at, &gate.form.key, problem, "use another name, such as \"jitter1\"");
    }
}

/// Flows and traffic with their gates by number; a random delay is a gate more before the first.
pub(crate) fn connect(
    users: &[User<'_>],
    wiring: &Wiring,
    planned: &mut Vec<GatePlan>,
) -> (Vec<FlowPlan>, Vec<TrafficPlan>) {
    let (mut flows, mut traffic) = (Vec::new(), Vec::new());
    for (number, user) in users.iter().enumerate() {
        for (copy, name) in user.instances.iter().enumerate() {
            let list = |hops: &[Hop<'_>]| -> Vec<usize> {
                hops.iter().filter_map(|hop| server(wiring, number, copy, hop)).collect()
            };
            let (mut path, back) = (list(&user.path), list(&user.back));
            if user.jitter != JitterPlan::None {
                path.insert(0, planned.len());
                let gate = GatePlan::open(&format!("{JITTER}/{name}"));
                planned.push(GatePlan { jitter: user.jitter, ..gate });
            }
            match &user.load {
                Load::Flow { app, transport, tcp, scone } => flows.push(FlowPlan {
                    name: name.clone(),
                    path,
                    back,
                    back_delay: user.back_delay,
                    start: user.start,
                    app: app.clone(),
                    transport: transport.clone(),
                    tcp: tcp.as_ref().clone(),
                    dscp: user.dscp,
                    scone: *scone,
                }),
                Load::Traffic { source, group, delays } => {
                    traffic.push(TrafficPlan {
                        name: name.clone(),
                        path,
                        start: user.start,
                        group: group.clone(),
                        source: source.clone(),
                        delays: *delays,
                    });
                }
            }
        }
    }
    (flows, traffic)
}
