//! SACK: the receiver's blocks (RFC 2018) and the sender's recovery (RFC 6675), as traces.

use super::plans::short;
use super::trace::{active, passive};
use crate::plan::{CongestionPlan, TcpPlan};

fn ten() -> TcpPlan {
    TcpPlan { sack: true, limited_transmit: true, initial_window: 1000, ..short() }
}

const TEN: &str = "
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
";

/// RFC 2018 §4: the block that arrived last first, then the ones reported before it.
#[test]
fn blocks_come_newest_first() {
    passive(
        &ten(),
        "1 ms      < 100..200
         1 ms      > ack 0 sack 100..200
         2 ms      < 300..400
         2 ms      > ack 0 sack 300..400,100..200
         3 ms      < 500..600
         3 ms      > ack 0 sack 500..600,300..400,100..200
         4 ms      < 700..800
         4 ms      > ack 0 sack 700..800,500..600,300..400,100..200
         # There is room for four.
         5 ms      < 900..1000
         5 ms      > ack 0 sack 900..1000,700..800,500..600,300..400
         5 ms      < 900..1000
         5 ms      > ack 0 sack 900..1000,700..800,500..600,300..400
         # A segment that joins two.
         5 ms      < 200..300
         5 ms      > ack 0 sack 100..400,900..1000,700..800,500..600
         6 ms      < 500..600
         6 ms      > ack 0 sack 500..600,100..400,900..1000,700..800
         7 ms      < 0..100
         7 ms      > ack 400 sack 500..600,900..1000,700..800
         8 ms      < 400..500
         8 ms      > ack 600 sack 900..1000,700..800
         9 ms      < 600..700
         9 ms      > ack 800 sack 900..1000",
    );
}

/// RFC 2018 §3: timestamps take the room of the fourth block.
#[test]
fn three_blocks_fit_beside_timestamps() {
    passive(
        &TcpPlan { timestamps: true, ..ten() },
        "1 ms      < 100..200 ts 1
         1 ms      > ack 0 sack 100..200 ts 2 echo 0
         2 ms      < 300..400 ts 2
         2 ms      > ack 0 sack 300..400,100..200 ts 3 echo 0
         3 ms      < 500..600 ts 3
         3 ms      > ack 0 sack 500..600,300..400,100..200 ts 4 echo 0
         4 ms      < 700..800 ts 4
         4 ms      > ack 0 sack 700..800,500..600,300..400 ts 5 echo 0",
    );
}

/// RFC 6675 §5: blocks on an ACK of something new are read like others; what they name is out of the pipe.
#[test]
fn a_new_ack_may_carry_blocks() {
    let mut trace = active(&ten(), &format!("0 ms write bulk {TEN}"));
    trace.play(
        "100 ms    < ack 100 sack 200..300
         # Eight in the pipe, and a window of eleven.
         100 ms    > 1000..1100
         100 ms    > 1100..1200
         100 ms    > 1200..1300
         100 ms    = flight 1100
         100 ms    = phase SlowStart",
    );
}

/// RFC 6675 §5: one loss. The pipe shrinks by a segment with each SACK.
#[test]
fn one_loss() {
    let mut trace = active(&ten(), &format!("0 ms write bulk {TEN}"));
    trace.play(
        "100 ms    < ack 0 sack 100..200
         # Step 3: Limited Transmit, because the pipe has shrunk.
         100 ms    > 1000..1100
         101 ms    < ack 0 sack 100..300
         101 ms    > 1100..1200
         101 ms    = phase SlowStart
         102 ms    < ack 0 sack 100..400
         # Step 4: ssthresh is half of the ten; Limited Transmit does not count.
         102 ms    > 0..100 again
         102 ms    = ssthresh 500
         102 ms    = cwnd 500
         102 ms    = phase Recovery
         # Twelve outstanding, three SACKed, one lost, one sent again.
         102 ms    = flight 900
         103 ms    < ack 0 sack 100..500
         104 ms    < ack 0 sack 100..600
         105 ms    < ack 0 sack 100..700
         106 ms    < ack 0 sack 100..800
         106 ms    = flight 500
         107 ms    < ack 0 sack 100..900
         107 ms    > 1200..1300
         108 ms    < ack 0 sack 100..1000
         108 ms    > 1300..1400
         200 ms    < ack 1000
         200 ms    = phase Recovery
         200 ms    > 1400..1500
         201 ms    < ack 1100
         201 ms    > 1500..1600
         # RecoveryPoint.
         202 ms    < ack 1200
         202 ms    = phase CongestionAvoidance
         202 ms    = cwnd 500
         202 ms    > 1600..1700",
    );
}

/// A segment with data may be a duplicate ACK here, and one whose SACK blocks report nothing new is none.
#[test]
fn news_make_a_duplicate() {
    let mut trace = active(&ten(), &format!("0 ms write 1000 {TEN}"));
    trace.play(
        "100 ms    < ack 0 sack 100..200
         100 ms    < ack 0 sack 100..200
         100 ms    < ack 0 sack 100..200
         100 ms    < ack 0 sack 100..200 window 5000
         100 ms    = phase SlowStart
         101 ms    < 0..100 ack 0 sack 100..300 window 5000
         101 ms    > ack 100
         # Step 2: IsLost before the third duplicate, for more than two segments are SACKed above.
         102 ms    < ack 0 sack 100..500 window 5000
         102 ms    > 0..100 again ack 100
         102 ms    = phase Recovery",
    );
}

