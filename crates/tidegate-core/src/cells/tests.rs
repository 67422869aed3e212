use proptest::prelude::*;

use super::*;
use crate::aal5::{CELL_BITS, CELL_PAYLOAD, cells_of, padding_of};
use crate::gate::{DropReason, Gate, GateContext, Precision};
use crate::gcra::{Interval, Limit};
use crate::plan::{CellPlan, Framing, GatePlan, PolicePlan, QueueLimit, RatePlan, Reassembly, RecordLevel};
use crate::random::Seed;
use crate::unit::{HeldBy, Unit};
use crate::units::{Measured, Rate, Span, Speed, Time};

const MEASURED: Measured = Measured { from: Time::ZERO, until: Time::from_picos(1 << 50) };

/// A cell each microsecond.
const SPEED: u64 = 424_000_000;

fn us(micros: u64) -> Time {
    Time::from_picos(micros * 1_000_000)
}

fn gate(queue: u64, cells: CellPlan) -> GatePlan {
    let mut gate = GatePlan::open("link");
    gate.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(SPEED)));
    gate.framing = Framing::Aal5 { llc: false };
    gate.queue.limit = QueueLimit::Cells(queue);
    gate.cells = cells;
    gate
}

/// A packet of so many cells.
fn packet(cells: u32, handle: u32) -> Unit {
    Unit::new(cells * CELL_PAYLOAD - 8, handle, HeldBy::Application)
}

struct Bench {
    section: Section,
    gates: Vec<Gate>,
}

impl Bench {
    /// Crossings through gates by number, one after the other.
    fn new(plans: &[GatePlan], crossings: &[&[usize]]) -> Bench {
        let seed = Seed { seed: 1, replication: 0 };
        let context = |index| GateContext {
            index,
            seed,
            measured: MEASURED,
            precision: Precision::Fine,
            record: RecordLevel::Summary,
        };
        let crossings: Vec<CrossingPlan> = crossings
            .iter()
            .map(|gates| CrossingPlan {
                gates: gates.to_vec(),
                hears_departures: false,
                ends_in_background: false,
                asks_when: false,
            })
            .collect();
        let numbers: Vec<usize> = (0..plans.len()).collect();
        let stream = |gate: usize| seed.stream(&format!("{gate}"));
        Bench {
            section: Section::new(
                &numbers,
                &crossings,
                plans,
                Options { one_by_one: false, report_losses_early: false },
                &|_| Observed::Not,
                &stream,
                MEASURED,
            ),
            gates: plans.iter().enumerate().map(|(n, plan)| Gate::new(plan, context(n))).collect(),
        }
    }

    fn enter(&mut self, at: Time, crossing: usize, unit: Unit) {
        self.section.enter(at, crossing, unit, &mut self.gates);
    }

    /// Deliveries and drops by handle: when, and why not.
    fn finish(&mut self) -> Vec<(u32, Time, Option<DropReason>)> {
        self.section.advance(Time::NEVER, &mut self.gates);
        let mut fates: Vec<_> = std::iter::from_fn(|| self.section.take_output())
            .filter_map(|output| match output {
                Output::Deliver { at, unit } => Some((unit.handle, at, None)),
                Output::Drop { at, reason, unit, .. } => Some((unit.handle, at, Some(reason))),
                Output::Counted { .. } | Output::Departed { .. } | Output::Served { .. } => None,
            })
            .collect();
        fates.sort_by_key(|(handle, ..)| *handle);
        fates
    }
}

#[test]
fn packets_become_cells() {
    // papers: 1516 bytes and the trailer fill 32 cells, 9220 193; an ACK takes one, with LLC/SNAP two.
    assert_eq!([1516, 9220, 40, 41].map(|bytes| cells_of(bytes, false)), [32, 193, 1, 2]);
    assert_eq!([1516, 1512, 40].map(|bytes| cells_of(bytes, true)), [32, 32, 2]);
    assert_eq!([1516, 9220, 40].map(|bytes| padding_of(bytes, false)), [12, 36, 0]);
}

