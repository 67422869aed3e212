//! Bounds that the schedulers keep to on packets drawn at random.

use super::shaping::shaped;
use super::*;
use crate::aal5::CELL_BYTES;
use proptest::prelude::*;

/// Packets of classes that come at random: gap in microseconds, class, bytes.
fn any_arrivals(classes: u32) -> impl Strategy<Value = Vec<(Time, u32, u32)>> {
    prop::collection::vec((0u64..2000, 0..classes, 40u32..1500), 1..200).prop_map(|rows| {
        let mut at = 0;
        let row = |(gap, class, bytes): (u64, u32, u32)| {
            at += gap.saturating_sub(1000);
            (micros(at), class, bytes)
        };
        rows.into_iter().map(row).collect()
    })
}

/// When each packet ends if all classes with packets are served at once, in proportion to their weights: the fluid
/// reference, in seconds, packets in the order of `arrivals`.
fn fluid(weights: &[u32], bps: f64, arrivals: &[(Time, u32, u32)]) -> Vec<f64> {
    let mut left: Vec<f64> = arrivals.iter().map(|(.., bytes)| 8.0 * f64::from(*bytes)).collect();
    let mut ends = vec![f64::NAN; arrivals.len()];
    let mut now = 0.0;
    while ends.iter().any(|end| end.is_nan()) {
        let came = |n: &usize| arrivals[*n].0.as_secs_f64() <= now + 1e-15;
        let first = |class: u32| {
            (0..arrivals.len()).filter(came).find(|n| arrivals[*n].1 == class && ends[*n].is_nan())
        };
        let busy: Vec<usize> = (0..weights.len() as u32).filter_map(first).collect();
        let sum: f64 = busy.iter().map(|n| f64::from(weights[arrivals[*n].1 as usize])).sum();
        let rate = |n: usize| bps * f64::from(weights[arrivals[n].1 as usize]) / sum;
        let next = arrivals.iter().map(|(at, ..)| at.as_secs_f64()).find(|at| *at > now + 1e-15);
        let done = busy.iter().map(|n| now + left[*n] / rate(*n));
        let until = done.chain(next).fold(f64::INFINITY, f64::min);
        for n in busy {
            left[n] -= rate(n) * (until - now);
            if left[n] <= 1e-6 {
                ends[n] = until;
            }
        }
        now = until;
    }
    ends
}

proptest! {
    /// Weighted fair queueing: no packet ends later than in the fluid reference by more than the time of one largest
    /// packet (Parekh and Gallager, theorem 1); of cells, than the time of one cell.
    #[test]
    fn within_one_packet_of_the_fluid(
        weights in prop::collection::vec(1u32..9, 1..5),
        arrivals in any_arrivals(4),
        in_cells in any::<bool>(),
    ) {
        let bps = if in_cells { 500_000 } else { 10_000_000 };
        let count = weights.len() as u32;
        let size = |bytes: u32| if in_cells { CELL_BYTES } else { bytes };
        let arrivals: Vec<_> = arrivals.into_iter().map(|(at, class, bytes)| (at, class % count, size(bytes))).collect();
        let plan = WfqPlan { link: Rate::from_bps(bps), weights: weights.clone() };
        let mut queue = classes(SchedulerPlan::Wfq(plan), weights.len());
        let sent = send(&mut queue, bps, &arrivals, Time::from_picos(1 << 60));
        prop_assert_eq!(sent.len(), arrivals.len());
        let reference = fluid(&weights, bps as f64, &arrivals);
        let largest = arrivals.iter().map(|(.., bytes)| *bytes).max().unwrap_or(0);
        for class in 0..weights.len() {
            let ends = sent.iter().filter(|(_, of, _)| *of == class).map(|(at, _, bytes)| at.as_secs_f64() + f64::from(*bytes) * 8.0 / bps as f64);
            let fluids = arrivals.iter().zip(&reference).filter(|((_, of, _), _)| *of as usize == class).map(|(_, end)| *end);
            for (end, due) in ends.zip(fluids) {
                prop_assert!(end <= due + f64::from(largest) * 8.0 / bps as f64 + 1e-9, "{end} {due}");
            }
        }
    }

    /// Deficit round robin: a class that always has packets is within one packet of its share after each turn (Shreedhar
    /// and Varghese, theorem 4.2); of cells, within one cell.
    #[test]
    fn within_one_packet_of_the_share(
        quanta in prop::collection::vec(1500u32..6000, 2..5),
        sizes in prop::collection::vec(40u32..1500, 50..200),
        in_cells in any::<bool>(),
    ) {
        let (sizes, largest) = if in_cells { (vec![CELL_BYTES], u64::from(CELL_BYTES)) } else { (sizes, 1500) };
        let mut queue = classes(SchedulerPlan::Drr(quanta.clone()), quanta.len());
        let mut sizes = sizes.iter().cycle();
        for class in (0..quanta.len() as u32).cycle().take(if in_cells { 2000 } else { 400 } * quanta.len()) {
            push(&mut queue, Time::ZERO, class, *sizes.next().expect("a size"));
        }
        let mut sent = vec![0_u64; quanta.len()];
        let (mut turns, mut last) = (vec![0_u64; quanta.len()], usize::MAX);
        while queue.classes.iter().all(|class| class.waiting.backlog().units > 1) {
            let class = queue.choose(Time::ZERO).expect("a class");
            if class != last {
                if last < usize::MAX {
                    let share = turns[last] * u64::from(quanta[last]);
                    prop_assert!(sent[last] <= share && share - sent[last] < largest, "{} of {}", sent[last], share);
                }
                turns[class] += 1;
                last = class;
            }
            let unit = queue.pop_of(class, Time::ZERO, &mut vec![]).expect("a unit").waiter.unit;
            queue.charge(class, (Time::ZERO, Time::ZERO), unit.bytes);
            sent[class] += u64::from(unit.bytes);
        }
    }

    /// Credit: in no stretch of time does a class send more than its idle slope allows, two largest packets beside.
    #[test]
    fn credit_keeps_to_its_slope(arrivals in any_arrivals(1), idle in 1u64..10) {
        let (bps, idle) = (10_000_000, idle * 1_000_000);
        let mut queue = classes(shaped(idle, bps), 2);
        let sent = send(&mut queue, bps, &arrivals, Time::from_picos(1 << 60));
        prop_assert_eq!(sent.len(), arrivals.len());
        for (n, (from, ..)) in sent.iter().enumerate() {
            let mut bits = 0.0;
            for (at, _, bytes) in &sent[n..] {
                let allowed = at.saturating_since(*from).as_secs_f64() * idle as f64;
                prop_assert!(bits <= allowed + 2.0 * 12_000.0, "{bits} {allowed}");
                bits += 8.0 * f64::from(*bytes);
            }
        }
    }
}
