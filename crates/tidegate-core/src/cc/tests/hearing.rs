//! Controllers that hear of every ACK, by numbers worked out by hand.

use super::*;
use crate::plan::{SlowStart, TcpRules};

const RTT: Span = Span::from_millis(100);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Starts in slow start with a window of `segments`, or in congestion avoidance.
fn controller(cc: CongestionPlan, segments: u64, avoids: bool) -> Controller {
    let plan = TcpPlan {
        initial_window: segments * MSS,
        initial_ssthresh: avoids.then_some(segments * MSS),
        sack: true,
        ..plan(cc)
    };
    Controller::new(&plan, None)
}

/// An ACK of one segment; everything sent is in order.
fn ack(at: Time, rtt: Span) -> Ack {
    Ack {
        at,
        delivered: MSS,
        segments: 1,
        ecn_marked: 0,
        ecn_marked_bytes: None,
        lost: 0,
        in_flight_before: 100 * MSS,
        in_flight: 100 * MSS,
        rtt: Some(rtt),
        smoothed_rtt: rtt,
        una: 0,
        max: 100 * MSS,
        repair: Repair::Nothing,
        window_limited: true,
        round: 0,
        next_departure: at,
        total_lost: 0,
        rate: None,
    }
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
}

/// A window after a round trip with samples of `ms`, where the least was 100 ms.
fn vegas_after(segments: u64, avoids: bool, ms: u64) -> Controller {
    let mut vegas = controller(CongestionPlan::Vegas, segments, avoids);
    let smoothed_rtt = RTT;
    let measured =
        |rtt, una| MeasuredTrip { at: at(0), rtt, smoothed_rtt, una, max: una + 10 * MSS, reduced: None };
    // The first ACK says where the first round trip ends; one sample is too few to judge by.
    vegas.handle_measured(&measured(RTT, 1));
    vegas.handle_acked(&Acked { window_limited: false, ..acked(at(0), RTT) });
    let rtt = Span::from_millis(ms);
    for una in [2, 3, 10 * MSS + 2] {
        vegas.handle_measured(&measured(rtt, una));
    }
    vegas.handle_acked(&acked(at(200), rtt));
    vegas
}

#[test]
fn vegas_keeps_two_to_four_segments_in_the_queue() {
    // Of 20 segments at 109, 115 and 126 ms, 1.8, 3 and 5.2 wait.
    for (ms, window) in [(109, 21), (115, 20), (126, 19)] {
        assert_eq!(vegas_after(20, true, ms).window(), window * MSS, "{ms}");
    }
}

#[test]
fn vegas_leaves_slow_start_when_more_than_one_segment_waits() {
    assert_eq!(vegas_after(20, false, 110).window(), 21 * MSS);
    // 2.2 wait; 20 · 100 / 111 and one.
    let vegas = vegas_after(20, false, 111);
    assert_eq!((vegas.window(), vegas.snapshot().ssthresh), (19 * MSS, Some(19 * MSS)));
}

#[test]
fn vegas_is_reno_after_a_loss() {
    let mut vegas = controller(CongestionPlan::Vegas, 20, true);
    vegas.handle_lost(&lost(20 * MSS, 20 * MSS, LossKind::DupAck));
    assert_eq!(vegas.window(), 10 * MSS);
    for _ in 0..10 {
        vegas.handle_acked(&acked(at(0), RTT));
    }
    assert_eq!(vegas.window(), 11 * MSS);
}

/// ACKs of a segment every 8 ms, two ticks, until a rate has been measured: 12 segments in 26 ticks.
fn westwood() -> Controller {
    let mut westwood = controller(CongestionPlan::Westwood, 40, true);
    for number in 1..=13 {
        let (at, una, max) = (at(8 * number), number * MSS, 100 * MSS);
        westwood.handle_measured(&MeasuredTrip { at, rtt: RTT, smoothed_rtt: RTT, una, max, reduced: None });
        westwood.handle_ack(&Ack { una, ..ack(at, RTT) });
    }
    westwood
}

#[test]
fn westwood_falls_to_what_the_path_carries() {
    // 461 bytes a tick · 25 ticks = 11.5 segments.
    let mut slow = westwood();
    slow.handle_lost(&Lost { remaining: 3 * MSS, ..lost(0, 0, LossKind::Timeout { again: false }) });
    assert_eq!((slow.window(), slow.snapshot().ssthresh), (4 * MSS, Some(11 * MSS)));
    // A fast recovery halves first.
    let mut westwood = westwood();
    westwood.handle_lost(&lost(0, 0, LossKind::DupAck));
    assert_eq!(westwood.window(), 20 * MSS);
    let una = 14 * MSS;
    westwood.handle_ack(&Ack { una, repair: Repair::Recovery, ..ack(at(110), RTT) });
    assert_eq!(westwood.window(), 20 * MSS);
    westwood.handle_ack(&Ack { una, ..ack(at(120), RTT) });
    assert_eq!(westwood.window(), 11 * MSS);
}

