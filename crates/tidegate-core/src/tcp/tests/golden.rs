//! Golden tables of drawn connections: every segment, when it was sent, and what the sender knew then.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;

use super::pair::{Fate, Hop, Pair};
use super::properties::{fates, golden_plans, odd_segment, odd_segments};
use super::twin::Twin;
use crate::golden::{Digest, compare, drawn};
use crate::plan::TcpPlan;
use crate::random::Seed;
use crate::tcp::{Role, Segment, flags};
use crate::units::{PICOS_PER_SECOND, Span, Time};
use crate::work::take_steps;

type Case = (TcpPlan, u64, Vec<Fate>, Vec<Fate>, Option<(u64, usize)>);

/// Some behind a short queue, so that losses come as congestion makes them.
fn cases() -> impl Strategy<Value = Case> {
    let hop = prop::option::of((1u64..20, 3usize..40));
    (golden_plans(), 1u64..200_000, fates(), fates(), hop)
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

/// What an endpoint makes of segments that no endpoint of ours would send: ACKs inside segments, holes everywhere.
#[test]
fn golden_odd_segments() {
    let lines: Vec<String> = drawn((golden_plans(), odd_segments()), 200)
        .iter()
        .map(|(plan, segments)| {
            let rng = Some(Seed { seed: 1, replication: 0 }.stream("test"));
            let mut end = Twin::new(plan, Role::Active, 7, rng);
            let (mut now, mut digest, mut sent) = (Time::ZERO, Digest::new(), 0);
            end.open(now);
            end.write(now, 50_000);
            let opening = Segment {
                seq: 7,
                ack: 8,
                flags: flags::SYN | flags::ACK,
                ..odd_segment(&[7, 8, 60_000, 0], 0, 0, &[(0, 0); 3])
            };
            end.handle_segment(now, &opening);
            let mut acked = 8_u16;
            for (numbers, len, bits, sack, wait) in segments {
                now += Span::from_millis(*wait);
                // Most acknowledge a little more than the one before.
                let ack = if bits % 4 == 0 { numbers[1] } else { acked.saturating_add(numbers[1] % 4_000) };
                acked = acked.max(ack.min(50_000));
                let near = sack.map(|(left, right)| {
                    (acked.saturating_add(left % 9_000), acked.saturating_add(right % 9_000))
                });
                let flags = flags::ACK as u8 | if bits % 16 == 15 { *bits } else { 0 };
                let numbers = [numbers[0], ack, numbers[2], numbers[3]];
                end.handle_wakeup(now);
                end.handle_segment(
                    now,
                    &odd_segment(
                        &numbers,
                        if bits % 8 == 7 { *len } else { 0 },
                        flags | (bits & 0xc0),
                        &near,
                    ),
                );
                while let Some((answer, _)) = end.poll_transmit(now) {
                    sent += 1;
                    digest.add(&answer);
                }
                digest.add(&(end.snapshot(), end.next_wakeup(), end.congestion_window()));
            }
            digest.add(end.counters());
            format!(
                "segments {:3}, sent {sent:3}, acknowledged {:5}, digest {digest}",
                segments.len(),
                end.counters().acked_bytes
            )
        })
        .collect();
    compare("odd-segments", &lines);
}
