//! BBR ACK by ACK, with numbers by hand: segments of 1000 bytes over 40 ms.

use super::Bbr;
use super::state::{DRAIN_GAIN, HIGH_GAIN, Mode, UNIT};
use crate::cc::tests::MSS;
use crate::cc::tests::scripted::{self, RTT};
use crate::cc::{CongestionControl, LossKind, Lost, Repair, Undone};
use crate::plan::CongestionPlan;
use crate::random::Seed;
use crate::units::{Rate, Span, Time};

type Scripted = scripted::Scripted<Bbr>;

fn connected() -> Scripted {
    Scripted::new(CongestionPlan::Bbr, Bbr::new, None)
}

impl Scripted {
    /// To the end of startup at 100 segments a round trip.
    fn fill(&mut self) {
        for _ in 0..4 {
            assert_eq!(self.bbr.mode, Mode::Startup);
            self.round(100);
        }
    }

    /// To the first place of the cycle.
    fn cycle(&mut self) {
        self.fill();
        self.ack(100, RTT, 50, 0, Repair::Nothing);
        assert_eq!(self.bbr.mode, Mode::ProbeBw);
    }
}

/// Bits a second of so many segments a round trip, one in a hundred less.
fn pace(segments: f64) -> f64 {
    segments * 0.99 * 1000.0 * 8.0 / 0.04
}

fn is_near(rate: Option<Rate>, expected: f64) -> bool {
    (rate.expect("BBR paces").bps() as f64 / expected - 1.0).abs() < 2e-3
}

#[test]
fn it_starts_with_the_first_window_in_a_round_trip_times_2_885() {
    let mut flow = connected();
    assert_eq!(flow.bbr.window(), 10 * MSS);
    assert!(is_near(flow.bbr.pacing_rate(), pace(10.0 * 739.0 / 256.0)));
    assert_eq!((HIGH_GAIN, DRAIN_GAIN), (739, 88));
    // A round trip of 20 segments: their rate times the gain, and the window wider by what arrived.
    flow.round(20);
    assert!(is_near(flow.bbr.pacing_rate(), pace(20.0 * 739.0 / 256.0)));
    assert_eq!(flow.bbr.window(), 30 * MSS);
    // A lower rate leaves the pace as it is.
    flow.round(15);
    assert!(is_near(flow.bbr.pacing_rate(), pace(20.0 * 739.0 / 256.0)));
}

#[test]
fn three_rounds_without_a_quarter_more_end_startup() {
    let mut flow = connected();
    for segments in [20, 40, 50, 62, 62] {
        flow.round(segments);
        assert_eq!(flow.bbr.mode, Mode::Startup, "{segments}");
    }
    // 50 was a quarter more than 40, 62 is not a quarter more than 50: two rounds so far.
    flow.ack(60, RTT, 120, 0, Repair::Nothing);
    assert_eq!((flow.bbr.mode, flow.bbr.full.reached), (Mode::Drain, true));
    assert!(is_near(flow.bbr.pacing_rate(), pace(62.0 * 88.0 / 256.0)));
    // The product, 62, and room for three bursts of what left in 1/1024 s: four segments of the pace of startup.
    assert_eq!(flow.bbr.snapshot().ssthresh, Some(74 * MSS));
    // In flight is no more than that: on with the cycle.
    flow.ack(62, RTT, 60, 0, Repair::Nothing);
    assert_eq!(flow.bbr.mode, Mode::ProbeBw);
    assert!(!flow.bbr.snapshot().slow_start);
}

