//! Python bindings: `tidegate._core`. No logic of its own: arguments in, results out.
//!
//! Rust code runs with the GIL released, inside a guard that turns a panic into
//! `tidegate.errors.InternalError`. Columns cross as little-endian bytes.

mod bucket;
mod capture;
mod captured;
mod control;
mod dtm;
mod effcap;
mod error;
mod gcra;
mod guard;
mod live;
mod network;
mod plan;
mod pool;
mod run;
mod scenario;
mod start;
mod steps;
mod tcp;
mod traces;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The JSON Schema of scenario files, as text.
#[pyfunction]
fn schema(py: Python<'_>) -> PyResult<String> {
    guard::guarded(py, || tidegate_scenario::schema().to_string())
}

/// The recorded tables and their columns, as JSON: name, meaning, type, words for codes, what an index counts.
#[pyfunction]
fn columns(py: Python<'_>) -> PyResult<String> {
    guard::guarded(py, run::columns)
}

/// The module `tidegate/_ask/plan_objects.py`: a type for each object of the plan's JSON.
#[pyfunction]
fn plan_objects(py: Python<'_>) -> PyResult<String> {
    guard::guarded(py, plan::python)
}

/// Every key of the scenario language, as Markdown.
#[pyfunction]
fn reference(py: Python<'_>) -> PyResult<String> {
    guard::guarded(py, tidegate_scenario::reference)
}

/// A text such as "5 Mbit/s" in bit/s; `option` is named when it is wrong.
#[pyfunction]
fn read_rate(option: &str, text: &str) -> PyResult<u64> {
    let read = tidegate_scenario::read_rate(text).map_err(|wrong| error::quantity(option, &wrong))?;
    Ok(read.bps())
}

/// A text such as "10 ms" in picoseconds; `option` is named when it is wrong.
#[pyfunction]
fn read_span(option: &str, text: &str) -> PyResult<u64> {
    let read = tidegate_scenario::read_span(text).map_err(|wrong| error::quantity(option, &wrong))?;
    Ok(read.picos())
}

/// A text such as "10 ms" or "0 s" in picoseconds since a beginning; `option` is named when it is wrong.
#[pyfunction]
fn read_instant(option: &str, text: &str) -> PyResult<u64> {
    let read = tidegate_scenario::read_instant(text).map_err(|wrong| error::quantity(option, &wrong))?;
    Ok(read.picos())
}

/// Version and build of the compiled part.
#[pyfunction]
fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let info = PyDict::new(py);
    info.set_item("tidegate", env!("CARGO_PKG_VERSION"))?;
    info.set_item("profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    Ok(info)
}

/// What a small change is that nobody can know, in words.
#[pyfunction]
fn small_changes() -> Vec<&'static str> {
    tidegate_core::plan::SMALL_CHANGES.to_vec()
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    guard::install();
    tidegate_core::cc::set_maker(control::make);
    tidegate_core::app::video::set_maker(control::make_rule);
    error::register(module)?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<run::RunData>()?;
    module.add_class::<capture::CaptureData>()?;
    module.add_function(wrap_pyfunction!(capture::capture_read, module)?)?;
    module.add_class::<bucket::BucketReplay>()?;
    module.add_class::<bucket::FilledBucket>()?;
    module.add_class::<bucket::QueueWaits>()?;
    module.add_class::<pool::Pool>()?;
    module.add_class::<tcp::Endpoint>()?;
    module.add_class::<steps::Stepper>()?;
    module.add_class::<network::Network>()?;
    module.add_class::<control::CongestionControl>()?;
    module.add_class::<control::Ack>()?;
    module.add_class::<control::Loss>()?;
    module.add_class::<control::VideoRule>()?;
    module.add_class::<control::VideoChoice>()?;
    module.add_function(wrap_pyfunction!(pool::student_t, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_clean, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_enter, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(columns, module)?)?;
    module.add_function(wrap_pyfunction!(plan_objects, module)?)?;
    module.add_function(wrap_pyfunction!(reference, module)?)?;
    module.add_function(wrap_pyfunction!(build_info, module)?)?;
    module.add_function(wrap_pyfunction!(small_changes, module)?)?;
    module.add_function(wrap_pyfunction!(dtm::dtm_allocate, module)?)?;
    module.add_function(wrap_pyfunction!(effcap::effcap_estimate, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_convert, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_synth, module)?)?;
    module.add_function(wrap_pyfunction!(read_rate, module)?)?;
    module.add_function(wrap_pyfunction!(read_span, module)?)?;
    module.add_function(wrap_pyfunction!(read_instant, module)?)?;
    module.add_function(wrap_pyfunction!(gcra::gcra_police, module)?)?;
    module.add_function(wrap_pyfunction!(gcra::gcra_shape, module)?)?;
    module.add_function(wrap_pyfunction!(gcra::gcra_dual, module)?)?;
    module.add_function(wrap_pyfunction!(gcra::gcra_burst_tolerance, module)?)?;
    module.add_function(wrap_pyfunction!(gcra::gcra_max_burst_size, module)?)?;
    Ok(())
}
