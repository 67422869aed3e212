//! Gates, flows and traffic as they are written: names are numbers, and no copies are made yet.

use tidegate_core::plan::{AppPlan, GatePlan, JitterPlan, SourcePlan, StartPlan, TcpPlan};
use tidegate_core::units::Span;

use crate::check::{Form, Item};
use crate::document::Place;

/// A gate as written, before copies are made of it.
pub(super) struct Gate<'a> {
    pub(super) name: &'a str,
    pub(super) name_at: Place,
    pub(super) form: &'a Form,
    pub(super) plan: GatePlan,
    pub(super) per_flow: bool,
    pub(super) duplex: bool,
}

/// `[flow.x]` or `[traffic.x]` before its copies are made.
pub(super) struct User<'a> {
    pub(super) name: &'a str,
    pub(super) key: String,
    pub(super) at: Place,
    /// How many copies.
    pub(super) count: u64,
    /// The names of the copies, in order.
    pub(super) instances: Vec<String>,
    pub(super) path: Vec<Hop<'a>>,
    pub(super) back: Vec<Hop<'a>>,
    pub(super) back_delay: Span,
    pub(super) start: StartPlan,
    /// Random delay before the first gate.
    pub(super) jitter: JitterPlan,
    pub(super) load: Load,
}

/// What it sends.
pub(super) enum Load {
    Flow { app: AppPlan, tcp: TcpPlan },
    Traffic(SourcePlan),
}

/// One gate of a list, and which of its two servers.
pub(super) struct Hop<'a> {
    pub(super) gate: usize,
    pub(super) reverse: bool,
    pub(super) item: &'a Item,
}

impl User<'_> {
    pub(super) fn is_flow(&self) -> bool {
        matches!(self.load, Load::Flow { .. })
    }
}
