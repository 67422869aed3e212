//! A run in which some flows, or all, are transports of others.

use std::cell::RefCell;

use tidegate_core::plan::{AppPlan, Plan};
use tidegate_core::units::Time;
use tidegate_result::RunResult;

use crate::host::Ends;
use crate::run::{only_known_controllers, run_all};
use crate::stopped::RunError;

/// Runs a plan to its end, as [`crate::run`], with hosts at the ends of the flows for which `hosts` has any: it is asked once for each
/// flow, by its number, whenever the run begins. It begins anew where it ends when all is done, and where it reaches a limit, so the same
/// flow must get hosts that do the same. The other flows are of our TCP.
///
/// What the plan says of such a flow's TCP and application is for who makes its hosts: the network knows its path, its start and, of a
/// finite transfer, the bytes that end it. Sizes in segments are in `tcp.mss`.
///
/// # Errors
/// [`RunError::Host`] where a host panics, never sleeps or sends without end, and where one is to take a flow with requests; else as
/// [`crate::run`].
pub fn run_hosted(
    plan: &Plan,
    hosts: &mut dyn FnMut(usize) -> Option<Ends>,
    go_on: &mut dyn FnMut(Time) -> bool,
) -> Result<RunResult, RunError> {
    only_known_controllers(plan)?;
    let wrong = RefCell::new(None);
    let mut taken = |index: usize| {
        let ends = hosts(index)?;
        let flow = &plan.flows[index];
        if matches!(flow.app, AppPlan::Request(_)) {
            wrong.borrow_mut().get_or_insert_with(|| requests_are_ours(&flow.name));
        }
        Some(ends)
    };
    let mut watch: &mut dyn FnMut(Time) -> bool = &mut |now| wrong.borrow().is_none() && go_on(now);
    let result = run_all(plan, 1, &mut taken, &mut watch);
    wrong.into_inner().map_or(result, |wrong| Err(RunError::Host(wrong)))
}

/// Why a flow cannot have hosts.
pub(crate) fn requests_are_ours(flow: &str) -> String {
    format!(
        "flow.{flow}.app: read \"request\", which only our TCP has; a transport of another's brings its own application: write \"bulk\""
    )
}
