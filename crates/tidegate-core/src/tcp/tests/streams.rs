//! Many usual ACKs, or many usual segments, handed over at once are as many handed over one by one.

use std::collections::VecDeque;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::plans::{delayed, ns2, plain};
use crate::plan::{CongestionPlan, Increase, TcpPlan, TcpRules};
use crate::random::Seed;
use crate::tcp::{Endpoint, Header, Outgoing, Role, Row};
use crate::unit::HeldBy;
use crate::units::{Span, Time};

/// One way.
const DELAY: Span = Span::from_millis(15);
/// Of a segment at the bottleneck.
const SERVICE: Span = Span::from_micros(700);

/// What a sender did: segments, samples, window and timer after each ACK and wake-up.
type Course = (Vec<(Time, Header, u32, HeldBy)>, Vec<(Time, Span)>, Vec<(Time, u64, Time)>);

/// ACKs or segments that come, in order, and what is heard of what becomes of them.
struct Told {
    acks: VecDeque<(Time, Header)>,
    data: VecDeque<(Time, Header, u32)>,
    course: Course,
    /// Segments say their numbers alone.
    numbers: bool,
    answers: Vec<(Time, Header)>,
}

/// The ACKs of what is told.
struct Acks<'a>(&'a mut Told);

impl Row for Acks<'_> {
    const DATA: bool = false;

    fn next(&self) -> (Time, Header, u32) {
        let (at, ack) = self.0.acks[0];
        (at, ack, 0)
    }

    fn take(&mut self) {
        self.0.acks.pop_front();
    }

    fn goes_on(&self, wakeup: Time) -> bool {
        self.0.acks.front().is_some_and(|(at, _)| *at <= wakeup)
    }

    fn wakes(&self, wakeup: Time) -> bool {
        self.0.acks.front().is_some_and(|(at, _)| wakeup < *at)
    }

    fn sampled(&mut self, at: Time, rtt: Span) {
        self.0.course.1.push((at, rtt));
    }

    fn sent(&mut self, at: Time, sent: Outgoing, end: &Endpoint) {
        assert!(sent.fits_header() && !sent.is_empty());
        self.0.course.0.push((at, self.0.header(at, sent, end), sent.len(), sent.held_by()));
    }

    fn answered(&mut self, at: Time, window: u64, wakeup: Time) {
        self.0.course.2.push((at, window, wakeup));
    }
}

/// The data of what is told.
struct Data<'a>(&'a mut Told);

impl Row for Data<'_> {
    const DATA: bool = true;

    fn next(&self) -> (Time, Header, u32) {
        self.0.data[0]
    }

    fn take(&mut self) {
        self.0.data.pop_front();
    }

    fn goes_on(&self, wakeup: Time) -> bool {
        self.0.data.front().is_some_and(|(at, ..)| *at <= wakeup)
    }

    fn sent(&mut self, at: Time, sent: Outgoing, end: &Endpoint) {
        assert!(sent.fits_header() && sent.is_empty());
        self.0.answers.push((at, self.0.header(at, sent, end)));
    }
}

impl Told {
    /// What a segment says that leaves.
    fn header(&self, now: Time, sent: Outgoing, end: &Endpoint) -> Header {
        if self.numbers { Header::of_number(end.number(sent)) } else { end.header(now, sent) }
    }
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
struct Ends {
    sender: Endpoint,
    receiver: Endpoint,
    told: Told,
    /// ACKs on their way.
    coming: VecDeque<(Time, Header)>,
    /// When the bottleneck is free.
    free: Time,
    /// Segments that have passed it or were lost there.
    passed: usize,
    together: bool,
}

impl Ends {
    fn new(plan: &TcpPlan, bytes: u64, driven: Driven) -> Ends {
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
        let course = (Vec::new(), Vec::new(), Vec::new());
        let numbers = sender.says_numbers_alone();
        let told =
            Told { acks: VecDeque::new(), data: VecDeque::new(), course, numbers, answers: Vec::new() };
        let coming = VecDeque::new();
        let together = driven == Driven::Together;
        Ends { sender, receiver, told, coming, free: Time::ZERO, passed: 0, together }
    }

    /// All that the sender has to send now.
    fn pump(&mut self, now: Time) {
        while let Some(sent) = self.sender.poll(now) {
            Acks(&mut self.told).sent(now, sent, &self.sender);
        }
        Acks(&mut self.told).answered(now, self.sender.congestion_window(), self.sender.next_expiry());
    }

