//! The rows of a gate's history.

use crate::units::{Span, Time};

/// One row of a gate's history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateRow {
    /// When.
    pub at: Time,
    /// Units in the queue, as the gate's queue counts.
    pub queue_packets: u64,
    /// Their IP bytes.
    pub queue_bytes: u64,
    /// Rate in force in bit/s; NaN where the gate has none.
    pub rate_bps: f64,
    /// Bytes on the wire whose service has ended, lost ones included, since the start.
    pub delivered_bytes: u64,
    /// Units dropped since the start.
    pub dropped_packets: u64,
    /// Units marked CE since the start.
    pub marked_packets: u64,
    /// Wait of the unit whose service began last; [`GateRow::NO_WAIT`] before the first.
    pub wait: Span,
    /// Bytes on the wire in the bucket of its token-bucket law, else of its policer's contract; NaN where it
    /// has neither.
    pub tokens: f64,
    /// The probability with which the discipline of the queue dropped or marked, as of the last unit that came or went;
    /// NaN where it has none.
    pub drop_probability: f64,
    /// The cells in a cell gate; `None` where units are packets.
    pub cells: Option<CellRow>,
}

impl GateRow {
    /// No wait so far. Rows are many, and an `Option` would be as large as another column.
    pub const NO_WAIT: Span = Span::MAX;

    /// The row of a gate to which nothing has come.
    pub(super) const EMPTY: GateRow = GateRow {
        at: Time::ZERO,
        queue_packets: 0,
        queue_bytes: 0,
        rate_bps: f64::NAN,
        delivered_bytes: 0,
        dropped_packets: 0,
        marked_packets: 0,
        wait: GateRow::NO_WAIT,
        tokens: f64::NAN,
        drop_probability: f64::NAN,
        cells: None,
    };
}

/// The cells in a cell gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellRow {
    /// Whole cells from their arrival to the end of their service.
    pub whole: u64,
    /// The content as a fluid, which arrives at the rate of the gate before and leaves at the rate of this gate.
    pub fluid: f64,
}
