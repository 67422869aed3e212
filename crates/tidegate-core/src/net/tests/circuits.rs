//! Circuits and calls, computed by hand.

use super::*;
use crate::plan::{
    ArrivalPlan, Blocked, CallsPlan, Demand, PolicePlan, PoolOrder, ReservationPlan, ReservePlan,
};

const MS: u64 = 1_000_000_000;

/// So many circuits of 1 Mbit/s, one flow over each; packets of 1000 bytes take 8 ms. `pool` in
/// Mbit/s.
fn circuits(count: usize, pool: u64, call: &ReservationPlan) -> Plan {
    let mut plan = Plan::empty(Time::ZERO + Span::from_millis(200));
    let capacity = Rate::from_bps(pool * 1_000_000);
    plan.pools = vec![PoolPlan { name: "pool".to_owned(), capacity, order: PoolOrder::Asked }];
    for reservation in 0..count {
        let mut gate = GatePlan::open(&format!("circuit{reservation}"));
        gate.rate = RatePlan::Reserve(ReservePlan { reservation, rate: Rate::from_bps(1_000_000) });
        plan.gates.push(gate);
        plan.flows.push(flow(format!("flow{reservation}"), vec![reservation], vec![], Span::ZERO, false));
        plan.reservations.push(call.clone());
    }
    plan
}

fn call(setup: u64, hold: Option<u64>, blocked: Blocked) -> ReservationPlan {
    ReservationPlan {
        name: String::new(),
        demands: vec![Demand { pool: 0, rate: Rate::from_bps(1_000_000) }],
        setup: Span::from_millis(setup),
        hold: hold.map(Span::from_millis),
        blocked,
    }
}

/// What the application or a packet does: (ms, flow, what).
#[derive(Clone, Copy)]
enum Act {
    Begin,
    End,
    Packet,
}

/// When (ms) something happened to which flow.
type Seen = Vec<(u64, usize)>;

/// Deliveries and drops, and the network at the end.
fn act(plan: &Plan, acts: &[(u64, usize, Act)]) -> (Seen, Seen, Network) {
    let (mut delivered, mut dropped) = (vec![], vec![]);
    let mut drain = |driven: &mut Network, until: Time| {
        while let Some(step) = driven.poll_step(until) {
            match step {
                Step::Deliver { at, route, .. } => delivered.push((at.picos() / MS, route / 2)),
                Step::Drop(Dropped { at, owner: Owner::Data(flow), reason, .. }) => {
                    assert_eq!(reason, DropReason::Refused);
                    dropped.push((at.picos() / MS, flow));
                }
                other => panic!("{other:?}"),
            }
        }
    };
    let mut network = Network::new(plan, 1);
    for (handle, (millis, flow, act)) in (0..).zip(acts) {
        let at = Time::from_picos(millis * MS);
        drain(&mut network, at);
        match act {
            Act::Begin => network.handle_transfer_begin(at, *flow),
            Act::End => network.handle_transfer_end(at, *flow),
            Act::Packet => {
                let certain =
                    network.handle_unit(at, flow * 2, &mut Unit::new(1000, handle, HeldBy::Application));
                assert_eq!(certain, None);
            }
        }
    }
    drain(&mut network, plan.duration);
    network.finish();
    (delivered, dropped, network)
}

fn open_ms(network: &Network, gate: usize) -> u64 {
    network.gates()[gate].open_inside().expect("it is a circuit") / MS
}

/// By hand. The first packet asks at 1 ms, the circuit is up at 3 ms; two packets end at 11 and
/// 19 ms. It is held for 5 ms, but a third packet comes at 22 ms: out at 30 ms, given back at
/// 35 ms. The fourth, at 40 ms, asks again.
#[test]
fn a_circuit_is_asked_for_set_up_held_and_given_back() {
    let plan = circuits(1, 1, &call(2, Some(5), Blocked::Wait));
    let acts = [1, 2, 22, 40].map(|at| (at, 0, Act::Packet));
    let (delivered, dropped, network) = act(&plan, &acts);
    assert_eq!(delivered, [(11, 0), (19, 0), (30, 0), (50, 0)]);
    assert_eq!(dropped, []);
    // Open from 3 to 35 and from 42 to 55 ms; capacity is held two milliseconds longer each time.
    assert_eq!(open_ms(&network, 0), 32 + 13);
    let (used, counts) = network.pool_use(0).expect("there are calls");
    assert!((used.reserved_mean_bps - 49.0 / 200.0 * 1e6).abs() < 1e-6);
    assert_eq!((counts.offered, counts.carried, counts.waited), (2, 2, 0));
}

