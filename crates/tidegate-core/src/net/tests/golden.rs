//! Golden tables of drawn networks.

use super::slot_blocks::{any_multiplexer, dense_entries};
use super::*;
use crate::golden::{Digest, compare, drawn};
use crate::work::take_steps;

type Case = (Plan, Vec<(u64, usize, u32)>);

fn line((plan, entries): &Case) -> String {
    take_steps();
    let outcome = outcome_of(plan, entries, None);
    let steps = take_steps();
    let mut digest = Digest::new();
    digest.add(&outcome);
    // What an engine asks between two steps, and what the gates could have carried.
    let mut network = Network::new(plan, 1);
    let mut now = Time::ZERO;
    for (handle, (gap, route, bytes)) in (0..).zip(entries) {
        now = now.saturating_add(Span::from_picos(*gap));
        while network.poll_step(now.min(plan.duration)).is_some() {}
        if now >= plan.duration {
            break;
        }
        digest.add(&(network.next_wakeup(), network.next_delivery()));
        let number = route % (plan.flows.len() * 2);
        network.handle_unit(now, number, &mut Unit::new(*bytes, handle, HeldBy::Application));
    }
    while network.poll_step(plan.duration).is_some() {}
    network.finish();
    let inside = measured(plan);
    for (gate, of) in network.gates().iter().zip(&plan.gates) {
        digest.add(&(gate.is_closed(), gate.open_inside()));
        digest.add(&gate.capacity(of, seed(plan), inside));
    }
    let last = outcome.delivered.last().map_or(0, |(at, ..)| at.picos());
    format!(
        "gates {}, flows {}, entered {:3}, delivered {:3}, dropped {:3}, last at {last:12} ps, digest {digest}, steps {steps}",
        plan.gates.len(),
        plan.flows.len(),
        entries.len(),
        outcome.delivered.len(),
        outcome.dropped.len(),
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

/// Plain gates that all flows pass in the same order, and more units than one gate after the other would see idle.
fn any_chain() -> impl Strategy<Value = Case> {
    let gate =
        (prop::option::of(1u64..40), 0u64..4, prop::option::of(0u64..20)).prop_map(|(mbps, delay, limit)| {
            let mut gate = GatePlan::open("");
            gate.rate = mbps.map_or(RatePlan::Unlimited, |mbps| {
                RatePlan::Constant(Speed::Bits(Rate::from_bps(mbps * 1_000_000)))
            });
            gate.delay = Span::from_millis(delay);
            gate.queue.limit = limit.map_or(QueueLimit::Unlimited, QueueLimit::Packets);
            gate.queue.counts = QueueCounts::Waiting;
            gate
        });
    let gap = prop_oneof![0u64..400_000_000, 0u64..4_000_000_000];
    let bytes = prop_oneof![4 => Just(1500u32), 1 => 40u32..1500];
    let entries = prop::collection::vec((gap, 0usize..6, bytes), 20..200);
    (prop::collection::vec(gate, 2..6), 1usize..4, 0u64..30, entries).prop_map(
        |(gates, flows, delay, sent)| {
            let path: Vec<usize> = (0..gates.len()).collect();
            let flows = (0..flows).map(|_| (path.clone(), vec![], delay, false)).collect();
            (network(gates, flows, vec![], false), sent)
        },
    )
}

#[test]
fn golden_chains() {
    compare("chains", &table(&drawn(any_chain(), 150)));
}
