//! A bucket replayed over the packets of a capture.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tidegate_capture::bucket::{Change, Fate, Packets};
use tidegate_capture::decisions::Filled;
use tidegate_capture::waits::Waits;

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
        let places = rising(places)?;
        let level = guarded(py, || self.packets.fullness_at(rate_bps, &places))?;
        filled(py, &level, f64::to_le_bytes)
    }

    /// How long the packets at these places wait, and are sent, in a queue whose rate changes once, in seconds.
    fn waits_at<'py>(
        &self,
        py: Python<'py>,
        at_s: f64,
        before_bps: f64,
        after_bps: f64,
        places: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let places = rising(places)?;
        let rate = Change { at_s, before_bps, after_bps };
        let waits = guarded(py, || self.packets.waits_at(rate, &places))?;
        filled(py, &waits, f64::to_le_bytes)
    }

    /// The bucket with each packet of a known fate.
    fn filled(&self, py: Python<'_>, rate_bps: f64) -> PyResult<FilledBucket> {
        Ok(FilledBucket { filled: guarded(py, || self.packets.filled(rate_bps))? })
    }

    /// The fewest decisions on the wrong side of a limit at each of these rates, as numbers of 64 bits: exact
    /// for the `best` of them, and lower bounds above these for the others.
    fn fewest_wrong<'py>(
        &self,
        py: Python<'py>,
        rates_bps: &[u8],
        best: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rates = numbers(rates_bps);
        let wrong = guarded(py, || self.packets.fewest_wrong(&rates, best))?;
        filled(py, &wrong, |count| (count as u64).to_le_bytes())
    }
}

/// Some packets of a replay, with their round trips.
#[pyclass(frozen, module = "tidegate._core")]
pub(crate) struct QueueWaits {
    waits: Waits,
}

#[pymethods]
impl QueueWaits {
    /// The packets at these places, numbers of 64 bits that rise, and the round trip of each in seconds.
    #[new]
    fn new(py: Python<'_>, packets: &BucketReplay, places: &[u8], trip_s: &[u8]) -> PyResult<QueueWaits> {
        let (places, trips) = (rising(places)?, numbers(trip_s));
        let packets = &packets.packets;
        if places.len() != trips.len() || places.last().is_some_and(|last| *last >= packets.count()) {
            return Err(ArgumentError::new_err("round trips are not those of packets"));
        }
        Ok(QueueWaits { waits: guarded(py, || Waits::new(packets, &places, trips))? })
    }

    /// How long each packet waits, and is sent, in a queue of this rate, in seconds.
    fn at<'py>(&self, py: Python<'py>, rate_bps: f64) -> PyResult<Bound<'py, PyBytes>> {
        let found = guarded(py, || self.waits.at(rate_bps))?;
        filled(py, &found, f64::to_le_bytes)
    }

    /// The least mean absolute residual of the round trips in a queue of this rate, with the allowance and the base
    /// that have it, all in seconds.
    fn residual(&self, py: Python<'_>, rate_bps: f64, finest: f64) -> PyResult<(f64, f64, f64)> {
        let found = guarded(py, || self.waits.residual(rate_bps, finest))?;
        let found = found.ok_or_else(|| ArgumentError::new_err("there are no round trips"))?;
        Ok((found.left_s, found.allowance_s, found.base_s))
    }
}

/// The bytes in a bucket with each packet of a known fate.
#[pyclass(frozen, module = "tidegate._core")]
pub(crate) struct FilledBucket {
    filled: Filled,
}

/// Two columns.
type Two<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pymethods]
impl FilledBucket {
    /// With those that passed, and with those that were dropped.
    fn all<'py>(&self, py: Python<'py>) -> PyResult<Two<'py>> {
        two(py, &self.filled)
    }

    /// Those of `all` that lie between two bounds, and how many decisions of any limit between these are right, and
    /// how many wrong, of the others.
    fn near<'py>(&self, py: Python<'py>, low: f64, high: f64) -> PyResult<(Two<'py>, usize, usize)> {
        let (near, right, wrong) = guarded(py, || self.filled.near(low, high))?;
        Ok((two(py, &near)?, right, wrong))
    }

    /// The limit with the fewest decisions on its wrong side; None where nothing was dropped.
    fn best_limit(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(guarded(py, || self.filled.best_limit())?.map(|(_, limit)| limit))
    }
}

fn two<'py>(py: Python<'py>, both: &Filled) -> PyResult<Two<'py>> {
    Ok((filled(py, &both.passed, f64::to_le_bytes)?, filled(py, &both.dropped, f64::to_le_bytes)?))
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|each| f64::from_le_bytes(*each)).collect()
}

fn rising(places: &[u8]) -> PyResult<Vec<usize>> {
    let places: Vec<usize> =
        places.as_chunks().0.iter().map(|each| u64::from_le_bytes(*each) as usize).collect();
    if !places.is_sorted_by(|one, next| one < next) {
        return Err(ArgumentError::new_err("places of packets do not rise"));
    }
    Ok(places)
}
