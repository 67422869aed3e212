//! Schedulers against numbers by hand, and against references of their own.

use super::*;
use crate::plan::{
    CreditPlan, HtbNode, HtbPlan, OpeningsPlan, QueuePlan, SchedulerPlan, StrictPlan, WfqPlan,
};
use crate::random::Seed;
use crate::unit::HeldBy;
use crate::units::{Rate, Span};
use proptest::prelude::*;

fn classes(scheduler: SchedulerPlan, count: usize) -> ClassesQueue {
    let class = |n: usize| ClassPlan { name: n.to_string(), queue: QueuePlan::UNLIMITED };
    let plan = ClassesPlan { scheduler, classes: (0..count).map(class).collect(), of_route: Arc::new([]) };
    let seed = Seed { seed: 1, replication: 0 };
    let mut queue = ClassesQueue::new(&plan, Framing::Ip, |name| seed.stream(name));
    queue.set_members((0..count as u16).collect());
    queue
}

fn push(queue: &mut ClassesQueue, at: Time, class: u32, bytes: u32) {
    let mut unit = Unit::new(bytes, 0, HeldBy::Application);
    unit.chain = class;
    assert!(queue.admit(at, &unit, || false).is_ok());
    assert!(queue.push(Waiter { arrival: at, unit }, &mut vec![]));
}

/// What is sent: when it begins, its class, its bytes.
type Sent = (Time, usize, u32);

/// Sends at `bps`, from `now` on, whatever comes at `arrivals`, and nothing that begins at `until` or later.
fn send(queue: &mut ClassesQueue, bps: u64, arrivals: &[(Time, u32, u32)], until: Time) -> Vec<Sent> {
    let (mut sent, mut now, mut next) = (vec![], Time::ZERO, arrivals.iter().peekable());
    while now < until {
        let begins = queue.choose(now);
        let class = match begins {
            Ok(class) => class,
            Err(begins) => {
                let comes = next.peek().map_or(Time::NEVER, |(at, ..)| *at);
                now = begins.min(comes);
                if comes <= now
                    && let Some((at, class, bytes)) = next.next()
                {
                    push(queue, *at, *class, *bytes);
                }
                continue;
            }
        };
        let leaver = queue.pop_of(class, now, &mut vec![]).expect("a unit");
        let bytes = leaver.waiter.unit.bytes;
        let end = now + Span::from_picos(u64::from(bytes) * 8 * 1_000_000_000_000 / bps);
        queue.charge(class, (now, end), bytes);
        sent.push((now, class, bytes));
        while let Some((at, class, bytes)) = next.next_if(|(at, ..)| *at < end) {
            push(queue, *at, *class, *bytes);
        }
        now = end;
        while let Some((at, class, bytes)) = next.next_if(|(at, ..)| *at <= end) {
            push(queue, *at, *class, *bytes);
        }
    }
    sent
}

fn micros(at: u64) -> Time {
    Time::ZERO + Span::from_micros(at)
}

fn strict(count: usize) -> StrictPlan {
    StrictPlan { link: None, credits: vec![None; count], open: vec![None; count] }
}

/// 1000 bytes take a millisecond. The first class with packets goes first, and none is interrupted.
#[test]
fn strict_priority_keeps_its_order() {
    let mut queue = classes(SchedulerPlan::Strict(strict(3)), 3);
    let arrivals: Vec<_> =
        [(0, 2), (0, 2), (500, 1), (600, 0), (700, 1)].map(|(at, class)| (micros(at), class, 1000)).to_vec();
    let sent: Vec<_> = send(&mut queue, 8_000_000, &arrivals, Time::from_picos(1 << 50))
        .into_iter()
        .map(|(at, class, _)| (at.picos() / 1_000_000, class))
        .collect();
    assert_eq!(sent, [(0, 2), (1000, 0), (2000, 1), (3000, 1), (4000, 2)]);
}

