//! Controllers written in Python: their base class, what they are told, and what becomes of their mistakes.

use std::cell::RefCell;
use std::ffi::CString;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;
use tidegate_core::cc::{
    Ack as AckFact, Acked, CongestionControl as Told, ControllerSnapshot, Fixed, LossKind, Lost, Recovered,
    Repair,
};
use tidegate_core::plan::{CongestionPlan, LARGEST_WINDOW, Plan, PythonController, PythonSource, TcpPlan};
use tidegate_core::units::Rate;
use tidegate_result::RunResult;

use crate::error::ControllerError;

thread_local! {
    /// What a user's code raised first in the run that this thread does.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether a user's code has failed in this thread's run.
pub(crate) fn failed() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// What it raised, once.
pub(crate) fn take_failure() -> Option<PyErr> {
    RAISED.take()
}

/// Does a run; where a user's code takes part, with Python's lock held, because to take it for each ACK would be most of
/// the work. That code itself lets others have it now and then. What it raised is the result.
pub(crate) fn run(plan: &Plan, work: impl FnOnce() -> PyResult<RunResult>) -> PyResult<RunResult> {
    let users = plan.flows.iter().any(|flow| matches!(flow.tcp.cc, CongestionPlan::Python(_)));
    let done = if users { Python::attach(|_| work()) } else { work() };
    take_failure().map_or(done, Err)
}

/// The base class of controllers. A subclass has `on_ack`, `on_loss`, `on_timeout` and sets the attributes that the sender
/// obeys after each call.
#[pyclass(subclass, module = "tidegate", name = "CongestionControl")]
pub(crate) struct CongestionControl {
    /// Bytes that may be in flight.
    #[pyo3(get, set)]
    window_bytes: f64,
    /// User bits a second; None: as fast as ACKs come.
    #[pyo3(get, set)]
    pacing_bps: Option<f64>,
    /// What plots show as threshold; None: there is none.
    #[pyo3(get, set)]
    ssthresh_bytes: Option<f64>,
    #[pyo3(get)]
    mss_bytes: u32,
    #[pyo3(get)]
    initial_window_bytes: u64,
    #[pyo3(get)]
    seed: u64,
}

#[pymethods]
impl CongestionControl {
    #[new]
    #[pyo3(signature = (*, mss_bytes = 1460, initial_window_bytes = 14600, seed = 0))]
    fn new(mss_bytes: u32, initial_window_bytes: u64, seed: u64) -> CongestionControl {
        CongestionControl {
            window_bytes: initial_window_bytes as f64,
            pacing_bps: None,
            ssthresh_bytes: None,
            mss_bytes,
            initial_window_bytes,
            seed,
        }
    }

    /// An ACK was dealt with.
    #[pyo3(signature = (ack, /))]
    fn on_ack(&mut self, ack: &Bound<'_, Ack>) {
        let _ = ack;
    }

    /// A loss was found; by itself the window halves.
    #[pyo3(signature = (loss, /))]
    fn on_loss(&mut self, loss: &Bound<'_, Loss>) {
        let _ = loss;
        self.window_bytes = (self.window_bytes / 2.0).max(2.0 * f64::from(self.mss_bytes));
    }

    /// The retransmission timer expired; by itself the window falls to one segment.
    #[pyo3(signature = (loss, /))]
    fn on_timeout(&mut self, loss: &Bound<'_, Loss>) {
        let _ = loss;
        self.window_bytes = f64::from(self.mss_bytes);
    }

    /// Nothing was sent for longer than a time-out, or a SYN was lost; by itself the window falls to `window_bytes`.
    fn on_restart(&mut self, window_bytes: u64) {
        self.window_bytes = self.window_bytes.min(window_bytes as f64);
    }
}

/// What is known after an acknowledgement.
#[pyclass(frozen, module = "tidegate")]
pub(crate) struct Ack(AckFact);

macro_rules! getters {
    ($of:ident, $($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        #[pymethods]
        impl $of {
            $($(#[$doc])*
            #[getter]
            fn $name(&self) -> $type {
                let value: fn(&$of) -> $type = $value;
                value(self)
            })*
        }
    };
}

getters! { Ack,
    /// When it arrived.
    time_s: f64 = |ack| ack.0.at.as_secs_f64();
    /// User bytes that it newly reported as arrived, in order or not.
    delivered_bytes: u64 = |ack| ack.0.delivered;
    /// The same in segments.
    delivered_segments: u32 = |ack| ack.0.segments;
    /// Segments that it newly reported as marked (ECN).
    ecn_marked_segments: u32 = |ack| ack.0.ecn_marked;
    /// User bytes newly taken to be lost.
    lost_bytes: u64 = |ack| ack.0.lost;
    /// User bytes in flight before it.
    in_flight_before_bytes: u64 = |ack| ack.0.in_flight_before;
    /// User bytes in flight after it, without what is taken to be lost.
    in_flight_bytes: u64 = |ack| ack.0.in_flight;
    /// The round trip of the newest segment that it reported; None: one of them was sent twice.
    rtt_s: Option<f64> = |ack| ack.0.rtt.map(|rtt| rtt.as_secs_f64());
    /// Smoothed round-trip time (RFC 6298); 0 before the first sample.
    smoothed_rtt_s: f64 = |ack| ack.0.smoothed_rtt.as_secs_f64();
    /// User bytes acknowledged in order since the connection began (SND.UNA).
    acknowledged_bytes: u64 = |ack| ack.0.una;
    /// User bytes sent since the connection began, each counted once (SND.NXT).
    sent_bytes: u64 = |ack| ack.0.max;
    /// What the sender repairs: "recovery" after a loss that ACKs showed, "time-out", or None.
    repair: Option<&'static str> = |ack| match ack.0.repair {
        Repair::Nothing => None,
        Repair::Recovery => Some("recovery"),
        Repair::TimeOut => Some("time-out"),
    };
    /// The window stopped the sender in the flight that this ACK belongs to.
    window_limited: bool = |ack| ack.0.window_limited;
    /// Round trips so far, counted by packets.
    round: u64 = |ack| ack.0.round;
    /// Delivery rate in user bits a second (draft-ietf-ccwg-bbr §4.1); None: no sample.
    rate_bps: Option<f64> = |ack| {
        ack.0.rate.map(|rate| rate.delivered as f64 * 8.0 / rate.interval.as_secs_f64())
    };
    /// Time that the sample is over; None: no sample.
    rate_interval_s: Option<f64> = |ack| ack.0.rate.map(|rate| rate.interval.as_secs_f64());
    /// User bytes that arrived in it; None: no sample.
    rate_delivered_bytes: Option<u64> = |ack| ack.0.rate.map(|rate| rate.delivered);
    /// User bytes taken to be lost in it; None: no sample.
    rate_lost_bytes: Option<u64> = |ack| ack.0.rate.map(|rate| rate.lost);
    /// User bytes that had arrived when the sampled segment was sent; None: no sample.
    rate_prior_delivered_bytes: Option<u64> = |ack| ack.0.rate.map(|rate| rate.prior_delivered);
    /// User bytes that have arrived since the connection began; None: no sample.
    rate_total_delivered_bytes: Option<u64> = |ack| ack.0.rate.map(|rate| rate.total_delivered);
    /// User bytes in flight when the sampled segment had been sent; None: no sample.
    rate_sent_in_flight_bytes: Option<u64> = |ack| ack.0.rate.map(|rate| rate.sent_in_flight);
    /// The application had nothing more to send then; None: no sample.
    rate_app_limited: Option<bool> = |ack| ack.0.rate.map(|rate| rate.app_limited);
    /// The sampled segment had been sent before; None: no sample.
    rate_retransmitted: Option<bool> = |ack| ack.0.rate.map(|rate| rate.retransmitted);
}

/// A loss, a mark or a time-out.
#[pyclass(frozen, module = "tidegate")]
pub(crate) struct Loss(Lost);

getters! { Loss,
    /// When.
    time_s: f64 = |loss| loss.0.at.as_secs_f64();
    /// "loss" (ACKs showed it), "time-out" or "mark" (ECN).
    kind: &'static str = |loss| match loss.0.kind {
        LossKind::DupAck => "loss",
        LossKind::Timeout { .. } => "time-out",
        LossKind::Ecn => "mark",
    };
    /// A time-out after which the window is not to be reduced once more: it was for this flight already.
    again: bool = |loss| loss.0.kind == LossKind::Timeout { again: true };
    /// User bytes outstanding (FlightSize, RFC 5681 §2).
    in_flight_bytes: u64 = |loss| loss.0.in_flight;
    /// The most that was allowed to be in flight.
    window_bytes: u64 = |loss| loss.0.window;
    /// User bytes in flight, without what is taken to be lost.
    remaining_bytes: u64 = |loss| loss.0.remaining;
    /// User bytes sent since the connection began, each counted once (SND.NXT).
    sent_bytes: u64 = |loss| loss.0.max;
}

/// A controller in Python, and what it said last.
#[derive(Debug)]
struct InPython {
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

    fn handle_acked(&mut self, _acked: &Acked) {}

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

    fn handle_recovered(&mut self, _recovered: &Recovered) {}

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

/// Keeps the first mistake of a run as one message with the line of the user's code.
fn note(py: Python<'_>, name: &str, raised: PyErr) {
    let message = match place(py, &raised) {
        Some(place) => format!("{place}: {}", described(py, &raised)),
        None => format!("{name}: {}", described(py, &raised)),
    };
    let error = if raised.is_instance_of::<ControllerError>(py) {
        raised
    } else {
        let told = ControllerError::new_err(message);
        told.set_cause(py, Some(raised));
        told
    };
    RAISED.with_borrow_mut(|kept| kept.get_or_insert(error).value(py).is_none());
}

/// "ZeroDivisionError: division by zero".
fn described(py: Python<'_>, raised: &PyErr) -> String {
    let kind = raised.get_type(py).name().map_or_else(|_| "error".to_owned(), |name| name.to_string());
    format!("{kind}: {}", raised.value(py))
}

/// "mine.py:12, in on_ack": the last line of the traceback.
fn place(py: Python<'_>, raised: &PyErr) -> Option<String> {
    let mut frame = raised.traceback(py)?.into_any();
    while let Ok(next) = frame.getattr("tb_next")
        && !next.is_none()
    {
        frame = next;
    }
    let line: u64 = frame.getattr("tb_lineno").ok()?.extract().ok()?;
    let code = frame.getattr("tb_frame").ok()?.getattr("f_code").ok()?;
    let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
    let function: String = code.getattr("co_name").ok()?.extract().ok()?;
    Some(format!("{file}:{line}, in {function}"))
}

/// Makes a user's controller for one connection.
pub(crate) fn make(own: &PythonController, plan: &TcpPlan, seed: u64) -> Box<dyn Told> {
    Python::attach(|py| match instance(py, own, plan, seed) {
        Ok(controller) => controller,
        Err(raised) => {
            note(py, &own.name, raised);
            Box::new(Fixed::new(plan.initial_window.max(1)))
        }
    })
}

fn instance(py: Python<'_>, own: &PythonController, plan: &TcpPlan, seed: u64) -> PyResult<Box<dyn Told>> {
    let module = match &own.source {
        PythonSource::File(path) => loaded(py, path)?,
        PythonSource::Module(name) => PyModule::import(py, name.as_str())?.into_any(),
    };
    let class = module.getattr(own.class.as_str())?;
    let fits = class
        .cast::<PyType>()
        .is_ok_and(|class| class.is_subclass_of::<CongestionControl>().unwrap_or(false));
    if !fits {
        let message = format!("{}: {} is not a subclass of tidegate.CongestionControl", own.name, own.class);
        return Err(ControllerError::new_err(message));
    }
    let options = pyo3::types::PyDict::new(py);
    options.set_item("mss_bytes", plan.mss)?;
    options.set_item("initial_window_bytes", plan.initial_window)?;
    options.set_item("seed", seed)?;
    let object = class.call((), Some(&options))?.cast_into::<CongestionControl>()?;
    let mut controller = InPython {
        object: object.clone().unbind(),
        name: own.name.clone(),
        window: 0,
        pacing: None,
        ssthresh: None,
        mss: plan.mss,
        failed: false,
    };
    controller.read(&object.borrow())?;
    Ok(Box::new(controller))
}

/// A file as a module. It is run once for each controller, so that no connection shares what the file keeps.
fn loaded<'py>(py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    let code = std::fs::read_to_string(path)?;
    let c =
        |text: &str| CString::new(text).map_err(|error| ControllerError::new_err(format!("{path}: {error}")));
    PyModule::from_code(py, &c(&code)?, &c(path)?, c"tidegate_user_controller").map(Bound::into_any)
}
