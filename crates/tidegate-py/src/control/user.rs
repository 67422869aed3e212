//! A user's controller as the endpoint sees it: each fact is a call of the class.

use pyo3::intern;
use pyo3::prelude::*;
use tidegate_core::cc::{Ack as AckFact, CongestionControl as Told, ControllerSnapshot, LossKind, Lost};
use tidegate_core::plan::LARGEST_WINDOW;
use tidegate_core::units::Rate;

use super::failure::note;
use super::{Ack, CongestionControl, Loss};
use crate::error::ControllerError;

/// A controller in Python, and what it said last.
#[derive(Debug)]
pub(super) struct InPython {
    object: Py<CongestionControl>,
    /// As the scenario names it.
    name: String,
    window: u64,
    pacing: Option<Rate>,
    ssthresh: Option<u64>,
    mss: u32,
    failed: bool,
}

impl InPython {
    /// What an object of the class says at the start.
    pub(super) fn new(object: &Bound<'_, CongestionControl>, name: &str, mss: u32) -> PyResult<InPython> {
        let mut controller = InPython {
            object: object.clone().unbind(),
            name: name.to_owned(),
            window: 0,
            pacing: None,
            ssthresh: None,
            mss,
            failed: false,
        };
        controller.read(&object.borrow())?;
        Ok(controller)
    }

    /// Calls the user's code and reads what it answers; after a mistake nothing is called any more.
    fn call(&mut self, work: impl FnOnce(Python<'_>, &Bound<'_, CongestionControl>) -> PyResult<()>) {
        if self.failed {
            return;
        }
        let told = Python::attach(|py| {
            let object = self.object.bind(py);
            work(py, object)?;
            self.read(&object.borrow())
        });
        if let Err(raised) = told {
            self.failed = true;
            Python::attach(|py| note(py, &self.name, raised));
        }
    }

    fn read(&mut self, said: &CongestionControl) -> PyResult<()> {
        let wrong = |what: &str, value: f64, help: &str| {
            ControllerError::new_err(format!("{}: {what}: read {value}; {help}", self.name))
        };
        if said.window_bytes.is_nan() || said.window_bytes < 0.0 {
            return Err(wrong("window_bytes", said.window_bytes, "set a number of bytes, 0 or more"));
        }
        if let Some(bytes) = said.ssthresh_bytes.filter(|bytes| bytes.is_nan() || *bytes < 0.0) {
            return Err(wrong("ssthresh_bytes", bytes, "set a number of bytes, 0 or more, or None"));
        }
        let pacing = match said.pacing_bps {
            Some(bps) if bps.is_nan() || bps < 1.0 => {
                return Err(wrong("pacing_bps", bps, "set 1 bit/s or more, or None"));
            }
            Some(bps) => Some(Rate::from_bps(bps as u64)),
            None => None,
        };
        self.window = (said.window_bytes.min(LARGEST_WINDOW as f64) as u64).max(u64::from(self.mss));
        self.pacing = pacing;
        self.ssthresh = said.ssthresh_bytes.map(|bytes| bytes as u64);
        Ok(())
    }
}

impl Told for InPython {
    fn handle_ack(&mut self, ack: &AckFact) {
        let fact = *ack;
        self.call(|py, object| object.call_method1(intern!(py, "on_ack"), (Ack(fact),)).map(drop));
    }

    fn handle_lost(&mut self, lost: &Lost) {
        let fact = *lost;
        self.call(|py, object| {
            let hook = match fact.kind {
                LossKind::Timeout { .. } => intern!(py, "on_timeout"),
                LossKind::DupAck | LossKind::Ecn => intern!(py, "on_loss"),
            };
            object.call_method1(hook, (Loss(fact),)).map(drop)
        });
    }

    fn handle_restart(&mut self, window: u64) {
        self.call(|py, object| object.call_method1(intern!(py, "on_restart"), (window,)).map(drop));
    }

    fn hears_acks(&self) -> bool {
        true
    }

    fn governs_repair(&self) -> bool {
        true
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing
    }

    fn snapshot(&self) -> ControllerSnapshot {
        let slow_start = self.ssthresh.is_some_and(|threshold| self.window < threshold);
        ControllerSnapshot { window: self.window as f64, ssthresh: self.ssthresh, slow_start }
    }
}