/// The example of Shreedhar and Varghese (figures 3 and 4): quanta of 500. The first class has 20, 750 and 200 bytes; the
/// second 500 and 500; the third 200, 600 and 100; the fourth 50, 700 and 180.
#[test]
fn deficits_are_kept_for_the_next_turn() {
    let mut queue = classes(SchedulerPlan::Drr(vec![500; 4]), 4);
    let units: [&[u32]; 4] = [&[20, 750, 200], &[500, 500], &[200, 600, 100], &[50, 700, 180]];
    let arrivals: Vec<_> = (0..)
        .zip(units)
        .flat_map(|(class, units)| units.iter().map(move |bytes| (Time::ZERO, class, *bytes)))
        .collect();
    for (at, class, bytes) in &arrivals {
        push(&mut queue, *at, *class, *bytes);
    }
    let sent: Vec<_> = send(&mut queue, 8_000, &[], Time::from_picos(1 << 60))
        .into_iter()
        .map(|(_, class, bytes)| (class, bytes))
        .collect();
    let turns = [
        // 480 are left, none, 300, 450.
        vec![(0, 20), (1, 500), (2, 200), (3, 50)],
        // 980: 750 and 200 go. 800: 600 and 100. 950: 700 and 180.
        vec![(0, 750), (0, 200), (1, 500), (2, 600), (2, 100), (3, 700), (3, 180)],
    ];
    assert_eq!(sent, turns.concat());
}

/// Two classes of weights 3 and 1 at 8 Mbit/s, packets of 1000 bytes, all there at 0: three of the first for one of the
/// second. Finish times in packets of a class alone: 1/3, 2/3, 1, 4/3 …; 1, 2, … At a tie the first class goes first.
#[test]
fn weights_are_kept() {
    let plan = WfqPlan { link: Rate::from_bps(8_000_000), weights: vec![3, 1] };
    let mut queue = classes(SchedulerPlan::Wfq(plan), 2);
    for class in [0, 0, 0, 0, 0, 0, 1, 1] {
        push(&mut queue, Time::ZERO, class, 1000);
    }
    let sent: Vec<_> =
        send(&mut queue, 8_000_000, &[], micros(1_000_000)).into_iter().map(|(_, class, _)| class).collect();
    assert_eq!(sent, [0, 0, 0, 1, 0, 0, 0, 1]);
    // A class that comes late has no claim on the past: after 2 ms of the first alone, the second is due one packet in
    // four. The seventh packet of the first class ends, as a fluid, when 6 + (7 - 6) / 0.75 are sent.
    let plan = WfqPlan { link: Rate::from_bps(8_000_000), weights: vec![1, 1] };
    let mut queue = classes(SchedulerPlan::Wfq(plan), 2);
    let mut arrivals: Vec<_> = (0..6).map(|_| (Time::ZERO, 0, 1000)).collect();
    arrivals.extend((0..3).map(|_| (micros(2500), 1, 1000)));
    let sent: Vec<_> = send(&mut queue, 8_000_000, &arrivals, micros(1_000_000))
        .into_iter()
        .map(|(_, class, _)| class)
        .collect();
    // At 2.5 ms the fluid has sent 2.5 packets: tags of the second class 3.5, 4.5, 5.5, of the first 3, 4, 5, 6.
    assert_eq!(sent, [0, 0, 0, 1, 0, 1, 0, 1, 0]);
}

fn node(parent: Option<usize>, rate: u64, ceil: u64) -> HtbNode {
    HtbNode {
        parent,
        rate: Rate::from_bps(rate),
        ceil: Rate::from_bps(ceil),
        burst: 1000,
        ceil_burst: 1000,
        priority: 0,
        quantum: 1000,
    }
}

fn begins(sent: &[Sent], class: usize) -> Vec<u64> {
    sent.iter().filter(|(_, of, _)| *of == class).map(|(at, ..)| at.picos() / 1_000_000).collect()
}

/// A class of 1 Mbit/s that nobody lends to: packets of 1000 bytes, 8 ms each, on a link that takes 0.1 ms for one. The
/// bucket of 1000 bytes allows two at once (the second finds it at zero, plus what has come in 0.1 ms), then one begins each
/// time that the bucket is no longer below zero: 8 ms after the one before, less what came until then.
#[test]
fn a_class_keeps_to_its_rate() {
    let mut queue = classes(SchedulerPlan::Htb(HtbPlan { nodes: vec![node(None, 1_000_000, 1_000_000)] }), 1);
    for _ in 0..5 {
        push(&mut queue, Time::ZERO, 0, 1000);
    }
    let sent = send(&mut queue, 80_000_000, &[], micros(1_000_000));
    assert_eq!(begins(&sent, 0), [0, 100, 8_000, 16_000, 24_000]);
}

