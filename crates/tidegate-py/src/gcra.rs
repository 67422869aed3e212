//! GCRA, without a simulation. Times cross as little-endian 64-bit integers, from the first
//! arrival on; lengths of time as fractions.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tidegate_core::gcra::{
    self, Conformance, Dual, Gcra, Interval, IntervalError, LeakyBucket, Limit, LimitError, Release, Shaper,
    Verdict,
};

use crate::error::ArgumentError;
use crate::guard::guarded;

/// Numerator and denominator.
type Ratio = (u64, u64);

fn interval(option: &str, (numerator, denominator): Ratio) -> PyResult<Interval> {
    let wrong = |wrong: IntervalError| ArgumentError::new_err(format!("{option}: {wrong}"));
    Interval::ratio(numerator, denominator).map_err(wrong)
}

fn refused(wrong: LimitError) -> PyErr {
    ArgumentError::new_err(wrong.to_string())
}

/// GCRA(T, τ), or with `burst` a token bucket of that many units.
fn limit(increment: Ratio, tolerance: u64, burst: Option<u64>) -> PyResult<Limit> {
    match burst {
        None => Limit::new(interval("T", increment)?, tolerance),
        Some(burst) => Limit::tokens(interval("per_byte", increment)?, burst),
    }
    .map_err(refused)
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> {
    // Whole numbers of 8 bytes: the caller passes an array of 64-bit integers.
    bytes.as_chunks().0.iter().map(|chunk| u64::from_le_bytes(*chunk))
}

fn written(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 * numbers.size_hint().0);
    numbers.for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    bytes
}

/// 1 for each cell or packet that conforms, 0 for the others. `sizes`: units of each packet;
/// empty for cells.
#[pyfunction]
#[pyo3(signature = (arrivals, sizes, *, increment, tolerance, burst, leaky_bucket))]
pub(crate) fn gcra_police<'py>(
    py: Python<'py>,
    arrivals: &[u8],
    sizes: &[u8],
    increment: Ratio,
    tolerance: u64,
    burst: Option<u64>,
    leaky_bucket: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let limit = limit(increment, tolerance, burst)?;
    let told = guarded(py, || {
        if leaky_bucket {
            let mut bucket = LeakyBucket::new(limit);
            return written(numbers(arrivals).map(|at| u64::from(bucket.police(at))));
        }
        let mut limiter = Gcra::new(limit);
        if sizes.is_empty() {
            return written(numbers(arrivals).map(|at| u64::from(limiter.police(at))));
        }
        let packets = numbers(arrivals).zip(numbers(sizes));
        written(packets.map(|(at, units)| u64::from(limiter.police_units(at, units))))
    })?;
    Ok(PyBytes::new(py, &told))
}

/// When each cell or packet leaves a shaper; the largest number: never.
#[pyfunction]
#[pyo3(signature = (arrivals, sizes, *, increment, tolerance, burst, spacing, release))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn gcra_shape<'py>(
    py: Python<'py>,
    arrivals: &[u8],
    sizes: &[u8],
    increment: Ratio,
    tolerance: u64,
    burst: Option<u64>,
    spacing: Ratio,
    release: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let release = match release {
        "tat" => Release::Tat,
        "earliest" => Release::Earliest,
        other => {
            let message = format!("release: {other:?} is not known; one of \"tat\", \"earliest\"");
            return Err(ArgumentError::new_err(message));
        }
    };
    let mut shaper = Shaper::new(limit(increment, tolerance, burst)?, release, interval("spacing", spacing)?);
    let told = guarded(py, || {
        if sizes.is_empty() {
            return written(numbers(arrivals).map(|at| shaper.release(at)));
        }
        let packets = numbers(arrivals).zip(numbers(sizes));
        written(packets.map(|(at, units)| shaper.release_units(at, units).unwrap_or(u64::MAX)))
    })?;
    Ok(PyBytes::new(py, &told))
}

/// 0 discard, 1 pass, 2 tag for each cell; `low_priority`: CLP of each.
#[pyfunction]
#[pyo3(signature = (arrivals, low_priority, *, peak, peak_tolerance, sustained, sustained_tolerance, conformance))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn gcra_dual<'py>(
    py: Python<'py>,
    arrivals: &[u8],
    low_priority: &[u8],
    peak: Ratio,
    peak_tolerance: u64,
    sustained: Ratio,
    sustained_tolerance: u64,
    conformance: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let conformance = match conformance {
        "VBR.1" => Conformance::Vbr1,
        "VBR.2" => Conformance::Vbr2,
        "VBR.3" => Conformance::Vbr3,
        other => {
            let message =
                format!("conformance: {other:?} is not known; one of \"VBR.1\", \"VBR.2\", \"VBR.3\"");
            return Err(ArgumentError::new_err(message));
        }
    };
    let limit = |name: (&str, &str), increment, tolerance| {
        let increment = interval(name.0, increment)?;
        Limit::new(increment, tolerance)
            .map_err(|wrong| ArgumentError::new_err(format!("{}, {}: {wrong}", name.0, name.1)))
    };
    let peak = limit(("T_pcr", "tau_pcr"), peak, peak_tolerance)?;
    let sustained = limit(("T_scr", "tau_scr"), sustained, sustained_tolerance)?;
    let mut dual = Dual::new(peak, sustained, conformance);
    let told = guarded(py, || {
        let cells = numbers(arrivals).zip(numbers(low_priority));
        written(cells.map(|(at, clp)| match dual.police(at, clp == 1) {
            Verdict::Discard => 0,
            Verdict::Pass => 1,
            Verdict::Tag => 2,
        }))
    })?;
    Ok(PyBytes::new(py, &told))
}

/// The burst tolerance for bursts of `mbs` cells.
#[pyfunction]
pub(crate) fn gcra_burst_tolerance(py: Python<'_>, mbs: u64, sustained: Ratio, peak: Ratio) -> PyResult<u64> {
    let (sustained, peak) = (interval("T_scr", sustained)?, interval("T_pcr", peak)?);
    guarded(py, || gcra::burst_tolerance(mbs, sustained, peak))?.map_err(refused)
}

/// The longest burst at the peak rate that conforms.
#[pyfunction]
pub(crate) fn gcra_max_burst_size(
    py: Python<'_>,
    tolerance: u64,
    sustained: Ratio,
    peak: Ratio,
) -> PyResult<u64> {
    let (sustained, peak) = (interval("T_scr", sustained)?, interval("T_pcr", peak)?);
    guarded(py, || gcra::max_burst_size(tolerance, sustained, peak))?.map_err(refused)
}