/// NextSeg rule 1: lost segments in order, as the pipe allows.
#[test]
fn several_losses() {
    let mut trace = active(&ten(), &format!("0 ms write bulk {TEN}"));
    trace.play(
        "100 ms    < ack 0 sack 100..200
         100 ms    > 1000..1100
         101 ms    < ack 0 sack 300..400,100..200
         101 ms    > 1100..1200
         102 ms    < ack 0 sack 500..600,300..400,100..200
         102 ms    > 0..100 again
         # 12 - 3 SACKed - 1 lost + 1 again; 200..300 has only two SACKed above it.
         102 ms    = flight 900
         103 ms    < ack 0 sack 500..700,300..400,100..200
         # Now it has three: lost.
         103 ms    = flight 700
         104 ms    < ack 0 sack 500..800,300..400,100..200
         104 ms    = flight 500
         105 ms    < ack 0 sack 500..900,300..400,100..200
         105 ms    > 200..300 again
         106 ms    < ack 0 sack 500..1000,300..400,100..200
         106 ms    > 400..500 again
         107 ms    < ack 200 sack 500..1000,300..400
         107 ms    > 1200..1300",
    );
}

/// NextSeg rules 3 and 4 when there is nothing new to send.
#[test]
fn doubtful_segments_and_the_rescue() {
    let mut trace = active(&ten(), &format!("0 ms write 1000 {TEN}"));
    trace.play(
        "100 ms    < ack 0 sack 100..200
         101 ms    < ack 0 sack 100..300
         102 ms    < ack 0 sack 100..400
         102 ms    > 0..100 again
         103 ms    < ack 0 sack 100..600
         104 ms    < ack 0 sack 100..700
         104 ms    = flight 400
         # Rule 3: 700..800 has only one segment SACKed above it, but there is room.
         105 ms    < ack 0 sack 800..900,100..700
         105 ms    > 700..800 again
         # Rule 4: once HighACK is beyond the first retransmission, the last segment once.
         200 ms    < ack 700 sack 800..900
         200 ms    > 900..1000 again
         201 ms    < ack 900
         300 ms    < ack 1000
         300 ms    = phase CongestionAvoidance
         300 ms    = wakeup never",
    );
}

/// RFC 6675 §5.1: the scoreboard survives a time-out; no recovery until all is acknowledged.
#[test]
fn a_timeout_skips_what_is_sacked() {
    let mut trace = active(&ten(), &format!("0 ms write 1000 {TEN}"));
    trace.play(
        "100 ms    < ack 0 sack 200..400
         1000 ms   > 0..100 again
         1000 ms   = flight 100
         1100 ms   < ack 100 sack 200..400
         1100 ms   > 100..200 again
         1100 ms   > 400..500 again
         1200 ms   < ack 500
         1200 ms   > 500..600 again
         1200 ms   > 600..700 again
         1200 ms   > 700..800 again
         # SACKs make room and start nothing.
         1300 ms   < ack 500 sack 600..700
         1300 ms   > 800..900 again
         1301 ms   < ack 500 sack 600..800
         1301 ms   > 900..1000 again
         1301 ms   = phase Loss
         1400 ms   < ack 1000
         1400 ms   = cwnd 400
         1400 ms   = phase SlowStart",
    );
}

#[test]
fn a_timeout_goes_back_when_asked_to() {
    let mut trace = active(&TcpPlan { go_back_n: true, ..ten() }, &format!("0 ms write 1000 {TEN}"));
    trace.play(
        "100 ms    < ack 0 sack 200..400
         1000 ms   > 0..100 again
         1100 ms   < ack 100
         1100 ms   > 100..200 again
         1100 ms   > 200..300 again",
    );
}

/// Without Limited Transmit the first two duplicates let nothing go.
#[test]
fn limited_transmit_can_be_off() {
    let mut trace = active(&TcpPlan { limited_transmit: false, ..ten() }, &format!("0 ms write bulk {TEN}"));
    trace.play(
        "100 ms    < ack 0 sack 100..200
         101 ms    < ack 0 sack 100..300
         102 ms    < ack 0 sack 100..400
         102 ms    > 0..100 again",
    );
}

/// Tahoe with SACK: slow start, but only what is missing.
#[test]
fn tahoe_uses_what_sack_says() {
    let plan = TcpPlan { cc: CongestionPlan::Tahoe { fast_retransmit: true }, ..ten() };
    let mut trace = active(&plan, &format!("0 ms write bulk {TEN}"));
    trace.play(
        "100 ms    < ack 0 sack 100..200
         100 ms    > 1000..1100
         100 ms    < ack 0 sack 100..200,300..400
         100 ms    > 1100..1200
         100 ms    < ack 0 sack 100..200,300..700
         100 ms    > 0..100 again
         100 ms    = cwnd 100
         100 ms    = phase Loss
         # 200..300 is lost too, and the pipe must empty first.
         101 ms    < ack 0 sack 100..200,300..1200
         200 ms    < ack 200 sack 300..1200
         200 ms    > 200..300 again
         200 ms    > 1200..1300",
    );
}

/// Blocks that make no sense change nothing.
#[test]
fn senseless_blocks() {
    let mut trace = active(&ten(), &format!("0 ms write 1000 {TEN}"));
    trace.play(
        "100 ms    < ack 0 sack 900..1100
         100 ms    < ack 0 sack 300..200
         100 ms    < ack 0 sack 400..400
         100 ms    = flight 1000
         101 ms    < ack 300 sack 100..200
         101 ms    = flight 700",
    );
}
