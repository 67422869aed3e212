//! Rows and marks of a recorded flow.

use tidegate_core::plan::RecordLevel;
use tidegate_core::tcp::{Counters, Endpoint, Phase, Snapshot};
use tidegate_core::units::{Span, Time};
use tidegate_result::{FlowRow, Mark, MarkKind};

/// Rows of a recorded flow. Where rows are taken every so often, each end writes its own columns of a row when it passes the row's
/// instant: with run-ahead one end may be ahead of the other.
#[derive(Debug)]
pub(crate) struct History {
    level: RecordLevel,
    pub(crate) rows: Vec<FlowRow>,
    /// The next row that the sender writes to, and the receiver.
    next: [Next; 2],
    timeouts: u64,
    fast_retransmits: u64,
    /// What the senders and the receivers of earlier connections counted.
    past: [Counters; 2],
    /// User bytes that the receivers of earlier connections got in order.
    past_in_order: u64,
    /// The newest sample of the round trip.
    pub(crate) round_trip: Option<Span>,
    /// From sending to arrival, of the data segment that came last.
    pub(crate) one_way: Option<Span>,
}

/// A row that an end writes to: its instant and its place.
#[derive(Clone, Copy, Debug)]
struct Next {
    at: Time,
    place: usize,
}

const SENDER: usize = 0;
const RECEIVER: usize = 1;

impl History {
    pub(crate) fn new(level: RecordLevel) -> History {
        let at = if matches!(level, RecordLevel::Every(_)) { Time::ZERO } else { Time::NEVER };
        History {
            level,
            rows: Vec::new(),
            next: [Next { at, place: 0 }; 2],
            timeouts: 0,
            fast_retransmits: 0,
            past: [Counters::default(); 2],
            past_in_order: 0,
            round_trip: None,
            one_way: None,
        }
    }

    /// Whether each end writes at its own time; else a row shows both at one instant.
    pub(crate) fn lets_ends_part(&self) -> bool {
        self.level != RecordLevel::Events
    }

    /// The first instant before which the sender writes a row, once it comes to it.
    pub(crate) fn sender_writes_before(&self) -> Time {
        self.next[SENDER].at.saturating_add(Span::from_picos(1))
    }

    /// The same of the receiver.
    pub(crate) fn receiver_writes_before(&self) -> Time {
        self.next[RECEIVER].at.saturating_add(Span::from_picos(1))
    }

    /// Another connection begins; this is what the earlier ones have counted.
    pub(crate) fn reconnected(&mut self, past: [Counters; 2], past_in_order: u64) {
        (self.past, self.past_in_order) = (past, past_in_order);
        (self.timeouts, self.fast_retransmits) = (0, 0);
    }

    /// The sender writes its columns of all rows before `at`.
    pub(crate) fn sample_sender(&mut self, at: Time, sender: &Endpoint, mss: f64) {
        while self.next[SENDER].at < at {
            let place = self.take_next(SENDER);
            self.rows[place] = self.with_sender(self.rows[place], sender, mss);
        }
    }

    /// The receiver writes its own.
    pub(crate) fn sample_receiver(&mut self, at: Time, receiver: &Endpoint) {
        while self.next[RECEIVER].at < at {
            let place = self.take_next(RECEIVER);
            self.rows[place] = self.with_receiver(self.rows[place], receiver);
        }
    }

    /// The place of the next row that an end writes to; whoever comes first makes the row.
    fn take_next(&mut self, end: usize) -> usize {
        let Next { at, place } = self.next[end];
        if place == self.rows.len() {
            self.rows.push(empty(at));
        }
        let next = match self.level {
            RecordLevel::Every(every) => at.saturating_add(every),
            RecordLevel::Events | RecordLevel::Summary => Time::NEVER,
        };
        self.next[end] = Next { at: next, place: place + 1 };
        place
    }

    pub(crate) fn note(
        &mut self,
        at: Time,
        flow: usize,
        ends: (&Endpoint, &Endpoint, f64),
        marks: &mut Vec<Mark>,
    ) {
        let (sender, receiver, mss) = ends;
        let counters = sender.counters();
        let mut mark = |known: &mut u64, now: u64, kind| {
            if now > *known {
                *known = now;
                marks.push(Mark { at, flow: flow as u32, kind });
            }
        };
        mark(&mut self.timeouts, counters.timeouts, MarkKind::Timeout);
        mark(&mut self.fast_retransmits, counters.fast_retransmits, MarkKind::FastRetransmit);
        if self.level == RecordLevel::Events {
            let row = self.with_receiver(self.with_sender(empty(at), sender, mss), receiver);
            // Of several rows at one instant the last counts.
            match self.rows.last_mut() {
                Some(last) if last.at == at => *last = row,
                _ => self.rows.push(row),
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<FlowRow>()) as u64
    }

    /// The row with the sender's columns.
    fn with_sender(&self, row: FlowRow, sender: &Endpoint, mss: f64) -> FlowRow {
        let Snapshot { cwnd, ssthresh, in_flight, srtt, rto, phase, held_by, .. } = sender.snapshot();
        FlowRow {
            cwnd_segments: cwnd / mss,
            ssthresh_segments: ssthresh.map_or(f64::NAN, |bytes| bytes as f64 / mss),
            in_flight_segments: in_flight as f64 / mss,
            srtt_ms: millis(srtt),
            rtt_ms: millis(self.round_trip),
            rto_ms: rto.as_secs_f64() * 1e3,
            retransmitted_segments: self.past[SENDER].segments_retransmitted
                + sender.counters().segments_retransmitted,
            phase: match phase {
                Phase::SlowStart => 0,
                Phase::CongestionAvoidance => 1,
                Phase::Recovery => 2,
                Phase::Loss => 3,
            },
            held_by: held_by as u8,
            ..row
        }
    }

    /// The row with the receiver's columns.
    fn with_receiver(&self, row: FlowRow, receiver: &Endpoint) -> FlowRow {
        FlowRow {
            one_way_ms: millis(self.one_way),
            delivered_bytes: self.past[RECEIVER].delivered_bytes + receiver.counters().delivered_bytes,
            in_order_bytes: self.past_in_order + receiver.in_order_bytes(),
            ..row
        }
    }
}

/// A row to which no end has written.
fn empty(at: Time) -> FlowRow {
    FlowRow {
        at,
        cwnd_segments: f64::NAN,
        ssthresh_segments: f64::NAN,
        in_flight_segments: f64::NAN,
        srtt_ms: f64::NAN,
        rtt_ms: f64::NAN,
        one_way_ms: f64::NAN,
        rto_ms: f64::NAN,
        delivered_bytes: 0,
        in_order_bytes: 0,
        retransmitted_segments: 0,
        phase: 0,
        held_by: 0,
    }
}

fn millis(span: Option<Span>) -> f64 {
    span.map_or(f64::NAN, |span| span.as_secs_f64() * 1e3)
}
