//! Many usual ACKs, or many usual segments, handed over at once are as many handed over one by one.

use std::collections::VecDeque;
use std::fmt::Debug;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::plans::{delayed, ns2, plain};
use crate::plan::{CongestionPlan, Increase, TcpPlan, TcpRules};
use crate::random::Seed;
use crate::tcp::endpoint::heading::Heading;
use crate::tcp::{AckStream, DataStream, Endpoint, Header, Outgoing, Role, Shown};
use crate::unit::HeldBy;
use crate::units::{Span, Time};

/// One way.
const DELAY: Span = Span::from_millis(15);
/// Of a segment at the bottleneck.
const SERVICE: Span = Span::from_micros(700);

/// What a sender did: segments, samples, window and timer after each ACK and wake-up, and what a row would have shown before it.
type Course<H> = (Vec<(Time, H, u32, HeldBy)>, Vec<(Time, Span)>, Vec<(Time, u64, Time)>, Vec<Shown>);

/// ACKs or segments that come, in order, and what is heard of what becomes of them.
struct Told<H> {
    acks: VecDeque<(Time, H)>,
    data: VecDeque<(Time, H, u32)>,
    course: Course<H>,
    /// What a row would show now.
    shown: Option<Shown>,
    answers: Vec<(Time, H)>,
}

impl<H: Way> AckStream for Told<H> {
    type Header = H;

    fn next_before(&mut self, wakeup: Time, shown: impl FnOnce() -> Shown) -> Option<(Time, H)> {
        self.shown = Some(shown());
        self.acks.front().copied().filter(|(at, _)| *at <= wakeup)
    }

    fn take(&mut self) {
        self.acks.pop_front();
        self.course.3.extend(self.shown);
    }

    fn wakes(&mut self, wakeup: Time, shown: impl FnOnce() -> Shown) -> bool {
        let before = self.acks.front().is_some_and(|(at, _)| wakeup < *at);
        if before {
            self.course.3.push(shown());
        }
        before
    }

    fn sampled(&mut self, at: Time, rtt: Span) {
        self.course.1.push((at, rtt));
    }

    fn sent(&mut self, at: Time, sent: Outgoing, header: H) {
        self.course.0.push((at, header, sent.len(), sent.held_by()));
    }

    fn answered(&mut self, at: Time, window: u64, wakeup: Time) {
        self.course.2.push((at, window, wakeup));
    }
}

impl<H: Way> DataStream for Told<H> {
    type Header = H;

    fn next_before(&mut self, wakeup: Time, _end: &Endpoint) -> Option<(Time, H, u32)> {
        let next = self.data.front().copied().filter(|(at, ..)| *at <= wakeup)?;
        self.data.pop_front();
        Some(next)
    }

    fn acknowledged(&mut self, at: Time, header: H) {
        self.answers.push((at, header));
    }

    fn taken(&mut self, _at: Time, _in_order: u64, _wakeup: Time) {}
}

/// How ends are driven.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driven {
    /// Many segments at once.
    Together,
    OneByOne,
    /// One by one, by the general steps alone.
    Exactly,
}

/// A sender and a receiver without a handshake, some milliseconds apart.
struct Ends<H> {
    sender: Endpoint,
    receiver: Endpoint,
    told: Told<H>,
    /// ACKs on their way.
    coming: VecDeque<(Time, H)>,
    /// When the bottleneck is free.
    free: Time,
    /// Segments that have passed it or were lost there.
    passed: usize,
    together: bool,
}

impl<H: Way> Ends<H> {
    fn new(plan: &TcpPlan, bytes: u64, driven: Driven) -> Ends<H> {
        let stream = Seed { seed: 5, replication: 0 }.stream("probing");
        let mut sender = Endpoint::new(plan, Role::Active, 7, Some(stream));
        let mut receiver = Endpoint::new(plan, Role::Passive, 7, None);
        if driven == Driven::Exactly {
            sender.take_general_way();
            receiver.take_general_way();
        }
        receiver.open(Time::ZERO);
        sender.open(Time::ZERO);
        sender.write(Time::ZERO, bytes);
        let course = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let told =
            Told { acks: VecDeque::new(), data: VecDeque::new(), course, shown: None, answers: Vec::new() };
        let coming = VecDeque::new();
        let together = driven == Driven::Together;
        Ends { sender, receiver, told, coming, free: Time::ZERO, passed: 0, together }
    }

    /// All that the sender has to send now.
    fn pump(&mut self, now: Time, mut next: Option<Outgoing>) {
        while let Some(sent) = next.or_else(|| self.sender.poll(now)) {
            assert!(H::fits(sent) && !sent.is_empty());
            self.told.sent(now, sent, H::of(&self.sender, now, sent));
            next = None;
        }
        self.told.answered(now, self.sender.congestion_window(), self.sender.next_expiry());
    }

    /// The next ACKs, some of them: all of one kind of driving.
    fn take_acks(&mut self, some: usize) {
        self.told.acks = self.coming.drain(..some.min(self.coming.len())).collect();
        while let Some((at, ack)) = self.told.acks.front().copied() {
            while self.sender.next_wakeup() < at {
                let due = self.sender.next_wakeup();
                self.told.course.3.push(self.sender.shown());
                self.sender.handle_wakeup(due);
                self.pump(due, None);
            }
            if self.together {
                let unusual = H::answer_all(&mut self.sender, &mut self.told);
                assert_eq!(unusual, None);
                continue;
            }
            self.told.acks.pop_front();
            self.told.course.3.push(self.sender.shown());
            let next = ack.answer_one(&mut self.sender, at);
            if let Some(rtt) = self.sender.take_rtt_sample() {
                self.told.sampled(at, rtt);
            }
            self.pump(at, next);
        }
    }

