//! Schedulers against numbers by hand, and against references of their own.

mod bounds;
mod shaping;
mod spacing;
mod tins;

use super::*;
use crate::plan::{QueuePlan, SchedulerPlan, StrictPlan, WfqPlan};
use crate::random::Seed;
use crate::unit::HeldBy;
use crate::units::{Rate, Span};

fn classes(scheduler: SchedulerPlan, count: usize) -> ClassesQueue {
    let class = |n: usize| ClassPlan { name: n.to_string(), queue: QueuePlan::UNLIMITED };
    let plan = ClassesPlan {
        scheduler,
        classes: (0..count).map(class).collect(),
        of_route: Arc::new([]),
        by_codepoint: None,
    };
    let seed = Seed { seed: 1, replication: 0 };
    let mut queue = ClassesQueue::new(&plan, Framing::Ip, |name| seed.stream(name));
    queue.set_members((0..count as u16).collect());
    queue
}

fn push(queue: &mut ClassesQueue, at: Time, class: u32, bytes: u32) {
    let mut unit = Unit::new(bytes, 0, HeldBy::Application);
    unit.stretch = class;
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
        now = end;
        while let Some((at, of, size)) = next.next_if(|(at, ..)| *at <= end) {
            push(queue, *at, *of, *size);
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

/// Quanta of 500. The first class has 20, 750 and 200 bytes; the
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
}

/// Two classes of one weight; the second comes after 2.5 ms of the first alone.
#[test]
fn a_class_that_comes_late_has_no_claim_on_the_past() {
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

/// A codepoint that a packet itself carries says its class, unless its route is named; without one the route says it.
#[test]
fn a_codepoint_of_ones_own_says_the_class() {
    let mut classes = [None; 64];
    (classes[46], classes[0]) = (Some(1), Some(2));
    let class = |name: &str| ClassPlan { name: name.to_owned(), queue: QueuePlan::UNLIMITED };
    let plan = ClassesPlan {
        scheduler: SchedulerPlan::Drr(vec![1000; 3]),
        classes: ["route", "voice", "rest"].map(class).to_vec(),
        of_route: Arc::new([]),
        by_codepoint: Some(Arc::new(ByCodepoint { classes, named: Arc::new([]) })),
    };
    let mut queue = ClassesQueue::new(&plan, Framing::Ip, |_| panic!("nothing is random"));
    queue.set_members(Arc::new([0, NAMED]));
    let of = |stretch: u32, codepoint: Option<u8>| {
        let mut unit = Unit::new(1000, 0, HeldBy::Application);
        unit.stretch = stretch;
        codepoint.inspect(|codepoint| unit.set_codepoint(*codepoint));
        assert_eq!(unit.codepoint(), codepoint);
        queue.class_of(&unit)
    };
    // The first route is of no class by name; nothing is said of codepoint 8.
    assert_eq!([None, Some(46), Some(0), Some(8)].map(|codepoint| of(0, codepoint)), [0, 1, 2, 0]);
    assert_eq!([None, Some(46), Some(0), Some(8)].map(|codepoint| of(1, codepoint)), [0; 4]);
}
