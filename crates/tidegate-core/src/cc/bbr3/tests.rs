//! Version 3 ACK by ACK. The draft's appendix holds no cases, so these are its formulas (draft-ietf-ccwg-bbr-05), with
//! numbers by hand: segments of 1000 bytes over 40 ms.

use super::Bbr3;
use super::bounds::in_flight_at_loss;
use super::state::{INFINITE, Sample, State};
use crate::cc::tests::MSS;
use crate::cc::tests::scripted::{self, RTT};
use crate::cc::{CongestionControl, LossKind, Lost, Repair};
use crate::plan::CongestionPlan;
use crate::random::Seed;
use crate::units::{Span, Time};

type Scripted = scripted::Scripted<Bbr3>;

fn connected() -> Scripted {
    Scripted::new(CongestionPlan::Bbr3, Bbr3::new, None)
}

impl Scripted {
    /// To `ProbeBW_CRUISE` at 100 segments a round trip: what is in flight lets no time for `ProbeBW_DOWN`.
    fn cruise(&mut self) {
        for _ in 0..4 {
            assert_eq!(self.bbr.state, State::Startup);
            self.ack(100, RTT, 150, 0, Repair::Nothing);
        }
        assert_eq!(self.bbr.state, State::Drain);
        self.ack(100, RTT, 100, 0, Repair::Nothing);
        assert_eq!(self.bbr.state, State::Cruise);
    }

    /// To `ProbeBW_UP`, two seconds later.
    fn up(&mut self) {
        self.cruise();
        let mut rounds = 0;
        while self.bbr.state != State::Up {
            self.ack(100, RTT, 100, 0, Repair::Nothing);
            rounds += 1;
            assert!(rounds < 60);
        }
    }
}

/// Bytes a second of so many segments a round trip.
fn rate(segments: u64) -> u64 {
    segments * MSS * 25
}

#[test]
fn startup_paces_at_2_77_times_what_arrives_and_drain_at_half() {
    let mut flow = connected();
    assert_eq!(flow.bbr.pacing, rate(10) * 277 / 100);
    flow.round(20);
    assert_eq!(flow.bbr.pacing, rate(20) * 277 / 100 * 99 / 100);
    // 40 is more than a quarter more; 49 is not, three times.
    for segments in [40, 49, 49] {
        flow.round(segments);
        assert_eq!(flow.bbr.state, State::Startup);
    }
    flow.ack(49, RTT, 90, 0, Repair::Nothing);
    assert_eq!(flow.bbr.state, State::Drain);
    assert_eq!(flow.bbr.pacing, rate(49) / 2 * 99 / 100);
    // In flight is the product: on. More than that, and it takes four rounds.
    for _ in 0..3 {
        flow.ack(49, RTT, 90, 0, Repair::Nothing);
        assert_eq!(flow.bbr.state, State::Drain);
    }
    flow.ack(49, RTT, 90, 0, Repair::Nothing);
    assert_eq!(flow.bbr.state, State::Down);
}

#[test]
fn the_cycle_goes_down_cruises_refills_and_goes_up() {
    let mut flow = connected();
    flow.cruise();
    assert_eq!(flow.bbr.pacing_gain, 100);
    let began = flow.now;
    while flow.bbr.state == State::Cruise {
        flow.ack(100, RTT, 100, 0, Repair::Nothing);
    }
    assert_eq!(flow.bbr.state, State::Refill);
    let waited = flow.now.saturating_since(began);
    assert!(waited > Span::from_secs(2) && waited < Span::from_millis(2100), "{waited:?}");
    flow.ack(100, RTT, 100, 0, Repair::Nothing);
    assert_eq!((flow.bbr.state, flow.bbr.pacing_gain, flow.bbr.window_gain), (State::Up, 125, 225));
    // No growth in three rounds.
    for _ in 0..2 {
        flow.ack(100, RTT, 100, 0, Repair::Nothing);
        assert_eq!(flow.bbr.state, State::Up);
    }
    flow.ack(100, RTT, 130, 0, Repair::Nothing);
    assert_eq!(flow.bbr.state, State::Down);
    assert_eq!((flow.bbr.pacing_gain, flow.bbr.pacing), (90, rate(100) * 99 * 90 / 10_000));
    flow.ack(100, RTT, 100, 0, Repair::Nothing);
    assert_eq!((flow.bbr.state, flow.bbr.pacing_gain), (State::Cruise, 100));
}

#[test]
fn a_probe_that_loses_more_than_2_percent_bounds_what_is_in_flight() {
    let mut flow = connected();
    flow.up();
    assert_eq!(flow.bbr.inflight_long, INFINITE);
    // 2 of 102 are no more than 2%.
    flow.ack(100, RTT, 120, 2, Repair::Recovery);
    assert_eq!((flow.bbr.state, flow.bbr.inflight_long), (State::Up, INFINITE));
    // 6 of 126 are: 120 were in flight before them, and 2% of 120 is 2.4: 120 + 2.4 / 0.98.
    flow.ack(120, RTT, 120, 6, Repair::Recovery);
    assert_eq!(flow.bbr.state, State::Down);
    assert_eq!(flow.bbr.inflight_long, 120_000 + 2_448);
    assert!(flow.bbr.window() <= flow.bbr.inflight_long);
    // Cruising leaves 15% of it free.
    assert_eq!(flow.bbr.with_headroom(), 122_448 - 18_367);
    flow.ack(100, RTT, 90, 0, Repair::Nothing);
    assert_eq!(flow.bbr.state, State::Cruise);
    assert!(flow.bbr.window() <= 104_081);
}

