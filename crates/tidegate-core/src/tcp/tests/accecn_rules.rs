//! The AccECN Option (RFC 9768 §3.2.3), one trace per rule. `ecn 2` is ECT(0), `accecn0 101,100` has EE0B and ECEB.

use super::plans::{delayed, short};
use super::trace::{active, passive};
use crate::plan::{EcnPlan, TcpPlan};

fn with_option() -> TcpPlan {
    TcpPlan { ecn: EcnPlan::Accurate, sack: true, initial_window: 400, ..short() }
}

/// RFC 9768 §3.2.3.2.1 and §3.2.3.2.2: all counters on the first SYN-ACK and on the last segment of the handshake, none on a SYN
/// nor on a SYN-ACK that is sent again.
#[test]
fn the_handshake_tests_the_option() {
    let plan = TcpPlan { handshake: true, initial_window: 100, ..with_option() };
    active(
        &plan,
        "0 ms open
         0 ms > syn ae cwr ece
         40 ms < syn-ack flags cwr accecn 0:1,0,1
         40 ms > ack 0 accecn0 1,0,1 cwr
         40 ms write 100
         40 ms > 0..100 ae ece ect0",
    );
    passive(
        &plan,
        "0 ms < syn flags ae,cwr,ece
         0 ms > syn-ack accecn cwr
         1000 ms > syn-ack cwr
         1040 ms < ack 0 flags cwr accecn 0:1,0,1
         1041 ms < 0..100 ecn 2
         1041 ms > ack 100 accecn0 101 ae ece",
    );
}

/// RFC 9768 §3.2.3.3: on every ACK if a counter has moved since the last, each counter that ever has moved.
#[test]
fn acks_tell_the_bytes_that_have_come() {
    passive(
        &with_option(),
        "0 ms < 0..100 ecn 2
         0 ms > ack 100 accecn0 101 ae ece
         1 ms < 100..200 ecn 3
         1 ms > ack 200 accecn0 101,100 ae cwr
         2 ms < 200..250 ecn 2
         2 ms > ack 250 accecn0 151,100 ae cwr
         # Not-ECT moves no counter.
         3 ms < 250..300
         3 ms > ack 300 ae cwr
         4 ms < 300..400 ecn 1
         4 ms > ack 400 accecn0 151,100,101 ae cwr",
    );
    passive(
        &with_option(),
        "0 ms < 0..100 ecn 1
         0 ms > ack 100 accecn1 101 ae ece
         1 ms < 100..200 ecn 3
         1 ms > ack 200 accecn1 101,100 ae cwr",
    );
}

/// RFC 9768 §3.2.3.3: two SACK blocks go before the option, the option before a third, if timestamps leave no room for all.
#[test]
fn the_option_shares_the_room_with_sack() {
    let islands = "
         0 ms < 200..300 ecn 2
         0 ms > ack 0 sack 200..300 accecn0 101 ae ece
         1 ms < 400..500 ecn 2
         1 ms > ack 0 sack 400..500,200..300 accecn0 201 ae ece
         2 ms < 600..700 ecn 2
         2 ms > ack 0 sack 600..700,400..500,200..300 accecn0 301 ae ece";
    passive(&with_option(), islands);
    passive(
        &TcpPlan { timestamps: true, ..with_option() },
        "0 ms < 200..300 ecn 2 ts 1
         0 ms > ack 0 sack 200..300 ts 1 echo 0 accecn0 101 ae ece
         1 ms < 400..500 ecn 2 ts 1
         1 ms > ack 0 sack 400..500,200..300 ts 2 echo 0 accecn0 201 ae ece
         2 ms < 600..700 ecn 2 ts 1
         2 ms > ack 0 sack 600..700,400..500 ts 3 echo 0 accecn0 301 ae ece",
    );
}

/// Segments of data are not made shorter: a full one has no room, and the next ACK tells it.
#[test]
fn a_full_segment_of_data_has_no_room_for_the_option() {
    let plan = TcpPlan { delayed_ack: Some(delayed()), ..with_option() };
    active(
        &plan,
        "0 ms < 0..100 ecn 2
         1 ms write 100
         1 ms > 0..100 ack 100 ae ece ect0
         2 ms write 50
         2 ms > 100..150 ack 100 accecn0 101 ae ece ect0
         3 ms write 50
         3 ms > 150..200 ack 100 ae ece ect0",
    );
}

/// RFC 9768 §3.2.3.2.5: with bytes the counter is read without doubt, however many ACKs were lost.
#[test]
fn bytes_say_how_often_the_counter_went_round() {
    let plan = TcpPlan { initial_window: 2000, ..with_option() };
    let mut script = "0 ms write 2000\n".to_owned();
    for from in (0..2000).step_by(100) {
        script += &format!("0 ms > {from}..{} ae ece ect0\n", from + 100);
    }
    // Of 19 segments none, one, nine and seventeen were marked: the counter alone would be taken for 16 and 17.
    for (ace, option, marked, bytes) in [
        (5, "0:1901", 0, 0),
        (6, "0:1801,100", 1, 100),
        (6, "0:1001,900", 9, 900),
        (6, "0:201,1700", 17, 1700),
    ] {
        let trace = active(&plan, &format!("{script}40 ms < ack 1900 ace {ace} accecn {option}"));
        let marks = trace.endpoint.sender.marks.as_ref().expect("ECN");
        assert_eq!((marks.marked, marks.marked_bytes), (marked, Some(bytes)), "{option}");
        assert_eq!(trace.endpoint.counters().ecn_reductions, u64::from(marked > 0));
    }
    let alone = active(&plan, &format!("{script}40 ms < ack 1900 ace 5"));
    assert_eq!(alone.endpoint.sender.marks.as_ref().map(|marks| marks.marked), Some(16));
    // An ACK without the option has reported one mark; the bytes of the next are those of both.
    let both = active(
        &plan,
        &format!(
            "{script}40 ms < ack 200 ace 6
             41 ms < ack 400 ace 7 accecn 0:201,200"
        ),
    );
    let marks = both.endpoint.sender.marks.as_ref().expect("ECN");
    assert_eq!((marks.marked, marks.marked_bytes), (1, Some(100)));
}