#[test]
fn westwood_grows_as_reno() {
    let mut westwood = controller(CongestionPlan::Westwood, 4, true);
    for _ in 0..4 {
        westwood.handle_acked(&acked(at(0), RTT));
    }
    assert_eq!(westwood.window(), 5 * MSS);
}

/// In congestion avoidance, with `segments` and 10 ms of queue.
fn copa(segments: u64) -> Controller {
    let mut copa = controller(CongestionPlan::Copa, segments, false);
    copa.handle_ack(&Ack { window_limited: false, una: 1, ..ack(at(0), RTT) });
    copa.handle_ack(&Ack { una: 2, ..ack(at(1000), Span::from_millis(110)) });
    copa
}

#[test]
fn copa_moves_towards_its_rate() {
    // The target: 1 / (0.5 · 10 ms) = 200 packets/s; 21 in 110 ms are 191, 23 are 209.
    near(segments(&copa(21)), 22.0);
    near(segments(&copa(23)), 23.0 - 1.0 / (0.5 * 23.0));
    assert!(copa(21).snapshot().slow_start && !copa(23).snapshot().slow_start);
    // Once slow start is over, steps are of 1 / (delta · cwnd) either way.
    let mut copa = copa(23);
    let before = segments(&copa);
    copa.handle_ack(&Ack { una: 3, ..ack(at(2000), Span::from_millis(101)) });
    near(segments(&copa), before + 1.0 / (0.5 * before));
}

#[test]
fn copa_paces_at_twice_its_rate() {
    let copa = copa(21);
    let bps = copa.pacing_rate().expect("a round trip is known").bps();
    assert_eq!(bps, 22 * 1000 * 8 * 2 * 1000 / 110);
}

#[test]
fn copas_velocity_doubles_after_three_round_trips_in_one_direction() {
    let mut copa = copa(23);
    let mut steps = Vec::new();
    for round in 0..7 {
        let before = segments(&copa);
        let una = (round + 2) * 1000 * MSS;
        // The queue is empty for a moment.
        copa.handle_ack(&Ack { delivered: 0, ..ack(at(2900 + 200 * round), RTT) });
        let next = ack(at(3000 + 200 * round), Span::from_millis(101));
        copa.handle_ack(&Ack { una, max: una, ..next });
        steps.push((segments(&copa) - before) * 0.5 * before);
    }
    let velocities: Vec<u64> = steps.iter().map(|step| step.round() as u64).collect();
    assert_eq!(velocities, [1, 1, 1, 1, 2, 4, 8]);
}

#[test]
fn copa_competes_where_others_keep_the_queue_full() {
    let mut copa = copa(23);
    let delta = |of: &Controller| of.detail().expect("delta").1;
    let mut number = 0;
    let mut round = |to: &mut Controller, ms: u64| {
        number += 1;
        let una = (number + 2) * 1000 * MSS;
        to.handle_ack(&Ack { una, max: una, ..ack(at(2000 + 300 * number), Span::from_millis(ms)) });
    };
    for _ in 0..12 {
        round(&mut copa, 200);
        round(&mut copa, 210);
    }
    // One more packet a round trip.
    let before = delta(&copa);
    assert!(before < 0.2, "{before}");
    round(&mut copa, 200);
    near(1.0 / delta(&copa), 1.0 / before + 1.0);
    // A loss halves 1/delta.
    copa.handle_lost(&lost(0, 0, LossKind::DupAck));
    let full = delta(&copa);
    round(&mut copa, 210);
    near(1.0 / delta(&copa), 0.5 / full);
    // An empty queue ends it.
    round(&mut copa, 100);
    round(&mut copa, 100);
    near(delta(&copa), 0.5);
}

#[test]
fn copa_looks_at_no_loss_but_a_time_out() {
    let mut copa = copa(23);
    let before = copa.window();
    copa.handle_lost(&lost(0, 0, LossKind::DupAck));
    assert_eq!(copa.window(), before);
    copa.handle_lost(&lost(0, 0, LossKind::Timeout { again: false }));
    assert_eq!(copa.window(), MSS);
}

/// ACKs that only fill the filter of the delay.
fn settle(ledbat: &mut Controller, now: u64, ms: u64) {
    for _ in 0..4 {
        let rtt = Span::from_millis(ms);
        ledbat.handle_ack(&Ack { delivered: 0, smoothed_rtt: RTT, ..ack(at(now), rtt) });
    }
}

#[test]
fn ledbats_gain_depends_on_the_base() {
    // 1 / ceil(120 ms / base), 1/16 at least, of two segments.
    for (ms, times) in [(120, 1.0), (100, 2.0), (40, 3.0), (5, 16.0)] {
        let mut ledbat = controller(CongestionPlan::Ledbat, 10, false);
        assert_eq!(ledbat.window(), 2 * MSS);
        ledbat.handle_ack(&ack(at(0), Span::from_millis(ms)));
        near(segments(&ledbat), 2.0 + 1.0 / times);
    }
}

