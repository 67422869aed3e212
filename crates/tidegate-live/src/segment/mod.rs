//! What a TCP segment says of itself, for all who look at packets under way: the engine while it
//! passes them on, and whoever reads them when the run is over.

mod ecn;
mod header;
mod places;
mod sack;

pub(crate) use ecn::{codepoint, ecn, mark, set_codepoint};
pub(crate) use header::ENOUGH;
pub use header::Header;
pub(crate) use places::Places;
pub(crate) use sack::sack_blocks;
