//! Growth of the window, its limits, idle times and the acknowledgements of the receiver
//! (RFC 5681 §3.1, §4.1, §4.2; RFC 1122 §4.2.3.2), as traces.

use super::plans::{delayed, short};
use super::trace::{Trace, active, passive};
use crate::plan::{DelayedAckPlan, Increase, TcpPlan};
use crate::tcp::Role;
use crate::units::{Span, Time};

#[test]
fn slow_start_adds_a_segment_per_ack() {
    active(
        &short(),
        "0 ms      write bulk
         0 ms      > 0..100
         0 ms      > 100..200
         100 ms    < ack 100
         100 ms    = cwnd 300
         100 ms    > 200..300
         100 ms    > 300..400
         # min(N, SMSS) for an ACK of more.
         110 ms    < ack 300
         110 ms    = cwnd 400
         110 ms    > 400..500
         110 ms    > 500..600
         110 ms    > 600..700",
    );
}

/// RFC 5681 §3.1 eq. (3), with its fractions kept.
#[test]
fn congestion_avoidance_per_ack() {
    active(
        &TcpPlan { initial_ssthresh: Some(200), ..short() },
        "0 ms      write bulk
         0 ms      > 0..100
         0 ms      > 100..200
         # 200 + 100²/200 = 250
         100 ms    < ack 100
         100 ms    = cwnd 250
         100 ms    > 200..300
         # 250 + 100²/250 = 290
         110 ms    < ack 200
         110 ms    = cwnd 290
         110 ms    > 300..400
         # 290 + 34.48 = 324.48
         200 ms    < ack 300
         200 ms    = cwnd 324
         200 ms    > 400..500
         200 ms    > 500..600
         # 324.48 + 30.82 = 355.30
         210 ms    < ack 400
         210 ms    = cwnd 355
         210 ms    > 600..700",
    );
}

/// The idealised source of the cell-spacing paper: one segment more when a whole window has been
/// acknowledged, counted from the end of slow start; two segments leave at that instant.
#[test]
fn congestion_avoidance_per_window() {
    active(
        &TcpPlan { initial_ssthresh: Some(300), increase: Increase::PerWindow, ..short() },
        "0 ms      write bulk
         0 ms      > 0..100
         0 ms      > 100..200
         100 ms    < ack 100
         100 ms    = cwnd 300
         100 ms    > 200..300
         100 ms    > 300..400
         110 ms    < ack 200
         110 ms    > 400..500
         200 ms    < ack 300
         200 ms    > 500..600
         200 ms    = cwnd 300
         210 ms    < ack 400
         210 ms    = cwnd 400
         210 ms    > 600..700
         210 ms    > 700..800",
    );
}

/// A sender that its application holds back does not grow its window.
#[test]
fn an_idle_window_does_not_grow() {
    active(
        &TcpPlan { initial_window: 1000, ..short() },
        "0 ms      write 300
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      = held Application
         100 ms    < ack 100
         100 ms    < ack 300
         100 ms    = cwnd 1000
         150 ms    write 1100
         150 ms    > 300..400
         150 ms    > 400..500
         150 ms    > 500..600
         150 ms    > 600..700
         150 ms    > 700..800
         150 ms    > 800..900
         150 ms    > 900..1000
         150 ms    > 1000..1100
         150 ms    > 1100..1200
         150 ms    > 1200..1300
         150 ms    = held CongestionWindow
         # Now the window was full.
         250 ms    < ack 400
         250 ms    = cwnd 1100
         250 ms    > 1300..1400",
    );
}

