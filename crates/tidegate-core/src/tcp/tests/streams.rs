//! Many usual ACKs, or many usual segments, handed over at once are as many handed over one by one.

use std::collections::VecDeque;

use proptest::collection::vec;
use proptest::prelude::*;

use super::plans::{delayed, ns2, plain};
use crate::plan::{CongestionPlan, Increase, TcpPlan, TcpRules};
use crate::tcp::{AckStream, DataStream, Endpoint, Outgoing, Role};
use crate::unit::HeldBy;
use crate::units::{Span, Time};

/// One way.
const DELAY: Span = Span::from_millis(15);
/// Of a segment at the bottleneck.
const SERVICE: Span = Span::from_micros(700);

/// What a sender did: segments, samples, and what it showed after each ACK.
type Course = (Vec<(Time, u32, u32, HeldBy)>, Vec<(Time, Span)>, Vec<(Time, u64, Time)>);

/// ACKs or segments that come, in order, and what is heard of what becomes of them.
#[derive(Default)]
struct Told {
    acks: VecDeque<(Time, u32)>,
    data: VecDeque<(Time, u32, u32)>,
    course: Course,
    answers: Vec<(Time, u32)>,
}

impl AckStream for Told {
    fn next_before(&mut self, wakeup: Time) -> Option<(Time, u32)> {
        self.acks.front().copied().filter(|(at, _)| *at <= wakeup)
    }

    fn take(&mut self) {
        self.acks.pop_front();
    }

    fn sampled(&mut self, at: Time, rtt: Span) {
        self.course.1.push((at, rtt));
    }

    fn sent(&mut self, at: Time, sent: Outgoing, number: u32) {
        self.course.0.push((at, number, sent.len(), sent.held_by()));
    }

    fn answered(&mut self, at: Time, window: u64, wakeup: Time) {
        self.course.2.push((at, window, wakeup));
    }
}

impl DataStream for Told {
    fn next_before(&mut self, wakeup: Time) -> Option<(Time, u32, u32)> {
        let next = self.data.front().copied().filter(|(at, ..)| *at <= wakeup)?;
        self.data.pop_front();
        Some(next)
    }

    fn acknowledged(&mut self, at: Time, number: u32) {
        self.answers.push((at, number));
    }

    fn taken(&mut self, _at: Time, _in_order: u64, _wakeup: Time) {}
}

/// A sender and a receiver without a handshake, some milliseconds apart.
struct Ends {
    sender: Endpoint,
    receiver: Endpoint,
    told: Told,
    /// ACKs on their way.
    coming: VecDeque<(Time, u32)>,
    /// When the bottleneck is free.
    free: Time,
    /// Segments that have passed it or were lost there.
    passed: usize,
    together: bool,
}

impl Ends {
    fn new(plan: &TcpPlan, bytes: u64, together: bool) -> Ends {
        let mut sender = Endpoint::new(plan, Role::Active, 7, None);
        let mut receiver = Endpoint::new(plan, Role::Passive, 7, None);
        receiver.open(Time::ZERO);
        sender.open(Time::ZERO);
        sender.write(Time::ZERO, bytes);
        let (told, coming) = (Told::default(), VecDeque::new());
        Ends { sender, receiver, told, coming, free: Time::ZERO, passed: 0, together }
    }

    /// All that the sender has to send now.
    fn pump(&mut self, now: Time, mut next: Option<Outgoing>) {
        while let Some(sent) = next.or_else(|| self.sender.poll(now)) {
            assert!(sent.is_usual() && !sent.is_empty());
            let number = self.sender.sequence_number(sent);
            self.told.sent(now, sent, number);
            next = None;
        }
        self.told.answered(now, self.sender.congestion_window(), self.sender.next_wakeup());
    }

