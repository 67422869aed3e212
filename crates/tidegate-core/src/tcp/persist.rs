//! What a sender remembers of a receiver's window that lets nothing go ([`super::closed`]), and by whose rules it probes.

use crate::plan::{Arithmetic, TcpBase, TcpPlan};
use crate::units::{Span, Time};

/// How a sender probes a closed window, and what it believes of one that narrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PersistRule {
    /// A probe is the next octet of the stream (RFC 9293 §3.8.6.1); the first comes after a time-out.
    Rfc,
    /// That, but no sooner than 5 s and no later than 60 s (TCPTV_PERSMIN and TCPTV_PERSMAX, TCP/IP Illustrated vol. 2 §25.7).
    Bsd44,
    /// A probe has no data, and a number that was acknowledged; the first comes after a time-out, but not before 200 ms
    /// (`tcp_probe0_base`). An ACK of nothing new may widen the window or close it, and does not narrow it.
    Linux,
}

impl PersistRule {
    pub(super) fn new(plan: &TcpPlan) -> PersistRule {
        match plan.base {
            _ if plan.rules.arithmetic == Arithmetic::Linux => PersistRule::Linux,
            TcpBase::Bsd44 => PersistRule::Bsd44,
            TcpBase::Rfc | TcpBase::Linux => PersistRule::Rfc,
        }
    }

    /// How long a probe is waited for, at least and at most.
    pub(super) fn bounds(self) -> (Span, Span) {
        match self {
            PersistRule::Rfc => (Span::ZERO, Span::MAX),
            PersistRule::Bsd44 => (Span::from_secs(5), Span::from_secs(60)),
            PersistRule::Linux => (Span::from_millis(200), Span::MAX),
        }
    }
}

/// What a sender knows of its probes of a closed window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Persist {
    /// When the next octet was sent as a probe, which is not on the scoreboard; `NEVER`: it was not.
    pub(super) octet: Time,
    /// Probes since the other end was heard last (`icsk_probes_out`).
    pub(super) unanswered: u16,
    /// How often the wait has doubled (`icsk_backoff`).
    pub(super) doublings: u8,
    /// Doublings of earlier probes, less those of time-outs that do not hold any more, until a round trip is measured (`icsk_backoff` beside
    /// `icsk_rto`).
    pub(super) kept: i8,
    /// A probe is to be sent.
    pub(super) due: bool,
    /// The largest window that the other end has said (`max_window`).
    pub(super) largest_said: u32,
}

impl Persist {
    /// No probe was sent, and no window said.
    pub(super) const NONE: Persist =
        Persist { octet: Time::NEVER, unanswered: 0, doublings: 0, kept: 0, due: false, largest_said: 0 };
}
