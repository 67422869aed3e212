//! Segments that come twice, and losses that were none, as packet traces.

use super::plans::short;
use super::trace::{active, passive};
use crate::plan::{CongestionPlan, EcnPlan, TcpBase, TcpPlan, TcpRules};

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

/// RFC 2883 §4: the stretch that came again is the first block, once; above a gap the second block holds it.
#[test]
fn what_comes_again_is_reported_once() {
    let rules = TcpRules { dsack: true, ..TcpRules::RFC };
    passive(
        &TcpPlan { sack: true, rules, ..short() },
        "1 ms      < 0..100
         1 ms      > ack 100
         2 ms      < 0..100
         2 ms      > ack 100 sack 0..100
         3 ms      < 200..300
         3 ms      > ack 100 sack 200..300
         4 ms      < 200..300
         4 ms      > ack 100 sack 200..300,200..300
         5 ms      < 0..100
         5 ms      > ack 100 sack 0..100,200..300
         6 ms      < 50..150
         6 ms      > ack 150 sack 50..100,200..300
         7 ms      < 150..300
         7 ms      > ack 300 sack 200..300",
    );
}

/// Until the third later arrival, after which the first segment is sent again.
const REORDERED: &str = "
         0 ms      write 600
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         0 ms      > 400..500
         0 ms      > 500..600
         40 ms     < ack 0 sack 100..200
         41 ms     < ack 0 sack 100..300
         42 ms     < ack 0 sack 100..400
         42 ms     > 0..100 again
         42 ms     = ssthresh 500
         45 ms     < ack 600
         45 ms     = cwnd 500
";

/// RFC 3708: the copy is reported as a duplicate; window and threshold come back.
#[test]
fn a_superfluous_copy_takes_the_reduction_back() {
    let mut trace = active(&linux(), REORDERED);
    trace.play(
        "82 ms     < ack 600 sack 0..100
         82 ms     = cwnd 1000
         82 ms     = ssthresh none",
    );
    let plan = TcpPlan { rules: TcpRules { undo: false, ..TcpRules::LINUX }, ..linux() };
    let mut standing = active(&plan, REORDERED);
    standing.play(
        "82 ms     < ack 600 sack 0..100
         82 ms     = cwnd 500
         82 ms     = ssthresh 500",
    );
}

/// More duplicates than copies: the network doubles segments, and nothing follows from them.
#[test]
fn duplicates_beyond_the_copies_say_nothing() {
    let mut trace = active(&linux(), REORDERED);
    trace.play(
        "46 ms     < ack 600 sack 0..200
         82 ms     < ack 600 sack 0..100
         82 ms     = cwnd 500",
    );
}

/// RFC 3522 §3.2: the ACK that ends the repair answers to the first copy.
#[test]
fn a_timestamp_shows_that_the_first_copy_arrived() {
    active(
        &TcpPlan { timestamps: true, ..linux() },
        "0 ms      write 600
         0 ms      > 0..100 ts 1 echo 0
         0 ms      > 100..200 ts 1 echo 0
         0 ms      > 200..300 ts 1 echo 0
         0 ms      > 300..400 ts 1 echo 0
         0 ms      > 400..500 ts 1 echo 0
         0 ms      > 500..600 ts 1 echo 0
         40 ms     < ack 0 sack 100..200 ts 30 echo 1
         41 ms     < ack 0 sack 100..300 ts 31 echo 1
         42 ms     < ack 0 sack 100..400 ts 32 echo 1
         42 ms     > 0..100 again ts 43 echo 32
         42 ms     = phase Recovery
         45 ms     < ack 600 ts 33 echo 1
         45 ms     = cwnd 1300
         45 ms     = ssthresh none",
    );
}

