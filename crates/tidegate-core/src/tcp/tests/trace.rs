//! One endpoint, driven by a text that reads like a packet trace:
//!
//! ```text
//! 0 ms      write 300
//! 0 ms      > 0..100          the endpoint sends user bytes 0 to 100
//! 40 ms     < ack 100         a segment arrives
//! 40 ms     = cwnd 300        the state is checked
//! ```
//!
//! Everything that the endpoint sends must be listed, at its time; numbers are offsets in the
//! stream, whatever the initial sequence number.

use super::twin::Twin;
use crate::plan::TcpPlan;
use crate::random::Seed;
use crate::tcp::{AccEcn, Role, Segment, flags};
use crate::unit::Ecn;
use crate::units::{Span, Time};
use std::collections::VecDeque;

pub(super) const ISN: u32 = 1000;

pub(super) struct Trace {
    pub(super) endpoint: Twin,
    now: Time,
    out: VecDeque<String>,
}

/// Plays `script` against an active endpoint with `plan`.
pub(super) fn active(plan: &TcpPlan, script: &str) -> Trace {
    let mut trace = Trace::new(plan, Role::Active);
    if !plan.handshake {
        trace.endpoint.open(Time::ZERO);
    }
    trace.play(script);
    trace
}

/// Plays `script` against a passive endpoint with `plan`.
pub(super) fn passive(plan: &TcpPlan, script: &str) -> Trace {
    let mut trace = Trace::new(plan, Role::Passive);
    trace.endpoint.open(Time::ZERO);
    trace.play(script);
    trace
}

impl Trace {
    pub(super) fn new(plan: &TcpPlan, role: Role) -> Trace {
        let rng = Some(Seed { seed: 1, replication: 0 }.stream("test"));
        Trace { endpoint: Twin::new(plan, role, ISN, rng), now: Time::ZERO, out: VecDeque::new() }
    }

