//! What comes out of a run: a summary and columns.

use tidegate_core::app::Exchange;
use tidegate_core::gate::GateRow;
use tidegate_core::net::Dropped;
use tidegate_core::net::Owner;
use tidegate_core::plan::{GatePlan, RatePlan};
use tidegate_core::tcp::Segment;
use tidegate_core::units::Time;

use crate::request_summary::response_time;
use crate::summary::Summary;

/// Index that stands for "none" in a table: no flow, or no background source.
const NONE: u32 = u32::MAX;

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

fn wait_ms(row: &GateRow) -> f64 {
    if row.wait == GateRow::NO_WAIT { f64::NAN } else { row.wait.as_secs_f64() * 1e3 }
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
        let mut tables = vec![self.flow_table(), self.gate_table(), self.drop_table(), self.mark_table()];
        if !self.summary.requests.is_empty() {
            tables.push(self.request_table());
        }
        tables
    }

    fn flow_table(&self) -> Table {
        let rows: Vec<(u32, &FlowRow)> =
            (0..).zip(&self.flows).flat_map(|(n, rows)| rows.iter().map(move |row| (n, row))).collect();
        let float =
            |value: fn(&FlowRow) -> f64| Column::F64(rows.iter().map(|(_, row)| value(row)).collect());
        let count =
            |value: fn(&FlowRow) -> u64| Column::U64(rows.iter().map(|(_, row)| value(row)).collect());
        let code = |value: fn(&FlowRow) -> u8| Column::U8(rows.iter().map(|(_, row)| value(row)).collect());
        Table {
            name: "flows",
            columns: vec![
                ("time_s", float(|row| row.at.as_secs_f64())),
                ("flow", Column::U32(rows.iter().map(|(flow, _)| *flow).collect())),
                ("cwnd_segments", float(|row| row.cwnd_segments)),
                ("ssthresh_segments", float(|row| row.ssthresh_segments)),
                ("in_flight_segments", float(|row| row.in_flight_segments)),
                ("srtt_ms", float(|row| row.srtt_ms)),
                ("rtt_ms", float(|row| row.rtt_ms)),
                ("one_way_ms", float(|row| row.one_way_ms)),
                ("rto_ms", float(|row| row.rto_ms)),
                ("delivered_bytes", count(|row| row.delivered_bytes)),
                ("in_order_bytes", count(|row| row.in_order_bytes)),
                ("retransmitted_segments", count(|row| row.retransmitted_segments)),
                ("phase", code(|row| row.phase)),
                ("held_by", code(|row| row.held_by)),
            ],
        }
    }

    fn gate_table(&self) -> Table {
        let rows: Vec<(u32, &GateRow)> =
            (0..).zip(&self.gates).flat_map(|(n, rows)| rows.iter().map(move |row| (n, row))).collect();
        let float =
            |value: fn(&GateRow) -> f64| Column::F64(rows.iter().map(|(_, row)| value(row)).collect());
        let count =
            |value: fn(&GateRow) -> u64| Column::U64(rows.iter().map(|(_, row)| value(row)).collect());
        // A cell gate's units are cells: of packets it knows nothing at an instant.
        let some = |value: fn(&GateRow) -> Option<u64>| {
            Column::MaybeU64(rows.iter().map(|(_, row)| value(row)).collect())
        };
        let slots = rows.iter().map(|(gate, row)| row.rate_bps / self.slot_bps[*gate as usize]).collect();
        Table {
            name: "gates",
            columns: vec![
                ("time_s", float(|row| row.at.as_secs_f64())),
                ("gate", Column::U32(rows.iter().map(|(gate, _)| *gate).collect())),
                ("queue_packets", some(|row| row.cells.is_none().then_some(row.queue_packets))),
                ("queue_bytes", some(|row| row.cells.is_none().then_some(row.queue_bytes))),
                ("queue_cells", some(|row| row.cells.map(|cells| cells.whole))),
                ("queue_fluid", float(|row| row.cells.map_or(f64::NAN, |cells| cells.fluid))),
                ("rate_bps", float(|row| row.rate_bps)),
                ("slots", Column::F64(slots)),
                ("wait_ms", float(wait_ms)),
                ("delivered_bytes", count(|row| row.delivered_bytes)),
                ("dropped_packets", some(|row| row.cells.is_none().then_some(row.dropped_packets))),
                ("dropped_cells", some(|row| row.cells.map(|_| row.dropped_packets))),
                ("tokens", float(|row| row.tokens)),
            ],
        }
    }

    fn drop_table(&self) -> Table {
        let drops = &self.drops;
        let flow = |drop: &Dropped| match drop.owner {
            Owner::Data(flow) | Owner::Back(flow) => flow as u32,
            Owner::Traffic(_) => NONE,
        };
        let traffic = |drop: &Dropped| match drop.owner {
            Owner::Data(_) | Owner::Back(_) => NONE,
            Owner::Traffic(source) => source as u32,
        };
        Table {
            name: "drops",
            columns: vec![
                ("time_s", Column::F64(drops.iter().map(|drop| drop.at.as_secs_f64()).collect())),
                ("gate", Column::U32(drops.iter().map(|drop| drop.gate as u32).collect())),
                ("flow", Column::U32(drops.iter().map(flow).collect())),
                ("traffic", Column::U32(drops.iter().map(traffic).collect())),
                ("bytes", Column::U32(drops.iter().map(|drop| drop.unit.bytes).collect())),
                ("reason", Column::U8(drops.iter().map(|drop| drop.reason as u8).collect())),
            ],
        }
    }

    fn mark_table(&self) -> Table {
        let marks = &self.marks;
        Table {
            name: "marks",
            columns: vec![
                ("time_s", Column::F64(marks.iter().map(|mark| mark.at.as_secs_f64()).collect())),
                ("flow", Column::U32(marks.iter().map(|mark| mark.flow).collect())),
                ("kind", Column::U8(marks.iter().map(|mark| mark.kind as u8).collect())),
            ],
        }
    }

    fn request_table(&self) -> Table {
        let rows: Vec<(u32, &Exchange)> =
            (0..).zip(&self.requests).flat_map(|(n, rows)| rows.iter().map(move |row| (n, row))).collect();
        let count =
            |value: fn(&Exchange) -> u64| Column::U64(rows.iter().map(|(_, row)| value(row)).collect());
        let when = |value: fn(&Exchange) -> Time| {
            let seconds = |at: Time| if at == Time::NEVER { f64::NAN } else { at.as_secs_f64() };
            Column::F64(rows.iter().map(|(_, row)| seconds(value(row))).collect())
        };
        let took = |row: &Exchange| match row.ended {
            Time::NEVER => f64::NAN,
            _ => response_time(row).as_secs_f64(),
        };
        Table {
            name: "requests",
            columns: vec![
                ("time_s", when(|row| row.asked)),
                ("flow", Column::U32(rows.iter().map(|(flow, _)| *flow).collect())),
                ("begun_s", when(|row| row.begun)),
                ("arrived_s", when(|row| row.arrived)),
                ("answered_s", when(|row| row.answered)),
                ("ended_s", when(|row| row.ended)),
                ("response_s", Column::F64(rows.iter().map(|(_, row)| took(row)).collect())),
                ("request_bytes", count(|row| row.request)),
                ("response_bytes", count(|row| row.response)),
            ],
        }
    }
}
