//! The two ends of a flow's connection, and what connections that follow each other counted.

use tidegate_core::plan::{AppPlan, CongestionPlan, FlowPlan, TcpPlan, TickPhase};
use tidegate_core::random::Seed;
use tidegate_core::tcp::{Counters, Endpoint, Role};
use tidegate_core::units::{PICOS_PER_SECOND, Span};

/// What the connections of a flow are made of.
#[derive(Clone, Debug)]
pub(crate) struct Maker {
    pub(crate) flow: FlowPlan,
    pub(crate) seed: Seed,
    /// [`tidegate_core::plan::Plan::exact`].
    pub(crate) exact: bool,
}

impl Maker {
    /// The ends of the connection of this number; the first is 0. A client opens its own.
    pub(crate) fn endpoints(&self, connection: u32) -> (Endpoint, Endpoint) {
        let (mut sender, mut receiver) = endpoints(&self.flow, self.seed, connection);
        if self.exact {
            sender.take_general_way();
            receiver.take_general_way();
        }
        (sender, receiver)
    }
}

fn endpoints(flow: &FlowPlan, seed: Seed, connection: u32) -> (Endpoint, Endpoint) {
    use rand::Rng as _;
    let which = if connection == 0 { String::new() } else { format!("/{connection}") };
    let name = |side: &str, what: &str| format!("flow.{}/{side}/{what}{which}", flow.name);
    let isn = |side: &str| seed.stream(&name(side, "isn")).next_u32();
    let random = |side: &str| flow.tcp.draws().map(|what| seed.stream(&name(side, what)));
    // Without a handshake neither end can learn the other's number.
    let answer = if flow.tcp.handshake { isn("receiver") } else { isn("sender") };
    let (sends, receives) = match flow.app {
        AppPlan::Request(_) => (Role::Passive, Role::Active),
        _ => (Role::Active, Role::Passive),
    };
    let mut sender = Endpoint::new(&flow.tcp, sends, isn("sender"), random("sender"));
    // Who sends no data needs no class of a user's.
    let silent = matches!(flow.tcp.cc, CongestionPlan::Python(_)) && !matches!(flow.app, AppPlan::Request(_));
    let quiet = silent.then(|| TcpPlan { cc: CongestionPlan::NewReno, ..flow.tcp.clone() });
    let mut receiver =
        Endpoint::new(quiet.as_ref().unwrap_or(&flow.tcp), receives, answer, random("receiver"));
    receiver.read_as_planned(&flow.tcp);
    if flow.tcp.phase == TickPhase::Own {
        sender.start_clock(uptime(flow, "sender", seed));
        receiver.start_clock(uptime(flow, "receiver", seed));
    }
    (sender, receiver)
}

/// How long a host had been up at time 0, where its clocks tick: drawn once for all its connections, below
/// 1000 s, which is a multiple of all usual ticks.
fn uptime(flow: &FlowPlan, side: &str, seed: Seed) -> Span {
    use rand::RngExt as _;
    if !flow.tcp.ticks() {
        return Span::ZERO;
    }
    let mut stream = seed.stream(&format!("flow.{}/{side}/uptime", flow.name));
    Span::from_picos(stream.random_range(0..1000 * PICOS_PER_SECOND))
}

/// What two connections counted.
pub(crate) fn sum(one: &Counters, other: &Counters) -> Counters {
    each(one, other, |one, other| one + other)
}

pub(crate) fn difference(now: &Counters, then: &Counters) -> Counters {
    each(now, then, |now, then| now - then)
}

fn each(now: &Counters, then: &Counters, of: impl Fn(u64, u64) -> u64) -> Counters {
    Counters {
        segments_sent: of(now.segments_sent, then.segments_sent),
        segments_retransmitted: of(now.segments_retransmitted, then.segments_retransmitted),
        bytes_sent: of(now.bytes_sent, then.bytes_sent),
        timeouts: of(now.timeouts, then.timeouts),
        fast_retransmits: of(now.fast_retransmits, then.fast_retransmits),
        acks_sent: of(now.acks_sent, then.acks_sent),
        delivered_bytes: of(now.delivered_bytes, then.delivered_bytes),
        delivered_segments: of(now.delivered_segments, then.delivered_segments),
        duplicates_received: of(now.duplicates_received, then.duplicates_received),
        ecn_reductions: of(now.ecn_reductions, then.ecn_reductions),
        ce_received: of(now.ce_received, then.ce_received),
        outside_window: of(now.outside_window, then.outside_window),
        acked_bytes: of(now.acked_bytes, then.acked_bytes),
    }
}
