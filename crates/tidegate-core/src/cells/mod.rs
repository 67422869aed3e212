//! ATM: packets as trains of 53-byte cells.
//!
//! Consecutive gates with AAL5 framing form a **section**: a packet is segmented where its
//! route enters one and reassembled where it leaves. Inside, a `Train` stands for
//! equally spaced cells of one packet; a gate may split it and thin it. Cells are merged one
//! by one only where trains overlap. `cells = "one-by-one"` takes every cell for itself, with
//! every event it takes it through [`crate::gate::Gate::pass`]; the results are equal (`tests`).
//!
//! A section's gates are known ahead: what a cell meets depends on cells that came before
//! it. So each gate is brought forward in time as a whole ([`section::Section::advance`]),
//! upstream gates first, and events exist for packets alone.

mod paced;
mod section;
mod slotted;
mod standing;
mod train;

pub use section::{CellCounts, CrossingPlan, Options, Output, Passing, Section};

#[cfg(test)]
mod tests;
