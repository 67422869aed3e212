//! What an application writes, and when.

use tidegate_core::app::Application;
use tidegate_core::plan::AppPlan;
use tidegate_core::random::Stream;
use tidegate_core::units::Time;

/// What an application has written and the connection has not taken.
pub(crate) struct Source {
    plan: AppPlan,
    rng: Stream,
    /// From the start on.
    application: Option<Application>,
    /// Bytes; `u64::MAX`: always more.
    pub(crate) pending: u64,
}

impl Source {
    pub(crate) fn new(plan: &AppPlan, rng: Stream) -> Source {
        Source { plan: plan.clone(), rng, application: None, pending: 0 }
    }

    /// The flow begins.
    pub(crate) fn start(&mut self, now: Time) {
        self.application = Some(Application::new(&self.plan, now, self.rng.clone()));
        self.advance(now);
    }

    /// The application writes what is due.
    pub(crate) fn advance(&mut self, now: Time) {
        let written = self.application.as_mut().map_or(0, |application| application.handle_wakeup(now));
        self.pending = self.pending.saturating_add(written);
    }

    /// When it writes next.
    pub(crate) fn next_wakeup(&self) -> Time {
        self.application.as_ref().map_or(Time::NEVER, Application::next_wakeup)
    }

    /// The connection has taken so many bytes.
    pub(crate) fn take(&mut self, bytes: u64) {
        // A sender that always has more stays so.
        self.pending -= if self.pending == u64::MAX { 0 } else { bytes };
    }

    /// It has written all, and all is taken.
    pub(crate) fn is_over(&self) -> bool {
        self.pending == 0 && self.next_wakeup() == Time::NEVER
    }
}
