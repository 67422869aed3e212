//! TCP endpoints.

mod segment;

pub use segment::{HeldBy, Segment, flags};
