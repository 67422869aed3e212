//! Each Rust error and its one Python class.
//!
//! | Rust | Python |
//! |---|---|
//! | `tidegate_scenario::ScenarioError` | `ScenarioError` (a `ValueError`), with its parts as attributes |
//! | `tidegate_scenario::trace::TraceError` | `TraceError` (a `ValueError`), with file and line |
//! | `QuantityError`, `UnknownFormat`, `ConvertError`, `SynthError` | `ArgumentError` (a `ValueError`) |
//! | `tidegate_sim::RunError` | what stopped the run: the exception of the caller, `EngineError` for what only another engine has, or `RunError` |
//! | `tidegate_live::LiveError` | `EngineError` where the engine cannot run here or not this plan, `RunError` where a run failed |
//! | a mistake in a user's controller | `ControllerError` (a `ValueError`) |
//! | `tidegate_capture::CaptureError` | `CaptureError` (a `ValueError`), or `OSError` where the file cannot be read |
//! | `std::io::Error` | the builtin `OSError` of its kind |
//! | a panic | `InternalError` |

use std::io;

use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyTypeInfo, create_exception};
use serde::Serialize;
use tidegate_scenario::trace::TraceError as Trace;
use tidegate_scenario::{QuantityError, ScenarioError as Wrong, trace};

create_exception!(
    tidegate.errors,
    ScenarioError,
    PyValueError,
    "A scenario is wrong; str() is the whole message, the attributes are its parts.\n\n\
     ``problem`` is one sentence; ``others`` are further problems of the same scenario."
);
create_exception!(
    tidegate.errors,
    TraceError,
    PyValueError,
    "A link trace cannot be used; the message names file and line."
);
create_exception!(
    tidegate.errors,
    CaptureError,
    PyValueError,
    "A file is no capture, or cannot be used as one; the message names the file."
);
create_exception!(
    tidegate.errors,
    ArgumentError,
    PyValueError,
    "An argument of a call has a value that it cannot have; the message says what it takes."
);
create_exception!(
    tidegate.errors,
    EngineError,
    PyNotImplementedError,
    "The engine asked for does not exist, or cannot do this here; the message says why."
);
create_exception!(
    tidegate.errors,
    ControllerError,
    PyValueError,
    "A congestion controller in Python failed; the message names file, line and mistake."
);
create_exception!(tidegate.errors, RunError, PyRuntimeError, "A run stopped before its end.");
create_exception!(
    tidegate.errors,
    InternalError,
    PyRuntimeError,
    "A bug in Tidegate itself, not in the scenario."
);

/// Adds the classes to the module; every attribute exists and is None until an error sets it.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let scenario = ScenarioError::type_object(py);
    for name in ["file", "line", "column", "key", "read", "problem", "help", "others"] {
        scenario.setattr(name, py.None())?;
    }
    let trace = TraceError::type_object(py);
    for name in ["file", "line", "read", "help"] {
        trace.setattr(name, py.None())?;
    }
    module.add("ScenarioError", scenario)?;
    module.add("TraceError", trace)?;
    module.add("CaptureError", CaptureError::type_object(py))?;
    module.add("ArgumentError", ArgumentError::type_object(py))?;
    module.add("ControllerError", ControllerError::type_object(py))?;
    module.add("EngineError", EngineError::type_object(py))?;
    module.add("RunError", RunError::type_object(py))?;
    module.add("InternalError", InternalError::type_object(py))
}

/// `None` for an empty text: the attribute has nothing to say.
fn said(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

pub(crate) fn scenario(py: Python<'_>, error: &Wrong) -> PyErr {
    let raised = ScenarioError::new_err(error.to_string());
    let value = raised.value(py);
    let set = || {
        let others: Vec<_> = error.others.iter().map(|other| scenario(py, other).into_value(py)).collect();
        value.setattr("others", others)?;
        value.setattr("problem", &error.problem)?;
        value.setattr("file", &error.file)?;
        value.setattr("line", error.line)?;
        value.setattr("column", error.column)?;
        value.setattr("key", said(&error.key))?;
        value.setattr("read", said(&error.read))?;
        value.setattr("help", error.help.as_deref())
    };
    match set() {
        Ok(()) => raised,
        Err(failed) => failed,
    }
}

pub(crate) fn stopped(error: &tidegate_sim::RunError) -> PyErr {
    match error {
        tidegate_sim::RunError::NotHere(what) => EngineError::new_err(what.clone()),
        tidegate_sim::RunError::Recording(what) => ArgumentError::new_err(format!("record: {what}")),
        tidegate_sim::RunError::Interrupted
        | tidegate_sim::RunError::Limit(_)
        | tidegate_sim::RunError::Host(_) => RunError::new_err(error.to_string()),
    }
}

pub(crate) fn live(error: &tidegate_live::LiveError) -> PyErr {
    use tidegate_live::LiveError as Live;
    match error {
        Live::NotLinux | Live::NotPermitted { .. } | Live::Beyond(_) => {
            EngineError::new_err(error.to_string())
        }
        Live::Kernel { .. } | Live::FellBehind(_) | Live::Interrupted | Live::Panicked(_) => {
            RunError::new_err(error.to_string())
        }
    }
}

pub(crate) fn trace(py: Python<'_>, error: &Trace) -> PyErr {
    let raised = TraceError::new_err(error.to_string());
    let value = raised.value(py);
    let set = || {
        value.setattr("file", &error.file)?;
        value.setattr("line", error.line)?;
        value.setattr("read", said(&error.read))?;
        value.setattr("help", said(&error.help))
    };
    match set() {
        Ok(()) => raised,
        Err(failed) => failed,
    }
}

pub(crate) fn capture(error: tidegate_capture::CaptureError) -> PyErr {
    match error {
        tidegate_capture::CaptureError::Io { file, error } if error.raw_os_error().is_some() => {
            named(error, &file)
        }
        other => CaptureError::new_err(other.to_string()),
    }
}

pub(crate) fn quantity(option: &str, error: &QuantityError) -> PyErr {
    ArgumentError::new_err(format!("{option}: {error}"))
}

pub(crate) fn format(name: &str, error: trace::UnknownFormat) -> PyErr {
    ArgumentError::new_err(format!("format: read {name:?}: {error}"))
}

pub(crate) fn convert(source: &str, error: trace::convert::ConvertError) -> PyErr {
    ArgumentError::new_err(format!("{source}: {error}"))
}

pub(crate) fn synth(error: trace::synth::SynthError) -> PyErr {
    ArgumentError::new_err(error.to_string())
}

/// The builtin `OSError` of its kind, with the file's name.
pub(crate) fn named(error: io::Error, path: &str) -> PyErr {
    match error.raw_os_error() {
        Some(code) => pyo3::exceptions::PyOSError::new_err((code, error.to_string(), path.to_owned())),
        None => error.into(),
    }
}

/// `value` as JSON; `what` names it in the error.
pub(crate) fn to_json(what: &str, value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value)
        .map_err(|error| InternalError::new_err(format!("{what} cannot be JSON: {error}")))
}
