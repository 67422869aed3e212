//! Fast retransmit, fast recovery, Limited Transmit and what follows a time-out, without
//! SACK (RFC 5681, 6582, 3042), as traces.

use super::plans::short;
use super::trace::active;
use crate::plan::{CongestionPlan, Increase, RtoPlan, RtoRestart, SsthreshRounding, TcpPlan};
use crate::units::Span;

/// Eight segments in flight from the start.
fn eight(cc: CongestionPlan) -> TcpPlan {
    TcpPlan { cc, initial_window: 800, ..short() }
}

const START: &str = "
    0 ms      write bulk
    0 ms      > 0..100
    0 ms      > 100..200
    0 ms      > 200..300
    0 ms      > 300..400
    0 ms      > 400..500
    0 ms      > 500..600
    0 ms      > 600..700
    0 ms      > 700..800
";

/// RFC 5681 §3.2 steps 1 to 6.
#[test]
fn reno_recovers_until_the_first_new_ack() {
    let mut trace = active(&eight(CongestionPlan::Reno), START);
    trace.play(
        "100 ms    < ack 0
         101 ms    < ack 0
         101 ms    = phase SlowStart
         # The third duplicate: half of eight segments, and three that have left.
         102 ms    < ack 0
         102 ms    > 0..100 again
         102 ms    = ssthresh 400
         102 ms    = cwnd 400
         102 ms    = phase Recovery
         # Restarted at the fast retransmit.
         102 ms    = wakeup 1.102 s
         # One segment more for each duplicate: window 400 + 300 + 100 is eight segments,
         103 ms    < ack 0
         # and then nine.
         104 ms    < ack 0
         104 ms    > 800..900
         105 ms    < ack 0
         105 ms    > 900..1000
         106 ms    < ack 0
         106 ms    > 1000..1100
         # Step 6: the window is deflated; eleven less eight segments are in flight.
         202 ms    < ack 800
         202 ms    = cwnd 400
         202 ms    = phase CongestionAvoidance
         202 ms    > 1100..1200",
    );
}

/// Reno ends its recovery at a partial ACK; a second loss in the same window needs the timer.
#[test]
fn reno_times_out_for_a_second_loss() {
    let mut trace = active(&eight(CongestionPlan::Reno), START);
    trace.play(
        "100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0
         100 ms    > 0..100 again
         100 ms    < ack 0
         100 ms    < ack 0
         100 ms    > 800..900
         100 ms    < ack 0
         100 ms    > 900..1000
         200 ms    < ack 300
         200 ms    = phase CongestionAvoidance
         200 ms    = cwnd 400
         210 ms    < ack 300
         210 ms    < ack 300
         210 ms    < ack 300
         210 ms    = phase CongestionAvoidance
         # Karn: 300..800 were sent once, but the ACK covered a copy too.
         210 ms    = rto 1 s
         1200 ms   > 300..400 again
         1200 ms   = ssthresh 350
         1200 ms   = phase Loss",
    );
}

/// RFC 6582 §3.2: partial ACKs send the next hole, deflate the window and restart the timer once.
#[test]
fn newreno_mends_one_hole_per_round_trip() {
    let mut trace = active(&eight(CongestionPlan::NewReno), START);
    trace.play(
        "100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0
         100 ms    > 0..100 again
         100 ms    < ack 0
         100 ms    < ack 0
         100 ms    > 800..900
         100 ms    = wakeup 1.1 s
         # Partial: 300 less, 100 more; window 400 + 500 - 300 + 100, six segments outstanding.
         200 ms    < ack 300
         200 ms    > 300..400 again
         200 ms    > 900..1000
         200 ms    = phase Recovery
         200 ms    = wakeup 1.2 s
         # The second partial ACK leaves the timer alone (Impatient).
         300 ms    < ack 500
         300 ms    > 500..600 again
         300 ms    > 1000..1100
         300 ms    = wakeup 1.2 s
         # All that was outstanding when it began: cwnd = min(ssthresh, FlightSize + SMSS).
         400 ms    < ack 800
         400 ms    = phase CongestionAvoidance
         400 ms    = cwnd 400
         400 ms    > 1100..1200
         400 ms    = wakeup 1.4 s",
    );
}

