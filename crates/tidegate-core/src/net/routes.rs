//! Who meets whom: routes as lists of hops, and the delay lines between gates.
//!
//! A gate that hears from one other gate only is run through at once. Where several inputs
//! meet, each gate before it keeps a line of the units on their way, in order of arrival,
//! and the event queue merges the lines' heads.

use std::collections::{BTreeMap, BTreeSet};

use crate::cells::CrossingPlan;
use crate::net::map::{Chain, NONE, Owner, RouteMap};
use crate::plan::{GatePlan, Plan, RatePlan, RtoPlan, RtoRestart};
use crate::units::Span;

/// Gates in series on the short way ([`crate::gate::Gate::pass_idle`]) that the same stretches use,
/// and no other.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) gates: Vec<u32>,
    /// Place of the slowest of them, the last of several.
    pub(super) slowest: usize,
}

/// All routes of a plan, and what they are made of.
#[derive(Debug)]
pub(super) struct Routes {
    pub(super) map: RouteMap,
    /// Ways through sections of cell gates.
    pub(super) crossings: Vec<CrossingPlan>,
    /// Upstream first: the rank of each gate.
    pub(super) order: Vec<usize>,
    /// Pure delay on each line: that before the end of some routes.
    pub(super) line_delays: Vec<Span>,
}

/// A line's place in the order at one instant: data before the other direction, then by the
/// gate (or the end) it leads to, then by where it comes from.
type LineKey = (bool, usize, usize);

struct Draft {
    owner: Owner,
    gates: Vec<usize>,
    extra: Span,
    notify: bool,
}

impl Routes {
    /// `exact`: every gate is driven step by step, and every edge is a line. Otherwise only
    /// gates whose rate is not known ahead are, with a line before and after each.
    pub(super) fn new(plan: &Plan, exact: bool) -> Routes {
        let drafts = drafts(plan);
        let order = topological(plan.gates.len(), &drafts);
        let meeting = meeting_places(plan.gates.len(), &drafts);
        let ends = plan.gates.len();
        let cells: Vec<bool> = plan.gates.iter().map(|gate| gate.is_cell_gate()).collect();
        let steps: Vec<bool> = plan
            .gates
            .iter()
            .zip(&cells)
            .map(|(gate, cells)| !cells && (exact || !gate.is_known_ahead()))
            .collect();
        let key = |draft: &Draft, route: usize, place: usize| -> Option<LineKey> {
            let back = matches!(draft.owner, Owner::Back(_));
            let before = place.checked_sub(1).map(|before| draft.gates[before]);
            match (draft.gates.get(place), before) {
                (Some(_), None) => None,
                (Some(&gate), Some(before)) => {
                    let line = if cells[gate] && cells[before] {
                        false
                    } else {
                        meeting[gate] || [gate, before].iter().any(|gate| steps[*gate] || cells[*gate])
                    };
                    line.then(|| (back, order[gate], order[before]))
                }
                // Units that leave one gate for their receivers do so in order.
                (None, Some(before)) if draft.extra == Span::ZERO => Some((back, ends, order[before])),
                (None, _) => Some((back, ends, ends + route)),
            }
        };
        let mut keys = BTreeSet::new();
        for (route, draft) in drafts.iter().enumerate() {
            keys.extend((0..=draft.gates.len()).filter_map(|place| key(draft, route, place)));
        }
        // A line used in both directions counts as data.
        let numbers: BTreeMap<LineKey, u32> = keys.into_iter().zip(0..).collect();
        let number = |place: LineKey| -> u32 {
            let (_, to, from) = place;
            let shared = if to < ends { numbers.get(&(false, to, from)) } else { None };
            *shared.unwrap_or_else(|| &numbers[&place])
        };
        let mut routes = Routes {
            map: RouteMap {
                chains: vec![],
                gates: vec![],
                first: vec![],
                private_entries: private_entries(&drafts, exact, &steps, &cells),
                traffic_from: plan.flows.len() as u32 * 2,
            },
            crossings: vec![],
            order: order.clone(),
            line_delays: vec![Span::ZERO; numbers.len()],
        };
        for (route, draft) in drafts.iter().enumerate() {
            routes.map.first.push(routes.map.chains.len() as u32);
            let mut chain = routes.chain(route, draft);
            for place in 0..=draft.gates.len() {
                if let Some(line) = key(draft, route, place).map(number) {
                    chain.steps = place.checked_sub(1).is_some_and(|before| steps[draft.gates[before]]);
                    if place.checked_sub(1).is_some_and(|before| cells[draft.gates[before]]) {
                        chain.crossing = routes.crossings.len() as u32;
                        routes.crossings.push(CrossingPlan {
                            gates: routes.map.gates[chain.first as usize..]
                                .iter()
                                .map(|gate| *gate as usize)
                                .collect(),
                            hears_departures: draft.notify,
                            ends_in_background: place == draft.gates.len()
                                && matches!(draft.owner, Owner::Traffic(_)),
                        });
                    }
                    routes.end_chain(&mut chain, line);
                    if place == draft.gates.len() {
                        routes.line_delays[line as usize] = draft.extra;
                    }
                }
                routes.map.gates.extend(draft.gates.get(place).map(|gate| *gate as u32));
            }
            routes.map.chains.push(chain);
        }
        for (route, first) in routes.map.first.iter().enumerate() {
            let stretch = &routes.map.chains[*first as usize];
            let goes_on = routes.map.chains.get(*first as usize + 1).is_some_and(|next| next.line != NONE);
            let takes_time =
                routes.map.gates_of(stretch).iter().any(|gate| takes_time(&plan.gates[*gate as usize]));
            routes.map.private_entries[route] &= takes_time || !goes_on;
        }
        for chain in &mut routes.map.chains {
            chain.slow = chain.notify || chain.steps || chain.crossing != NONE;
            chain.delay = routes.line_delays.get(chain.line as usize).copied().unwrap_or(Span::ZERO);
        }
        routes
    }

