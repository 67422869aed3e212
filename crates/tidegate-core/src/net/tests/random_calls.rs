//! Circuits and calls drawn at random: no pool is over-committed, and every call has one fate.

use proptest::prelude::*;

use super::*;
use crate::plan::{
    ArrivalPlan, Blocked, CallsPlan, Demand, PoolOrder, ReservationPlan, ReservePlan, groups_of_circuits,
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

/// All visible results of the calls.
pub(super) fn outcomes(plan: &Plan, network: &Network) -> Vec<String> {
    let pools = (0..plan.pools.len()).map(|pool| format!("{:?}", network.pool_use(pool)));
    let gates = plan.gates.iter().zip(network.gates());
    let circuits =
        gates.map(|(row, gate)| format!("{:?} {:?}", gate.open_inside(), network.circuit_calls(&row.rate)));
    let sources = network.source_calls().map(|counts| format!("{counts:?}"));
    pools.chain(circuits).chain(sources).collect()
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
            let certain = network.handle_unit(at, route, &mut Unit::new(bytes, handle, HeldBy::Application));
            inside += i32::from(certain.is_none());
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
