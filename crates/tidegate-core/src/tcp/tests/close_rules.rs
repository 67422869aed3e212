//! How connections end (RFC 9293 §3.6, §3.10; RFC 5961 §3.2), as traces.

use proptest::prelude::*;

use super::pair::{Fate, Pair};
use super::plans::short;
use super::properties::{any_plans, fates};
use super::trace::{active, passive};
use crate::plan::{TcpBase, TcpPlan};
use crate::tcp::{Segment, State};
use crate::units::{PICOS_PER_SECOND, Time};

/// Segments of 100 bytes, a window of ten.
fn ten() -> TcpPlan {
    TcpPlan { sack: true, limited_transmit: true, initial_window: 1000, ..short() }
}

/// RFC 9293 §3.6 case 1: FIN goes with the last data, has a number, and TIME-WAIT lasts twice a segment's lifetime.
#[test]
fn this_end_closes_first() {
    let mut trace = active(&ten(), "");
    trace.play(
        "0 ms      write 1250
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
         1 ms      close
         1 ms      = state FIN-WAIT-1
         40 ms     < ack 300
         40 ms     > 1000..1100
         40 ms     > 1100..1200
         40 ms     > fin 1250 1200..1250
         80 ms     < ack 1251
         80 ms     = state FIN-WAIT-2
         80 ms     = flight 0
         90 ms     < ack 1251 flags fin
         90 ms     > ack 1
         90 ms     = state TIME-WAIT
         # Once more: it has not heard.
         200 ms    < ack 1251 flags fin
         200 ms    > ack 1
         200 ms    = wakeup 240.2 s
         241 s     = state CLOSED",
    );
    assert_eq!(trace.endpoint.counters().acked_bytes, 1250);
    assert_eq!(trace.endpoint.counters().bytes_sent, 1250);
    assert!(!trace.endpoint.may_write());
}

/// A full segment and its FIN are one segment; FIN alone counts as one.
#[test]
fn fin_takes_no_room_beside_data() {
    let plan = TcpPlan { initial_window: 200, ..ten() };
    active(&plan, "").play(
        "0 ms      write 200
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      shutdown
         40 ms     < ack 100
         40 ms     > fin 200 ack 0
         80 ms     < ack 201",
    );
    active(&TcpPlan { window: Some(300), ..plan }, "").play(
        "0 ms      write 300
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      shutdown
         40 ms     < ack 100
         40 ms     > fin 300 200..300",
    );
}

/// RFC 9293 §3.6 case 2: the other end closes first. Its FIN is acknowledged at once, and this end may still send.
#[test]
fn the_other_end_closes_first() {
    let mut trace = passive(&ten(), "");
    trace.play(
        "0 ms      < 0..100
         0 ms      > ack 100
         10 ms     < 100..200 flags fin
         10 ms     > ack 201
         10 ms     = state CLOSE-WAIT
         10 ms     = readable 200
         20 ms     write 50
         20 ms     > 0..50 ack 201
         30 ms     close
         30 ms     > fin 50 ack 201
         30 ms     = state LAST-ACK
         60 ms     < 201..201 ack 51
         60 ms     = state CLOSED
         # Whatever comes now belongs to no connection.
         70 ms     < 201..201 ack 51
         70 ms     > rst 51",
    );
    assert_eq!(trace.endpoint.counters().delivered_bytes, 200);
}

/// A FIN ahead of a gap waits for what is missing, and SACK tells of its number.
#[test]
fn a_fin_ahead_of_a_gap_waits() {
    let mut trace = passive(&ten(), "");
    trace.play(
        "0 ms      < 100..200 flags fin
         0 ms      > ack 0 sack 100..201
         0 ms      = state ESTABLISHED
         0 ms      = delivered 100 in 1
         20 ms     < 0..100
         20 ms     > ack 201
         20 ms     = state CLOSE-WAIT
         20 ms     = readable 200
         # Nothing comes behind it.
         30 ms     < 201..300
         30 ms     = readable 200",
    );
}

/// RFC 9293 §3.6 case 3: both at once.
#[test]
fn both_ends_close_at_once() {
    active(&ten(), "").play(
        "0 ms      close
         0 ms      > fin 0 ack 0
         20 ms     < ack 0 flags fin
         20 ms     > ack 1
         20 ms     = state CLOSING
         40 ms     < 1..1 ack 1
         40 ms     = state TIME-WAIT",
    );
}

/// A FIN is sent again as data are, and reported by SACK as data are.
#[test]
fn a_fin_is_sent_again() {
    active(&ten(), "").play(
        "0 ms      write 100
         0 ms      > 0..100
         40 ms     < ack 100
         40 ms     close
         40 ms     > fin 100 ack 0
         240 ms    > fin 100 ack 0
         280 ms    < ack 101
         280 ms    = state FIN-WAIT-2",
    );
    active(&ten(), "").play(
        "0 ms      write 400
         0 ms      > 0..100
         0 ms      > 100..200
         0 ms      > 200..300
         0 ms      > 300..400
         1 ms      close
         1 ms      > fin 400 ack 0
         40 ms     < ack 0 sack 100..401
         40 ms     > 0..100 again
         80 ms     < ack 401
         80 ms     = state FIN-WAIT-2",
    );
}

