//! What comes out of a run: a summary and columns.

use tidegate_core::app::Exchange;
use tidegate_core::gate::GateRow;
use tidegate_core::net::Dropped;
use tidegate_core::plan::{GatePlan, RatePlan};
use tidegate_core::tcp::Segment;
use tidegate_core::units::Time;

use crate::columns::{self, Entry, Of};
use crate::summary::Summary;

/// A finished run.
#[derive(Debug)]
pub struct RunResult {
    /// One row per flow, gate and traffic, over the measured time.
    pub summary: Summary,
    /// Each gate's history, by gate; empty where it was not recorded.
    pub gates: Vec<Vec<GateRow>>,
    /// Bit rate of one slot, by gate; NaN where it has none.
    pub slot_bps: Vec<f64>,
    /// Each flow's history, by flow.
    pub flows: Vec<Vec<FlowRow>>,
    /// Every drop, in order of time.
    pub drops: Vec<Dropped>,
    /// Time-outs and fast retransmits.
    pub marks: Vec<Mark>,
    /// Each recorded flow's requests, in order of asking, by flow; those without an end last.
    pub requests: Vec<Vec<Exchange>>,
    /// Every packet at both ends, if the plan asked for them.
    pub packets: Vec<PacketRecord>,
}

/// A flow's state at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRow {
    /// When.
    pub at: Time,
    /// Congestion window.
    pub cwnd_segments: f64,
    /// Slow-start threshold; NaN: no limit.
    pub ssthresh_segments: f64,
    /// Sent and not acknowledged.
    pub in_flight_segments: f64,
    /// Smoothed round-trip time in ms; NaN before the first sample.
    pub srtt_ms: f64,
    /// Round trip in ms of the newest acknowledged segment that was sent once; NaN before the first.
    pub rtt_ms: f64,
    /// From sending to arrival in ms, of the data segment that reached the receiver last; NaN before the first.
    pub one_way_ms: f64,
    /// Retransmission time-out in ms.
    pub rto_ms: f64,
    /// User bytes received since the start, each counted when it first arrives, in order or not.
    pub delivered_bytes: u64,
    /// User bytes received in order since the start: what the application could read.
    pub in_order_bytes: u64,
    /// Segments sent again since the start.
    pub retransmitted_segments: u64,
    /// 0 slow start, 1 congestion avoidance, 2 recovery, 3 after a time-out.
    pub phase: u8,
    /// 0 application, 1 congestion window, 2 receiver window.
    pub held_by: u8,
}

/// Something that happened to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at: Time,
    /// To which flow.
    pub flow: u32,
    /// What.
    pub kind: MarkKind,
}

/// Kinds of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MarkKind {
    /// The retransmission timer ran out.
    Timeout = 0,
    /// A fast retransmit.
    FastRetransmit = 1,
}

/// The end of a flow where a packet was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end that sends the data.
    Sender,
    /// The other.
    Receiver,
}

/// A packet as seen at one end of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord {
    /// When it was sent or received there.
    pub at: Time,
    /// Whose.
    pub flow: u32,
    /// Where it was seen.
    pub seen: Side,
    /// Who sent it.
    pub from: Side,
    /// Its TCP header.
    pub segment: Segment,
    /// IP bytes.
    pub bytes: u32,
}

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 64-bit floats.
    F64(Vec<f64>),
    /// 64-bit counts.
    U64(Vec<u64>),
    /// 32-bit indices and counts.
    U32(Vec<u32>),
    /// Small codes.
    U8(Vec<u8>),
    /// 64-bit counts, where there are any.
    MaybeU64(Vec<Option<u64>>),
}

/// A named table of named columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// `flows`, `gates`, `drops`, `marks` or, where there are any, `requests`.
    pub name: &'static str,
    /// Name (with its unit) and values.
    pub columns: Vec<(&'static str, Column)>,
}

/// Bit rate of one slot; NaN where the gate has none.
#[must_use]
pub fn slot_bps(gate: &GatePlan) -> f64 {
    match &gate.rate {
        RatePlan::Dtm(channel) => channel.settings.slot.bps() as f64,
        _ => f64::NAN,
    }
}

impl RunResult {
    /// Every recorded table in long form; index columns count the plan's flows, gates and background sources.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let slots = |gate: u32| self.slot_bps[gate as usize];
        let mut tables = vec![
            table("flows", columns::FLOWS, &owned(&self.flows, |_| f64::NAN)),
            table("gates", columns::GATES, &owned(&self.gates, slots)),
            table("drops", columns::DROPS, &events(&self.drops)),
            table("marks", columns::MARKS, &events(&self.marks)),
        ];
        if !self.summary.requests.is_empty() {
            tables.push(table("requests", columns::REQUESTS, &owned(&self.requests, |_| f64::NAN)));
        }
        tables
    }
}

/// A table of the entries' columns over these rows.
fn table<R>(name: &'static str, entries: &[Entry<R>], rows: &[Of<'_, R>]) -> Table {
    Table { name, columns: entries.iter().map(|entry| (entry.name, entry.of_rows(rows))).collect() }
}

/// Rows by whose they are.
fn owned<R>(rows: &[Vec<R>], slot_bps: impl Fn(u32) -> f64) -> Vec<Of<'_, R>> {
    let of = |(index, rows)| (index, slot_bps(index), rows);
    (0..)
        .zip(rows)
        .map(of)
        .flat_map(|(index, slot_bps, rows): (u32, f64, &Vec<R>)| {
            rows.iter().map(move |row| Of { index, row, slot_bps })
        })
        .collect()
}

/// Rows that say themselves whose they are.
fn events<R>(rows: &[R]) -> Vec<Of<'_, R>> {
    rows.iter().map(|row| Of { index: 0, row, slot_bps: f64::NAN }).collect()
}
