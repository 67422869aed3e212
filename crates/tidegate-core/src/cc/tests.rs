//! Window arithmetic: thresholds, growth, and CUBIC against the closed forms of RFC 9438.

use super::*;
use crate::plan::{CongestionPlan, Increase, SsthreshRounding, TcpPlan};
use crate::random::Seed;
use crate::tcp::plain_plan;
use crate::units::{Rate, Span, Time};

mod control;
mod golden;
mod hearing;
mod marked;
pub(super) mod scripted;

pub(super) const MSS: u64 = 1000;

fn plan(cc: CongestionPlan) -> TcpPlan {
    TcpPlan { cc, mss: MSS as u32, initial_window: 10 * MSS, ..plain_plan() }
}

fn acked(at: Time, rtt: Span) -> Acked {
    Acked {
        at,
        bytes: MSS,
        segments: 1,
        in_flight: 0,
        rtt: Some(rtt),
        smoothed_rtt: rtt,
        window_limited: true,
    }
}

fn lost(in_flight: u64, window: u64, kind: LossKind) -> Lost {
    Lost { at: Time::ZERO, in_flight, window, kind, remaining: 0, total_lost: 0, max: 0 }
}

/// Acknowledges window after window for `rounds` round trips; returns the time.
fn rounds(controller: &mut Controller, mut now: Time, rtt: Span, rounds: u64) -> Time {
    for _ in 0..rounds {
        let segments = controller.window() / MSS;
        for _ in 0..segments {
            now += Span::from_picos(rtt.picos() / segments);
            controller.handle_acked(&acked(now, rtt));
        }
    }
    now
}

fn segments(controller: &Controller) -> f64 {
    controller.snapshot().window / MSS as f64
}

#[test]
fn ns2_halves_the_window_as_it_is() {
    for cc in [CongestionPlan::Reno, CongestionPlan::NewReno] {
        let of = |rounding| {
            let plan = TcpPlan { ssthresh_rounding: rounding, initial_window: 9_900, ..plan(cc) };
            let mut controller = Controller::new(&plan, None);
            controller.handle_lost(&lost(9_000, 9_900, LossKind::DupAck));
            controller.handle_recovered(&Recovered { in_flight: 1_000 });
            (controller.window(), controller.snapshot().ssthresh)
        };
        assert_eq!(of(SsthreshRounding::Ns2), (4_950, Some(4_000)));
        let whole = if cc == CongestionPlan::NewReno { 2_000 } else { 4_000 };
        assert_eq!(of(SsthreshRounding::Down), (whole, Some(4_000)));
    }
}

#[test]
fn thresholds_after_a_loss() {
    let threshold = |rounding, in_flight, window, kind| {
        let plan = TcpPlan { ssthresh_rounding: rounding, ..plan(CongestionPlan::Reno) };
        let mut reno = Controller::new(&plan, None);
        reno.handle_lost(&lost(30_000, 30_000, LossKind::DupAck));
        reno.handle_lost(&lost(in_flight, window, kind));
        reno.snapshot().ssthresh.unwrap()
    };
    let again = LossKind::Timeout { again: true };
    let first = LossKind::Timeout { again: false };
    // RFC 5681 eq. (4), and held for a repeated time-out.
    assert_eq!(threshold(SsthreshRounding::Exact, 7_300, 9_000, first), 3_650);
    assert_eq!(threshold(SsthreshRounding::Exact, 1_000, 9_000, first), 2_000);
    assert_eq!(threshold(SsthreshRounding::Exact, 1_000, 1_000, again), 15_000);
    // Counted in segments: half of the window, and halved every time.
    assert_eq!(threshold(SsthreshRounding::Down, 1_000, 9_900, first), 4_000);
    assert_eq!(threshold(SsthreshRounding::Ns2, 1_000, 9_900, first), 4_000);
    assert_eq!(threshold(SsthreshRounding::Up, 1_000, 9_900, first), 5_000);
    assert_eq!(threshold(SsthreshRounding::Up, 1_000, 8_000, first), 4_000);
    assert_eq!(threshold(SsthreshRounding::Up, 1_000, 1_000, again), 2_000);
}

