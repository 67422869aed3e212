//! Golden tables of drawn networks.

use super::stretches::{any_multiplexer, dense_entries};
use super::*;
use crate::golden::{Digest, compare, drawn};
use crate::work::take_steps;

type Case = (Plan, Vec<(u64, usize, u32)>);

fn line((plan, entries): &Case) -> String {
    take_steps();
    let story = tell(plan, entries, None);
    let steps = take_steps();
    let mut digest = Digest::new();
    digest.add(&story);
    // What an engine asks between two steps, and what the gates could have carried.
    let mut network = Network::new(plan, 1);
    let mut now = Time::ZERO;
    for (handle, (gap, route, bytes)) in (0..).zip(entries) {
        now = now.saturating_add(Span::from_picos(*gap));
        while network.step(now.min(plan.duration)).is_some() {}
        if now >= plan.duration {
            break;
        }
        digest.add(&(network.next_wakeup(), network.next_delivery()));
        let number = route % (plan.flows.len() * 2);
        network.enter(now, number, &mut Unit::new(*bytes, handle, HeldBy::Application));
    }
    while network.step(plan.duration).is_some() {}
    network.finish();
    let inside = measured(plan);
    for (gate, of) in network.gates().iter().zip(&plan.gates) {
        digest.add(&gate.capacity(of, seed(plan), inside));
    }
    let last = story.delivered.last().map_or(0, |(at, ..)| at.picos());
    format!(
        "gates {}, flows {}, entered {:3}, delivered {:3}, dropped {:3}, last at {last:12} ps, digest {digest}, steps {steps}",
        plan.gates.len(),
        plan.flows.len(),
        entries.len(),
        story.delivered.len(),
        story.dropped.len(),
    )
}

fn table(cases: &[Case]) -> Vec<String> {
    cases.iter().map(line).collect()
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
