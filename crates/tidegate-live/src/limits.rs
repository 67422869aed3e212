//! Plans that cannot be honoured in real time are refused before they start.

use tidegate_core::plan::Plan;

use crate::LiveError;

/// Looks at a plan; what it returns are warnings for the manifest.
///
/// # Errors
/// [`LiveError::Beyond`] with the reason.
pub fn check(_plan: &Plan) -> Result<Vec<String>, LiveError> {
    Ok(Vec::new())
}
