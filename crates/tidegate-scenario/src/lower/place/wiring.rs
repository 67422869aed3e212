//! Servers by the gate, the copy and the direction that they are.

use std::collections::BTreeMap;

use crate::lower::draft::Hop;

/// (gate as written, copy for this user and instance, other direction)
pub(crate) type Server = (usize, Option<(usize, usize)>, bool);

/// Where each server stands in the plan.
pub(crate) type Wiring = BTreeMap<Server, usize>;

/// The server that a copy of a user passes.
pub(crate) fn server(wiring: &Wiring, user: usize, copy: usize, hop: &Hop<'_>) -> Option<usize> {
    let own = wiring.get(&(hop.gate, Some((user, copy)), hop.reverse));
    own.or_else(|| wiring.get(&(hop.gate, None, hop.reverse))).copied()
}
