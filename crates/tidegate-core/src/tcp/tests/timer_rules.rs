//! Handshake (RFC 9293 §3.5) and retransmission timer (RFC 6298), as traces.

use super::plans::short;
use super::trace::{Trace, active, passive};
use crate::plan::{RtoPlan, RtoRestart, RttTiming, TcpPlan};
use crate::tcp::Role;
use crate::units::{Span, Time};

fn with_handshake() -> TcpPlan {
    TcpPlan { handshake: true, ..short() }
}

fn ticking(tick: Span, min: Span) -> TcpPlan {
    let max = Span::from_secs(64);
    let initial = Span::from_secs(6);
    TcpPlan { rto: RtoPlan::Estimated { min, max, initial, tick }, rtt_timing: RttTiming::One, ..short() }
}

#[test]
fn active_open_measures_the_syn() {
    active(
        &with_handshake(),
        "0 ms      = state CLOSED
         0 ms      write 150
         0 ms      open
         0 ms      = state SYN-SENT
         0 ms      > syn
         0 ms      = wakeup 1 s
         100 ms    < syn-ack
         100 ms    = state ESTABLISHED
         # RFC 6298 §2.2: RTO = R + 4 R/2. The first data acknowledge the SYN-ACK.
         100 ms    = rto 300 ms
         100 ms    > 0..100
         100 ms    > 100..150
         100 ms    = wakeup 400 ms
         200 ms    < ack 150
         200 ms    = wakeup never",
    );
}

/// 4.4BSD's slow timer on a host that had been up for 625 ms: it ticks at 375, 875 ms and so on.
#[test]
fn a_hosts_own_clock_ticks_since_it_was_switched_on() {
    let tick = Span::from_millis(500);
    let plan = ticking(tick, Span::from_secs(1));
    let mut trace = Trace::new(&plan, Role::Active);
    trace.endpoint.start_clock(Span::from_millis(625));
    trace.endpoint.open(Time::ZERO);
    trace.play(
        "100 ms    write 100
         100 ms    > 0..100
         # Twelve ticks of the first time-out: the first comes at 375 ms.
         100 ms    = wakeup 5.875 s
         # One tick lies between: a sample of 500 ms, so three ticks.
         400 ms    < ack 100
         400 ms    = srtt 500 ms
         400 ms    write 100
         400 ms    > 100..200
         400 ms    = wakeup 1.875 s",
    );
}

#[test]
fn active_open_without_data_acknowledges_the_syn_ack() {
    active(
        &with_handshake(),
        "0 ms      open
         0 ms      > syn
         100 ms    < syn-ack
         100 ms    > ack 0
         # The other end did not hear it.
         1100 ms   < syn-ack
         1100 ms   > ack 0",
    );
}

/// RFC 6298 §5.5 and §5.7, RFC 5681 §3.1.
#[test]
fn a_lost_syn_backs_off_and_shrinks_the_first_window() {
    active(
        &with_handshake(),
        "0 ms      write 300
         0 ms      open
         0 ms      > syn
         1 s       > syn
         3 s       > syn
         3.1 s     < syn-ack
         # Karn: no sample from a repeated SYN.
         3.1 s     = srtt none
         3.1 s     = rto 3 s
         3.1 s     = cwnd 100
         # Eq. (4) excepts no segment: two segments.
         3.1 s     = ssthresh 200
         3.1 s     > 0..100
         3.1 s     = timeouts 2",
    );
}

/// RFC 3042 §2 after a time-out: a new segment for each of the first two duplicates.
#[test]
fn limited_transmit_holds_after_a_timeout() {
    let plan =
        TcpPlan { initial_window: 400, go_back_n: true, limited_transmit: true, sack: false, ..short() };
    active(
        &plan,
        "0 ms      write 1000
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         1 s       > 0..100 again
         1.1 s     < ack 100
         1.1 s     > 100..200 again
         1.1 s     > 200..300 again
         1.15 s    < ack 100
         1.15 s    > 300..400 again
         1.16 s    < ack 100
         1.16 s    > 400..500
         1.17 s    < ack 100",
    );
}

#[test]
fn passive_open() {
    passive(
        &with_handshake(),
        "0 ms      = state LISTEN
         # Not for us: no connection yet.
         1 ms      < ack 0
         5 ms      < syn
         5 ms      > syn-ack
         5 ms      = state SYN-RECEIVED
         105 ms    < ack 0
         105 ms    = state ESTABLISHED
         105 ms    = rto 300 ms
         105 ms    = wakeup never",
    );
}

