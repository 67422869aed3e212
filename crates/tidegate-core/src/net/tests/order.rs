//! Networks whose events once came out of order.

use std::sync::Arc;

use super::*;
use crate::plan::{ClassPlan, ClassesPlan, QueuePlan, SchedulerPlan, StrictPlan};

/// A slotted gate whose background packets go on to an ABR source, and a flow through each.
fn slotted_before_abr() -> Plan {
    let mut slotted = GatePlan::open("gate0");
    slotted.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(2_000_000)));
    slotted.framing = Framing::Aal5 { llc: false };
    slotted.delay = Span::from_millis(1);
    slotted.queue.counts = QueueCounts::Waiting;
    slotted.cells.slotted = true;
    let mut source = GatePlan::open("gate1");
    source.rate = RatePlan::Abr(crate::plan::AbrPlan {
        switch: 0,
        rates: crate::abr::Rates { peak: 9e6, min: 0.0, initial: 9e6, increase: 0.0, decrease: 0.0625 },
        cells_per_rm: 11,
        rm_within: Span::from_millis(83),
        there: Span::ZERO,
        lag: Span::from_millis(30),
    });
    source.framing = Framing::Aal5 { llc: false };
    source.delay = Span::from_millis(2);
    source.queue.counts = QueueCounts::Waiting;
    source.cells.ppd = true;
    source.cells.reassembly = Reassembly::Simple;
    let flows = vec![(vec![1], vec![], 0, false), (vec![0], vec![], 0, false)];
    let mut plan = network(vec![slotted, source], flows, vec![(vec![0, 1], 0, 3)], false);
    plan.switches = vec![SwitchPlan { gate: 0, every: Span::from_millis(4), utilisation: 0.9, binary: true }];
    followed(plan)
}

/// A cell that leaves the slotted gate for the ABR source counts for its RM cells at once: the section is woken for each
/// cell on its way there, not only for the ends of packets.
#[test]
fn a_section_is_woken_in_the_order_of_time() {
    let plan = slotted_before_abr();
    let entries: Vec<(u64, usize, u32)> = [
        (1000000000, 2, 1500),
        (2000000000, 3, 1500),
        (1471909334, 4, 1500),
        (0, 2, 1500),
        (2000000000, 8, 1500),
        (1007602224, 8, 1500),
        (113406212, 3, 1500),
        (1000000000, 6, 1500),
        (3000000000, 5, 1500),
        (427772241, 4, 1500),
        (3000000000, 2, 133),
        (304533671, 5, 581),
        (2000000000, 8, 1500),
        (189221795, 5, 1500),
        (3000000000, 0, 1500),
        (0, 3, 351),
        (3000000000, 8, 1500),
    ]
    .into();
    let on_time = outcome_of(&plan, &entries, None);
    let pumped = outcome_of(&plan, &entries, Some(Waking { grain: 4_491_383_138, early: true }));
    assert_eq!(first_difference(&on_time, &pumped), None);
}

/// A flow of one-cell packets through a shaper with classes: a cell every millisecond, half of that as tolerance, 10 us on
/// the wire. Its ACKs go through `link`, and so does the data of a second flow. One background packet of one cell, of a
/// lower class than the flow's, comes at 0.7 ms; `meets`: it takes 10 us first at a gate that a third flow passes too.
fn shaper_with_classes(meets: bool) -> Plan {
    let cells =
        |rate: RatePlan| GatePlan { rate, framing: Framing::Aal5 { llc: false }, ..GatePlan::open("") };
    let wire = Rate::from_bps(42_400_000);
    let each = Interval::of(1_000_000_000).expect("it is short");
    let limit = Limit::new(each, 500_000_000).expect("it is short");
    let mut shaper = cells(RatePlan::Gcra(GcraPlan { limit, link: wire, release: Release::Tat }));
    let class = |name: &str| ClassPlan { name: name.to_owned(), queue: QueuePlan::UNLIMITED };
    let scheduler = StrictPlan { link: None, credits: vec![None; 2], open: vec![None; 2] };
    shaper.classes = Some(Arc::new(ClassesPlan {
        scheduler: SchedulerPlan::Strict(scheduler),
        classes: vec![class("flow"), class("background")],
        of_route: [0, 0, 0, 0, 0, 0, 1].into(),
        by_codepoint: None,
    }));
    let mut link = GatePlan::open("");
    link.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(1_000_000)));
    let before = cells(RatePlan::Constant(Speed::Bits(wire)));
    let flows = vec![(vec![0], vec![1], 0, false), (vec![1], vec![], 0, false), (vec![2], vec![], 0, false)];
    let path = if meets { vec![2, 0] } else { vec![0] };
    let mut plan = network(vec![shaper, link, before], flows, vec![], false);
    plan.traffic.push(TrafficPlan {
        name: "background".to_owned(),
        group: "background".to_owned(),
        path,
        start: StartPlan::At(Time::ZERO + Span::from_micros(700)),
        // One packet: the next would come after a second.
        source: SourcePlan::Constant { rate: Rate::from_bps(320), bytes: 40 },
        delays: false,
    });
    plan
}

/// By hand. Of two cells at 0 the second is early by more than the tolerance and has to wait until 1 ms. At 0.7 ms the
/// background's cell comes and the classes are asked anew: the second cell is early by 0.3 ms now, which the tolerance
/// allows, and begins. Its ACK comes to `link` before the packet that enters there at 0.8 ms. A section that is woken at
/// 1 ms only would deliver the second cell too late for that.
#[test]
fn a_cell_that_another_lets_begin_is_delivered_in_the_order_of_time() {
    let micros = 1_000_000;
    let entries = [(0, 0, 40), (0, 0, 40), (800 * micros, 2, 1500)];
    for (meets, comes) in [(false, 700), (true, 710)] {
        let plan = shaper_with_classes(meets);
        let trains = outcome_of(&plan, &entries, None);
        let of_flow = trains.delivered.iter().filter(|(_, route, ..)| *route < 2);
        let at: Vec<(u64, usize)> = of_flow.map(|(at, route, ..)| (at.picos() / micros, *route)).collect();
        // The link takes 320 us for an ACK.
        assert_eq!(at, [(10, 0), (330, 1), (comes + 10, 0), (comes + 330, 1)]);
        let one_by_one = outcome_of(&Plan { cells_one_by_one: true, ..plan.clone() }, &entries, None);
        assert_eq!(first_difference(&trains, &one_by_one), None);
        let exact = outcome_of(&Plan { exact: true, ..plan }, &entries, None);
        assert_eq!(first_difference(&trains, &exact), None);
    }
}
