//! What can be run at all.

use tidegate_core::app::video::can_make as can_choose;
use tidegate_core::cc::can_make;
use tidegate_core::plan::{AppPlan, CongestionPlan, FlowPlan, Plan, TransportPlan};

use crate::host::Ends;
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
        if let Some(own) = flow.own_rule()
            && !can_choose()
        {
            return Err(RunError::NotHere(format!(
                "flow.{}.app.video.rule: read \"{}\", and this program has no Python",
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
/// [`RunError::Host`] for one with requests whose hosts carry no messages, [`RunError::NotHere`] for one that needs hosts and has none.
pub(crate) fn fits(flow: &FlowPlan, hosts: Option<&Ends>) -> Result<(), RunError> {
    let name = &flow.name;
    let has_hosts = hosts.is_some();
    let without_messages = hosts.is_some_and(|ends| !ends.iter().all(|end| end.carries_messages()));
    if without_messages && matches!(flow.app, AppPlan::Request(_)) {
        return Err(RunError::Host(format!(
            "flow.{name}.app: read \"request\", which this transport does not carry; it brings its own application: write \"bulk\""
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
