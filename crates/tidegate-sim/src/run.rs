//! A whole run, and where its limits end it.

use tidegate_core::plan::{Limits, Plan, RecordPlan};
use tidegate_core::units::{Span, Time};
use tidegate_result::{RunResult, not_done};

use crate::host::Makes;
use crate::known::only_known_controllers;
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
/// [`RunError::Interrupted`] when `go_on` says no, [`RunError::NotHere`] for a congestion
/// control of the kernel's and for a flow whose transport is not TCP, [`RunError::Recording`] where the rows up to the instant when all is done are too many.
pub fn run(plan: &Plan, go_on: &mut dyn FnMut(Time) -> bool) -> Result<RunResult, RunError> {
    run_hosted(plan, &mut |_| None, go_on)
}

/// [`run`] with hosts at the ends of the flows for which `hosts` has any: it is asked once for each flow, by its number, whenever the
/// run begins. It begins anew where it ends when all is done, and where it reaches a limit, so the same flow must get hosts that do the
/// same. The other flows are of our TCP.
///
/// What the plan says of such a flow's transport and application is for who makes its hosts: the network knows its path, its start and, of
/// a finite transfer, the bytes that end it. Sizes in segments are in `tcp.mss`.
///
/// # Errors
/// [`RunError::Host`] where a host panics, never sleeps or sends without end, and where one is to take a flow with requests; else as
/// [`run`].
pub fn run_hosted(
    plan: &Plan,
    hosts: Makes<'_>,
    mut go_on: &mut dyn FnMut(Time) -> bool,
) -> Result<RunResult, RunError> {
    run_watched(plan, 1, hosts, &mut go_on)
}

/// [`run_hosted`] for a caller that takes the captured packets while the run goes on; what it takes is not in the result.
/// Not more than so many threads work on the run; the result does not depend on that. More than one help where there are thousands of flows.
///
/// # Errors
/// As [`run_hosted`].
pub fn run_watched(
    plan: &Plan,
    threads: usize,
    hosts: Makes<'_>,
    watch: &mut dyn Watch,
) -> Result<RunResult, RunError> {
    only_known_controllers(plan)?;
    run_all(plan, threads, hosts, watch)
}

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
    let mut simulation = Simulation::with_hosts(&unrecorded, threads, hosts)?;
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

/// How a run ended.
enum Ended {
    Whole(Box<RunResult>),
    Stopped { limit: Limit, at: Time },
}

fn drive(plan: &Plan, threads: usize, hosts: Makes<'_>, watch: &mut dyn Watch) -> Result<Ended, RunError> {
    let mut simulation = Simulation::with_hosts(plan, threads, hosts)?;
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
