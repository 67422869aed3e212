//! Captures: read once, columns as bytes when they are asked for.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};
use tidegate_capture::{Capture, Column, Connection, Field, Side, Watch, read_first};

use crate::error;
use crate::guard::{guarded, patiently_asking};
use crate::run::filled;

/// What one or several capture files hold.
#[pyclass(frozen, module = "tidegate._core")]
pub(crate) struct CaptureData {
    capture: Capture,
}

impl CaptureData {
    fn connection(&self, index: usize) -> PyResult<&Connection> {
        let found = self.capture.connections.get(index);
        found.ok_or_else(|| PyIndexError::new_err(format!("there is no connection {index}")))
    }
}

/// Reads captures; `progress` is called again and again with the bytes read so far.
/// `most_packets`: so many packets of TCP, and one more, are kept of each file.
#[pyfunction]
#[pyo3(signature = (paths, progress=None, most_packets=None))]
pub(crate) fn capture_read(
    py: Python<'_>,
    paths: Vec<String>,
    progress: Option<Py<PyAny>>,
    most_packets: Option<usize>,
) -> PyResult<CaptureData> {
    // One more tells that there are more.
    let most = most_packets.map_or(usize::MAX, |most| most.saturating_add(1));
    let watch = Arc::new(Watch::default());
    let theirs = Arc::clone(&watch);
    let tell = |again: Python<'_>| {
        if let Some(progress) = &progress {
            progress.call1(again, (watch.done.load(Ordering::Relaxed),))?;
        }
        Ok(true)
    };
    let done = patiently_asking(py, tell, move |_| {
        let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
        read_first(&paths, most, &theirs)
    });
    // Where the wait ended early, the thread ends too.
    watch.stop.store(true, Ordering::Relaxed);
    let capture = done?.map_err(error::capture)?;
    Ok(CaptureData { capture })
}

#[pymethods]
impl CaptureData {
    /// Files, notes, connections and traffic, as JSON; times in nanoseconds.
    fn about(&self, py: Python<'_>) -> PyResult<String> {
        let capture = &self.capture;
        guarded(py, || {
            let connections: Vec<Value> =
                capture.connections.iter().map(|each| about(capture, each)).collect();
            let traffic: Vec<Value> = capture
                .traffic
                .iter()
                .map(|(file, traffic)| {
                    json!({
                        "from": traffic.from.to_string(), "to": traffic.to.to_string(), "file": capture.files[*file],
                        "packets": traffic.packets, "bytes": traffic.bytes,
                    })
                })
                .collect();
            let description = json!({
                "files": capture.files, "start_ns": capture.starts.iter().flatten().min(),
                "notes": capture.notes, "packets": capture.packets, "tcp_packets": capture.tcp_packets,
                "connections": connections, "traffic": traffic,
            });
            error::to_json("the capture's description", &description)
        })?
    }

    /// Where the first packets of all connections end, at most so many, and how many each connection has.
    fn first(&self, py: Python<'_>, most: usize) -> PyResult<(Option<i64>, Vec<usize>)> {
        let first = guarded(py, || self.capture.first(most))?;
        Ok((first.until, first.rows))
    }

    /// Columns of a connection's first packets, so many: of each its kind, and its values as little-endian bytes.
    fn some<'py>(
        &self,
        py: Python<'py>,
        connection: usize,
        names: Vec<String>,
        rows: usize,
    ) -> PyResult<Vec<(&'static str, Bound<'py, PyBytes>)>> {
        let fields = names.iter().map(|name| {
            let field = Field::ALL.into_iter().find(|field| field.name() == name);
            field.ok_or_else(|| PyKeyError::new_err(format!("there is no column {name}")))
        });
        let fields: Vec<Field> = fields.collect::<PyResult<_>>()?;
        let of = self.connection(connection)?;
        let shift = self.capture.shift(of.file);
        let columns = guarded(py, || of.columns(&fields, shift, rows))?;
        columns.iter().map(|column| bytes(py, column)).collect()
    }

    /// Times and sizes of the packets of one kind of traffic, as two columns.
    fn traffic<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let found = self.capture.traffic.get(index);
        let (file, traffic) =
            found.ok_or_else(|| PyIndexError::new_err(format!("there is no traffic {index}")))?;
        let shift = self.capture.shift(*file);
        let (times, sizes) = guarded(py, || {
            traffic
                .packets()
                .map(|(time, size)| (time.wrapping_add(shift), size))
                .collect::<(Vec<_>, Vec<_>)>()
        })?;
        let columns = PyDict::new(py);
        columns.set_item("time_ns", bytes(py, &Column::I64(times))?)?;
        columns.set_item("ip_bytes", bytes(py, &Column::U32(sizes))?)?;
        Ok(columns)
    }

    /// The names of the columns.
    #[staticmethod]
    fn columns() -> Vec<&'static str> {
        Field::ALL.into_iter().map(Field::name).collect()
    }
}

fn about(capture: &Capture, connection: &Connection) -> Value {
    let shift = capture.shift(connection.file);
    let (first, last) = connection.times();
    let host = |side| {
        let host = connection.host(side);
        json!({
            "address": host.address.to_string(), "opened": host.opened,
            "first_sequence": host.first_sequence, "mss": host.mss, "scale": host.scale,
            "sack_permitted": host.sack_permitted, "packets": host.packets, "payload_bytes": host.payload,
            "largest_payload_bytes": host.largest, "super_segments": host.super_segments,
        })
    };
    json!({
        "client": host(Side::Client), "server": host(Side::Server), "file": capture.files[connection.file],
        "packets": connection.packets(), "first_ns": first.wrapping_add(shift), "last_ns": last.wrapping_add(shift),
        "cut_packets": connection.cut_packets(), "packed_bytes": connection.packed_bytes(),
    })
}

fn bytes<'py>(py: Python<'py>, column: &Column) -> PyResult<(&'static str, Bound<'py, PyBytes>)> {
    Ok(match column {
        Column::Bool(values) => ("bool", filled(py, values, |value| [u8::from(value)])?),
        Column::U8(values) => ("u1", PyBytes::new(py, values)),
        Column::U16(values) => ("<u2", filled(py, values, u16::to_le_bytes)?),
        Column::U32(values) => ("<u4", filled(py, values, u32::to_le_bytes)?),
        Column::U64(values) => ("<u8", filled(py, values, u64::to_le_bytes)?),
        Column::I64(values) => ("<i8", filled(py, values, i64::to_le_bytes)?),
    })
}