/// RFC 6582 §3.2 step 3, choice (1): little in flight, so no burst.
#[test]
fn newreno_leaves_recovery_without_a_burst() {
    let mut trace = active(
        &TcpPlan { initial_window: 800, ..short() },
        "0 ms      write 800
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         0 ms      > 400..500
         0 ms      > 500..600
         0 ms      > 600..700
         0 ms      > 700..800",
    );
    trace.play(
        "100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0
         100 ms    > 0..100 again
         200 ms    < ack 800
         200 ms    = cwnd 200
         200 ms    = ssthresh 400
         300 ms    write bulk
         300 ms    > 800..900
         300 ms    > 900..1000",
    );
}

/// RFC 6582 §3.2 step 2: copies that the receiver did not need also make duplicate ACKs.
#[test]
fn no_fast_retransmit_for_duplicates_of_before_a_timeout() {
    let mut trace = active(&TcpPlan { initial_window: 400, ..short() }, "");
    trace.play(
        "0 ms      write bulk
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         1000 ms   > 0..100 again
         1100 ms   < ack 400
         1100 ms   = phase CongestionAvoidance
         1100 ms   > 400..500
         1100 ms   > 500..600
         1101 ms   < ack 400
         1102 ms   < ack 400
         1103 ms   < ack 400
         1103 ms   = phase CongestionAvoidance
         1104 ms   < ack 400
         # Beyond what was outstanding then, duplicates count again.
         1200 ms   < ack 500
         1200 ms   > 600..700
         1201 ms   < ack 500
         1202 ms   < ack 500
         1203 ms   < ack 500
         1203 ms   > 500..600 again
         1203 ms   = phase Recovery
         # ssthresh 200 and the three that have left: five, of which two are out.
         1203 ms   > 700..800
         1203 ms   > 800..900
         1203 ms   > 900..1000",
    );
}

/// RFC 3042: a new segment for each of the first two duplicates; they do not count in FlightSize.
#[test]
fn limited_transmit() {
    let plan = TcpPlan { limited_transmit: true, ..eight(CongestionPlan::NewReno) };
    let mut trace = active(&plan, START);
    trace.play(
        "100 ms    < ack 0
         100 ms    > 800..900
         100 ms    < ack 0
         100 ms    > 900..1000
         100 ms    < ack 0
         100 ms    > 0..100 again
         100 ms    = ssthresh 400
         # Window 400 + 300, ten outstanding.
         101 ms    < ack 0
         102 ms    < ack 0
         103 ms    < ack 0
         104 ms    < ack 0
         104 ms    > 1000..1100",
    );
}

/// RFC 3042: a new ACK takes the permission back.
#[test]
fn limited_transmit_ends_with_a_new_ack() {
    let plan =
        TcpPlan { limited_transmit: true, initial_ssthresh: Some(100), ..eight(CongestionPlan::NewReno) };
    let mut trace = active(&plan, START);
    trace.play(
        "100 ms    < ack 0
         100 ms    > 800..900
         100 ms    < ack 200
         100 ms    > 900..1000",
    );
}

/// RFC 5681 §2: a duplicate carries no data, and its window is the same.
#[test]
fn what_is_not_a_duplicate() {
    let mut trace = active(&eight(CongestionPlan::NewReno), START);
    trace.play(
        "100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0 window 100000
         100 ms    < 0..100 ack 0 window 100000
         100 ms    > ack 100
         100 ms    = phase SlowStart
         100 ms    < ack 0 window 100000
         100 ms    > 0..100 again ack 100
         200 ms    < ack 800 window 100000
         200 ms    > 800..900 ack 100
         200 ms    > 900..1000 ack 100",
    );
}

#[test]
fn nothing_outstanding_nothing_duplicated() {
    active(
        &short(),
        "0 ms      write 100
         0 ms      > 0..100
         100 ms    < ack 100
         100 ms    < ack 100
         100 ms    < ack 100
         100 ms    < ack 100
         100 ms    = phase SlowStart
         100 ms    write 100
         100 ms    > 100..200",
    );
}