#[test]
fn passive_open_repeats_its_syn_ack_and_takes_data_for_the_last_ack() {
    passive(
        &with_handshake(),
        "5 ms      < syn
         5 ms      > syn-ack
         1005 ms   > syn-ack
         1200 ms   < syn
         1200 ms   > syn-ack
         1300 ms   < 0..100 ack 0
         1300 ms   > ack 100
         1300 ms   = state ESTABLISHED
         1300 ms   = delivered 100 in 1",
    );
}

/// RFC 6298 §5.1 to §5.3 and §2.3.
#[test]
fn the_timer_runs_while_data_are_outstanding_and_restarts_at_new_acks() {
    active(
        &short(),
        "0 ms      write 300
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      = wakeup 1 s
         100 ms    < ack 100
         100 ms    > 200..300
         100 ms    = rto 300 ms
         # §5.3: restarted at the ACK, not at the segment that followed it.
         100 ms    = wakeup 400 ms
         120 ms    < ack 200
         # §2.3, variance first: rttvar = 3/4 50 + 1/4 20 = 42.5, srtt = 7/8 100 + 1/8 120 = 102.5.
         120 ms    = srtt 102.5 ms
         120 ms    = rto 272.5 ms
         120 ms    = wakeup 392.5 ms
         200 ms    < ack 300
         # §5.2
         200 ms    = wakeup never",
    );
}

/// RFC 6298 §5.4 to §5.6, RFC 5681 §3.1 (window and threshold), and Karn's rule (§3).
#[test]
fn a_timeout_sends_the_oldest_again_and_doubles_the_timer() {
    active(
        &short(),
        "0 ms      write 600
         0 ms      > 0..100
         0 ms      > 100..200
         100 ms    < ack 100
         100 ms    > 200..300
         100 ms    > 300..400
         400 ms    > 100..200 again
         400 ms    = cwnd 100
         # Half of the 300 bytes in flight, but two segments at least.
         400 ms    = ssthresh 200
         400 ms    = rto 600 ms
         400 ms    = phase Loss
         1 s       > 100..200 again
         1 s       = rto 1.2 s
         # The same segment timed out again: the threshold is held.
         1 s       = ssthresh 200
         # Karn: this ACK measures nothing, so the back-off stays.
         1.1 s     < ack 400
         1.1 s     = rto 1.2 s
         1.1 s     = cwnd 200
         1.1 s     = phase CongestionAvoidance
         1.1 s     > 400..500
         1.1 s     > 500..600
         # A segment that was sent once ends it.
         1.2 s     < ack 500
         1.2 s     = rto 250 ms",
    );
}

#[test]
fn the_timeout_has_a_ceiling() {
    let rto = RtoPlan::Estimated {
        min: Span::from_millis(200),
        max: Span::from_secs(3),
        initial: Span::from_secs(1),
        tick: Span::ZERO,
    };
    active(
        &TcpPlan { rto, ..short() },
        "0 ms      write 100
         0 ms      > 0..100
         1 s       > 0..100 again
         3 s       > 0..100 again
         6 s       > 0..100 again
         9 s       > 0..100 again",
    );
}

/// BSD's slow timer: samples and time-outs in ticks of one free-running clock.
#[test]
fn bsd_ticks() {
    let half = Span::from_millis(500);
    active(
        &ticking(half, Span::from_secs(1)),
        "0.1 s     write bulk
         0.1 s     > 0..100
         0.1 s     > 100..200
         # 12 ticks: the twelfth tick after 0.1 s.
         0.1 s     = wakeup 6 s
         0.3 s     < ack 200
         # No tick in between counts as one: srtt 1 tick, rttvar 1/2, RTO 1 + 2 = 3 ticks.
         0.3 s     = rto 1.5 s
         0.3 s     > 200..300
         0.3 s     > 300..400
         0.3 s     > 400..500
         0.3 s     = wakeup 1.5 s
         1.5 s     > 200..300 again
         1.5 s     = rto 3 s
         4.5 s     > 200..300 again",
    );
}

