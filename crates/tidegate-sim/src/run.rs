//! A whole run: what can be run at all, and where its limits end it.

use tidegate_core::cc::can_make;
use tidegate_core::plan::{CongestionPlan, Limits, Plan};
use tidegate_core::units::Time;
use tidegate_result::RunResult;

use crate::simulation::Simulation;
use crate::stopped::{Limit, RunError};

/// Runs a plan to its end. `go_on` is asked now and then (every few milliseconds of work),
/// with the simulated time reached; when it says no the run ends without a result.
///
/// A run that reaches one of the plan's limits is run again up to that instant, because
/// run-ahead has counted further: its numbers are those of a run of that length.
///
/// # Errors
/// [`RunError::Interrupted`] when `go_on` says no, [`RunError::OnlyLive`] for a congestion
/// control of the kernel's.
pub fn run(plan: &Plan, go_on: &mut dyn FnMut(Time) -> bool) -> Result<RunResult, RunError> {
    only_known_controllers(plan)?;
    let (limit, at) = match drive(plan, go_on)? {
        Ended::Whole(result) => return Ok(*result),
        Ended::Stopped { limit, at } => (limit, at),
    };
    let shorter = Plan {
        duration: at,
        warmup: if plan.warmup < at { plan.warmup } else { Time::ZERO },
        limits: Limits::default(),
        ..plan.clone()
    };
    let Ended::Whole(mut result) = drive(&shorter, go_on)? else {
        unreachable!("a run without limits is not stopped");
    };
    result.summary.warnings.push(limit.words(plan, at));
    Ok(*result)
}

/// Refuses what only the kernel has, and classes in Python where there is no Python.
///
/// # Errors
/// [`RunError::OnlyLive`] with the flow and the controllers that the simulator has.
pub fn only_known_controllers(plan: &Plan) -> Result<(), RunError> {
    for flow in &plan.flows {
        if let CongestionPlan::Python(own) = flow.tcp.cc
            && !can_make()
        {
            return Err(RunError::OnlyLive(format!(
                "flow.{}.tcp.cc: read \"{}\", and this program has no Python",
                flow.name, own.name
            )));
        }
        if let CongestionPlan::Kernel(name) = flow.tcp.cc {
            let known: Vec<&str> = CongestionPlan::simulated().collect();
            let (last, others) = known.split_last().expect("there are some");
            return Err(RunError::OnlyLive(format!(
                "flow.{}.tcp.cc: read \"{name}\", which is the Linux kernel's; the engine \"sim\" has {} and {last}; \
                 use one of them or the engine \"live\"",
                flow.name,
                others.join(", ")
            )));
        }
    }
    Ok(())
}

/// How a run ended.
enum Ended {
    Whole(Box<RunResult>),
    Stopped { limit: Limit, at: Time },
}

fn drive(plan: &Plan, go_on: &mut dyn FnMut(Time) -> bool) -> Result<Ended, RunError> {
    let mut simulation = Simulation::new(plan);
    simulation.start();
    Ok(match simulation.drive(plan.duration, go_on)? {
        Some(limit) => Ended::Stopped { limit, at: simulation.reached() },
        None => Ended::Whole(Box::new(simulation.finish(plan))),
    })
}
