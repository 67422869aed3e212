use proptest::prelude::*;

mod by_hand;
mod circuits;
mod drawn;
mod golden;
mod growth;
mod order;
mod outcome;
mod random_calls;
mod slot_blocks;
mod transits;

use super::*;
use crate::dtm::{Settings, Slots};
use crate::effcap::Blocks;
use crate::gate::rate::Allocated;
use crate::gate::{DropReason, GateRow};
use crate::gcra::{Interval, Limit, Release};
use crate::plan::{
    AppPlan, CellPlan, DtmPlan, Estimators, FlowPlan, FollowPlan, Framing, GatePlan, GcraPlan, HoldingPlan,
    JitterPlan, KeyFramesPlan, MediaPlan, OnChange, Plan, PoolOrder, PoolPlan, QueueCounts, QueueLimit,
    RatePlan, Reassembly, RtoPlan, RtoRestart, Share, SignalKind, SignalPlan, SizePlan, SourcePlan,
    StartPlan, SwitchPlan, TcpPlan, TrafficPlan, TransportPlan,
};
use crate::tcp::tests::plans;
use crate::unit::{Blame, HeldBy};
use crate::units::{Rate, Speed};

use drawn::*;
use outcome::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Run-ahead changes nothing: every departure, drop, count and row is the same when each
    /// arrival and each end of service is an event of its own.
    #[test]
    fn without_fast_paths_nothing_changes(
        plan in prop_oneof![any_network(), any_judged_network(), any_network_with_extras(), any_classed_network()].prop_map(followed),
        entries in entries()) {
        let ahead = outcome_of(&plan, &entries, None);
        let exact = outcome_of(&Plan { exact: true, ..plan }, &entries, None);
        prop_assert_eq!(first_difference(&ahead, &exact), None);
    }

    /// Trains give the results of cells one by one, and both those of a run with every event.
    #[test]
    fn trains_change_nothing(
        plan in prop_oneof![3 => any_cell_network(), 1 => any_classed_cell_network()].prop_map(followed),
        entries in entries(),
        every in prop::option::of(20u64..20_000),
    ) {
        let mut plan = plan;
        if let Some(every) = every {
            plan.record.level = crate::plan::RecordLevel::Every(Span::from_micros(every));
        }
        let trains = outcome_of(&plan, &entries, None);
        let one_by_one = outcome_of(&Plan { cells_one_by_one: true, ..plan.clone() }, &entries, None);
        prop_assert_eq!(first_difference(&trains, &one_by_one), None);
        let exact = outcome_of(&Plan { exact: true, ..plan }, &entries, None);
        prop_assert_eq!(first_difference(&trains, &exact), None);
    }

    /// A pump in real time wakes late, early and at odd instants; what enters carries its own
    /// time, and what leaves does so when it should have.
    #[test]
    fn waking_changes_no_departure(
        plan in prop_oneof![any_network(), any_network_with_extras(), any_cell_network()].prop_map(followed),
        entries in entries(),
        grain in 1_000_000u64..5_000_000_000,
        early in any::<bool>(),
    ) {
        let waking = Waking { grain, early };
        prop_assert_eq!(difference_when_woken(&plan, &entries, waking), None);
    }

    /// A pump in real time changes no departure where a discipline decides at departures.
    #[test]
    fn waking_changes_no_departure_where_departures_are_judged(
        plan in prop_oneof![any_judged_network(), any_classed_network(), any_classed_cell_network()].prop_map(followed),
        entries in entries(),
        grain in 1_000_000u64..5_000_000_000,
        early in any::<bool>(),
    ) {
        let waking = Waking { grain, early };
        prop_assert_eq!(difference_when_woken(&plan, &entries, waking), None);
    }

    /// The lower bound on the next delivery holds, as long as nothing enters and no rate is fed back.
    #[test]
    fn nothing_is_delivered_sooner_than_said(
        plan in prop_oneof![any_network(), any_judged_network(), any_classed_network(), any_cell_network()],
        entries in entries(),
    ) {
        let mut plan = plan;
        for gate in &mut plan.gates {
            if matches!(gate.rate, RatePlan::Dtm(_) | RatePlan::Follow(_)) {
                gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(5_000_000)));
            }
        }
        let mut network = Network::new(&plan, 0);
        let mut arrivals = entries.iter().scan(Time::ZERO, |at, (gap, route, bytes)| {
            *at = at.saturating_add(Span::from_picos(*gap));
            Some((*at, route % (plan.flows.len() * 2), *bytes))
        }).peekable();
        loop {
            let (wake, bound) = (network.next_wakeup(), network.next_delivery());
            let entering = arrivals.peek().map_or(Time::NEVER, |arrival| arrival.0);
            if wake.min(entering) >= plan.duration {
                break;
            }
            if entering < wake {
                let (at, route, bytes) = arrivals.next().expect("it was there");
                network.handle_unit(at, route, &mut Unit::new(bytes, 0, HeldBy::Application));
                continue;
            }
            while let Some(step) = network.poll_step(wake.saturating_add(Span::from_picos(1))) {
                if let Step::Deliver { at, .. } = step {
                    prop_assert!(at >= bound, "{at} is sooner than {bound}");
                }
            }
        }
    }

    /// Whatever is asked for when: the channels of a pool never have more than it, and each has
    /// its least number of slots.
    #[test]
    fn a_pool_is_never_over_committed(plan in prop_oneof![any_network(), any_judged_network()], entries in entries()) {
        let capacity = plan.pools[0].capacity.bps();
        let mut network = Network::new(&plan, 1);
        let mut at = Time::ZERO;
        for (handle, (gap, route, bytes)) in (0..).zip(entries) {
            at = at.saturating_add(Span::from_picos(gap));
            while network.poll_step(at).is_some() {}
            network.handle_unit(at, route % (plan.flows.len() * 2), &mut Unit::new(bytes, handle, HeldBy::Application));
            prop_assert!(rates_in_pool(&plan, &network) <= capacity);
            for (gate, row) in network.gates().iter().zip(&plan.gates) {
                if let RatePlan::Dtm(dtm) = &row.rate {
                    let least = dtm.settings.min * dtm.settings.slot.bps();
                    prop_assert!(gate.rate_set().is_some_and(|rate| rate.bps() >= least));
                }
            }
        }
    }

    /// Nothing is lost in silence: by the time all is quiet every packet has been delivered
    /// or dropped, once.
    #[test]
    fn every_packet_has_one_fate(
        plan in prop_oneof![any_network(), any_judged_network(), any_classed_network(), any_cell_network()],
        entries in entries(),
    ) {
        let plan = Plan { duration: Time::ZERO + Span::from_secs(10_000), traffic: vec![], ..plan };
        let mut plan = Plan { record: crate::plan::RecordPlan::default(), signals: vec![], ..plan };
        // Nobody keeps a circuit for ever that another wants.
        for row in &mut plan.reservations {
            row.hold = row.hold.or(Some(Span::from_millis(1)));
        }
        plan.calls.clear();
        // Measured seldom: the wait is long.
        for switch in &mut plan.switches {
            switch.every = Span::from_secs(1);
        }
        for gate in &mut plan.gates {
            if let RatePlan::Dtm(dtm) = &mut gate.rate {
                dtm.measure = Span::from_secs(1);
            }
            if let RatePlan::Abr(abr) = &mut gate.rate {
                abr.rm_within = Span::from_secs(1);
                abr.rates.min = 500_000.0;
            }
            // What follows nothing may stand for ever.
            if let RatePlan::Follow(follow) = &mut gate.rate {
                follow.every = Span::from_secs(1);
                follow.min = Rate::from_bps(500_000);
            }
        }
        let outcome = outcome_of(&plan, &entries, None);
        let mut fates: Vec<u32> = outcome.delivered.iter().map(|(_, _, handle, ..)| *handle).collect();
        fates.extend(outcome.dropped.iter().map(|(_, _, handle, ..)| *handle));
        fates.sort_unstable();
        let mut entered: Vec<u32> = (0..entries.len() as u32).collect();
        entered.extend(
            outcome.delivered.iter().filter(|(_, route, ..)| route % 2 == 0).map(|(_, _, handle, ..)| handle + 1_000_000),
        );
        entered.sort_unstable();
        prop_assert_eq!(fates, entered);
    }
}