/// A part is acknowledged by the late first copy while a copy is on its way: nothing is taken back until that is known.
#[test]
fn a_late_segment_in_the_middle_ends_the_repair() {
    active(
        &TcpPlan { timestamps: true, ..linux() },
        "0 ms      write 600
         0 ms      > 0..100 ts 1 echo 0
         0 ms      > 100..200 ts 1 echo 0
         0 ms      > 200..300 ts 1 echo 0
         0 ms      > 300..400 ts 1 echo 0
         0 ms      > 400..500 ts 1 echo 0
         0 ms      > 500..600 ts 1 echo 0
         40 ms     < ack 0 sack 200..300 ts 30 echo 1
         41 ms     < ack 0 sack 200..400 ts 31 echo 1
         42 ms     < ack 0 sack 200..500 ts 32 echo 1
         42 ms     > 0..100 again ts 43 echo 32
         43 ms     < ack 0 sack 200..600 ts 33 echo 1
         43 ms     > 100..200 again ts 44 echo 33
         44 ms     < ack 100 sack 200..600 ts 34 echo 1
         44 ms     = phase Recovery
         46 ms     < ack 600 ts 35 echo 1
         46 ms     = phase SlowStart
         46 ms     = cwnd 1100",
    );
}

/// No copy of the late segment is on its way: the repair is over, and what counted as lost is not.
#[test]
fn a_late_segment_ends_the_repair() {
    active(
        &TcpPlan { timestamps: true, ..linux() },
        "0 ms      write 600
         0 ms      > 0..100 ts 1 echo 0
         0 ms      > 100..200 ts 1 echo 0
         0 ms      > 200..300 ts 1 echo 0
         0 ms      > 300..400 ts 1 echo 0
         0 ms      > 400..500 ts 1 echo 0
         0 ms      > 500..600 ts 1 echo 0
         40 ms     < ack 0 sack 200..300 ts 30 echo 1
         41 ms     < ack 0 sack 200..400 ts 31 echo 1
         42 ms     < ack 0 sack 200..500 ts 32 echo 1
         42 ms     > 0..100 again ts 43 echo 32
         43 ms     < ack 100 sack 200..500 ts 33 echo 1
         43 ms     = phase SlowStart
         43 ms     = cwnd 1100
         44 ms     < ack 600 ts 34 echo 1",
    );
}

/// No ACK came for a second, because the path stood still: F-RTO sends new data, and the ACK of a segment that was sent
/// once takes the time-out back (RFC 5682 §3.1 steps 2b and 3b).
#[test]
fn a_needless_time_out_is_taken_back() {
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
         1000 ms   > 0..100 again
         1000 ms   = cwnd 100
         1000 ms   = ssthresh 500
         1010 ms   < ack 100
         1010 ms   > 1000..1100
         1010 ms   > 1100..1200
         1020 ms   < ack 200
         1020 ms   > 1200..1300
         1020 ms   = cwnd 1100
         1020 ms   = ssthresh none
         1020 ms   = flight 1100",
    );
}

/// The loss was real: the ACK after the new data SACKs them, and what is lost is sent again (RFC 5682 §3.1 step 3a).
#[test]
fn a_time_out_that_was_right_stands() {
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
         1000 ms   > 0..100 again
         1040 ms   < ack 100
         1040 ms   > 1000..1100
         1040 ms   > 1100..1200
         1080 ms   < ack 100 sack 1000..1100
         1080 ms   > 100..200 again
         1080 ms   = ssthresh 500
         1080 ms   = cwnd 200",
    );
}

/// Without new data F-RTO has nothing to test with, and repairs as ever (RFC 5682 §3.1 step 2b).
#[test]
fn without_new_data_the_repair_goes_on() {
    active(
        &linux(),
        "0 ms      write 300
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         1000 ms   > 0..100 again
         1040 ms   < ack 100
         1040 ms   > 100..200 again
         1040 ms   > 200..300 again",
    );
}

/// RFC 8985 §7.4.1: original and probe have both arrived, so that nothing was lost.
#[test]
fn a_superfluous_probe_costs_nothing() {
    active(
        &linux(),
        "0 ms      write 300
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         40 ms     < ack 100
         126 ms    > 200..300 again
         129 ms    < ack 300
         160 ms    < ack 300 sack 200..300
         160 ms    write 100
         160 ms    > 300..400
         200 ms    < ack 400
         200 ms    = ssthresh none",
    );
}

