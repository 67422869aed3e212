//! The simulator: TCP endpoints and a network of gates in virtual time.
//!
//! [`run`] takes a [`Plan`] and returns a [`RunResult`]: the summary and the columns that
//! were asked for. Deterministic: the same plan gives the same bytes. What it does not do:
//! read files (the scenario crate does), write them (Python does; [`pcap`] writes into any
//! `Write`), or know what time it is.

mod calls;
mod cells;
mod flow;
pub mod pcap;
mod request_summary;
mod requests;
mod result;
mod segments;
mod simulation;
mod summary;

pub use calls::{CallSummary, CallsSummary, CircuitSummary, PoolSummary};
pub use cells::CellSummary;
pub use result::{Column, FlowRow, Mark, MarkKind, PacketRecord, RunResult, Side, Table};
pub use simulation::{RunError, run};
pub use summary::{AllocationSummary, FlowSummary, GateSummary, Summary, TrafficSummary};

pub use tidegate_core::plan::Plan;
