//! Link traces: describing, converting, making.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use tidegate_core::random::Seed;
use tidegate_core::units::Span;
use tidegate_scenario::trace::convert::{ConvertOptions, convert};
use tidegate_scenario::trace::info::{InfoOptions, TraceInfo, info};
use tidegate_scenario::trace::synth::Cellular;
use tidegate_scenario::trace::{self, ColumnOptions, Format, LoadedTrace, Remarked, TraceOptions};
use tidegate_scenario::{read_rate, read_span};

use crate::error::{self, ArgumentError};
use crate::guard::patiently;

/// Reads a trace; `table` has what a table does not say itself, by the names of a scenario's keys.
fn load(
    py: Python<'_>,
    path: &str,
    format: Option<&str>,
    opportunity_bytes: u32,
    table: &BTreeMap<String, String>,
) -> PyResult<Remarked> {
    let format = format.map(named).transpose()?;
    let mut columns = ColumnOptions::default();
    for (key, text) in table {
        columns.set(key, text).map_err(|wrong| ArgumentError::new_err(format!("{key} {text:?}: {wrong}")))?;
    }
    let step = span("step", table.get("step").map(String::as_str))?;
    let options = TraceOptions { opportunity_bytes, step, columns };
    let path = PathBuf::from(path);
    patiently(py, move |_| trace::load(&path, format, &options))?.map_err(|wrong| error::trace(py, &wrong))
}

fn named(name: &str) -> PyResult<Format> {
    name.parse().map_err(|wrong| error::format(name, wrong))
}

fn span(option: &str, text: Option<&str>) -> PyResult<Option<Span>> {
    text.map(|text| read_span(text).map_err(|wrong| error::quantity(option, &wrong))).transpose()
}

/// A description of a trace, as a JSON object.
#[pyfunction]
pub(crate) fn trace_info(
    py: Python<'_>,
    path: &str,
    format: Option<&str>,
    opportunity_bytes: u32,
    table: BTreeMap<String, String>,
) -> PyResult<String> {
    let Remarked { trace, remarks } = load(py, path, format, opportunity_bytes, &table)?;
    patiently(py, move |_| {
        let description = TraceInfo { remarks, ..info(&trace, &InfoOptions::default()) };
        error::to_json("the description", &description)
    })?
}

/// The text of a trace in another format.
#[pyfunction]
pub(crate) fn trace_convert(
    py: Python<'_>,
    path: &str,
    to: &str,
    format: Option<&str>,
    opportunity_bytes: u32,
    window: Option<&str>,
    table: BTreeMap<String, String>,
) -> PyResult<String> {
    let to = named(to)?;
    let options = ConvertOptions { opportunity_bytes, window: span("window", window)? };
    let Remarked { trace, .. } = load(py, path, format, opportunity_bytes, &table)?;
    patiently(py, move |_| convert(&trace, to, &options))?.map_err(|wrong| error::convert(path, wrong))
}

/// The text of a synthetic trace; arguments left out are the model's own.
#[pyfunction]
#[pyo3(signature = (model, seed, *, to, mean=None, duration=None, step=None, variability=None, outage_share=None, opportunity_bytes=None, window=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn trace_synth(
    py: Python<'_>,
    model: &str,
    seed: u64,
    to: &str,
    mean: Option<&str>,
    duration: Option<&str>,
    step: Option<&str>,
    variability: Option<f64>,
    outage_share: Option<f64>,
    opportunity_bytes: Option<u32>,
    window: Option<&str>,
) -> PyResult<String> {
    if model != "cellular" {
        return Err(ArgumentError::new_err(format!("there is no model {model:?}; there is \"cellular\"")));
    }
    let to = named(to)?;
    let default = Cellular::default();
    let mean =
        mean.map(|text| read_rate(text).map_err(|wrong| error::quantity("mean", &wrong))).transpose()?;
    let link = Cellular {
        mean: mean.unwrap_or(default.mean),
        duration: span("duration", duration)?.unwrap_or(default.duration),
        step: span("step", step)?.unwrap_or(default.step),
        variability: variability.unwrap_or(default.variability),
        outage_share: outage_share.unwrap_or(default.outage_share),
        opportunity_bytes: opportunity_bytes.unwrap_or(default.opportunity_bytes),
    };
    let options =
        ConvertOptions { opportunity_bytes: link.opportunity_bytes, window: span("window", window)? };
    let seed = Seed { seed, replication: 0 };
    let made = patiently(py, move |_| match to {
        Format::Mahimahi => link.opportunities(seed).map(LoadedTrace::Opportunities),
        Format::Csv | Format::Drp | Format::SecondsMbps => link.rates(seed).map(LoadedTrace::Rates),
    })?;
    let trace = made.map_err(error::synth)?;
    patiently(py, move |_| convert(&trace, to, &options))?.map_err(|wrong| error::convert(model, wrong))
}
