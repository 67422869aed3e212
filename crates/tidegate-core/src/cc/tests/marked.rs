//! Controllers that ask how much was marked, by numbers worked out by hand.

use super::*;
use crate::plan::TcpRules;

const RTT: Span = Span::from_millis(5);

fn controller(cc: CongestionPlan, rules: TcpRules) -> Controller {
    let ssthresh = Some(10 * MSS);
    Controller::new(&TcpPlan { sack: true, rules, initial_ssthresh: ssthresh, ..plan(cc) }, None)
}

fn alpha(controller: &Controller) -> f64 {
    let (name, alpha) = controller.detail().expect("alpha");
    assert_eq!(name, "alpha");
    alpha
}

/// A window of data of ten segments, so many of them marked, 5 ms after the one before.
fn round(controller: &mut Controller, number: u64, marked: u32) {
    let at = Time::ZERO + Span::from_millis(5 * number);
    let una = number * 10 * MSS;
    controller.handle_ack(&Ack {
        at,
        delivered: 10 * MSS,
        segments: 10,
        ecn_marked: marked,
        ecn_marked_bytes: None,
        lost: 0,
        in_flight_before: 10 * MSS,
        in_flight: 0,
        rtt: Some(RTT),
        smoothed_rtt: RTT,
        una,
        max: una + 10 * MSS - 1,
        repair: Repair::Nothing,
        window_limited: true,
        round: number,
        next_departure: at,
        total_lost: 0,
        rate: None,
    });
}

fn mark(controller: &mut Controller, ms: u64) {
    let at = Time::ZERO + Span::from_millis(ms);
    controller.handle_lost(&Lost { at, ..lost(10 * MSS, 10 * MSS, LossKind::Ecn) });
}

#[test]
fn alpha_follows_what_is_marked() {
    let mut dctcp = controller(CongestionPlan::Dctcp, TcpRules::RFC);
    assert_eq!(alpha(&dctcp), 1.0);
    round(&mut dctcp, 1, 0);
    assert_eq!(alpha(&dctcp), 15.0 / 16.0);
    round(&mut dctcp, 2, 5);
    assert_eq!(alpha(&dctcp), 225.0 / 256.0 + 1.0 / 32.0);
    // 10 segments · (1 − 0.91015625 / 2).
    mark(&mut dctcp, 10);
    assert_eq!((dctcp.window(), dctcp.snapshot().ssthresh), (5449, Some(5449)));
    // A loss halves.
    dctcp.handle_lost(&lost(8 * MSS, 8 * MSS, LossKind::DupAck));
    assert_eq!(dctcp.window(), 4 * MSS);
    assert_eq!(dctcp.ecn(), EcnNeed::Extent);
}

#[test]
fn linux_counts_alpha_in_1024ths() {
    let mut dctcp = controller(CongestionPlan::Dctcp, TcpRules::LINUX);
    round(&mut dctcp, 1, 0);
    assert_eq!(alpha(&dctcp), 960.0 / 1024.0);
    // 960 − 60 + 5 · 64 / 10.
    round(&mut dctcp, 2, 5);
    assert_eq!(alpha(&dctcp), 932.0 / 1024.0);
    // 10 − (10 · 932 >> 11).
    mark(&mut dctcp, 10);
    assert_eq!(dctcp.window(), 6 * MSS);
    for number in 3..200 {
        round(&mut dctcp, number, 0);
    }
    assert_eq!(alpha(&dctcp), 0.0);
}

#[test]
fn pragues_alpha_waits_for_the_first_mark() {
    let mut prague = controller(CongestionPlan::Prague, TcpRules::RFC);
    round(&mut prague, 1, 0);
    assert_eq!(alpha(&prague), 1.0);
    round(&mut prague, 2, 5);
    assert_eq!(alpha(&prague), 15.0 / 16.0 + 1.0 / 32.0);
    assert_eq!(prague.ecn(), EcnNeed::L4s);
}

#[test]
fn prague_grows_by_what_was_not_marked() {
    let mut prague = controller(CongestionPlan::Prague, TcpRules::RFC);
    // Six of ten: after two round trips a segment and a fifth are due, and the window moves by whole ones.
    round(&mut prague, 1, 4);
    assert_eq!(prague.window(), 10 * MSS);
    round(&mut prague, 2, 4);
    assert_eq!(prague.window(), 11 * MSS);
}

#[test]
fn short_round_trips_gain_prague_nothing() {
    let mut prague = controller(CongestionPlan::Prague, TcpRules::RFC);
    for number in 1..=4 {
        round(&mut prague, number, 0);
    }
    // 10/10, 10/11, 10/11 and 10/12 of a segment in the first four round trips; then (5 ms / 25 ms)² of 10/13 in each.
    assert_eq!(prague.window(), 13 * MSS);
    let missing: f64 = 4.0 - (10.0 / 10.0 + 10.0 / 11.0 + 10.0 / 11.0 + 10.0 / 12.0);
    let rounds = (missing / (10.0 / 13.0 / 25.0)).ceil() as u64;
    let grown = (5..100).find(|number| {
        round(&mut prague, *number, 0);
        prague.window() > 13 * MSS
    });
    assert_eq!(grown, Some(4 + rounds));
    // One reduction in 25 ms.
    let reduced = [600, 624, 625].map(|ms| {
        mark(&mut prague, ms);
        (0..20).for_each(|_| round(&mut prague, ms / 5, 0));
        segments(&prague)
    });
    assert!(reduced[0] < 15.0 && reduced[1] >= reduced[0] && reduced[2] < reduced[1], "{reduced:?}");
}

#[test]
fn prague_paces_a_window_in_a_round_trip() {
    let mut prague = controller(CongestionPlan::Prague, TcpRules::RFC);
    assert_eq!(prague.pacing_rate(), None);
    round(&mut prague, 1, 10);
    // With the headers of its packets, 40 bytes for each 1000.
    assert_eq!(prague.pacing_rate(), Some(Rate::from_bps(10 * 8320 * 200)));
}

#[test]
fn prague_is_reno_where_segments_are_lost() {
    let mut prague = controller(CongestionPlan::Prague, TcpRules::RFC);
    prague.handle_lost(&lost(10 * MSS, 10 * MSS, LossKind::DupAck));
    // A segment less with each ACK, down to half.
    let windows: Vec<u64> = (1..=7)
        .map(|number| {
            round(&mut prague, number, 10);
            prague.window() / MSS
        })
        .collect();
    assert_eq!(windows, [9, 8, 7, 6, 5, 5, 5]);
    prague.handle_lost(&lost(5 * MSS, 5 * MSS, LossKind::Timeout { again: false }));
    assert_eq!((prague.window(), prague.snapshot().ssthresh), (MSS, Some(2500)));
}
