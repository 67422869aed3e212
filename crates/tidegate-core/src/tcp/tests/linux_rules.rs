//! Linux's rules as packet traces: RACK, tail loss probes, PRR, the bound of the variance, restarts, the receive window.

use super::plans::{delayed, short};
use super::trace::{ISN, active, passive};
use crate::plan::{CongestionPlan, TcpPlan, TcpRules};
use crate::tcp::{Endpoint, Role, Segment, flags};
use crate::units::{Span, Time};

/// Segments of 100 bytes, ten at the start, by Linux's rules.
fn linux() -> TcpPlan {
    TcpPlan {
        cc: CongestionPlan::Reno,
        initial_window: 1000,
        sack: true,
        limited_transmit: true,
        rules: TcpRules::LINUX,
        ..short()
    }
}

/// Three later segments have arrived: no time is left for reordering (RFC 8985 §6.2 step 4). PRR lets one segment leave for two
/// that arrive.
#[test]
fn three_later_arrivals_prove_a_loss() {
    active(
        &linux(),
        "0 ms      write 900
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         0 ms      > 400..500
         0 ms      > 500..600
         0 ms      > 600..700
         0 ms      > 700..800
         0 ms      > 800..900
         40 ms     < ack 0 sack 100..200
         40 ms     = wakeup 54 ms
         41 ms     < ack 0 sack 100..300
         42 ms     < ack 0 sack 100..400
         42 ms     > 0..100 again
         42 ms     = phase Recovery
         42 ms     = cwnd 600
         43 ms     < ack 0 sack 100..500
         82 ms     < ack 900
         82 ms     = phase CongestionAvoidance
         82 ms     = cwnd 500
         82 ms     = fast_retransmits 1",
    );
}

/// One later segment has arrived: the first is lost a quarter of the round trip and two ticks later (RFC 8985 §6.2 step 5).
#[test]
fn one_later_arrival_starts_the_reordering_timer() {
    active(
        &linux(),
        "0 ms      write 300
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         40 ms     < ack 0 sack 100..200
         40 ms     = wakeup 54 ms
         54 ms     > 0..100 again
         54 ms     = phase Recovery
         98 ms     < ack 300
         98 ms     = cwnd 500
         98 ms     = timeouts 0",
    );
}

/// The last segment of a flight is lost: after two round trips it is sent again, which proves the loss (RFC 8985 §7).
#[test]
fn a_lost_tail_is_probed() {
    active(
        &linux(),
        "0 ms      write 300
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         40 ms     < ack 100
         40 ms     = wakeup 126 ms
         126 ms    > 200..300 again
         168 ms    < ack 100 sack 200..300
         168 ms    > 100..200 again
         208 ms    < ack 300
         208 ms    = timeouts 0",
    );
}

/// A retransmission is lost again: what was sent after it has arrived, so that no time-out is needed.
#[test]
fn a_lost_retransmission_is_found_by_time() {
    active(
        &linux(),
        "0 ms      write bulk
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         0 ms      > 400..500
         0 ms      > 500..600
         0 ms      > 600..700
         0 ms      > 700..800
         0 ms      > 800..900
         0 ms      > 900..1000
         40 ms     < ack 0 sack 100..200
         40 ms     > 1000..1100
         42 ms     < ack 0 sack 100..300
         42 ms     > 1100..1200
         43 ms     < ack 0 sack 100..400
         43 ms     > 0..100 again
         44 ms     < ack 0 sack 100..500
         45 ms     < ack 0 sack 100..600
         45 ms     > 1200..1300
         80 ms     < ack 0 sack 100..1100
         80 ms     > 1300..1400
         80 ms     > 1400..1500
         81 ms     < ack 0 sack 100..1200
         81 ms     > 1500..1600
         85 ms     < ack 0 sack 100..1300
         85 ms     > 0..100 again
         85 ms     > 1600..1700
         85 ms     = timeouts 0",
    );
}

/// The time-out is the smoothed round trip and 200 ms at least, not 200 ms at least.
#[test]
fn the_least_time_out_is_of_the_variance() {
    active(
        &linux(),
        "0 ms      write 100
         0 ms      > 0..100
         40 ms     < ack 100
         40 ms     = rto 240 ms",
    );
}

/// A pause of nearly two time-outs halves the window once; it does not fall to the initial window.
#[test]
fn idle_times_halve_the_window_once_a_time_out() {
    active(
        &linux(),
        "0 ms      write 3000
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         0 ms      > 400..500
         0 ms      > 500..600
         0 ms      > 600..700
         0 ms      > 700..800
         0 ms      > 800..900
         0 ms      > 900..1000
         40 ms     < ack 1000
         40 ms      > 1000..1100
         40 ms      > 1100..1200
         40 ms      > 1200..1300
         40 ms      > 1300..1400
         40 ms      > 1400..1500
         40 ms      > 1500..1600
         40 ms      > 1600..1700
         40 ms      > 1700..1800
         40 ms      > 1800..1900
         40 ms      > 1900..2000
         40 ms      > 2000..2100
         40 ms      > 2100..2200
         40 ms      > 2200..2300
         40 ms      > 2300..2400
         40 ms      > 2400..2500
         40 ms      > 2500..2600
         40 ms      > 2600..2700
         40 ms      > 2700..2800
         40 ms      > 2800..2900
         40 ms      > 2900..3000
         80 ms     < ack 3000
         80 ms     = cwnd 4000
         500 ms    write 100
         500 ms    > 3000..3100
         500 ms    = cwnd 2000",
    );
}

