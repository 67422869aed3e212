//! Two endpoints over a virtual path, on a leash.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::plans;
use super::twin::Twin;
use crate::cc::{Controller, Fixed};
use crate::plan::{LossDetection, TcpPlan};
use crate::random::Seed;
use crate::tcp::{Endpoint, Phase, Role, Segment, State};
use crate::unit::Ecn;
use crate::units::{PICOS_PER_SECOND, Span, Time};

/// A queue before a line of constant rate, then a delay.
#[derive(Debug, Clone)]
pub(super) struct Hop {
    pub(super) bps: u64,
    pub(super) delay: Span,
    pub(super) queue: usize,
    /// When the packets that wait or are in service begin their service.
    starts: VecDeque<Time>,
    free: Time,
    pub(super) drops: u64,
}

impl Hop {
    pub(super) fn new(bps: u64, delay: Span, queue: usize) -> Hop {
        Hop { bps, delay, queue, starts: VecDeque::new(), free: Time::ZERO, drops: 0 }
    }

    /// When a packet that arrives at `at` reaches the other side.
    fn pass(&mut self, at: Time, bytes: u64) -> Option<Time> {
        while self.starts.front().is_some_and(|start| *start <= at) {
            self.starts.pop_front();
        }
        if self.starts.len() >= self.queue {
            self.drops += 1;
            return None;
        }
        let start = self.free.max(at);
        self.starts.push_back(start);
        self.free = start + Span::from_picos(bytes * 8 * PICOS_PER_SECOND / self.bps);
        Some(self.free + self.delay)
    }
}

/// What the wire does with a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Deliver,
    Drop,
    Delay(Span),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum To {
    Receiver,
    Sender,
}

type Judge = Box<dyn FnMut(u64, &Segment) -> Fate>;

/// Data flow from `a` to `b`.
pub(super) struct Pair {
    pub(super) a: Twin,
    pub(super) b: Twin,
    pub(super) now: Time,
    pub(super) there: Vec<Hop>,
    pub(super) back: Span,
    /// Decides over the n-th segment from `a` (pure ACKs and SYNs counted).
    pub(super) judge: Judge,
    /// Decides over the n-th segment from `b`.
    pub(super) judge_back: Judge,
    headers: u64,
    flying: BinaryHeap<Reverse<(Time, To, u64)>>,
    segments: Vec<Segment>,
    sent: [u64; 2],
    /// Of the ECN-capable segments from `a` every so many are marked; 0: none.
    pub(super) mark_every: u64,
    /// ECN-capable segments from `a`, and those of them that are marked.
    capable: u64,
    pub(super) marked: u64,
    /// Wakes both ends at every step although nothing is due.
    pub(super) restless: bool,
    plan: TcpPlan,
}

impl Pair {
    pub(super) fn new(plan: &TcpPlan) -> Pair {
        Pair::numbered(plan, 1000)
    }

    pub(super) fn numbered(plan: &TcpPlan, isn: u32) -> Pair {
        let rng = Some(Seed { seed: 1, replication: 0 }.stream("test"));
        Pair {
            a: Twin::new(plan, Role::Active, isn, rng.clone()),
            b: Twin::new(plan, Role::Passive, isn, rng),
            now: Time::ZERO,
            there: vec![Hop::new(u64::MAX, Span::from_millis(20), usize::MAX)],
            back: Span::from_millis(20),
            judge: Box::new(|_, _| Fate::Deliver),
            judge_back: Box::new(|_, _| Fate::Deliver),
            headers: u64::from(plan.headers),
            flying: BinaryHeap::new(),
            segments: Vec::new(),
            sent: [0; 2],
            mark_every: 0,
            capable: 0,
            marked: 0,
            restless: false,
            plan: plan.clone(),
        }
    }

    pub(super) fn open_and_write(&mut self, bytes: u64) {
        self.b.open(self.now);
        self.a.open(self.now);
        self.a.write(self.now, bytes);
        self.pump();
    }

    /// Takes all that both ends want to send.
    pub(super) fn pump(&mut self) {
        let mut burst = 0;
        while let Some((mut segment, _)) = self.a.poll_transmit(self.now) {
            burst += 1;
            assert!(burst < 100_000, "no end of segments at {}", self.now);
            self.check(&segment);
            self.mark(&mut segment);
            let fate = (self.judge)(self.sent[0], &segment);
            self.sent[0] += 1;
            let mut at = Some(self.now);
            for hop in &mut self.there {
                at = at.and_then(|at| hop.pass(at, u64::from(segment.len) + self.headers));
            }
            self.launch(To::Receiver, at, fate, segment);
        }
        while let Some((segment, _)) = self.b.poll_transmit(self.now) {
            let fate = (self.judge_back)(self.sent[1], &segment);
            self.sent[1] += 1;
            self.launch(To::Sender, Some(self.now + self.back), fate, segment);
        }
        self.check_timer();
    }

    /// Marks a segment of `a` if its turn has come.
    fn mark(&mut self, segment: &mut Segment) {
        assert!(segment.len > 0 || segment.ecn == Ecn::NotEct, "{segment:?}");
        if segment.ecn != Ecn::NotEct {
            self.capable += 1;
            if self.mark_every > 0 && self.capable.is_multiple_of(self.mark_every) {
                segment.ecn = Ecn::Ce;
                self.marked += 1;
            }
        }
    }

