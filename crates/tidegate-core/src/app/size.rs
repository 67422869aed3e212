//! Sizes of messages: constant, drawn from a law, or drawn from a table that a file holds.
//!
//! Exponential and normal draws are `rand_distr`'s; powers and exponentials are `libm`'s, so that
//! the same seed gives the same sizes on every machine.

use rand::RngExt as _;
use rand_distr::{Distribution, Exp1, StandardNormal};

use crate::plan::SizePlan;
use crate::random::{LARGEST_MESSAGE, Stream};

/// Draws sizes of messages.
#[derive(Debug)]
pub struct Sizes {
    law: SizePlan,
    rng: Stream,
}

impl Sizes {
    /// Sizes of `law` from their own stream.
    #[must_use]
    pub fn new(law: &SizePlan, rng: Stream) -> Sizes {
        Sizes { law: law.clone(), rng }
    }

    /// The next size in bytes: to the byte below, at least 1.
    pub fn next_size(&mut self) -> u64 {
        draw_size(&self.law, &mut self.rng)
    }
}

/// A size of `law` in bytes: to the byte below, at least 1.
pub(super) fn draw_size(law: &SizePlan, rng: &mut Stream) -> u64 {
    let (drawn, most) = match law {
        SizePlan::Constant(bytes) => return (*bytes).clamp(1, LARGEST_MESSAGE),
        SizePlan::Exponential { mean } => {
            let unit: f64 = Exp1.sample(rng);
            (unit * *mean as f64, LARGEST_MESSAGE)
        }
        SizePlan::Pareto { least, shape, most } => {
            // 1 − u lies in (0, 1].
            let above = 1.0 - rng.random::<f64>();
            (*least as f64 * libm::pow(above, -1.0 / shape), *most)
        }
        SizePlan::LogNormal { median, sigma, most } => {
            let normal: f64 = StandardNormal.sample(rng);
            (*median as f64 * libm::exp(sigma * normal), *most)
        }
        SizePlan::Table(table) => (table.draw(rng), LARGEST_MESSAGE),
        SizePlan::List(list) => {
            let place = if list.len() > 1 { rng.random_range(0..list.len()) } else { 0 };
            return list.get(place).copied().unwrap_or(1).clamp(1, LARGEST_MESSAGE);
        }
    };
    // A cast keeps what is too large, or no number, within its type.
    (drawn as u64).clamp(1, most.clamp(1, LARGEST_MESSAGE))
}

impl SizePlan {
    /// Mean size in bytes before cuts and rounding; `None`: there is none.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        match self {
            SizePlan::Constant(bytes) => Some(*bytes as f64),
            SizePlan::Exponential { mean } => Some(*mean as f64),
            SizePlan::Pareto { least, shape, most } => {
                Some(cut_pareto_mean(*least as f64, *shape, *most as f64))
            }
            SizePlan::LogNormal { median, sigma, .. } => {
                Some(*median as f64 * libm::exp(sigma * sigma / 2.0))
            }
            SizePlan::Table(table) => Some(table.mean()),
            SizePlan::List(list) => {
                let sum: f64 = list.iter().map(|bytes| *bytes as f64).sum();
                (!list.is_empty()).then(|| sum / list.len() as f64)
            }
        }
    }

    /// The largest size there may be, in bytes.
    #[must_use]
    pub fn most(&self) -> u64 {
        match self {
            SizePlan::Constant(bytes) => *bytes,
            SizePlan::Exponential { .. } => LARGEST_MESSAGE,
            SizePlan::Pareto { most, .. } | SizePlan::LogNormal { most, .. } => *most,
            SizePlan::Table(table) => table.limits().1,
            SizePlan::List(list) => list.iter().copied().max().unwrap_or(1),
        }
    }
}

/// Mean of a Pareto law whose larger values are cut to `most`: least plus the integral of
/// (least / x)^shape from least to most.
fn cut_pareto_mean(least: f64, shape: f64, most: f64) -> f64 {
    if most <= least {
        return most;
    }
    let ratio = most / least;
    if (shape - 1.0).abs() < 1e-9 {
        return least * (1.0 + libm::log(ratio));
    }
    least * (1.0 + (1.0 - libm::pow(ratio, 1.0 - shape)) / (shape - 1.0))
}
