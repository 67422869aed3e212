//! EFFCAP, without a simulation. Numbers cross as little-endian 64-bit floats.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tidegate_core::effcap::{Blocks, CapacityEstimator};

use crate::guard::guarded;

/// The estimate after each sample; arguments as in `tidegate.effcap.estimate`, checked there.
#[pyfunction]
pub(crate) fn effcap_estimate<'py>(
    py: Python<'py>,
    capacity: &[u8],
    samples: u32,
    blocks: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let told = guarded(py, || {
        let mut estimator = CapacityEstimator::new(Blocks { samples, blocks });
        let each = capacity.as_chunks().0.iter().map(|chunk| f64::from_le_bytes(*chunk));
        each.flat_map(|sample| {
            let mean = estimator.push(sample);
            (mean.sum / f64::from(mean.count)).to_le_bytes()
        })
        .collect::<Vec<u8>>()
    })?;
    Ok(PyBytes::new(py, &told))
}
