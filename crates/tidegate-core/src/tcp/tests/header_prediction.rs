//! A segment that only carries data, told by its number and length, is the segment.

use proptest::collection::vec;
use proptest::prelude::*;

use super::pair::{Fate, Hop, Pair};
use super::plans::{delayed, plain, short};
use super::properties::{any_plans, fates};
use crate::plan::{CongestionPlan, RtoPlan, RttTiming, TcpPlan, TcpRules};
use crate::tcp::{Endpoint, Header, Outgoing, Role, Row, Segment, State, flags};
use crate::unit::HeldBy;
use crate::units::{Span, Time};

/// Drives a transfer; [`super::twin`] compares it with one that takes the general steps. How many events there were, and how many
/// of them found a controller in which a usual ACK changes little.
fn drive_pair(plan: &TcpPlan, bytes: u64, fates: &[Vec<Fate>; 2], hop: Option<Hop>) -> (u64, u64) {
    let mut pair = Pair::numbered(plan, 7);
    if let Some(hop) = hop {
        pair.there = vec![hop];
    }
    let judge =
        |these: Vec<Fate>| move |n: u64, _: &Segment| these.get(n as usize).copied().unwrap_or(Fate::Deliver);
    pair.judge = Box::new(judge(fates[0].clone()));
    pair.judge_back = Box::new(judge(fates[1].clone()));
    pair.open_and_write(bytes);
    let (mut events, mut steady) = (0, 0);
    while events < 3000 && pair.step() {
        events += 1;
        steady += u64::from(pair.a.sender.controller.may_take_fast_path());
    }
    (events, steady)
}

/// One header, and what leaves after it.
struct One<const DATA: bool> {
    next: Option<(Time, Header, u32)>,
    left: Vec<Segment>,
    held: Vec<HeldBy>,
}

impl<const DATA: bool> Row for One<DATA> {
    const DATA: bool = DATA;

    fn next(&self) -> (Time, Header, u32) {
        self.next.unwrap()
    }

    fn take(&mut self) {
        self.next = None;
    }

    fn goes_on(&self, wakeup: Time) -> bool {
        self.next.is_some_and(|(at, ..)| at <= wakeup)
    }

    fn sent(&mut self, at: Time, sent: Outgoing, end: &Endpoint) {
        let mut segment = Segment::default();
        end.write_segment(at, sent, &mut segment);
        self.left.push(segment);
        self.held.push(sent.held_by());
    }
}

/// A number alone arrives, with `len` bytes of data; what leaves.
fn data(end: &mut Endpoint, now: Time, number: u32, len: u32) -> Vec<Segment> {
    let mut row =
        One::<true> { next: Some((now, Header::of_number(number), len)), left: vec![], held: vec![] };
    end.handle_row(&mut row);
    assert_eq!(row.next, None, "it was taken");
    row.left
}

/// A number alone arrives, without data; what leaves, and what had held it back.
fn ack(end: &mut Endpoint, now: Time, number: u32) -> Vec<(Segment, HeldBy)> {
    let mut row =
        One::<false> { next: Some((now, Header::of_number(number), 0)), left: vec![], held: vec![] };
    end.handle_row(&mut row);
    assert_eq!(row.next, None, "it was taken");
    row.left.into_iter().zip(row.held).collect()
}

/// BBR as in Linux.
fn bbr() -> TcpPlan {
    let rto = RtoPlan::Estimated {
        min: Span::from_millis(200),
        max: Span::from_secs(120),
        initial: Span::from_secs(1),
        tick: Span::ZERO,
    };
    TcpPlan {
        cc: CongestionPlan::Bbr,
        sack: true,
        rtt_timing: RttTiming::Every,
        rto,
        rules: TcpRules::LINUX,
        ..plain()
    }
}

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
            answers.extend(self::data(&mut end, now, seq, *len));
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
    fn predicted_data_are_data(data in vec((0u32..20, 1u32..=100), 1..60), wait in any::<bool>(), sack in any::<bool>()) {
        let plan = TcpPlan { delayed_ack: wait.then(delayed), sack, ..short() };
        prop_assert_eq!(drive(&plan, &data, true), drive(&plan, &data, false));
    }
}

proptest! {
    /// Transfers with any losses: fast paths do what the general steps do.
    #[test]
    fn predicted_acks_are_acks(
        plan in any_plans(),
        bytes in 1_u64..200_000,
        there in fates(),
        back in fates(),
        queue in prop::option::of(3_usize..40),
    ) {
        let hop = queue.map(|queue| Hop::new(10_000_000, Span::from_millis(20), queue));
        drive_pair(&plan, bytes, &[there, back], hop);
    }
}

proptest! {
    /// BBR that cycles through its gains, in bursts.
    #[test]
    fn short_ways_of_bbr_are_its_long_ways(
        megabits in prop_oneof![1_u64..5, 5_u64..200],
        millis in 1_u64..60,
        queue in 5_usize..200,
        written in prop_oneof![Just(u64::MAX), 100_000_u64..2_000_000],
        lost in vec(0_usize..1500, 0..4),
        delayed_ack in prop_oneof![Just(None), Just(Some(delayed()))],
    ) {
        let mut there = vec![Fate::Deliver; 1500];
        for number in lost {
            there[number] = Fate::Drop;
        }
        let plan = TcpPlan { delayed_ack, ..bbr() };
        let hop = Hop::new(megabits * 1_000_000, Span::from_millis(millis), queue);
        drive_pair(&plan, written, &[there, Vec::new()], Some(hop));
    }
}

