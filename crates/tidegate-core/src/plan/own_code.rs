//! What users wrote that takes part in a flow.

use super::{AppPlan, CongestionPlan, FlowPlan, PythonClass, VideoRule};

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
