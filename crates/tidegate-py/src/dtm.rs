//! The DTM estimator, without a simulation.

use pyo3::prelude::*;
use tidegate_core::dtm::{BandwidthEstimator, OnLoss, Rounding, Settings, Slots};
use tidegate_core::units::Rate;

use crate::error::ArgumentError;
use crate::guard::guarded;

/// Estimates, rates in force after every measurement, and the measurements that decided.
type Allocations = (Vec<u64>, Vec<u64>, Vec<u64>);

/// Runs an estimator over measured rates; arguments as in `tidegate.dtm.allocate`, slots in
/// billionths.
#[pyfunction]
#[pyo3(signature = (rates_bps, losses, *, slot_bps, shift_inc, shift_dec, margin_nanos, corridor_nanos, rounding, on_loss, min_slots, max_slots, initial_current, initial_bps, update_every))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn dtm_allocate(
    py: Python<'_>,
    rates_bps: Vec<u64>,
    losses: Vec<bool>,
    slot_bps: u64,
    shift_inc: u32,
    shift_dec: u32,
    margin_nanos: u64,
    corridor_nanos: u64,
    rounding: &str,
    on_loss: &str,
    min_slots: u64,
    max_slots: Option<u64>,
    initial_current: u64,
    initial_bps: u64,
    update_every: u32,
) -> PyResult<Allocations> {
    let settings = Settings {
        slot: Rate::from_bps(slot_bps),
        shift_inc,
        shift_dec,
        margin: Slots::from_nanos(margin_nanos),
        corridor: Slots::from_nanos(corridor_nanos),
        rounding: named("rounding", rounding, &[("exact", Rounding::Exact), ("up", Rounding::Up)])?,
        on_loss: named(
            "on_loss",
            on_loss,
            &[
                ("nothing", OnLoss::Nothing),
                ("hold tick", OnLoss::HoldTick),
                ("hold second", OnLoss::HoldSecond),
                ("hold link", OnLoss::HoldLink),
            ],
        )?,
        min: min_slots,
        max: max_slots,
    };
    let initial = Rate::from_bps(initial_bps);
    let mut estimator = BandwidthEstimator::new(settings, initial_current, initial, update_every)
        .map_err(|wrong| ArgumentError::new_err(wrong.to_string()))?;
    guarded(py, || {
        let mut told = (Vec::new(), Vec::new(), Vec::new());
        let drops = losses.into_iter().chain(std::iter::repeat(false));
        for ((tick, rate), lost) in (1..).zip(rates_bps).zip(drops) {
            if estimator.measure(rate, lost) {
                told.2.push(tick);
            }
            told.0.push(estimator.current());
            told.1.push(estimator.rate().bps());
        }
        told
    })
}

fn named<T: Copy>(option: &str, read: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(name, _)| *name == read).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("{name:?}")).collect();
        ArgumentError::new_err(format!("{option}: {read:?} is not known; one of {}", names.join(", ")))
    })
}