#[test]
fn the_cycle_probes_drains_and_cruises() {
    let mut flow = connected();
    flow.cycle();
    assert_eq!((flow.bbr.place, flow.bbr.pacing_gain), (0, UNIT * 5 / 4));
    assert!(is_near(flow.bbr.pacing_rate(), pace(125.0)));
    let ms = |millis| Span::from_millis(millis);
    // More than a round trip, but 125 and room are not in flight yet; then they are.
    flow.ack(100, ms(41), 10, 0, Repair::Nothing);
    assert_eq!(flow.bbr.place, 0);
    flow.ack(100, ms(41), 40, 0, Repair::Nothing);
    assert_eq!((flow.bbr.place, flow.bbr.pacing_gain), (1, UNIT * 3 / 4));
    // The queue is gone when no more than the product and room is in flight.
    flow.ack(50, ms(20), 60, 0, Repair::Nothing);
    assert_eq!(flow.bbr.place, 1);
    flow.ack(10, ms(5), 70, 0, Repair::Nothing);
    for place in 2..8 {
        assert_eq!((flow.bbr.place, flow.bbr.pacing_gain), (place, UNIT));
        flow.ack(50, ms(20), 70, 0, Repair::Nothing);
        assert_eq!(flow.bbr.place, place);
        flow.ack(52, ms(21), 70, 0, Repair::Nothing);
    }
    assert_eq!(flow.bbr.place, 0);
    // A loss ends a probe, whatever is in flight.
    flow.ack(50, ms(41), 10, 1, Repair::Nothing);
    assert_eq!(flow.bbr.place, 1);
}

