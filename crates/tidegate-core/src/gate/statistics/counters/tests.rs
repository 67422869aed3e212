//! What counts before the measured time, inside it and not at all: its first instant is inside, its last is not.

use super::*;

const MEASURED: Measured = Measured { from: at(10), until: at(100) };

const fn at(picos: u64) -> Time {
    Time::from_picos(picos)
}

fn counters() -> Counters {
    Counters::new(MEASURED, Precision::Fine)
}

fn count(packets: u64, bytes: u64) -> Count {
    Count { packets, bytes }
}

fn backlog(units: u64, bytes: u64) -> Backlog {
    Backlog { units, bytes }
}

fn service(start: u64, end: u64) -> Service {
    Service { start: at(start), end: at(end) }
}

#[test]
fn units_count_when_they_come_and_when_they_are_delivered() {
    let mut counters = counters();
    for (came, end, wire) in [(5, 9, 1), (9, 10, 20), (10, 99, 300), (99, 100, 4000), (100, 150, 50_000)] {
        counters.deliver(at(came), at(end), wire);
    }
    assert_eq!(counters.arrived().total(), count(4, 4321));
    assert_eq!(counters.arrived().measured(), count(2, 4300));
    assert_eq!(counters.delivered().total(), count(3, 321));
    assert_eq!(counters.delivered().measured(), count(2, 320));
    assert_eq!(counters.held(), count(1, 4000));
    let more = counters.with_inside(count(2, 60));
    assert_eq!((more.arrived().measured(), more.delivered().total()), (count(4, 4360), count(5, 381)));
}

#[test]
fn what_is_dropped_is_refused_or_lost() {
    let mut counters = counters();
    for came in [9, 10, 99, 100] {
        counters.refuse(at(came), 10);
    }
    counters.lose(at(9), at(99), 7);
    counters.lose(at(99), at(100), 7);
    assert_eq!((counters.refused().measured(), counters.refused().total()), (count(2, 20), count(3, 30)));
    assert_eq!((counters.lost().measured(), counters.lost().total()), (count(1, 7), count(1, 7)));
    // The second is lost after the end of the run.
    assert_eq!(counters.held(), count(1, 7));
    // Of three that arrived inside only that one was served.
    assert_eq!((counters.unserved, counters.waits().count()), (0, 1));
}

#[test]
fn loss_is_of_units_whose_fate_was_decided_inside() {
    let mut counters = counters();
    assert_eq!((counters.offered(), counters.loss()), (count(0, 0), None));
    // These came before and are dropped inside, or just before it, or after it.
    for dropped in [9, 10, 50, 99, 100] {
        counters.cull((at(5), at(dropped)), (2, 3), DropReason::Early);
    }
    counters.lose(at(5), at(60), 3);
    assert_eq!((counters.offered(), counters.dropped()), (count(4, 12), count(4, 12)));
    assert_eq!(counters.loss(), Some(1.0));
    // One came before and is delivered inside, one comes inside and not.
    counters.deliver(at(5), at(10), 100);
    counters.deliver(at(50), at(100), 100);
    assert_eq!((counters.offered(), counters.loss()), (count(5, 112), Some(0.8)));
    assert_eq!((counters.arrived().total(), counters.held()), (count(8, 218), count(2, 103)));
}

