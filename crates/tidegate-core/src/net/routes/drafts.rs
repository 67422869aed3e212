//! Routes as the plan has them, and what matters of the gates on them.

use std::collections::BTreeSet;

use crate::graph;
use crate::net::map::Owner;
use crate::plan::{GatePlan, Plan, RtoPlan, RtoRestart};
use crate::units::Span;

/// A route: the gates that a unit passes.
pub(super) struct Draft {
    pub(super) owner: Owner,
    pub(super) gates: Vec<usize>,
    /// Pure delay before its end.
    pub(super) extra: Span,
    /// The owner's TCP hears of departures.
    pub(super) notify: bool,
    /// Somebody asks when units come to its end.
    pub(super) asks_when: bool,
}

/// Every route of a plan, in the order of their numbers.
pub(super) fn drafts(plan: &Plan) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (index, flow) in plan.flows.iter().enumerate() {
        let notify = matches!(flow.tcp.rto, RtoPlan::Fixed { restart: RtoRestart::Departure, .. });
        drafts.push(Draft {
            owner: Owner::Data(index),
            gates: flow.path.clone(),
            extra: Span::ZERO,
            notify,
            asks_when: false,
        });
        drafts.push(Draft {
            owner: Owner::Back(index),
            gates: flow.back.clone(),
            extra: flow.back_delay,
            notify: false,
            asks_when: false,
        });
    }
    for (index, traffic) in plan.traffic.iter().enumerate() {
        drafts.push(Draft {
            owner: Owner::Traffic(index),
            gates: traffic.path.clone(),
            extra: Span::ZERO,
            notify: false,
            asks_when: traffic.delays,
        });
    }
    drafts
}

/// What matters of each gate to the routes through it.
pub(super) struct GateKinds {
    /// It is driven step by step.
    pub(super) steps: Vec<bool>,
    /// It is a cell gate.
    pub(super) cells: Vec<bool>,
    /// It hears from more than one place, or lies on a circle.
    pub(super) meeting: Vec<bool>,
    /// Its rank, upstream first.
    pub(super) rank: Vec<usize>,
    /// From how many places it hears: gates, and routes that begin there.
    inputs: Vec<usize>,
}

impl GateKinds {
    pub(super) fn new(plan: &Plan, exact: bool, drafts: &[Draft]) -> GateKinds {
        let steps = |gate: &GatePlan| !gate.is_cell_gate() && (exact || !gate.is_known_ahead());
        let after = after(plan.gates.len(), drafts);
        let mut inputs = vec![0usize; plan.gates.len()];
        after.iter().flatten().for_each(|gate| inputs[*gate] += 1);
        let meeting = meeting_places(&after, &inputs, drafts);
        drafts.iter().filter_map(|draft| draft.gates.first()).for_each(|gate| inputs[*gate] += 1);
        GateKinds {
            steps: plan.gates.iter().map(steps).collect(),
            cells: plan.gates.iter().map(GatePlan::is_cell_gate).collect(),
            meeting,
            rank: graph::ranks(&after),
            inputs,
        }
    }

    /// Whether a route's first gate states departures at arrivals and hears from nobody else.
    pub(super) fn begins_alone(&self, draft: &Draft) -> bool {
        draft
            .gates
            .first()
            .is_none_or(|gate| self.inputs[*gate] == 1 && !self.steps[*gate] && !self.cells[*gate])
    }
}

/// The gates that each gate leads to on any route.
fn after(gates: usize, drafts: &[Draft]) -> Vec<Vec<usize>> {
    let pairs = drafts.iter().flat_map(|draft| draft.gates.windows(2));
    let edges: BTreeSet<(usize, usize)> = pairs.map(|pair| (pair[0], pair[1])).collect();
    let mut after = vec![vec![]; gates];
    edges.into_iter().for_each(|(from, to)| after[from].push(to));
    after
}

/// Whether a gate hears from more than one place, or lies on a circle. `inputs`: the gates that lead to each.
fn meeting_places(after: &[Vec<usize>], inputs: &[usize], drafts: &[Draft]) -> Vec<bool> {
    let entered: BTreeSet<usize> = drafts.iter().filter_map(|draft| draft.gates.first().copied()).collect();
    let knot = graph::knot(after);
    (0..after.len()).map(|gate| inputs[gate] > 1 || knot[gate] || entered.contains(&gate)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(gates: &[usize]) -> Draft {
        Draft {
            owner: Owner::Data(0),
            gates: gates.to_vec(),
            extra: Span::ZERO,
            notify: false,
            asks_when: false,
        }
    }

    fn meeting(gates: usize, drafts: &[Draft]) -> Vec<bool> {
        let after = after(gates, drafts);
        let mut inputs = vec![0; gates];
        after.iter().flatten().for_each(|gate| inputs[*gate] += 1);
        meeting_places(&after, &inputs, drafts)
    }

    #[test]
    fn upstream_comes_first() {
        assert_eq!(graph::ranks(&after(4, &[draft(&[3, 1]), draft(&[2, 1, 0])])), [3, 2, 0, 1]);
        assert_eq!(graph::ranks(&after(3, &[draft(&[1, 2, 1])])), [0, 1, 2]);
    }

    #[test]
    fn only_gates_with_one_gate_before_them_are_run_through() {
        assert_eq!(meeting(4, &[draft(&[0, 2, 3]), draft(&[1, 2, 3])]), [true, true, true, false]);
        assert_eq!(meeting(3, &[draft(&[0, 1, 2]), draft(&[2, 1])]), [true, true, true]);
    }
}
