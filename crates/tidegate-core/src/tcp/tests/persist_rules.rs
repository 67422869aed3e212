//! A receiver's window that closes: the persist timer and its probes (RFC 9293 §3.8.6.1, RFC 1122 §4.2.2.17), as traces.

use super::plans::{ns2, short};
use super::trace::{active, passive};
use crate::plan::{CongestionPlan, TcpBase, TcpPlan, TcpRules};

fn linux() -> TcpPlan {
    TcpPlan {
        base: TcpBase::Linux,
        cc: CongestionPlan::Reno,
        rules: TcpRules::LINUX,
        sack: true,
        initial_window: 1000,
        ..short()
    }
}

#[test]
fn a_closed_window_is_probed_with_the_next_octet() {
    active(
        &short(),
        "0 ms      write 1000
         0 ms      > 0..100
         0 ms      > 100..200
         100 ms    < ack 200 window 0
         # The time-out, 300 ms, begins when the window closes.
         100 ms    = held ReceiverWindow
         100 ms    = wakeup 400 ms
         400 ms    > 200..201
         # An answer puts the next one off; the wait has doubled.
         410 ms    < ack 200 window 0
         410 ms    = wakeup 1.01 s
         1010 ms   > 200..201
         1010 ms   = wakeup 2.21 s
         2210 ms   > 200..201
         # No probe is a loss.
         2210 ms   = cwnd 200
         2210 ms   = timeouts 0
         # Nothing was sent for more than a time-out (RFC 5681 §4.1).
         2300 ms   < ack 200 window 1000
         2300 ms   > 200..300
         2300 ms   > 300..400
         2300 ms   = wakeup 2.6 s",
    );
}

#[test]
fn an_octet_that_was_taken_counts_as_sent() {
    active(
        &short(),
        "0 ms      write 500
         0 ms      > 0..100
         0 ms      > 100..200
         100 ms    < ack 200 window 0
         400 ms    > 200..201
         450 ms    < ack 201 window 1000
         450 ms    > 201..301
         450 ms    > 301..401",
    );
}

#[test]
fn what_was_never_sent_is_not_taken_for_a_probe() {
    active(
        &short(),
        "0 ms      write 500
         0 ms      > 0..100
         0 ms      > 100..200
         100 ms    < ack 200 window 0
         400 ms    > 200..201
         450 ms    < ack 202 window 1000
         450 ms    > ack 0",
    );
}

/// RFC 9293 §3.8.6.2.1: a piece of a segment leaves when the timer expires.
#[test]
fn a_window_smaller_than_a_segment_is_filled_when_the_timer_expires() {
    active(
        &short(),
        "0 ms      write 500
         0 ms      > 0..100
         0 ms      > 100..200
         100 ms    < ack 200 window 40
         400 ms    > 200..240
         # From here on it is data as any other.
         400 ms    = wakeup 700 ms
         700 ms    > 200..240 again
         700 ms    = timeouts 1",
    );
}

#[test]
fn linux_probes_with_a_number_that_was_acknowledged() {
    active(
        &linux(),
        "0 ms      write 1500
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
         40 ms     < ack 1000 window 0
         40 ms     = wakeup 280 ms
         280 ms    > ack 0
         290 ms    < ack 1000 window 0
         290 ms    = wakeup 770 ms
         770 ms    > ack 0
         # A window that is smaller than a segment moves the timer.
         780 ms    < ack 1000 window 30
         780 ms    = wakeup 1.74 s
         1740 ms   > 1000..1030
         1740 ms   = timeouts 0
         1780 ms   < ack 1030 window 100
         1780 ms   > 1030..1130",
    );
}

/// `tcp_may_update_window`.
#[test]
fn linux_does_not_believe_a_window_that_narrows_without_acknowledging() {
    let script = |narrower: &str| {
        format!(
            "0 ms      write 1500
             0 ms      > 0..100
             0 ms      > 100..200
             40 ms     < ack 100 window 600
             40 ms     > 200..300
             40 ms     > 300..400
             41 ms     < ack 100 window 300
             42 ms     < ack 200 window {narrower}"
        )
    };
    // At the number 200 the next ACK says what the window is.
    active(&TcpPlan { initial_window: 200, ..linux() }, &(script("200") + "\n42 ms = held ReceiverWindow"));
}

#[test]
fn bsd_waits_five_seconds_at_least_and_sixty_at_most() {
    let plan = TcpPlan { base: TcpBase::Bsd44, handshake: false, ..ns2(CongestionPlan::Reno) };
    active(
        &plan,
        "0 ms      write 10000
         0 ms      > 0..1460
         0 ms      > 1460..2920
         100 ms    < ack 2920 window 0
         100 ms    = wakeup 5.1 s
         5100 ms   > 2920..2921
         15100 ms  > 2920..2921
         35100 ms  > 2920..2921
         75100 ms  > 2920..2921
         135100 ms > 2920..2921
         195100 ms > 2920..2921",
    );
}

/// RFC 9293 §3.10.7.4.
#[test]
fn a_probe_is_answered() {
    passive(
        &short(),
        "0 ms      < 0..100
         0 ms      > ack 100
         50 ms     < 0..0 ack 0
         50 ms     > ack 100",
    );
}

/// `tcp_oow_rate_limited`.
#[test]
fn linux_answers_probes_twice_a_second_at_most() {
    passive(
        &linux(),
        "0 ms      < 0..100
         0 ms      > ack 100
         50 ms     < 0..0 ack 0
         50 ms     > ack 100
         549 ms    < 0..0 ack 0
         550 ms    < 0..0 ack 0
         550 ms    > ack 100",
    );
}