/// One segment is timed at a time, and never across a retransmission.
#[test]
fn one_segment_at_a_time() {
    active(
        &TcpPlan { rtt_timing: RttTiming::One, ..short() },
        "0 ms      write bulk
         0 ms      > 0..100
         0 ms      > 100..200
         100 ms    < ack 100
         100 ms    = srtt 100 ms
         100 ms    > 200..300
         100 ms    > 300..400
         # 100..200 was not timed; 200..300 is.
         150 ms    < ack 200
         150 ms    = srtt 100 ms
         150 ms    > 400..500
         150 ms    > 500..600
         260 ms    < ack 300
         260 ms    = srtt 107.5 ms
         260 ms    > 600..700
         260 ms    > 700..800",
    );
}

/// ns-2's clock: samples in ticks of 10 ms, whatever the phase.
#[test]
fn fine_ticks_round_samples_down_to_whole_ticks() {
    active(
        &ticking(Span::from_millis(10), Span::from_millis(200)),
        "4 ms      write 300
         4 ms      > 0..100
         4 ms      > 100..200
         89 ms     < ack 100
         89 ms     = srtt 80 ms
         89 ms     = rto 240 ms
         89 ms     > 200..300
         89 ms     = wakeup 320 ms",
    );
}

/// A segment that waits in the host is not an idle sender: with a time-out shorter than the
/// round trip, which departures make possible, the window still grows (RFC 5681 §4.1).
#[test]
fn waiting_in_the_host_is_not_idleness() {
    let rto = RtoPlan::Fixed { rto: Span::from_millis(480), restart: RtoRestart::Departure };
    active(
        &TcpPlan { rto, initial_window: 100, idle_restart: true, ..short() },
        "0 ms      write 1000
         0 ms      > 0..100
         400 ms    departure
         645 ms    < ack 100
         645 ms    > 100..200
         645 ms    > 200..300",
    );
}

/// The ABR paper's timer: constant, no back-off, started again by new ACKs and departures.
#[test]
fn a_fixed_timeout_restarts_at_departures() {
    let rto = RtoPlan::Fixed { rto: Span::from_millis(480), restart: RtoRestart::Departure };
    active(
        &TcpPlan { rto, ..short() },
        "0 ms      write 300
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      = wakeup 480 ms
         # Their turn in the host's own queue.
         30 ms     departure
         60 ms     departure
         60 ms     = wakeup 540 ms
         300 ms    < ack 100
         300 ms    = wakeup 780 ms
         300 ms    > 200..300
         330 ms    departure
         330 ms    = wakeup 810 ms
         810 ms    > 100..200 again
         810 ms    = rto 480 ms
         1290 ms   > 100..200 again
         1770 ms   > 100..200 again
         1800 ms   < ack 300
         1810 ms   departure
         1810 ms   = wakeup never",
    );
}

#[test]
fn a_fixed_timeout_restarts_at_acks_only() {
    let rto = RtoPlan::Fixed { rto: Span::from_millis(480), restart: RtoRestart::Ack };
    active(
        &TcpPlan { rto, ..short() },
        "0 ms      write 100
         0 ms      > 0..100
         60 ms     departure
         60 ms     = wakeup 480 ms
         480 ms    > 0..100 again
         960 ms    > 0..100 again",
    );
}

/// RFC 7323: the echo names the copy, so a retransmitted segment can be measured.
#[test]
fn timestamps_measure_what_karn_forbids() {
    active(
        &TcpPlan { timestamps: true, ..short() },
        "0 ms      write 200
         0 ms      > 0..100 ts 1 echo 0
         0 ms      > 100..200 ts 1 echo 0
         1 s       > 0..100 again ts 1001 echo 0
         1.1 s     < ack 100 ts 500 echo 1001
         1.1 s     = srtt 100 ms
         1.1 s     = rto 300 ms
         1.1 s     > 100..200 again ts 1101 echo 500",
    );
}

/// RFC 7323 §4.3: the echo comes from the segment at the left edge of what is acknowledged.
#[test]
fn the_echo_belongs_to_the_oldest_segment_not_acknowledged_yet() {
    use super::plans::delayed;
    passive(
        &TcpPlan { timestamps: true, delayed_ack: Some(delayed()), ..short() },
        "1 ms      < 0..100 ts 10
         2 ms      < 100..200 ts 12
         2 ms      > ack 200 ts 3 echo 10
         # Out of order: not at the edge.
         3 ms      < 300..400 ts 14
         3 ms      > ack 200 ts 4 echo 10
         4 ms      < 200..300 ts 13
         4 ms      > ack 400 ts 5 echo 13",
    );
}
