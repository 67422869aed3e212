//! What holds of the whole plan: packets against gates, marks against what sets them, cells against paths, memory against its limit.

pub(crate) mod cell_order;
pub(crate) mod cells;
pub(crate) mod circuits;
pub(crate) mod marks;
pub(crate) mod memory;
pub(crate) mod packets;
