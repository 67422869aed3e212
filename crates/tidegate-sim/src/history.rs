//! Rows and marks of a recorded flow.

use tidegate_core::plan::{ROW_BYTES, RecordLevel};
use tidegate_core::tcp::{Counters, Endpoint, Phase, Shown};
use tidegate_core::unit::HeldBy;
use tidegate_core::units::{Span, Time};
use tidegate_result::columns::HELD_BY_POLICER;
use tidegate_result::{FlowRow, Mark, MarkKind};

use crate::host::Report;

/// Rows of a recorded flow. Where rows are taken every so often, each end writes its own columns of a row when it passes the row's
/// instant: with run-ahead one end may be ahead of the other.
#[derive(Debug)]
pub(crate) struct History {
    level: RecordLevel,
    /// The flow's number.
    flow: u32,
    pub(crate) rows: Vec<FlowRow>,
    /// Time-outs and fast retransmits, in order of time.
    pub(crate) marks: Vec<Mark>,
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
    /// Whether a policer is why the congestion window is small.
    pub(crate) policed: bool,
    /// From sending to arrival, of the data segment that came last.
    one_way: Option<Span>,
}

/// What a row shows of a sender, whichever transport it is of; windows in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderColumns {
    /// NaN: not known.
    window: f64,
    ssthresh: Option<u64>,
    in_flight: Option<u64>,
    srtt: Option<Span>,
    rto: Option<Span>,
    phase: Phase,
    held_by: HeldBy,
    retransmitted: u64,
}

impl From<&Shown> for SenderColumns {
    #[inline]
    fn from(shown: &Shown) -> SenderColumns {
        let Shown { cwnd, ssthresh, in_flight, srtt, rto, phase, held_by, segments_retransmitted } = *shown;
        SenderColumns {
            window: cwnd,
            ssthresh,
            in_flight: Some(in_flight),
            srtt,
            rto: Some(rto),
            phase,
            held_by,
            retransmitted: segments_retransmitted,
        }
    }
}

impl From<&Report> for SenderColumns {
    fn from(report: &Report) -> SenderColumns {
        let Report { window, ssthresh, in_flight, srtt, rto, phase, held_by, retransmitted, .. } = *report;
        SenderColumns {
            window: window.unwrap_or(f64::NAN),
            ssthresh,
            in_flight,
            srtt,
            rto,
            // There is no code for a phase that is not known.
            phase: phase.unwrap_or(Phase::CongestionAvoidance),
            held_by,
            retransmitted,
        }
    }
}

/// What a row shows of a receiver, in user bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiverColumns {
    pub(crate) delivered_bytes: u64,
    pub(crate) in_order_bytes: u64,
}

impl From<&Endpoint> for ReceiverColumns {
    #[inline]
    fn from(end: &Endpoint) -> ReceiverColumns {
        ReceiverColumns {
            delivered_bytes: end.counters().delivered_bytes,
            in_order_bytes: end.in_order_bytes(),
        }
    }
}

impl From<&Report> for ReceiverColumns {
    fn from(report: &Report) -> ReceiverColumns {
        let Report { delivered_bytes, in_order_bytes, .. } = *report;
        ReceiverColumns { delivered_bytes, in_order_bytes }
    }
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
    pub(crate) fn new(level: RecordLevel, until: Time, flow: usize) -> History {
        let at = if matches!(level, RecordLevel::Every(_)) { Time::ZERO } else { Time::NEVER };
        History {
            level,
            flow: flow as u32,
            rows: Vec::with_capacity(level.first_rows(until)),
            marks: Vec::new(),
            next: [Next { at, place: 0 }; 2],
            timeouts: 0,
            fast_retransmits: 0,
            past: [Counters::default(); 2],
            past_in_order: 0,
            round_trip: None,
            policed: false,
            one_way: None,
        }
    }

    /// Data that were sent at `sent_at` arrived at `at`.
    #[inline(always)]
    pub(crate) fn note_one_way(&mut self, at: Time, sent_at: Time) {
        self.one_way = Some(at.saturating_since(sent_at));
    }

    /// Whether each end writes at its own time; else a row shows both at one instant.
    pub(crate) fn lets_ends_part(&self) -> bool {
        self.level != RecordLevel::Events
    }

    /// The sender writes no row before what happens to it until then.
    pub(crate) fn sender_rowless_until(&self) -> Time {
        self.next[SENDER].at
    }

    /// The receiver writes no row before what happens to it until then.
    pub(crate) fn receiver_rowless_until(&self) -> Time {
        self.next[RECEIVER].at
    }

    /// Another connection begins; this is what the earlier ones have counted.
    pub(crate) fn reconnected(&mut self, past: [Counters; 2], past_in_order: u64) {
        (self.past, self.past_in_order) = (past, past_in_order);
        (self.timeouts, self.fast_retransmits) = (0, 0);
    }

