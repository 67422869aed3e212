//! Which paths pass some servers.

use tidegate_core::plan::Plan;

/// Tells whether a path passes any of these servers.
pub(super) fn passing(plan: &Plan, gates: &[usize]) -> impl Fn(&[usize]) -> bool {
    let mut is_one = vec![false; plan.gates.len()];
    gates.iter().for_each(|gate| is_one[*gate] = true);
    move |path| path.iter().any(|gate| is_one[*gate])
}