/// RFC 3168 §6.1.2: a mark takes as much as a loss and starts no slow start; with ABE (RFC 8511 §3) it takes less.
#[test]
fn windows_after_a_mark() {
    let window = |cc, abe, rounding| {
        let plan = TcpPlan { abe, ssthresh_rounding: rounding, ..plan(cc) };
        let mut controller = Controller::new(&plan, None);
        controller.handle_lost(&lost(20_000, 20_000, LossKind::Ecn));
        (controller.window(), controller.snapshot().ssthresh)
    };
    for rounding in [SsthreshRounding::Exact, SsthreshRounding::Ns2] {
        for cc in [CongestionPlan::Reno, CongestionPlan::Tahoe { fast_retransmit: true }] {
            assert_eq!(window(cc, false, rounding), (10_000, Some(10_000)));
            assert_eq!(window(cc, true, rounding), (16_000, Some(16_000)));
        }
    }
    assert_eq!(window(CongestionPlan::Cubic, false, SsthreshRounding::Exact), (14_000, Some(14_000)));
    assert_eq!(window(CongestionPlan::Cubic, true, SsthreshRounding::Exact), (17_000, Some(17_000)));
    // Two segments at least.
    let mut reno = Controller::new(&TcpPlan { abe: true, ..plan(CongestionPlan::Reno) }, None);
    reno.handle_lost(&lost(2_000, 2_000, LossKind::Ecn));
    assert_eq!(reno.window(), 2_000);
}

#[test]
fn windows_after_a_loss() {
    let window = |cc, kind| {
        let mut controller = Controller::new(&plan(cc), None);
        controller.handle_lost(&lost(20_000, 20_000, kind));
        controller.window()
    };
    let timeout = LossKind::Timeout { again: false };
    assert_eq!(window(CongestionPlan::Reno, LossKind::DupAck), 10_000);
    assert_eq!(window(CongestionPlan::Reno, timeout), 1_000);
    assert_eq!(window(CongestionPlan::Tahoe { fast_retransmit: true }, LossKind::DupAck), 1_000);
    assert_eq!(window(CongestionPlan::Cubic, LossKind::DupAck), 14_000);
    assert_eq!(window(CongestionPlan::Cubic, timeout), 1_000);
    assert_eq!(window(CongestionPlan::Fixed { window: 7_500 }, timeout), 7_500);
    assert_eq!(window(CongestionPlan::Fixed { window: 10 }, timeout), 1_000);
}

/// The real-valued cwnd += 1/cwnd of ns-2, over a million ACKs.
#[test]
fn growth_per_ack_does_not_drift() {
    let mut reno =
        Controller::new(&TcpPlan { initial_ssthresh: Some(MSS), ..plan(CongestionPlan::Reno) }, None);
    let mut real = 10.0_f64;
    for _ in 0..1_000_000 {
        reno.handle_acked(&acked(Time::ZERO, Span::ZERO));
        real += 1.0 / real;
    }
    assert!((segments(&reno) - real).abs() < 0.01, "{} and {real}", segments(&reno));
}

#[test]
fn growth_by_chance_has_the_right_mean() {
    let plan = TcpPlan {
        increase: Increase::Random,
        initial_ssthresh: Some(MSS),
        initial_window: 50 * MSS,
        ..plan(CongestionPlan::Reno)
    };
    let mut total = 0.0;
    for replication in 0..400 {
        let rng = Seed { seed: 1, replication }.stream("increase");
        let mut reno = Controller::new(&plan, Some(rng));
        rounds(&mut reno, Time::ZERO, Span::from_millis(100), 1);
        total += segments(&reno) - 50.0;
    }
    // 50 draws of 1/50 each: mean just below 1 (the window grows on the way), deviation 0.05.
    assert!((total / 400.0 - 0.99).abs() < 0.15, "{}", total / 400.0);
}

#[test]
fn a_window_that_does_not_limit_does_not_grow() {
    for cc in [CongestionPlan::Reno, CongestionPlan::Cubic] {
        let mut controller = Controller::new(&plan(cc), None);
        controller.handle_acked(&Acked { window_limited: false, ..acked(Time::ZERO, Span::from_millis(10)) });
        assert_eq!(controller.window(), 10 * MSS);
    }
}