    /// The sender writes its columns of all rows before `at`.
    pub(crate) fn sample_sender(&mut self, at: Time, shown: &SenderColumns, mss: f64) {
        while self.next[SENDER].at < at {
            let place = self.take_next(SENDER);
            let past = self.past[SENDER].segments_retransmitted;
            write_sender(&mut self.rows[place], shown, (self.round_trip, past, mss));
            self.rows[place].held_by = self.held_by(shown);
        }
    }

    /// The code of what keeps the sender from sending more.
    fn held_by(&self, shown: &SenderColumns) -> u8 {
        match shown.held_by {
            HeldBy::CongestionWindow if self.policed => HELD_BY_POLICER,
            held_by => held_by as u8,
        }
    }

    /// The receiver writes its own.
    pub(crate) fn sample_receiver(&mut self, at: Time, receiver: &ReceiverColumns) {
        while self.next[RECEIVER].at < at {
            let place = self.take_next(RECEIVER);
            let past = (self.past[RECEIVER].delivered_bytes, self.past_in_order);
            write_receiver(&mut self.rows[place], receiver, (self.one_way, past));
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

    /// Notes what the sender has counted by `at` for the first time.
    #[inline]
    pub(crate) fn mark(&mut self, at: Time, counters: &Counters) {
        if counters.timeouts > self.timeouts || counters.fast_retransmits > self.fast_retransmits {
            self.mark_more(at, counters);
        }
    }

    #[cold]
    fn mark_more(&mut self, at: Time, counters: &Counters) {
        let mut mark = |known: &mut u64, now: u64, kind| {
            if now > *known {
                *known = now;
                self.marks.push(Mark { at, flow: self.flow, kind });
            }
        };
        mark(&mut self.timeouts, counters.timeouts, MarkKind::Timeout);
        mark(&mut self.fast_retransmits, counters.fast_retransmits, MarkKind::FastRetransmit);
    }

    /// Whether the last row shows less than what has come to the receiver.
    pub(crate) fn is_news(&self, receiver: &ReceiverColumns) -> bool {
        let (past, past_in_order) = (self.past[RECEIVER].delivered_bytes, self.past_in_order);
        let shown = self.rows.last().map_or((0, 0), |last| (last.delivered_bytes, last.in_order_bytes));
        (past + receiver.delivered_bytes, past_in_order + receiver.in_order_bytes) != shown
    }

    /// Takes a row of both ends at one instant.
    pub(crate) fn note(&mut self, at: Time, ends: (&SenderColumns, &ReceiverColumns, f64)) {
        let (sender, receiver, mss) = ends;
        let mut row = empty(at);
        let again = self.past[SENDER].segments_retransmitted;
        write_sender(&mut row, sender, (self.round_trip, again, mss));
        row.held_by = self.held_by(sender);
        let received = (self.past[RECEIVER].delivered_bytes, self.past_in_order);
        write_receiver(&mut row, receiver, (self.one_way, received));
        // Of several rows at one instant the last counts.
        match self.rows.last_mut() {
            Some(last) if last.at == at => *last = row,
            _ => self.rows.push(row),
        }
    }

    /// Bytes of the rows so far, with the table that they become.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.rows.len() as u64 * ROW_BYTES
    }
}

/// Writes the columns of a sender into a row: what it shows, with the newest round trip, what earlier connections sent again, and
/// the size of a segment.
#[inline]
fn write_sender(row: &mut FlowRow, shown: &SenderColumns, (round_trip, past, mss): (Option<Span>, u64, f64)) {
    let SenderColumns { window, ssthresh, in_flight, srtt, rto, phase, retransmitted, .. } = *shown;
    row.cwnd_segments = window / mss;
    row.ssthresh_segments = ssthresh.map_or(f64::NAN, |bytes| bytes as f64 / mss);
    row.in_flight_segments = in_flight.map_or(f64::NAN, |bytes| bytes as f64 / mss);
    row.srtt_ms = millis(srtt);
    row.rtt_ms = millis(round_trip);
    row.rto_ms = millis(rto);
    row.retransmitted_segments = past + retransmitted;
    row.phase = match phase {
        Phase::SlowStart => 0,
        Phase::CongestionAvoidance => 1,
        Phase::Recovery => 2,
        Phase::Loss => 3,
    };
}

/// Writes the columns of a receiver into a row, with the newest one-way delay and the bytes of earlier connections, all and in order.
#[inline]
fn write_receiver(
    row: &mut FlowRow,
    receiver: &ReceiverColumns,
    (one_way, (past, past_in_order)): (Option<Span>, (u64, u64)),
) {
    row.one_way_ms = millis(one_way);
    row.delivered_bytes = past + receiver.delivered_bytes;
    row.in_order_bytes = past_in_order + receiver.in_order_bytes;
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
