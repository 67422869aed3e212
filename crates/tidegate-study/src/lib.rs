//! What a study needs beside single runs: threads that work through many jobs ([`pool`]),
//! the key by which a run is found again ([`key`]), and the quantile behind an interval
//! ([`interval`]).
//!
//! What it does not do: choose points, keep results, or know what a job is. Python decides
//! which runs there are and in which order they count; nothing here depends on the number of
//! threads.

pub mod interval;
pub mod key;
pub mod pool;
