//! What users wrote in Python, as a plan names it.

use super::{AppPlan, CongestionPlan, FlowPlan, VideoRule};

/// A class that a user wrote in Python: a congestion controller, or the rule of a player.
#[derive(Debug, PartialEq, Eq)]
pub struct PythonClass {
    /// As the scenario names it.
    pub name: String,
    /// The file that it is in, or the module.
    pub source: PythonSource,
    /// The class.
    pub class: String,
}

/// Where a user's class is.
#[derive(Debug, PartialEq, Eq)]
pub enum PythonSource {
    /// A file of this path.
    File(String),
    /// A module that Python can import.
    Module(String),
}

impl FlowPlan {
    /// The class that chooses the bitrates of its video, if a user wrote it.
    #[must_use]
    pub fn own_rule(&self) -> Option<&'static PythonClass> {
        let AppPlan::Request(requests) = &self.app else { return None };
        match requests.video.as_ref()?.rule {
            VideoRule::Python(own) => Some(own),
            _ => None,
        }
    }

    /// Whether a class that a user wrote takes part in it.
    #[must_use]
    pub fn has_own_code(&self) -> bool {
        matches!(self.tcp.cc, CongestionPlan::Python(_)) || self.own_rule().is_some()
    }
}
