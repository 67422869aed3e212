//! Gates, networks and TCP endpoints as pure state machines.
//!
//! Everything between two TCP endpoints is a *gate*: queue, rate law, framing, loss and
//! delay. This crate computes and does nothing else: no clock, no I/O, no threads, no
//! global state; time is an argument of every call. Read [`plan`] first (what there is),
//! then [`gate`] (one server), [`net`] (many), [`tcp`] (the endpoints).

pub mod aal5;
pub mod abr;
pub mod advice;
pub mod app;
pub mod cc;
pub mod cells;
pub mod dtm;
pub mod effcap;
pub mod gate;
pub mod gcra;
#[cfg(test)]
mod golden;
pub mod graph;
pub mod net;
pub mod plan;
pub mod random;
pub mod serial;
mod soonest;
pub mod tcp;
pub mod unit;
pub mod units;
mod work;
