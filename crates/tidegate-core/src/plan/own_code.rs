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

    /// The classes that a user wrote and that take part in it.
    pub fn own_code(&self) -> impl Iterator<Item = &'static PythonClass> {
        let controller = match self.tcp.cc {
            CongestionPlan::Python(own) => Some(own),
            _ => None,
        };
        controller.into_iter().chain(self.own_rule())
    }

    /// Whether there is one.
    #[must_use]
    pub fn has_own_code(&self) -> bool {
        self.own_code().next().is_some()
    }
}
