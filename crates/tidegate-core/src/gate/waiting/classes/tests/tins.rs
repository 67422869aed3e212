//! CAKE's shaper and its tins.

use super::*;
use crate::plan::{CakePlan, Diffserv, LinkLayer, ShapedBytes};

const SECOND: Time = Time::from_picos(1_000_000_000_000);

fn cake(plan: CakePlan) -> ClassesQueue {
    let seed = Seed { seed: 1, replication: 0 };
    let mut queue = ClassesQueue::new(&plan.classes(), Framing::Ip, |name| seed.stream(name));
    queue.set_members((0..8).collect());
    queue
}

fn shaped(mbps: u64, diffserv: Diffserv) -> CakePlan {
    let bandwidth = Some(Rate::from_bps(mbps * 1_000_000));
    // Nothing is dropped: the delay may be long.
    let target = Some(Span::from_secs(100));
    CakePlan { bandwidth, diffserv, target, ..CakePlan::default_for(Framing::Ip) }
}

/// Bytes that each tin sends in a second at a gate of `bps`, while there always are packets of 1500 bytes in `busy` tins.
fn shares(plan: CakePlan, bps: u64, busy: &[u32]) -> Vec<u64> {
    let mut queue = cake(plan);
    let each: Vec<(Time, u32, u32)> =
        busy.iter().flat_map(|tin| std::iter::repeat_n((Time::ZERO, *tin, 1500), 4000)).collect();
    let mut bytes = vec![0; 8];
    for (at, tin, size) in &each {
        push(&mut queue, *at, *tin, *size);
    }
    send(&mut queue, bps, &[], SECOND).iter().for_each(|(_, tin, size)| bytes[*tin] += u64::from(*size));
    bytes
}

/// 10 Mbit/s with 44 bytes of overhead in cells: a packet of 1500 bytes is 33 cells of 53, 13,992 bits, and begins 1.3992 ms
/// after the one before, however fast the gate is. What is no whole picosecond is not lost either.
#[test]
fn the_shaper_counts_cells_exactly() {
    let bytes = ShapedBytes::Beyond { overhead: 44, least: 0, link: LinkLayer::Atm };
    let mut queue = cake(CakePlan { bytes, ..shaped(10, Diffserv::BestEffort) });
    (0..500).for_each(|_| push(&mut queue, Time::ZERO, 0, 1500));
    let sent = send(&mut queue, 1_000_000_000, &[], SECOND);
    assert_eq!(sent.len(), 500);
    for (n, (at, ..)) in (0..).zip(&sent) {
        assert_eq!(at.picos(), n * 1_399_200_000);
    }
    // At 7 Mbit/s a packet of 100 bytes, 4 cells, takes 1696/7 µs, which is no whole number of picoseconds.
    let mut slow = cake(CakePlan { bytes, ..shaped(7, Diffserv::BestEffort) });
    (0..3000).for_each(|_| push(&mut slow, Time::ZERO, 0, 100));
    for (n, (at, ..)) in (0..).zip(send(&mut slow, 1_000_000_000, &[], SECOND)) {
        assert_eq!(at.picos(), (n * 3 * 53 * 8 * 1_000_000u64).div_ceil(7));
    }
}

/// A pause is not made up for: after it, the shaper begins again at the next packet.
#[test]
fn the_shaper_keeps_nothing_of_a_pause() {
    let mut queue = cake(shaped(12, Diffserv::BestEffort));
    let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
    let came = [(at(10), 0, 1500), (at(20), 0, 1500), (at(5_000), 0, 1500), (at(5_100), 0, 1500)];
    let begins: Vec<Time> =
        send(&mut queue, 1_000_000_000, &came, SECOND).iter().map(|(begun, ..)| *begun).collect();
    assert_eq!(begins, [at(10), at(1_010), at(5_000), at(6_000)]);
}

/// All tins overloaded at 16 Mbit/s: bulk has its sixteenth and voice its quarter, to a packet, and best effort the rest;
/// alone each has everything.
#[test]
fn tins_have_their_rates_under_overload() {
    let plan = shaped(16, Diffserv::Three);
    let all = shares(plan, 1_000_000_000, &[0, 1, 2]);
    let second = 2_000_000;
    assert!(all[1].abs_diff(second / 16) <= 2 * 1500 && all[1] + 1500 >= second / 16, "{all:?}");
    assert!(all[2].abs_diff(second / 4) <= 2 * 1500, "{all:?}");
    assert!(all.iter().sum::<u64>().abs_diff(second) <= 1500, "{all:?}");
    for tin in 0..3 {
        assert!(shares(plan, 1_000_000_000, &[tin])[tin as usize].abs_diff(second) <= 1500);
    }
    let four = shares(shaped(16, Diffserv::Four), 1_000_000_000, &[0, 1, 2, 3]);
    let parts = [second * 3 / 16, second / 16, second / 2, second / 4];
    for (bytes, part) in four.iter().zip(parts) {
        assert!(bytes.abs_diff(part) <= 3 * 1500, "{four:?}");
    }
}

/// Without a shaper tins take turns by 1024, 64 and 256 bytes: 16/21, 1/21 and 4/21 of the gate.
#[test]
fn without_a_shaper_tins_alternate() {
    let plan = CakePlan { target: Some(Span::from_secs(100)), ..CakePlan::default_for(Framing::Ip) };
    let all = shares(plan, 16_800_000, &[0, 1, 2]);
    for (bytes, part) in all.iter().zip([16, 1, 4]) {
        // 2,100,000 bytes in a second.
        assert!(bytes.abs_diff(part * 100_000) <= 2 * 1500, "{all:?}");
    }
}

/// A packet of voice goes before those that wait in other tins.
#[test]
fn voice_goes_first() {
    let mut queue = cake(shaped(12, Diffserv::Three));
    let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
    let mut came: Vec<_> = (0..20).map(|_| (Time::ZERO, 0, 1500)).collect();
    came.push((at(3_500), 2, 200));
    let sent = send(&mut queue, 1_000_000_000, &came, SECOND);
    assert_eq!(sent[4], (at(4_000), 2, 200));
}

/// Beyond the memory of all tins the longest queue of any is dropped from, and a unit that is longest itself is not taken.
#[test]
fn all_tins_share_the_memory() {
    let mut queue = cake(CakePlan { memory: Some(10_000), ..shaped(16, Diffserv::Three) });
    (0..5).for_each(|_| push(&mut queue, Time::ZERO, 0, 1000));
    (0..4).for_each(|_| push(&mut queue, Time::ZERO, 1, 1200));
    let mut unit = Unit::new(1000, 0, HeldBy::Application);
    unit.stretch = 2;
    let mut gone = vec![];
    assert!(queue.push(Waiter { arrival: Time::ZERO, unit }, &mut gone));
    let dropped: Vec<u32> = gone.iter().map(|waiter| waiter.unit.stretch).collect();
    assert_eq!(dropped, [0]);
    assert_eq!(queue.backlog(), Backlog { units: 9, bytes: 4 * 1000 + 4 * 1200 + 1000 });
    let mut small = cake(CakePlan { memory: Some(900), ..shaped(16, Diffserv::Three) });
    assert!(!small.push(Waiter { arrival: Time::ZERO, unit }, &mut vec![]));
    assert_eq!(small.backlog(), Backlog::default());
}
