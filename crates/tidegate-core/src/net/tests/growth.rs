//! How the work grows with the size of a network, counted and not timed: what is looked at one after the other
//! ([`crate::work::looks`]). Ten times as many flows, sources or circuits may need a little more for each (a tree is higher),
//! never ten times as much.

use super::*;
use crate::work::{take_looks, take_steps};

/// What may be looked at for each unit, timer or flow of a large network, beside that of a small one.
const MOST: f64 = 2.0;

const SMALL: usize = 100;
const LARGE: usize = 1000;

fn link(mbps: u64, millis: u64) -> GatePlan {
    let mut gate = GatePlan::open("");
    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(mbps * 1_000_000)));
    gate.queue.limit = QueueLimit::Packets(100_000);
    gate.queue.counts = QueueCounts::Waiting;
    gate.delay = Span::from_millis(millis);
    gate
}

/// Flows through lines of their own, each of two gates in series, and one link that they share, there and back.
fn dumbbell(flows: usize) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_secs(1));
    plan.gates = vec![link(flows as u64, 1), link(flows as u64, 1)];
    for number in 0..flows {
        let first = plan.gates.len();
        (0..6).for_each(|_| plan.gates.push(link(100, 3)));
        let [path, back] = [0, 1].map(|way| {
            let own = first + 3 * way;
            vec![own, own + 1, way, own + 2]
        });
        plan.flows.push(flow(format!("f.{number}"), path, back, Span::ZERO, false));
    }
    plan
}

/// Sends three units of every flow at once, rings a timer of every flow on ticks of one clock, moves some of these to an
/// earlier tick, and asks what became of all. How much was looked at, for each event.
fn looked_at(flows: usize) -> f64 {
    let plan = dumbbell(flows);
    take_looks();
    let mut network = Network::new(&plan, flows);
    for route in 0..2 * flows {
        network.deliver_ahead(route);
    }
    assert!(network.alternate(|_| Direction::Back));
    let tick = |number: u64| Time::ZERO + Span::from_millis(10 * number);
    for round in 0..3 {
        for number in 0..flows {
            let at = tick(round);
            network.handle_unit(at, 2 * number, &mut Unit::new(1500, 0, HeldBy::Application));
            network.set_alarm(number, tick(round + 2));
            if number % 3 == 0 {
                network.set_alarm(number, tick(round + 1));
            }
        }
        while network.poll_step(tick(round + 1)).is_some() {
            std::hint::black_box(network.next_wakeup());
        }
    }
    while network.poll_step(plan.duration).is_some() {}
    network.finish();
    for number in 0..flows {
        let owner = Owner::Data(number);
        std::hint::black_box((network.tagged_of(owner), network.drops_of(owner)));
    }
    take_looks() as f64 / network.events_handled() as f64
}

#[test]
fn many_flows_need_no_more_for_each() {
    let (small, large) = (looked_at(SMALL), looked_at(LARGE));
    assert!(large <= MOST * small, "{small:.1} for an event with {SMALL} flows, {large:.1} with {LARGE}");
}

/// Steps and looks for each packet at a multiplexer of so many circuits; the number of packets is fixed.
fn worked_for_cells(circuits: usize, slotted: bool) -> f64 {
    let cell_gate = |mbps: u64| {
        let mut gate = link(mbps, 0);
        gate.framing = Framing::Aal5 { llc: false };
        gate.queue.limit = QueueLimit::Unlimited;
        gate
    };
    let mut plan = Plan::empty(Time::ZERO + Span::from_secs(10));
    plan.gates = vec![cell_gate(600)];
    plan.gates[0].cells.slotted = slotted;
    for number in 0..circuits {
        plan.gates.push(cell_gate(150));
        plan.flows.push(flow(
            format!("f.{number}"),
            vec![number + 1, 0],
            vec![],
            Span::from_millis(1),
            false,
        ));
    }
    let packets = 4000;
    take_looks();
    take_steps();
    let mut network = Network::new(&plan, 0);
    for number in 0..packets {
        let at = Time::ZERO + Span::from_micros(30 * number as u64);
        while network.poll_step(at).is_some() {}
        let route = 2 * (number * 7 % circuits);
        network.handle_unit(at, route, &mut Unit::new(1000, 0, HeldBy::Application));
    }
    while network.poll_step(plan.duration).is_some() {}
    network.finish();
    for gate in 0..plan.gates.len() {
        assert!(network.cell_counts(gate).is_some());
    }
    (take_looks() + take_steps()) as f64 / f64::from(packets as u32)
}

#[test]
fn many_circuits_need_no_more_for_each_cell() {
    for slotted in [false, true] {
        // With fewer circuits many slots are gone through at once, which is another way.
        let (small, large) = (worked_for_cells(200, slotted), worked_for_cells(1600, slotted));
        assert!(large <= MOST * small, "{small:.1} for a packet with 200 circuits, {large:.1} with 1600");
    }
}
