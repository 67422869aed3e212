//! The simulator: TCP endpoints and a network of gates in virtual time.
//!
//! [`run`] takes a [`Plan`] and returns a [`RunResult`]: the summary and the columns that
//! were asked for. Deterministic: the same plan gives the same bytes. A [`pool`] of threads works through
//! many runs at once, and several threads share one run of very many flows ([`run_watched`]); no result depends
//! on the number of threads. [`run_hosted`] runs transports of others, as [`host::Host`], beside our TCP.
//!
//! The simulator does not read files (the scenario crate does), write them (Python does; the capture goes into any
//! `Write`), or read a clock.

mod advised;
mod alarms;
mod arriving;
mod checks;
mod cohort_threads;
mod connection;
mod desk;
mod dialogue;
mod ends;
mod flow;
mod groups;
mod history;
pub mod host;
mod hosted;
mod hosting;
mod in_network;
mod known;
mod limits;
mod meter;
mod observed;
mod outcome;
mod outside;
mod policed;
pub mod pool;
mod receiving;
mod rehearsal;
mod requests;
mod rows;
mod run;
mod segments;
mod sending;
mod simulation;
mod steering;
mod stepper;
mod stopped;
mod watch;
mod wire;

pub use desk::{Happened, Turn};
pub use known::only_known_controllers;
pub use outside::HostedRun;
pub use run::{run, run_hosted, run_watched};
pub use steering::Heard;
pub use stepper::{Seen, Stepper};
pub use stopped::RunError;
pub use watch::Watch;

pub use tidegate_core::plan::Plan;
pub use tidegate_result::{
    AllocationSummary, CallSummary, CallsSummary, CellSummary, CircuitSummary, Column, FlowRow, FlowSummary,
    GateSummary, Mark, MarkKind, PacketRecord, PoolSummary, RequestSummary, RunResult, Side, Summary, Table,
    TrafficSummary, VideoSummary, pcap,
};
