//! What a dead engine may have left, and its removal.

use crate::LiveError;

/// What was found and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Runs whose process is dead, by its number.
    pub runs: Vec<u32>,
    /// Processes of theirs that were still there and were ended.
    pub processes: Vec<u32>,
}

/// Removes what dead engines of this user left behind; every run does so at its start.
///
/// # Errors
/// [`LiveError::Kernel`] when the list of runs cannot be read.
pub fn clean() -> Result<Cleaned, LiveError> {
    Ok(Cleaned::default())
}