/// Nearly all ACKs of a flow that has the path for itself find BBR so.
#[test]
fn bbr_is_steady_most_of_the_time() {
    let hop = Hop::new(10_000_000, Span::from_millis(20), 100);
    let (events, steady) = drive_pair(&bbr(), u64::MAX, &[Vec::new(), Vec::new()], Some(hop));
    assert!(steady * 2 > events, "{steady} of {events}");
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
    ack(&mut end, later, sent[0].seq.wrapping_add(sent[0].len)).first().expect("there is more to send").1
}

#[test]
fn a_segment_says_what_had_held_it_back() {
    assert_eq!(held_back(&short()), HeldBy::CongestionWindow);
    let window = TcpPlan { window: Some(200), initial_window: 400, ..short() };
    assert_eq!(held_back(&window), HeldBy::ReceiverWindow);
}

/// The third segment of a handshake, told by what it acknowledges alone, opens the connection like any other.
#[test]
fn a_predicted_ack_ends_a_handshake() {
    for isn in [1000, 0xF000_0000] {
        let plan = TcpPlan { handshake: true, ..short() };
        let mut client = Endpoint::new(&plan, Role::Active, isn, None);
        let mut server = Endpoint::new(&plan, Role::Passive, isn, None);
        client.open(Time::ZERO);
        server.open(Time::ZERO);
        server.write(Time::ZERO, 300);
        let syn = client.poll_transmit(Time::ZERO).expect("a SYN").0;
        server.handle_segment(Time::ZERO, &syn);
        let both = server.poll_transmit(Time::ZERO).expect("a SYN-ACK").0;
        assert!(server.poll_transmit(Time::ZERO).is_none());
        client.handle_segment(Time::ZERO, &both);
        let third = client.poll_transmit(Time::ZERO).expect("an ACK").0;
        // What acknowledges something else does not open it.
        ack(&mut server, Time::ZERO, third.ack.wrapping_add(1));
        assert_eq!(server.state(), State::SynReceived);
        let left = ack(&mut server, Time::ZERO, third.ack);
        assert_eq!(server.state(), State::Established);
        let data = left.first().expect("data").0;
        assert_eq!((data.seq, data.len), (isn.wrapping_add(1), 100));
        assert_eq!((server.oldest_unacknowledged(), server.all_acknowledged()), (data.seq, false));
        ack(&mut server, Time::ZERO, data.seq.wrapping_add(300));
        // Only two segments had gone: an ACK of more is answered, and nothing is taken off.
        assert_eq!(server.oldest_unacknowledged(), data.seq);
        while server.poll_transmit(Time::ZERO).is_some() {}
        for acknowledged in [100, 300] {
            ack(&mut server, Time::ZERO, data.seq.wrapping_add(acknowledged));
            while server.poll_transmit(Time::ZERO).is_some() {}
            assert_eq!(server.oldest_unacknowledged(), data.seq.wrapping_add(acknowledged));
            assert_eq!(server.all_acknowledged(), acknowledged == 300);
        }
    }
}

/// Where that ACK was lost, the first data open the connection.
#[test]
fn predicted_data_end_a_handshake() {
    for isn in [1000, 0xF000_0000] {
        let mut server = Endpoint::new(&TcpPlan { handshake: true, ..short() }, Role::Passive, isn, None);
        server.open(Time::ZERO);
        let syn = Segment { seq: 5000, flags: flags::SYN, window: u32::MAX, ..Segment::default() };
        server.handle_segment(Time::ZERO, &syn);
        server.poll_transmit(Time::ZERO).expect("a SYN-ACK");
        data(&mut server, Time::ZERO, 5001, 100);
        assert_eq!((server.state(), server.in_order_bytes()), (State::Established, 100));
    }
}

/// Data out of order, told by number and length, say nothing of the window: this end still sends.
#[test]
fn predicted_data_leave_the_window_alone() {
    let mut end = Endpoint::new(&short(), Role::Passive, 0xF000_0000, None);
    end.open(Time::ZERO);
    let first = end.acknowledgement_number();
    data(&mut end, Time::ZERO, first.wrapping_add(100), 100);
    while end.poll_transmit(Time::ZERO).is_some() {}
    end.write(Time::ZERO, 100);
    assert_eq!(end.poll_transmit(Time::ZERO).map(|(data, _)| data.len), Some(100));
}

/// RFC 2018 §3: NOP, NOP, kind and length, and two numbers a block.
#[test]
fn blocks_add_to_the_header() {
    let bytes = |sack_count| Segment { sack_count, ..Segment::default() }.extra_option_bytes();
    assert_eq!([0, 1, 2, 3].map(bytes), [0, 12, 20, 28]);
}
