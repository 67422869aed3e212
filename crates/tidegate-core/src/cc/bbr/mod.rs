//! BBR, version 1, as `tcp_bbr.c` of Linux 6.18 has it: it models the path by the highest rate at which data arrived
//! lately and the least round trip, paces at the one and keeps about two of their products in flight.
//!
//! Rates are segments per microsecond times 2²⁴, gains 256ths, instants microseconds or ticks of 4 ms (HZ = 250), as there,
//! so that what is rounded is rounded alike.

mod controller;
mod fast_path;
mod model;
mod phases;
mod policed;
mod state;
mod window;

#[cfg(test)]
mod tests;

pub use state::Bbr;
