//! Controllers and rules of players written in Python: their base class, what they are told, and what becomes of their mistakes.

mod class;
mod facts;
mod failure;
mod maker;
mod rule;
mod user;

use pyo3::prelude::*;
use tidegate_core::plan::{FlowPlan, Plan};
use tidegate_result::RunResult;

pub(crate) use class::CongestionControl;
pub(crate) use facts::{Ack, Loss};
pub(crate) use failure::{failed, take_failure};
pub(crate) use maker::make;
pub(crate) use rule::{VideoChoice, VideoRule, make_rule};

/// Does a run; where a user's code takes part, with Python's lock held, because to take it for each ACK would be most of
/// the work. That code itself lets others have it now and then. What it raised is the result.
pub(crate) fn run(plan: &Plan, work: impl FnOnce() -> PyResult<RunResult>) -> PyResult<RunResult> {
    let users = plan.flows.iter().any(FlowPlan::has_own_code);
    let done = if users { Python::attach(|_| work()) } else { work() };
    take_failure().map_or(done, Err)
}