/// A CUBIC that had 100 segments and lost one at time 0.
fn cubic_after_a_loss_at_100() -> Controller {
    let plan = TcpPlan { initial_window: 100 * MSS, ..plan(CongestionPlan::Cubic) };
    let mut cubic = Controller::new(&plan, None);
    cubic.handle_lost(&lost(100 * MSS, 100 * MSS, LossKind::DupAck));
    assert_eq!(cubic.window(), 70 * MSS);
    cubic
}

/// RFC 9438 §4.2: W(t) = 0.4 (t - K)³ + 100 with K = (30/0.4)^(1/3) = 4.217 s.
#[test]
fn cubic_follows_its_curve() {
    let mut cubic = cubic_after_a_loss_at_100();
    // Long enough for Reno to be slower all the way.
    let rtt = Span::from_millis(400);
    let mut now = Time::ZERO;
    let k = 75.0_f64.cbrt();
    for _ in 0..25 {
        now = rounds(&mut cubic, now, rtt, 1);
        let beyond = now.as_secs_f64() - k;
        let curve = 0.4 * beyond.powi(3) + 100.0;
        assert!((segments(&cubic) - curve).abs() < 1.0, "{now}: {} and {curve}", segments(&cubic));
    }
}

/// RFC 9438 §4.3: in a short round trip as Reno with alpha = 9/17, and with 1 beyond the old window.
#[test]
fn cubic_is_no_slower_than_reno() {
    let plan = TcpPlan { initial_window: 20 * MSS, ..plan(CongestionPlan::Cubic) };
    let mut cubic = Controller::new(&plan, None);
    cubic.handle_lost(&lost(20 * MSS, 20 * MSS, LossKind::DupAck));
    let rtt = Span::from_millis(5);
    let now = rounds(&mut cubic, Time::ZERO, rtt, 10);
    assert!((segments(&cubic) - (14.0 + 10.0 * 9.0 / 17.0)).abs() < 0.4, "{}", segments(&cubic));
    let now = rounds(&mut cubic, now, rtt, 2);
    let at_20 = segments(&cubic);
    rounds(&mut cubic, now, rtt, 10);
    assert!((segments(&cubic) - at_20 - 10.0).abs() < 1.0, "{at_20} then {}", segments(&cubic));
}

/// RFC 9438 §4.7: a loss below the last plateau lowers the next one to (1 + 0.7)/2 of the window.
#[test]
fn cubic_converges_fast() {
    let rtt = Span::from_millis(100);
    let plateau = |window: u64| {
        let mut cubic = cubic_after_a_loss_at_100();
        let mut now = Time::ZERO;
        while cubic.window() < window * MSS {
            now = rounds(&mut cubic, now, rtt, 1);
        }
        let had = segments(&cubic);
        cubic.handle_lost(&Lost { at: now, ..lost((had * 1000.0) as u64, 0, LossKind::DupAck) });
        let left = segments(&cubic);
        // One segment below the plateau the curve is nearly flat: find where it is flattest.
        let (mut least, mut flattest) = (f64::MAX, 0.0);
        for _ in 0..100 {
            let before = segments(&cubic);
            now = rounds(&mut cubic, now, rtt, 1);
            if segments(&cubic) - before < least && segments(&cubic) > left + 1.0 {
                least = segments(&cubic) - before;
                flattest = segments(&cubic);
            }
        }
        (had, flattest)
    };
    for (window, share) in [(90, 0.85), (110, 1.0)] {
        let (had, flattest) = plateau(window);
        assert!((flattest - had * share).abs() < 2.0, "{had} {flattest}");
    }
}

/// RFC 9438 §4.8: after a time-out slow start, then a curve that starts flat.
#[test]
fn cubic_starts_flat_after_a_timeout() {
    let mut cubic = cubic_after_a_loss_at_100();
    cubic.handle_lost(&lost(70 * MSS, 70 * MSS, LossKind::Timeout { again: false }));
    assert_eq!(cubic.snapshot().ssthresh, Some(49 * MSS));
    let rtt = Span::from_millis(100);
    let now = rounds(&mut cubic, Time::ZERO, rtt, 6);
    let begun = segments(&cubic);
    assert!((49.0..52.0).contains(&begun), "{begun}");
    // 0.4 · 3³ = 10.8, and Reno in the meantime: 30 · 9/17 = 15.9, then more.
    rounds(&mut cubic, now, rtt, 30);
    let grown = segments(&cubic) - begun;
    assert!((15.0..31.0).contains(&grown), "{begun} + {grown}");
}

