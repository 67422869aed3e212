//! Schedulers that leave the server idle: token buckets, credit, time gates.

use super::*;
use crate::plan::{CreditPlan, HtbNode, HtbPlan, OpeningsPlan};

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
    for (who, both) in
        [(vec![0], [3_000_000, 0]), (vec![1], [0, 4_000_000]), (vec![0, 1], [2_000_000, 2_000_000])]
    {
        let mut queue = classes(tree([1000, 1000]), 2);
        for _ in 0..1000 {
            who.iter().for_each(|class| push(&mut queue, Time::ZERO, *class, 1000));
        }
        let sent = send(&mut queue, 80_000_000, &[], second);
        for (class, expected) in both.into_iter().enumerate() {
            // The bursts, and one packet.
            assert!(bits(&sent, class).abs_diff(expected) <= 24_000, "{who:?}: {}", bits(&sent, class));
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

pub(super) fn shaped(idle: u64, link: u64) -> SchedulerPlan {
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
    let second = queue.choose(Time::ZERO).expect("the second");
    queue.pop_of(second, Time::ZERO, &mut vec![]);
    queue.charge(second, (Time::ZERO, micros(1000)), 12_500);
    for _ in 0..6 {
        push(&mut queue, Time::ZERO, 0, 1250);
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
    long.stretch = 0;
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