#[test]
fn waits_and_the_queue_are_those_inside() {
    let mut counters = counters();
    assert_eq!(counters.queue_mean(), 0.0);
    // Comes before: ten instants of its wait are inside.
    counters.pass(at(9), service(20, 30), 1, backlog(9, 900));
    assert_eq!((counters.waits().count(), counters.queue_max, counters.queue_max_bytes), (0, 0, 0));
    assert_eq!(counters.queue_area, 10);
    // It is there when the measured time begins.
    assert_eq!((counters.queue_max(), counters.queue_max_bytes()), (1, 1));
    // Delivered as the run ends, and just before.
    counters.pass(at(10), service(25, 100), 1, backlog(2, 150));
    assert_eq!((counters.queue_max, counters.queue_max_bytes, counters.queue_area), (2, 150, 25));
    counters.pass(at(11), service(20, 99), 1, backlog(1, 200));
    assert_eq!((counters.queue_max, counters.queue_max_bytes, counters.queue_area), (2, 200, 34));
    counters.pass(at(99), service(120, 130), 1, backlog(3, 100));
    assert_eq!((counters.queue_max, counters.queue_max_bytes, counters.queue_area), (3, 200, 35));
    // Comes as the run ends.
    counters.pass(at(100), service(120, 130), 1, backlog(7, 700));
    assert_eq!((counters.queue_max, counters.queue_max_bytes, counters.queue_area), (3, 200, 35));
    assert_eq!(counters.queue_mean(), 35.0 / 90.0);
    // The service of the one that came at 99 has not begun.
    assert_eq!((counters.waits.count(), counters.waits().count()), (2, 2));
    assert_eq!((counters.queue_max(), counters.queue_max_bytes()), (3, 200));
    assert_eq!(counters.largest(), backlog(3, 200));
    // One whose leaving is stated for 30 leaves at 50.
    counters.queued(at(5), at(30), 40);
    counters.requeued(at(5), (at(30), at(50)), 40);
    assert_eq!(counters.queue_area, 35 + 40);
}

#[test]
fn the_queue_that_is_there_at_the_beginning_counts() {
    let mut counters = counters();
    // From before to before, to the beginning, to just after it and to ever; and from the beginning on.
    for (came, leaves) in [(1, 9), (2, 10), (3, 11), (4, 200), (10, 30)] {
        counters.queued(at(came), at(leaves), 7);
    }
    assert_eq!((counters.queue_max(), counters.queue_max_bytes()), (2, 14));
    // One is to leave earlier, another later.
    counters.requeued(at(4), (at(200), at(8)), 7);
    assert_eq!((counters.queue_max(), counters.queue_max_bytes()), (1, 7));
    counters.requeued(at(1), (at(9), at(12)), 7);
    assert_eq!((counters.queue_max(), counters.queue_max_bytes()), (2, 14));
}

#[test]
fn who_is_never_served_has_no_wait() {
    let mut counters = counters();
    for came in [9, 10, 99, 100] {
        counters.arrived.add(MEASURED, at(came), 1);
        counters.wait(at(came), Time::NEVER);
    }
    counters.deliver(at(20), at(30), 1);
    assert_eq!(counters.unserved, 2);
    // Of three that came inside one was served, at once.
    assert_eq!((counters.waits.count(), counters.waits().count()), (0, 1));
    // They wait since 9, 10 and 99; the last one came as the run ended.
    let waiting = counters.waiting();
    assert_eq!((waiting.units(), waiting.max_s()), (3, Some(91e-12)));
    assert_eq!(waiting.mean_s(), Some(182.0 / 3.0 / 1e12));
}

/// What has waited to the end of the run has not waited for more than that, whenever it would be served.
#[test]
fn who_still_waits_has_not_left() {
    let mut counters = counters();
    for (came, start) in [(5, 99), (5, 100), (20, 99), (20, 100), (90, 5000)] {
        counters.pass(at(came), service(start, start + 1), 1, backlog(1, 1));
    }
    assert_eq!((counters.waits().count(), counters.waits().max_s()), (1, Some(79e-12)));
    assert_eq!((counters.waiting().units(), counters.waiting().max_s()), (3, Some(95e-12)));
}

#[test]
#[should_panic(expected = "below zero")]
fn what_is_counted_twice_ends_the_program() {
    let mut counters = counters();
    counters.deliver(at(20), at(30), 1);
    counters.wait(at(20), at(25));
    counters.wait(at(20), Time::NEVER);
    let _ = counters.waits();
}

#[test]
fn many_at_once_are_as_many_one_by_one() {
    let (mut together, mut singly) = (counters(), counters());
    together.pass_alike(3, 7, Span::ZERO, 0);
    (0..3).for_each(|_| singly.deliver(at(10), at(20), 7));
    together.pass_alike(2, 7, Span::from_picos(6), 5);
    (0..2).for_each(|_| singly.pass(at(30), service(36, 40), 7, backlog(5, 35)));
    together.pass_alike(1, 7, Span::ZERO, 50);
    singly.deliver(at(30), at(31), 7);
    together.pass_alike(0, 7, Span::from_picos(6), 50);
    assert_eq!(format!("{together:?}"), format!("{singly:?}"));
}
