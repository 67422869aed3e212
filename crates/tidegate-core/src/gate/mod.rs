//! A gate: queue, rate law, framing, loss and delay. One server, first in, first out.

pub mod rate;
pub mod serve;