#[test]
fn what_was_in_flight_at_two_percent() {
    assert_eq!(in_flight_at_loss(100_000, 1_000, 1_000), 99_000 + 2_020);
    assert_eq!(in_flight_at_loss(100_000, 5_000, 1_000), 99_000);
    assert_eq!(in_flight_at_loss(1_000, 5_000, 5_000), 0);
}

#[test]
fn a_round_with_losses_while_cruising_lowers_rate_and_window_by_three_tenths_at_most() {
    let mut flow = connected();
    flow.cruise();
    let window = flow.bbr.window();
    // The first such round still saw 100 segments arrive, as many as before: nothing is lower.
    flow.ack(50, RTT, 90, 3, Repair::Recovery);
    flow.ack(50, RTT, 90, 0, Repair::Recovery);
    assert_eq!(flow.bbr.rate_short, rate(100));
    flow.ack(50, RTT, 90, 3, Repair::Recovery);
    flow.ack(50, RTT, 90, 0, Repair::Recovery);
    assert_eq!(flow.bbr.rate_short, rate(100) * 7 / 10);
    assert!(flow.bbr.inflight_short >= 50 * MSS && flow.bbr.inflight_short < window);
    assert_eq!(flow.bbr.rate, flow.bbr.rate_short);
    assert!(flow.bbr.window() <= flow.bbr.inflight_short);
}

#[test]
fn six_losses_in_a_round_of_recovery_end_startup() {
    let mut flow = connected();
    flow.round(20);
    flow.bbr.loss_round_start = true;
    let sample = Sample {
        recovering: true,
        valid: true,
        lost: 3 * MSS,
        sent_in_flight: 100 * MSS,
        ..Sample::default()
    };
    for (events, ends) in [(5, false), (6, true)] {
        flow.bbr.loss_events = events;
        flow.bbr.check_startup_loss(&sample);
        assert_eq!((flow.bbr.full_reached, flow.bbr.loss_events), (ends, 0));
    }
    // The product of the rate and the least round trip.
    assert_eq!(flow.bbr.inflight_long, 20 * MSS);
}

#[test]
fn after_five_seconds_half_the_product_is_in_flight_for_200_ms() {
    let mut flow = connected();
    flow.cruise();
    let long = Span::from_millis(45);
    let mut rounds = 0;
    while flow.bbr.state != State::ProbeRtt {
        flow.ack(112, long, 100, 0, Repair::Nothing);
        rounds += 1;
        assert!(rounds < 200);
    }
    let since = flow.now.saturating_since(Time::ZERO);
    assert!(since > Span::from_secs(5) && since < Span::from_millis(5_400), "{since:?}");
    assert!(flow.bbr.understates());
    let half = flow.bbr.probe_rtt_window();
    assert!((49 * MSS..60 * MSS).contains(&half), "{half}");
    assert_eq!(flow.bbr.window(), half);
    for _ in 0..5 {
        flow.ack(45, RTT, 45, 0, Repair::Nothing);
        assert_eq!(flow.bbr.state, State::ProbeRtt);
    }
    flow.ack(45, RTT, 45, 0, Repair::Nothing);
    flow.ack(45, RTT, 45, 0, Repair::Nothing);
    assert_eq!(flow.bbr.state, State::Cruise);
    assert_eq!(flow.bbr.min_rtt, Some(40_000));
    assert!(flow.bbr.window() > half);
}

#[test]
fn probes_wait_two_to_three_seconds() {
    let mut seen = Vec::new();
    for replication in 0..20 {
        let stream = Seed { seed: 1, replication }.stream("probing");
        let mut flow = connected();
        flow.bbr.rng = Some(stream);
        flow.cruise();
        seen.push(flow.bbr.probe_wait);
    }
    assert!(seen.iter().all(|wait| (2_000_000..=3_000_000).contains(wait)));
    seen.dedup();
    assert!(seen.len() > 15);
}

#[test]
fn a_time_out_leaves_one_segment_more_than_is_in_flight_and_the_window_comes_back() {
    let mut flow = connected();
    flow.cruise();
    let before = flow.bbr.window();
    flow.bbr.handle_lost(&Lost {
        at: flow.now,
        in_flight: 0,
        window: 0,
        kind: LossKind::Timeout { again: false },
        remaining: 2 * MSS,
        total_lost: 0,
        max: 0,
    });
    assert_eq!(flow.bbr.window(), 3 * MSS);
    flow.ack(2, RTT, 3, 0, Repair::TimeOut);
    assert_eq!(flow.bbr.window(), 5 * MSS);
    flow.ack(3, RTT, 3, 0, Repair::Nothing);
    assert!(flow.bbr.window() >= before.min(200 * MSS), "{}", flow.bbr.window());
}
