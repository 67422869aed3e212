//! Windows as Linux counts them, worked out by hand from its source.

use super::{LinuxCubic, LinuxReno};
use crate::cc::{Acked, CongestionControl, LossKind, Lost, MeasuredTrip, Undone};
use crate::plan::{TcpPlan, TcpRules};
use crate::tcp::plain_plan;
use crate::units::{Span, Time};

const MSS: u64 = 1000;

fn plan(segments: u64) -> TcpPlan {
    TcpPlan {
        mss: MSS as u32,
        initial_window: segments * MSS,
        sack: true,
        rules: TcpRules::LINUX,
        ..plain_plan()
    }
}

fn acked(at: Time, segments: u32) -> Acked {
    Acked {
        at,
        bytes: u64::from(segments) * MSS,
        segments,
        in_flight: 0,
        rtt: None,
        smoothed_rtt: Span::from_millis(50),
        window_limited: true,
    }
}

fn lost(kind: LossKind, remaining: u64) -> Lost {
    Lost { at: Time::ZERO, in_flight: 0, window: 0, kind, remaining, total_lost: 0, max: 0 }
}

#[test]
fn slow_start_counts_every_segment() {
    let mut reno = LinuxReno::new(&TcpPlan { initial_ssthresh: Some(15 * MSS), ..plan(10) });
    reno.handle_acked(&acked(Time::ZERO, 3));
    assert_eq!(reno.window(), 13 * MSS);
    // Two to the threshold; the other five count towards the next segment of congestion avoidance.
    reno.handle_acked(&acked(Time::ZERO, 7));
    assert_eq!(reno.window(), 15 * MSS);
    reno.handle_acked(&acked(Time::ZERO, 10));
    assert_eq!(reno.window(), 16 * MSS);
}

#[test]
fn a_window_that_is_not_the_limit_stays() {
    let mut reno = LinuxReno::new(&plan(10));
    reno.handle_acked(&Acked { window_limited: false, ..acked(Time::ZERO, 3) });
    assert_eq!(reno.window(), 10 * MSS);
}

#[test]
fn losses_halve_and_time_outs_leave_one_more_than_is_in_flight() {
    let mut reno = LinuxReno::new(&plan(21));
    reno.handle_lost(&lost(LossKind::DupAck, 0));
    assert_eq!((reno.window(), reno.snapshot().ssthresh), (10 * MSS, Some(10 * MSS)));
    reno.handle_lost(&lost(LossKind::Timeout { again: false }, 2 * MSS));
    assert_eq!((reno.window(), reno.snapshot().ssthresh), (3 * MSS, Some(5 * MSS)));
    reno.handle_lost(&lost(LossKind::Timeout { again: true }, 0));
    assert_eq!((reno.window(), reno.snapshot().ssthresh), (MSS, Some(5 * MSS)));
}

/// A mark takes as much as a loss (`tcp_enter_cwr`), with ABE (RFC 8511 §3) less.
#[test]
fn marks_reduce_as_losses_do_or_less() {
    for (abe, reno_window, cubic_window) in [(false, 10, 14), (true, 16, 17)] {
        let plan = TcpPlan { abe, ..plan(21) };
        let (mut reno, mut cubic) = (LinuxReno::new(&plan), LinuxCubic::new(&plan));
        reno.handle_lost(&lost(LossKind::Ecn, 0));
        cubic.handle_lost(&lost(LossKind::Ecn, 0));
        assert_eq!((reno.window() / MSS, cubic.window() / MSS), (reno_window, cubic_window));
    }
}

#[test]
fn slow_start_after_an_idle_time_leads_to_three_quarters() {
    let mut reno = LinuxReno::new(&plan(40));
    reno.handle_lost(&lost(LossKind::DupAck, 0));
    for _ in 0..20 {
        reno.handle_acked(&acked(Time::ZERO, 20));
    }
    let window = reno.window() / MSS;
    reno.handle_restart(10 * MSS);
    assert_eq!(reno.window(), 10 * MSS);
    assert_eq!(reno.snapshot().ssthresh, Some((window / 2 + window / 4) * MSS));
}

#[test]
fn cubic_keeps_seven_tenths_and_halfway_less_of_a_plateau_not_reached() {
    let mut cubic = LinuxCubic::new(&plan(100));
    cubic.handle_lost(&lost(LossKind::DupAck, 0));
    // 100 · 717 / 1024
    assert_eq!(cubic.window(), 70 * MSS);
    assert_eq!(cubic.curve.last_max, 100);
    cubic.handle_lost(&lost(LossKind::DupAck, 0));
    // 70 · (1024 + 717) / 2048
    assert_eq!((cubic.window(), cubic.curve.last_max), (49 * MSS, 59));
}