/// The limit is in bytes; a segment that would pass it waits, and it holds cwnd too.
#[test]
fn the_window_limit_holds() {
    active(
        &TcpPlan { window: Some(350), initial_window: 300, ..short() },
        "0 ms      write bulk
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      = held CongestionWindow
         100 ms    < ack 100 window 350
         100 ms    = cwnd 400
         100 ms    > 300..400
         100 ms    = held ReceiverWindow
         200 ms    < ack 200 window 350
         200 ms    = cwnd 500
         200 ms    > 400..500
         300 ms    < ack 400 window 350
         300 ms    > 500..600
         300 ms    > 600..700
         # These ACKs belong to the flight that cwnd had held; the next do not.
         300 ms    = cwnd 600
         400 ms    < ack 500 window 350
         400 ms    = cwnd 600
         400 ms    > 700..800",
    );
}

#[test]
fn the_other_end_may_offer_less() {
    active(
        &TcpPlan { initial_window: 400, ..short() },
        "0 ms      write bulk
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         100 ms    < ack 100 window 300
         100 ms    = held ReceiverWindow
         110 ms    < ack 200 window 300
         110 ms    > 400..500",
    );
}

/// A window below a segment makes segments smaller.
#[test]
fn a_window_below_a_segment() {
    active(
        &TcpPlan { window: Some(60), ..short() },
        "0 ms      write 150
         0 ms      > 0..60
         100 ms    < ack 60 window 60
         100 ms    > 60..120
         200 ms    < ack 120 window 60
         200 ms    > 120..150",
    );
}

/// RFC 5681 §4.1.
#[test]
fn an_idle_time_longer_than_the_timeout_restarts_the_window() {
    let script = "0 ms      write 500
         0 ms      > 0..100
         0 ms      > 100..200
         100 ms    < ack 100
         100 ms    > 200..300
         100 ms    > 300..400
         110 ms    < ack 200
         110 ms    > 400..500
         # The write was all there was: no growth after it.
         200 ms    < ack 500
         200 ms    = cwnd 500";
    active(&short(), script).play(
        "2000 ms   write bulk
         2000 ms   = cwnd 200
         2000 ms   > 500..600
         2000 ms   > 600..700",
    );
    active(&TcpPlan { idle_restart: false, ..short() }, script).play(
        "2000 ms   write 100
         2000 ms   = cwnd 500
         2000 ms   > 500..600",
    );
    // Not long enough.
    active(&short(), script).play(
        "300 ms    write 100
         300 ms    = cwnd 500
         300 ms    > 500..600",
    );
}

/// A short segment leaves only when it is all there is; a window with room for less waits.
#[test]
fn no_silly_segments() {
    active(
        &TcpPlan { initial_window: 250, ..short() },
        "0 ms      write 250
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..250
         10 ms     write 100
         10 ms     = held CongestionWindow
         100 ms    < ack 100
         100 ms    > 250..350",
    );
    active(
        &TcpPlan { initial_window: 250, ..short() },
        "0 ms      write bulk
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      = held CongestionWindow",
    );
}

#[test]
fn every_segment_is_acknowledged_when_nothing_is_delayed() {
    passive(
        &short(),
        "1 ms      < 0..100
         1 ms      > ack 100
         2 ms      < 100..150
         2 ms      > ack 150
         2 ms      = delivered 150 in 2",
    );
}

/// RFC 5681 §4.2: every second full segment, or a timer.
#[test]
fn delayed_acks() {
    passive(
        &TcpPlan { delayed_ack: Some(delayed()), ..short() },
        "1 ms      < 0..100
         1 ms      = wakeup 201 ms
         2 ms      < 100..200
         2 ms      > ack 200
         2 ms      = wakeup never
         3 ms      < 200..300
         203 ms    > ack 300
         # Two short ones are not two full ones.
         300 ms    < 300..350
         301 ms    < 350..400
         302 ms    < 400..500
         302 ms    > ack 500",
    );
}

#[test]
fn a_delayed_ack_may_wait_for_ever() {
    let delay = DelayedAckPlan { every: 3, timeout: None, tick: Span::ZERO };
    passive(
        &TcpPlan { delayed_ack: Some(delay), ..short() },
        "1 ms      < 0..100
         2 ms      < 100..200
         2 ms      = wakeup never
         9000 ms   < 200..300
         9000 ms   > ack 300",
    );
}