/// A packet larger than the policer's burst never conforms: it is dropped, and no call is made for it.
#[test]
fn what_a_policer_drops_asks_for_no_circuit() {
    let mut plan = circuits(1, 1, &call(0, Some(0), Blocked::Wait));
    let increment = Interval::at_rate(8, Rate::from_bps(1_000_000)).expect("a rate");
    let peak = Limit::tokens(increment, 999).expect("a burst");
    plan.gates[0].police = Some(PolicePlan { peak, sustained: None, tags: false, per_flow: None });
    let mut network = Network::new(&plan, 1);
    for (at, bytes, calls) in [(Time::ZERO, 1000, 0), (Time::from_picos(MS), 999, 1)] {
        network.handle_unit(at, 0, &mut Unit::new(bytes, bytes, HeldBy::Application));
        let counts = network.circuit_calls(&plan.gates[0].rate).expect("it is a circuit");
        assert_eq!(counts.offered, calls);
    }
    assert_eq!(network.poll_drop().map(|drop| drop.reason), Some(DropReason::Policed));
    assert_eq!(network.poll_drop(), None);
}

/// By hand. Room for one; with no holding time. The first flow's transfer goes on to 30 ms, though
/// its packet is out at 8 ms: the other flow, which asked at 2 ms, is served from 30 ms on.
#[test]
fn a_transfer_keeps_its_circuit_and_others_wait() {
    let plan = circuits(2, 1, &call(0, Some(0), Blocked::Wait));
    let acts = [(0, 0, Act::Begin), (0, 0, Act::Packet), (2, 1, Act::Packet), (30, 0, Act::End)];
    let (delivered, _, network) = act(&plan, &acts);
    assert_eq!(delivered, [(8, 0), (38, 1)]);
    assert_eq!([open_ms(&network, 0), open_ms(&network, 1)], [30, 8]);
    let counts = network.circuit_calls(&plan.gates[1].rate).expect("it is a circuit");
    assert_eq!((counts.offered, counts.waited, counts.waits.mean_s()), (1, 1, Some(0.028)));
    // For ever: the other never gets its circuit, and its packet is still there at the end.
    let (delivered_first, _, kept) = act(&circuits(2, 1, &call(0, None, Blocked::Wait)), &acts);
    assert_eq!(delivered_first, [(8, 0)]);
    assert_eq!([open_ms(&kept, 0), open_ms(&kept, 1)], [200, 0]);
    assert_eq!(kept.gates()[1].counters().held().packets, 1);
}

/// By hand. A refused call costs the packet that asked; the next one asks again. With a retry
/// after 10 ms packets wait: refused at 2 and 12 ms, granted at 22 ms.
#[test]
fn a_refused_call_is_lost_or_made_again() {
    let acts = [(0, 0, Act::Begin), (0, 0, Act::Packet), (2, 1, Act::Packet), (15, 0, Act::End)];
    let counts = |blocked: Blocked, more: &[(u64, usize, Act)]| {
        let plan = circuits(2, 1, &call(0, Some(0), blocked));
        let (delivered, dropped, network) = act(&plan, &[&acts[..], more].concat());
        let counts = network.circuit_calls(&plan.gates[1].rate).expect("it is a circuit");
        (delivered, dropped, counts.clone())
    };
    let (delivered, dropped, lost) = counts(Blocked::Refuse, &[(20, 1, Act::Packet)]);
    assert_eq!((delivered, dropped), (vec![(8, 0), (28, 1)], vec![(2, 1)]));
    assert_eq!((lost.offered, lost.carried, lost.refused, lost.blocked()), (2, 1, 1, Some(0.5)));
    let (waited, none, again) = counts(Blocked::Retry(Span::from_millis(10)), &[]);
    assert_eq!((waited, none), (vec![(8, 0), (30, 1)], vec![]));
    assert_eq!((again.offered, again.refused, again.waits.mean_s()), (3, 2, Some(0.0)));
}

