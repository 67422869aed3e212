//! What can be run at all.

use tidegate_core::cc::can_make;
use tidegate_core::plan::{AppPlan, CongestionPlan, FlowPlan, Plan, TransportPlan};

use crate::stopped::RunError;

/// Refuses what only the kernel has, and classes in Python where there is no Python.
///
/// # Errors
/// [`RunError::NotHere`] with the flow and the controllers that the simulator has.
pub fn only_known_controllers(plan: &Plan) -> Result<(), RunError> {
    for flow in &plan.flows {
        if let CongestionPlan::Python(own) = flow.tcp.cc
            && !can_make()
        {
            return Err(RunError::NotHere(format!(
                "flow.{}.tcp.cc: read \"{}\", and this program has no Python",
                flow.name, own.name
            )));
        }
        if let CongestionPlan::Kernel(name) = flow.tcp.cc {
            let known: Vec<&str> = CongestionPlan::simulated().collect();
            let (last, others) = known.split_last().expect("there are some");
            return Err(RunError::NotHere(format!(
                "flow.{}.tcp.cc: read \"{name}\", which is the Linux kernel's; the engine \"sim\" has {} and {last}; \
                 use one of them or the engine \"live\"",
                flow.name,
                others.join(", ")
            )));
        }
    }
    Ok(())
}

/// Whether a flow can be run with hosts, or without.
///
/// # Errors
/// [`RunError::Host`] for one with requests that has hosts, [`RunError::NotHere`] for one that needs hosts and has none.
pub(crate) fn fits(flow: &FlowPlan, has_hosts: bool) -> Result<(), RunError> {
    let name = &flow.name;
    if has_hosts && matches!(flow.app, AppPlan::Request(_)) {
        return Err(RunError::Host(format!(
            "flow.{name}.app: read \"request\", which only our TCP has; a transport of another's brings its own application: write \"bulk\""
        )));
    }
    if !has_hosts && flow.transport != TransportPlan::Tcp {
        return Err(RunError::NotHere(format!(
            "flow.{name}.transport: read {:?}, which this program does not have; write \"tcp\"",
            flow.transport.name()
        )));
    }
    Ok(())
}