/// The plateau is reached after K seconds: the cube root of 30 / 0.4 is 4.217 s.
#[test]
fn the_curve_is_back_at_the_plateau_after_k() {
    let mut cubic = LinuxCubic::new(&plan(100));
    cubic.handle_lost(&lost(LossKind::DupAck, 0));
    let rtt = Span::from_millis(100);
    let mut now = Time::ZERO;
    let mut at = Vec::new();
    for round in 0..60 {
        now += rtt;
        for _ in 0..cubic.window() / MSS {
            cubic.handle_acked(&acked(now, 1));
        }
        if [9, 19, 42].contains(&round) {
            at.push(cubic.window() / MSS);
        }
    }
    // 100 - 0.4 (4.217 - t)³ at the times 1, 2 and 4.3 s: 86.7, 95.6, 100; delay by a round trip.
    assert!(
        (84..=88).contains(&at[0]) && (94..=96).contains(&at[1]) && (99..=101).contains(&at[2]),
        "{at:?}"
    );
}

#[test]
fn before_the_first_loss_the_window_grows_by_a_twentieth() {
    let mut cubic = LinuxCubic::new(&TcpPlan { initial_ssthresh: Some(100 * MSS), ..plan(100) });
    for _ in 0..100 {
        cubic.handle_acked(&acked(Time::ZERO, 1));
    }
    assert_eq!(cubic.window(), 105 * MSS);
}

fn rounds(cubic: &mut LinuxCubic, rtts: &[u64], gap: Span) -> Time {
    let mut now = Time::ZERO + Span::from_secs(1);
    let mut una = 0;
    for rtt in rtts {
        let begin = now;
        let (count, max) = (cubic.window() / MSS, una + cubic.window());
        for _ in 0..count {
            una += MSS;
            let rtt = Span::from_millis(*rtt);
            cubic.handle_measured(&MeasuredTrip { at: now, rtt, smoothed_rtt: rtt, una, max, reduced: None });
            cubic.handle_acked(&acked(now, 1));
            now += gap;
        }
        now = now.max(begin + Span::from_millis(*rtt));
    }
    now
}

#[test]
fn hystart_ends_slow_start_where_round_trips_grow() {
    let mut cubic = LinuxCubic::new(&plan(10));
    // An eighth of 100 ms more is not yet more: 112 ms are nothing.
    rounds(&mut cubic, &[100, 100, 100, 112], Span::from_micros(10));
    assert_eq!((cubic.window(), cubic.snapshot().ssthresh), (160 * MSS, None));
    let mut slower = LinuxCubic::new(&plan(10));
    // 113 ms are, from the ninth sample on.
    rounds(&mut slower, &[100, 100, 100, 100, 113], Span::from_micros(10));
    assert_eq!(slower.snapshot().ssthresh, Some(168 * MSS));
}

#[test]
fn hystart_ends_slow_start_where_acks_come_for_half_a_round_trip() {
    let mut cubic = LinuxCubic::new(&plan(10));
    // 80 ACKs at 0.7 ms last 56 ms, more than half of 100 ms and 1 ms for bursts.
    rounds(&mut cubic, &[100, 100, 100, 100], Span::from_micros(700));
    let ssthresh = cubic.snapshot().ssthresh.expect("slow start has ended");
    assert!((145 * MSS..=160 * MSS).contains(&ssthresh), "{ssthresh}");
}

/// `tcp_undo_cwnd_reduction`: the larger of both windows, and the threshold that slow start would have led back to.
#[test]
fn a_needless_reduction_is_taken_back() {
    let mut reno = LinuxReno::new(&TcpPlan { initial_ssthresh: Some(12 * MSS), ..plan(20) });
    reno.handle_lost(&lost(LossKind::DupAck, 0));
    assert_eq!(reno.window(), 10 * MSS);
    reno.handle_undone(&Undone { window: 20 * MSS, ssthresh: Some(12 * MSS) });
    assert_eq!((reno.window(), reno.snapshot().ssthresh), (20 * MSS, Some(15 * MSS)));
    let mut cubic = LinuxCubic::new(&plan(20));
    cubic.handle_lost(&lost(LossKind::Timeout { again: false }, 0));
    assert_eq!(cubic.window(), MSS);
    cubic.handle_undone(&Undone { window: 20 * MSS, ssthresh: None });
    assert_eq!((cubic.window(), cubic.snapshot().ssthresh), (20 * MSS, None));
}
