//! QUIC as it is shipped, between gates in virtual time: quinn-proto, unchanged, as a [`Host`](tidegate_sim::host::Host).
//!
//! [`ends`] makes the two ends of a flow; [`tidegate_sim::run_hosted`] runs them. The handshake is of TLS 1.3's sizes and has no secrets,
//! connection IDs are counted, and nothing is drawn from the operating system: the same settings give the same packets, byte for byte.
//!
//! quinn's BBR is not here yet: it draws its first phase from the operating system, and has no setting for that.

mod end;
mod plain;
mod watch;

pub use end::{Controller, Settings, ends};