#[test]
fn a_packet_leaves_with_its_last_cell() {
    let mut bench = Bench::new(&[gate(100, CellPlan::default())], &[&[0]]);
    bench.enter(us(5), 0, packet(3, 0));
    bench.enter(us(6), 0, packet(2, 1));
    assert_eq!(bench.finish(), [(0, us(8), None), (1, us(10), None)]);
}

/// Behind a delay there is time to tell what comes out; what leaves the sending machine is heard at once.
#[test]
fn a_section_wakes_when_there_is_something_to_tell() {
    let delay = Span::from_millis(1);
    for (host, wakes) in [(false, Time::from_picos(delay.picos() - 1)), (true, Time::from_picos(1))] {
        let plan = GatePlan { host, delay, ..gate(100, CellPlan::default()) };
        // Of two crossings: with one the cells would be gone already.
        let mut bench = Bench::new(&[plan], &[&[0], &[0]]);
        bench.enter(Time::ZERO, 0, packet(1, 0));
        assert_eq!(bench.section.next_wakeup(&bench.gates), wakes, "host: {host}");
    }
}

#[test]
fn a_lost_last_cell_takes_the_next_packet_with_it() {
    // Room for the cell in service and two: of four cells the last is lost.
    for (rule, next) in [(Reassembly::Aal5, Some(DropReason::Reassembly)), (Reassembly::Simple, None)] {
        let cells = CellPlan { reassembly: rule, ..CellPlan::default() };
        let mut bench = Bench::new(&[gate(2, cells)], &[&[0]]);
        bench.enter(us(0), 0, packet(4, 0));
        bench.enter(us(10), 0, packet(2, 1));
        bench.enter(us(20), 0, packet(2, 2));
        let fates = bench.finish();
        assert_eq!(fates[0], (0, us(0), Some(DropReason::QueueFull)));
        assert_eq!(fates[1], (1, us(12), next));
        assert_eq!(fates[2], (2, us(22), None));
    }
}

#[test]
fn a_policer_judges_cells_of_a_slot_as_they_come() {
    // One cell in two slots conforms, no matter whose. Slots are of 1 us.
    let mut link = gate(100, CellPlan { slotted: true, ..CellPlan::default() });
    let limit = Limit::new(Interval::at_rate(CELL_BITS, Rate::from_bps(SPEED / 2)).unwrap(), 0).unwrap();
    link.police = Some(PolicePlan { peak: limit, sustained: None, tags: false, per_flow: None });
    let mut entry = gate(100, CellPlan::default());
    entry.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(SPEED * 2)));
    let mut bench = Bench::new(&[entry.clone(), entry, link], &[&[0, 2], &[1, 2]]);
    // They come to the multiplexer half a microsecond later: at 0.9, 0.8, 2.9 and 6.5.
    bench.enter(Time::from_picos(300_000), 1, packet(1, 1));
    bench.enter(Time::from_picos(400_000), 0, packet(1, 0));
    bench.enter(Time::from_picos(2_400_000), 0, packet(1, 2));
    bench.enter(us(6), 1, packet(1, 3));
    let policed = Some(DropReason::Policed);
    let fates = [(0, us(1), policed), (1, us(2), None), (2, us(4), None), (3, us(8), None)];
    assert_eq!(bench.finish(), fates);
}

