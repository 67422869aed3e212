//! A pair of TCP endpoints under a list of operations: deliver, drop, reorder, duplicate,
//! wait, write. Whatever the list, nothing panics, no byte is delivered that was not written,
//! and once the wire behaves again everything written arrives and is acknowledged.

use std::collections::VecDeque;

use tidegate_core::plan::{
    CongestionPlan, DelayedAckPlan, EcnPlan, Increase, ReadPlan, RtoPlan, RtoRestart, RttTiming, SlowStart,
    SsthreshRounding, TcpBase, TcpPlan, TcpRules, TickPhase,
};
use tidegate_core::random::Seed;
use tidegate_core::tcp::{AccEcn, Endpoint, Role, Segment, State};
use tidegate_core::unit::Ecn;
use tidegate_core::units::{Rate, Span, Time};

/// Bytes of an input that choose the plan.
const HEADER: usize = 6;

/// Bytes that each end writes at most: more would take time and show nothing new.
const MOST_WRITTEN: u64 = 2_000_000;

/// Segments that two endpoints may send at one instant: more than they can have to send.
const MOST_AT_ONCE: usize = 200_000;

/// Steps that may bring nothing new once the wire behaves, beside four for each segment that was
/// on its way: it comes, is answered, and the answer comes; one more for a repeat that this causes.
const PATIENCE: usize = 1000;

/// How long a segment takes once the wire behaves.
const FLIGHT: Span = Span::from_micros(10);

/// Which end a segment goes to.
#[derive(Clone, Copy)]
enum To {
    A,
    B,
}

/// Two endpoints and what flies between them.
struct Wire {
    a: Endpoint,
    b: Endpoint,
    now: Time,
    flying: VecDeque<(To, Segment)>,
    written: [u64; 2],
    /// ECN-capable segments delivered.
    capable: u64,
}

/// Any bytes: a plan, then operations.
pub fn run(data: &[u8]) {
    let Some((header, ops)) = data.split_at_checked(HEADER) else { return };
    let plan = plan(header);
    let isn = u32::MAX - u32::from(header[5]) * 100; // sequence numbers wrap early
    let rng = Some(Seed { seed: 1, replication: 0 }.stream("fuzz"));
    let mut wire = Wire {
        a: Endpoint::new(&plan, Role::Active, isn, rng.clone()),
        b: Endpoint::new(&plan, Role::Passive, isn, rng),
        now: Time::ZERO,
        flying: VecDeque::new(),
        written: [0; 2],
        capable: 0,
    };
    if header[3] & 0x80 != 0 {
        wire.a.start_clock(Span::from_millis(137));
        wire.b.start_clock(Span::from_millis(1_490));
    }
    wire.a.read_as_planned(&plan);
    wire.b.read_as_planned(&plan);
    wire.b.open(wire.now);
    wire.a.open(wire.now);
    wire.pump();
    let hostile = header[4] & 0x80 != 0;
    for op in ops {
        wire.step(*op, hostile);
        wire.check(hostile);
    }
    if !hostile {
        wire.drain();
    }
}

/// Every choice of a plan from a few bytes.
pub(crate) fn plan(header: &[u8]) -> TcpPlan {
    let bit = |byte: usize, bit: u8| header[byte] >> bit & 1 == 1;
    let mss = [1460, 536, 100][usize::from(header[2] % 3)];
    let cc = match header[0] % 9 {
        // A quarter of the inputs draw one that needs to hear ACKs.
        which if header[5] >> 6 == 3 => [
            CongestionPlan::Westwood,
            CongestionPlan::Vegas,
            CongestionPlan::Copa,
            CongestionPlan::Ledbat,
            CongestionPlan::Dctcp,
            CongestionPlan::Prague,
        ][usize::from(which) % 6],
        0 => CongestionPlan::Tahoe { fast_retransmit: false },
        1 => CongestionPlan::Tahoe { fast_retransmit: true },
        2 => CongestionPlan::Reno,
        3 => CongestionPlan::NewReno,
        4 => CongestionPlan::Cubic,
        5 => CongestionPlan::Fixed { window: 8 * u64::from(mss) },
        6 => CongestionPlan::Bbr,
        7 => CongestionPlan::Bbr3,
        _ => CongestionPlan::FixedRate { rate: Rate::from_bps(1_000_000), window: 50 * u64::from(mss) },
    };
    let tick = if bit(1, 0) { Span::from_millis(500) } else { Span::ZERO };
    let rto = match header[3] % 3 {
        0 => RtoPlan::Fixed { rto: Span::from_millis(300), restart: RtoRestart::Ack },
        1 => RtoPlan::Fixed { rto: Span::from_millis(300), restart: RtoRestart::Departure },
        _ => RtoPlan::Estimated {
            min: Span::from_millis(200),
            max: Span::from_secs(60),
            initial: Span::from_secs(1),
            tick,
        },
    };
    let delayed = DelayedAckPlan { every: 2, timeout: Some(Span::from_millis(200)), tick: Span::ZERO };
    TcpPlan {
        base: TcpBase::Rfc,
        cc,
        mss,
        headers: 40,
        window: bit(1, 1).then_some(20 * u64::from(mss)),
        initial_window: u64::from(mss) * (1 + u64::from(header[0] >> 5)),
        initial_ssthresh: bit(1, 2).then_some(4 * u64::from(mss)),
        increase: [Increase::PerWindow, Increase::PerAck, Increase::Random][usize::from(header[1] >> 6) % 3],
        dupthresh: (!bit(1, 3)).then_some(3),
        sack: bit(1, 4),
        limited_transmit: bit(1, 5),
        ssthresh_rounding: [SsthreshRounding::Exact, SsthreshRounding::Down, SsthreshRounding::Up]
            [usize::from(header[2] >> 6) % 3],
        go_back_n: bit(4, 0),
        guard: !bit(3, 6),
        phase: TickPhase::Common,
        rto,
        delayed_ack: bit(4, 1).then_some(delayed),
        quick_acks: if bit(4, 2) { 4 } else { 0 },
        rules: rules(header),
        handshake: !bit(4, 3),
        timestamps: bit(4, 4),
        rtt_timing: if bit(4, 5) { RttTiming::One } else { RttTiming::Every },
        idle_restart: bit(4, 6),
        ecn: [EcnPlan::Off, EcnPlan::Off, EcnPlan::Classic, EcnPlan::Accurate]
            [usize::from(header[2] ^ header[4]) >> 2 & 3],
        abe: bit(0, 4),
        read: if bit(1, 1) && header[5] & 7 == 5 {
            ReadPlan::AtRate(Rate::from_bps(10_000_000))
        } else {
            ReadPlan::AtOnce
        },
    }
}

