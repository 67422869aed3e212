//! The sections of cell gates in a network: which gates belong together, and which section
//! each crossing runs through.

use std::collections::{BTreeMap, BTreeSet};

use crate::cells::{CrossingPlan, Observed, Options, Section};
use crate::graph;
use crate::net::settings::{measured, record_level, seed};
use crate::plan::{Plan, RecordLevel};

/// Every section.
#[derive(Debug)]
pub(super) struct Sections {
    pub(super) sections: Vec<Section>,
    /// Section of each crossing, and its number there.
    pub(super) crossings: Vec<(u32, u32)>,
    /// The gate whose event each section wakes at.
    pub(super) wakes_at: Vec<u32>,
    /// The gates of each section whose rate is set from outside.
    pub(super) fed_back: Vec<Vec<usize>>,
    /// Section of each gate.
    of_gate: Vec<Option<u32>>,
}

impl Sections {
    /// `order`: the rank of each gate, upstream first.
    pub(super) fn new(plan: &Plan, crossings: &[CrossingPlan], order: &[usize]) -> Sections {
        let groups = groups(plan.gates.len(), crossings);
        let one_by_one = plan.exact || plan.cells_one_by_one;
        let mut found = Sections {
            sections: vec![],
            crossings: vec![(0, 0); crossings.len()],
            wakes_at: vec![],
            fed_back: vec![],
            of_gate: vec![None; plan.gates.len()],
        };
        let mut members: Vec<Vec<CrossingPlan>> = vec![vec![]; groups.len()];
        for (number, group) in (0..).zip(&groups) {
            group.iter().for_each(|gate| found.of_gate[*gate] = Some(number));
        }
        for (place, crossing) in crossings.iter().enumerate() {
            let Some(number) = crossing.gates.first().and_then(|gate| found.of_gate[*gate]) else { continue };
            let of_section = &mut members[number as usize];
            found.crossings[place] = (number, of_section.len() as u32);
            of_section.push(crossing.clone());
        }
        let signalled: BTreeSet<usize> = plan.signals.iter().map(|signal| signal.gate).collect();
        let switches: BTreeSet<usize> = plan.switches.iter().map(|switch| switch.gate).collect();
        for (mut group, of_group) in groups.into_iter().zip(&members) {
            group.sort_by_key(|gate| order[*gate]);
            put_upstream_first(&mut group, of_group);
            let stream = |gate: usize| seed(plan).stream(&format!("gate.{}/slots", plan.gates[gate].name));
            found.wakes_at.push(group[0] as u32);
            let set_from_outside = |gate: &usize| !plan.gates[*gate].is_known_ahead();
            found.fed_back.push(group.iter().copied().filter(set_from_outside).collect());
            found.sections.push(Section::new(
                &group,
                of_group,
                &plan.gates,
                Options { one_by_one, report_losses_early: plan.record.level == RecordLevel::Events },
                &|gate| match record_level(plan, gate) {
                    _ if signalled.contains(&gate) => Observed::Each,
                    RecordLevel::Events => Observed::Each,
                    _ if switches.contains(&gate) => Observed::Counted,
                    RecordLevel::Every(_) => Observed::Sampled,
                    RecordLevel::Summary => Observed::Not,
                },
                &stream,
                measured(plan),
            ));
        }
        found
    }

    /// The section whose event wakes at a gate.
    pub(super) fn waking_at(&self, gate: usize) -> Option<usize> {
        let section = self.of_gate[gate]?;
        (self.wakes_at[section as usize] as usize == gate).then_some(section as usize)
    }

    /// The number of a gate's section.
    pub(super) fn section_of(&self, gate: usize) -> Option<usize> {
        self.of_gate[gate].map(|section| section as usize)
    }

    /// The section of a gate.
    pub(super) fn of_gate(&self, gate: usize) -> Option<&Section> {
        self.of_gate[gate].map(|section| &self.sections[section as usize])
    }
}

/// Orders the gates of a section by its crossings, and otherwise as they come. Where the gates of the network form a cycle, their ranks
/// need not do that: a section's own crossings form none (the scenario refuses them).
fn put_upstream_first(group: &mut [usize], crossings: &[CrossingPlan]) {
    let places: BTreeMap<usize, usize> = group.iter().copied().zip(0..).collect();
    let mut after = vec![vec![]; group.len()];
    for pair in crossings.iter().flat_map(|crossing| crossing.gates.windows(2)) {
        if let (Some(from), Some(to)) = (places.get(&pair[0]), places.get(&pair[1])) {
            after[*from].push(*to);
        }
    }
    for list in &mut after {
        list.sort_unstable();
        list.dedup();
    }
    let ranks = graph::ranks(&after);
    let before = group.to_vec();
    before.iter().zip(ranks).for_each(|(gate, rank)| group[rank] = *gate);
}

/// Gates that share a crossing, directly or through others; each group in the order of its gates, the groups in that of their
/// first ones.
fn groups(gates: usize, crossings: &[CrossingPlan]) -> Vec<Vec<usize>> {
    // The gate that stands for a gate's group, or one on the way there: never a later one.
    let mut stands: Vec<usize> = (0..gates).collect();
    let find = |of: &mut [usize], mut gate: usize| {
        while of[gate] != gate {
            crate::work::looks(1);
            of[gate] = of[of[gate]];
            gate = of[gate];
        }
        gate
    };
    let mut used = vec![false; gates];
    for crossing in crossings {
        for pair in crossing.gates.windows(2) {
            let (one, other) = (find(&mut stands, pair[0]), find(&mut stands, pair[1]));
            stands[one.max(other)] = one.min(other);
        }
        crossing.gates.iter().for_each(|gate| used[*gate] = true);
    }
    let mut found: Vec<Vec<usize>> = vec![vec![]; gates];
    for gate in (0..gates).filter(|gate| used[*gate]) {
        found[find(&mut stands, gate)].push(gate);
    }
    found.retain(|members| !members.is_empty());
    found
}