#[test]
fn a_lost_middle_cell_fails_one_packet() {
    // The second gate is half as fast and holds one: it loses every other cell, not the last.
    let mut slow = gate(1, CellPlan::default());
    slow.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(SPEED / 2)));
    let mut bench = Bench::new(&[gate(100, CellPlan::default()), slow], &[&[0, 1]]);
    bench.enter(us(0), 0, packet(6, 0));
    bench.enter(us(100), 0, packet(1, 1));
    let fates = bench.finish();
    // Cells come at 1 to 6 us; those of 1, 2 and 3 are taken, 4 finds one waiting, 5 room, 6 none:
    // 6 is the last, so the next packet fails as well.
    assert_eq!(fates[0], (0, us(4), Some(DropReason::QueueFull)));
    assert_eq!(fates[1], (1, us(103), Some(DropReason::Reassembly)));
    let counts = bench.section.counts(1).expect("its gate");
    assert_eq!((counts.failed, counts.reassembled), (2, 0));
    assert_eq!(bench.gates[1].counters().refused().total().packets, 2);
}

#[test]
fn partial_packet_discard_keeps_the_last_cell() {
    // After the first loss only the last cell of the packet is let in again.
    let ppd = CellPlan { ppd: true, ..CellPlan::default() };
    let mut slow = gate(1, ppd);
    slow.rate = RatePlan::Constant(Speed::Bits(Rate::from_bps(SPEED / 2)));
    let mut bench = Bench::new(&[gate(100, CellPlan::default()), slow], &[&[0, 1]]);
    bench.enter(us(0), 0, packet(7, 0));
    bench.enter(us(100), 0, packet(1, 1));
    let fates = bench.finish();
    assert_eq!(fates[0].2, Some(DropReason::QueueFull));
    // Its last cell came, so the next packet is whole.
    assert_eq!(fates[1], (1, us(103), None));
}

#[test]
fn early_packet_discard_saves_the_next_packet() {
    // A packet that finds two cells waiting is thrown away whole, its last cell too.
    let epd = CellPlan { epd: Some(2), ..CellPlan::default() };
    let mut bench = Bench::new(&[gate(100, epd)], &[&[0]]);
    bench.enter(us(0), 0, packet(4, 0));
    bench.enter(us(1), 0, packet(4, 1));
    bench.enter(us(2), 0, packet(4, 2));
    let fates = bench.finish();
    assert_eq!(fates[0], (0, us(4), None));
    assert_eq!(fates[1], (1, us(1), Some(DropReason::Discarded)));
    assert_eq!(fates[2], (2, us(6 + 2), None));
    assert_eq!(bench.section.counts(0).map(|counts| counts.wasted), Some(0));
}

/// Cells come a microsecond apart; the policer lets one in three microseconds through. Packet discard drops the rest
/// of the packet, but only what the policer has let through: it counts the fourth cell, so the fifth, the packet's last, does not
/// conform, and the next packet is lost with it. Asked the other way round, the policer would let the fifth through.
#[test]
fn the_policer_stands_before_packet_discard() {
    for slotted in [false, true] {
        let mut link = gate(100, CellPlan { ppd: true, slotted, ..CellPlan::default() });
        let increment = Interval::at_rate(CELL_BITS * 3, Rate::from_bps(SPEED)).unwrap();
        let limit = Limit::new(increment, 0).unwrap();
        link.police = Some(PolicePlan { peak: limit, sustained: None, tags: false, per_flow: None });
        let mut bench = Bench::new(&[gate(100, CellPlan::default()), link], &[&[0, 1]]);
        for (handle, (at, cells)) in (0..).zip([(0, 5), (20, 1), (30, 1)]) {
            bench.enter(us(at), 0, packet(cells, handle));
        }
        let reasons: Vec<_> = bench.finish().iter().map(|(.., reason)| *reason).collect();
        let lost = [Some(DropReason::Policed), Some(DropReason::Reassembly), None];
        assert_eq!(reasons, lost, "slotted: {slotted}");
        // Three by the policer, one by packet discard.
        assert_eq!(bench.gates[1].counters().refused().total().packets, 4);
    }
}

