//! TCP endpoints.

mod ack;
mod config;
mod endpoint;
mod handshake;
mod outgoing;
mod receiver;
mod recovery;
mod report;
mod rtt;
mod sack;
mod scoreboard;
mod segment;
mod sender;
mod seq;
mod timestamp;

#[cfg(test)]
pub(crate) mod tests;

#[cfg(test)]
pub(crate) use tests::plain_plan;

pub use endpoint::{Endpoint, Role, State};
pub use outgoing::Outgoing;
pub use report::{Counters, Phase, Snapshot};
pub use segment::{Segment, flags};