    /// What must hold whenever `a` sends.
    fn check(&self, segment: &Segment) {
        let mss = u64::from(self.plan.mss);
        let snapshot = self.a.snapshot();
        assert!(self.a.congestion_window() >= mss, "{snapshot:?}");
        assert!(snapshot.outstanding <= self.plan.window.unwrap_or(u64::MAX), "{snapshot:?}");
        let repairs = matches!(snapshot.phase, Phase::Recovery);
        // A mark makes the window smaller than what is in flight, and so does a controller that hears ACKs (Westwood at the
        // end of a recovery, Vegas at any). A probe goes all the same (RFC 8985 §7.3).
        let shrinks = self.a.uses_ecn() || self.plan.cc.hears_acks();
        let probes = self.plan.rules.loss == LossDetection::Rack && shrinks;
        if segment.len > 0 && !segment.retransmission && !repairs && !probes {
            // RFC 3042: two segments more at most.
            let limited_transmit = if self.plan.limited_transmit { 2 * mss } else { 0 };
            // RFC 8985 §7.3: a tail loss probe goes beyond the window.
            let probe = if self.plan.rules.loss == LossDetection::Rack { mss } else { 0 };
            let limit = self.a.congestion_window() + limited_transmit + probe;
            assert!(snapshot.in_flight <= limit, "{snapshot:?} sends {segment:?}");
        }
    }

    /// As long as data are outstanding there is a time to come back.
    fn check_timer(&self) {
        if self.a.state() == State::Established && self.a.snapshot().outstanding > 0 {
            assert_ne!(self.a.next_wakeup(), Time::NEVER, "{:?}", *self.a);
        }
    }

    fn launch(&mut self, to: To, at: Option<Time>, fate: Fate, segment: Segment) {
        let at = match (at, fate) {
            (None, _) | (_, Fate::Drop) => return,
            (Some(at), Fate::Deliver) => at,
            (Some(at), Fate::Delay(extra)) => at + extra,
        };
        self.flying.push(Reverse((at, to, self.segments.len() as u64)));
        self.segments.push(segment);
    }

    /// One event; `false`: nothing will ever happen again.
    pub(super) fn step(&mut self) -> bool {
        let arrival = self.flying.peek().map_or(Time::NEVER, |Reverse((at, _, _))| *at);
        let timer = self.a.next_wakeup().min(self.b.next_wakeup());
        assert!(arrival.min(timer) >= self.now, "time goes back");
        if arrival == Time::NEVER && timer == Time::NEVER {
            return false;
        }
        if arrival <= timer {
            self.now = arrival;
            if let Some(Reverse((_, to, index))) = self.flying.pop() {
                let segment = self.segments[index as usize];
                match to {
                    To::Receiver => self.b.handle_segment(arrival, &segment),
                    To::Sender => self.a.handle_segment(arrival, &segment),
                }
            }
            if self.flying.is_empty() {
                self.segments.clear();
            }
        } else {
            self.now = timer;
            self.a.handle_wakeup(timer);
            self.b.handle_wakeup(timer);
        }
        if self.restless {
            for end in [&mut self.a, &mut self.b] {
                if end.next_wakeup() > self.now {
                    end.handle_wakeup(self.now);
                }
            }
        }
        self.pump();
        true
    }

    /// Runs until `until`, or until nothing happens any more; a leash of `steps` events.
    pub(super) fn drive_bounded(&mut self, steps: u64, until: Time) {
        for _ in 0..steps {
            let arrival = self.flying.peek().map_or(Time::NEVER, |Reverse((at, _, _))| *at);
            if arrival.min(self.a.next_wakeup()).min(self.b.next_wakeup()) >= until {
                return;
            }
            if !self.step() {
                return;
            }
        }
        panic!("more than {steps} events before {until}, now {}", self.now);
    }
}

#[test]
fn a_transfer_over_a_clean_path_arrives_once() {
    let mut pair = Pair::new(&plans::plain());
    pair.open_and_write(1_000_000);
    pair.drive_bounded(10_000, Time::from_picos(60 * PICOS_PER_SECOND));
    assert_eq!(pair.a.state(), State::Established);
    assert_eq!(pair.b.state(), State::Established);
    assert_eq!(pair.b.counters().delivered_bytes, 1_000_000);
    assert_eq!(pair.a.counters().acked_bytes, 1_000_000);
    assert_eq!(pair.b.counters().delivered_segments, 1_000_000_u64.div_ceil(1460));
    assert_eq!(pair.a.counters().segments_retransmitted, 0);
}

/// A controller from outside, and both ends sending at once.
#[test]
fn both_ends_send_and_controllers_can_be_replaced() {
    let mut pair = Pair::new(&TcpPlan { sack: true, ..plans::plain() });
    pair.a.set_controller(|| Controller::Custom(Box::new(Fixed::new(30_000))));
    pair.judge = Box::new(|n, _| if n % 17 == 5 { Fate::Drop } else { Fate::Deliver });
    pair.judge_back = Box::new(|n, _| if n % 23 == 7 { Fate::Drop } else { Fate::Deliver });
    pair.b.write(Time::ZERO, 300_000);
    pair.open_and_write(500_000);
    pair.drive_bounded(20_000, Time::from_picos(600 * PICOS_PER_SECOND));
    assert_eq!(pair.b.counters().delivered_bytes, 500_000);
    assert_eq!(pair.a.counters().delivered_bytes, 300_000);
    assert!(pair.a.congestion_window() == 30_000);
}

/// 1000 flows must fit: a pair without its rings stays below 1.9 KiB.
#[test]
fn endpoints_are_small() {
    assert!(2 * size_of::<Endpoint>() <= 1920, "{}", size_of::<Endpoint>());
}
