//! What holds of the whole plan: packets against gates, cells against paths, memory against its limit.

pub(crate) mod cell_order;
pub(crate) mod cells;
pub(crate) mod circuits;
pub(crate) mod memory;
pub(crate) mod packets;