/// 20 segments, out of slow start by a queue of 46 ms on a base of 120 ms, at 1 s.
fn ledbat() -> Controller {
    let mut ledbat = controller(CongestionPlan::Ledbat, 10, false);
    for _ in 0..18 {
        ledbat.handle_ack(&Ack { smoothed_rtt: RTT, ..ack(at(0), Span::from_millis(120)) });
    }
    settle(&mut ledbat, 900, 165);
    assert!(ledbat.snapshot().slow_start, "45 ms is three quarters of the target and not more");
    settle(&mut ledbat, 1000, 166);
    assert_eq!((ledbat.window(), ledbat.snapshot().slow_start), (20 * MSS, false));
    ledbat
}

#[test]
fn ledbat_decreases_beyond_its_target() {
    let next = |queue: u64| {
        let mut ledbat = ledbat();
        settle(&mut ledbat, 1010, 120 + queue);
        ledbat.handle_ack(&Ack { smoothed_rtt: RTT, ..ack(at(1020), Span::from_millis(120 + queue)) });
        segments(&ledbat)
    };
    near(next(60), 20.0 + 1.0 / 20.0);
    // In a round trip: 1 − 20 · (90/60 − 1) = −9 segments.
    near(next(90), 20.0 - 9.0 / 20.0);
    // Never more than half.
    near(next(200), 20.0 - 10.0 / 20.0);
}

#[test]
fn ledbat_slows_down_to_measure_the_base() {
    let mut ledbat = ledbat();
    let low = |now| Ack { delivered: 0, smoothed_rtt: RTT, ..ack(at(now), Span::from_millis(120)) };
    // Two round trips after slow start, for two round trips.
    ledbat.handle_ack(&low(1199));
    assert_eq!(ledbat.window(), 20 * MSS);
    ledbat.handle_ack(&low(1200));
    assert_eq!(ledbat.window(), 2 * MSS);
    ledbat.handle_ack(&Ack { delivered: MSS, ..low(1399) });
    assert_eq!(ledbat.window(), 2 * MSS);
    // Back by slow start.
    ledbat.handle_ack(&low(1400));
    ledbat.handle_ack(&Ack { delivered: 17 * MSS, ..low(1400) });
    assert_eq!(ledbat.window(), 19 * MSS);
    ledbat.handle_ack(&Ack { delivered: 5 * MSS, ..low(1500) });
    assert_eq!(ledbat.window(), 20 * MSS);
    // It took 300 ms; the next comes after nine times that.
    ledbat.handle_ack(&low(1500 + 2699));
    assert_eq!(ledbat.window(), 20 * MSS);
    ledbat.handle_ack(&low(1500 + 2700));
    assert_eq!(ledbat.window(), 2 * MSS);
}

#[test]
fn ledbat_halves_after_a_loss() {
    let mut ledbat = ledbat();
    ledbat.handle_lost(&lost(0, 0, LossKind::DupAck));
    assert_eq!(ledbat.window(), 10 * MSS);
    ledbat.handle_lost(&lost(0, 0, LossKind::Timeout { again: false }));
    assert_eq!((ledbat.window(), ledbat.snapshot().ssthresh), (2 * MSS, Some(5 * MSS)));
}

/// RFC 9406 §4.3.
#[test]
fn hystart_pp_is_of_the_first_slow_start() {
    for cc in [CongestionPlan::Reno, CongestionPlan::NewReno, CongestionPlan::Cubic] {
        let rules = TcpRules { slow_start: SlowStart::HyStartPlusPlus, ..TcpRules::RFC };
        let mut controller = Controller::new(&TcpPlan { sack: true, rules, ..plan(cc) }, None);
        let double = Acked { bytes: 2 * MSS, segments: 2, ..acked(at(0), RTT) };
        controller.handle_acked(&double);
        assert_eq!(controller.window(), 12 * MSS, "{cc:?}");
        controller.handle_lost(&lost(12 * MSS, 12 * MSS, LossKind::Timeout { again: false }));
        controller.handle_acked(&double);
        assert_eq!(controller.window(), 2 * MSS, "{cc:?}");
        // A round of 50 ms, and ten after it of 60: conservative after the first of them, over after the fifth.
        let mut another = Controller::new(&TcpPlan { sack: true, rules, ..plan(cc) }, None);
        for round in 0..7 {
            let rtt = Span::from_millis(if round == 0 { 50 } else { 60 });
            for una in 1..=8 {
                let una = 10 * round + una;
                another.handle_measured(&MeasuredTrip {
                    at: at(0),
                    rtt,
                    smoothed_rtt: rtt,
                    una,
                    max: 10 * round + 10,
                    reduced: None,
                });
            }
            assert_eq!(another.snapshot().slow_start, round < 6, "{cc:?} {round}");
        }
    }
}