    pub(super) fn play(&mut self, script: &str) {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = Time::ZERO + span(words[0], words[1]);
            if at > self.now {
                self.advance(at, line);
            }
            self.line(&words[2..], line);
        }
        assert!(self.out.is_empty(), "not listed at the end: {:?}", self.out);
    }

    /// Lets timers run that are due before `at`; nothing may come of it.
    fn advance(&mut self, at: Time, line: &str) {
        assert!(self.out.is_empty(), "before `{line}`, not listed: {:?}", self.out);
        while self.endpoint.next_wakeup() < at {
            self.now = self.endpoint.next_wakeup();
            self.endpoint.handle_wakeup(self.now);
            self.collect();
            assert!(self.out.is_empty(), "before `{line}`, at {}: {:?}", self.now, self.out);
        }
        self.now = at;
    }

    fn collect(&mut self) {
        while let Some((segment, _)) = self.endpoint.poll_transmit(self.now) {
            self.out.push_back(describe(&segment));
            assert!(self.out.len() < 1000, "no end of segments");
        }
    }

    fn line(&mut self, words: &[&str], line: &str) {
        match words[0] {
            ">" => {
                if self.out.is_empty() {
                    self.endpoint.handle_wakeup(self.now);
                    self.collect();
                }
                let sent = self.out.pop_front();
                assert_eq!(sent.as_deref(), Some(words[1..].join(" ").as_str()), "at `{line}`");
            }
            "<" => {
                assert!(self.out.is_empty(), "before `{line}`, not listed: {:?}", self.out);
                let segment = self.parse(&words[1..]);
                self.endpoint.handle_segment(self.now, &segment);
                self.collect();
            }
            "=" => self.check(&words[1..], line),
            "open" => {
                self.endpoint.open(self.now);
                self.collect();
            }
            "write" => {
                let bytes = if words[1] == "bulk" { u64::MAX } else { words[1].parse().expect("bytes") };
                self.endpoint.write(self.now, bytes);
                self.collect();
            }
            "shutdown" => {
                self.endpoint.shutdown(self.now);
                self.collect();
            }
            "close" => {
                self.endpoint.close(self.now);
                self.collect();
            }
            "abort" => {
                self.endpoint.abort(self.now);
                self.collect();
            }
            "read" => {
                self.endpoint.read(self.now, words[1].parse().expect("bytes"));
                self.collect();
            }
            "departure" => {
                self.endpoint.handle_departure(self.now);
                self.collect();
            }
            other => panic!("`{other}` in `{line}`"),
        }
    }

    fn check(&mut self, words: &[&str], line: &str) {
        let snapshot = self.endpoint.snapshot();
        let counters = self.endpoint.counters();
        let is = match words[0] {
            "cwnd" => self.endpoint.congestion_window().to_string(),
            "ssthresh" => snapshot.ssthresh.map_or("none".to_owned(), |bytes| bytes.to_string()),
            "flight" => snapshot.in_flight.to_string(),
            "rto" => snapshot.rto.to_string(),
            "srtt" => snapshot.srtt.map_or("none".to_owned(), |srtt| srtt.to_string()),
            "round_trip" => {
                self.endpoint.take_rtt_sample().map_or("none".to_owned(), |round_trip| round_trip.to_string())
            }
            "phase" => format!("{:?}", snapshot.phase),
            "held" => format!("{:?}", snapshot.held_by),
            "state" => self.endpoint.state().to_string(),
            "wakeup" => match self.endpoint.next_wakeup() {
                Time::NEVER => "never".to_owned(),
                at => at.to_string(),
            },
            "fast_retransmits" => counters.fast_retransmits.to_string(),
            "timeouts" => counters.timeouts.to_string(),
            "reductions" => counters.ecn_reductions.to_string(),
            "marks" => counters.ce_received.to_string(),
            "delivered" => format!("{} in {}", counters.delivered_bytes, counters.delivered_segments),
            "window" => self.endpoint.receive_window().map_or("none".to_owned(), |bytes| bytes.to_string()),
            "unread" => self.endpoint.unread_bytes().to_string(),
            "readable" => self.endpoint.in_order_bytes().to_string(),
            "duplicates" => counters.duplicates_received.to_string(),
            other => panic!("`{other}` in `{line}`"),
        };
        assert_eq!(is, words[1..].join(" "), "at `{line}`");
    }

    fn parse(&self, words: &[&str]) -> Segment {
        let first = ISN.wrapping_add(1);
        let window = u32::MAX;
        // An ACK without data has the number of what would come next.
        let seq = self.endpoint.acknowledgement_number();
        let mut segment = Segment { seq, ack: first, window, flags: flags::ACK, ..Segment::default() };
        let mut rest = words;
        if let Some((from, to)) = words[0].split_once("..") {
            let (from, to): (u32, u32) = (from.parse().expect("from"), to.parse().expect("to"));
            segment.seq = first.wrapping_add(from);
            segment.len = to - from;
            rest = &words[1..];
        }
        if words[0].starts_with("syn") {
            rest = &words[1..];
        }
        match words[0] {
            "syn" => (segment.seq, segment.ack, segment.flags) = (ISN, 0, flags::SYN),
            "syn-ack" => (segment.seq, segment.flags) = (ISN, flags::SYN | flags::ACK),
            _ => {}
        }
        for pair in rest.chunks(2) {
            match pair[0] {
                "ack" => segment.ack = first.wrapping_add(pair[1].parse().expect("ack")),
                "window" => segment.window = pair[1].parse().expect("window"),
                "ts" => segment.ts_val = pair[1].parse().expect("ts"),
                "echo" => segment.ts_ecr = pair[1].parse().expect("echo"),
                "flags" => segment.flags |= pair[1].split(',').map(flag).sum::<u16>(),
                "ace" => segment.flags |= flags::of_ace(pair[1].parse().expect("ace")),
                "accecn" => segment.accecn = Some(option(pair[1])),
                "ecn" => segment.ecn = Ecn::from_bits(pair[1].parse().expect("bits")),
                "sack" => {
                    for block in pair[1].split(',') {
                        let (left, right) = block.split_once("..").expect("block");
                        let edge = |text: &str| first.wrapping_add(text.parse().expect("edge"));
                        segment.sack[usize::from(segment.sack_count)] = (edge(left), edge(right));
                        segment.sack_count += 1;
                    }
                }
                other => panic!("`{other}` in {words:?}"),
            }
        }
        segment
    }
}