/// The first packet finds a queue and is thrown away, all of it. The first cell of the second is lost on the way: its
/// second cell is the first to come, and finds nobody waiting.
#[test]
fn packet_discard_forgets_with_the_last_cell() {
    let epd = CellPlan { epd: Some(2), ..CellPlan::default() };
    let plans = [gate(100, CellPlan::default()), gate(0, CellPlan::default()), gate(100, epd)];
    let mut bench = Bench::new(&plans, &[&[0, 1, 2], &[1], &[2]]);
    // A queue of six cells at the third gate when the packet comes there, at 2 us.
    bench.enter(us(0), 0, packet(3, 0));
    bench.enter(Time::from_picos(1_900_000), 2, packet(6, 1));
    // In service at the second gate, where nothing waits, when the packet comes there.
    bench.enter(us(10), 0, packet(3, 2));
    bench.enter(Time::from_picos(10_500_000), 1, packet(1, 3));
    bench.enter(us(20), 0, packet(3, 4));
    let reasons: Vec<_> = bench.finish().iter().map(|(.., reason)| *reason).collect();
    let (full, discarded) = (Some(DropReason::QueueFull), Some(DropReason::Discarded));
    assert_eq!(reasons, [discarded, None, full, None, None]);
    // Two cells of the second packet went on for nothing.
    assert_eq!(bench.section.counts(2).map(|counts| counts.wasted), Some(2));
}

proptest! {
    /// The counting multiplexer against one that keeps its cells: single cells of five crossings,
    /// which need no order inside a slot to give the same number of losses and the same waits.
    #[test]
    fn slots_against_a_queue_of_cells(gaps in prop::collection::vec(0u64..3_000_000, 1..300), limit in 0u64..5) {
        let cells = CellPlan { slotted: true, ..CellPlan::default() };
        let entry = gate(1_000_000, CellPlan::default());
        let mut plans = vec![gate(limit, cells)];
        plans.extend((0..5).map(|_| entry.clone()));
        // Upstream first is the caller's duty.
        plans.rotate_left(1);
        let crossings: Vec<Vec<usize>> = (0..5).map(|n| vec![n, 5]).collect();
        let crossings: Vec<&[usize]> = crossings.iter().map(Vec::as_slice).collect();
        let mut bench = Bench::new(&plans, &crossings);
        let mut at = 0;
        let mut free = [0u64; 5];
        let mut arrivals = vec![];
        for (n, gap) in gaps.iter().enumerate() {
            at += gap;
            bench.enter(Time::from_picos(at), n % 5, packet(1, n as u32));
            free[n % 5] = free[n % 5].max(at) + 1_000_000;
            arrivals.push(free[n % 5]);
        }
        arrivals.sort_unstable();
        // One slot after the other: departures first, then what came during the slot.
        let (mut waiting, mut lost, mut came, mut waits) = (0u64, 0u64, 0, 0u64);
        for slot in 1..1000 {
            let mut serving = waiting > 0;
            waiting -= u64::from(serving);
            while came < arrivals.len() && arrivals[came] < slot * 1_000_000 {
                came += 1;
                if !serving {
                    serving = true;
                } else if waiting < limit {
                    waiting += 1;
                    waits += waiting;
                } else {
                    lost += 1;
                }
            }
        }
        let fates = bench.finish();
        prop_assert_eq!(fates.iter().filter(|(.., reason)| reason.is_some()).count() as u64, lost);
        // A slot is a microsecond; the mean queue is the waits over the time measured.
        bench.section.finish(MEASURED.until, &mut bench.gates);
        let mean = bench.gates[5].counters().queue_mean();
        prop_assert_eq!((mean * MEASURED.until.picos() as f64 / 1e6).round() as u64, waits);
        let mut departures: Vec<Time> =
            fates.iter().filter(|(.., reason)| reason.is_none()).map(|(_, when, _)| *when).collect();
        departures.sort_unstable();
        // One cell a slot, and none twice.
        prop_assert!(departures.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(departures.iter().all(|when| when.picos() % 1_000_000 == 0));
    }
}
