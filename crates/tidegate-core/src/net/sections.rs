//! The sections of cell gates in a network: which gates belong together, and which section
//! each crossing runs through.

use crate::cells::{CrossingPlan, Options, Passing, Section};
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
        let passing = match plan {
            _ if plan.exact_events => Passing::ThroughGates,
            _ if plan.cells_one_by_one => Passing::OneByOne,
            _ => Passing::Trains,
        };
        let mut found = Sections {
            sections: vec![],
            crossings: vec![(0, 0); crossings.len()],
            wakes_at: vec![],
            fed_back: vec![],
            of_gate: vec![None; plan.gates.len()],
        };
        for mut group in groups {
            group.sort_by_key(|gate| order[*gate]);
            let number = found.sections.len() as u32;
            let mut members = Vec::new();
            for (place, crossing) in crossings.iter().enumerate() {
                if crossing.gates.iter().any(|gate| group.contains(gate)) {
                    found.crossings[place] = (number, members.len() as u32);
                    members.push(crossing.clone());
                }
            }
            let stream = |gate: usize| seed(plan).stream(&format!("gate.{}/slots", plan.gates[gate].name));
            found.wakes_at.push(group[0] as u32);
            let set_from_outside = |gate: &usize| !plan.gates[*gate].is_known_ahead();
            found.fed_back.push(group.iter().copied().filter(set_from_outside).collect());
            group.iter().for_each(|gate| found.of_gate[*gate] = Some(number));
            found.sections.push(Section::new(
                &group,
                &members,
                &plan.gates,
                Options { passing, report_losses_early: plan.record.level != RecordLevel::Summary },
                &|gate| {
                    record_level(plan, gate) != RecordLevel::Summary
                        || plan.signals.iter().any(|signal| signal.gate == gate)
                        || plan.switches.iter().any(|switch| switch.gate == gate)
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

/// Gates that share a crossing, directly or through others.
fn groups(gates: usize, crossings: &[CrossingPlan]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..gates).collect();
    loop {
        let before = group.clone();
        for crossing in crossings {
            let least = crossing.gates.iter().map(|gate| group[*gate]).min();
            crossing.gates.iter().for_each(|gate| group[*gate] = least.unwrap_or(*gate));
        }
        if group == before {
            break;
        }
    }
    let used = |gate: &usize| crossings.iter().any(|crossing| crossing.gates.contains(gate));
    let mut found: Vec<Vec<usize>> = vec![vec![]; gates];
    (0..gates).filter(used).for_each(|gate| found[group[gate]].push(gate));
    found.retain(|members| !members.is_empty());
    found
}
