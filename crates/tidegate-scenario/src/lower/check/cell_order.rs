//! Cells of a section must not go in a circle.

use std::collections::{BTreeMap, VecDeque};

use tidegate_core::graph::knot;
use tidegate_core::plan::GatePlan;

use crate::check::Item;
use crate::lower::draft::{Hop, User};
use crate::lower::notes::Notes;
use crate::lower::place::wiring::{self, Wiring};

/// Cells are worked through from upstream to downstream: gates that cells pass one after the
/// other must not lie on a circle, whatever way it is closed.
pub(crate) fn check(gates: &[GatePlan], users: &[User<'_>], wiring: &Wiring, notes: &mut Notes) {
    let mut edges: BTreeMap<(usize, usize), &Item> = BTreeMap::new();
    for (number, user) in users.iter().enumerate() {
        for copy in 0..user.instances.len() {
            for hops in [&user.path, &user.back] {
                let at = |hop: &Hop<'_>| wiring::server(wiring, number, copy, hop);
                for pair in hops.windows(2) {
                    if let (Some(from), Some(to)) = (at(&pair[0]), at(&pair[1])) {
                        edges.entry((from, to)).or_insert(pair[1].item);
                    }
                }
            }
        }
    }
    let mut after: Vec<Vec<usize>> = vec![vec![]; gates.len()];
    edges.keys().for_each(|(from, to)| after[*from].push(*to));
    let knot = knot(&after);
    let is_cell = |gate: usize| gates[gate].is_cell_gate();
    for ((from, to), item) in &edges {
        if !is_cell(*from) || !is_cell(*to) || !knot[*from] || !knot[*to] {
            continue;
        }
        if let Some(way) = way(&after, *to, *from) {
            let names: Vec<&str> =
                [*from].iter().chain(&way).map(|gate| gates[*gate].name.as_str()).collect();
            let problem = format!("the paths of these cell gates form a circle: {}", names.join(" → "));
            let help = "give the other direction gates of its own, or set duplex = true on these";
            notes.wrong(item, problem, help);
            return;
        }
    }
}

/// The shortest way between two gates, both included.
fn way(after: &[Vec<usize>], from: usize, to: usize) -> Option<Vec<usize>> {
    let mut came_from: Vec<Option<usize>> = vec![None; after.len()];
    let mut open = VecDeque::from([from]);
    while let Some(gate) = open.pop_front() {
        if gate == to {
            let mut way = vec![to];
            while let Some(before) = came_from[way[way.len() - 1]].filter(|_| way[way.len() - 1] != from) {
                way.push(before);
            }
            way.reverse();
            return Some(way);
        }
        for next in &after[gate] {
            if came_from[*next].is_none() && *next != from {
                came_from[*next] = Some(gate);
                open.push_back(*next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_is_found() {
        let after = vec![vec![1], vec![2], vec![3], vec![1, 4], vec![]];
        assert_eq!(way(&after, 2, 1), Some(vec![2, 3, 1]));
        assert_eq!(way(&after, 4, 1), None);
    }
}