    /// The next ACKs, some of them: all of one kind of driving.
    fn take_acks(&mut self, some: usize) {
        let mut acks: VecDeque<_> = self.coming.drain(..some.min(self.coming.len())).collect();
        while let Some((at, _)) = acks.front().copied() {
            while self.sender.next_wakeup() < at {
                let due = self.sender.next_wakeup();
                self.sender.handle_wakeup(due);
                self.pump(due);
            }
            let row = if self.together { acks.len() } else { 1 };
            self.told.acks = acks.drain(..row).collect();
            self.sender.handle_row(&mut Acks(&mut self.told));
            while let Some(left) = self.told.acks.pop_back() {
                acks.push_front(left);
            }
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
        while let Some((at, ..)) = self.told.data.front().copied() {
            while self.receiver.next_wakeup() < at {
                let due = self.receiver.next_wakeup();
                self.receiver.handle_wakeup(due);
                self.acknowledge(due);
            }
            let row = if self.together { self.told.data.len() } else { 1 };
            let rest = self.told.data.split_off(row);
            self.receiver.handle_row(&mut Data(&mut self.told));
            self.told.data.extend(rest);
        }
        let answers = std::mem::take(&mut self.told.answers);
        self.coming.extend(answers.into_iter().map(|(at, ack)| (at.saturating_add(DELAY), ack)));
    }

    fn acknowledge(&mut self, now: Time) {
        while let Some(sent) = self.receiver.poll(now) {
            Data(&mut self.told).sent(now, sent, &self.receiver);
        }
    }

    fn run(mut self, some: &[usize], lost: &[usize]) -> (Course, String) {
        self.pump(Time::ZERO);
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
                self.pump(due);
            } else {
                self.take_acks(*most);
            }
            self.carry(before, lost);
        }
        let ends = format!("{:?}\n{:?}", self.sender, self.receiver);
        (self.told.course, ends)
    }
}

fn any_sender() -> BoxedStrategy<TcpPlan> {
    let cc = prop_oneof![
        2 => Just(CongestionPlan::NewReno),
        1 => Just(CongestionPlan::Reno),
        1 => Just(CongestionPlan::Tahoe { fast_retransmit: true }),
        1 => Just(CongestionPlan::Cubic),
    ];
    let window = prop_oneof![Just(None), (3_000_u64..400_000).prop_map(Some)];
    (cc, window, any::<[bool; 4]>())
        .prop_map(|(cc, window, [coarse, each, waits, restarts])| TcpPlan {
            cc,
            window,
            handshake: false,
            increase: if each { Increase::PerAck } else { Increase::PerWindow },
            delayed_ack: waits.then(delayed),
            idle_restart: restarts,
            rules: TcpRules::RFC,
            ..if coarse { ns2(cc) } else { plain() }
        })
        .boxed()
}

fn both_ways_agree(plan: &TcpPlan, bytes: u64, some: &[usize], lost: &[usize]) -> Result<(), TestCaseError> {
    let run = |driven| Ends::new(plan, bytes, driven).run(some, lost);
    let ((one, one_ends), (other, other_ends)) = (run(Driven::OneByOne), run(Driven::Together));
    prop_assert_eq!(&one, &other);
    prop_assert_eq!(one_ends, other_ends);
    prop_assert_eq!(one, run(Driven::Exactly).0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Many ACKs in a row and one at a time give equal segments at equal times, equal samples, windows and timers, and ends that are
    /// equal to the last field.
    #[test]
    fn many_at_once_are_as_many_one_by_one(
        plan in any_sender(),
        bytes in prop_oneof![Just(u64::MAX), 1_u64..2_000_000],
        some in vec(1_usize..200, 1..40),
        lost in vec(1_usize..1500, 0..6),
    ) {
        both_ways_agree(&plan, bytes, &some, &lost)?;
    }

    /// With timestamps as well, rows of many give what rows of one give.
    #[test]
    fn many_short_ones_are_as_many_one_by_one(
        plan in any_sender(),
        bytes in prop_oneof![Just(u64::MAX), 1_u64..2_000_000],
        some in vec(1_usize..200, 1..40),
        lost in vec(1_usize..1500, 0..6),
    ) {
        let plan = TcpPlan { timestamps: true, ..plan };
        both_ways_agree(&plan, bytes, &some, &lost)?;
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
        both_ways_agree(&plan, bytes, &some, &[])?;
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
        both_ways_agree(&plan, bytes, &some, &[])?;
    }
}