#[test]
fn the_cycle_begins_anywhere_but_at_its_slow_place() {
    let mut seen = [0; 8];
    for replication in 0..200 {
        let stream = Seed { seed: 1, replication }.stream("probing");
        let mut flow = Scripted::new(CongestionPlan::Bbr, Bbr::new, Some(stream));
        flow.cycle();
        seen[flow.bbr.place] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!(seen.iter().filter(|count| **count > 10).count() == 7, "{seen:?}");
}

#[test]
fn after_ten_seconds_without_a_shorter_round_trip_four_segments_are_in_flight_for_200_ms() {
    let mut flow = connected();
    flow.cycle();
    let long = Span::from_millis(50);
    while flow.now < Time::ZERO + Span::from_millis(10_040) {
        flow.ack(125, long, 100, 0, Repair::Nothing);
        assert_ne!(flow.bbr.mode, Mode::ProbeRtt, "{:?}", flow.now);
    }
    let before = flow.bbr.window();
    flow.ack(125, long, 100, 0, Repair::Nothing);
    assert_eq!((flow.bbr.mode, flow.bbr.window()), (Mode::ProbeRtt, 4 * MSS));
    assert!(flow.bbr.understates());
    // The least round trip of the ten seconds to come.
    assert_eq!(flow.bbr.min_rtt, Some(50_000));
    flow.ack(100, RTT, 4, 0, Repair::Nothing);
    assert_eq!(flow.bbr.min_rtt, Some(40_000));
    for _ in 0..5 {
        flow.ack(4, RTT, 4, 0, Repair::Nothing);
        assert_eq!((flow.bbr.mode, flow.bbr.window()), (Mode::ProbeRtt, 4 * MSS));
    }
    flow.ack(4, RTT, 4, 0, Repair::Nothing);
    assert_eq!(flow.bbr.mode, Mode::ProbeBw);
    assert!(flow.bbr.window() >= before.min(200 * MSS), "{} of {before}", flow.bbr.window());
}

/// A bucket lets 60 of 100 segments through each round trip: after two intervals of four rounds its rate is used, for 48 rounds.
#[test]
fn a_policer_is_found_by_two_intervals_alike() {
    let mut flow = connected();
    flow.cycle();
    let mut rounds = 0;
    while !flow.bbr.long_term.in_use {
        flow.ack(60, RTT, 60, 40, Repair::Recovery);
        rounds += 1;
        assert!(rounds < 20);
    }
    // An interval's first ACK counts as a round, so that the intervals are of three and of four round trips.
    assert!((8..=9).contains(&rounds), "{rounds}");
    assert_eq!(flow.bbr.pacing_gain, UNIT);
    assert!(is_near(flow.bbr.pacing_rate(), pace(60.0)));
    for round in 1..48 {
        flow.ack(60, RTT, 60, 0, Repair::Nothing);
        assert!(flow.bbr.long_term.in_use, "{round}");
        assert_eq!(flow.bbr.pacing_gain, UNIT);
    }
    flow.ack(60, RTT, 60, 0, Repair::Nothing);
    assert!(!flow.bbr.long_term.in_use);
    assert_eq!(flow.bbr.mode, Mode::ProbeBw);
}

#[test]
fn few_losses_and_unlike_rates_are_no_policer() {
    let mut flow = connected();
    flow.cycle();
    for _ in 0..40 {
        flow.ack(90, RTT, 60, 10, Repair::Nothing);
    }
    assert!(!flow.bbr.long_term.in_use);
    for round in 1..20 {
        flow.ack(10 * round, RTT, 60, 10 * round, Repair::Nothing);
    }
    assert!(!flow.bbr.long_term.in_use);
}

#[test]
fn a_round_of_recovery_sends_what_arrives_and_its_end_restores_the_window() {
    let mut flow = connected();
    flow.cycle();
    flow.round(100);
    let before = flow.bbr.window();
    let lost = |kind, total_lost| Lost {
        at: Time::ZERO,
        in_flight: 0,
        window: 0,
        kind,
        remaining: 3 * MSS,
        total_lost,
        max: 0,
    };
    flow.bbr.handle_lost(&lost(LossKind::DupAck, 0));
    // 2 of 100 are reported, 3 lost, 80 remain in flight.
    let quick = Span::from_millis(1);
    flow.ack(2, quick, 80, 3, Repair::Recovery);
    assert_eq!(flow.bbr.window(), 82 * MSS);
    // A round later growth goes on, and the end brings the old window back.
    flow.ack(80, RTT, 80, 0, Repair::Recovery);
    assert!(!flow.bbr.conserves);
    flow.ack(80, RTT, 80, 0, Repair::Nothing);
    assert!(flow.bbr.window() >= before, "{} of {before}", flow.bbr.window());

    flow.bbr.handle_lost(&lost(LossKind::Timeout { again: false }, flow.lost));
    assert_eq!((flow.bbr.window(), flow.bbr.prior_window), (4 * MSS, flow.bbr.prior_window));
    flow.ack(3, RTT, 2, 0, Repair::TimeOut);
    assert_eq!(flow.bbr.window(), 7 * MSS);
    flow.ack(2, RTT, 2, 0, Repair::Nothing);
    assert!(flow.bbr.window() >= before, "{} of {before}", flow.bbr.window());
}

#[test]
fn after_an_idle_time_the_pace_is_the_rate_and_no_probe_of_the_round_trip_begins() {
    let mut flow = connected();
    flow.cycle();
    assert_eq!(flow.bbr.pacing_gain, UNIT * 5 / 4);
    flow.now += Span::from_secs(20);
    flow.bbr.handle_resumed(flow.now, Span::from_secs(20));
    assert!(is_near(flow.bbr.pacing_rate(), pace(100.0)));
    flow.round(100);
    assert_eq!(flow.bbr.mode, Mode::ProbeBw);
    let window = flow.bbr.window();
    flow.bbr.handle_restart(10 * MSS);
    assert_eq!(flow.bbr.window(), window);
}

/// ACKs come in bunches of 30 ms: the window has room for what a bunch brings beyond the rate.
#[test]
fn bunched_acks_widen_the_window() {
    let mut flow = connected();
    flow.cycle();
    for _ in 0..8 {
        flow.ack(100, RTT, 60, 0, Repair::Nothing);
    }
    let even = flow.bbr.window();
    for _ in 0..8 {
        flow.ack(1, Span::from_millis(38), 60, 0, Repair::Nothing);
        flow.ack(99, Span::from_millis(2), 60, 0, Repair::Nothing);
    }
    assert!(flow.bbr.aggregation.extra.iter().any(|extra| *extra >= 50), "{:?}", flow.bbr.aggregation);
    assert!(flow.bbr.window() >= even);
}

#[test]
fn a_needless_repair_lets_it_look_for_more() {
    let mut flow = connected();
    flow.cycle();
    flow.ack(60, RTT, 60, 40, Repair::Recovery);
    assert!(flow.bbr.long_term.sampling);
    let window = flow.bbr.window();
    flow.bbr.handle_undone(&Undone { window: 0, ssthresh: None });
    assert_eq!((flow.bbr.full.rate, flow.bbr.long_term.sampling, flow.bbr.window()), (0, false, window));
}
