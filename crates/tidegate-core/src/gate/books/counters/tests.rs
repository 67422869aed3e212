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
        counters.pass(at(came), at(end), wire);
    }
    assert_eq!(counters.offered().total(), count(4, 4321));
    assert_eq!(counters.offered().measured(), count(2, 4300));
    assert_eq!(counters.delivered().total(), count(3, 321));
    assert_eq!(counters.delivered().measured(), count(2, 320));
    assert_eq!(counters.held(), count(1, 4000));
    let more = counters.with_inside(count(2, 60));
    assert_eq!((more.offered().measured(), more.delivered().total()), (count(4, 4360), count(5, 381)));
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
fn waits_and_the_queue_are_those_inside() {
    let mut counters = counters();
    assert_eq!(counters.queue_mean(), 0.0);
    // Comes before: ten instants of its wait are inside.
    counters.pass_waiting(at(9), service(20, 30), 1, backlog(9, 900));
    assert_eq!((counters.waits().count(), counters.queue_max, counters.queue_max_bytes), (0, 0, 0));
    assert_eq!(counters.queue_area, 10);
    // Delivered as the run ends, and just before.
    counters.pass_waiting(at(10), service(25, 100), 1, backlog(2, 150));
    assert_eq!((counters.queue_max, counters.queue_max_bytes, counters.queue_area), (2, 150, 25));
    counters.pass_waiting(at(11), service(20, 99), 1, backlog(1, 200));
    assert_eq!((counters.queue_max, counters.queue_max_bytes, counters.queue_area), (2, 200, 34));
    counters.pass_waiting(at(99), service(120, 130), 1, backlog(3, 100));
    assert_eq!((counters.queue_max, counters.queue_max_bytes, counters.queue_area), (3, 200, 35));
    // Comes as the run ends.
    counters.pass_waiting(at(100), service(120, 130), 1, backlog(7, 700));
    assert_eq!((counters.queue_max, counters.queue_max_bytes, counters.queue_area), (3, 200, 35));
    assert_eq!(counters.queue_mean(), 35.0 / 90.0);
    assert_eq!((counters.waits.count(), counters.waits().count()), (3, 3));
    assert_eq!(
        [(3, 200), (4, 1), (1, 201)].map(|(units, bytes)| counters.is_larger(backlog(units, bytes))),
        [false, true, true]
    );
    // One that is told to leave at 30 leaves at 50.
    counters.queued(at(5), at(30));
    counters.requeued(at(5), at(30), at(50));
    assert_eq!(counters.queue_area, 35 + 40);
}

#[test]
fn who_is_never_served_has_no_wait() {
    let mut counters = counters();
    for came in [9, 10, 99, 100] {
        counters.offered.add(MEASURED, at(came), 1);
        counters.wait(at(came), Time::NEVER);
    }
    counters.pass(at(20), at(30), 1);
    assert_eq!(counters.unserved, 2);
    // Of three that came inside one was served, at once.
    assert_eq!((counters.waits.count(), counters.waits().count()), (0, 1));
}

#[test]
fn many_at_once_are_as_many_one_by_one() {
    let (mut together, mut singly) = (counters(), counters());
    together.pass_many(3, 7);
    (0..3).for_each(|_| singly.pass(at(10), at(20), 7));
    together.pass_rising(4, [5, 8, 11].into_iter(), 7, 3);
    singly.pass(at(20), at(21), 7);
    for (wait, queue) in [(5, 1), (8, 2), (11, 3)] {
        singly.pass_waiting(at(20), service(20 + wait, 40), 7, backlog(queue, 7 * queue));
    }
    together.pass_rising(1, [].into_iter(), 7, 9);
    singly.pass(at(20), at(21), 7);
    together.pass_alike(2, 7, Span::from_picos(6), 5);
    (0..2).for_each(|_| singly.pass_waiting(at(30), service(36, 40), 7, backlog(5, 35)));
    together.pass_alike(1, 7, Span::ZERO, 50);
    singly.pass(at(30), at(31), 7);
    together.pass_alike(0, 7, Span::from_picos(6), 50);
    assert_eq!(format!("{together:?}"), format!("{singly:?}"));
}
