//! A run that stops at instants, to be asked and steered. Times cross as picoseconds.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tidegate_core::plan::{Plan, TransportPlan};
use tidegate_core::units::{Rate, Time};
use tidegate_sim::{RunError, Stepper as Run};

use crate::control;
use crate::error::{self, ArgumentError};
use crate::guard::guarded;
use crate::run::RunData;
use crate::scenario::Scenario;
use crate::start::Asking;

/// A run of which one flow is steered.
#[pyclass(frozen, module = "tidegate._core")]
pub(crate) struct Stepper {
    run: Mutex<Option<Run>>,
    plan: Plan,
    flow: usize,
}

impl Stepper {
    /// Does `work` without the GIL on a run that goes on.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Run) -> T + Send) -> PyResult<T> {
        guarded(py, || {
            let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
            run.as_mut().map(work)
        })?
        .ok_or_else(over)
    }

    /// Does `work` that may take long: Ctrl-C ends it, and so does a mistake in a user's controller.
    fn patient<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn FnMut(Time) -> bool) -> Result<T, RunError> + Send,
    ) -> PyResult<T> {
        let plan = &self.plan;
        let done = guarded(py, move || {
            let mut asking = Asking::new(plan, None);
            let done = work(&mut |now| !control::failed() && asking.go_on(now));
            asking.settle(done.map_err(|stopped| error::stopped(&stopped)))
        })?;
        control::take_failure().map_or(done, Err)
    }
}

fn over() -> PyErr {
    ArgumentError::new_err("this run is over")
}

#[pymethods]
impl Stepper {
    /// A run at time 0 whose flow `flow` is steered.
    #[new]
    #[pyo3(signature = (scenario, flow, *, seed, replication, record))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        flow: &str,
        seed: u64,
        replication: u64,
        record: Option<&str>,
    ) -> PyResult<Stepper> {
        let plan = scenario.plan(seed, replication, record)?;
        let Some(index) = plan.flows.iter().position(|row| row.name == flow) else {
            let names: Vec<&str> = plan.flows.iter().map(|row| row.name.as_str()).collect();
            let message = format!("flow: there is no flow {flow:?}; one of {}", names.join(", "));
            return Err(ArgumentError::new_err(message));
        };
        if plan.flows[index].transport != TransportPlan::Tcp {
            let message =
                format!("flow: {flow:?} cannot be steered: it is not of TCP; set transport = \"tcp\"");
            return Err(ArgumentError::new_err(message));
        }
        if !plan.flows[index].tcp.sack {
            let message = format!("flow: {flow:?} cannot be steered without SACK; set tcp.sack = true");
            return Err(ArgumentError::new_err(message));
        }
        let run = guarded(py, || Run::new(plan.clone(), &[index], &mut tidegate_quic::hosts(&plan, None)))?;
        let run = run.map_err(|stopped| error::stopped(&stopped))?;
        control::take_failure().map_or(Ok(()), Err)?;
        Ok(Stepper { run: Mutex::new(Some(run)), plan, flow: index })
    }

    /// When the flow opens its connection.
    fn start_ps(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |run| run.start_of(self.flow).picos())
    }

    /// Where the run ends.
    fn until_ps(&self) -> u64 {
        self.plan.duration.picos()
    }

    /// Everything before `to` happens.
    fn advance(&self, py: Python<'_>, to: u64) -> PyResult<()> {
        self.patient(py, |go_on| {
            let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
            run.as_mut().map_or(Ok(()), |run| run.advance(Time::from_picos(to), go_on))
        })
    }

    /// Sets the window and the pace (None: none) from now on.
    fn steer(&self, py: Python<'_>, window_bytes: u64, pacing_bps: Option<u64>) -> PyResult<()> {
        self.with(py, |run| run.steer(self.flow, window_bytes, pacing_bps.map(Rate::from_bps)))
    }

    /// What is known of the flow now; what was heard counts from the call before.
    fn look<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (now, seen) = self.with(py, |run| (run.now(), run.look(self.flow)))?;
        let heard = seen.heard;
        let dict = PyDict::new(py);
        dict.set_item("time_ps", now.picos())?;
        dict.set_item("mss_bytes", self.plan.flows[self.flow].tcp.mss)?;
        dict.set_item("initial_window_bytes", self.plan.flows[self.flow].tcp.initial_window)?;
        dict.set_item("delivered_bytes", heard.delivered_bytes)?;
        dict.set_item("lost_bytes", heard.lost_bytes)?;
        dict.set_item("marked_segments", heard.marked_segments)?;
        dict.set_item("round_trips", heard.round_trips)?;
        dict.set_item("round_trip_sum_ps", heard.round_trip_sum)?;
        dict.set_item("round_trip_least_ps", heard.round_trip_least.map(|least| least.picos()))?;
        dict.set_item("srtt_ps", seen.sender.srtt.map(|srtt| srtt.picos()))?;
        dict.set_item("in_flight_bytes", seen.sender.in_flight)?;
        dict.set_item("window_bytes", seen.sender.cwnd)?;
        dict.set_item("pacing_bps", seen.sender.pacing_rate.map(Rate::bps))?;
        dict.set_item("sent_bytes", seen.counted.bytes_sent)?;
        dict.set_item("sent_segments", seen.counted.segments_sent)?;
        dict.set_item("retransmitted_segments", seen.counted.segments_retransmitted)?;
        dict.set_item("timeouts", seen.counted.timeouts)?;
        dict.set_item("completed", seen.completed.is_some())?;
        Ok(dict)
    }

    /// The rest of the run, and what the whole gives; after that nothing can be asked.
    fn finish(&self, py: Python<'_>) -> PyResult<RunData> {
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(over)?;
        let (plan, result) = self.patient(py, |go_on| run.finish(go_on))?;
        RunData::new(&plan, result, Vec::new())
    }
}
