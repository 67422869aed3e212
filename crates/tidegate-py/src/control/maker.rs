//! Makes the controllers of users from their files and modules.

use std::ffi::CString;

use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::PyType;
use tidegate_core::cc::{CongestionControl as Told, Fixed};
use tidegate_core::plan::{PythonClass, PythonSource, TcpPlan};

use super::CongestionControl;
use super::failure::note;
use super::user::InPython;
use crate::error::ControllerError;

/// Makes a user's controller for one connection.
pub(crate) fn make(own: &PythonClass, plan: &TcpPlan, seed: u64) -> Box<dyn Told> {
    Python::attach(|py| match instance(py, own, plan, seed) {
        Ok(controller) => controller,
        Err(raised) => {
            note(py, &own.name, raised);
            Box::new(Fixed::new(plan.initial_window.max(1)))
        }
    })
}

fn instance(py: Python<'_>, own: &PythonClass, plan: &TcpPlan, seed: u64) -> PyResult<Box<dyn Told>> {
    let class = class_of::<CongestionControl>(py, own, "CongestionControl")?;
    let options = pyo3::types::PyDict::new(py);
    options.set_item("mss_bytes", plan.mss)?;
    options.set_item("initial_window_bytes", plan.initial_window)?;
    options.set_item("seed", seed)?;
    let object = class.call((), Some(&options))?.cast_into::<CongestionControl>()?;
    Ok(Box::new(InPython::new(&object, &own.name, plan.mss)?))
}

/// The class that a scenario names, which must be one of `Base`, to users `base`.
pub(super) fn class_of<'py, Base: PyTypeInfo>(
    py: Python<'py>,
    own: &PythonClass,
    base: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let module = match &own.source {
        PythonSource::File(path) => loaded(py, path)?,
        PythonSource::Module(name) => PyModule::import(py, name.as_str())?.into_any(),
    };
    let class = module.getattr(own.class.as_str())?;
    let fits = class.cast::<PyType>().is_ok_and(|class| class.is_subclass_of::<Base>().unwrap_or(false));
    if fits {
        return Ok(class);
    }
    Err(ControllerError::new_err(format!("{}: {} is not a subclass of tidegate.{base}", own.name, own.class)))
}

/// A file as a module. It is run once for each controller and rule, so that no connection shares what the file keeps.
fn loaded<'py>(py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    let code = std::fs::read_to_string(path)?;
    let c =
        |text: &str| CString::new(text).map_err(|error| ControllerError::new_err(format!("{path}: {error}")));
    PyModule::from_code(py, &c(&code)?, &c(path)?, c"tidegate_user_controller").map(Bound::into_any)
}
