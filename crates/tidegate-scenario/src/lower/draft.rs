//! Gates, flows and traffic as they are written: names are numbers, and no copies are made yet.

use tidegate_core::plan::{
    AppPlan, GatePlan, JitterPlan, SconePlan, SourcePlan, StartPlan, TcpPlan, TransportPlan,
};
use tidegate_core::units::Span;

use crate::check::{Form, Item};
use crate::document::Place;

/// A gate as written, before copies are made of it.
pub(crate) struct Gate<'a> {
    pub(crate) name: &'a str,
    pub(crate) name_at: Place,
    pub(crate) form: &'a Form,
    pub(crate) plan: GatePlan,
    pub(crate) per_flow: bool,
    pub(crate) duplex: bool,
}

/// `[flow.x]` or `[traffic.x]` before its copies are made.
pub(crate) struct User<'a> {
    pub(crate) name: &'a str,
    pub(crate) key: String,
    pub(crate) at: Place,
    /// How many copies.
    pub(crate) count: u64,
    /// The names of the copies, in order.
    pub(crate) instances: Vec<String>,
    pub(crate) path: Vec<Hop<'a>>,
    pub(crate) back: Vec<Hop<'a>>,
    pub(crate) back_delay: Span,
    pub(crate) start: StartPlan,
    /// Random delay before the first gate.
    pub(crate) jitter: JitterPlan,
    /// Differentiated services codepoint.
    pub(crate) dscp: u8,
    /// The host that sends its data.
    pub(crate) from: Option<&'a str>,
    /// The host that its data go to.
    pub(crate) to: Option<&'a str>,
    pub(crate) load: Load,
}

/// What it sends.
pub(crate) enum Load {
    Flow { app: AppPlan, transport: TransportPlan, tcp: Box<TcpPlan>, scone: Option<SconePlan> },
    Traffic { source: SourcePlan, group: String, delays: bool },
}

impl Load {
    /// IP bytes of the largest packet of its way, and of the way back.
    pub(crate) fn largest_packets(&self) -> [u32; 2] {
        match self {
            Load::Flow { tcp, app, .. } => [tcp.largest_packet(), app.largest_packet_back(tcp)],
            Load::Traffic { source, .. } => [source.largest(), 0],
        }
    }
}

/// One gate of a list, and which of its two servers.
pub(crate) struct Hop<'a> {
    pub(crate) gate: usize,
    pub(crate) reverse: bool,
    pub(crate) item: &'a Item,
}

impl User<'_> {
    pub(crate) fn is_flow(&self) -> bool {
        matches!(self.load, Load::Flow { .. })
    }
}
