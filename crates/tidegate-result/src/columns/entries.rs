//! The columns of each table, one entry each.

use tidegate_core::gate::{ClassRow, GateRow};
use tidegate_core::net::{Dropped, Owner};

use super::entry::{Entry, Gates, Names, Value};
use super::words::{DROP_REASONS, HELD_BY, MARK_KINDS, PHASES};
use crate::rows::{FlowRow, GroupRow, Mark};

/// Index that stands for "none": no flow, or no background source.
const NONE: u32 = u32::MAX;

const TIME: &str = "seconds from the start of the run";
pub(super) const FLOW: &str = "name of the flow";
const GATE: &str = "name of the gate";

pub(super) const fn all<R>(name: &'static str, meaning: &'static str, value: Value<R>) -> Entry<R> {
    Entry { name, meaning, gates: Gates::All, value }
}

const fn of(
    gates: Gates,
    name: &'static str,
    meaning: &'static str,
    value: Value<GateRow>,
) -> Entry<GateRow> {
    Entry { name, meaning, gates, value }
}

/// Columns of flows.
pub static FLOWS: &[Entry<FlowRow>] = &[
    all("time_s", TIME, Value::F64(|of| of.row.at.as_secs_f64())),
    all("flow", FLOW, Value::Index(Names::Flow, |of| of.index)),
    all("cwnd_segments", "congestion window, segments", Value::F64(|of| of.row.cwnd_segments)),
    all(
        "ssthresh_segments",
        "slow-start threshold, segments; null: no limit",
        Value::F64(|of| of.row.ssthresh_segments),
    ),
    all(
        "in_flight_segments",
        "sent and not known to have left, segments",
        Value::F64(|of| of.row.in_flight_segments),
    ),
    all(
        "srtt_ms",
        "smoothed round-trip time, ms; null before the first sample",
        Value::F64(|of| of.row.srtt_ms),
    ),
    all(
        "rtt_ms",
        "round trip of the newest segment sent once that an ACK or a SACK reported, ms; null before one",
        Value::F64(|of| of.row.rtt_ms),
    ),
    all(
        "one_way_ms",
        "from sending to arrival, of the data segment that arrived last, ms; null before one",
        Value::F64(|of| of.row.one_way_ms),
    ),
    all("rto_ms", "retransmission time-out in force, ms", Value::F64(|of| of.row.rto_ms)),
    all(
        "delivered_bytes",
        "payload received since the start, each byte when it first arrives, in order or not, bytes; no header counted",
        Value::U64(|of| of.row.delivered_bytes),
    ),
    all(
        "in_order_bytes",
        "payload received in order since the start, what the application could read, bytes",
        Value::U64(|of| of.row.in_order_bytes),
    ),
    all(
        "retransmitted_segments",
        "segments sent again since the start",
        Value::U64(|of| of.row.retransmitted_segments),
    ),
    all("phase", "what congestion control is doing", Value::Code(PHASES, |of| of.row.phase)),
    all("held_by", "what keeps the sender from sending more", Value::Code(HELD_BY, |of| of.row.held_by)),
];

/// Columns of groups of flows.
pub static GROUPS: &[Entry<GroupRow>] = &[
    all("time_s", TIME, Value::F64(|of| of.row.at.as_secs_f64())),
    all("group", "name of the flow whose copies these are", Value::Index(Names::Group, |of| of.row.group)),
    all("flows", "flows of the group that have begun", Value::U64(|of| of.row.flows)),
    all(
        "cwnd_segments",
        "congestion windows of all flows together, segments",
        Value::F64(|of| of.row.cwnd_segments),
    ),
    all(
        "cwnd_p10_segments",
        "window of the flow below which a tenth of the flows are, segments, within 6%",
        Value::F64(|of| of.row.cwnd_spread[0]),
    ),
    all("cwnd_p50_segments", "the same for half of the flows", Value::F64(|of| of.row.cwnd_spread[1])),
    all("cwnd_p90_segments", "the same for nine tenths of the flows", Value::F64(|of| of.row.cwnd_spread[2])),
    all(
        "delivered_bytes",
        "payload received since the start by all flows together, each byte when it first arrives, bytes",
        Value::U64(|of| of.row.delivered_bytes),
    ),
    all(
        "goodput_p10_bps",
        "payload since the row before, in bit/s: a tenth of the flows have less, within 6%",
        Value::F64(|of| of.row.goodput_spread[0]),
    ),
    all("goodput_p50_bps", "the same for half of the flows", Value::F64(|of| of.row.goodput_spread[1])),
    all(
        "goodput_p90_bps",
        "the same for nine tenths of the flows",
        Value::F64(|of| of.row.goodput_spread[2]),
    ),
    all(
        "rtt_p10_ms",
        "round trips measured since the row before, of all flows together: a tenth is shorter, ms, within 6%; null: none",
        Value::F64(|of| of.row.rtt_spread[0]),
    ),
    all("rtt_p50_ms", "the same for half of the round trips", Value::F64(|of| of.row.rtt_spread[1])),
    all("rtt_p90_ms", "the same for nine tenths of the round trips", Value::F64(|of| of.row.rtt_spread[2])),
    all(
        "retransmitted_segments",
        "segments sent again since the start by all flows together",
        Value::U64(|of| of.row.retransmitted_segments),
    ),
    all("timeouts", "time-outs since the start of all flows together", Value::U64(|of| of.row.timeouts)),
];

