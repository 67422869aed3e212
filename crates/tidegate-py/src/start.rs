//! Starting a run, and asking Python while it goes on.

use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;

use pyo3::prelude::*;
use pyo3::types::PyBool;
use tidegate_core::plan::{Plan, TransportPlan};
use tidegate_core::units::{Span, Time};
use tidegate_quic::Logs;
use tidegate_result::pcap;

use crate::captured::Captured;
use crate::control;
use crate::error::{self, ArgumentError, named};
use crate::guard::patiently_asking;
use crate::live::Progress;
use crate::run::{RunData, tables_as_bytes};

/// A simulated run. At most so many threads work on it; `None`: one for each processor. `pcap` names the captures at the two ends,
/// `qlog` the folder for logs of QUIC;
/// `tick` is called with the share that is done and says whether to go on.
pub(crate) fn sim(
    py: Python<'_>,
    plan: Plan,
    threads: Option<usize>,
    (pcap, qlog): (Option<(String, String)>, Option<String>),
    tick: Option<Py<PyAny>>,
) -> PyResult<RunData> {
    if qlog.is_some() && plan.flows.iter().all(|flow| flow.transport == TransportPlan::Tcp) {
        let message = "qlog: no flow has transport = \"quic\", so there is nothing to log";
        return Err(ArgumentError::new_err(message));
    }
    let reached = Arc::new(AtomicU64::new(0));
    let whole = plan.duration.picos() as f64;
    let told = Arc::clone(&reached);
    let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get));
    let ask = |inside: Python<'_>| ticked(inside, tick.as_ref(), told.load(Ordering::Relaxed) as f64 / whole);
    patiently_asking(py, ask, move |wanted| {
        let mut go_on = |now: Time| {
            reached.store(now.picos(), Ordering::Relaxed);
            wanted.get() && !control::failed()
        };
        let captures = pcap.is_some();
        let mut watch = Captured::new(&plan, pcap, &mut go_on);
        let logs = qlog.map(|folder| Logs::new(Path::new(&folder)));
        let mut hosts = tidegate_quic::hosts(&plan, logs.as_ref());
        let mut run = || tidegate_sim::run_watched(&plan, threads, &mut hosts, &mut watch);
        let result = control::run(&plan, || run().map_err(|stopped| error::stopped(&stopped)));
        // A file that cannot be written stops the run, and is the reason to name.
        watch.finish(result.is_ok()).map_err(|(error, path)| named(error, &path))?;
        if let (Ok(_), Some((error, path))) = (&result, logs.as_ref().and_then(Logs::take_failure)) {
            return Err(named(error, &path.to_string_lossy()));
        }
        let warnings = captures.then(|| pcap::misfit(&plan)).flatten();
        RunData::new(&plan, result?, warnings.into_iter().collect())
    })?
}

/// Rows of a live run are handed to Python so often.
const PROGRESS_EVERY: Span = Span::from_millis(100);

/// Asks Python during a live run whether to go on, and keeps what it raises until the run has ended.
pub(crate) struct Asking<'a> {
    plan: &'a Plan,
    tick: Option<&'a Py<PyAny>>,
    telling: Option<(&'a Py<PyAny>, Progress, Time)>,
    raised: Option<PyErr>,
}

impl<'a> Asking<'a> {
    /// `tick` is called with the share that is done and says whether to go on.
    pub(crate) fn new(plan: &'a Plan, tick: Option<&'a Py<PyAny>>) -> Asking<'a> {
        Asking { plan, tick, telling: None, raised: None }
    }

    /// With whom to tell the progress meanwhile.
    pub(crate) fn telling(self, telling: Option<(&'a Py<PyAny>, Progress)>) -> Asking<'a> {
        Asking { telling: telling.map(|(heard, progress)| (heard, progress, Time::ZERO)), ..self }
    }

    /// Whether the run goes on after `now`.
    pub(crate) fn go_on(&mut self, now: Time) -> bool {
        let asked = ask(self.plan, now, self.tick).and_then(|wanted| self.tell(now).map(|()| wanted));
        asked.unwrap_or_else(|error| {
            self.raised = Some(error);
            false
        })
    }

    /// Tells whoever listens what came since the last time, now and then.
    fn tell(&mut self, now: Time) -> PyResult<()> {
        let Some((heard, progress, next)) = &mut self.telling else { return Ok(()) };
        if now < *next {
            return Ok(());
        }
        *next = now.saturating_add(PROGRESS_EVERY);
        let share = now.as_secs_f64() / self.plan.duration.as_secs_f64();
        let tables = progress.take();
        Python::attach(|py| heard.bind(py).call1((share, tables_as_bytes(py, &tables)?)).map(drop))
    }

    /// What came of the run, or what Python raised meanwhile.
    pub(crate) fn settle<T>(self, done: PyResult<T>) -> PyResult<T> {
        self.raised.map_or(done, Err)
    }
}

/// What the caller's `tick` says when `share` of the run is done; without one the run goes on.
fn ticked(py: Python<'_>, tick: Option<&Py<PyAny>>, share: f64) -> PyResult<bool> {
    let Some(tick) = tick else { return Ok(true) };
    Ok(tick.bind(py).call1((share,))?.cast::<PyBool>()?.is_true())
}

/// Whether to go on: Ctrl-C was not pressed and the caller has not had enough.
fn ask(plan: &Plan, now: Time, tick: Option<&Py<PyAny>>) -> PyResult<bool> {
    Python::attach(|py| {
        py.check_signals()?;
        ticked(py, tick, now.as_secs_f64() / plan.duration.as_secs_f64())
    })
}