/// BSD's fast timer: the next tick of 200 ms, wherever it is.
#[test]
fn bsd_delays_to_the_next_tick() {
    let tick = Span::from_millis(200);
    let delay = DelayedAckPlan { every: 2, timeout: Some(tick), tick };
    passive(
        &TcpPlan { delayed_ack: Some(delay), ..short() },
        "150 ms    < 0..100
         200 ms    > ack 100
         # On the tick: the following one.
         400 ms    < 100..200
         600 ms    > ack 200
         610 ms    < 200..300
         620 ms    < 300..400
         620 ms    > ack 400",
    );
}

/// The host had been up for 1050 ms at time 0, and its clocks started when it booted: delayed ACKs leave at their ticks.
#[test]
fn bsd_delays_to_the_next_tick_of_the_hosts_own_clock() {
    let tick = Span::from_millis(200);
    let delay = DelayedAckPlan { every: 2, timeout: Some(tick), tick };
    let mut trace = Trace::new(&TcpPlan { delayed_ack: Some(delay), ..short() }, Role::Passive);
    trace.endpoint.start_clock(Span::from_millis(1050));
    trace.endpoint.open(Time::ZERO);
    trace.play(
        "10 ms     < 0..100
         150 ms    > ack 100
         160 ms    < 100..200
         350 ms    > ack 200",
    );
}

/// RFC 5681 §4.2: at once for a segment out of order, one that fills a gap, and a copy.
#[test]
fn disorder_is_acknowledged_at_once() {
    passive(
        &TcpPlan { delayed_ack: Some(delayed()), ..short() },
        "1 ms      < 100..200
         1 ms      > ack 0
         2 ms      < 300..400
         2 ms      > ack 0
         2 ms      = delivered 200 in 2
         2 ms      = readable 0
         3 ms      < 0..100
         3 ms      > ack 200
         3 ms      = delivered 300 in 3
         3 ms      = readable 200
         4 ms      < 0..100
         4 ms      > ack 200
         4 ms      = duplicates 1
         5 ms      < 300..400
         5 ms      > ack 200
         5 ms      = duplicates 2
         6 ms      < 200..300
         6 ms      > ack 400
         6 ms      = delivered 400 in 4
         6 ms      = readable 400
         # In order again: delayed again.
         7 ms      < 400..500
         7 ms      = wakeup 207 ms
         # Disorder takes the delayed one along.
         8 ms      < 600..700
         8 ms      > ack 500
         8 ms      = wakeup never",
    );
}

#[test]
fn quick_acks_come_first() {
    passive(
        &TcpPlan { delayed_ack: Some(delayed()), quick_acks: 2, ..short() },
        "1 ms      < 0..100
         1 ms      > ack 100
         2 ms      < 100..200
         2 ms      > ack 200
         3 ms      < 200..300
         4 ms      < 300..400
         4 ms      > ack 400",
    );
}

/// Data carry the acknowledgement that is owed.
#[test]
fn acks_ride_on_data() {
    passive(
        &TcpPlan { delayed_ack: Some(delayed()), ..short() },
        "1 ms      < 0..100
         5 ms      write 50
         5 ms      > 0..50 ack 100
         5 ms      = wakeup 1.005 s
         9 ms      < 100..200
         10 ms     < 200..300 ack 50
         10 ms     > ack 300
         10 ms     = wakeup never",
    );
}

/// What lies beyond the window is dropped and acknowledged; so is an ACK of nothing sent.
#[test]
fn segments_that_make_no_sense_are_answered() {
    passive(
        &TcpPlan { window: Some(300), ..short() },
        "1 ms      < 300..400
         1 ms      > ack 0
         2 ms      < 0..100
         2 ms      > ack 100
         3 ms      < ack 50
         3 ms      > ack 100",
    );
}
