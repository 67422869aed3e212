//! The copies that a gate as written becomes in a plan.

use tidegate_core::plan::{GatePlan, Plan};

/// The servers that a gate as written has become, with their numbers: copies, and the other direction.
pub(crate) fn servers<'a>(gate: &'a str, plan: &'a Plan) -> impl Iterator<Item = (usize, &'a GatePlan)> {
    plan.gates.iter().enumerate().filter(move |(_, server)| server.name.split('/').next() == Some(gate))
}