    /// The next ACKs, some of them: all of one kind of driving.
    fn take_acks(&mut self, some: usize) {
        self.told.acks = self.coming.drain(..some.min(self.coming.len())).collect();
        while let Some((at, number)) = self.told.acks.front().copied() {
            while self.sender.next_wakeup() < at {
                let due = self.sender.next_wakeup();
                self.sender.handle_wakeup(due);
                self.pump(due, None);
            }
            if self.together {
                let unusual = self.sender.answer_usual_acks(&mut self.told);
                assert_eq!(unusual, None);
                continue;
            }
            self.told.acks.pop_front();
            let next = self.sender.answer_usual_ack(at, number);
            if let Some(rtt) = self.sender.take_rtt_sample() {
                self.told.sampled(at, rtt);
            }
            self.pump(at, next);
        }
    }

    /// What has left passes the bottleneck, which loses these, and comes to the receiver, whose ACKs come back.
    fn carry(&mut self, from: usize, lost: &[usize]) {
        for (at, number, len, _) in &self.told.course.0[from..] {
            self.passed += 1;
            if !lost.contains(&self.passed) {
                self.free = self.free.max(*at).saturating_add(SERVICE);
                self.told.data.push_back((self.free.saturating_add(DELAY), *number, *len));
            }
        }
        while let Some((at, number, len)) = self.told.data.front().copied() {
            while self.receiver.next_wakeup() < at {
                let due = self.receiver.next_wakeup();
                self.receiver.handle_wakeup(due);
                self.acknowledge(due);
            }
            if self.together {
                assert_eq!(self.receiver.take_usual_data(&mut self.told), None);
                continue;
            }
            self.told.data.pop_front();
            self.receiver.handle_usual_data(at, number, len);
            self.acknowledge(at);
        }
        let answers = std::mem::take(&mut self.told.answers);
        self.coming.extend(answers.into_iter().map(|(at, number)| (at.saturating_add(DELAY), number)));
    }

    fn acknowledge(&mut self, now: Time) {
        while let Some(sent) = self.receiver.poll(now) {
            assert!(sent.is_usual() && sent.is_empty());
            self.told.answers.push((now, self.receiver.acknowledgement_number()));
        }
    }

    fn run(mut self, some: &[usize], lost: &[usize]) -> (Course, String) {
        self.pump(Time::ZERO, None);
        self.carry(0, lost);
        for most in some {
            let before = self.told.course.0.len();
            if self.coming.is_empty() {
                let due = self.sender.next_wakeup().min(self.receiver.next_wakeup());
                if due == Time::NEVER {
                    break;
                }
                self.receiver.handle_wakeup(due);
                self.acknowledge(due);
                self.sender.handle_wakeup(due);
                self.pump(due, None);
            } else {
                self.take_acks(*most);
            }
            self.carry(before, lost);
        }
        let ends = format!("{:?}\n{:?}", self.sender, self.receiver);
        (self.told.course, ends)
    }
}

fn any_sender() -> impl Strategy<Value = TcpPlan> {
    let cc = prop_oneof![
        2 => Just(CongestionPlan::NewReno),
        1 => Just(CongestionPlan::Reno),
        1 => Just(CongestionPlan::Tahoe { fast_retransmit: true }),
        1 => Just(CongestionPlan::Cubic),
    ];
    let window = prop_oneof![Just(None), (3_000_u64..400_000).prop_map(Some)];
    (cc, window, any::<[bool; 4]>()).prop_map(|(cc, window, [coarse, each, waits, restarts])| TcpPlan {
        cc,
        window,
        handshake: false,
        increase: if each { Increase::PerAck } else { Increase::PerWindow },
        delayed_ack: waits.then(delayed),
        idle_restart: restarts,
        rules: TcpRules::RFC,
        ..if coarse { ns2(cc) } else { plain() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The same segments at the same times, the same samples, windows and timers, and the same ends, to the last field.
    #[test]
    fn many_at_once_are_as_many_one_by_one(
        plan in any_sender(),
        bytes in prop_oneof![Just(u64::MAX), 1_u64..2_000_000],
        some in vec(1_usize..200, 1..40),
        lost in vec(1_usize..1500, 0..6),
    ) {
        let run = |together| Ends::new(&plan, bytes, together).run(&some, &lost);
        let ((one, one_ends), (other, other_ends)) = (run(false), run(true));
        prop_assert_eq!(one, other);
        prop_assert_eq!(one_ends, other_ends);
    }
}
