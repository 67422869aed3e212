//! Golden tables of drawn networks.

use super::stretches::{any_multiplexer, dense_entries};
use super::*;
use crate::golden::{Digest, compare, drawn};

fn line(plan: &Plan, entries: &[(u64, usize, u32)]) -> String {
    let story = tell(plan, entries, None);
    let mut digest = Digest::new();
    digest.add(&story);
    // What an engine asks between two steps.
    let mut network = Network::new(plan, 1);
    let mut at = Time::ZERO;
    for (handle, (gap, route, bytes)) in (0..).zip(entries.iter().take(20)) {
        at = at.saturating_add(Span::from_picos(*gap));
        while network.step(at).is_some() {}
        digest.add(&(network.next_wakeup(), network.next_delivery()));
        let route = route % (plan.flows.len() * 2);
        network.enter(at, route, &mut Unit::new(*bytes, handle, HeldBy::Application));
    }
    let last = story.delivered.last().map_or(0, |(at, ..)| at.picos());
    format!(
        "gates {}, flows {}, entered {:3}, delivered {:3}, dropped {:3}, last at {last:12} ps, digest {digest}",
        plan.gates.len(),
        plan.flows.len(),
        entries.len(),
        story.delivered.len(),
        story.dropped.len(),
    )
}

fn table(cases: &[(Plan, Vec<(u64, usize, u32)>)]) -> Vec<String> {
    cases.iter().map(|(plan, entries)| line(plan, entries)).collect()
}

#[test]
fn golden_networks_of_packets() {
    compare("networks", &table(&drawn((any_network(), entries()), 150)));
}

#[test]
fn golden_networks_of_cells() {
    compare("cell-networks", &table(&drawn((any_cell_network(), entries()), 150)));
}

#[test]
fn golden_multiplexers() {
    compare("multiplexers", &table(&drawn((any_multiplexer(), dense_entries()), 100)));
}