/// While the window grows every segment is acknowledged, and each widens it by two segments. Less than 128 bytes do not widen it.
#[test]
fn segments_that_widen_the_window_are_acknowledged_at_once() {
    passive(
        &TcpPlan { mss: 200, delayed_ack: Some(delayed()), window: Some(66_500), ..linux() },
        "1 ms      < 0..200
         1 ms      > ack 200
         2 ms      < 200..400
         2 ms      > ack 400
         3 ms      < 400..600
         3 ms      > ack 600
         4 ms      < 600..800
         5 ms      < 800..1000
         5 ms      > ack 1000
         6 ms      < 1000..1050
         6 ms      > ack 1050",
    );
    passive(
        &TcpPlan { mss: 100, delayed_ack: Some(delayed()), window: Some(66_500), ..linux() },
        "1 ms      < 0..100
         2 ms      < 100..200
         2 ms      > ack 200",
    );
}

/// Three segments ahead of a gap are answered one by one, and those that follow together; what fills the gap is answered at once.
#[test]
fn acks_ahead_of_a_gap_are_put_off() {
    passive(
        &TcpPlan { delayed_ack: Some(delayed()), window: Some(65_535), ..linux() },
        "1 ms      < 0..100
         2 ms      < 200..300
         2 ms      > ack 100 sack 200..300
         3 ms      < 300..400
         3 ms      > ack 100 sack 200..400
         4 ms      < 400..500
         4 ms      > ack 100 sack 200..500
         5000 us   < 500..600
         5050 us   < 600..700
         5100 us   > ack 100 sack 200..700
         6000 us   < 700..800
         6020 us   < 100..200
         6020 us   > ack 800",
    );
}

/// The last segment of a packet of several asks for an ACK at once; no other does.
#[test]
fn a_pushed_segment_is_acknowledged_at_once() {
    passive(
        &TcpPlan { delayed_ack: Some(delayed()), window: Some(65_535), ..linux() },
        "1 ms      < 0..100 flags psh
         1 ms      > ack 100
         2 ms      < 100..200
         3 ms      < 200..300
         3 ms      > ack 300",
    );
}

/// Packets of two segments, the second of them with PSH, and a rest of one that waits until more may leave.
#[test]
fn windows_leave_in_packets_of_two() {
    let plan = TcpPlan { handshake: true, ..linux() };
    let mut sender = Endpoint::new(&plan, Role::Active, ISN, None);
    let mut answer =
        Segment { seq: ISN, flags: flags::SYN | flags::ACK, window: 60_000, ..Segment::default() };
    let left = |endpoint: &mut Endpoint, now: Time| {
        std::iter::from_fn(|| endpoint.poll_transmit(now))
            .map(|(sent, _)| (sent.len, sent.flags))
            .collect::<Vec<_>>()
    };
    sender.open(Time::ZERO);
    sender.write(Time::ZERO, u64::MAX);
    assert_eq!(left(&mut sender, Time::ZERO), [(0, flags::SYN)]);
    let now = Time::ZERO + Span::from_millis(40);
    answer.ack = ISN + 1;
    sender.handle_segment(now, &answer);
    let (whole, last) = ((100, flags::ACK), (100, flags::ACK | flags::PSH));
    // The handshake ends alone.
    assert_eq!(left(&mut sender, now), [vec![(0, flags::ACK)], [whole, last].repeat(5)].concat());
    // Three segments have arrived, so six may leave; one has, so two may.
    let now = now + Span::from_millis(40);
    let ack = |n: u32| Segment {
        seq: ISN + 1,
        ack: ISN + 1 + n,
        flags: flags::ACK,
        window: 60_000,
        ..Segment::default()
    };
    sender.handle_segment(now, &ack(300));
    assert_eq!(left(&mut sender, now), [whole, last].repeat(3));
    sender.handle_segment(now, &ack(400));
    assert_eq!(left(&mut sender, now), [whole, last]);
}

/// The first ACK with a SACK block also moves on: what it acknowledges was not overtaken, as nothing had been SACKed before. So no
/// time is left for reordering after three SACKed segments.
#[test]
fn an_acknowledgement_with_the_first_block_is_no_reordering() {
    active(
        &linux(),
        "0 ms      write 1000
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         0 ms      > 400..500
         0 ms      > 500..600
         0 ms      > 600..700
         0 ms      > 700..800
         0 ms      > 800..900
         0 ms      > 900..1000
         40 ms     < ack 100 sack 200..300
         42 ms     < ack 100 sack 200..400
         44 ms     < ack 100 sack 200..500
         44 ms     > 100..200 again",
    );
}