/// Two classes of 1 Mbit/s below a node of 4 Mbit/s, with ceilings of 3 and 4 Mbit/s. Alone, the first is held by its
/// ceiling; together they share 4 Mbit/s, each with at least its own.
#[test]
fn classes_borrow_up_to_their_ceilings() {
    let tree = |quanta: [u32; 2]| {
        let mut nodes = vec![
            node(Some(2), 1_000_000, 3_000_000),
            node(Some(2), 1_000_000, 4_000_000),
            node(None, 4_000_000, 4_000_000),
        ];
        for (node, quantum) in nodes.iter_mut().zip(quanta) {
            node.quantum = quantum;
        }
        SchedulerPlan::Htb(HtbPlan { nodes })
    };
    let second = micros(1_000_000);
    let bits = |sent: &[Sent], class: usize| 8000 * sent.iter().filter(|(_, of, _)| *of == class).count();
    for (who, expected) in
        [(vec![0], [3_000_000, 0]), (vec![1], [0, 4_000_000]), (vec![0, 1], [2_000_000, 2_000_000])]
    {
        let mut queue = classes(tree([1000, 1000]), 2);
        for _ in 0..1000 {
            who.iter().for_each(|class| push(&mut queue, Time::ZERO, *class, 1000));
        }
        let sent = send(&mut queue, 80_000_000, &[], second);
        for class in 0..2 {
            // The bursts, and one packet.
            assert!(
                bits(&sent, class).abs_diff(expected[class]) <= 24_000,
                "{who:?}: {}",
                bits(&sent, class)
            );
        }
    }
    // What is borrowed is shared by quanta: 2 Mbit/s in parts of 3 to 1.
    let mut queue = classes(tree([3000, 1000]), 2);
    for _ in 0..1000 {
        (0..2).for_each(|class| push(&mut queue, Time::ZERO, class, 1000));
    }
    let sent = send(&mut queue, 80_000_000, &[], second);
    assert!(bits(&sent, 0).abs_diff(2_500_000) <= 50_000, "{}", bits(&sent, 0));
    assert!(bits(&sent, 1).abs_diff(1_500_000) <= 50_000, "{}", bits(&sent, 1));
}

/// Three levels: what a class lends to its children is its own, not its sister's.
#[test]
fn a_sister_is_not_robbed() {
    // Two groups of 4 Mbit/s below 8; the first has two classes, the second one.
    let nodes = vec![
        node(Some(3), 1_000_000, 8_000_000),
        node(Some(3), 1_000_000, 8_000_000),
        node(Some(4), 1_000_000, 8_000_000),
        node(Some(5), 4_000_000, 8_000_000),
        node(Some(5), 4_000_000, 8_000_000),
        node(None, 8_000_000, 8_000_000),
    ];
    let mut queue = classes(SchedulerPlan::Htb(HtbPlan { nodes }), 3);
    for class in [0, 1, 2].repeat(2000) {
        push(&mut queue, Time::ZERO, class, 1000);
    }
    let sent = send(&mut queue, 80_000_000, &[], micros(1_000_000));
    let counts = [0, 1, 2].map(|class| begins(&sent, class).len());
    assert!(
        counts[0].abs_diff(250) <= 5 && counts[1].abs_diff(250) <= 5 && counts[2].abs_diff(500) <= 5,
        "{counts:?}"
    );
}

fn shaped(idle: u64, link: u64) -> SchedulerPlan {
    let idle_slope = Rate::from_bps(idle);
    let credit = CreditPlan { idle_slope, most: None, least: None };
    SchedulerPlan::Strict(StrictPlan {
        link: Some(Rate::from_bps(link)),
        credits: vec![Some(credit), None],
        ..strict(2)
    })
}

/// A link of 100 Mbit/s, a class with an idle slope of 25 Mbit/s: a packet of 1250 bytes takes 100 us and costs 7500 bits,
/// which come back in 300 us. One packet each 400 us.
#[test]
fn credit_spaces_packets() {
    let mut queue = classes(shaped(25_000_000, 100_000_000), 2);
    for _ in 0..4 {
        push(&mut queue, Time::ZERO, 0, 1250);
    }
    let sent = send(&mut queue, 100_000_000, &[], micros(10_000));
    assert_eq!(begins(&sent, 0), [0, 400, 800, 1200]);
}

