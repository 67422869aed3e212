//! Golden tables of drawn connections: every segment, when it was sent, and what the sender knew then.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;

use super::pair::{Fate, Hop, Pair};
use super::properties::{fates, plans};
use crate::golden::{Digest, compare, drawn};
use crate::plan::TcpPlan;
use crate::tcp::Segment;
use crate::units::{PICOS_PER_SECOND, Span, Time};
use crate::work::take_steps;

type Case = (TcpPlan, u64, Vec<Fate>, Vec<Fate>, Option<(u64, usize)>);

/// Some behind a short queue, so that losses come as congestion makes them.
fn cases() -> impl Strategy<Value = Case> {
    let hop = prop::option::of((1u64..20, 3usize..40));
    (plans(), 1u64..200_000, fates(), fates(), hop)
}

fn line((plan, bytes, there, back, hop): &Case) -> String {
    let digest = Rc::new(RefCell::new(Digest::new()));
    let judge = |fates: Vec<Fate>| {
        let seen = Rc::clone(&digest);
        move |n: u64, segment: &Segment| {
            seen.borrow_mut().add(segment);
            fates.get(n as usize).copied().unwrap_or(Fate::Deliver)
        }
    };
    let mut pair = Pair::numbered(plan, 7);
    if let Some((mbps, queue)) = hop {
        pair.there = vec![Hop::new(mbps * 1_000_000, Span::from_millis(20), *queue)];
    }
    pair.judge = Box::new(judge(there.clone()));
    pair.judge_back = Box::new(judge(back.clone()));
    take_steps();
    pair.open_and_write(*bytes);
    let mut more = true;
    while more && pair.now < Time::from_picos(100_000 * PICOS_PER_SECOND) {
        more = pair.step();
        if pair.now > Time::from_picos(PICOS_PER_SECOND) && pair.a.snapshot().outstanding == 0 {
            // A second burst, after whatever idle time there was.
            let again = pair.a.counters().acked_bytes == *bytes;
            if again {
                pair.a.write(pair.now, bytes / 2);
                pair.pump();
                more = true;
            }
        }
        let seen = (
            pair.now,
            pair.a.snapshot(),
            pair.a.next_wakeup(),
            pair.b.next_wakeup(),
            pair.a.congestion_window(),
        );
        digest.borrow_mut().add(&seen);
    }
    let (sender, receiver) = (*pair.a.counters(), *pair.b.counters());
    digest.borrow_mut().add(&(sender, receiver));
    format!(
        "sent {:3}, again {:3}, time-outs {:2}, fast {:2}, ACKs {:3}, end {:16} ps, digest {}, steps {}",
        sender.segments_sent,
        sender.segments_retransmitted,
        sender.timeouts,
        sender.fast_retransmits,
        receiver.acks_sent,
        pair.now.picos(),
        digest.borrow(),
        take_steps()
    )
}

#[test]
fn golden_connections() {
    let lines: Vec<String> = drawn(cases(), 250).iter().map(line).collect();
    compare("connections", &lines);
}
