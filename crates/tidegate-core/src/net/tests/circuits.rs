//! Circuits in networks: drawn at random, and by hand.

use proptest::prelude::*;

use super::*;
use crate::plan::{
    ArrivalPlan, Blocked, CallsPlan, Demand, PolicePlan, PoolOrder, ReservationPlan, ReservePlan,
    groups_of_circuits,
};

/// A circuit; [`reserved`] gives it its reservation.
pub(super) fn any_circuit() -> impl Strategy<Value = GatePlan> {
    (crate::gate::tests::any_gate(), 1u64..10, any::<[bool; 2]>()).prop_map(|(gate, mbps, [cells, llc])| {
        let circuit = ReservePlan { reservation: 0, rate: Rate::from_bps(mbps * 1_000_000) };
        let framing = if cells { Framing::CellPackets { llc } } else { gate.framing };
        GatePlan { rate: RatePlan::Reserve(circuit), on_change: OnChange::Keep, framing, ..gate }
    })
}

/// Gap or idle time, holding time, rate (ms, ms, Mbit/s), what becomes of a blocked call, patience
/// (ms), and how many users, if they are counted.
type SourceDraft = (u64, u64, u64, Blocked, Option<u64>, Option<u32>);

/// What calls are like, drawn before anybody knows which there are.
#[derive(Clone, Debug)]
pub(super) struct CallsDraft {
    manners: Vec<(Blocked, u64, Option<u64>)>,
    orders: [bool; 2],
    spare: [u64; 2],
    sources: Vec<SourceDraft>,
}

pub(super) fn any_calls() -> impl Strategy<Value = CallsDraft> {
    let blocked = || {
        prop_oneof![
            3 => Just(Blocked::Wait),
            1 => Just(Blocked::Refuse),
            1 => (1u64..20).prop_map(|ms| Blocked::Retry(Span::from_millis(ms))),
        ]
    };
    // Whole milliseconds, so that much happens at one instant.
    let hold = prop_oneof![1 => Just(None), 2 => Just(Some(0)), 3 => (0u64..20).prop_map(Some)];
    let manners = prop::collection::vec((blocked(), 0u64..4, hold), 1..4);
    let sources =
        (1u64..20, 0u64..30, 1u64..6, blocked(), prop::option::of(0u64..20), prop::option::of(1u32..6));
    let sources = prop::collection::vec(sources, 0..3);
    let spare = [0u64..20, 0u64..20];
    (manners, any::<[bool; 2]>(), spare, sources).prop_map(|(manners, orders, spare, sources)| CallsDraft {
        manners,
        orders,
        spare,
        sources,
    })
}

/// Gives the circuits of a plan their calls. Two more pools: every circuit takes from one,
/// every third from both; each pool has room for the largest call at least.
pub(super) fn reserved(mut plan: Plan, draft: CallsDraft) -> Plan {
    let flows = plan.flows.iter().map(|flow| [flow.path.clone(), flow.back.clone()].concat());
    let together: Vec<Vec<usize>> =
        flows.chain(plan.traffic.iter().map(|traffic| traffic.path.clone())).collect();
    let exponential = |ms| HoldingPlan::Exponential(Span::from_millis(ms));
    let constant = |ms| HoldingPlan::Constant(Span::from_millis(ms));
    let first = plan.pools.len();
    let mut most = [0; 2];
    for (number, gates) in groups_of_circuits(&plan.gates, &together).into_iter().enumerate() {
        let mut sums = [0; 2];
        for gate in &gates {
            let RatePlan::Reserve(circuit) = &mut plan.gates[*gate].rate else { continue };
            circuit.reservation = number;
            sums[gate % 2] += circuit.rate.bps();
            sums[(gate + 1) % 2] += if gate % 3 == 0 { circuit.rate.bps() } else { 0 };
        }
        let (blocked, setup, hold) = draft.manners[number % draft.manners.len()];
        let demand = |(pool, bps): (usize, u64)| Demand { pool: first + pool, rate: Rate::from_bps(bps) };
        plan.reservations.push(ReservationPlan {
            name: plan.gates[gates[0]].name.clone(),
            demands: (0..).zip(sums).filter(|(_, bps)| *bps > 0).map(demand).collect(),
            setup: Span::from_millis(setup),
            hold: hold.map(Span::from_millis),
            blocked,
        });
        (0..2).for_each(|pool| most[pool] = most[pool].max(sums[pool]));
    }
    for (number, (gap, hold, mbps, blocked, patience, users)) in draft.sources.into_iter().enumerate() {
        let pool = number % 2;
        most[pool] = most[pool].max(mbps * 1_000_000);
        plan.calls.push(CallsPlan {
            name: format!("calls{number}"),
            start: Time::ZERO,
            arrivals: match users {
                None => ArrivalPlan::Every(exponential(gap)),
                Some(count) => ArrivalPlan::Sources { count, idle: exponential(gap) },
            },
            hold: HoldingPlan::Constant(Span::from_millis(hold)),
            demands: vec![Demand { pool: first + pool, rate: Rate::from_bps(mbps * 1_000_000) }],
            setup: Span::from_millis(number as u64),
            blocked,
            // Constant for the first source, so that patience ends at whole milliseconds as well.
            patience: patience.map(|ms| if number == 0 { constant(ms) } else { exponential(ms) }),
        });
    }
    for (number, ((least, spare), asked)) in most.iter().zip(draft.spare).zip(draft.orders).enumerate() {
        plan.pools.push(PoolPlan {
            name: format!("pool{number}"),
            capacity: Rate::from_bps(least + spare * 1_000_000),
            order: if asked { PoolOrder::Asked } else { PoolOrder::FirstFit },
        });
    }
    plan
}