/// While another class is in its way, credit is saved; what is saved is sent at once. A packet of the second class
/// occupies the link for 1000 us from 0; the class has 25,000 bits by then. Each of its packets of 100 us costs 7500: four
/// go, and the fifth waits until -5000 bits are back, 200 us.
#[test]
fn credit_is_saved_while_packets_wait() {
    let mut queue = classes(shaped(25_000_000, 100_000_000), 2);
    push(&mut queue, Time::ZERO, 1, 12_500);
    let arrivals: Vec<_> = (0..6).map(|_| (Time::from_picos(0), 0, 1250)).collect();
    let class = queue.choose(Time::ZERO).expect("the second");
    queue.pop_of(class, Time::ZERO, &mut vec![]);
    queue.charge(class, (Time::ZERO, micros(1000)), 12_500);
    for (at, class, bytes) in arrivals {
        push(&mut queue, at, class, bytes);
    }
    let mut begins = vec![];
    let mut now = micros(1000);
    while begins.len() < 6 {
        match queue.choose(now) {
            Err(at) => now = at,
            Ok(class) => {
                begins.push(now.picos() / 1_000_000);
                queue.pop_of(class, now, &mut vec![]);
                let end = now + Span::from_micros(100);
                queue.charge(class, (now, end), 1250);
                now = end;
            }
        }
    }
    assert_eq!(begins, [1000, 1100, 1200, 1300, 1600, 2000]);
}

/// Credit above zero is lost when nothing waits any more; below zero it comes back.
#[test]
fn credit_is_not_saved_for_nothing() {
    let plan = CreditPlan { idle_slope: Rate::from_bps(25_000_000), most: Some(1000), least: None };
    let mut credit = credit::Credit::new(&plan);
    credit.advance(Time::ZERO, true, None);
    credit.advance(micros(100), true, None);
    assert_eq!(credit.bits(), 2500.0);
    credit.advance(micros(1000), true, None);
    assert_eq!(credit.bits(), 8000.0, "never more than 1000 bytes");
    credit.advance(micros(1000), false, None);
    credit.advance(micros(1001), true, None);
    assert_eq!(credit.bits(), 0.0);
    credit.sends(micros(1001), micros(1101), 10_000);
    assert_eq!(credit.bits(), -7500.0);
    credit.advance(micros(1101), false, None);
    credit.advance(micros(1201), false, None);
    assert_eq!(credit.bits(), -5000.0);
    credit.advance(micros(9000), true, None);
    assert_eq!(credit.bits(), 0.0);
}

/// A cycle of 1 ms: the first class may send in its first 200 us, the second afterwards. 1250 bytes take 100 us. A packet
/// that would not end before its gate closes is not begun.
#[test]
fn time_gates_have_a_guard_band() {
    let opening = |from: u64, to: u64| {
        let openings = vec![(Span::from_micros(from), Span::from_micros(to))];
        Some(Arc::new(OpeningsPlan { cycle: Span::from_millis(1), offset: Span::ZERO, openings }))
    };
    let plan = StrictPlan {
        link: Some(Rate::from_bps(100_000_000)),
        credits: vec![None; 2],
        open: vec![opening(0, 200), opening(200, 1000)],
    };
    let mut queue = classes(SchedulerPlan::Strict(plan), 2);
    let mut arrivals: Vec<_> = (0..20).map(|_| (micros(50), 1, 1500)).collect();
    arrivals.extend([(micros(950), 0, 1250), (micros(1050), 0, 1250), (micros(1120), 0, 1250)]);
    let sent = send(&mut queue, 100_000_000, &arrivals, micros(10_000));
    // At 1100 us one more of 100 us still fits; at 1200 the gate is closed.
    assert_eq!(begins(&sent, 0), [1000, 1100, 2000]);
    // 120 us each: six from 200 us to 920; the seventh would end at 1040.
    let others = begins(&sent, 1);
    assert_eq!(others[..7], [200, 320, 440, 560, 680, 800, 1200]);
    let mut long = Unit::new(3000, 0, HeldBy::Application);
    long.chain = 0;
    assert_eq!(queue.admit(micros(10_000), &long, || true), Err(DropReason::TooLarge));
}

