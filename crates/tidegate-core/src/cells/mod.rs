//! ATM: packets as trains of 53-byte cells.
//!
//! Consecutive gates with AAL5 framing form a **section**: a packet is segmented where its
//! route enters one and reassembled where it leaves. Inside, a `Train` stands for
//! equally spaced cells of one packet; a gate may split it and increase its spacing. A server takes it at once where its
//! cells come together, and a slotted multiplexer counts the cells of a block of slots; elsewhere cells pass one by one.
//! `cells = "one-by-one"`, and runs without fast paths, pass each cell through its gate ([`crate::gate::Gate::pass`]); the
//! results are equal (`tests`).
//!
//! What a cell meets at a gate depends only on cells that came before it. So all arrivals at a gate up to an
//! instant are computed at once ([`section::Section::advance`]), upstream gates first, and the event queue has
//! events of packets only.

mod paced;
mod section;
mod slotted;
mod standing;
mod train;

pub use section::{CellCounts, CrossingPlan, Observed, Options, Output, Section};

#[cfg(test)]
mod tests;
