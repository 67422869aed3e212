//! The recorded columns: one table of names, meanings, words and values.
//!
//! Everything about a column stands in its entry: the tables of a run are made of it, `[record]` checks
//! names against it, and Python reads names, meanings and words from it. A new column is one entry here
//! and the field that holds its value.

use tidegate_core::app::Exchange;
use tidegate_core::gate::{DropReason, GateRow};
use tidegate_core::net::{Dropped, Owner};
use tidegate_core::units::Time;

use crate::request_summary::response_time;
use crate::rows::{Column, FlowRow, Mark, MarkKind};

/// Index that stands for "none": no flow, or no background source.
const NONE: u32 = u32::MAX;

/// Where a column's value comes from, and its type.
#[derive(Clone, Copy, Debug)]
pub enum Value<R: 'static> {
    /// A float; NaN: nothing to say.
    F64(fn(&Of<'_, R>) -> f64),
    /// A count.
    U64(fn(&Of<'_, R>) -> u64),
    /// A count, or nothing to say.
    MaybeU64(fn(&Of<'_, R>) -> Option<u64>),
    /// A size that is small.
    U32(fn(&Of<'_, R>) -> u32),
    /// The number of a flow, a gate or a background source.
    Index(Names, fn(&Of<'_, R>) -> u32),
    /// A code, and the word for each.
    Code(&'static [&'static str], fn(&Of<'_, R>) -> u8),
}

/// What an index counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// The plan's flows.
    Flow,
    /// The plan's gates.
    Gate,
    /// The plan's background sources.
    Traffic,
}

/// Gates that have a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gates {
    /// Every gate.
    All,
    /// Gates that pass packets.
    OfPackets,
    /// Cell gates.
    OfCells,
}

/// A row of a table, and what its columns need beside it.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a, R> {
    /// Whose row it is: the number of a flow or a gate.
    pub index: u32,
    /// The row.
    pub row: &'a R,
    /// Bit rate of one slot of the gate; NaN where it has none.
    pub slot_bps: f64,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Entry<R: 'static> {
    /// Its name, with the unit at the end.
    pub name: &'static str,
    /// What it means, and when it is null.
    pub meaning: &'static str,
    /// Which gates have it.
    pub gates: Gates,
    /// Its value.
    pub value: Value<R>,
}

const fn all<R>(name: &'static str, meaning: &'static str, value: Value<R>) -> Entry<R> {
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

const TIME: &str = "seconds from the start of the run";
const FLOW: &str = "name of the flow";
const GATE: &str = "name of the gate";

/// What congestion control is doing; the codes of [`FlowRow::phase`].
pub const PHASES: &[&str] = &["slow start", "congestion avoidance", "recovery", "loss"];
/// What keeps a sender from sending more; the codes of [`FlowRow::held_by`].
pub const HELD_BY: &[&str] = &["application", "congestion window", "receiver window"];
/// Why a packet was dropped; in the order of [`DropReason::ALL`].
pub const DROP_REASONS: &[&str; DropReason::COUNT] = &{
    let mut words = [""; DropReason::COUNT];
    let mut place = 0;
    while place < words.len() {
        words[place] = DropReason::ALL[place].name();
        place += 1;
    }
    words
};
/// What a sender did; in the order of [`MarkKind`].
pub const MARK_KINDS: &[&str; MarkKind::FastRetransmit as usize + 1] = &["timeout", "fast retransmit"];

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
        "round trip of the newest acknowledged segment that was sent once, ms; null before one",
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
        "bytes on the gate's wire since the start; every header counted",
        Value::U64(|of| of.row.delivered_bytes),
    ),
    of(
        Gates::OfPackets,
        "dropped_packets",
        "packets dropped since the start; null at a cell gate",
        Value::MaybeU64(|of| of.row.cells.is_none().then_some(of.row.dropped_packets)),
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

/// Columns of requests.
pub static REQUESTS: &[Entry<Exchange>] = &[
    all(
        "time_s",
        "when it was asked, seconds from the start of the run",
        Value::F64(|of| seconds(of.row.asked)),
    ),
    all("flow", FLOW, Value::Index(Names::Flow, |of| of.index)),
    all("begun_s", "when it was written into TCP; null: not yet", Value::F64(|of| seconds(of.row.begun))),
    all(
        "arrived_s",
        "when its last byte had come to the server; null: not yet",
        Value::F64(|of| seconds(of.row.arrived)),
    ),
    all(
        "answered_s",
        "when the response was written into TCP; null: not yet",
        Value::F64(|of| seconds(of.row.answered)),
    ),
    all(
        "ended_s",
        "when the last byte of the response had come, in order; null: not yet",
        Value::F64(|of| seconds(of.row.ended)),
    ),
    all(
        "response_s",
        "seconds from asking to that; null: not yet",
        Value::F64(|of| match of.row.ended {
            Time::NEVER => f64::NAN,
            _ => response_time(of.row).as_secs_f64(),
        }),
    ),
    all("request_bytes", "user bytes of the request", Value::U64(|of| of.row.request)),
    all("response_bytes", "user bytes of the response", Value::U64(|of| of.row.response)),
];

fn seconds(at: Time) -> f64 {
    if at == Time::NEVER { f64::NAN } else { at.as_secs_f64() }
}

impl<R> Entry<R> {
    /// The column of these rows.
    pub(crate) fn of_rows(&self, rows: &[Of<'_, R>]) -> Column {
        match self.value {
            Value::F64(value) => Column::F64(rows.iter().map(value).collect()),
            Value::U64(value) => Column::U64(rows.iter().map(value).collect()),
            Value::MaybeU64(value) => Column::MaybeU64(rows.iter().map(value).collect()),
            Value::U32(value) | Value::Index(_, value) => Column::U32(rows.iter().map(value).collect()),
            Value::Code(_, value) => Column::U8(rows.iter().map(value).collect()),
        }
    }

    /// Whether `[record]` may name it: it says more than when and whose.
    #[must_use]
    pub fn can_be_named(&self) -> bool {
        self.name != "time_s" && !matches!(self.value, Value::Index(..))
    }

    fn described(&self) -> Description {
        let (kind, words, names) = match self.value {
            Value::F64(_) => ("f64", None, None),
            Value::U64(_) => ("u64", None, None),
            Value::MaybeU64(_) => ("maybe_u64", None, None),
            Value::U32(_) => ("u32", None, None),
            Value::Index(names, _) => ("u32", None, Some(names)),
            Value::Code(words, _) => ("u8", Some(words), None),
        };
        Description { name: self.name, meaning: self.meaning, kind, words, names }
    }
}

/// What people and other languages read of a column.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// `f64`, `u64`, `maybe_u64`, `u32` or `u8`: the type of its values as bytes.
    pub kind: &'static str,
    /// The word for each code.
    pub words: Option<&'static [&'static str]>,
    /// What its numbers count.
    pub names: Option<Names>,
}

/// Every table with its columns, in order.
#[must_use]
pub fn tables() -> Vec<(&'static str, Vec<Description>)> {
    fn of<R>(entries: &[Entry<R>]) -> Vec<Description> {
        entries.iter().map(Entry::described).collect()
    }
    vec![
        ("flows", of(FLOWS)),
        ("gates", of(GATES)),
        ("drops", of(DROPS)),
        ("marks", of(MARKS)),
        ("requests", of(REQUESTS)),
    ]
}

#[cfg(test)]
mod tests {
    use tidegate_core::unit::HeldBy;

    use super::*;

    #[test]
    fn codes_are_places_in_the_lists_of_words() {
        let word = |reason: DropReason| DROP_REASONS[reason as usize];
        assert_eq!(word(DropReason::QueueFull), "queue full");
        assert_eq!(word(DropReason::Policed), "policed");
        assert!(DropReason::ALL.iter().enumerate().all(|(place, reason)| *reason as usize == place));
        assert_eq!(HELD_BY[HeldBy::Application as usize], "application");
        assert_eq!(HELD_BY[HeldBy::ReceiverWindow as usize], "receiver window");
        assert_eq!(MARK_KINDS[MarkKind::FastRetransmit as usize], "fast retransmit");
    }

    #[test]
    fn names_are_unique_and_say_their_unit() {
        for (table, columns) in tables() {
            for (place, column) in columns.iter().enumerate() {
                assert!(
                    columns[..place].iter().all(|before| before.name != column.name),
                    "{table}.{}",
                    column.name
                );
                assert!(
                    !column.meaning.is_empty() && !column.meaning.contains("  "),
                    "{table}.{}",
                    column.name
                );
            }
        }
    }
}
