//! How long something lasts: constant or exponential, such as a call or a pause.

use crate::units::Span;

/// A length of time, fixed or drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldingPlan {
    /// Always the same.
    Constant(Span),
    /// Exponential with this mean.
    Exponential(Span),
}
