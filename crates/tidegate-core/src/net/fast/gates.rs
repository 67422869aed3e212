//! Gates by number: all of a network, or those that a cohort of flows has alone.

use crate::gate::Gate;

/// See the module.
pub(in crate::net) trait Gates {
    /// The gate of a number.
    fn at(&mut self, number: u32) -> &mut Gate;
}

impl Gates for [Gate] {
    #[inline(always)]
    fn at(&mut self, number: u32) -> &mut Gate {
        &mut self[number as usize]
    }
}
