//! Python bindings: `tidegate._core`. No logic of its own: arguments in, results out.
//!
//! Rust code runs with the GIL released, inside a guard that turns a panic into
//! `tidegate.InternalError`. Columns cross as little-endian bytes.

mod dtm;
mod error;
mod guard;
mod pool;
mod run;
mod scenario;
mod traces;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The JSON Schema of scenario files, as text.
#[pyfunction]
fn schema(py: Python<'_>) -> PyResult<String> {
    guard::guarded(py, || tidegate_scenario::schema().to_string())
}

/// Every key of the scenario language, as Markdown.
#[pyfunction]
fn reference(py: Python<'_>) -> PyResult<String> {
    guard::guarded(py, tidegate_scenario::reference)
}

/// Version and build of the compiled part.
#[pyfunction]
fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let info = PyDict::new(py);
    info.set_item("tidegate", env!("CARGO_PKG_VERSION"))?;
    info.set_item("profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    Ok(info)
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    guard::install();
    error::register(module)?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<run::RunData>()?;
    module.add_class::<pool::Pool>()?;
    module.add_function(wrap_pyfunction!(pool::student_t, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(reference, module)?)?;
    module.add_function(wrap_pyfunction!(build_info, module)?)?;
    module.add_function(wrap_pyfunction!(dtm::dtm_allocate, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_convert, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_synth, module)?)?;
    Ok(())
}
