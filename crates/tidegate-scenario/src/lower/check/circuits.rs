//! Circuits against the paths of the flows that pass them.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::plan::{Framing, RatePlan};

use crate::lower::draft::{Gate, Hop, User};
use crate::lower::notes::Notes;
use crate::lower::place::wiring::{Wiring, server};

/// A gate as written and whose copy of it, both directions together.
type Circuit = (usize, Option<(usize, usize)>);

/// The circuits that a flow passes, with their places in its lists of gates.
type Passed = BTreeMap<Circuit, usize>;

pub(crate) fn check(gates: &[Gate<'_>], users: &[User<'_>], wiring: &Wiring, notes: &mut Notes) {
    check_cells_beside(gates, users, notes);
    check_shared(gates, users, wiring, notes);
}

/// Flows that share a circuit must share all of theirs: a transfer that held one circuit while
/// another waits for the rest of its own could shut others out for ever.
fn check_shared(gates: &[Gate<'_>], users: &[User<'_>], wiring: &Wiring, notes: &mut Notes) {
    let mut first: BTreeMap<Circuit, (String, Passed)> = BTreeMap::new();
    for (number, user) in users.iter().enumerate() {
        for (copy, name) in user.instances.iter().enumerate() {
            let hops: Vec<&Hop<'_>> = user.path.iter().chain(&user.back).collect();
            let mut passed = Passed::new();
            for (place, hop) in hops.iter().enumerate() {
                if server(wiring, number, copy, hop).is_some()
                    && matches!(gates[hop.gate].plan.rate, RatePlan::Reserve(_))
                {
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
