//! Probabilities and proportional integral control in whole numbers: every platform computes the same.
//!
//! A probability is a whole number of 10⁻¹⁸. Gains are millionths of a hertz and delays picoseconds, so that gain × delay
//! is exactly such a number and nothing is rounded.

use crate::units::Span;

/// Probability 1.
pub(in crate::gate) const ONE: u64 = 1_000_000_000_000_000_000;

/// alpha × (delay − target) + beta × (delay − before), in 10⁻¹⁸; gains in millionths of a hertz.
pub(super) fn step((alpha, beta): (u32, u32), target: Span, before: Span, delay: Span) -> i128 {
    let over = |other: Span| i128::from(delay.picos()) - i128::from(other.picos());
    i128::from(alpha) * over(target) + i128::from(beta) * over(before)
}

/// A probability that changes by `step`, held between 0 and 1.
pub(super) fn add(probability: u64, step: i128) -> u64 {
    (i128::from(probability) + step).clamp(0, i128::from(ONE)) as u64
}

/// The product of two probabilities.
pub(super) fn product(one: u64, other: u64) -> u64 {
    (u128::from(one) * u128::from(other) / u128::from(ONE)) as u64
}
