//! Networks whose events once came out of order.

use super::*;

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
    let on_time = tell(&plan, &entries, None);
    let pumped = tell(&plan, &entries, Some(Waking { grain: 4_491_383_138, early: true }));
    assert_eq!(first_difference(&on_time, &pumped), None);
}