    /// A stretch that begins here.
    fn chain(&self, route: usize, draft: &Draft) -> Chain {
        let first = self.map.gates.len() as u32;
        Chain {
            first,
            end: first,
            line: NONE,
            route: route as u32,
            notify: draft.notify,
            steps: false,
            crossing: NONE,
            ahead: false,
            half: None,
            series: NONE,
            slow: false,
            delay: Span::ZERO,
        }
    }

    /// Finds the series at the end of stretches, and shortens these by them. `speeds`: that
    /// of every gate on the short way, 0 of the others.
    pub(super) fn take_series(&mut self, speeds: &[u64]) -> Vec<Series> {
        let lists: Vec<Vec<u32>> =
            self.map.chains.iter().map(|chain| self.map.gates_of(chain).to_vec()).collect();
        let mut users: Vec<Vec<usize>> = vec![vec![]; speeds.len()];
        for (number, list) in lists.iter().enumerate() {
            list.iter().for_each(|gate| users[*gate as usize].push(number));
        }
        // Where TCP hears departures, stretches are gone through gate by gate.
        let noted: Vec<bool> = self.map.chains.iter().map(|chain| chain.notify).collect();
        let mut found = Vec::new();
        let mut known = BTreeMap::new();
        for (chain, list) in self.map.chains.iter_mut().zip(&lists) {
            let Some(last) = list.last() else { continue };
            let users_of_last = &users[*last as usize];
            let same = |gate: &&u32| speeds[**gate as usize] > 0 && users[**gate as usize] == *users_of_last;
            let length = list.iter().rev().take_while(same).count();
            let gates = &list[list.len() - length..];
            let alike = |user: &usize| lists[*user].ends_with(gates) && !noted[*user];
            if length < 2 || !users_of_last.iter().all(alike) {
                continue;
            }
            chain.end -= length as u32;
            chain.series = *known.entry(gates).or_insert_with(|| {
                let slowest = gates.iter().map(|gate| speeds[*gate as usize]).min();
                let place = gates.iter().rposition(|gate| Some(speeds[*gate as usize]) == slowest);
                found.push(Series { gates: gates.to_vec(), slowest: place.unwrap_or(0) });
                found.len() as u32 - 1
            });
        }
        found
    }

    /// The stretch so far leads into `line`; the next one begins.
    fn end_chain(&mut self, chain: &mut Chain, line: u32) {
        let end = self.map.gates.len() as u32;
        self.map.chains.push(Chain { end, line, ..*chain });
        *chain = Chain { first: end, end, line: NONE, steps: false, crossing: NONE, ..*chain };
    }
}

fn drafts(plan: &Plan) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (index, flow) in plan.flows.iter().enumerate() {
        let notify = matches!(flow.tcp.rto, RtoPlan::Fixed { restart: RtoRestart::Departure, .. });
        drafts.push(Draft { owner: Owner::Data(index), gates: flow.path.clone(), extra: Span::ZERO, notify });
        drafts.push(Draft {
            owner: Owner::Back(index),
            gates: flow.back.clone(),
            extra: flow.back_delay,
            notify: false,
        });
    }
    for (index, traffic) in plan.traffic.iter().enumerate() {
        drafts.push(Draft {
            owner: Owner::Traffic(index),
            gates: traffic.path.clone(),
            extra: Span::ZERO,
            notify: false,
        });
    }
    drafts
}

