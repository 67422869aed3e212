//! The round trips that are reported: of segments sent once, to the first ACK that reports them.

use super::plans::short;
use super::trace::active;
use crate::plan::{CongestionPlan, TcpPlan, TcpRules};

/// A loss, its repair, and what each ACK measures.
const LOSS: &str = "
    0 ms      write 500
    0 ms      > 0..100
    0 ms      > 100..200
    0 ms      > 200..300
    0 ms      > 300..400
    0 ms      > 400..500
    40 ms     < ack 100
    40 ms     = round_trip 40 ms
    41 ms     < ack 100 sack 200..300
    41 ms     = round_trip 41 ms
    42 ms     < ack 100 sack 200..400
    43 ms     < ack 100 sack 200..500
    43 ms     > 100..200 again
    43 ms     = round_trip 43 ms
    # What is repeated brings nothing new, and the repair is of a segment sent twice (Karn's rule).
    44 ms     < ack 100 sack 200..500
    44 ms     = round_trip none
    90 ms     < ack 500
    90 ms     = round_trip none";

fn five() -> TcpPlan {
    TcpPlan { initial_window: 500, sack: true, ..short() }
}

#[test]
fn an_ack_or_a_sack_that_reports_a_segment_first_gives_its_round_trip() {
    active(&five(), LOSS);
    active(&TcpPlan { cc: CongestionPlan::Reno, rules: TcpRules::LINUX, ..five() }, LOSS);
}

/// Without SACK nobody says when what waits for the hole arrived, so the ACK that covers both says nothing.
#[test]
fn a_segment_that_waited_for_a_hole_gives_none() {
    active(
        &TcpPlan { sack: false, ..five() },
        "0 ms      write 500
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         0 ms      > 400..500
         40 ms     < ack 0
         41 ms     < ack 0
         42 ms     < ack 0
         42 ms     > 0..100 again
         42 ms     = round_trip none
         90 ms     < ack 500
         90 ms     = round_trip none",
    );
}

/// A segment that was overtaken took long itself; those that overtook it were reported before.
#[test]
fn what_arrives_late_and_was_not_sent_again_counts() {
    active(
        &five(),
        "0 ms      write 300
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         40 ms     < ack 0 sack 200..300
         40 ms     = round_trip 40 ms
         50 ms     < ack 100 sack 200..300
         50 ms     = round_trip 50 ms
         60 ms     < ack 300
         60 ms     = round_trip 60 ms",
    );
}