const ECN_FLAGS: [(&str, u16); 3] = [("ae", flags::AE), ("cwr", flags::CWR), ("ece", flags::ECE)];

fn flag(name: &str) -> u16 {
    match name {
        "psh" => flags::PSH,
        "fin" => flags::FIN,
        "rst" => flags::RST,
        _ => ECN_FLAGS.iter().find(|(word, _)| *word == name).expect("a flag").1,
    }
}

/// `0:101,100`: the order, and the fields in it.
fn option(text: &str) -> AccEcn {
    let (order, fields) = text.split_once(':').expect("an order");
    let mut written = [0; 3];
    let mut count = 0;
    for field in fields.split(',') {
        written[usize::from(count)] = field.parse().expect("a field");
        count += 1;
    }
    AccEcn { fields: written, count, order: order.parse().expect("an order") }
}

/// What a segment says of ECN.
fn marks(segment: &Segment) -> String {
    let flags = ECN_FLAGS.iter().filter(|(_, flag)| segment.flags & flag != 0).map(|(word, _)| *word);
    let ecn = match segment.ecn {
        Ecn::NotEct => None,
        Ecn::Ect1 => Some("ect1"),
        Ecn::Ect0 => Some("ect0"),
        Ecn::Ce => Some("ce"),
    };
    flags.chain(ecn).map(|word| format!(" {word}")).collect()
}

fn describe(segment: &Segment) -> String {
    let first = ISN.wrapping_add(1);
    let offset = |number: u32| number.wrapping_sub(first);
    if segment.flags & flags::SYN != 0 {
        let name = if segment.flags & flags::ACK != 0 { "syn-ack" } else { "syn" };
        let option = segment.accecn.map_or("", |_| " accecn");
        return format!("{name}{option}{}", marks(segment));
    }
    let mut words = Vec::new();
    for (name, flag) in [("fin", flags::FIN), ("rst", flags::RST)] {
        if segment.flags & flag != 0 {
            words.push(format!("{name} {}", offset(segment.seq) + segment.len));
        }
    }
    if segment.flags & flags::ACK == 0 {
        return words.join(" ");
    }
    if segment.len > 0 {
        let start = offset(segment.seq);
        words.push(format!("{start}..{}", start + segment.len));
        if segment.retransmission {
            words.push("again".to_owned());
        }
    }
    let ack = offset(segment.ack);
    if segment.len == 0 || ack > 0 {
        words.push(format!("ack {ack}"));
    }
    let blocks: Vec<String> = segment.sack[..usize::from(segment.sack_count)]
        .iter()
        .map(|(left, right)| format!("{}..{}", offset(*left), offset(*right)))
        .collect();
    if !blocks.is_empty() {
        words.push(format!("sack {}", blocks.join(",")));
    }
    if segment.ts_val != 0 {
        words.push(format!("ts {} echo {}", segment.ts_val, segment.ts_ecr));
    }
    if let Some(option) = segment.accecn {
        let fields: Vec<String> =
            option.fields[..usize::from(option.count)].iter().map(u32::to_string).collect();
        words.push(format!("accecn{} {}", option.order, fields.join(",")));
    }
    words.join(" ") + &marks(segment)
}

/// `1.5 ms` and the like.
fn span(number: &str, unit: &str) -> Span {
    let picos = match unit {
        "s" => 1e12,
        "ms" => 1e9,
        "us" => 1e6,
        "ps" => 1.0,
        other => panic!("unit {other}"),
    };
    let number: f64 = number.parse().expect("a number");
    Span::from_picos((number * picos).round() as u64)
}
