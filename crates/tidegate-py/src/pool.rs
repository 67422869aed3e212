//! Many runs on all cores, with the GIL released.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use tidegate_core::plan::Plan;
use tidegate_core::units::Time;
use tidegate_sim::pool::Pool as Threads;

use crate::control;
use crate::error::{ArgumentError, InternalError};
use crate::guard::{caught, guarded};
use crate::run::RunData;
use crate::scenario::Scenario;

type Outcome = Result<PyResult<RunData>, String>;
/// Plans are made by the threads: the caller has only one.
type Planner = Box<dyn FnOnce() -> Plan + Send>;

/// Threads that run plans.
#[pyclass(frozen, module = "tidegate._core")]
pub(crate) struct Pool {
    threads: Mutex<Threads<Planner, Outcome>>,
}

impl Pool {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Threads<Planner, Outcome>) -> T + Send,
    ) -> PyResult<T> {
        guarded(py, || work(&mut self.threads.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl Pool {
    #[new]
    fn new(workers: usize) -> PyResult<Pool> {
        let work = |planner: Planner, tell: &mut dyn FnMut(f64) -> bool| {
            caught(|| {
                let plan = planner();
                let whole = plan.duration.as_secs_f64();
                let mut go_on = |now: Time| tell(now.as_secs_f64() / whole) && !control::failed();
                let mut run =
                    || tidegate_sim::run_hosted(&plan, &mut tidegate_quic::hosts(&plan, None), &mut go_on);
                let result =
                    control::run(&plan, || run().map_err(|stopped| crate::error::stopped(&stopped)))?;
                let data = RunData::new(&plan, result, Vec::new())?;
                data.pack();
                Ok(data)
            })
        };
        Ok(Pool { threads: Mutex::new(Threads::new(workers, Arc::new(work))?) })
    }

    /// Queues a run; its result comes back with `number`.
    #[pyo3(signature = (number, scenario, *, seed, replication = 0, record = None))]
    fn submit(
        &self,
        py: Python<'_>,
        number: u64,
        scenario: &Scenario,
        seed: u64,
        replication: u64,
        record: Option<&str>,
    ) -> PyResult<()> {
        let planner = scenario.planner(seed, replication, record)?;
        self.with(py, |threads| threads.submit(number, planner))
    }

    /// The next finished run with its number, in the order of finishing; None after
    /// `patience_s` without one.
    fn collect(&self, py: Python<'_>, patience_s: f64) -> PyResult<Option<(u64, RunData)>> {
        let patience = Duration::try_from_secs_f64(patience_s)
            .map_err(|wrong| ArgumentError::new_err(format!("patience_s: {wrong}")))?;
        match self.with(py, |threads| threads.collect(patience))? {
            None => Ok(None),
            Some((number, Ok(run))) => Ok(Some((number, run?))),
            Some((_, Err(panic))) => Err(InternalError::new_err(panic)),
        }
    }

    /// How many runs' worth of work the running ones have done.
    fn running(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |threads| threads.running())
    }

    /// Ends the running runs within a moment and forgets the waiting ones.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Threads::stop)
    }
}

/// The value that a Student t variable stays below with a probability; None where there is none.
#[pyfunction]
pub(crate) fn student_t(share: f64, freedom: u64) -> Option<f64> {
    tidegate_result::student_t(share, freedom)
}