fn edges(drafts: &[Draft]) -> BTreeSet<(usize, usize)> {
    drafts.iter().flat_map(|draft| draft.gates.windows(2)).map(|pair| (pair[0], pair[1])).collect()
}

/// Whether a gate hears from more than one place, or lies on a cycle.
fn meeting_places(gates: usize, drafts: &[Draft]) -> Vec<bool> {
    let edges = edges(drafts);
    let mut inputs = vec![0; gates];
    for (_, to) in &edges {
        inputs[*to] += 1;
    }
    let entered: BTreeSet<usize> = drafts.iter().filter_map(|draft| draft.gates.first().copied()).collect();
    let cyclic = cyclic(gates, &edges);
    (0..gates).map(|gate| inputs[gate] > 1 || cyclic[gate] || entered.contains(&gate)).collect()
}

/// Whether every packet is at a gate for some time.
fn takes_time(gate: &GatePlan) -> bool {
    let limited = matches!(gate.rate, RatePlan::Constant(_) | RatePlan::Steps { .. } | RatePlan::Markov(_));
    limited || gate.delay > Span::ZERO
}

/// Whether each route's first gate hears from nobody else.
fn private_entries(drafts: &[Draft], exact: bool, steps: &[bool], cells: &[bool]) -> Vec<bool> {
    let mut inputs = vec![0usize; steps.len()];
    for draft in drafts {
        draft.gates.first().into_iter().for_each(|gate| inputs[*gate] += 1);
    }
    for (_, to) in edges(drafts) {
        inputs[to] += 1;
    }
    let alone = |gate: usize| inputs[gate] == 1 && !steps[gate] && !cells[gate];
    let private = |draft: &Draft| draft.gates.first().is_none_or(|gate| alone(*gate));
    drafts.iter().map(|draft| !exact && private(draft)).collect()
}

/// Gates left over when those without inputs, then those without outputs are taken away.
fn cyclic(gates: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<bool> {
    let mut left = vec![true; gates];
    loop {
        let alive = |edge: &&(usize, usize)| left[edge.0] && left[edge.1];
        let mut has_input = vec![false; gates];
        let mut has_output = vec![false; gates];
        for (from, to) in edges.iter().filter(alive) {
            has_output[*from] = true;
            has_input[*to] = true;
        }
        let next: Vec<bool> =
            (0..gates).map(|gate| left[gate] && has_input[gate] && has_output[gate]).collect();
        if next == left {
            return left;
        }
        left = next;
    }
}

/// The rank of each gate: before every gate it leads to, and otherwise as listed.
fn topological(gates: usize, drafts: &[Draft]) -> Vec<usize> {
    let edges = edges(drafts);
    let mut after: Vec<Vec<usize>> = vec![vec![]; gates];
    let mut inputs = vec![0usize; gates];
    for (from, to) in &edges {
        after[*from].push(*to);
        inputs[*to] += 1;
    }
    let mut ready: BTreeSet<usize> = (0..gates).filter(|gate| inputs[*gate] == 0).collect();
    let mut waiting: BTreeSet<usize> = (0..gates).filter(|gate| inputs[*gate] > 0).collect();
    let mut rank = vec![0; gates];
    for next_rank in 0..gates {
        // On a cycle any choice will do; the first listed is ours.
        let gate = ready.pop_first().or_else(|| waiting.pop_first()).expect("as many as gates");
        rank[gate] = next_rank;
        for to in &after[gate] {
            inputs[*to] = inputs[*to].saturating_sub(1);
            if inputs[*to] == 0 && waiting.remove(to) {
                ready.insert(*to);
            }
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(gates: &[usize]) -> Draft {
        Draft { owner: Owner::Data(0), gates: gates.to_vec(), extra: Span::ZERO, notify: false }
    }

    #[test]
    fn upstream_comes_first() {
        assert_eq!(topological(4, &[draft(&[3, 1]), draft(&[2, 1, 0])]), [3, 2, 0, 1]);
        assert_eq!(topological(3, &[draft(&[1, 2, 1])]), [0, 1, 2]);
    }

    #[test]
    fn only_gates_with_one_gate_before_them_are_run_through() {
        let drafts = [draft(&[0, 2, 3]), draft(&[1, 2, 3])];
        assert_eq!(meeting_places(4, &drafts), [true, true, true, false]);
        assert_eq!(meeting_places(3, &[draft(&[0, 1, 2]), draft(&[2, 1])]), [true, true, true]);
    }
}
