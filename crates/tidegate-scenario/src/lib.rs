//! placeholder
pub mod trace;
