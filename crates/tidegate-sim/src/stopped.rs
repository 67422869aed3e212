//! Why a run has no result, or ends before its duration.

use tidegate_core::plan::Plan;
use tidegate_core::units::Time;

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The caller said stop.
    Interrupted,
    /// The plan asks for something that this engine or this program does not have.
    NotHere(String),
    /// A limit of the plan was reached in a run that is steered.
    Limit(String),
    /// What is recorded of a run until all is done does not fit into the limit of memory.
    Recording(String),
    /// A transport of another's did what no run can go on with: it panicked, never slept or sent without end.
    Host(String),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Interrupted => f.write_str("the run was interrupted"),
            RunError::NotHere(what)
            | RunError::Limit(what)
            | RunError::Recording(what)
            | RunError::Host(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for RunError {}

/// Why a run ended before its duration.
pub(crate) enum Limit {
    Events(u64),
    Memory(u64),
}

impl Limit {
    /// What the summary says of it.
    pub(crate) fn words(&self, plan: &Plan, at: Time) -> String {
        let reached = match self {
            Limit::Events(1) => "1 event".to_owned(),
            Limit::Events(events) => format!("{events} events"),
            Limit::Memory(bytes) => format!("{bytes} bytes of memory"),
        };
        let counts = if plan.warmup < at {
            "the summary covers the time up to there"
        } else if plan.warmup == Time::ZERO {
            "no time had passed, so nothing was measured"
        } else {
            "the warm-up had not ended, so the summary covers the time from the start to there"
        };
        format!("stopped at {at} of {}: the limit of {reached} was reached; {counts}", plan.duration)
    }
}
