//! `[limits]`: the events and the memory that a run may take.

use tidegate_core::plan::Limits;

use crate::check::Form;

/// The default of `limits.memory`; the table of keys gives the same.
pub(crate) const MOST_MEMORY: u64 = 2_000_000_000;

pub(crate) fn limits(root: &Form) -> Limits {
    let limits = root.table("limits");
    Limits {
        events: limits.and_then(|limits| limits.whole("events")),
        memory_bytes: limits.and_then(|limits| limits.bytes("memory")).or(Some(MOST_MEMORY)),
    }
}