    /// What has left passes the bottleneck, which loses these, and comes to the receiver, whose ACKs come back.
    fn carry(&mut self, from: usize, lost: &[usize]) {
        for (at, header, len, _) in &self.told.course.0[from..] {
            self.passed += 1;
            if !lost.contains(&self.passed) {
                self.free = self.free.max(*at).saturating_add(SERVICE);
                self.told.data.push_back((self.free.saturating_add(DELAY), *header, *len));
            }
        }
        while let Some((at, data, len)) = self.told.data.front().copied() {
            while self.receiver.next_wakeup() < at {
                let due = self.receiver.next_wakeup();
                self.receiver.handle_wakeup(due);
                self.acknowledge(due);
            }
            if self.together {
                assert_eq!(H::take_all(&mut self.receiver, &mut self.told), None);
                continue;
            }
            self.told.data.pop_front();
            data.take(&mut self.receiver, at, len);
            self.acknowledge(at);
        }
        let answers = std::mem::take(&mut self.told.answers);
        self.coming.extend(answers.into_iter().map(|(at, ack)| (at.saturating_add(DELAY), ack)));
    }

    fn acknowledge(&mut self, now: Time) {
        while let Some(sent) = self.receiver.poll(now) {
            assert!(H::fits(sent) && sent.is_empty());
            self.told.answers.push((now, H::of(&self.receiver, now, sent)));
        }
    }

    fn run(mut self, some: &[usize], lost: &[usize]) -> (Course<H>, String) {
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

/// How segments are told, one by one and many at once.
trait Way: Heading + PartialEq + Debug {
    fn answer_one(self, end: &mut Endpoint, now: Time) -> Option<Outgoing>;
    fn answer_all(end: &mut Endpoint, told: &mut Told<Self>) -> Option<(Time, Outgoing)>;
    fn take_all(end: &mut Endpoint, told: &mut Told<Self>) -> Option<(Time, Outgoing)>;
}

impl Way for u32 {
    fn answer_one(self, end: &mut Endpoint, now: Time) -> Option<Outgoing> {
        end.answer_usual_ack(now, self)
    }

    fn answer_all(end: &mut Endpoint, told: &mut Told<u32>) -> Option<(Time, Outgoing)> {
        end.answer_usual_acks(told)
    }

    fn take_all(end: &mut Endpoint, told: &mut Told<u32>) -> Option<(Time, Outgoing)> {
        end.take_usual_data(told)
    }
}

impl Way for Header {
    fn answer_one(self, end: &mut Endpoint, now: Time) -> Option<Outgoing> {
        end.answer_short_ack(now, &self)
    }

    fn answer_all(end: &mut Endpoint, told: &mut Told<Header>) -> Option<(Time, Outgoing)> {
        end.answer_short_acks(told)
    }

    fn take_all(end: &mut Endpoint, told: &mut Told<Header>) -> Option<(Time, Outgoing)> {
        end.take_short_data(told)
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

fn both_ways_agree<H: Way>(
    plan: &TcpPlan,
    bytes: u64,
    some: &[usize],
    lost: &[usize],
) -> Result<(), TestCaseError> {
    let run = |driven| Ends::<H>::new(plan, bytes, driven).run(some, lost);
    let ((one, one_ends), (other, other_ends)) = (run(Driven::OneByOne), run(Driven::Together));
    prop_assert_eq!(&one, &other);
    prop_assert_eq!(one_ends, other_ends);
    prop_assert_eq!(one, run(Driven::Exactly).0);
    Ok(())
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
        both_ways_agree::<u32>(&plan, bytes, &some, &lost)?;
    }

    /// The same with timestamps.
    #[test]
    fn many_short_ones_are_as_many_one_by_one(
        plan in any_sender(),
        bytes in prop_oneof![Just(u64::MAX), 1_u64..2_000_000],
        some in vec(1_usize..200, 1..40),
        lost in vec(1_usize..1500, 0..6),
    ) {
        let plan = TcpPlan { timestamps: true, ..plan };
        both_ways_agree::<Header>(&plan, bytes, &some, &lost)?;
    }

    /// By Linux's rules, with windows that grow and PSH; nothing is lost, which would take SACK.
    #[test]
    fn many_of_linux_are_as_many_one_by_one(
        plan in any_sender(),
        [timestamps, cubic] in any::<[bool; 2]>(),
        bytes in prop_oneof![Just(u64::MAX), 1_u64..2_000_000],
        some in vec(1_usize..200, 1..40),
    ) {
        let cc = if cubic { CongestionPlan::Cubic } else { CongestionPlan::NewReno };
        let plan =
            TcpPlan { cc, timestamps, sack: true, rules: TcpRules::LINUX, quick_acks: 16, ..plan };
        both_ways_agree::<Header>(&plan, bytes, &some, &[])?;
    }
    /// With a pacer, which wakes the sender between two ACKs; nothing is lost here either.
    #[test]
    fn many_of_a_paced_sender_are_as_many_one_by_one(
        plan in any_sender(),
        timestamps in any::<bool>(),
        cc in select(vec![CongestionPlan::Bbr, CongestionPlan::Bbr3, CongestionPlan::Cubic]),
        bytes in prop_oneof![Just(u64::MAX), 1_u64..2_000_000],
        some in vec(1_usize..200, 1..40),
    ) {
        let rules = TcpRules { paces: true, ..TcpRules::LINUX };
        let plan = TcpPlan { cc, timestamps, sack: true, rules, ..plan };
        both_ways_agree::<Header>(&plan, bytes, &some, &[])?;
    }
}