/// Any mixture of the RFCs' rules and Linux's; three plans in four are by the RFCs alone.
fn rules(header: &[u8]) -> TcpRules {
    if (header[0] ^ header[2]) >> 3 & 3 != 3 {
        return TcpRules::RFC;
    }
    let bits = header[1] ^ header[3] ^ header[4];
    let linux = |bit: u8| bits >> bit & 1 == 1;
    let TcpRules {
        arithmetic,
        slow_start,
        loss,
        reduction,
        least_rto,
        acks,
        dsack,
        undo,
        frto,
        paces: _,
        obeys_advice: _,
        accecn_option,
        segmentation,
    } = TcpRules::LINUX;
    let rfc = TcpRules::RFC;
    TcpRules {
        arithmetic: if linux(0) { arithmetic } else { rfc.arithmetic },
        slow_start: match (linux(1), linux(6)) {
            (true, _) => slow_start,
            (false, true) => SlowStart::HyStartPlusPlus,
            (false, false) => rfc.slow_start,
        },
        loss: if linux(2) { loss } else { rfc.loss },
        reduction: if linux(3) { reduction } else { rfc.reduction },
        least_rto: if linux(4) { least_rto } else { rfc.least_rto },
        acks: if linux(5) { acks } else { rfc.acks },
        dsack: dsack && linux(7),
        undo: undo && (linux(1) ^ linux(7)),
        frto: frto && (linux(0) ^ linux(7)),
        paces: linux(6),
        obeys_advice: linux(3),
        accecn_option: accecn_option && !linux(3),
        segmentation,
    }
}

impl Wire {
    /// Sends what both ends want to send.
    fn pump(&mut self) {
        for _ in 0..MOST_AT_ONCE {
            let from_a = self.a.poll_transmit(self.now).map(|(segment, _)| (To::B, segment));
            let from_b = self.b.poll_transmit(self.now).map(|(segment, _)| (To::A, segment));
            if from_a.is_some() {
                self.a.handle_departure(self.now);
            }
            if from_b.is_some() {
                self.b.handle_departure(self.now);
            }
            if from_a.is_none() && from_b.is_none() {
                return;
            }
            self.flying.extend(from_a.into_iter().chain(from_b));
        }
        panic!("the endpoints never stop sending at one instant");
    }

    /// Brings one segment to its end.
    fn deliver(&mut self, (to, mut segment): (To, Segment)) {
        // Every third segment that may be marked is.
        if matches!(segment.ecn, Ecn::Ect0 | Ecn::Ect1) {
            self.capable += 1;
            if self.capable.is_multiple_of(3) {
                segment.ecn = Ecn::Ce;
            }
        }
        match to {
            To::A => self.a.handle_segment(self.now, &segment),
            To::B => self.b.handle_segment(self.now, &segment),
        }
        self.pump();
    }

    /// Lets time pass; timers that are due run.
    fn wait(&mut self, until: Time) {
        self.now = self.now.max(until);
        self.a.handle_wakeup(self.now);
        self.b.handle_wakeup(self.now);
        self.pump();
    }