/// What can be seen of the calls.
pub(super) fn told(plan: &Plan, network: &Network) -> Vec<String> {
    let pools = (0..plan.pools.len()).map(|pool| format!("{:?}", network.pool_use(pool)));
    let gates = plan.gates.iter().zip(network.gates());
    let circuits =
        gates.map(|(row, gate)| format!("{:?} {:?}", gate.open_inside(), network.circuit_calls(&row.rate)));
    let sources = network.source_calls().map(|counts| format!("{counts:?}"));
    pools.chain(circuits).chain(sources).collect()
}

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
                let told =
                    network.handle_unit(at, flow * 2, &mut Unit::new(1000, handle, HeldBy::Application));
                assert_eq!(told, None);
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
    plan.gates[0].police = Some(PolicePlan { peak, sustained: None, tags: false });
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
    // For ever: the other never gets its turn, and its packet is still there at the end.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whatever happens in whatever network: open circuits never have more of a pool than there
    /// is, and once all is quiet everything has been given back.
    #[test]
    fn circuits_never_over_commit_a_pool_and_return_everything(plan in any_network(), entries in entries()) {
        let plan = Plan { duration: Time::ZERO + Span::from_secs(10_000), traffic: vec![], ..plan };
        let mut plan = Plan { record: crate::plan::RecordPlan::default(), signals: vec![], ..plan };
        for row in &mut plan.reservations {
            row.hold = row.hold.or(Some(Span::from_millis(1)));
        }
        plan.calls.clear();
        for gate in &mut plan.gates {
            if let RatePlan::Dtm(dtm) = &mut gate.rate {
                dtm.measure = Span::from_secs(1);
            }
        }
        let check = |driven: &Network| {
            let mut open: Vec<usize> = vec![];
            for (gate, row) in driven.gates().iter().zip(&plan.gates) {
                if let (RatePlan::Reserve(circuit), false) = (&row.rate, gate.is_closed()) {
                    open.push(circuit.reservation);
                }
            }
            open.sort_unstable();
            open.dedup();
            let demands = || open.iter().flat_map(|reservation| &plan.reservations[*reservation].demands);
            for (number, pool) in plan.pools.iter().enumerate() {
                let used: u64 = demands().filter(|demand| demand.pool == number).map(|demand| demand.rate.bps()).sum();
                assert!(used <= driven.reserved(number).bps(), "what is open has been granted");
                assert!(driven.reserved(number) <= pool.capacity);
            }
        };
        let mut network = Network::new(&plan, 1);
        let mut at = Time::ZERO;
        // Units that are still in the network.
        let mut inside = 0;
        for (handle, (gap, route, bytes)) in (0..).zip(entries) {
            at = at.saturating_add(Span::from_picos(gap));
            while network.poll_step(at).is_some() {
                inside -= 1;
                check(&network);
            }
            let route = route % (plan.flows.len() * 2);
            let told = network.handle_unit(at, route, &mut Unit::new(bytes, handle, HeldBy::Application));
            inside += i32::from(told.is_none());
            match handle % 3 {
                0 => network.handle_transfer_begin(at, route / 2),
                1 => network.handle_transfer_end(at, route / 2),
                _ => {}
            }
            check(&network);
        }
        (0..plan.flows.len()).for_each(|flow| network.handle_transfer_end(at, flow));
        // Until all are out, and all is quiet; what waits for a rate of nothing takes the whole run.
        while inside > 0 && at < plan.duration {
            at = at.saturating_add(Span::from_secs(10)).min(plan.duration);
            while network.poll_step(at).is_some() {
                inside -= 1;
            }
        }
        while network.poll_step(at.saturating_add(Span::from_secs(100)).min(plan.duration)).is_some() {}
        for pool in 0..plan.pools.len() {
            prop_assert_eq!(network.reserved(pool), Rate::ZERO);
        }
        let is_shut = |(gate, row): (&Gate, &GatePlan)| {
            !matches!(row.rate, RatePlan::Reserve(_)) || gate.is_closed()
        };
        prop_assert!(network.gates().iter().zip(&plan.gates).all(is_shut));
    }
}

proptest! {
    /// Calls that lose patience, calls of a number of sources, calls made again: a pool is never
    /// over-committed, a source never has two calls at once, and every call has one fate.
    #[test]
    fn every_call_has_one_fate(draft in any_calls()) {
        let plan = reserved(Plan::empty(Time::ZERO + Span::from_millis(500)), draft);
        let mut network = Network::new(&plan, 1);
        for millis in 1..=500 {
            prop_assert!(network.poll_step(Time::ZERO + Span::from_millis(millis)).is_none());
            for (number, pool) in plan.pools.iter().enumerate() {
                prop_assert!(network.reserved(number) <= pool.capacity);
            }
        }
        for (number, _) in plan.pools.iter().enumerate().filter(|_| !plan.calls.is_empty()) {
            let (used, counts) = network.pool_use(number).expect("there are calls");
            let settled = counts.carried + counts.refused + counts.abandoned;
            prop_assert_eq!(counts.offered, settled + used.waiting);
            let most: u64 = plan.calls.iter().filter(|row| row.demands[0].pool == number).map(most_at_once).sum();
            prop_assert!(used.reserved_max.bps() <= most);
        }
        for (row, counts) in plan.calls.iter().zip(network.source_calls()) {
            prop_assert!(counts.abandoned == 0 || row.patience.is_some());
            prop_assert!(counts.abandoned <= counts.waited);
        }
    }
}

/// What the calls of a source can hold at once.
fn most_at_once(row: &CallsPlan) -> u64 {
    match row.arrivals {
        ArrivalPlan::Every(_) => u64::MAX / 4,
        ArrivalPlan::Sources { count, .. } => u64::from(count) * row.demands[0].rate.bps(),
    }
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
