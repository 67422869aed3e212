//! TCP endpoints.

mod accecn;
mod accounted;
mod accounts;
mod ack;
mod ack_timeout;
mod again;
mod buffer;
mod closed;
mod compression;
mod config;
mod controller_ack;
mod departure;
mod dsack;
mod ecn;
mod ecn_handshake;
mod endpoint;
mod frto;
mod handshake;
mod header;
mod leaving;
mod marks;
mod needless;
mod next_ack;
mod outgoing;
mod outstanding;
mod pacer;
mod packets;
mod persist;
mod probe;
mod prr;
mod rack;
mod rate;
mod reader;
mod receiver;
mod recovery;
mod repair;
mod report;
mod rtt;
mod sack;
mod scoreboard;
mod segment;
mod sender;
mod seq;
mod timers;
mod timestamp;
mod undo;
mod widening;
mod window_alone;
mod window_use;

#[cfg(test)]
pub(crate) mod tests;

#[cfg(test)]
pub(crate) use tests::plain_plan;

pub use accecn::AccEcn;
pub use buffer::MOST_QUICK;
pub use endpoint::{Endpoint, Role, Row, State};
pub use header::Header;
pub use outgoing::Outgoing;
pub use outstanding::Outstanding;
pub use rate::{Sampler, With as SentWith};
pub use report::{CaState, Counters, Phase, Shown, Snapshot};
pub use segment::{MOST_BLOCKS, Segment, flags};
