//! QUIC as it is shipped, between gates in virtual time: quinn-proto, unchanged, as a [`Host`](tidegate_sim::host::Host).
//!
//! [`hosts`] makes the ends of a plan's flows whose transport is QUIC; [`tidegate_sim::run_hosted`] runs them. The handshake is of TLS 1.3's
//! sizes and has no secrets, connection IDs are counted, and nothing is drawn from the operating system: the same plan gives the same
//! packets, byte for byte.

mod bbr;
mod clock;
mod configs;
mod connection;
mod control;
mod data;
mod datagrams;
mod end;
mod frames;
mod log;
mod messages;
mod ours;
mod pace;
mod plain;
mod probes;
mod source;
mod watch;
mod work;

pub use configs::{client_config, endpoint_config, server_config};
pub use log::Logs;
use tidegate_core::net::seed;
use tidegate_core::plan::{Plan, TransportPlan};
use tidegate_sim::host::Ends;

/// Makes the ends of the flows of `plan` whose transport is QUIC, by number, anew at each call; `None` for the other flows.
/// Each connection is logged in `logs`, if there are any.
pub fn hosts(plan: &Plan, logs: Option<&Logs>) -> impl FnMut(usize) -> Option<Ends> {
    move |number| {
        let flow = &plan.flows[number];
        let TransportPlan::Quic(quic) = &flow.transport else { return None };
        let stream = |what: &str| seed(plan).stream(&format!("flow.{}/{what}", flow.name));
        Some(end::ends(flow, quic, &stream, logs))
    }
}