/// `dupthresh = "never"`: only the timer speaks.
#[test]
fn duplicates_may_mean_nothing() {
    let plan = TcpPlan { dupthresh: None, ..eight(CongestionPlan::Reno) };
    let mut trace = active(&plan, START);
    trace.play(
        "100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0
         1000 ms   > 0..100 again
         1000 ms   = phase Loss",
    );
}

/// Tahoe: slow start after the fast retransmit, everything again.
#[test]
fn tahoe_goes_back() {
    let plan = TcpPlan { go_back_n: true, ..eight(CongestionPlan::Tahoe { fast_retransmit: true }) };
    let mut trace = active(&plan, START);
    trace.play(
        "100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0
         100 ms    > 0..100 again
         100 ms    = cwnd 100
         100 ms    = ssthresh 400
         100 ms    = phase Loss
         100 ms    < ack 0
         200 ms    < ack 100
         200 ms    > 100..200 again
         200 ms    > 200..300 again
         300 ms    < ack 800
         300 ms    > 800..900
         300 ms    > 900..1000
         300 ms    > 1000..1100",
    );
}

/// Without `go_back_n` a Tahoe sends the oldest again and then goes on where it was.
#[test]
fn tahoe_goes_on() {
    let mut trace = active(&eight(CongestionPlan::Tahoe { fast_retransmit: true }), START);
    trace.play(
        "100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0
         100 ms    > 0..100 again
         100 ms    = cwnd 100
         200 ms    < ack 700
         200 ms    = cwnd 200
         200 ms    = phase SlowStart
         200 ms    > 800..900",
    );
}

/// What follows a time-out at 1 s of eight segments, of which the first was lost and the second as well: the
/// others come late and make duplicate ACKs.
const AFTER_TIMEOUT: &str = "1000 ms   > 0..100 again
     1000 ms   = phase Loss
     1100 ms   < ack 100
     1100 ms   > 100..200 again
     1100 ms   > 200..300 again
     1110 ms   < ack 100
     1110 ms   < ack 100";

/// RFC 6582 §3.2 step 4: copies of what had been sent before a time-out prove nothing.
#[test]
fn with_a_guard_duplicates_after_a_timeout_do_nothing() {
    for cc in [CongestionPlan::Reno, CongestionPlan::NewReno, CongestionPlan::Tahoe { fast_retransmit: true }]
    {
        let plan = TcpPlan { go_back_n: true, guard: true, ..eight(cc) };
        let mut trace = active(&plan, START);
        trace.play(AFTER_TIMEOUT);
        trace.play("1110 ms   < ack 100\n1110 ms   = fast_retransmits 0");
    }
}

/// 4.4BSD (`tcp_input`, the third duplicate ACK): no guard, so the first missing segment is sent again, the
/// window inflated, and what the time-out gave up is sent again from where it was.
#[test]
fn without_a_guard_reno_retransmits_fast_after_a_timeout() {
    let plan = TcpPlan { go_back_n: true, guard: false, ..eight(CongestionPlan::Reno) };
    let mut trace = active(&plan, START);
    trace.play(AFTER_TIMEOUT);
    trace.play(
        "1110 ms   < ack 100
         1110 ms   > 100..200 again
         # cwnd = 2 segments and 3 for the duplicates: 100 to 600, of which 100 to 300 had gone.
         1110 ms   > 300..400 again
         1110 ms   > 400..500 again
         1110 ms   > 500..600 again
         1110 ms   = phase Recovery
         1110 ms   = fast_retransmits 1
         1120 ms   < ack 100
         1120 ms   > 600..700 again
         # The new ACK deflates the window to the threshold, and the repair goes on.
         1200 ms   < ack 500
         1200 ms   = cwnd 200
         1200 ms   = phase Loss
         1300 ms   < ack 700
         1300 ms   > 700..800 again
         1300 ms   > 800..900
         1400 ms   < ack 800
         1400 ms   > 900..1000
         1400 ms   = phase CongestionAvoidance",
    );
}

