//! A segment that only carries data, told by its number and length, is the segment.

use proptest::collection::vec;
use proptest::prelude::*;

use super::plans::{delayed, short};
use crate::plan::TcpPlan;
use crate::tcp::{Endpoint, HeldBy, Role, Segment, flags};
use crate::units::{Span, Time};

/// What a receiver answers, and what it then is.
fn drive(plan: &TcpPlan, data: &[(u32, u32)], told: bool) -> (Vec<Segment>, String) {
    let mut end = Endpoint::new(plan, Role::Passive, 1000, None);
    end.open(Time::ZERO);
    let first = end.acknowledgement_number();
    let mut answers = Vec::new();
    for (index, (offset, len)) in data.iter().enumerate() {
        let now = Time::ZERO + Span::from_millis(index as u64);
        let seq = first.wrapping_add(offset * 100);
        if told {
            end.handle_usual_data(now, seq, *len);
        } else {
            // Both ends begin with the same number, and this one has sent nothing.
            let segment = Segment {
                seq,
                len: *len,
                ack: first,
                flags: flags::ACK,
                window: u32::MAX,
                ..Segment::default()
            };
            end.handle_segment(now, &segment);
        }
        while let Some((answer, _)) = end.poll_transmit(now) {
            answers.push(answer);
        }
    }
    let counters = format!("{:?}", end.counters());
    (answers, counters)
}

proptest! {
    /// In order, out of order, twice: the same ACKs and the same counts.
    #[test]
    fn usual_data_are_data(data in vec((0u32..20, 1u32..=100), 1..60), wait in any::<bool>(), sack in any::<bool>()) {
        let plan = TcpPlan { delayed_ack: wait.then(delayed), sack, ..short() };
        prop_assert_eq!(drive(&plan, &data, true), drive(&plan, &data, false));
    }
}

#[test]
fn data_out_of_order_are_answered_at_once_and_fill_the_hole() {
    let (answers, _) = drive(&short(), &[(1, 100), (2, 100), (0, 100)], true);
    let first = Endpoint::new(&short(), Role::Passive, 1000, None).acknowledgement_number();
    let acks: Vec<u32> = answers.iter().map(|answer| answer.ack.wrapping_sub(first)).collect();
    assert_eq!(acks, [0, 0, 300]);
}

/// What had held back the segment that follows the first acknowledgement.
fn held_back(plan: &TcpPlan) -> HeldBy {
    let mut end = Endpoint::new(plan, Role::Active, 1000, None);
    end.open(Time::ZERO);
    end.write(Time::ZERO, 10_000);
    let mut sent = Vec::new();
    while let Some((segment, _)) = end.poll_transmit(Time::ZERO) {
        sent.push(segment);
    }
    let later = Time::ZERO + Span::from_millis(10);
    end.handle_usual_ack(later, sent[0].seq.wrapping_add(sent[0].len));
    end.poll_transmit(later).expect("there is more to send").1
}

#[test]
fn a_segment_says_what_had_held_it_back() {
    assert_eq!(held_back(&short()), HeldBy::CongestionWindow);
    let window = TcpPlan { window: Some(200), initial_window: 400, ..short() };
    assert_eq!(held_back(&window), HeldBy::ReceiverWindow);
}
