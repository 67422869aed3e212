//! A bucket replayed over the packets of a capture.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tidegate_capture::bucket::{Fate, Packets};

use crate::error::ArgumentError;
use crate::guard::guarded;
use crate::run::filled;

/// The packets that crossed a limit, in the order of their times.
#[pyclass(frozen, module = "tidegate._core")]
pub(crate) struct BucketReplay {
    packets: Packets,
}

#[pymethods]
impl BucketReplay {
    /// Times in seconds and sizes in bytes as little-endian numbers of 64 bits; one byte a packet that says
    /// whether it passed, and one that says whether its fate is known and it carries data.
    #[new]
    fn new(time_s: &[u8], size: &[u8], passed: &[u8], judged: &[u8]) -> PyResult<BucketReplay> {
        let (time, size) = (numbers(time_s), numbers(size));
        if [size.len(), passed.len(), judged.len()].iter().any(|each| *each != time.len()) {
            return Err(ArgumentError::new_err("columns of packets have different lengths"));
        }
        let fate = passed
            .iter()
            .zip(judged)
            .map(|(passed, judged)| Fate { passed: *passed != 0, judged: *judged != 0 });
        Ok(BucketReplay { packets: Packets::new(time, size, fate.collect()) })
    }

    /// The bytes in a bucket that drains at this rate just before each packet.
    fn fullness<'py>(&self, py: Python<'py>, rate_bps: f64) -> PyResult<Bound<'py, PyBytes>> {
        let level = guarded(py, || self.packets.fullness(rate_bps))?;
        filled(py, &level, f64::to_le_bytes)
    }

    /// As `fullness`, of the packets at these places, numbers of 64 bits that rise.
    fn fullness_at<'py>(
        &self,
        py: Python<'py>,
        rate_bps: f64,
        places: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let places: Vec<usize> =
            places.as_chunks().0.iter().map(|each| u64::from_le_bytes(*each) as usize).collect();
        if !places.is_sorted_by(|one, next| one < next) {
            return Err(ArgumentError::new_err("places of packets do not rise"));
        }
        let level = guarded(py, || self.packets.fullness_at(rate_bps, &places))?;
        filled(py, &level, f64::to_le_bytes)
    }

    /// The bytes in the bucket with each packet of a known fate: of those that passed, and dropped.
    fn filled<'py>(
        &self,
        py: Python<'py>,
        rate_bps: f64,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let (passed, dropped) = guarded(py, || self.packets.filled(rate_bps))?;
        Ok((filled(py, &passed, f64::to_le_bytes)?, filled(py, &dropped, f64::to_le_bytes)?))
    }

    /// The fewest decisions on the wrong side of a limit at this rate, and the limit that has them; None where
    /// nothing was dropped.
    fn best_limit(&self, py: Python<'_>, rate_bps: f64) -> PyResult<Option<(usize, f64)>> {
        guarded(py, || self.packets.best_limit(rate_bps))
    }

    /// The fewest decisions on the wrong side of a limit, for the best limit at this rate.
    fn fewest_wrong(&self, py: Python<'_>, rate_bps: f64) -> PyResult<usize> {
        guarded(py, || self.packets.fewest_wrong(rate_bps))
    }
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|each| f64::from_le_bytes(*each)).collect()
}