/// Duplicate ACKs after a time-out make Tahoe without a guard go back once more.
#[test]
fn without_a_guard_tahoe_goes_back_again_after_a_timeout() {
    let plan =
        TcpPlan { go_back_n: true, guard: false, ..eight(CongestionPlan::Tahoe { fast_retransmit: true }) };
    let mut trace = active(&plan, START);
    trace.play(AFTER_TIMEOUT);
    trace.play(
        "1110 ms   < ack 100
         1110 ms   > 100..200 again
         1110 ms   = cwnd 100
         1110 ms   = fast_retransmits 1
         1200 ms   < ack 300
         1200 ms   > 300..400 again
         1200 ms   > 400..500 again",
    );
}

#[test]
fn tahoe_without_fast_retransmit_waits_for_the_timer() {
    let mut trace = active(&eight(CongestionPlan::Tahoe { fast_retransmit: false }), START);
    trace.play(
        "100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0
         100 ms    < ack 0
         1000 ms   > 0..100 again",
    );
}

/// The TCP of the ABR paper: no fast retransmit, ssthresh = max(2, ⌈w/2⌉), a fixed timer.
#[test]
fn the_abr_papers_tcp() {
    let plan = TcpPlan {
        cc: CongestionPlan::Reno,
        dupthresh: None,
        initial_window: 100,
        initial_ssthresh: Some(700),
        window: Some(700),
        ssthresh_rounding: SsthreshRounding::Up,
        go_back_n: true,
        increase: Increase::PerWindow,
        rto: RtoPlan::Fixed { rto: Span::from_millis(480), restart: RtoRestart::Departure },
        ..short()
    };
    let mut trace = active(&plan, "");
    trace.play(
        "0 ms      write bulk
         0 ms      > 0..100
         5 ms      departure
         240 ms    < ack 100
         240 ms    > 100..200
         240 ms    > 200..300
         245 ms    departure
         250 ms    departure
         480 ms    < ack 200
         480 ms    > 300..400
         480 ms    > 400..500
         485 ms    < ack 300
         485 ms    > 500..600
         485 ms    > 600..700
         485 ms    = cwnd 400
         505 ms    departure
         720 ms    < ack 400
         720 ms    > 700..800
         720 ms    > 800..900
         725 ms    < ack 500
         725 ms    > 900..1000
         725 ms    > 1000..1100
         730 ms    < ack 600
         730 ms    > 1100..1200
         730 ms    > 1200..1300
         # cwnd has reached ssthresh = window limit: seven segments.
         735 ms    < ack 700
         735 ms    = cwnd 700
         735 ms    > 1300..1400
         735 ms    = phase CongestionAvoidance
         # 800..900 is lost.
         960 ms    < ack 800
         960 ms    > 1400..1500
         965 ms    < ack 800
         970 ms    < ack 800
         970 ms    departure
         1450 ms   > 800..900 again
         # ⌈7/2⌉
         1450 ms   = ssthresh 400
         1450 ms   = cwnd 100
         1460 ms   departure
         1700 ms   < ack 1500
         1700 ms   > 1500..1600
         1700 ms   > 1600..1700
         # And down to two.
         2180 ms   > 1500..1600 again
         2180 ms   = ssthresh 200
         2660 ms   > 1500..1600 again
         2660 ms   = ssthresh 200",
    );
}

/// RFC 5681 §3.1: without SACK everything outstanding is sent again, as the window allows.
#[test]
fn after_a_timeout_slow_start_sends_what_was_outstanding() {
    let mut trace = active(&eight(CongestionPlan::NewReno), START);
    trace.play(
        "1000 ms   > 0..100 again
         1000 ms   = flight 100
         1100 ms   < ack 100
         1100 ms   = cwnd 200
         1100 ms   > 100..200 again
         1100 ms   > 200..300 again
         # The receiver had 200..800 but for 300..400.
         1200 ms   < ack 300
         1200 ms   > 300..400 again
         1200 ms   > 400..500 again
         1200 ms   > 500..600 again
         # The copies that were not needed make duplicates: they mean nothing.
         1201 ms   < ack 300
         1300 ms   < ack 800
         1300 ms   = phase CongestionAvoidance
         1300 ms   > 800..900
         1300 ms   > 900..1000
         1300 ms   > 1000..1100
         1300 ms   > 1100..1200",
    );
}