/// A lost SYN costs no window in Linux, two do, unless the first has come after all, as timestamps tell. They also give the
/// round trip, so that the time-out does not begin with 3 s.
#[test]
fn two_lost_syns_cost_the_window_unless_they_were_late() {
    let plan = TcpPlan { base: TcpBase::Linux, handshake: true, timestamps: true, ..linux() };
    let lost = "
         0 ms      open
         0 ms      > syn
         1000 ms   > syn
         2000 ms   > syn
    ";
    let mut late = active(&plan, lost);
    late.play(
        "2010 ms   < syn-ack ts 1 echo 1
         2010 ms   > ack 0 ts 2011 echo 1
         2010 ms   = cwnd 1000
         2010 ms   = srtt 2.01 s",
    );
    let mut gone = active(&plan, lost);
    gone.play(
        "2040 ms   < syn-ack ts 1 echo 2001
         2040 ms   > ack 0 ts 2041 echo 1
         2040 ms   = cwnd 100
         2040 ms   = srtt 40 ms
         2040 ms   = rto 240 ms",
    );
}

/// A late report that the copy was superfluous finds a window that a mark has reduced since: it stays (`tcp_enter_cwr`).
#[test]
fn a_mark_after_a_needless_repair_stands() {
    let capable = |line: &str| match line {
        line if line.contains(" > ") && !line.ends_with("again") => format!("{line} ect0\n"),
        line => format!("{line}\n"),
    };
    let reordered: String = REORDERED.lines().map(capable).collect();
    let marked = "
         46 ms     write 500
         46 ms     > 600..700 cwr ect0
         46 ms     > 700..800 ect0
         46 ms     > 800..900 ect0
         46 ms     > 900..1000 ect0
         46 ms     > 1000..1100 ect0
    ";
    let plan = TcpPlan { ecn: EcnPlan::Classic, ..linux() };
    let mut trace = active(&plan, &reordered);
    trace.play(marked);
    trace.play(
        "86 ms     < ack 700 flags ece
         86 ms     = reductions 1
         86 ms     = ssthresh 200
         87 ms     < ack 700 sack 0..100
         87 ms     = ssthresh 200
         90 ms     < ack 1100
         90 ms     = cwnd 200",
    );
    // Without the mark the window comes back.
    let mut unmarked = active(&plan, &reordered);
    unmarked.play(marked);
    unmarked.play(
        "86 ms     < ack 700
         87 ms     < ack 700 sack 0..100
         87 ms     = cwnd 1000
         87 ms     = ssthresh none",
    );
}

/// A loss that was none, while the window comes down because of a mark: the repair ends, the reduction for the mark stands
/// (`prior_ssthresh` is 0 in `tcp_enter_recovery`).
#[test]
fn a_needless_repair_after_a_mark_leaves_the_reduction() {
    let mut script = "0 ms write 800\n".to_owned();
    for from in (0..800).step_by(100) {
        script += &format!("0 ms > {from}..{} ts 1 echo 0 ect0\n", from + 100);
    }
    active(
        &TcpPlan { ecn: EcnPlan::Classic, timestamps: true, initial_window: 800, ..linux() },
        &format!(
            "{script}40 ms < ack 100 flags ece ts 30 echo 1
             40 ms = ssthresh 400
             41 ms < ack 100 sack 200..300 ts 31 echo 1
             42 ms < ack 100 sack 200..400 ts 32 echo 1
             43 ms < ack 100 sack 200..500 ts 33 echo 1
             43 ms > 100..200 again ts 44 echo 33
             43 ms = phase Recovery
             45 ms < ack 800 ts 34 echo 1
             45 ms = phase CongestionAvoidance
             45 ms = ssthresh 400
             45 ms = reductions 1"
        ),
    );
}

/// Controllers that govern the window in a repair: BBR and Copa keep it, and a needless repair leaves no trace in the window.
#[test]
fn a_needless_repair_of_a_controller_that_governs_it() {
    for cc in [CongestionPlan::Bbr, CongestionPlan::Bbr3, CongestionPlan::Copa] {
        let plan = TcpPlan { cc, ..linux() };
        let quiet = REORDERED.lines().filter(|line| !line.contains(" = ")).collect::<Vec<_>>().join("\n");
        let mut needless = active(&plan, &quiet);
        needless.play(
            "82 ms     < ack 600 sack 0..100
             82 ms     = phase SlowStart
             82 ms     = flight 0",
        );
        let mut stands = active(&plan, &quiet);
        stands.play("82 ms     < ack 600");
        let windows = [&needless, &stands].map(|trace| trace.endpoint.congestion_window());
        assert!(windows[0] >= windows[1] && windows[0] >= 1000, "{cc:?}: {windows:?}");
    }
}
