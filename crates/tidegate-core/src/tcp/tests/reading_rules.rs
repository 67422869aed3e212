//! An application that does not read at once: the window that is left, and the ACKs that tell of it (RFC 1122 §4.2.3.3, RFC 9293
//! §3.8.6.2.2; Linux 6.18), as traces.

use super::pair::Pair;
use super::plans::{delayed, short};
use super::trace::passive;
use crate::plan::{CongestionPlan, ReadPlan, TcpBase, TcpPlan, TcpRules};
use crate::units::{PICOS_PER_SECOND, Rate, Time};

fn by_hand() -> TcpPlan {
    TcpPlan { window: Some(400), read: ReadPlan::ByHand, ..short() }
}

fn linux() -> TcpPlan {
    TcpPlan {
        base: TcpBase::Linux,
        cc: CongestionPlan::Reno,
        rules: TcpRules::LINUX,
        sack: true,
        delayed_ack: Some(delayed()),
        mss: 1000,
        initial_window: 10_000,
        read: ReadPlan::ByHand,
        ..short()
    }
}

#[test]
fn what_is_not_read_closes_the_window() {
    passive(
        &by_hand(),
        "0 ms      = window 400
         0 ms      < 0..100
         0 ms      > ack 100
         0 ms      = window 300
         0 ms      < 100..200
         0 ms      > ack 200
         0 ms      < 200..300
         0 ms      > ack 300
         0 ms      < 300..400
         0 ms      > ack 400
         0 ms      = window 0
         0 ms      = unread 400
         # Nothing more is taken.
         1 ms      < 400..401
         1 ms      > ack 400
         1 ms      = readable 400
         # The edge moves by a segment at least (RFC 9293 §3.8.6.2.2), which a closed window tells.
         2 ms      read 60
         2 ms      = window 0
         3 ms      read 40
         3 ms      > ack 400
         3 ms      = window 100
         # Of an open one only two segments, or half the buffer, are told.
         4 ms      read 199
         4 ms      = window 100
         5 ms      read 1
         5 ms      > ack 400
         5 ms      = window 300",
    );
}

/// RFC 1122 §4.2.2.13, RFC 2525 §2.17: what has come in order and will not be read is lost, and RST says so; what is read to its end, or
/// waits ahead of a gap, is not.
#[test]
fn closing_before_all_is_read_is_a_reset() {
    for plan in [by_hand(), linux()] {
        let plan = TcpPlan { delayed_ack: Some(delayed()), ..plan };
        passive(
            &plan,
            "0 ms      < 0..100
             2 ms      close
             2 ms      > rst 0 ack 100
             2 ms      = state CLOSED",
        );
    }
    passive(
        &by_hand(),
        "0 ms      < 0..100
         0 ms      > ack 100
         1 ms      < 200..300
         1 ms      > ack 100
         1 ms      read 100
         2 ms      close
         2 ms      > fin 0 ack 100
         2 ms      = state FIN-WAIT-1",
    );
    // A stream that has ended still waits to be read.
    passive(
        &by_hand(),
        "0 ms      < 0..100 flags fin
         0 ms      > ack 101
         2 ms      close
         2 ms      > rst 0 ack 101
         2 ms      = state CLOSED",
    );
}

/// Until the last byte has been read.
#[test]
fn a_slow_reader_gets_everything_at_its_rate() {
    for (rules, bytes) in [(short(), 100_000), (linux(), 200_000)] {
        let (read, window) = (ReadPlan::AtRate(Rate::from_bps(400_000)), Some(8000));
        let plan = TcpPlan { window, read, ..rules };
        let mut pair = Pair::new(&plan);
        pair.open_and_write(bytes);
        pair.drive_bounded(100_000, Time::from_picos(60 * PICOS_PER_SECOND));
        assert_eq!(pair.b.counters().delivered_bytes, bytes);
        assert_eq!(pair.b.unread_bytes(), 0);
        let (took, least) = (pair.now.as_secs_f64(), bytes as f64 * 8.0 / 400e3);
        assert!((least - 0.05..least + 0.4).contains(&took), "{took} s, and {least} s of reading");
        assert_eq!(pair.a.counters().timeouts, 0);
    }
}
