//! What a run gives, whichever engine ran it: the summary, the columns and the capture; and the key under
//! which a result is kept.
//!
//! The simulator and the live engine never see each other; what they have to say in the same
//! words is here. Everything about gates and background traffic is read off the core's
//! [`Network`](tidegate_core::net::Network), which is the same in both; of flows each engine
//! fills in the rows itself. What it does not do: run anything, read or write files (the
//! capture goes into any `Write`).

mod calls;
mod cells;
pub mod columns;
mod interval;
mod key;
mod laws;
mod losses;
pub mod pcap;
mod request_summary;
mod result;
mod rows;
mod summary;
mod video_summary;

pub use calls::{CallSummary, CallsSummary, CircuitSummary, PoolSummary};
pub use cells::CellSummary;
pub use interval::student_t;
pub use key::digest;
pub use laws::{GateLaw, LimitOfQueue, laws, queue_limit};
pub use losses::{LossSummary, PoliceSummary};
pub use request_summary::RequestSummary;
pub use result::{RunResult, Table, class_histories, flow_and_gate_tables, slot_bps};
pub use rows::{AdviceRow, Column, FlowRow, GroupRow, Mark, MarkKind, PacketRecord, Side};
pub use summary::{
    AllocationSummary, ClassSummary, FeedbackSummary, FirstData, FlowGroupSummary, FlowMeasure, FlowSummary,
    FlowTimes, GateSummary, MediaSummary, Summary, TrafficGroupSummary, TrafficSummary, TransitSummary,
    WaitingSummary, not_done, summarise,
};
pub use video_summary::{VideoSummary, segments};