/// Where a time gate is closed the credit stands still.
#[test]
fn credit_stands_still_behind_a_closed_gate() {
    let openings = vec![(Span::ZERO, Span::from_micros(500))];
    let openings = Arc::new(OpeningsPlan { cycle: Span::from_millis(1), offset: Span::ZERO, openings });
    let credit = CreditPlan { idle_slope: Rate::from_bps(25_000_000), most: None, least: None };
    let plan = StrictPlan {
        link: Some(Rate::from_bps(100_000_000)),
        credits: vec![Some(credit)],
        open: vec![Some(openings)],
    };
    let mut queue = classes(SchedulerPlan::Strict(plan), 1);
    for _ in 0..4 {
        push(&mut queue, Time::ZERO, 0, 1250);
    }
    let sent = send(&mut queue, 100_000_000, &[], micros(10_000));
    // -7500 bits at 500 us, when the gate closes; they come back from 1000 to 1300 us.
    assert_eq!(begins(&sent, 0), [0, 400, 1300, 2200]);
}

/// Packets of classes that come at random: gap in microseconds, class, bytes.
fn any_arrivals(classes: u32) -> impl Strategy<Value = Vec<(Time, u32, u32)>> {
    prop::collection::vec((0u64..2000, 0..classes, 40u32..1500), 1..200).prop_map(|rows| {
        let mut at = 0;
        let row = |(gap, class, bytes): (u64, u32, u32)| {
            at += if gap < 1000 { 0 } else { gap - 1000 };
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
    /// packet (Parekh and Gallager, theorem 1).
    #[test]
    fn within_one_packet_of_the_fluid(
        weights in prop::collection::vec(1u32..9, 1..5),
        arrivals in any_arrivals(4),
    ) {
        let bps = 10_000_000;
        let count = weights.len() as u32;
        let arrivals: Vec<_> = arrivals.into_iter().map(|(at, class, bytes)| (at, class % count, bytes)).collect();
        let plan = WfqPlan { link: Rate::from_bps(bps), weights: weights.clone() };
        let mut queue = classes(SchedulerPlan::Wfq(plan), weights.len());
        let sent = send(&mut queue, bps, &arrivals, Time::from_picos(1 << 60));
        prop_assert_eq!(sent.len(), arrivals.len());
        let reference = fluid(&weights, bps as f64, &arrivals);
        let largest = arrivals.iter().map(|(.., bytes)| *bytes).max().unwrap_or(0);
        for class in 0..weights.len() {
            let ends = sent.iter().filter(|(_, of, _)| *of == class).map(|(at, _, bytes)| at.as_secs_f64() + f64::from(*bytes) * 8.0 / bps as f64);
            let fluid = arrivals.iter().zip(&reference).filter(|((_, of, _), _)| *of as usize == class).map(|(_, end)| *end);
            for (end, fluid) in ends.zip(fluid) {
                prop_assert!(end <= fluid + f64::from(largest) * 8.0 / bps as f64 + 1e-9, "{end} {fluid}");
            }
        }
    }

    /// Deficit round robin: a class that always has packets is within one packet of its share after each turn (Shreedhar
    /// and Varghese, theorem 4.2).
    #[test]
    fn within_one_packet_of_the_share(
        quanta in prop::collection::vec(1500u32..6000, 2..5),
        sizes in prop::collection::vec(40u32..1500, 50..200),
    ) {
        let mut queue = classes(SchedulerPlan::Drr(quanta.clone()), quanta.len());
        let mut sizes = sizes.iter().cycle();
        for class in (0..quanta.len() as u32).cycle().take(400 * quanta.len()) {
            push(&mut queue, Time::ZERO, class, *sizes.next().expect("a size"));
        }
        let mut sent = vec![0_u64; quanta.len()];
        let (mut turns, mut last) = (vec![0_u64; quanta.len()], usize::MAX);
        while queue.classes.iter().all(|class| class.waiting.backlog().units > 1) {
            let class = queue.choose(Time::ZERO).expect("a class");
            if class != last {
                if last < usize::MAX {
                    let share = turns[last] * u64::from(quanta[last]);
                    prop_assert!(sent[last] <= share && share - sent[last] < 1500, "{} of {}", sent[last], share);
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
