//! What a run gives: the summary as JSON, the columns as bytes.

use std::io::Write as _;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};
use tidegate_core::plan::{Plan, RecordLevel};
use tidegate_result::columns::{Description, Names, tables};
use tidegate_result::{Column, RunResult, Table};

use crate::error;

/// A finished run.
#[pyclass(frozen, module = "tidegate._core")]
pub(crate) struct RunData {
    summary: String,
    tables: Vec<Table>,
    paths: Vec<(String, [Vec<String>; 2])>,
    groups: Vec<String>,
    warnings: Vec<String>,
    live: Option<String>,
    kept: OnceLock<Vec<u8>>,
}

impl RunData {
    /// What a store of results keeps of a run of which nothing was measured: its summary as JSON, compressed.
    pub(crate) fn pack(&self) -> &[u8] {
        self.kept.get_or_init(|| {
            let text = format!("{{\"summary\":{},\"measured\":{{}}}}", self.summary);
            let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
            // Writing to memory does not fail.
            let _ = packed.write_all(text.as_bytes());
            packed.finish().unwrap_or_default()
        })
    }

    pub(crate) fn new(plan: &Plan, result: RunResult, warnings: Vec<String>) -> PyResult<RunData> {
        let summary = error::to_json("the summary", &result.summary)?;
        // A run that keeps its summary alone has no tables; empty ones would look recorded.
        let tables = if plan.record.level == RecordLevel::Summary { Vec::new() } else { result.tables() };
        let names = |gates: &[usize]| gates.iter().map(|&gate| plan.gates[gate].name.clone()).collect();
        let paths = plan
            .flows
            .iter()
            .map(|flow| (flow.name.clone(), [names(&flow.path), names(&flow.back)]))
            .collect();
        let groups = plan.record.groups.iter().map(|group| group.name.clone()).collect();
        Ok(RunData { summary, tables, paths, groups, warnings, live: None, kept: OnceLock::new() })
    }

    /// With what only a live run has, as JSON.
    #[cfg(target_os = "linux")]
    pub(crate) fn with_live(mut self, details: &tidegate_live::Details) -> PyResult<RunData> {
        self.live = Some(error::to_json("the live details", details)?);
        Ok(self)
    }
}

#[pymethods]
impl RunData {
    #[getter]
    fn live_json(&self) -> Option<&str> {
        self.live.as_deref()
    }

    #[getter]
    fn packed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.pack())
    }

    #[getter]
    fn summary_json(&self) -> &str {
        &self.summary
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The names of the groups of flows that were recorded together.
    #[getter]
    fn groups(&self) -> Vec<String> {
        self.groups.clone()
    }

    #[getter]
    fn paths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let paths = PyDict::new(py);
        for (flow, [path, back]) in &self.paths {
            let both = PyDict::new(py);
            both.set_item("path", path)?;
            both.set_item("back", back)?;
            paths.set_item(flow, both)?;
        }
        Ok(paths)
    }

    #[getter]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        tables_as_bytes(py, &self.tables)
    }
}

/// Tables by name: of each column its type and its bytes.
pub(crate) fn tables_as_bytes<'py>(py: Python<'py>, tables: &[Table]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for table in tables {
        let columns = PyDict::new(py);
        for (name, column) in &table.columns {
            columns.set_item(name, bytes(py, column)?)?;
        }
        all.set_item(table.name, columns)?;
    }
    Ok(all)
}

/// Every recorded table with its columns, as JSON.
pub(crate) fn columns() -> String {
    let names = |names: Names| match names {
        Names::Flow => "flow",
        Names::Gate => "gate",
        Names::Traffic => "traffic",
        Names::Class => "class",
        Names::Group => "group",
    };
    let of_table = |(table, columns): (&str, Vec<Description>)| {
        let of_column = |column: Description| {
            let names = column.names.map(names);
            json!({ "name": column.name, "meaning": column.meaning, "kind": column.kind, "words": column.words, "names": names })
        };
        json!({ "name": table, "columns": columns.into_iter().map(of_column).collect::<Vec<_>>() })
    };
    Value::from_iter(tables().into_iter().map(of_table)).to_string()
}

fn bytes<'py>(py: Python<'py>, column: &Column) -> PyResult<(&'static str, Bound<'py, PyBytes>)> {
    Ok(match column {
        Column::F64(values) => ("f64", filled(py, values, |value| value.to_le_bytes())?),
        Column::U64(values) => ("u64", filled(py, values, |value| value.to_le_bytes())?),
        Column::U32(values) => ("u32", filled(py, values, |value| value.to_le_bytes())?),
        Column::MaybeU64(values) => {
            ("maybe_u64", filled(py, values, |value| value.unwrap_or(u64::MAX).to_le_bytes())?)
        }
        Column::U8(values) => ("u8", PyBytes::new(py, values)),
    })
}

pub(crate) fn filled<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    write: impl Fn(T) -> [u8; N],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, values.len() * N, |buffer| {
        for (place, value) in buffer.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&write(*value));
        }
        Ok(())
    })
}