/// RFC 9438 §5.8: time in which the window was not used does not count.
#[test]
fn cubic_stands_still_while_the_application_does() {
    let rtt = Span::from_millis(100);
    let mut busy = cubic_after_a_loss_at_100();
    let mut paused = cubic_after_a_loss_at_100();
    let now = rounds(&mut busy, Time::ZERO, rtt, 10);
    rounds(&mut paused, Time::ZERO, rtt, 10);
    let minute = Span::from_secs(60);
    paused.handle_acked(&Acked { window_limited: false, ..acked(now + minute, rtt) });
    assert_eq!(busy.window(), paused.window());
    rounds(&mut busy, now, rtt, 20);
    rounds(&mut paused, now + minute, rtt, 20);
    assert!((segments(&busy) - segments(&paused)).abs() < 0.5);
}

/// RFC 9438 §5.1: the mean window when every 1/p-th segment is lost, RTT 100 ms: 187 segments
/// for p = 10⁻⁴, 1054 for 10⁻⁵; §4.3: as Reno, 1.22/√p = 39, for p = 10⁻³.
#[test]
fn cubic_has_the_mean_window_of_its_model() {
    for (every, mean) in [(1_000, 39.0), (10_000, 187.4), (100_000, 1054.0)] {
        let mut cubic = Controller::new(&plan(CongestionPlan::Cubic), None);
        let rtt = 0.1_f64;
        let (mut now, mut sum, mut time) = (0.0, 0.0, 0.0);
        for count in 1..every * 60_u64 {
            let window = segments(&cubic);
            let step = rtt / window;
            now += step;
            if count > every * 20 {
                sum += window * step;
                time += step;
            }
            let at = Time::from_picos((now * 1e12) as u64);
            if count % every == 0 {
                let in_flight = cubic.window();
                cubic.handle_lost(&Lost { at, ..lost(in_flight, in_flight, LossKind::DupAck) });
            } else {
                cubic.handle_acked(&acked(at, Span::from_millis(100)));
            }
        }
        let measured = sum / time;
        // The model has no fast convergence, which now and then takes a little.
        assert!((0.9..1.05).contains(&(measured / mean)), "p = 1/{every}: {measured}, model {mean}");
    }
}

#[test]
fn a_controller_from_outside_can_be_used() {
    let custom: Box<dyn CongestionControl> = Box::new(Fixed::new(4_000));
    let mut controller = Controller::Custom(custom);
    controller.handle_acked(&acked(Time::ZERO, Span::ZERO));
    assert_eq!(controller.window(), 4_000);
    assert_eq!(controller.pacing_rate(), None);
    assert_eq!(controller.recovery(), Recovery::UntilAllAcked);
}

/// RFC 9438 §4.9: a reduction that is taken back leaves no trace. `NewReno` gets window and threshold back.
#[test]
fn a_needless_reduction_is_taken_back() {
    let rules = crate::plan::TcpRules { undo: true, ..crate::plan::TcpRules::RFC };
    for kind in [LossKind::DupAck, LossKind::Timeout { again: false }] {
        let of = |needless: bool| {
            let plan = TcpPlan { rules, initial_ssthresh: Some(10 * MSS), ..plan(CongestionPlan::Cubic) };
            let mut cubic = Controller::new(&plan, None);
            let rtt = Span::from_millis(100);
            let now = rounds(&mut cubic, Time::ZERO, rtt, 20);
            if needless {
                let (window, ssthresh) = (cubic.window(), cubic.snapshot().ssthresh);
                cubic.handle_lost(&lost(window, window, kind));
                assert!(cubic.window() < window);
                cubic.handle_undone(&Undone { window, ssthresh });
            }
            rounds(&mut cubic, now, rtt, 20);
            cubic.snapshot()
        };
        assert_eq!(of(true), of(false));
        let mut newreno = Controller::new(&plan(CongestionPlan::NewReno), None);
        newreno.handle_lost(&lost(10 * MSS, 10 * MSS, kind));
        newreno.handle_undone(&Undone { window: 10 * MSS, ssthresh: None });
        assert_eq!((newreno.window(), newreno.snapshot().ssthresh), (10 * MSS, None));
    }
}
