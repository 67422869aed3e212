//! When an end gives up: RFC 1122 §4.2.3.5, and `tcp_retries2`, `tcp_orphan_retries`, `tcp_syn_retries` of Linux 6.18.

use super::plans::{ns2, short};
use crate::plan::{CongestionPlan, RtoPlan, TcpBase, TcpPlan, TcpRules};
use crate::tcp::{Endpoint, Role, Segment, State, flags};
use crate::units::{Span, Time};

fn linux() -> TcpPlan {
    let rto = RtoPlan::Estimated {
        min: Span::from_millis(200),
        max: Span::from_secs(120),
        initial: Span::from_secs(1),
        tick: Span::ZERO,
    };
    TcpPlan {
        base: TcpBase::Linux,
        cc: CongestionPlan::Reno,
        rules: TcpRules::LINUX,
        sack: true,
        handshake: true,
        rto,
        ..short()
    }
}

/// Segments that leave at `now`.
fn poll(end: &mut Endpoint, now: Time) -> usize {
    std::iter::from_fn(|| end.poll_transmit(now)).count()
}

/// An end, opened at 0, to which nobody answers from the instant on that is returned: 40 ms after that, if it is `connected`.
fn unheard(plan: &TcpPlan, connected: bool) -> (Endpoint, Time) {
    let mut end = Endpoint::new(plan, Role::Active, 1000, None);
    let now = Time::ZERO + Span::from_millis(40);
    end.open(Time::ZERO);
    poll(&mut end, Time::ZERO);
    if connected && plan.handshake {
        let syn_ack = Segment {
            seq: 1000,
            ack: end.number_of(0),
            flags: flags::SYN | flags::ACK,
            window: 100_000,
            ..Segment::default()
        };
        end.handle_segment(now, &syn_ack);
        poll(&mut end, now);
    }
    (end, now)
}

/// Lets time pass until it has given up: how often it has sent something meanwhile, and when in ms. Not in an hour: `None`.
fn wait(end: &mut Endpoint) -> (usize, Option<u64>) {
    let mut sent = 0;
    while end.next_wakeup() < Time::ZERO + Span::from_secs(3600) {
        let now = end.next_wakeup();
        end.handle_wakeup(now);
        sent += poll(end, now);
        if end.state() == State::Closed {
            assert!(end.is_over());
            assert_eq!(end.next_wakeup(), Time::NEVER);
            return (sent, Some(now.picos() / 1_000_000_000));
        }
    }
    (sent, None)
}

/// Times out after 240 ms, twice as long each time, and two minutes at most. The first of them after 924.6 s of repeating is the last: it
/// sends nothing.
#[test]
fn linux_gives_up_after_fifteen_repetitions() {
    let (mut end, now) = unheard(&linux(), true);
    end.write(now, 100);
    poll(&mut end, now);
    // A probe of the tail goes first (RFC 8985 §7).
    let (sent, at) = wait(&mut end);
    assert_eq!((sent, at), (16, Some(962_920)));
}

/// Who has closed is not missed: 102.2 s.
#[test]
fn an_orphan_gives_up_sooner() {
    let (mut end, now) = unheard(&linux(), true);
    end.write(now, 100);
    end.close(now);
    poll(&mut end, now);
    let (_, at) = wait(&mut end);
    assert_eq!(at, Some(122_920));
}

#[test]
fn syns_that_nobody_answers_end_too() {
    let (mut end, _) = unheard(&linux(), false);
    // After 1, 2, 3, 4, 5, 7, 11, 19, 35 and 67 s; 64 s later it is over.
    assert_eq!(wait(&mut end), (10, Some(131_000)));
    let (mut by_rfc, _) = unheard(&TcpPlan { handshake: true, ..short() }, false);
    // RFC 1122 §4.2.3.5: three minutes at least.
    assert_eq!(wait(&mut by_rfc).1, Some(183_000));
}

/// Fifteen probes of a closed window, if none is answered.
#[test]
fn probes_that_nobody_answers_end_too() {
    let (mut end, now) = unheard(&linux(), true);
    let shut = Segment { window: 0, ..end.nothing_new() };
    end.handle_segment(now, &shut);
    end.write(now, 1000);
    poll(&mut end, now);
    let (sent, at) = wait(&mut end);
    assert_eq!(sent, 15);
    assert!(at.is_some());
    // One that answers keeps it alive.
    let (mut alive, begun) = unheard(&linux(), true);
    alive.handle_segment(begun, &shut);
    alive.write(begun, 1000);
    poll(&mut alive, begun);
    for _ in 0..30 {
        let due = alive.next_wakeup();
        alive.handle_wakeup(due);
        assert_eq!(poll(&mut alive, due), 1);
        alive.handle_segment(due + Span::from_millis(40), &shut);
    }
    assert_eq!(alive.state(), State::Established);
}

/// RFC 1122 §4.2.3.5: R2 is 100 s at least. The end of a paper goes on for ever.
#[test]
fn standards_give_up_and_papers_do_not() {
    let (mut end, now) = unheard(&short(), true);
    end.write(now, 100);
    poll(&mut end, now);
    let (_, at) = wait(&mut end);
    // After 1, 3, 7, 15, 31, 63 s, and a minute each from there: the first is long enough ago then.
    assert_eq!(at, Some(963_040));
    let (mut old, begun) = unheard(&TcpPlan { base: TcpBase::Bsd44, ..ns2(CongestionPlan::Reno) }, true);
    old.write(begun, 100);
    poll(&mut old, begun);
    assert_eq!(wait(&mut old).1, None);
}

/// After an acknowledgement the first time-out is never the last. What is still missing has been repeated for as long in Linux, which
/// counts from the first copy of the repair on.
#[test]
fn what_arrives_keeps_it_alive() {
    for plan in [linux(), short()] {
        let (mut end, begun) = unheard(&plan, true);
        end.write(begun, 200);
        poll(&mut end, begun);
        while end.next_wakeup() < Time::ZERO + Span::from_secs(700) {
            let due = end.next_wakeup();
            end.handle_wakeup(due);
            poll(&mut end, due);
        }
        let late = Time::ZERO + Span::from_secs(801);
        let first = Segment { ack: end.number_of(100), ..end.nothing_new() };
        end.handle_segment(late, &first);
        poll(&mut end, late);
        let (_, at) = wait(&mut end);
        let least = if plan.sack { 801_000 + 240_000 } else { 801_000 + 924_600 };
        assert!(at >= Some(least), "{at:?}");
    }
}