/// RFC 1122 §4.2.2.13: who has closed reads no more, and says so; who has only ended his stream goes on reading.
#[test]
fn data_for_a_closed_end_are_answered_by_a_reset() {
    active(&ten(), "").play(
        "0 ms      close
         0 ms      > fin 0 ack 0
         40 ms     < 0..100 ack 1
         40 ms     > rst 1
         40 ms     = state CLOSED",
    );
    active(&ten(), "").play(
        "0 ms      shutdown
         0 ms      > fin 0 ack 0
         40 ms     < 0..100 ack 1
         40 ms     = readable 100
         40 ms     > ack 100
         50 ms     < 100..200 ack 1 flags fin
         50 ms     > ack 201
         50 ms     = state TIME-WAIT",
    );
}

/// RFC 5961 §3.2: the number expected ends the connection, another one in the window is answered, others are not.
#[test]
fn a_reset_must_have_the_number_expected() {
    active(&ten(), "").play(
        "0 ms      write 100
         0 ms      > 0..100
         1 ms      < 500..500 flags rst
         1 ms      > ack 0
         # RFC 5961 §7: not each.
         2 ms      < 500..500 flags rst
         502 ms    < 500..500 flags rst
         502 ms    > ack 0
         600 ms    < 2000000000..2000000000 flags rst
         600 ms    = state ESTABLISHED
         700 ms    < 0..0 flags rst
         700 ms    = state CLOSED
         700 ms    = flight 0
         700 ms    = wakeup never",
    );
}

#[test]
fn an_abort_is_a_reset() {
    active(&ten(), "").play(
        "0 ms      write 100
         0 ms      > 0..100
         1 ms      abort
         1 ms      > rst 100 ack 0
         1 ms      = state CLOSED
         2 ms      < ack 100
         2 ms      > rst 100
         # A reset is never answered.
         3 ms      < ack 100 flags rst",
    );
}

/// `__tcp_ack_snd_check`, `tcp_fin`: Linux puts off the ACK of a FIN, because what answers it is expected to leave soon.
#[test]
fn linux_puts_off_the_ack_of_a_fin() {
    let mut plan = ten();
    (plan.base, plan.rules) = (TcpBase::Linux, crate::plan::TcpRules::LINUX);
    let delay = crate::units::Span::from_millis(40);
    plan.delayed_ack =
        Some(crate::plan::DelayedAckPlan { every: 2, timeout: Some(delay), tick: crate::units::Span::ZERO });
    passive(&plan, "").play(
        "0 ms      < 0..50
         0 ms      > ack 50
         10 ms     < 50..50 flags fin
         50 ms     > ack 51
         60 ms     close
         60 ms     > fin 0 ack 51",
    );
    // More than a full segment does not wait.
    passive(&plan, "").play(
        "0 ms      < 0..100 flags fin
         0 ms      > ack 101",
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the network does to their segments, both ends end, and everything arrives once.
    #[test]
    fn both_ends_end(
        plan in any_plans(),
        bytes in 0_u64..60_000,
        back_bytes in 0_u64..5_000,
        there in fates(),
        back in fates(),
        close in any::<bool>(),
    ) {
        let mut pair = Pair::numbered(&plan, 7);
        let judge = |fates: Vec<Fate>| {
            move |n: u64, _: &Segment| fates.get(n as usize).copied().unwrap_or(Fate::Deliver)
        };
        pair.judge = Box::new(judge(there));
        pair.judge_back = Box::new(judge(back));
        pair.b.write(Time::ZERO, back_bytes);
        pair.open_and_write(bytes);
        pair.a.shutdown(Time::ZERO);
        pair.pump();
        pair.drive_bounded(100_000, Time::from_picos(10_000 * PICOS_PER_SECOND));
        prop_assert!(matches!(pair.b.state(), State::CloseWait | State::Established), "{:?}", pair.b.state());
        let now = pair.now;
        if close { pair.b.close(now) } else { pair.b.shutdown(now) }
        pair.pump();
        pair.drive_bounded(100_000, Time::from_picos(20_000 * PICOS_PER_SECOND));
        prop_assert_eq!((pair.a.state(), pair.b.state()), (State::Closed, State::Closed));
        prop_assert_eq!((pair.b.in_order_bytes(), pair.a.in_order_bytes()), (bytes, back_bytes));
        let (a, b) = (pair.a.counters(), pair.b.counters());
        prop_assert_eq!((a.acked_bytes, b.acked_bytes), (bytes, back_bytes));
        prop_assert_eq!((b.delivered_bytes, a.delivered_bytes), (bytes, back_bytes));
        prop_assert_eq!(pair.a.snapshot().in_flight, 0);
    }
}
