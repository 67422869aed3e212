//! Rows and marks of a recorded flow.

use tidegate_core::plan::RecordLevel;
use tidegate_core::tcp::{Counters, Endpoint, Phase, Snapshot};
use tidegate_core::units::{Span, Time};
use tidegate_result::{FlowRow, Mark, MarkKind};

/// Rows of a recorded flow.
#[derive(Debug)]
pub(crate) struct History {
    level: RecordLevel,
    next_sample: Time,
    pub(crate) rows: Vec<FlowRow>,
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

impl History {
    pub(crate) fn new(level: RecordLevel) -> History {
        History {
            level,
            next_sample: Time::ZERO,
            rows: Vec::new(),
            timeouts: 0,
            fast_retransmits: 0,
            past: [Counters::default(); 2],
            past_in_order: 0,
            round_trip: None,
            one_way: None,
        }
    }

    /// Another connection begins; this is what the earlier ones have counted.
    pub(crate) fn reconnected(&mut self, past: [Counters; 2], past_in_order: u64) {
        (self.past, self.past_in_order) = (past, past_in_order);
        (self.timeouts, self.fast_retransmits) = (0, 0);
    }

    #[inline]
    pub(crate) fn sample_before(&mut self, at: Time, sender: &Endpoint, receiver: &Endpoint, mss: f64) {
        if let RecordLevel::Every(every) = self.level {
            while self.next_sample < at {
                self.rows.push(self.row(self.next_sample, sender, receiver, mss));
                self.next_sample = self.next_sample.saturating_add(every);
            }
        }
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
            let row = self.row(at, sender, receiver, mss);
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

    /// The row at `at`.
    fn row(&self, at: Time, sender: &Endpoint, receiver: &Endpoint, mss: f64) -> FlowRow {
        let millis = |span: Option<Span>| span.map_or(f64::NAN, |span| span.as_secs_f64() * 1e3);
        let Snapshot { cwnd, ssthresh, in_flight, srtt, rto, phase, held_by, .. } = sender.snapshot();
        FlowRow {
            at,
            cwnd_segments: cwnd / mss,
            ssthresh_segments: ssthresh.map_or(f64::NAN, |bytes| bytes as f64 / mss),
            in_flight_segments: in_flight as f64 / mss,
            srtt_ms: millis(srtt),
            rtt_ms: millis(self.round_trip),
            one_way_ms: millis(self.one_way),
            rto_ms: rto.as_secs_f64() * 1e3,
            delivered_bytes: self.past[1].delivered_bytes + receiver.counters().delivered_bytes,
            in_order_bytes: self.past_in_order + receiver.in_order_bytes(),
            retransmitted_segments: self.past[0].segments_retransmitted
                + sender.counters().segments_retransmitted,
            phase: match phase {
                Phase::SlowStart => 0,
                Phase::CongestionAvoidance => 1,
                Phase::Recovery => 2,
                Phase::Loss => 3,
            },
            held_by: held_by as u8,
        }
    }
}
