//! Reads captures: pcap and pcapng, plain or compressed, into the packets of each TCP connection.
//!
//! A capture is read once, from its beginning to its end. What is kept of a packet is its headers, packed
//! to about ten bytes (`log.rs`); a column of numbers is unpacked when it is asked for. Checksums are not
//! looked at: where the network card computes them, a capture on the sender shows wrong ones.
//!
//! What cannot be used is counted and said in words ([`Capture::notes`]).

mod blocks;
pub mod bucket;
mod capture;
mod clock;
mod columns;
mod connection;
pub mod decisions;
mod error;
mod first;
mod frame;
mod kind;
mod left;
mod legacy;
mod link;
mod log;
mod options;
mod packet;
mod sequence;
mod source;
mod table;
mod traffic;
mod tunnel;
mod varint;
pub mod waits;

pub use capture::{Capture, MOST_CONNECTIONS, Watch, read, read_bytes, read_first};
pub use columns::{Column, Field};
pub use connection::{Connection, Host, Side};
pub use error::CaptureError;
pub use first::First;
pub use traffic::Traffic;
