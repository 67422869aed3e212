//! BBR, version 3 (draft-ietf-ccwg-bbr): bounds on what may be in flight, learnt from losses, beside the rate of the path
//! and the least round trip.
//!
//! Volumes are bytes, rates bytes a second, instants microseconds, gains hundredths.

mod bounds;
mod controller;
mod model;
mod phases;
mod state;
mod window;

#[cfg(test)]
mod tests;

pub use state::Bbr3;