/// A packet that comes at the instant at which the circuit is given back asks anew; capacity
/// that is given back is there for a call made at that instant.
#[test]
fn what_is_given_back_can_be_had_at_once() {
    let two = circuits(2, 1, &call(0, Some(5), Blocked::Refuse));
    let acts = [(0, 0, Act::Packet), (13, 1, Act::Packet)];
    assert_eq!(act(&two, &acts).0, [(8, 0), (21, 1)]);
    // No room to wait: where capacity is there, none is needed.
    let mut plan = circuits(1, 1, &call(0, Some(0), Blocked::Wait));
    plan.gates[0].queue.limit = QueueLimit::Packets(0);
    let (delivered, _, network) = act(&plan, &[(0, 0, Act::Packet), (20, 0, Act::Packet)]);
    assert_eq!(delivered, [(8, 0), (28, 0)]);
    assert_eq!(network.pool_use(0).expect("there are calls").1.offered, 2);
}

/// Two directions are one call; two circuits in series are asked for at once.
#[test]
fn circuits_of_one_reservation_open_together() {
    let mut plan = circuits(2, 2, &call(3, Some(0), Blocked::Wait));
    plan.reservations.pop();
    plan.reservations[0].demands[0].rate = Rate::from_bps(2_000_000);
    plan.flows.pop();
    plan.flows[0].path = vec![0, 1];
    for gate in &mut plan.gates {
        gate.rate = RatePlan::Reserve(ReservePlan { reservation: 0, rate: Rate::from_bps(1_000_000) });
    }
    // Released only when both are empty: between the two gates a packet is on its way.
    plan.gates[0].delay = Span::from_millis(1);
    let (delivered, _, network) = act(&plan, &[(0, 0, Act::Begin), (0, 0, Act::Packet), (50, 0, Act::End)]);
    assert_eq!(delivered, [(3 + 8 + 1 + 8, 0)]);
    assert_eq!([open_ms(&network, 0), open_ms(&network, 1)], [47, 47]);
    let (used, counts) = network.pool_use(0).expect("there are calls");
    assert_eq!((used.reserved_max.bps(), counts.offered), (2_000_000, 1));
}

/// By hand. One line of a pool for one call at a time. Two sources, idle for 3 ms: both call at 3 ms, the
/// first is granted until 13 ms, the second loses patience at 7 ms and calls again at 10 ms; it would
/// wait until 14 ms and is granted at 13 ms. The first calls again at 16 ms and leaves at 20 ms, calls at 23 ms, when
/// the line is given back.
#[test]
fn sources_call_when_idle_and_leave_when_impatient() {
    let constant = |ms| HoldingPlan::Constant(Span::from_millis(ms));
    let mut plan = Plan::empty(Time::ZERO + Span::from_millis(24));
    let capacity = Rate::from_bps(1_000_000);
    plan.pools = vec![PoolPlan { name: "pool".to_owned(), capacity, order: PoolOrder::Asked }];
    plan.calls = vec![CallsPlan {
        name: "users".to_owned(),
        start: Time::ZERO,
        arrivals: ArrivalPlan::Sources { count: 2, idle: constant(3) },
        hold: constant(10),
        demands: vec![Demand { pool: 0, rate: capacity }],
        setup: Span::ZERO,
        blocked: Blocked::Wait,
        patience: Some(constant(4)),
    }];
    let mut network = Network::new(&plan, 1);
    assert!(network.poll_step(plan.duration).is_none());
    let counts = network.source_calls().next().expect("there is a source");
    // Made at 3, 3, 10, 16 and 23 ms.
    assert_eq!((counts.offered, counts.carried, counts.waited, counts.abandoned), (5, 3, 3, 2));
    assert_eq!(counts.waits.mean_s(), Some(0.001));
    let (used, _) = network.pool_use(0).expect("there are calls");
    assert!((used.reserved_mean_bps - 21.0 / 24.0 * 1e6).abs() < 1e-6);
}