/// Columns of gates. A cell gate's units are cells: of packets it knows nothing at an instant.
pub static GATES: &[Entry<GateRow>] = &[
    all("time_s", TIME, Value::F64(|of| of.row.at.as_secs_f64())),
    all("gate", GATE, Value::Index(Names::Gate, |of| of.index)),
    of(
        Gates::OfPackets,
        "queue_packets",
        "packets in the queue; null at a cell gate",
        Value::MaybeU64(|of| of.row.cells.is_none().then_some(of.row.queue_packets)),
    ),
    of(
        Gates::OfPackets,
        "queue_bytes",
        "bytes in the queue; null at a cell gate",
        Value::MaybeU64(|of| of.row.cells.is_none().then_some(of.row.queue_bytes)),
    ),
    of(
        Gates::OfCells,
        "queue_cells",
        "cells in the gate, each from its arrival to the end of its service; null where it passes packets",
        Value::MaybeU64(|of| of.row.cells.map(|cells| cells.whole)),
    ),
    of(
        Gates::OfCells,
        "queue_fluid",
        "the same cells as a fluid that comes over the time of a cell at the gate before and goes over its service; \
         null where it passes packets",
        Value::F64(|of| of.row.cells.map_or(f64::NAN, |cells| cells.fluid)),
    ),
    all(
        "rate_bps",
        "rate in force, bit/s on the gate's wire; null when it is not in bit/s",
        Value::F64(|of| of.row.rate_bps),
    ),
    of(
        Gates::OfPackets,
        "slots",
        "slots in force, the rate over that of one slot; null where the gate has none",
        Value::F64(|of| of.row.rate_bps / of.slot_bps),
    ),
    all(
        "wait_ms",
        "wait of the packet or cell whose service began last, ms; null before the first",
        Value::F64(
            |of| if of.row.wait == GateRow::NO_WAIT { f64::NAN } else { of.row.wait.as_secs_f64() * 1e3 },
        ),
    ),
    all(
        "delivered_bytes",
        "bytes sent on the gate's wire since the start, those that `loss` took behind it included; every header counted",
        Value::U64(|of| of.row.delivered_bytes),
    ),
    of(
        Gates::OfPackets,
        "dropped_packets",
        "packets dropped since the start; null at a cell gate",
        Value::MaybeU64(|of| of.row.cells.is_none().then_some(of.row.dropped_packets)),
    ),
    of(
        Gates::OfPackets,
        "marked_packets",
        "packets marked CE since the start; null at a cell gate",
        Value::MaybeU64(|of| of.row.cells.is_none().then_some(of.row.marked_packets)),
    ),
    of(
        Gates::OfCells,
        "dropped_cells",
        "cells dropped since the start; null where it passes packets",
        Value::MaybeU64(|of| of.row.cells.map(|_| of.row.dropped_packets)),
    ),
    all(
        "tokens",
        "bytes on the gate's wire in the bucket of its token-bucket law, else of its policer (of two, that of the lower \
         rate); null where it has neither",
        Value::F64(|of| of.row.tokens),
    ),
    of(
        Gates::OfPackets,
        "drop_probability",
        "probability with which the queue discipline dropped or marked the packet that came or went last: red, pie, and \
         of classic packets dualpi2; null where it has none",
        Value::F64(|of| of.row.drop_probability),
    ),
];

/// Columns of the classes of gates.
pub static CLASSES: &[Entry<ClassRow>] = &[
    all("time_s", TIME, Value::F64(|of| of.row.at.as_secs_f64())),
    all("gate", GATE, Value::Index(Names::Gate, |of| of.index)),
    all("class", "name of the class", Value::Index(Names::Class, |of| of.row.class)),
    all("queue_packets", "packets of the class in its queue", Value::U64(|of| of.row.queue_packets)),
    all("queue_bytes", "bytes of the class in its queue", Value::U64(|of| of.row.queue_bytes)),
    all(
        "delivered_bytes",
        "bytes of the class sent on the gate's wire since the start, those that `loss` took behind it included; every header counted",
        Value::U64(|of| of.row.delivered_bytes),
    ),
    all(
        "dropped_packets",
        "packets of the class dropped since the start",
        Value::U64(|of| of.row.dropped_packets),
    ),
];

/// Columns of drops.
pub static DROPS: &[Entry<Dropped>] = &[
    all("time_s", TIME, Value::F64(|of| of.row.at.as_secs_f64())),
    all("gate", GATE, Value::Index(Names::Gate, |of| of.row.gate as u32)),
    all(
        "flow",
        "name of the flow; null where it is a packet of a background source",
        Value::Index(Names::Flow, |of| match of.row.owner {
            Owner::Data(flow) | Owner::Back(flow) => flow as u32,
            Owner::Traffic(_) => NONE,
        }),
    ),
    all(
        "traffic",
        "name of the background source; null where it is a packet of a flow",
        Value::Index(Names::Traffic, |of| match of.row.owner {
            Owner::Data(_) | Owner::Back(_) => NONE,
            Owner::Traffic(source) => source as u32,
        }),
    ),
    all("bytes", "size of the packet, bytes", Value::U32(|of| of.row.unit.bytes)),
    all("reason", "why it was dropped", Value::Code(DROP_REASONS, |of| of.row.reason as u8)),
];

/// Columns of marks.
pub static MARKS: &[Entry<Mark>] = &[
    all("time_s", TIME, Value::F64(|of| of.row.at.as_secs_f64())),
    all("flow", FLOW, Value::Index(Names::Flow, |of| of.row.flow)),
    all("kind", "what the sender did", Value::Code(MARK_KINDS, |of| of.row.kind as u8)),
];