    /// One operation.
    fn step(&mut self, op: u8, hostile: bool) {
        let value = u64::from(op >> 3);
        match (op & 7, self.flying.pop_front()) {
            (0 | 1, Some(first)) => self.deliver(first),
            (2, Some(_)) => {}
            (3, Some(first)) => self.flying.push_back(first),
            (4, Some((to, segment))) => {
                self.flying.push_back((to, segment));
                let forged = if hostile { forge(segment, op) } else { segment };
                self.deliver((to, forged));
            }
            (5, first) => {
                self.flying.extend(first);
                self.flying.rotate_right(usize::from(!self.flying.is_empty()));
                self.wait(self.now + Span::from_millis(value * value));
            }
            (6 | 7, first) => {
                if let Some(first) = first {
                    self.flying.push_front(first);
                }
                let from_a = op & 7 == 6;
                let written = &mut self.written[usize::from(!from_a)];
                let bytes = (1 + value * 700).min(MOST_WRITTEN - *written);
                *written += bytes;
                if from_a {
                    self.a.write(self.now, bytes)
                } else {
                    self.b.write(self.now, bytes)
                }
                self.pump();
            }
            (_, _) => {
                let next = self.a.next_wakeup().min(self.b.next_wakeup());
                if next != Time::NEVER {
                    self.wait(next);
                }
            }
        }
    }

    /// What holds at any time.
    fn check(&self, hostile: bool) {
        for end in [&self.a, &self.b] {
            let snapshot = end.snapshot();
            assert!(snapshot.cwnd.is_finite() && snapshot.cwnd > 0.0, "{snapshot:?}");
        }
        if !hostile {
            let (a, b) = (self.a.counters(), self.b.counters());
            assert!(b.delivered_bytes <= self.written[0] && a.delivered_bytes <= self.written[1]);
            assert!(a.ce_received + b.ce_received <= self.capable / 3);
            let [a_read, b_read] = [self.a.in_order_bytes(), self.b.in_order_bytes()];
            assert!(b_read <= b.delivered_bytes && a_read <= a.delivered_bytes);
            assert!(a.acked_bytes <= b_read && b.acked_bytes <= a_read);
        }
    }

    /// A wire without faults: all that was written arrives and is acknowledged, and it is never long
    /// until something more of it does. How much there is to bring does not matter.
    fn drain(&mut self) {
        let mut progress = self.progress();
        let mut patience = PATIENCE + 4 * self.flying.len();
        while !self.done() {
            let timer = self.a.next_wakeup().min(self.b.next_wakeup());
            match self.flying.pop_front() {
                Some(first) if timer > self.now + FLIGHT => {
                    self.now += FLIGHT;
                    self.deliver(first);
                }
                first => {
                    self.flying.extend(first);
                    self.flying.rotate_right(usize::from(first.is_some()));
                    assert!(timer != Time::NEVER, "stuck: {}", self.describe());
                    self.wait(timer);
                }
            }
            patience -= 1;
            if self.progress() > progress {
                progress = self.progress();
                patience = PATIENCE + 4 * self.flying.len();
            }
            assert!(patience > 0, "nothing new arrives: {}", self.describe());
        }
        self.check(false);
    }

    /// Grows with whatever is sent for the first time, delivered or acknowledged at either end, and with
    /// the handshake. What is only sent again adds nothing.
    fn progress(&self) -> u64 {
        let of = |end: &Endpoint| {
            let counters = end.counters();
            let sent_first = counters.segments_sent - counters.segments_retransmitted;
            let connected = u64::from(end.state() == State::Established);
            sent_first + counters.delivered_bytes + counters.acked_bytes + connected
        };
        of(&self.a) + of(&self.b)
    }

    fn describe(&self) -> String {
        let (a, b) = (self.a.snapshot(), self.b.snapshot());
        format!("written {:?}, on their way {}, {a:?}, {b:?}", self.written, self.flying.len())
    }

    fn done(&self) -> bool {
        let (a, b) = (self.a.counters(), self.b.counters());
        [self.b.in_order_bytes(), self.a.in_order_bytes()] == self.written
            && [a.acked_bytes, b.acked_bytes] == self.written
    }
}

/// A segment that nobody sent.
fn forge(segment: Segment, op: u8) -> Segment {
    let shift = [1, 1460, 65_536, 0x7FFF_FFFF, 0x8000_0000, u32::MAX][usize::from(op >> 3) % 6];
    match op >> 6 {
        0 => Segment { seq: segment.seq.wrapping_add(shift), ..segment },
        1 => Segment { ack: segment.ack.wrapping_add(shift), ..segment },
        2 => Segment { sack_count: 1, sack: [(segment.ack, segment.ack.wrapping_add(shift)); 4], ..segment },
        _ => {
            let accecn = Some(AccEcn::new([shift; 3], op & 3, op >> 2 & 1));
            Segment { len: shift, flags: u16::from(op), ts_ecr: shift, accecn, ..segment }
        }
    }
}
