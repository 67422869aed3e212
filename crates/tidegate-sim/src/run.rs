//! A whole run: what can be run at all, and where its limits end it.

use tidegate_core::cc::can_make;
use tidegate_core::plan::{CongestionPlan, Limits, Plan, RecordPlan};
use tidegate_core::units::{Span, Time};
use tidegate_result::{RunResult, not_done};

use crate::host::Ends;
use crate::simulation::{Simulation, ending};
use crate::stopped::{Limit, RunError};
use crate::watch::Watch;

/// Runs a plan to its end. A run until all is done (`Plan::until_done`) is run once without records, which tells when
/// that is, then up to that instant: its numbers are those of a run of that length. `go_on` is asked now and then (every
/// few milliseconds of work), with the simulated time reached; when it says no the run ends without a result.
///
/// A run that reaches one of the plan's limits is run again up to that instant, because
/// run-ahead has counted further: its numbers are those of a run of that length.
///
/// # Errors
/// [`RunError::Interrupted`] when `go_on` says no, [`RunError::OnlyLive`] for a congestion
/// control of the kernel's, [`RunError::Recording`] where the rows up to the instant when all is done are too many.
pub fn run(plan: &Plan, mut go_on: &mut dyn FnMut(Time) -> bool) -> Result<RunResult, RunError> {
    run_watched(plan, 1, &mut go_on)
}

/// [`run`] for a caller that takes the captured packets while the run goes on; what it takes is not in the result.
/// Not more than so many threads work on the run; the result does not depend on that. More than one help where there are thousands of flows.
///
/// # Errors
/// As [`run`].
pub fn run_watched(plan: &Plan, threads: usize, watch: &mut dyn Watch) -> Result<RunResult, RunError> {
    only_known_controllers(plan)?;
    run_all(plan, threads, &mut |_| None, watch)
}

/// Who makes the hosts of flows, by number, anew whenever the run begins.
pub(crate) type Makes<'a> = &'a mut dyn FnMut(usize) -> Option<Ends>;

/// [`run_watched`] of a plan that is known to be good.
pub(crate) fn run_all(
    plan: &Plan,
    threads: usize,
    hosts: Makes<'_>,
    watch: &mut dyn Watch,
) -> Result<RunResult, RunError> {
    if plan.until_done {
        return until_done(plan, threads, hosts, watch);
    }
    let (limit, at) = match drive(plan, threads, hosts, watch)? {
        Ended::Whole(result) => return Ok(*result),
        Ended::Stopped { limit, at } => (limit, at),
    };
    let shorter = Plan {
        duration: at,
        warmup: if plan.warmup < at { plan.warmup } else { Time::ZERO },
        limits: Limits::default(),
        ..plan.clone()
    };
    let Ended::Whole(mut result) = drive(&shorter, threads, hosts, watch)? else {
        unreachable!("a run without limits is not stopped");
    };
    result.summary.warnings.push(limit.words(plan, at));
    Ok(*result)
}

/// A run that ends when every finite transfer and every request workload with a count is done.
fn until_done(
    plan: &Plan,
    threads: usize,
    hosts: Makes<'_>,
    watch: &mut dyn Watch,
) -> Result<RunResult, RunError> {
    let known = Plan { until_done: false, ..plan.clone() };
    let unrecorded = Plan { record: RecordPlan::default(), ..plan.clone() };
    let mut simulation = Simulation::with_hosts(&unrecorded, threads, hosts);
    simulation.start();
    let limit = simulation.drive(plan.duration, watch)?;
    match simulation.done_at().filter(|at| limit.is_none() && *at < plan.duration) {
        Some(at) => {
            let known = Plan { duration: at.saturating_add(Span::from_picos(1)), ..known };
            recorded(&known, threads, hosts, watch)
        }
        // Memory and events are limits of the whole, records included.
        None if limit.is_some() => run_all(&known, threads, hosts, watch),
        None => {
            let mut result = recorded(&known, threads, hosts, watch)?;
            let open = ending(plan).filter(|flow| simulation.flows[*flow].done_at().is_none()).count();
            result.summary.warnings.push(not_done(plan, open));
            Ok(result)
        }
    }
}

/// A run until all is done, whose end is known now, so that its rows can be counted.
fn recorded(
    plan: &Plan,
    threads: usize,
    hosts: Makes<'_>,
    watch: &mut dyn Watch,
) -> Result<RunResult, RunError> {
    plan.recording_fits().map_err(RunError::Recording)?;
    run_all(plan, threads, hosts, watch)
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

fn drive(plan: &Plan, threads: usize, hosts: Makes<'_>, watch: &mut dyn Watch) -> Result<Ended, RunError> {
    let mut simulation = Simulation::with_hosts(plan, threads, hosts);
    watch.begin();
    simulation.start();
    Ok(match simulation.drive(plan.duration, watch)? {
        Some(limit) => Ended::Stopped { limit, at: simulation.reached() },
        None => {
            let mut result = simulation.finish(plan);
            watch.packets(&mut result.packets);
            Ended::Whole(Box::new(result))
        }
    })
}
